"""The Python interface: one model, and everything that can be done with it.

The only module that knows all stages:

    bytes -> Spec -> Graph -> Graph with shapes -> Scene -> SVG, PNG, PDF, EPS, DOT
                                     |                `-> lint
                                     `-> parameters, KV cache, FLOPs

A finished result is kept (see `store`), and then found again without running any stage.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_diagrams import files, reading, store
from transformer_diagrams.bundled import bundled_specs
from transformer_diagrams.errors import (
    DiagramError,
    Fault,
    Report,
    ToolMissing,
    did_you_mean,
)
from transformer_diagrams.options import AskError, Options, ask_error, settle, typed

if TYPE_CHECKING:
    from transformer_diagrams.count import Inspection
    from transformer_diagrams.diff import Comparison
    from transformer_diagrams.graph.check import Checked
    from transformer_diagrams.graph.frame import Used
    from transformer_diagrams.graph.ir import Graph
    from transformer_diagrams.layout.scene import Scene
    from transformer_diagrams.lint import LintReport
    from transformer_diagrams.render.formats import Drawing
    from transformer_diagrams.spec.library import SpecLibrary
    from transformer_diagrams.spec.model import Spec
    from transformer_diagrams.theme import Theme

# What a call may give as `set`: {"d_m": 512}, ["d_m=512"] or [("d_m", 512)].
Settable = Mapping[str, Any] | Iterable[str | tuple[str, Any]]

# What a spec's `show:` may say too: asking for the default is then not the same as not asking.
FROM_SPEC = ("direction", "shapes", "legend", "config")


@dataclass(frozen=True, slots=True)
class Rendering:
    """A finished figure."""

    data: bytes
    media_type: str
    warnings: tuple[Fault, ...] = ()
    labels: tuple[tuple[str, str, str], ...] = ()  # measured for it, see `store.Entry`

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the figure to ``path``, whole or not at all; makes missing folders."""
        return save(Path(path), self.data)

    def __str__(self) -> str:
        return self.data.decode("utf-8")


def load(target: str | os.PathLike[str], *, text: str | bytes | None = None) -> Model:
    """A model by path or by the id of a bundled spec; or from ``text``, named ``target``.

    >>> load("gqa").id
    'gqa'

    :raises DiagramError: when it cannot be found, or its YAML or form is wrong (all faults).
    """
    typed("a spec's name or path", target, str, os.PathLike)
    if text is not None:
        model = Model.from_text(text, name=str(target))
    else:
        model = Model.find(str(target))
    _ = model.spec
    return model


class Model:
    """An architecture. Nothing is parsed before it is needed."""

    def __init__(
        self, data: bytes, *, label: str, path: Path | None = None, text: str | None = None
    ) -> None:
        self.data = data
        self.text = text  # where it did not come as bytes
        self.label = label  # the name that messages use
        self.path = path
        self.id = Path(label).stem if path is not None else _id_from(label)

    @classmethod
    def find(cls, target: str) -> Model:
        """The model behind a path or id, unparsed.

        :raises AskError: when there is none (with the nearest id), or it cannot be read.
        :raises DiagramError: when it is larger than a spec can be.
        """
        path = locate(target)
        try:
            return cls(reading.read(path), label=_shown(path), path=path)
        except reading.TooLarge as fault:
            raise DiagramError(reading.too_large(_shown(path))) from fault
        except OSError as fault:
            raise _unreadable(target, fault) from fault

    @classmethod
    def from_text(cls, text: str | bytes, *, name: str = "<input>") -> Model:
        """A model from its YAML; ``use`` looks in the current folder, then in bundled specs.

        :raises DiagramError: when it is larger than a spec can be.
        """
        typed("the text of a spec", text, str, bytes)
        typed("the name of a text", name, str)
        if len(text) > reading.MAX_BYTES:
            raise DiagramError(reading.too_large(name))
        if isinstance(text, bytes):
            return cls(text, label=name)
        # Half a surrogate pair is a fault of the text, told with its place when it is read.
        return cls(text.encode("utf-8", "surrogatepass"), label=name, text=text)

    def __repr__(self) -> str:
        return f"<Model {self.id} from {self.label}>"

    # -- stages, each made once

    @cached_property
    def library(self) -> SpecLibrary:
        """Where the specs that this one uses are found."""
        from transformer_diagrams.spec import SpecLibrary

        return SpecLibrary()

    @cached_property
    def _loaded(self) -> tuple[Spec, Report]:
        from transformer_diagrams.spec.load import load_bytes, load_text

        if self.text is not None:
            spec, report = load_text(self.text, file=self.label)
        else:
            spec, report = load_bytes(self.data, file=self.label)
        return spec, self.library.add(spec, report)

    @property
    def spec(self) -> Spec:
        """The spec as written.

        :raises DiagramError: all faults of form, of this spec and of those it uses.
        """
        spec, report = self._loaded
        report.raise_if_errors()
        return spec

    @property
    def title(self) -> str:
        """The spec's title."""
        return self.spec.title

    @cached_property
    def _checked(self) -> Checked:
        from transformer_diagrams.graph.check import check

        return check(self.spec, self.library)

    @cached_property
    def _labels(self) -> Report:
        """What is wrong with the texts of this spec and of those that it uses."""
        from transformer_diagrams import labels

        return _joined(fault for spec in self._specs() for fault in labels.faults(spec))

    def _specs(self) -> Iterator[Spec]:
        """This spec, and each that it uses, directly or not."""
        from transformer_diagrams.spec.blocks import walk

        todo = [self.spec]
        seen = {self.spec.span.file}
        while todo:
            spec = todo.pop()
            yield spec
            for block in walk(spec.blocks):
                if block.kind == "use":
                    used = self.library.get(block.use, spec)
                    if used.span.file not in seen:
                        seen.add(used.span.file)
                        todo.append(used)

    # -- what a user asks for

    def check(self, config: str | None = None) -> Report:
        """Every fault and warning: form, wiring, shapes as symbols and with each config's numbers.

        ``config`` limits the numbers to that config. Nothing is raised for what the spec says;
        ``report.ok`` tells whether it can be used.

        :raises AskError: when there is no such config.
        """
        _, report = self._loaded
        if report.errors:
            from transformer_diagrams import labels

            return _joined(report.faults, labels.faults(self._loaded[0]))
        if config is None:
            lists = self._labels, self._checked.report, self._figure_faults
            return _joined(report.faults, *(each.faults for each in lists))
        self._know(config, ())
        return _joined(report.faults, self._labels.faults, self._numbers(config, {}).faults)

    def used(self) -> list[Used]:
        """Every spec that this one uses: what its sizes and options were bound to, and how.

        Empty while faults keep the shapes unknown.
        """
        from transformer_diagrams.graph.frame import used_in

        if self._loaded[1].errors:
            return []
        frame = self._checked.inferred.frame
        return [] if frame is None else used_in(frame)

    @cached_property
    def _figure_faults(self) -> Report:
        """What a right spec asks for, and no figure can show; found without any layout."""
        from transformer_diagrams.layout.limits import MOST_FAN, refuse

        todo = [self._checked.inferred.frame]
        links, seen = 0, {id(frame) for frame in todo}
        while todo:
            frame = todo.pop()
            if frame is not None:
                links += sum(map(len, frame.links))
                fresh = [inner for inner in frame.uses.values() if id(inner) not in seen]
                seen |= {id(inner) for inner in fresh}
                todo += fresh
        if links <= MOST_FAN or self._checked.report.errors or self._labels.errors:
            return Report()
        try:
            refuse(self.graph())
        except DiagramError as error:
            return Report(list(error.faults))
        return Report()

    def validate(self) -> Report:
        """What the JSON Schema alone finds, as an editor would mark it; see :meth:`check` for all.

        Nothing is raised for what the text says; ``report.ok`` tells whether it fits.
        """
        from transformer_diagrams.spec.validate import validate

        return validate(self.data, self.label)

    def inspection(
        self,
        config: str | None = None,
        *,
        set: Settable = (),
        length: int | None = None,
        flops: str = "dense",
    ) -> Inspection:
        """Parameters, KV cache and FLOPs as exact amounts with their formulas.

        :raises DiagramError: faults of the spec, or of what was asked.
        """
        from transformer_diagrams.count import inspect

        options = settle({"config": config, "set": set})
        if length is not None:
            typed("length", length, int)
        self._know(options.config, options.set)
        self._labels.raise_if_errors()
        self._checked.report.raise_if_errors()
        return inspect(
            self.spec,
            self.library,
            config=config,
            overrides=dict(options.set),
            length=length,
            convention=flops,
        )

    def inspect(
        self,
        config: str | None = None,
        *,
        set: Settable = (),
        length: int | None = None,
        flops: str = "dense",
    ) -> dict[str, Any]:
        """Parameters, KV cache and FLOPs as plain data; ``set`` is like ``{"d_m": 512}``.

        ``flops`` is what a causal mask saves: nothing (`dense`), or what it hides (`causal`).

        >>> sizes = {"d_m": 512, "n_h": 8, "n_g": 2}
        >>> load("gqa").inspect(set=sizes)["params"]["total"]
        655360

        :raises DiagramError: faults of the spec, or of what was asked.
        """
        return self.inspection(config, set=set, length=length, flops=flops).as_json()

    def render(self, format: str = "svg", **asked: Any) -> Rendering:
        """The figure in a format: svg, png, pdf, eps, ps or dot.

        ``asked`` are the fields of :class:`transformer_diagrams.options.Options`, for example
        ``theme="dark", open=["attention"], width="3.25in", config="8B", set={"L": 12}``.

        :raises DiagramError: faults of the spec, or of what was asked.
        """
        self._formats(format)
        key = self._key(format, asked)
        entry = store.get(key)
        if entry is None:
            from transformer_diagrams.text import kept

            with kept.noted() as labels:
                entry = self._render(format, asked)
            entry = replace(entry, labels=tuple(labels))
            if settle(asked).graphviz == "pure":  # a system's dot may change between runs
                store.put(key, entry)
        return Rendering(entry.data, entry.media_type, entry.warnings, entry.labels)

    def kept(self, format: str = "svg", **asked: Any) -> store.Entry | None:
        """The finished result of an earlier run, if there is one that still fits."""
        return store.get(self._key(format, asked))

    def lint(self, **asked: Any) -> LintReport:
        """What a strict reviewer would mark on the figure; options as for :meth:`render`."""
        from transformer_diagrams.lint import lint

        options = settle(asked, self.spec.show)
        return lint(self.scene(**asked), _theme(options))

    def graph(self, **asked: Any) -> Graph:
        """The block graph with shapes, as it will be drawn.

        :raises DiagramError: everything that :meth:`check` finds wrong, or what was asked.
        """
        from transformer_diagrams.graph.build import build, draw

        options = settle(asked, self.spec.show)
        self._know(options.config, options.set)
        self._sound()
        try:
            if not (options.config or options.set or options.callout):
                return draw(self._checked.inferred, open=options.open, close=options.close)
            if options.set:  # a config's numbers have been checked, these have not
                self._numbers(options.config, dict(options.set)).raise_if_errors()
            return build(
                _called_out(self.spec, options.callout),
                self.library,
                config=options.config,
                overrides=dict(options.set),
                numbers=options.config is not None or bool(options.set),
                open=options.open,
                close=options.close,
            )
        except DiagramError as fault:
            if all(each.code == "unknown-part" for each in fault.faults):
                raise AskError(fault.faults) from fault
            raise

    def scene(self, **asked: Any) -> Scene:
        """The figure as numbers."""
        return _placed(self.graph(**asked), settle(asked, self.spec.show))

    def emit(self, stage: str, **asked: Any) -> Any:
        """What a stage made, as plain data: ``spec``, ``graph``, ``shapes`` or ``scene``."""
        from transformer_diagrams.emit import shapes, to_plain

        if stage == "spec":
            return to_plain(self.spec)
        if stage == "graph":
            return to_plain(self.graph(**asked))
        if stage == "shapes":
            return shapes(self.graph(**asked))
        if stage == "scene":
            return to_plain(self.scene(**asked))
        stages = ("spec", "graph", "shapes", "scene")
        hint = did_you_mean(str(stage), stages, what="stage")
        raise ask_error(f"there is no stage '{stage}'", hint)

    def summary(self) -> dict[str, Any]:
        """What a list of specs says about this one."""
        spec = self.spec
        source = spec.source
        return {
            "id": spec.id,
            "title": spec.title,
            "family": spec.family,
            "tags": list(spec.tags),
            "source": {f.name: getattr(source, f.name) for f in fields(source)},
            "configs": list(spec.configs),
            "builds_on": [text.value for text in spec.builds_on],
        }

    def files(self) -> tuple[str, ...]:
        """The files that this model was made from, and those whose appearance would change it."""
        own = (str(self.path),) if self.path is not None else ()
        try:
            trace = self._trace()
        except DiagramError:
            return own
        return (*own, *sorted(trace.used), *trace.absent)

    def _repr_mimebundle_(
        self, include: Iterable[str] | None = None, exclude: Iterable[str] | None = None
    ) -> dict[str, Any]:
        """The figure in a notebook: SVG for the page, PNG (2x) for viewers without SVG."""
        from base64 import b64encode

        wanted = {"image/svg+xml", "image/png"}
        if include is not None:
            wanted &= {*include}
        wanted -= {*(exclude or ())}
        bundle: dict[str, Any] = {"text/plain": repr(self)}
        if "image/svg+xml" in wanted:
            bundle["image/svg+xml"] = str(self.render("svg"))
        if "image/png" in wanted:
            try:
                png = self.render("png", scale=2)
            except ToolMissing:
                return bundle  # the SVG will do
            bundle["image/png"] = b64encode(png.data).decode("ascii")
        return bundle

    # -- how

    def _sound(self) -> None:
        """Raise every error of the texts, the wiring and the shapes at once."""
        _joined(self._labels.faults, self._checked.report.faults).raise_if_errors()

    def _numbers(self, config: str | None, sets: Mapping[str, str]) -> Report:
        """Faults of the shapes under one setting: as symbols, and with its numbers."""
        from transformer_diagrams.graph.check import infer
        from transformer_diagrams.graph.options import resolve_settings

        settings = resolve_settings(self.spec, config=config, overrides=sets)
        symbols = infer(self.spec, self.library, settings).report
        numbers = infer(self.spec, self.library, settings, numeric=True).report
        return _joined(symbols.faults, numbers.faults)

    def _render(self, format: str, asked: Mapping[str, Any]) -> store.Entry:
        from transformer_diagrams.render.formats import get

        options = settle(asked, self.spec.show)
        graph = self.graph(**asked)
        drawing = _drawing(_placed(graph, options), options)
        chosen = get(format)
        data = chosen.write(drawing)
        told = {(f.code, f.found) for f in self._labels.warnings}  # there with their lines
        warnings = _joined(
            self._loaded[1].warnings,
            self._checked.report.warnings,
            self._labels.warnings,
            (f for f in drawing.warnings if (f.code, f.found) not in told),
        ).faults
        return store.Entry(data, chosen.media_type, tuple(warnings), self._trace())

    def _key(self, format: str, asked: Mapping[str, Any]) -> str:
        """The name under which a result is kept; reads no YAML."""
        default = Options().as_json()
        wish = settle(asked).as_json()
        wish = {
            name: value
            for name, value in wish.items()
            if (asked.get(name) is not None if name in FROM_SPEC else value != default[name])
        }
        place = str(self.path.resolve()) if self.path is not None else str(Path.cwd())
        return store.key_of(
            self.data, format=format, options=wish, place=place, label=self.label, id=self.id
        )

    def _trace(self) -> store.Trace:
        """Digests of every used file, and the places looked at before it was found."""
        from transformer_diagrams.spec.blocks import walk

        used: dict[str, str] = {}
        absent: dict[str, None] = {}
        todo = [self.spec]
        while todo:
            spec = todo.pop()
            folder = Path(spec.span.file).parent
            for block in walk(spec.blocks):
                if block.kind != "use":
                    continue
                found = self.library.find(block.use, spec)
                for suffix in (".yaml", ".yml"):
                    before = folder / f"{block.use}{suffix}"
                    if before == found:
                        break
                    absent[str(before.resolve())] = None
                path = str(found.resolve())
                if path not in used:
                    used[path] = store.digest_of(path)
                    todo.append(self.library.get(block.use, spec))
        return store.Trace(used, tuple(sorted(absent)))

    def _know(self, config: str | None, set: tuple[tuple[str, str], ...]) -> None:
        """Raise for a config or a name that the spec does not have: the asker is to blame."""
        spec = self.spec
        if config is not None:
            typed("config", config, str)
        if config is not None and config not in spec.configs:
            hint = did_you_mean(config, spec.configs, what="config") or "it has no configs"
            raise ask_error(f"'{self.id}' has no config '{config}'", hint, code="unknown-config")
        for name, value in set:
            self._can_be(name, value)

    def _can_be(self, name: str, value: str) -> None:
        """Raise when the size or option ``name`` does not exist or cannot be ``value``."""
        from transformer_diagrams.graph.options import option_value, positive_integer

        spec = self.spec
        if name in spec.dims:
            if positive_integer(value) is None:
                raise ask_error(
                    f"{name} cannot be '{value}'", "a size is a whole number from 1 up", found=value
                )
        elif name in spec.options:
            option = spec.options[name]
            if option_value(option, value) is None:
                legal = option.choices or ("true", "false")
                hint = did_you_mean(value, legal, what="value")
                raise ask_error(f"option {name} cannot be '{value}'", hint, found=value)
        else:
            hint = did_you_mean(name, [*spec.dims, *spec.options], what="name", most=20)
            raise ask_error(
                f"'{self.id}' has no size or option '{name}'", hint, code="unknown-name"
            )

    @staticmethod
    def _formats(format: str) -> None:
        if format not in format_names():
            hint = did_you_mean(str(format), format_names(), what="format")
            raise ask_error(f"there is no format '{format}'", hint, code="unknown-format")


def _called_out(spec: Spec, names: Sequence[str]) -> Spec:
    """``spec`` with the named parts (by the block's id or the used spec's) marked as call-outs.

    :raises AskError: for a name that is none of its used specs and structures.
    """
    from transformer_diagrams.spec.blocks import walk
    from transformer_diagrams.spec.model import Block

    if not names:
        return spec
    parts = [block for block in walk(spec.blocks) if block.kind != "op"]
    known = {name for block in parts for name in (block.id, block.use) if name}
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known, what="part") or "there is no used spec or structure"
            raise ask_error(
                f"'{spec.id}' has no part '{name}' to call out", hint, code="unknown-part"
            )

    def marked(block: Block) -> Block:
        if block.kind != "op" and (block.id in names or block.use in names):
            return replace(block, open="callout")
        if block.children:
            return replace(block, children=tuple(marked(child) for child in block.children))
        return block

    return replace(spec, blocks=tuple(marked(block) for block in spec.blocks))


def _placed(graph: Graph, options: Options) -> Scene:
    """The layout of ``graph`` as it was asked for."""
    from transformer_diagrams.layout.engine import Options as LayoutOptions
    from transformer_diagrams.layout.engine import layout

    wish = LayoutOptions(direction=options.direction, shapes=options.shapes, legend=options.legend)
    return layout(graph, _theme(options), wish)


def _drawing(scene: Scene, options: Options) -> Drawing:
    """A scene with all that a format needs to be told."""
    from transformer_diagrams.render.formats import Drawing

    return Drawing(
        scene,
        _theme(options),
        width=options.width,
        background=options.background,
        graphviz=options.graphviz,
        words=not options.outline_text,
        scale=options.scale,
        dpi=options.dpi,
    )


def _theme(options: Options) -> Theme:
    from transformer_diagrams.theme import get

    try:
        return get(options.theme)
    except DiagramError as fault:
        raise AskError(fault.faults) from fault


def _joined(*lists: Iterable[Fault]) -> Report:
    """One report, each fault once."""
    return Report(list(dict.fromkeys(fault for faults in lists for fault in faults)))


def compare(
    a: Model,
    b: Model,
    *,
    config_a: str | None = None,
    config_b: str | None = None,
    length: int | None = None,
) -> Comparison:
    """How ``b`` differs from ``a``: blocks, sizes, options and counts.

    >>> compare(load("gqa"), load("gqa")).equal
    True

    :raises DiagramError: faults of one of the specs, or of what was asked.
    """
    from transformer_diagrams.diff.compare import compare as compare_graphs
    from transformer_diagrams.graph.build import build

    graphs, counts = [], []
    for model, config in ((a, config_a), (b, config_b)):
        model._know(config, ())
        model._sound()
        # Symbols, whatever the config: a size that has another number is no other structure.
        graphs.append(build(model.spec, model.library, config=config, open=["*"]))
        counts.append(model.inspection(config, length=length))
    lengths = {found.numbers["d_t"] for found in counts if "d_t" in found.numbers}
    if length is None and len(lengths) > 1:  # work a token is compared at one length
        shortest = min(lengths)
        counts = [
            model.inspection(config, length=shortest)
            for model, config in ((a, config_a), (b, config_b))
        ]
    return compare_graphs(a.spec, b.spec, (graphs[0], graphs[1]), (counts[0], counts[1]))


def compare_figure(
    a: Model,
    b: Model,
    format: str = "svg",
    *,
    config_a: str | None = None,
    config_b: str | None = None,
    **asked: Any,
) -> Rendering:
    """Both architectures side by side, what differs marked; ``asked`` as for a single figure.

    :raises DiagramError: faults of one of the specs, or of what was asked.
    """
    from transformer_diagrams.diff.figure import side_by_side
    from transformer_diagrams.layout.engine import Options as LayoutOptions
    from transformer_diagrams.layout.engine import layout
    from transformer_diagrams.render.formats import get

    Model._formats(format)
    found = compare(a, b, config_a=config_a, config_b=config_b)
    options = settle(asked)
    wanted = [name for name in options.open if not (name == "*" or name.isdecimal())]
    for name in wanted:
        if not any(_opens(model, name) for model in (a, b)):
            a.graph(open=[name])  # raises, with the nearest name
    graphs = [
        model.graph(
            config=config,
            open=[name for name in options.open if name not in wanted or _opens(model, name)],
        )
        for model, config in ((a, config_a), (b, config_b))
    ]
    wish = LayoutOptions(direction=options.direction, shapes=options.shapes, legend=options.legend)
    scene = layout(side_by_side(graphs[0], graphs[1], found), _theme(options), wish)
    drawing = _drawing(scene, options)
    chosen = get(format)
    data = chosen.write(drawing)
    return Rendering(data, chosen.media_type, tuple(drawing.warnings))


def _opens(model: Model, name: str) -> bool:
    """Whether a name opens something in a model: two compared ones need not have the same parts."""
    try:
        model.graph(open=[name])
    except DiagramError as fault:
        if all(each.code == "unknown-part" for each in fault.faults):
            return False
        raise
    return True


def format_names() -> tuple[str, ...]:
    """The output formats."""
    from transformer_diagrams.render.formats import FORMATS

    return tuple(FORMATS)


def theme_names() -> tuple[str, ...]:
    """The bundled themes, the default one first."""
    from transformer_diagrams.theme import NAMES

    return NAMES


def spec_schema() -> dict[str, Any]:
    """The JSON Schema of a spec (draft 2020-12)."""
    from transformer_diagrams.spec.schema import build

    return build()


def write_starter(path: Path) -> None:
    """Write a commented spec to begin with.

    :raises AskError: when the file is there already, its name is no id, or it cannot be written.
    """
    import re

    from transformer_diagrams.spec.starter import starter

    if os.path.lexists(path):
        raise ask_error(f"'{path}' is there already; nothing was written", code="exists")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", path.stem):
        raise ask_error(
            f"'{path.stem}' cannot be the id of a spec",
            "begin with a letter; letters, digits, - and _ may follow",
        )
    title = path.stem.replace("-", " ").replace("_", " ")
    save(path, starter(path.stem, title[:1].upper() + title[1:]).encode("utf-8"))


def reading_order(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Summaries so that each comes after all that it builds on; else as they came.

    :raises DiagramError: when specs build on each other in a circle, which is named.
    """
    by_id = {str(row["id"]): dict(row) for row in rows}
    done: dict[str, None] = {}
    for start in by_id:
        # Depth first without recursion; `trail` is the way from the start to here.
        trail: dict[str, Iterator[str]] = {start: iter(by_id[start]["builds_on"])}
        while trail:
            here = next(reversed(trail))
            below = next((n for n in trail[here] if n in by_id and n not in done), None)
            if below is None:
                done[here] = None
                del trail[here]
            elif below in trail:
                names = list(trail)
                circle = " -> ".join([*names[names.index(below) :], below])
                raise DiagramError(
                    Fault(
                        "builds-on-cycle",
                        f"specs build on each other in a circle: {circle}",
                        path="builds_on",
                        hint="take one of them out of a `builds_on`",
                    )
                )
            else:
                trail[below] = iter(by_id[below]["builds_on"])
    return [by_id[name] for name in done]


def save(path: Path, data: bytes) -> Path:
    """Write ``data`` to ``path``, whole or not at all; makes missing folders.

    A link is written through, and an existing file keeps its mode.

    :raises AskError: when the place cannot be written, or holds a file marked read-only.
    """
    try:
        files.write(path, data)
    except (OSError, ValueError) as fault:
        raise unwritable(path, fault) from fault
    return path


def unwritable(path: Path, fault: OSError | ValueError) -> AskError:
    """What to say of a place that cannot be written."""
    reason = getattr(fault, "strerror", None) or str(fault)
    return ask_error(f"'{path}' cannot be written: {reason}", code="unwritable")


def specs_below(folder: str | os.PathLike[str]) -> list[Path]:
    """Every spec below a folder, sorted.

    :raises AskError: when there is none, or the folder or one in it cannot be read.
    """
    try:
        found = files.below(folder, ".yaml", ".yml")
    except OSError as fault:
        raise _unreadable(str(fault.filename or folder), fault) from fault
    if not found:
        raise ask_error(f"there is no spec (*.yaml) in the folder '{folder}'", code="no-such-spec")
    return found


def locate(target: str) -> Path:
    """The file behind a path or id: a file of that name, `ID.yaml` here, then the bundled spec.

    :raises AskError: when there is none; the hint names the nearest.
    """
    typed("a spec's name or path", target, str)
    if not target:
        raise ask_error("an empty name names no spec", code="no-such-spec")
    path = Path(target)
    if _is_file(path):
        return path
    if path.suffix in (".yaml", ".yml") or len(path.parts) > 1:
        folder = path.parent
        _no_other_kind(path)
        try:
            beside = [name for name in os.listdir(folder) if name.endswith((".yaml", ".yml"))]
            hint = did_you_mean(path.name, beside, what="file", most=6)
        except (OSError, ValueError):
            hint = f"there is no folder '{folder}' that can be read"
        raise ask_error(f"there is no file '{target}'", hint, code="no-such-spec")
    here = Path(f"{target}.yaml")
    if _is_file(here):
        return here
    bundled = bundled_specs()
    if target in bundled:
        return bundled[target]
    _no_other_kind(path)
    hint = did_you_mean(target, bundled, what="spec", most=0)
    more = "`transformer-diagrams list` shows all ids; a file is named by its path"
    raise ask_error(f"there is no spec '{target}'", f"{hint} {more}".strip(), code="no-such-spec")


def _is_file(path: Path) -> bool:
    """Whether a path names a file, and not a folder or a pipe.

    :raises AskError: when the system does not say.
    """
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as fault:
        raise _unreadable(str(path), fault) from fault


def _no_other_kind(path: Path) -> None:
    """:raises AskError: when something of that name is there, which is no file."""
    if os.path.lexists(path):
        what = "a folder, not a spec" if os.path.isdir(path) else "no file of the usual kind"
        raise ask_error(f"'{path}' is {what}", code="no-such-spec")


def _unreadable(name: str, fault: OSError | ValueError) -> AskError:
    reason = getattr(fault, "strerror", None) or str(fault)
    return ask_error(f"'{name}' cannot be read: {reason}", code="unreadable")


def bundled_ids() -> tuple[str, ...]:
    """The ids of the specs that come with the package, sorted."""
    return tuple(bundled_specs())


def _shown(path: Path) -> str:
    """A path as a message should show it: relative to here when it lies below."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)


def _id_from(label: str) -> str:
    stem = "".join(c if c.isalnum() or c in "-_" else "-" for c in Path(label).stem).strip("-")
    return stem or "figure"
