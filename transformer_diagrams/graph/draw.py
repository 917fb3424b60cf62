"""Frames -> the tree of groups and nodes that a figure shows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from transformer_diagrams.dims import Dim, DimError
from transformer_diagrams.graph.edges import EdgeCutter, Inside
from transformer_diagrams.graph.frame import NOTHING, Frame
from transformer_diagrams.graph.ir import (
    BORDER,
    Callout,
    Edge,
    End,
    Group,
    Node,
    Port,
    Return,
    Turns,
)
from transformer_diagrams.graph.opening import Opening, States
from transformer_diagrams.graph.pattern import order
from transformer_diagrams.graph.program import ROOT, Atom, Structure
from transformer_diagrams.graph.spelt import Spelt
from transformer_diagrams.spec.model import Block, PortSpec

_SYMBOL = re.compile(r"[A-Za-z](_[A-Za-z0-9]+)?'*")
_KINDS = {"column": "group", "branch": "group", "parallel": "group"}
_MOST_TURNS = 200  # in a strip


@dataclass(slots=True)
class Drawer:
    """Draws frames. ``numbers`` is not None when counts are shown as numbers."""

    opening: Opening
    tex: Mapping[str, str]
    numbers: Mapping[str, int] | None = None
    defaults: Mapping[str, int] = field(default_factory=dict)  # proposed numbers of sizes
    callouts: list[Callout] = field(default_factory=list)
    _spelt: dict[int, Spelt] = field(default_factory=dict)  # by frame, while it is drawn
    _spelts: dict[tuple[Any, ...], Spelt] = field(default_factory=dict)

    def root(self, frame: Frame, *, framed: bool) -> Group:
        """The whole figure; with ``framed``, inputs and outputs stand outside of the frame."""
        if not framed:
            return without_idle_inputs(self.frame(frame, "", frozenset(), top=True))
        spec = frame.program.spec
        inner = self.frame(frame, "", frozenset(), top=False, path=spec.id)
        children: list[Node | Group] = []
        edges: list[Edge] = []
        program = frame.program
        used = {edge.tail.port for edge in inner.edges if edge.tail.child == BORDER}
        for port, index in enumerate(program.inputs):
            if port in used:
                children.append(self.terminal(frame, program.atoms[index], ""))
        middle = len(children)
        children.append(inner)
        for at, node in enumerate(children[:middle]):
            port = next(p for p, i in enumerate(program.inputs) if program.atoms[i].id == node.path)
            shape = inner.inputs[port].shape
            when = node.when if isinstance(node, Node) else "always"
            edges.append(Edge(End(at, 0), End(middle, port), when=when, shape=shape))
        if program.declared_outputs:
            for port, index in enumerate(program.outputs):
                node = self.terminal(frame, program.atoms[index], "")
                shape = inner.outputs[port].shape
                edges.append(
                    Edge(End(middle, port), End(len(children), 0), when=node.when, shape=shape)
                )
                children.append(node)
        return Group("", "root", tuple(children), tuple(edges), (), (), span=spec.span)

    def frame(
        self,
        frame: Frame,
        prefix: str,
        states: States,
        *,
        top: bool,
        level: int = 0,
        block: Block | None = None,
        path: str = "",
        spelt: Spelt | None = None,
    ) -> Group:
        """One frame as a group: the root of the figure, or an opened use.

        ``spelt`` has the shapes of what comes in and goes out as they are spelt outside.
        """
        program = frame.program
        spelt = self._spelt[id(frame)] = spelt if spelt is not None else Spelt(frame)
        doors = self.opening.doors(frame, states, level)
        insides = EdgeCutter(frame, spelt, top=top, closed=doors.closed).run()
        made: dict[int, Node | Group] = {}
        for index in sorted(insides, reverse=True):  # a box stands after the one around it
            inside, box = insides[index], program.structures[index]
            if index in doors.hidden:
                continue
            if index in doors.closed and index not in doors.beside:
                made[index] = self.closed(frame, box, inside, prefix)
                continue
            deep = level + doors.depth[index]
            children = tuple(
                made[number]
                if kind == "box"
                else self.atom(frame, program.atoms[number], prefix, states, deep)
                for kind, number in inside.items
            )
            if index in doors.beside:
                group = self.structure(frame, box, inside, children, prefix)
                group = group if group.framed else in_frame(group)
                group = replace(group, title=group.title or self.name(frame, box))
                self.callouts.append(Callout(group.path, group))
                made[index] = self.closed(frame, box, inside, prefix)
            elif index != ROOT:
                made[index] = self.structure(frame, box, inside, children, prefix)
            elif top:
                edges = live(inside, children)
                back = returns(inside, prefix)
                return Group(
                    "", "root", children, edges, (), (), span=program.spec.span, returns=back
                )
            else:
                opened = self.opened(frame, inside, children, block, path)
                return replace(opened, returns=returns(inside, prefix))
        raise AssertionError("the outermost box is always drawn")

    # -- parts ------------------------------------------------------------------------------

    def structure(
        self,
        frame: Frame,
        box: Structure,
        inside: Inside,
        children: tuple[Node | Group, ...],
        prefix: str,
    ) -> Group:
        block = box.block
        assert block is not None  # only the root has none
        kind = _KINDS.get(box.kind, box.kind)
        stack = self.stack(frame, block)
        badge = f"{stack[:-1]} \\times$" if stack else ""
        count = self.turns(frame, box)
        if count is not None:
            badge = f"${self.count(frame, count)} \\times$"
        group = Group(
            prefix + block.id,
            kind,
            children,
            live(inside, children),
            tuple(inside.inputs),
            tuple(inside.outputs),
            title=text_of(block.title) or text_of(block.label),
            badge=badge,
            framed=box.kind in ("repeat", "group", "pattern") or block.dressed,
            role=block.role or "",
            stack=stack,
            mark=block.mark,
            accent=block.accent,
            when=block.when,
            direction=block.direction or "",
            note=text_of(block.note),
            turns=self.order(frame, box),
            tone=self.tones(frame, box.parent).get(box.index, -1),
            returns=returns(inside, prefix),
            span=block.span,
            doc_path=block.path,
        )
        if frame.program.structures[box.parent].kind == "pattern":
            group = kind_of_turns(group)
        # a lane beside the stack and streams side by side leave no room for a frame of their own
        return in_frame(group) if group.framed and kind in ("residual", "columns") else group

    def closed(self, frame: Frame, box: Structure, inside: Inside, prefix: str) -> Node | Group:
        """A structure as one box; a column stays a column, of this box alone."""
        block = box.block
        assert block is not None
        count = self.turns(frame, box)
        turns = f"${self.count(frame, count)} \\times$ " if count is not None else ""
        tone, note = self.tones(frame, box.parent).get(box.index, -1), text_of(block.note)
        if tone >= 0 and not note:  # of a pattern: beside it, with the cell of its kind
            turns, note = "", turns.strip()
        node = Node(
            prefix + block.id,
            box.kind,
            block.role or "container",
            turns + self.name(frame, box),
            tuple(inside.inputs),
            tuple(inside.outputs),
            stack=self.stack(frame, block),
            mark=block.mark,
            accent=block.accent,
            when=frame.when_of(box.index),
            note=note,
            tone=tone if note else -1,
            span=block.span,
            doc_path=block.path,
        )
        if box.kind != "column":
            return node
        return around(node, f"{node.path}#column")

    def turns(self, frame: Frame, box: Structure) -> Dim | None:
        """How often a structure is repeated."""
        pattern = frame.patterns.get(box.index)
        return pattern.turns if pattern is not None else frame.counts.get(box.index)

    def known_order(self, frame: Frame, box: int) -> tuple[tuple[int, ...], bool] | None:
        """The kinds of the turns of a pattern, in their order, as far as numbers are known."""
        pattern = frame.patterns.get(box)
        if pattern is None:
            return None
        found = order(pattern, {**self.defaults, **(self.numbers or {})})
        return found if found is not None and len(found[0]) <= _MOST_TURNS else None

    def tones(self, frame: Frame, box: int) -> Mapping[int, int]:
        """The tones of the kinds of a pattern, the lightest for the most frequent one."""
        found = self.known_order(frame, box)
        if found is None:
            return {}
        kinds = [each.index for each in frame.program.structures
                 if each.parent == box and each.index != ROOT]
        often = sorted(range(len(kinds)), key=lambda kind: -found[0].count(kind))
        return {kinds[kind]: tone for tone, kind in enumerate(often)}

    def order(self, frame: Frame, box: Structure) -> Turns | None:
        """The order of the turns of a pattern."""
        found = self.known_order(frame, box.index)
        if found is None:
            return None
        tones, more = self.tones(frame, box.index), found[1]
        boxes = [frame.program.structures[index] for index in sorted(tones)]
        runs = [(boxes[kind], len(list(run))) for kind, run in groupby(found[0])]
        words = ", ".join(f"{often} {self.name(frame, each)}" for each, often in runs)
        return Turns(
            tuple(tones[boxes[kind].index] for kind in found[0]),
            more,
            words + (", and so on" if more else ""),
        )

    def name(self, frame: Frame, box: Structure) -> str:
        """What a structure is called where it must have a name."""
        block = box.block
        assert block is not None
        given = text_of(block.title) or text_of(block.label)
        return given or (block.id.replace("_", " ") if block.explicit_id else box.kind)

    def opened(
        self,
        frame: Frame,
        inside: Inside,
        children: tuple[Node | Group, ...],
        block: Block | None,
        path: str,
    ) -> Group:
        spec = frame.program.spec
        title = spec.title or spec.id
        if block is not None:
            title = text_of(block.title) or text_of(block.label) or title
        role = (block.role if block is not None else None) or spec.role or ""
        if frame.scope.figure.renamed:  # what its own names stand for outside
            pairs = frame.scope.figure.renamed
            title += f": ${', '.join(f'{own} = {theirs}' for own, theirs in pairs)}$"
        return Group(
            path,
            "use",
            children,
            live(inside, children),
            tuple(inside.inputs),
            tuple(inside.outputs),
            title=title,
            framed=True,
            role=role,
            mark=block.mark if block is not None else "",
            accent=block.accent if block is not None else 0,
            when=block.when if block is not None else "always",
            use=spec.id,
            direction=(block.direction or "") if block is not None else "",
            note=text_of(block.note) if block is not None else "",
            span=block.span if block is not None else spec.span,
            doc_path=block.path if block is not None else "",
        )

    def atom(
        self, frame: Frame, atom: Atom, prefix: str, states: States, level: int
    ) -> Node | Group:
        if atom.kind in ("input", "output"):
            return self.terminal(frame, atom, prefix)
        if atom.kind == "add":
            return self.adder(frame, atom, prefix)
        if atom.kind == "use":
            return self.use(frame, atom, prefix, states, level)
        return self.op(frame, atom, prefix)

    def terminal(self, frame: Frame, atom: Atom, prefix: str) -> Node:
        port = atom.port
        assert port is not None
        own = (Port(port.name, self._spelt[id(frame)].shape(atom.index, 0), port.dtype),)
        is_input = atom.kind == "input"
        path = prefix + port.name
        taken = port.name in frame.program.ids or port.name in frame.program.spec.inputs
        if not is_input and taken:
            path += ".out"  # an output may be called as the block that gives it
        return Node(
            path,
            atom.kind,
            "data" if is_input else "output",
            port_label(port, self.tex),
            () if is_input else own,
            own if is_input else (),
            form="text",
            when=port.when,
            span=port.span,
            doc_path=atom.doc_path,
        )

    def adder(self, frame: Frame, atom: Atom, prefix: str) -> Node:
        block = atom.block
        assert block is not None
        return Node(
            f"{prefix}{block.id}/add",
            "add",
            "plain",
            "",
            self.inputs(frame, atom),
            self.outputs(frame, atom),
            form="circle",
            alike=True,
            symbol="+",
            when=frame.when(atom.index),
            span=block.span,
            doc_path=block.path,
        )

    def op(self, frame: Frame, atom: Atom, prefix: str) -> Node:
        block = atom.block
        assert block is not None
        applied = frame.applied[atom.index]
        spelt = self._spelt[id(frame)]
        op = applied.op
        label = text_of(block.label)
        form = op.form
        if label and form == "circle":
            form = "box"  # a word does not fit into a junction
        tied = block.share is not None or "tied" in op.does
        role = block.role or op.role or "plain"
        return Node(
            prefix + block.id,
            op.name,
            role,
            label or applied.label,
            self.inputs(frame, atom),
            self.outputs(frame, atom),
            form=form,
            symbol=op.symbol,
            dashed=role == "cache" or op.role == "cache",
            lanes="cache" in op.does and 1 < len(applied.inputs) == len(applied.outputs),
            ordered=op.ordered,
            alike=op.variadic,
            attrs=spelt.attrs(applied),
            stack=self.stack(frame, block),
            mark=block.mark or ("tied" if tied else ""),
            accent=block.accent,
            when=frame.when(atom.index),
            params=spelt.value(applied.params),
            note=text_of(block.note),
            span=block.span,
            doc_path=block.path,
        )

    def use(
        self, frame: Frame, atom: Atom, prefix: str, states: States, level: int
    ) -> Node | Group:
        block = atom.block
        assert block is not None
        inner = frame.uses[atom.index]
        spec = inner.program.spec
        path = prefix + block.id
        step = self.opening.step(states, block, inner)
        in_place = step.opened or block.open is True or level < self.opening.depth
        inputs, outputs = self.inputs(frame, atom), self.outputs(frame, atom)
        if not step.closed and (in_place or block.open == "callout"):
            group = self.frame(
                inner, f"{path}/", step.inside, top=False, level=level + 1, block=block, path=path,
                spelt=self.spelt_outside(inner, inputs, outputs),
            )
            if in_place:
                return group
            self.callouts.append(Callout(path, group))
        return Node(
            path,
            "use",
            block.role or spec.role or "plain",
            text_of(block.label) or text_of(block.title) or spec.short or spec.title or spec.id,
            inputs,
            outputs,
            attrs=NOTHING,
            stack=self.stack(frame, block),
            mark=block.mark or ("tied" if block.share is not None else ""),
            accent=block.accent,
            when=frame.when(atom.index),
            use=spec.id,
            note=text_of(block.note),
            span=block.span,
            doc_path=block.path,
        )

    def spelt_outside(
        self, inner: Frame, inputs: tuple[Port, ...], outputs: tuple[Port, ...]
    ) -> Spelt:
        """The shapes of a used frame; what comes in and goes out is spelt as it is here."""
        shapes = {port.name: port.shape for port in inputs}
        ins = [shapes.get(name) for name in inner.program.spec.inputs]
        outs = [port.shape for port in outputs]
        key = (id(inner), *ins, *outs)
        if key not in self._spelts:
            self._spelts[key] = Spelt(inner, ins, outs)
        return self._spelts[key]

    def inputs(self, frame: Frame, atom: Atom) -> tuple[Port, ...]:
        """One port a link, so that each edge has an end of its own."""
        ports = []
        for link in frame.links[atom.index]:
            shape = self._spelt[id(frame)].shape(link.atom, link.port)
            ports.append(Port(link.name, shape, frame.dtype(link.atom, link.port)))
        return tuple(ports)

    def outputs(self, frame: Frame, atom: Atom) -> tuple[Port, ...]:
        return tuple(
            Port(frame.output_name(atom.index, n), shape, frame.dtype(atom.index, n))
            for n, shape in enumerate(self._spelt[id(frame)].shapes(atom.index))
        )

    def stack(self, frame: Frame, block: Block) -> str:
        dim = frame.stacks.get(block.id) or frame.copies.get(block.id)
        return f"${self.count(frame, dim)}$" if dim is not None else ""

    def count(self, frame: Frame, dim: Dim) -> str:
        """TeX of a count; a number where numbers are shown and known."""
        if self.numbers is not None:
            try:
                if dim.free <= self.numbers.keys():
                    return str(dim.evaluate(self.numbers))
            except DimError:
                pass
        spelt = frame.scope.figure.spelt(dim)
        plain = len(str(spelt).split()) < 2 or not set("+-%") & set(str(spelt))
        return spelt.tex() if plain else f"({spelt.tex()})"


def text_of(text: object) -> str:
    """The words of an optional text."""
    return "" if text is None else str(text)


def live(inside: Inside, children: tuple[Node | Group, ...]) -> tuple[Edge, ...]:
    """The edges in a structure, but for those into an opened part that does not read them."""
    read = {
        n: {edge.tail.port for edge in child.edges if edge.tail.child == BORDER}
        for n, child in enumerate(children)
        if isinstance(child, Group)
    }
    return tuple(
        edge
        for edge in inside.edges()
        if edge.head.child not in read or edge.head.port in read[edge.head.child]
    )


def returns(inside: Inside, prefix: str) -> tuple[Return, ...]:
    """The lines back in a structure, by the paths of what they join."""

    def paths(ids: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(prefix + name for name in ids)

    return tuple(replace(r, tails=paths(r.tails), heads=paths(r.heads)) for r in inside.returns)


def around(part: Node | Group, path: str, **said: Any) -> Group:
    """A group that holds ``part`` alone: what comes in goes on to it."""
    edges = [Edge(End(BORDER, n), End(0, n), shape=p.shape) for n, p in enumerate(part.inputs)]
    edges += [Edge(End(0, n), End(BORDER, n), shape=p.shape) for n, p in enumerate(part.outputs)]
    return Group(path, "group", (part,), tuple(edges), part.inputs, part.outputs, **said)


def kind_of_turns(group: Group) -> Group:
    """A kind of a pattern's turns that is a single block is drawn as that block.

    An opened spec has one frame, not two; beside a box stands how many there are.
    """
    if len(group.children) != 1 or group.note or group.stack or group.accent:
        return group
    only = group.children[0]
    title = group.title
    if isinstance(only, Group):
        if only.kind != "use" or title not in ("", only.title):
            return group
        bare = replace(only, title="", framed=False)
        return replace(group, title=only.title, children=(bare,))
    if title or only.form != "box" or only.note:
        return group
    node = replace(only, note=group.badge, tone=group.tone)
    return replace(group, children=(node,), framed=False, tone=-1)


def in_frame(group: Group) -> Group:
    """A frame around ``group``, which says what the group says."""
    bare = replace(
        group, path=f"{group.path}#body", title="", badge="", framed=False, role="", stack="",
        mark="", note="", direction="", accent=0,
    )  # fmt: skip
    return replace(
        group,
        kind="group",
        children=(bare,),
        edges=around(bare, "").edges,
        framed=True,
        returns=(),
    )


def without_idle_inputs(group: Group) -> Group:
    """``group`` without the inputs that nothing reads under the options chosen."""
    read = {edge.tail.child for edge in group.edges}
    kept = [
        n
        for n, c in enumerate(group.children)
        if n in read or not (isinstance(c, Node) and c.op == "input")
    ]
    if len(kept) == len(group.children):
        return group
    place = {old: new for new, old in enumerate(kept)} | {BORDER: BORDER}
    edges = tuple(
        replace(
            e,
            tail=End(place[e.tail.child], e.tail.port),
            head=End(place[e.head.child], e.head.port),
        )
        for e in group.edges
    )
    return replace(group, children=tuple(group.children[n] for n in kept), edges=edges)


def port_label(port: PortSpec, tex: Mapping[str, str]) -> str:
    """What stands at an input or output: its label, else its name, as maths if it is a symbol."""
    if port.label is not None:
        return port.label.value
    if port.name in tex:
        return f"${tex[port.name]}$"
    if _SYMBOL.fullmatch(port.name):
        head, _, tail = port.name.partition("_")
        return f"${head}_{{{tail}}}$" if tail else f"${head}$"
    return port.name.replace("_", " ")
