"""The file of a family: what it serves, which spec it is, and what each key means."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Any, Final

from transformer_diagrams.errors import Report
from transformer_diagrams.records import dataclass
from transformer_diagrams.spec.yaml_nodes import plain_data
from transformer_diagrams.spec.yaml_source import read

MOST: Final = 100_000_000  # of one size: no vocabulary has so many rows
HERE: Final = Path(__file__).parent / "data"
COMMON: Final = "common"
READS: Final = ("length", "prefix", "period", "windows", "same", "zeros")
"""How a list is one size: its length; `[0, 1, ..]` its length; every how many layers there is one
of full attention, and how many of the others come before it; the one value of all its entries;
every how many layers there is a 0."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """Where one size or option comes from.

    keys     the config's key, then older spellings; the first that is there and not null counts
    default  an expression of sizes, or an option's value, when no key is there (None: the spec's)
    value    an expression of sizes: no key says it
    times    the number is multiplied by this expression and rounded down
    read     how a list is one number
    values   what each value of the key means; `else` is all others
    when     (key, value) pairs under which this entry holds
    least    the least number that is a size, and the most
    equals   what the number must be, as an expression: the spec has one size for both
    """

    name: str
    keys: tuple[str, ...] = ()
    default: Any = None
    value: str | None = None
    times: str | None = None
    read: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    when: Mapping[str, Any] = field(default_factory=dict)
    least: int = 1
    most: int = MOST
    equals: str | None = None


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor of a checkpoint, by its name: `{i}` is the layer, `{e}` the expert.

    layers    from which to before which layer, as expressions
    when      options under which it is there
    optional  options under which it is a second name of a weight, and may be there
    """

    name: str
    shape: tuple[str, ...]
    layers: tuple[str, ...] = ("0", "L")
    when: Mapping[str, Any] = field(default_factory=dict)
    optional: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Only:
    """The values of a key that the spec can be; another is refused, and the reason said."""

    values: tuple[Any, ...]
    because: str
    when: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Family:
    """One family. ``names`` are sizes of the configuration that the spec has no name for.

    attributes  constants of the spec's ops by selector, as `run.constants` reads it
    weights     weight of the spec -> the tensors that it may be made of: the first that there is
    computed    values of keys that a run computes; others are drawn and counted only
    arrays      input of the model's code, or what it gives -> names of a run that it may have
    """

    id: str
    spec: str
    model_types: tuple[str, ...]
    classes: tuple[str, ...]
    names: tuple[Meaning, ...] = ()
    sizes: tuple[Meaning, ...] = ()
    options: tuple[Meaning, ...] = ()
    only: Mapping[str, Only] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    within: Mapping[str, str] = field(default_factory=dict)
    nothing: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()
    left_out: Mapping[str, Only] = field(default_factory=dict)
    copies: str = "V d_m"
    tensors: tuple[Tensor, ...] = ()
    prefix: str = ""
    attributes: tuple[Meaning, ...] = ()
    weights: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    arrays: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    computed: Mapping[str, Only] = field(default_factory=dict)

    def read_keys(self) -> set[str]:
        """Every key of a configuration that this family takes something from."""
        entries = (*self.names, *self.sizes, *self.options, *self.attributes)
        keys = {key for entry in entries for key in entry.keys}
        keys |= {key for entry in entries for key in entry.when}
        return keys | self.only.keys() | self.defaults.keys() | self.computed.keys()


def family_ids() -> tuple[str, ...]:
    """The ids of all families, sorted: the stems of their files."""
    stems = (name.removesuffix(".yaml") for name in os.listdir(HERE) if name.endswith(".yaml"))
    return tuple(sorted(stem for stem in stems if stem != COMMON))


@cache
def family(id: str) -> Family:
    """The family of an id, from its file."""
    data = data_of(HERE / f"{id}.yaml")
    shared = _shared()
    serves = data["serves"]
    return Family(
        id=id,
        spec=data["spec"],
        model_types=tuple(serves["model_types"]),
        classes=tuple(serves.get("classes", ())),
        names=_entries(data.get("names", {})),
        sizes=_entries(data["sizes"]),
        options=_entries(data.get("options", {})),
        only=_only(data.get("only", {})),
        defaults=data.get("defaults", {}),
        within=data.get("within", {}),
        nothing=(*shared["nothing"], *data.get("nothing", ())),
        constants=(*shared["constants"], *data.get("constants", ())),
        left_out=_only(data.get("left_out", {})),
        copies=str(data.get("copies", "V d_m")),
        tensors=_tensors(data.get("tensors", {}), shared["tensors"]),
        prefix=data.get("tensors", {}).get("prefix", ""),
        attributes=_entries(_joined(data, shared, "attributes")),
        weights=_texts(_joined(data, shared, "weights")),
        computed=_only(data.get("computed", {})),
        arrays=_texts(_joined(data, shared, "arrays")),
    )


def serving(model_type: str, classes: tuple[str, ...] = ()) -> Family | None:
    """The family of a model type, or else of one of the class names."""
    first = model_type.replace("_", "-")
    ids = family_ids()
    for id in sorted(ids, key=lambda id: id != first):  # most are named like their type
        if model_type in family(id).model_types:
            return family(id)
    if model_type:
        return None
    return next((family(id) for id in ids if set(classes) & {*family(id).classes}), None)


@cache
def patterns(key: str) -> tuple[str, ...]:
    """The names of tensors that are no weights: `buffers` or `quantised`."""
    return tuple(_shared()[key])


@cache
def _shared() -> Mapping[str, Any]:
    """What all families have in common."""
    shared: Mapping[str, Any] = data_of(HERE / f"{COMMON}.yaml")
    return shared


def _tensors(data: Mapping[str, Any], shared: Mapping[str, Any]) -> tuple[Tensor, ...]:
    """The tensors of the shared lists that are used, and the family's own."""
    named: dict[str, Any] = {}
    for use in data.get("use", ()):
        named |= shared[use]
    named |= data.get("names", {})
    found = []
    for name, given in named.items():
        said = {"shape": given} if isinstance(given, list) else dict(given)
        for key in said.keys() & {"shape", "layers"}:
            said[key] = tuple(map(str, said[key]))
        found.append(Tensor(name, **said))
    return tuple(found)


def _joined(data: Mapping[str, Any], shared: Mapping[str, Any], key: str) -> dict[str, Any]:
    """What the shared lists that `use` names say, and over it what the family says."""
    own = dict(data.get(key, {}))
    named: dict[str, Any] = {}
    for use in own.pop("use", ()):
        named |= shared[key][use]
    return {**own, **{name: given for name, given in named.items() if name not in own}}


def _texts(data: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {
        name: (str(given),) if not isinstance(given, list) else tuple(map(str, given))
        for name, given in data.items()
    }


def _only(data: Mapping[str, Any]) -> dict[str, Only]:
    return {
        key: Only((), each)
        if isinstance(each, str)
        else Only(tuple(each["values"]), each["because"], each.get("when", {}))
        for key, each in data.items()
    }


def _entries(data: Mapping[str, Any]) -> tuple[Meaning, ...]:
    return tuple(
        _entry(name, case)
        for name, given in data.items()
        for case in (given if isinstance(given, list) else [given])
    )


def _entry(name: str, data: Mapping[str, Any]) -> Meaning:
    keys = data.get("key", [])
    fields = {key: given for key, given in data.items() if key != "key"}
    for key in fields.keys() & {"value", "times"}:
        fields[key] = str(fields[key])
    return Meaning(name, tuple([keys] if isinstance(keys, str) else keys), **fields)


def data_of(path: Path) -> Any:
    """The data of a family's file, as it stands: `checking` says what is wrong with one.

    :raises DiagramError: with the place of each fault, when it is no YAML.
    """
    report = Report()
    root, _ = read(path.read_text(encoding="utf-8"), str(path), report)
    report.raise_if_errors()
    return None if root is None else plain_data(root)
