"""A configuration and its family -> the bundled spec that it is, with its sizes.

Every key of the file is accounted for: it gave a size or an option, it is known to change nothing
that a figure shows or a count counts, or nobody knows it, which is a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from fractions import Fraction
from typing import Any, Final

from transformer_diagrams.dims import DimError, parse, parse_condition
from transformer_diagrams.errors import DiagramError, Fault, Report, Span, did_you_mean, nearest
from transformer_diagrams.families.config import Configuration
from transformer_diagrams.families.config import parse as parse_json
from transformer_diagrams.families.family import Family, Meaning, family, family_ids, serving
from transformer_diagrams.records import dataclass
from transformer_diagrams.spec.model import Config, Spec, Value

FULL: Final = "full_attention"
_PARTS: Final = ("text_config", "llm_config", "language_config")


@dataclass(frozen=True, slots=True)
class Adopted:
    """A configuration as a bundled spec with sizes.

    name      of the model: its folder
    taken     size or option of the spec -> its value, with the place in the configuration
    used      key -> what was made of it
    defaults  size or option -> what was filled in, because no key says it
    nothing   keys that are known to change neither the figure nor a count
    warnings  of the keys that nobody knows, and of what the spec leaves out
    numbers   every size that is known, the configuration's own included
    constants of the spec's ops, by selector
    uncomputed  what is drawn and counted, but that a run would not compute
    copies    weights that the model's code has under a second name, such as a tied output matrix
    """

    name: str
    family: Family
    taken: Mapping[str, Value]
    used: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, str] = field(default_factory=dict)
    nothing: tuple[str, ...] = ()
    warnings: tuple[Fault, ...] = ()
    copies: int = 0
    numbers: Mapping[str, int] = field(default_factory=dict)
    constants: Mapping[str, Value] = field(default_factory=dict)
    uncomputed: tuple[Fault, ...] = ()

    def holds(self, when: Mapping[str, Any]) -> bool:
        """Whether each option has one of the values."""
        return all(
            name in self.taken and self.taken[name].value in (w if isinstance(w, list) else [w])
            for name, w in when.items()
        )

    def onto(self, spec: Spec) -> Spec:
        """The bundled spec as this model: its sizes are the one config, and the figure shows it."""
        dims = {name: value for name, value in self.taken.items() if name in spec.dims}
        options = {name: value for name, value in self.taken.items() if name in spec.options}
        setting = Config(self.name, Span(), dims, options, constants=self.constants)
        title = f"{self.name} ({spec.title})"
        show = replace(spec.show, config=self.name)
        return replace(spec, title=title, configs={self.name: setting}, show=show)

    def as_json(self) -> dict[str, Any]:
        """What each key was taken for, as plain data."""
        return {
            "family": self.family.id,
            "spec": self.family.spec,
            "used": dict(self.used),
            "filled_in": dict(self.defaults),
            "changes_no_count": list(self.nothing),
            "warnings": [fault.as_json() for fault in self.warnings],
        }

    def broken(self, spec: Spec) -> list[Fault]:
        """The relations of the spec that the configuration's sizes do not keep, at their keys."""
        numbers = {n: v.value for n, v in self.taken.items() if type(v.value) is int}
        faults = []
        for text in spec.where:
            condition = parse_condition(text.value)
            if not condition.free <= numbers.keys() or condition.evaluate(numbers):
                continue
            names = sorted(condition.free, key=[*self.taken].index)
            said = {what: key for key, what in self.used.items()}
            keys = [said.get(f"{name} = {numbers[name]}", name) for name in names]
            shown = (f"{key} = {numbers[name]}" for key, name in zip(keys, names, strict=True))
            at = max(self.taken[name].span for name in names)
            faults.append(
                Fault(
                    "where-broken",
                    f"{text.value} does not hold: {condition.failure(numbers)}",
                    at,
                    path=", ".join(keys),
                    found=", ".join(shown),
                )
            )
        return faults


def adopt(data: bytes, file: str, name: str) -> Adopted:
    """What the bytes of a `config.json` say, read by its family.

    :raises DiagramError: when they are no configuration, no family serves it, or a value is none
        that it could be; all faults with their places.
    """
    whole = parse_json(data, file)
    chosen, part = _family(whole)
    return _Adoption(chosen, whole, part, name).adopted()


def _family(config: Configuration) -> tuple[Family, Configuration]:
    """The family that serves a configuration, and the part of it that holds the sizes.

    :raises DiagramError: when there is none; the nearest is named.
    """
    kind = _text(config, "model_type")
    classes = config.get("architectures")
    names = tuple(map(str, classes)) if isinstance(classes, list) else ()
    found = serving(kind, names)
    if found is not None:
        inner = config.part(found.within[kind]) if kind in found.within else None
        return found, inner or config
    known = {each for id in family_ids() for each in family(id).model_types}
    inside = config.sized()
    notes = [f"sizes stand in {', '.join(inside)}"] if inside else []
    for key in inside:
        part = config.part(key)
        served = serving(_text(part, "model_type")) if part else None
        if served is not None:
            notes.append(f"{key} alone is of the family '{served.id}': make it a file of its own")
    near = nearest(kind, known)
    guess = f"the nearest family is '{near or _by_keys(config)}', by its "
    guess += f"{'name' if near else 'keys'} alone"
    hint = "; ".join([*notes, guess, f"families: {', '.join(family_ids())}"])
    if kind:
        fault = config.fault(
            "unknown-family", f"no family serves the model type '{kind}'", "model_type",
            found=kind, hint=hint,
        )  # fmt: skip
    else:
        message = "the configuration has no 'model_type', and no class in it is known"
        fault = Fault("unknown-family", message, Span(config.file, 1, 1), hint=hint)
    raise DiagramError(fault)


def _text(config: Configuration, key: str) -> str:
    value = config.get(key)
    return value if isinstance(value, str) else ""


def _by_keys(config: Configuration) -> str:
    """The family that reads most of the keys, the fewest of its own besides."""
    given = {*config}
    return max(
        family_ids(),
        key=lambda id: (
            len(given & family(id).read_keys()),
            -len(family(id).read_keys() - given),
        ),
    )


class _Adoption:
    """One configuration being read by its family."""

    def __init__(
        self, family: Family, whole: Configuration, part: Configuration, name: str
    ) -> None:
        self.family = family
        self.whole = whole
        self.config = part
        self.name = name
        self.report = Report()
        self.numbers: dict[str, int] = {}
        self.taken: dict[str, Value] = {}
        self.used: dict[str, str] = {}
        self.defaults: dict[str, str] = {}
        self.constants: dict[str, Value] = {}

    def adopted(self) -> Adopted:
        self._classes()
        for key, only in self.family.only.items():
            value = self.config.get(key)
            if value is None or not self._holds(only.when):
                continue
            self.used.setdefault(key, f"is {_word(value)}")
            items = value if isinstance(value, list) else [value]
            if not all(any(_same(item, each) for each in only.values) for item in items):
                words = " or ".join(map(_word, only.values))
                self._refuse("refused", key, f"cannot be {_word(value)}: {only.because}", words)
        late = [each for each in self.family.names if each.read or each.equals]
        for entry in self.family.names:
            if entry not in late:
                self._size(entry, own=False)
        for entry in self.family.sizes:
            self._size(entry, own=True)
        for entry in late:  # judged by the number of layers
            self._size(entry, own=False)
        for entry in self.family.options:
            self._option(entry)
        for entry in self.family.attributes:
            self._constant(entry)
        nothing = self._rest()
        tied = "tied" not in self.taken or self.taken["tied"].value is True
        copies = self._worked_out(Meaning("copies"), self.family.copies) if tied else 0
        self.report.raise_if_errors()
        return Adopted(
            self.name, self.family, self.taken, self.used, self.defaults, nothing,
            tuple(self.report.warnings), copies or 0, self.numbers, self.constants,
            tuple(self._uncomputed()),
        )  # fmt: skip

    def _uncomputed(self) -> Iterator[Fault]:
        for key, only in self.family.computed.items():
            value = self.config.get(key)
            if value is not None and not any(_same(value, each) for each in only.values):
                words = " or ".join(map(_word, only.values))
                message = f"'{self.config.named(key)}' is {_word(value)}: {only.because}"
                yield self.config.fault("not-computed", message, key, expected=words)

    # -- what a key says

    def _size(self, entry: Meaning, own: bool) -> None:
        if entry.name in self.numbers or not self._holds(entry.when):
            return
        key, value = self._given(entry)
        span = Span(self.config.file)
        if key is None:
            text = entry.value if entry.value is not None else entry.default
            number = None if text is None else self._worked_out(entry, text)
            if number is not None and entry.value is None:
                self.defaults[entry.name] = str(number)
            elif text is None and own and not any(map(self.config.find, entry.keys)):
                self.defaults[entry.name] = "as the spec says"
        else:
            number = self._number(entry, key, value)
            wanted = None if entry.equals is None else self._worked_out(entry, entry.equals)
            if number is not None and wanted not in (None, number):
                self._refuse("refused", key, f"is {number}", f"{entry.equals} = {wanted}")
            span = self.config.span(key)
            self.used[key] = f"{entry.name} = {number}"
        if number is not None:
            if entry.value is not None or key is not None:
                self.defaults.pop(entry.name, None)  # said of an entry before
            self.numbers[entry.name] = number
            if own and number:  # none of them is no size of the spec
                self.taken[entry.name] = Value(number, span)

    def _option(self, entry: Meaning) -> None:
        if entry.name in self.taken or not self._holds(entry.when):
            return
        key, value = self._given(entry)
        if key is None:
            if entry.default is not None:
                self.taken[entry.name] = Value(entry.default, Span(self.config.file))
                self.defaults[entry.name] = _word(entry.default)
            return
        if isinstance(value, list) and entry.read is not None:
            value = self._of_list(entry.read, key, value)
        elif isinstance(value, list) and len(value) == 1:
            value = value[0]
        choice = value if isinstance(value, bool) and not entry.values else None
        if entry.values:
            choice = entry.values.get(_word(value), entry.values.get("else"))
        if choice is None:
            legal = " or ".join(entry.values) or "true or false"
            self._refuse("bad-value", key, f"cannot be {_word(value)}", legal)
            return
        self.used[key] = f"{entry.name} = {_word(choice)}"
        self.taken[entry.name] = Value(choice, self.config.span(key))

    def _constant(self, entry: Meaning) -> None:
        """A constant of the spec's ops; a list is its numbers one after another."""
        if entry.name in self.constants or not self._holds(entry.when):
            return
        key, value = self._given(entry)
        if key is None:
            value = entry.default
            if value not in (None, "none") and entry.keys:
                self.defaults[entry.name] = _word(value)
        elif entry.values:
            value = entry.values.get(_word(value), entry.values.get("else", value))
        elif isinstance(value, list):
            value = " ".join(map(_word, value))
        if key is not None and (value is None or isinstance(value, dict)):
            self._refuse("bad-value", key, f"cannot be {_word(value)}", "one value")
            return
        if value is None:
            return
        if entry.times is not None and not isinstance(value, str):
            value = value * float(entry.times)
        self.constants[entry.name] = Value(value, self.config.span(key) if key else Span())
        if key is not None:
            self.used[key] = f"{entry.name} = {_word(value)}"

    def _given(self, entry: Meaning) -> tuple[str | None, Any]:
        """The first key that is there and not null (or whose null means something), its value."""
        for key in entry.keys:
            if self.config.find(key) is None:
                continue
            value = self.config.get(key)
            if value is not None or "null" in entry.values:
                return key, value
            self.used.setdefault(key, "is null")
        return None, None

    def _number(self, entry: Meaning, key: str, value: Any) -> int | None:
        if entry.read == "length" and isinstance(value, dict):
            value = len(value)
        elif entry.read is not None and isinstance(value, list):
            value = self._of_list(entry.read, key, value)
            if value is None:
                return None
        elif entry.read in ("length", "prefix", "period", "windows", "zeros"):
            return self._refuse("wrong-type", key, f"is {_word(value)}", "a list")
        if entry.times is not None:
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                return self._refuse("wrong-type", key, f"is {_word(value)}", "a number")
            factor = self._worked_out(entry, entry.times)
            value = None if factor is None else int(Fraction(str(value)) * factor)
        if isinstance(value, bool) or not isinstance(value, int):
            return self._refuse("wrong-type", key, f"is {_word(value)}", "a whole number")
        if not entry.least <= value <= entry.most:
            wanted = f"a whole number from {entry.least} to {entry.most:,}"
            return self._refuse("out-of-range", key, f"is {_word(value)}", wanted)
        return value

    def _of_list(self, how: str, key: str, items: list[Any]) -> int | None:
        """A list as one number, or a fault when it is none that the spec could be."""
        layers = self.numbers.get("L")
        if how == "length":
            return len(items)
        if how == "prefix":
            if items == list(range(len(items))):
                return len(items)
            return self._refuse("refused", key, f"is {items}", "the first layers: [0, 1, ..]")
        if layers is not None and len(items) != layers:
            wanted = f"one entry for each of the {layers} layers"
            return self._refuse("wrong-length", key, f"has {len(items)} entries", wanted)
        if how == "same":
            if items and all(item == items[0] for item in items):
                return items[0] if isinstance(items[0], int) else None
            return self._refuse("refused", key, "differs from layer to layer", "one value for all")
        other = 0 if how == "zeros" else FULL
        full = [index for index, item in enumerate(items, 1) if item == other]
        period = full[0] if full else len(items) + 1
        if full != list(range(period, len(items) + 1, period)):
            wanted = f"{_word(other)} at every n-th layer, the others alike"
            return self._refuse("refused", key, "is no repeating pattern", wanted)
        return period - 1 if how == "windows" else period

    def _worked_out(self, entry: Meaning, text: Any) -> int | None:
        """A number or expression of the sizes that are known by now."""
        try:
            dim = parse(str(text))
            if not dim.free <= self.numbers.keys():
                return None
            return dim.evaluate(self.numbers)
        except DimError as error:
            known = ", ".join(f"{n} = {self.numbers[n]}" for n in sorted(parse(str(text)).free))
            keys = [k for n in sorted(parse(str(text)).free) for k, u in self.used.items()
                    if u.startswith(f"{n} = ")]  # fmt: skip
            self.report.add(
                Fault(
                    "no-whole-number",
                    f"{entry.name} = {text} is no size with {known}: {error.message}",
                    self.config.span(keys[0]) if keys else Span(self.config.file),
                    path=", ".join(map(self.config.named, keys)),
                    hint=error.hint,
                )
            )
            return None

    def _holds(self, when: Mapping[str, Any]) -> bool:
        """Whether each key has one of the values (its family's default, when it is not there)."""
        for key, wanted in when.items():
            value = self.config.get(key)
            if key in self.taken:
                value = self.taken[key].value
            elif value is not None:
                self.used.setdefault(key, f"is {_word(value)}")
            else:
                value = self.family.defaults.get(key)
            legal = wanted if isinstance(wanted, list) else [wanted]
            if not any(_same(value, one) for one in legal):
                return False
        return True

    # -- the others

    def _classes(self) -> None:
        names = self.whole.get("architectures")
        for name in names if isinstance(names, list) else []:
            if self.family.classes and name not in self.family.classes:
                message = f"the class {name} is drawn as {self.family.classes[0]}"
                self.report.add(
                    self.whole.fault(
                        "other-class", message, "architectures", found=str(name),
                        hint="its head is another one, and is not counted", severity="warning",
                    )
                )  # fmt: skip

    def _rest(self) -> tuple[str, ...]:
        """Warn of every key that nobody knows; those that are known to change nothing."""
        nothing = []
        quiet = {*self.family.nothing, *self.family.constants}
        read = self.family.read_keys()
        roots = {key.split(".")[0] for key in self.used}
        places = [self.config] if self.config is self.whole else [self.config, self.whole]
        for config in places:
            inner = () if config is self.config else self.family.within.values()
            for key in config:
                left = self.family.left_out.get(key)
                if left is not None and (not left.values or config.get(key) in left.values):
                    self._warn(config, key, "left-out", left.because, "")
                elif key in inner or (config is self.config and key in roots):
                    continue
                elif key in quiet or key in read or key.split(".")[0] in roots:
                    nothing.append(config.named(key))
                else:
                    hint = did_you_mean(key, {*read, *quiet}, what="key", most=0)
                    message = f"unknown key '{config.named(key)}': nothing was made of it"
                    self._warn(config, key, "unknown-key", message, hint)
        return tuple(nothing)

    def _warn(self, config: Configuration, key: str, code: str, message: str, hint: str) -> None:
        self.report.add(
            Fault(
                code, message, config.key_span(key), path=config.named(key), found=key, hint=hint,
                severity="warning",
            )
        )  # fmt: skip

    def _refuse(self, code: str, key: str, wrong: str, expected: str) -> int | None:
        """Take in a fault at a key; gives None, the number that it has."""
        message = f"'{self.config.named(key)}' {wrong}"
        self.report.add(self.config.fault(code, message, key, expected=expected))
        return None


def _word(value: Any) -> str:
    """A value as JSON writes it, text without quotes."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)


def _same(a: Any, b: Any) -> bool:
    """Equal, and both or neither a boolean."""
    return bool(a == b) and isinstance(a, bool) == isinstance(b, bool)
