"""Finding specs by id or path, and loading each only once.

An id is a file's stem. `use: NAME` looks beside the using file first, then among the specs that
come with the package.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from transformer_diagrams import reading
from transformer_diagrams.bundled import bundled_dir
from transformer_diagrams.dims import names_in
from transformer_diagrams.errors import (
    NOWHERE,
    DiagramError,
    Fault,
    Report,
    Span,
    TooManyFaults,
    did_you_mean,
    nearest,
)
from transformer_diagrams.spec.blocks import walk
from transformer_diagrams.spec.load import load_path
from transformer_diagrams.spec.model import Block, Spec, Value

_SUFFIXES: Final = (".yaml", ".yml")


def _is_path(ref: str) -> bool:
    return ref.endswith(_SUFFIXES) or "/" in ref or os.sep in ref


class SpecLibrary:
    """Specs by id or path. Each file is read once; make a new library to see changes."""

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self.folder = Path(folder) if folder is not None else bundled_dir()
        self._index: dict[str, Path] | None = None
        self._loaded: dict[Path, tuple[Spec, Report]] = {}
        self._checked: dict[tuple[Path, Path], Report] = {}
        self._clean: set[Path] = set()  # files that are right, with all that they use
        self._names: dict[Path, set[str]] = {}  # folder -> what lies in it

    # -- finding

    @property
    def index(self) -> dict[str, Path]:
        """Every bundled spec's id and file, in the order of the ids."""
        if self._index is None:
            found: dict[str, list[Path]] = {}
            for suffix in _SUFFIXES:
                for path in self.folder.rglob("*" + suffix):
                    found.setdefault(path.stem, []).append(path)
            self._index = {name: min(found[name]) for name in sorted(found)}
        return self._index

    def ids(self) -> list[str]:
        """The ids of the bundled specs, sorted."""
        return list(self.index)

    def find(self, ref: str, base: str | os.PathLike[str] | Spec | None = None) -> Path:
        """The file that an id or a path names.

        ``base`` is the spec (or its file) that says `use: ref`: paths are relative to its folder
        and a spec beside it comes first. Without it, paths are relative to the current folder.

        :raises DiagramError: with the nearest id when there is none.
        """
        path = self._find(ref, base)
        if path is None:
            raise DiagramError(self._missing(ref, NOWHERE, "", base))
        return path

    def _find(self, ref: str, base: str | os.PathLike[str] | Spec | None) -> Path | None:
        beside = _folder_of(base)
        if _is_path(ref):
            path = (beside or Path()) / ref
            if path.suffix in _SUFFIXES:
                return path if base is None or reading.is_file(path) else None
            tries = [path.parent / (path.name + suffix) for suffix in _SUFFIXES]
            return next((one for one in tries if reading.is_file(one)), None)
        if beside is not None:
            for suffix in _SUFFIXES:
                path = beside / (ref + suffix)
                if reading.is_file(path):
                    return path
        return self.index.get(ref)

    def _missing(
        self, ref: str, span: Span, doc_path: str, base: str | os.PathLike[str] | Spec | None
    ) -> Fault:
        known = set(self.index)
        beside = _folder_of(base)
        if beside is not None:
            if beside not in self._names:
                names = _listed(beside)
                self._names[beside] = {Path(n).stem for n in names if n.endswith(_SUFFIXES)}
            known |= self._names[beside]
        close = nearest(ref, known)
        hint = f"did you mean '{close}'?" if close else "the command 'list' shows the ids"
        reason = _refused((beside or Path()) / ref)
        return Fault(
            "unknown-spec",
            f"there is no spec '{ref}'" + (f" to be read: {reason}" if reason else ""),
            span,
            path=doc_path,
            found=ref,
            expected="the id of a spec beside this file or of a bundled one, or a path"
            if base is not None
            else "the id of a bundled spec, or a path",
            hint=hint,
        )

    def get(self, ref: str, base: str | os.PathLike[str] | Spec | None = None) -> Spec:
        """The spec of that id or path, with everything it uses checked to be there.

        :raises DiagramError: with every error, of this file and of the files it uses.
        """
        path = self.find(ref, base)
        if _key(path) not in self._clean:
            self._check(path, _folder_of(base)).raise_if_errors()
        return self._file(path)[0]

    def load(
        self, ref: str, base: str | os.PathLike[str] | Spec | None = None
    ) -> tuple[Spec, Report]:
        """As :meth:`get`, with a report (also of warnings) instead of an exception.

        :raises DiagramError: only when there is no such spec.
        """
        path = self.find(ref, base)
        spec, _ = self._file(path)
        return spec, self._check(path, _folder_of(base))

    def closure(self, spec: Spec) -> Iterator[Spec]:
        """``spec``, and each that it uses, directly or not; each file once."""
        todo = [spec]
        seen = {spec.span.file}
        while todo:
            user = todo.pop()
            yield user
            for block in walk(user.blocks):
                if block.kind == "use":
                    used = self.get(block.use, user)
                    if used.span.file not in seen:
                        seen.add(used.span.file)
                        todo.append(used)

    def add(self, spec: Spec, report: Report) -> Report:
        """Take in a spec read from a text; the report, completed by the checks of its uses."""
        path = Path(spec.span.file)
        self._loaded[_key(path)] = (spec, report)
        return self._check(path)

    def _file(self, path: Path) -> tuple[Spec, Report]:
        key = _key(path)
        if key not in self._loaded:
            self._loaded[key] = load_path(path)
        return self._loaded[key]

    def _check(self, path: Path, home: Path | None = None) -> Report:
        """Faults of a file and of all it uses; cycles of `use` are named in full.

        ``home`` is the folder of the spec that asks: nothing is told of what stands in a file
        elsewhere that is no spec.
        """
        key = _key(path)
        homes = (_key(home or path.parent), _key(self.folder))
        if (key, homes[0]) in self._checked:
            return self._checked[key, homes[0]]
        report = Report()
        self._checked[key, homes[0]] = report
        with suppress(TooManyFaults):  # the report says so
            self._walk(path, homes, report)
        return report

    def _walk(self, path: Path, homes: tuple[Path, Path], report: Report) -> None:
        done: set[Path] = set()
        trail: dict[Path, Span] = {}
        todo: list[tuple[Path, Span, int]] = [(path, NOWHERE, 0)]
        room = reading.MAX_BYTES
        while todo:
            here, span, depth = todo.pop()
            while len(trail) > depth:
                trail.popitem()
            here_key = _key(here)
            if here_key in trail:
                report.add(self._cycle(list(trail.items()), here_key, span))
                continue
            if here_key in done:
                continue
            trail[here_key] = span
            done.add(here_key)
            spec, own = self._file(here)
            if not (_is_spec(spec, own) or any(map(here_key.is_relative_to, homes))):
                report.add(_no_spec(here, span))
                continue
            report.extend(own.faults)
            room -= len(spec.text)
            if room < 0:
                report.add(
                    Fault(
                        "file-too-large",
                        "all used specs together are larger than one file may be",
                        span,
                        found=f"more than {reading.MAX_BYTES:,} characters",
                        hint="use fewer, or smaller ones",
                    )
                )
                return
            todo.extend(reversed([(p, s, depth + 1) for p, s in self._uses(spec, report)]))
        if report.ok:
            self._clean |= done

    def _uses(self, spec: Spec, report: Report) -> list[tuple[Path, Span]]:
        """The files that a spec uses, with the places; faults for what is not there."""
        found = []
        for block in walk(spec.blocks):
            if block.kind != "use" or not block.use:
                continue
            span = block.key_spans.get("use", block.span)
            path = self._find(block.use, spec)
            if path is None:
                report.add(self._missing(block.use, span, f"{block.path}.use", spec))
                continue
            found.append((path, span))
            if block.bind:
                used, own = self._file(path)
                for name, given in () if own.errors else block.bind.items():
                    wrong = _binding_fault(name, given, block, spec, used)
                    if wrong is not None:
                        report.add(wrong)
        for ref in spec.builds_on:
            if self._find(ref.value, spec) is None:
                report.add(self._missing(ref.value, ref.span, "builds_on", spec))
        for number, claim in enumerate(spec.equals):
            if self._find(claim.spec.value, spec) is None:
                at = f"equals[{number}].spec"
                report.add(self._missing(claim.spec.value, claim.spec.span, at, spec))
        return found

    @staticmethod
    def _cycle(trail: list[tuple[Path, Span]], again: Path, span: Span) -> Fault:
        trail = trail[[path for path, _ in trail].index(again) :]
        names = [path.stem for path, _ in trail] + [again.stem]
        chain = " -> ".join(names)
        return Fault(
            "use-cycle",
            f"specs use each other in a circle: {chain}",
            span,
            found=chain,
            expected="specs that use smaller ones",
            hint="take one 'use' out of the circle",
            notes=tuple(
                (f"'{names[i]}' uses '{names[i + 1]}' here", trail[i + 1][1])
                for i in range(len(trail) - 1)
            ),
        )


def _binding_fault(name: str, given: Value, block: Block, spec: Spec, used: Spec) -> Fault | None:
    """What is wrong with a name in `with:`, or with what it is given in the using spec's terms."""
    text, span = str(given.value), given.span
    option, mine = used.options.get(name), spec.options.get(text)
    code, found = "unknown-dim", text
    notes: tuple[tuple[str, Span], ...] = ()
    if option is not None:
        legal = option.choices or ("true", "false")
        words = mine.choices or ("true", "false") if mine is not None else ()
        if (text if option.choices else text.lower()) in legal or {*legal} & {*words}:
            return None
        code = "bad-choice"
        message = f"the option '{name}' of '{used.id}' cannot be '{text}'"
        expected = f"one of {', '.join(legal)}, or the name of an option with such a value"
        hint = did_you_mean(text, [*legal, *spec.options])
    elif name in used.dims:
        names = [text.lower()] if isinstance(given.value, bool) else sorted(names_in(text))
        unknown = next((one for one in names if one not in spec.dims), "")
        if not unknown:
            return None
        message = f"'{unknown}' is no size of '{spec.id}', but '{name}' of '{used.id}' is a size"
        expected = "a size in the names of this spec"
        hint = did_you_mean(unknown, spec.dims)
    else:
        known = [*used.dims, *used.options]
        span, found = block.key_spans.get(f"with.{name}", block.span), name
        message = f"'{used.id}' has no size and no option '{name}'"
        expected = "a size or an option of the used spec"
        expected += f": {', '.join(known)}" if 0 < len(known) <= 12 else ""
        close = nearest(name, known)
        hint = f"did you mean '{close}'?" if close else ""
        notes = ((f"'{used.id}' is this spec", used.span),)
    path = f"{block.path}.with.{name}"
    return Fault(
        code, message, span, path=path, found=found, expected=expected, hint=hint, notes=notes
    )


def _is_spec(spec: Spec, report: Report) -> bool:
    """Whether a file was written as a spec, right or wrong."""
    faults = (fault.path for fault in report.faults)
    return bool(spec.blocks) or any(path.startswith("blocks[") for path in faults)


def _no_spec(path: Path, span: Span) -> Fault:
    return Fault(
        "not-a-spec",
        f"'{path}' is no spec, or cannot be read as one",
        span,
        found=str(path),
        expected="a spec",
        hint=f"`transformer-diagrams check {shlex.quote(str(path))}` says more",
    )


def _refused(path: Path) -> str:
    """Why the system does not say whether a file is there; "" when it does."""
    for name in (path, *(path.parent / (path.name + suffix) for suffix in _SUFFIXES)):
        try:
            os.stat(name)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError) as fault:
            return getattr(fault, "strerror", None) or str(fault)
    return ""


def _folder_of(base: str | os.PathLike[str] | Spec | None) -> Path | None:
    if base is None:
        return None
    return Path(base.span.file if isinstance(base, Spec) else base).parent


def _listed(folder: Path) -> list[str]:
    """The names in a folder; none where it cannot be read."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _key(path: Path) -> Path:
    try:
        return Path(os.path.realpath(path))
    except ValueError:  # the name of a text can be what no file's can
        return path
