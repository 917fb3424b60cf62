"""Arrays in files: inputs and outputs as NPZ, weights as safetensors."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from transformer_diagrams.errors import DiagramError, Fault, Span
from transformer_diagrams.extras import need
from transformer_diagrams.ops.arrays import Array, np


def read_npz(path: str) -> dict[str, Array]:
    """The arrays of an NPZ file by name.

    :raises DiagramError: when it cannot be read, or holds something else than numbers.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            if not hasattr(file, "files"):
                raise ValueError("it holds one array, without a name")
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise _unreadable(path, error, "an .npz file, as numpy.savez writes it") from error


def write_npz(path: str, arrays: Mapping[str, Array]) -> None:
    """Write arrays, so that the same arrays give the same bytes."""
    from io import BytesIO

    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            data = BytesIO()
            np.lib.format.write_array(data, np.asarray(array), allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            archive.writestr(entry, data.getvalue(), zipfile.ZIP_DEFLATED)


class Weights(Mapping[str, Array]):
    """The tensors of a safetensors file; each is read when it is asked for.

    :raises DiagramError: when the file cannot be read.
    """

    def __init__(self, path: str) -> None:
        need("run", "safetensors")
        import safetensors

        try:
            file: Any = safetensors.safe_open
            self._file = file(path, framework="numpy")
            self._names = tuple(self._file.keys())
        except (OSError, safetensors.SafetensorError) as error:
            raise _unreadable(path, error, "a .safetensors file") from error
        self._path = path

    def __getitem__(self, name: str) -> Array:
        if name not in self._names:
            raise KeyError(name)
        try:
            return self._file.get_tensor(name)
        except (TypeError, ValueError) as error:  # a type that NumPy lacks, such as bfloat16
            where, known = f"{self._path}: {name}", "float64, float32 or float16"
            raise _unreadable(where, error, known) from error

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _unreadable(path: str, error: Exception, expected: str) -> DiagramError:
    why = getattr(error, "strerror", None) or " ".join(str(error).split())[:200]
    return DiagramError(
        Fault("cannot-read", f"cannot be read: {why}", Span(str(Path(path))), expected=expected)
    )
