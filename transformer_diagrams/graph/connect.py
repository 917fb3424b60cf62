"""Wires -> links: which tensor goes into which input of an op or used spec."""

from __future__ import annotations

from collections.abc import Callable

from transformer_diagrams.errors import Fault, did_you_mean
from transformer_diagrams.graph.frame import Frame, Link
from transformer_diagrams.graph.program import Atom, Feed


class Connector:
    """Resolves the feeds of atoms whose sources have their shapes already."""

    def __init__(self, frame: Frame, report: Callable[[Fault], None]) -> None:
        self.frame = frame
        self.program = frame.program
        self.report = report

    def gather(self, atom: Atom) -> list[tuple[int, int, Feed]] | None:
        """What flows into ``atom``, one entry a tensor; None where a source is unknown."""
        found = []
        for feed in atom.feeds:
            tap = feed.tap
            outputs = self.frame.outputs[tap.atom]
            if outputs is None:
                return None
            if tap.port is None:
                found += [(tap.atom, port, feed) for port in range(len(outputs))]
                continue
            port = self._port(tap.atom, tap.port, len(outputs))
            if port is None:
                self._no_port(atom, feed)
                return None
            found.append((tap.atom, port, feed))
        return found

    def in_turn(self, atom: Atom) -> tuple[Link, ...] | None:
        """Links of ``atom`` in the order given; None where a source is unknown."""
        found = self.gather(atom)
        if found is None:
            return None
        return tuple(
            Link(source, port, to, str(to), feed) for to, (source, port, feed) in enumerate(found)
        )

    def _port(self, source: int, port: int | str, count: int) -> int | None:
        if isinstance(port, int):
            return port if port < count else None
        names = [self.frame.output_name(source, n) for n in range(count)]
        return names.index(port) if port in names else None

    def _no_port(self, atom: Atom, feed: Feed) -> None:
        source = self.program.atoms[feed.tap.atom]
        outputs = self.frame.outputs[feed.tap.atom] or ()
        names = [self.frame.output_name(feed.tap.atom, n) for n in range(len(outputs))]
        self.report(
            Fault(
                "unknown-port",
                f"'{source.id}' has no output '{feed.tap.port}'",
                feed.span,
                path=f"{atom.doc_path}.from",
                found=f"{source.id}.{feed.tap.port}",
                expected=" or ".join(f"{source.id}.{name}" for name in names),
                hint=did_you_mean(str(feed.tap.port), names, what="output"),
            )
        )

    def connect(
        self, atom: Atom, names: tuple[str, ...], what: str, *, variadic: bool, needed: int
    ) -> tuple[Link, ...] | None:
        """Links of ``atom`` in the order of its inputs; None after a fault."""
        found = self.gather(atom)
        if found is None:
            return None
        if variadic and not any(feed.to in names for _, _, feed in found):
            # Any number, in the order given; the author may name them: `{k: .., v: ..}`.
            if len(found) < needed:
                self._missing(atom, names, list(names[len(found) : needed]), what, len(found))
                return None
            return tuple(
                Link(source, port, to, feed.to or (names[to] if to < len(names) else str(to)), feed)
                for to, (source, port, feed) in enumerate(found)
            )
        if variadic:
            own = [e[2].to for e in found if e[2].to is not None and e[2].to not in names]
            extra = max(0, len(found) - len(names) - len(own))
            first = len(names) + len(own)
            names = (*names, *dict.fromkeys(own), *(str(first + n) for n in range(extra)))
        slots: dict[str, tuple[int, int, Feed]] = {}
        spare: list[tuple[int, int, Feed]] = []
        for entry in found:
            to = entry[2].to
            if to is None:
                spare.append(entry)
            elif to not in names:
                self._unknown_input(atom, to, names, what, entry[2])
                return None
            elif to in slots:
                self._too_many(atom, names, what, len(found), f"input '{to}' is given twice")
                return None
            else:
                slots[to] = entry
        free = [name for name in names if name not in slots]
        if len(spare) > len(free):
            self._too_many(atom, names, what, len(found), "")
            return None
        slots.update(zip(free, spare, strict=False))
        missing = [name for name in names[:needed] if name not in slots]
        if missing:
            self._missing(atom, names, missing, what, len(found))
            return None
        ordered = [(name, slots[name]) for name in names if name in slots]
        return tuple(
            Link(source, port, to, name, feed)
            for to, (name, (source, port, feed)) in enumerate(ordered)
        )

    def _unknown_input(
        self, atom: Atom, to: str, names: tuple[str, ...], what: str, feed: Feed
    ) -> None:
        self.report(
            Fault(
                "unknown-port",
                f"{what} has no input '{to}'",
                feed.span,
                path=f"{atom.doc_path}.from.{to}",
                found=to,
                expected=" or ".join(names),
                hint=did_you_mean(to, names, what="input"),
            )
        )

    def _too_many(
        self, atom: Atom, names: tuple[str, ...], what: str, given: int, why: str
    ) -> None:
        takes = ", ".join(names) or "nothing"
        self.report(
            Fault(
                "too-many-inputs",
                f"'{atom.id}': "
                + (why or f"{what} takes {len(names)} ({takes}), but {given} come in"),
                atom.span,
                path=atom.doc_path,
                found=self.sources(atom),
                expected=takes,
                hint="choose with `from:`" if atom.chained else "",
            )
        )

    def _missing(
        self, atom: Atom, names: tuple[str, ...], missing: list[str], what: str, given: int
    ) -> None:
        lacking = ", ".join(f"'{name}'" for name in missing)
        hint = f"give each: from: {{{', '.join(f'{name}: ...' for name in names)}}}"
        if not given and atom.chained:
            hint = "nothing stands before it: declare an input, or write `from:`"
        self.report(
            Fault(
                "missing-input",
                f"'{atom.id}': {what} needs {lacking}, but only {given} "
                f"{'comes' if given == 1 else 'come'} in",
                atom.span,
                path=atom.doc_path,
                found=self.sources(atom),
                expected=", ".join(names),
                hint=hint,
            )
        )

    def sources(self, atom: Atom) -> str:
        """The names of what ``atom`` reads, for messages."""
        return ", ".join(dict.fromkeys(self.program.atoms[f.tap.atom].id for f in atom.feeds))
