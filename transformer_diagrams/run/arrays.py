"""Arrays in files: inputs and outputs as NPZ, weights as safetensors."""

from __future__ import annotations

import json
import math
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
        file = np.load(path, allow_pickle=False)
        if not hasattr(file, "files"):
            raise ValueError("it holds one array, without a name")
        with file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise _unreadable(path, error, "an .npz file, as numpy.savez writes it") from error


def npz(arrays: Mapping[str, Array]) -> bytes:
    """Arrays as an NPZ file: the same arrays give the same bytes."""
    from io import BytesIO

    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            data = BytesIO()
            np.lib.format.write_array(data, np.asarray(array), allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            archive.writestr(entry, data.getvalue(), zipfile.ZIP_DEFLATED)
    return packed.getvalue()


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
            if self._file.get_slice(name).get_dtype() == "BF16":
                return self._bfloat16(name)
            return self._file.get_tensor(name)
        except (TypeError, ValueError, OSError, KeyError) as error:  # a type that NumPy lacks
            where, known = f"{self._path}: {name}", "floats of 16, 32 or 64 bits"
            raise _unreadable(where, error, known) from error

    def _bfloat16(self, name: str) -> Array:
        """Numbers of a type that NumPy lacks: the upper halves of float32."""
        with Path(self._path).open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            entry = json.loads(file.read(length))[name]
            file.seek(8 + length + entry["data_offsets"][0])
            halves = np.fromfile(file, dtype="<u2", count=math.prod(entry["shape"]))
        return (halves.astype(np.uint32) << 16).view(np.float32).reshape(entry["shape"])

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _unreadable(path: str, error: Exception, expected: str) -> DiagramError:
    why = getattr(error, "strerror", None) or " ".join(str(error).split())[:200]
    return DiagramError(
        Fault("cannot-read", f"cannot be read: {why}", Span(str(Path(path))), expected=expected)
    )
