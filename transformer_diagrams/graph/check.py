"""The whole check of a spec: its wires, its shapes as symbols, then with each config's numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import field, replace

from transformer_diagrams.dims import Condition, Dim, Facts, Speller, spelt_by
from transformer_diagrams.errors import Fault, Report, TooManyFaults
from transformer_diagrams.graph.frame import Frame
from transformer_diagrams.graph.infer import Inference, Library, Wired
from transformer_diagrams.graph.options import (
    Settings,
    default_options,
    resolve_settings,
    shown_by_configs,
)
from transformer_diagrams.graph.pause import no_collection
from transformer_diagrams.graph.rules import lint_model
from transformer_diagrams.graph.session import Need
from transformer_diagrams.records import dataclass
from transformer_diagrams.spec.library import SpecLibrary
from transformer_diagrams.spec.model import Spec

MOST_PARTS = 200_000  # blocks, sizes and options that one check looks at, over all settings


@dataclass(frozen=True, slots=True)
class Inferred:
    """A spec with shapes. ``frame`` is None after faults that leave nothing to look at.

    ``needs``  what has to hold beyond what the specs state (divisions, conditions of used specs)
    ``tex``    how a size is set in TeX, where a spec says so
    """

    spec: Spec
    settings: Settings
    frame: Frame | None
    report: Report
    needs: tuple[Need, ...] = ()
    tex: dict[str, str] = field(default_factory=dict)
    introduced: dict[str, Dim] = field(default_factory=dict)
    blocks: int = 0  # that were looked at, those of a used spec once a binding

    @property
    def speller(self) -> Speller:
        """How the sizes of the spec are spelt in figures and formulas."""
        return self.frame.scope.figure if self.frame is not None else Speller()

    def outside(self, condition: Condition) -> Condition:
        """``condition`` without the names that used specs brought along."""
        return Condition(
            condition.op, self._outside(condition.left), self._outside(condition.right)
        )

    def _outside(self, dim: Dim) -> Dim:
        for _ in range(len(self.introduced) + 1):
            if not dim.free & self.introduced.keys():
                break
            dim = dim.subs(self.introduced)
        return dim

    def reduce(self, dim: Dim) -> Dim:
        """``dim`` with every definition put in."""
        dim = self._outside(dim)
        facts = self.frame.scope.facts if self.frame is not None else Facts()
        return facts.reduce(dim)


class Inferences:
    """The shapes of one spec: inferred once for each setting, whoever asks for them.

    Without a ``library`` it may use the specs that lie beside it and the bundled ones.
    """

    def __init__(self, spec: Spec, library: Library | None = None) -> None:
        self.spec = spec
        self.library: Library = SpecLibrary() if library is None else library
        self._wired: Wired = {}
        self._found: dict[tuple[object, ...], Inferred] = {}

    @classmethod
    def of(cls, spec: Spec | Inferences, library: Library | None = None) -> Inferences:
        """Those that there are, or new ones."""
        return spec if isinstance(spec, Inferences) else cls(spec, library)

    def under(self, settings: Settings | None = None, *, numeric: bool = False) -> Inferred:
        """Shapes of every tensor under ``settings`` (default: options at their defaults).

        Faults are in the report, not raised. With ``numeric``, sizes that the settings fix are
        numbers; else all are symbols.
        """
        settings = settings if settings is not None else Settings(default_options(self.spec))
        told = settings.options, settings.numbers, settings.origins
        key = (numeric, settings.config, *(tuple(sorted(each.items())) for each in told))
        if key not in self._found:
            self._found[key] = _infer(self.spec, self.library, settings, numeric, self._wired)
        return self._found[key]


def _infer(
    spec: Spec, library: Library, settings: Settings, numeric: bool, wired: Wired
) -> Inferred:
    session = Inference(library=library, wired=wired)
    if settings.config is not None and numeric:
        session.setting = f"config '{settings.config}'"
    with no_collection():
        try:
            frame = session.root(spec, settings, numeric=numeric)
        except TooManyFaults:
            frame = None  # the report says so
    needs = tuple(session.needs.values())
    return Inferred(
        spec,
        settings,
        frame,
        session.report,
        needs,
        session.tex,
        session.introduced,
        session.blocks,
    )


@dataclass(frozen=True, slots=True)
class Checked:
    """The outcome of a check. ``assumed`` is what no statement and no config has shown."""

    inferred: Inferred
    report: Report
    assumed: tuple[Need, ...] = ()


def check(of: Spec | Inferences, library: Library | None = None) -> Checked:
    """Check a spec as symbols, for each value of each option, and with each config's numbers.

    Every fault and warning is in the report. What must hold for a size to be one, and follows
    from nothing that the specs state, is a fault unless the configs show it. What else must hold
    is checked with each config; without configs it is left in ``assumed``.
    """
    inferences = Inferences.of(of, library)
    spec, inferred = inferences.spec, inferences.under()
    report = Report()
    with suppress(TooManyFaults):  # the report says so
        _check_settings(spec, inferences, inferred, report)
    assumed = () if spec.configs else inferred.needs
    return Checked(inferred, report, assumed)


def _check_settings(
    spec: Spec, inferences: Inferences, inferred: Inferred, report: Report
) -> None:
    report.extend(inferred.report.faults)
    others = sum(len(option.choices or (True, False)) - 1 for option in spec.options.values())
    runs = 2 * len(spec.configs) + others
    parts = inferred.blocks + len(spec.dims) + len(spec.options)
    if parts * runs > MOST_PARTS:
        report.add(
            Fault(
                "too-many-settings",
                f"too much to check: {parts:,} blocks, sizes and options under {runs:,} settings "
                "(the configs, and each value of each option)",
                spec.span,
                found=f"{parts * runs:,}",
                expected=f"at most {MOST_PARTS:,}",
                hint="declare fewer configs and options, or fewer blocks",
            )
        )
        return
    symbolic = {_options(inferred.settings): inferred}
    for name in spec.configs:
        settings = resolve_settings(spec, config=name)
        key = _options(settings)
        if key not in symbolic:
            # Other options, other blocks: the symbols must fit these too.
            symbolic[key] = inferences.under(settings)
            words = f"with the options of config '{name}'"
            _merge(report, [with_note(f, words) for f in symbolic[key].report.faults])
        numbers = inferences.under(settings, numeric=True).report
        if symbolic[key].report.errors:
            # A fault among the symbols would come again in numbers; relations are told anyway.
            _merge(report, [f for f in numbers.errors if f.code in _RELATIONS])
        else:
            _merge(report, numbers.faults)
    for options, words in _variations(spec):
        key = _options(Settings(options))
        if key not in symbolic:
            symbolic[key] = inferences.under(Settings(options))
            _merge(report, [with_note(f, words) for f in symbolic[key].report.errors])
    refuted = {f.span for f in report.faults if f.code in ("no-whole-number", "shape-mismatch")}
    unsettled = _unsettled(spec, list(symbolic.values()))
    _merge(report, [fault for fault in unsettled if fault.span not in refuted])
    report.extend(_lint([each.frame for each in symbolic.values() if each.frame]))


def _unsettled(spec: Spec, every: list[Inferred]) -> list[Fault]:
    """Faults for what sizes rest on, and neither a statement nor a config shows."""
    found: dict[Condition, Fault] = {}
    for inferred in every:
        if inferred.frame is None:
            continue
        for need in inferred.needs:
            condition = inferred.outside(need.condition)
            if not need.firm or condition in found or shown_by_configs(spec, condition):
                continue
            told = condition if condition.free <= spec.dims.keys() else need.condition
            with spelt_by(inferred.frame.scope.speller):
                found[condition] = _cannot_tell(told, need)
    return list(found.values())


def _cannot_tell(told: Condition, need: Need) -> Fault:
    words = f"{told.left} divides {told.right}" if told.op == "|" else str(told)
    return Fault(
        "cannot-tell",
        f"cannot tell whether {words}: {need.reason}",
        need.span,
        path=need.path,
        found=str(told),
        expected=f"a statement, or a config that gives {_listed(told)} a number",
        hint=f"if it always holds, state it: where: ['{told}']",
    )


def _listed(condition: Condition) -> str:
    return " and ".join(sorted(condition.free))


def _lint(frames: list[Frame]) -> list[Fault]:
    """Findings about any setting of the options; "unused" only where it is so in all of them."""
    found = []
    with no_collection():
        for frame in frames:
            with spelt_by(frame.scope.speller):
                found.append(lint_model(frame))
    everywhere = [{(f.code, f.path) for f in faults} for faults in found]
    kept = {
        (fault.code, fault.path): fault
        for faults in reversed(found)  # the words for the default options win
        for fault in faults
        if not fault.code.startswith("unused")
        or all((fault.code, fault.path) in faults for faults in everywhere)
    }
    return list(kept.values())


_RELATIONS = ("where-broken", "definition-broken", "no-whole-number", "not-positive")


def _options(settings: Settings) -> tuple[tuple[str, bool | str], ...]:
    return tuple(sorted(settings.options.items()))


def _variations(spec: Spec) -> Iterator[tuple[dict[str, bool | str], str]]:
    """The options at their defaults, but for one that has another of its values."""
    for name, option in spec.options.items():
        for value in option.choices or (True, False):
            if value != option.default:
                shown = str(value).lower() if isinstance(value, bool) else value
                yield {**default_options(spec), name: value}, f"when {name} is {shown}"


def with_note(fault: Fault, words: str) -> Fault:
    """``fault`` with a note on the options under which it appears."""
    return replace(fault, notes=(*fault.notes, (words, fault.span)))


def _merge(report: Report, faults: list[Fault]) -> None:
    """Add what is new; a warning that numbers repeat in other words is not."""
    known = {(f.code, f.span, f.message) for f in report.faults}
    warned = {(f.code, f.span) for f in report.faults if f.severity == "warning"}
    for fault in faults:
        if fault.severity == "warning" and (fault.code, fault.span) in warned:
            continue
        if (fault.code, fault.span, fault.message) not in known:
            report.add(fault)
