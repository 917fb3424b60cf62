"""Dataclasses with slots, frozen or not, made in a tenth of the time.

The standard decorator compiles up to seven functions for each class, which was a third of what a
first figure takes. Here one is compiled, ``__init__``, when the first value is made; the others are
closures over the fields. Any other kind of dataclass is the standard one, and so is the type of
all for a type checker.
"""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import MISSING, Field, FrozenInstanceError, field
from functools import partial
from operator import attrgetter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

KNOWN = sys.version_info < (3, 14)
"""Later releases keep the annotations of a class elsewhere: there, the standard one."""

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, **options):
        """As :func:`dataclasses.dataclass`."""
        quick = cls is None and options.keys() <= {"frozen", "slots", "kw_only"}
        if quick and options.get("slots") and KNOWN:
            return partial(_made, options.get("frozen", False), options.get("kw_only", False))
        return dataclasses.dataclass(cls, **options)


__all__ = ["dataclass"]

_FIELD: Any = dataclasses._FIELD  # type: ignore[attr-defined]
_ABSENT: Any = object()


def _made(frozen: bool, kw_only: bool, cls: type) -> type:
    found: dict[str, Field[Any]] = {}
    for base in reversed(cls.__mro__[1:]):
        found |= getattr(base, "__dataclass_fields__", {})
    inherited = set(found)
    space = {k: v for k, v in vars(cls).items() if k not in ("__dict__", "__weakref__")}
    for name, kind in space.get("__annotations__", {}).items():
        given = space.pop(name, MISSING)
        one: Any = given if isinstance(given, Field) else field(default=given)
        one.name, one.type, one._field_type, one.kw_only = name, kind, _FIELD, kw_only
        found[name] = one
    compared = _values([f.name for f in found.values() if f.compare])
    shown = [f.name for f in found.values() if f.repr]

    def __init__(self: Any, *given: Any, **named: Any) -> None:
        made.__init__ = _init(made, found)
        made.__init__(self, *given, **named)

    def __eq__(self: Any, other: Any) -> Any:
        return compared(self) == compared(other) if type(other) is type(self) else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(compared(self))

    def __repr__(self: Any) -> str:
        inside = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{type(self).__qualname__}({inside})"

    shared: dict[str, Any] = {"__init__": __init__, "__eq__": __eq__, "__repr__": __repr__}
    if frozen:
        shared |= {
            "__setattr__": _set, "__delattr__": _set,
            "__getstate__": _state, "__setstate__": _restore,
        }  # fmt: skip
    space = {
        **shared,
        **space,
        "__hash__": space.get("__hash__") or (__hash__ if frozen else None),
        "__slots__": tuple(name for name in found if name not in inherited),
        "__dataclass_fields__": found,
        "__dataclass_params__": SimpleNamespace(
            init=True, repr=True, eq=True, order=False, unsafe_hash=False, frozen=frozen
        ),
        "__match_args__": () if kw_only else tuple(found),
    }
    made: Any = type(cls)(cls.__name__, cls.__bases__, space)
    return made  # type: ignore[no-any-return]


def _values(names: list[str]) -> Any:
    return attrgetter(*names) if names else lambda _: ()


def _init(cls: type, found: dict[str, Field[Any]]) -> Any:
    """``__init__``: each value goes straight into its slot."""
    known: dict[str, Any] = {"absent": _ABSENT}
    takes, body = ["self"], []
    if any(one.kw_only for one in found.values()):
        takes.append("*")
    for name, one in found.items():
        known[f"set_{name}"] = getattr(cls, name).__set__
        value = name
        if one.default_factory is not MISSING:
            known[f"new_{name}"] = one.default_factory
            value = f"new_{name}() if {name} is absent else {name}"
            takes.append(f"{name}=absent")
        elif one.default is not MISSING:
            known[f"is_{name}"] = one.default
            takes.append(f"{name}=is_{name}")
        else:
            takes.append(name)
        body.append(f" set_{name}(self, {value})\n")
    if hasattr(cls, "__post_init__"):
        body.append(" self.__post_init__()\n")
    exec(f"def __init__({', '.join(takes)}):\n{''.join(body) or ' pass'}", known)
    return known["__init__"]


def _set(self: Any, name: str, value: Any = None) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__dataclass_fields__]


def _restore(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__dataclass_fields__, state, strict=True):
        object.__setattr__(self, name, value)
