"""What each bundled spec takes and gives where another one uses it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from transformer_diagrams.docs.markdown import code, table
from transformer_diagrams.spec.model import DimSpec, OptionSpec, PortSpec, Spec


def _parts(_: Path) -> str:
    from transformer_diagrams import api

    rows = [_row(api.load(name).spec) for name in api.bundled_ids()]
    return table(["`use:`", "inputs", "outputs", "sizes", "options"], rows)


def _row(spec: Spec) -> list[str]:
    outputs = spec.outputs.values()
    return [
        code(spec.id),
        ", ".join(map(_port, spec.inputs.values())),
        ", ".join(map(_port, outputs)) or "what the last block gives",
        ", ".join(code(_size(dim)) for dim in spec.dims.values() if dim.value is None),
        ", ".join(code(_option(option)) for option in spec.options.values()),
    ]


def _port(port: PortSpec) -> str:
    shape = "" if port.shape is None else f" [{', '.join(size.value for size in port.shape)}]"
    only = "" if port.when == "always" else f" ({port.when})"
    return code(f"{port.name}{shape}") + only


def _size(dim: DimSpec) -> str:
    return dim.name if dim.default is None else f"{dim.name} = {dim.default.value}"


def _option(option: OptionSpec) -> str:
    default = option.default
    shown = str(default).lower() if isinstance(default, bool) else default
    others = [choice for choice in option.choices if choice != default]
    return " | ".join([f"{option.name} = {shown}", *others])


PARTS: Mapping[str, Callable[[Path], str]] = {"bundled-parts": _parts}
