"""The Python interface: one model, and everything that can be done with it.

What is asked for is settled by `options`, the stages are run by `pipeline`, and a finished result
is kept by `result`: found again, it runs no stage.
"""

from __future__ import annotations

import math
import os
from collections import ChainMap
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_diagrams import finding, pipeline, reading, result, store
from transformer_diagrams.bundled import bundled_specs
from transformer_diagrams.errors import (
    DiagramError,
    Fault,
    Report,
    ToolMissing,
    did_you_mean,
)
from transformer_diagrams.finding import config_of, locate, specs_below
from transformer_diagrams.options import SINGLE, AskError, Options, ask_error, fit, settle, typed
from transformer_diagrams.pipeline import joined
from transformer_diagrams.result import Rendering, save, unwritable

if TYPE_CHECKING:
    from transformer_diagrams.count import Inspection
    from transformer_diagrams.diff import Comparison
    from transformer_diagrams.families import Adopted
    from transformer_diagrams.families.tensors import Verification
    from transformer_diagrams.graph.check import Checked, Inferences
    from transformer_diagrams.graph.frame import Frame, Used
    from transformer_diagrams.graph.ir import Graph
    from transformer_diagrams.graph.options import Settings
    from transformer_diagrams.layout.scene import Scene
    from transformer_diagrams.lint import LintReport
    from transformer_diagrams.run import Named, Result, Watch
    from transformer_diagrams.run.claims import Proof
    from transformer_diagrams.run.parity import Compared
    from transformer_diagrams.spec.library import SpecLibrary
    from transformer_diagrams.spec.model import Spec

__all__ = [
    "Model", "Rendering", "bundled_ids", "compare", "compare_figure", "config_of", "format_names",
    "load", "locate", "reading_order", "save", "side_by_side", "spec_schema", "specs_below",
    "theme_names", "theme_schema", "unwritable", "write_starter",
]  # fmt: skip

# What a call may give as `set`: {"d_m": 512}, ["d_m=512"] or [("d_m", 512)].
Settable = Mapping[str, Any] | Iterable[str | tuple[str, Any]]


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
        self,
        data: bytes,
        *,
        label: str,
        path: Path | None = None,
        text: str | None = None,
        adopted: Adopted | None = None,
    ) -> None:
        self.data = data
        self.adopted = adopted  # the configuration of a model, whose sizes this spec takes on
        self.text = text  # where it did not come as bytes
        self.label = label  # the name that messages use
        self.path = path
        self._judged: dict[str, Report] = {}  # by theme
        if adopted is not None:
            self.id = _id_from(f"{adopted.name}.json")
        else:
            self.id = Path(label).stem if path is not None else _id_from(label)

    @classmethod
    def find(cls, target: str) -> Model:
        """The model behind a path or id, unparsed; a `config.json`, or its folder, is one too.

        :raises AskError: when there is none (with the nearest id), or it cannot be read.
        :raises DiagramError: when it is larger than a spec can be.
        """
        config = config_of(target)
        if config is not None:
            return cls._of_config(config, finding.content(config, target))
        path, data = finding.read(target)
        return cls(data, label=finding.shown(path), path=path)

    @classmethod
    def _of_config(cls, config: Path, data: bytes) -> Model:
        from transformer_diagrams.families import adopt

        label = finding.shown(config)
        whole = config.absolute()
        name = whole.parent.name if config.name == finding.CONFIG else config.stem
        adopted = adopt(data, label, name or "model")
        path, spec = finding.read(adopted.family.spec)
        return cls(spec, label=label, path=path, adopted=adopted)

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
        text = self.data if self.text is None else self.text
        if self.adopted is None:
            return pipeline.load(text, self.label, self.library)
        spec, report = pipeline.load(text, str(self.path), self.library)
        return self.adopted.onto(spec), joined(report.faults, self.adopted.broken(spec))

    def _config(self, asked: str | None) -> str | None:
        """The config that was asked for, or that of the model whose configuration this is."""
        return asked if asked is not None or self.adopted is None else self.adopted.name

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
    def inferences(self) -> Inferences:
        """The spec with shapes, under whatever setting is asked for."""
        from transformer_diagrams.graph.check import Inferences

        return Inferences(self.spec, self.library)

    @cached_property
    def _checked(self) -> Checked:
        return pipeline.check(self.inferences)

    @cached_property
    def _labels(self) -> Report:
        return self._texts(self.spec.show.theme)

    def _texts(self, theme: str) -> Report:
        """What is wrong with the texts in the fonts of a theme."""
        if theme not in self._judged:
            self._judged[theme] = pipeline.texts(self.spec, self.library, theme)
        return self._judged[theme]

    # -- what a user asks for

    def check(self, config: str | None = None) -> Report:
        """Every fault and warning: form, wiring, shapes as symbols and with each config's numbers.

        ``config`` limits the numbers to that config. Nothing is raised for what the spec says;
        ``report.ok`` tells whether it can be used.

        :raises AskError: when there is no such config.
        """
        spec, report = self._loaded
        if report.errors:
            from transformer_diagrams import labels

            return joined(report.faults, labels.faults(spec), self._beside(report))
        if config is None:
            lists = self._labels, self._checked.report, self._figure_faults, self._look_faults
            return joined(report.faults, *(each.faults for each in lists))
        fit(self.spec, config)
        numbers = pipeline.numbers(self.inferences, config, ())
        return joined(report.faults, self._labels.faults, numbers.faults)

    def _beside(self, report: Report) -> list[Fault]:
        """Faults of wires and shapes, where those of form are only numbers that are no sizes."""
        if any(f.code != "not-positive" or not f.path.startswith("blocks") for f in report.errors):
            return []
        from transformer_diagrams.graph.check import Inferences

        said = {fault.span for fault in report.errors}
        checked = pipeline.check(Inferences(self._loaded[0], self.library))
        return [f for f in checked.report.errors if f.span not in said]

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
        """What a right spec asks for, and no figure can show; found without any layout.

        That it is too large is a warning: its counts are right, and it may be drawn in parts.
        """
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
            return Report(
                [
                    replace(fault, severity="warning") if fault.code == "too-many-boxes" else fault
                    for fault in error.faults
                ]
            )
        return Report()

    @property
    def _look_faults(self) -> Report:
        """What is wrong with the theme that the spec itself asks for."""
        try:
            return Report(list(pipeline.theme(settle({"theme": self.spec.show.theme})).warnings))
        except DiagramError as error:
            return Report(list(error.faults))

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
        by_block: bool = False,
        dtype: str | None = None,
        batch: int = 1,
        mode: str = "all",
    ) -> Inspection:
        """Parameters, KV cache and FLOPs as exact amounts with their formulas.

        :raises DiagramError: faults of the spec, or of what was asked.
        """
        from transformer_diagrams.count import inspect
        from transformer_diagrams.count.memory import read_dtypes

        config = self._config(config)
        options = settle({"config": config, "set": set, "mode": mode})
        for name, number in (("length", length), ("batch", batch)):
            if number is not None:
                typed(name, number, int)
        if mode == "inference" and flops == "train":
            raise ask_error("a training pass is counted with the mode train, not inference")
        if batch < 1:
            raise ask_error(f"a batch has at least one sequence, not {batch}")
        if dtype is not None:
            typed("dtype", dtype, str)
        try:
            dtypes = None if dtype is None else read_dtypes(dtype)
        except DiagramError as fault:
            raise AskError(fault.faults) from fault
        fit(self.spec, options.config, options.set)
        self._labels.raise_if_errors()
        self._checked.report.raise_if_errors()
        return inspect(
            self.inferences,
            config=config,
            overrides=dict(options.set),
            length=length,
            convention=flops,
            by_block=by_block,
            dtypes=dtypes,
            batch=batch,
            mode=mode,
        )

    def inspect(self, config: str | None = None, **asked: Any) -> dict[str, Any]:
        """Parameters, KV cache and FLOPs as plain data.

        ``asked``  what `inspection` takes: ``set`` is like ``{"d_m": 512}``; ``length``, in
        positions; ``flops``, what work is counted (`dense`, `causal` or `train`); ``by_block``, the
        tree of blocks too; ``dtype`` and ``batch``, the bytes too

        >>> sizes = {"d_m": 512, "n_h": 8, "n_g": 2}
        >>> load("gqa").inspect(set=sizes)["params"]["total"]
        655360

        :raises DiagramError: faults of the spec, or of what was asked.
        """
        data = self.inspection(config, **asked).as_json()
        if self.adopted is not None:
            data["model"] = self.adopted.as_json()
            data["params"]["naive"] = data["params"]["total"] + self.adopted.copies
        return data

    def render(self, format: str = "svg", **asked: Any) -> Rendering:
        """The figure in a format: svg, png, pdf, eps, ps or dot.

        ``asked`` are the fields of :class:`transformer_diagrams.options.Options`, for example
        ``theme="dark", open=["attention"], width="3.25in", config="8B", set={"L": 12}``.

        :raises DiagramError: faults of the spec, or of what was asked.
        """
        _known(format)
        options = settle(asked)
        _fits_steps(format, options)
        key = self._key(format, options)
        entry = store.get(key)
        if entry is None:
            from transformer_diagrams.text import kept

            with kept.noted() as labels:
                entry = self._render(format, options.over(self.spec.show))
            entry = replace(entry, labels=tuple(labels))
            if options.graphviz == "pure":  # a system's dot may change between runs
                store.put(key, entry)
        return Rendering(entry.data, entry.media_type, entry.warnings, entry.labels)

    def render_steps(self, format: str = "svg", **asked: Any) -> tuple[Rendering, ...]:
        """A figure for each step, svg or png, the whole one last; ``asked`` as for `render`.

        >>> len(load("gqa").render_steps(steps="layer"))
        12

        :raises DiagramError: faults of the spec, or of what was asked.
        """
        _known(format)
        options = settle({"steps": "block", **asked}).over(self.spec.show)
        _fits_steps(format, options, each=True)
        return pipeline.stages(self._graph(options), options, format, self._steps(options))

    def _steps(self, options: Options) -> dict[str, int]:
        said = pipeline.steps_of(self.spec)
        if options.steps == "spec" and not said:
            raise ask_error(
                f"no block of '{self.id}' says a step",
                "write step: 1 at some, or take block, frame or layer",
            )
        return said

    def kept(self, format: str = "svg", **asked: Any) -> store.Entry | None:
        """The finished result of an earlier run, if there is one that still fits."""
        return store.get(self._key(format, settle(asked)))

    def lint(self, **asked: Any) -> LintReport:
        """What a strict reviewer would mark on the figure; options as for :meth:`render`."""
        from transformer_diagrams.lint import lint

        options = self._options(asked)
        return lint(pipeline.scene(self._graph(options), options), pipeline.theme(options))

    def graph(self, **asked: Any) -> Graph:
        """The block graph with shapes, as it will be drawn.

        :raises DiagramError: everything that :meth:`check` finds wrong, or what was asked.
        """
        return self._graph(self._options(asked))

    def scene(self, **asked: Any) -> Scene:
        """The figure as numbers."""
        options = self._options(asked)
        return pipeline.scene(self._graph(options), options)

    def emit(self, stage: str, **asked: Any) -> Any:
        """What a stage made, as plain data: ``spec``, ``graph``, ``shapes`` or ``scene``."""
        from transformer_diagrams.dump import shapes, to_plain

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

    def frame(self, config: str | None = None, *, set: Settable = ()) -> Frame:
        """The spec with every shape in numbers: what `run` executes.

        :raises DiagramError: faults of the spec, or of what was asked; a size without a number.
        """
        from transformer_diagrams.run import framed

        return framed(self.inferences, self._settings(config, set))

    def run(
        self,
        inputs: Mapping[str, Any] | None = None,
        weights: Mapping[str, Any] | None = None,
        *,
        config: str | None = None,
        set: Settable = (),
        seed: int = 0,
        taps: Iterable[str] = (),
        train: bool = False,
        past: Mapping[str, Any] | None = None,
        watch: Watch | None = None,
    ) -> Result:
        """What the spec computes, in float64 NumPy; what is not given is drawn by ``seed``.

        ``inputs``   by name; also the output of any block, by the block's name, in its place
        ``weights``  and buffers, by name: ``layers[3]/attention/q.W`` (`run.weights` lists them)
        ``set``      sizes and options; sizes that nothing says, or only a large default, are small
        ``taps``     names of outputs inside to keep, or globs: ``["layers[*]"]``
        ``train``    the parts that are only there in training instead of those at inference
        ``past``     ``steps`` of the run before, for what is fed back
        ``watch``    sees each output: its name, its shape as derived, its value

        >>> load("gqa").run(set={"d_t": 3, "d_m": 8, "n_h": 4, "n_g": 2}).outputs["Y"].shape
        (3, 8)

        :raises DiagramError: faults of the spec, or of what was asked or given.
        """
        from transformer_diagrams import run
        from transformer_diagrams.extras import need

        typed("seed", seed, int)
        need("run", "numpy")
        inputs, weights = inputs or {}, weights or {}
        settings = self._settings(config, set, run.stated_by(self.spec, inputs))
        constants = settings.constants
        frame, settings = run.chosen(self.inferences, settings, seed)
        frame = self._with_constants(frame, constants)
        if not weights:
            run.require_memory(frame)
        tensors = run.tensors(frame)
        if not weights:
            weights = self._checkpoint(tensors, settings.numbers)
        run.check_names(weights, tensors, "weight")
        asked = run.inputs(frame, train=train)
        left = (each for name, each in tensors.items() if name not in weights)
        run.require_memory(frame, sum(math.prod(each.shape) for each in left))
        beside: Any = weights  # which may read from a file, one by one
        known = ChainMap(run.drawn(tensors, seed, without=weights), beside)
        given = {**run.drawn(asked, seed, without=inputs), **inputs}
        found = run.execute(
            frame, given, known, taps=taps, train=train, past=past, watch=watch
        )
        return replace(found, numbers=settings.numbers)

    def constants(self, config: str | None = None, *, set: Settable = ()) -> dict[str, Any]:
        """What changes a result but no shape, by the path of its block and its name.

        >>> made = load("llama3").constants(set={"rope.base": 500000})
        >>> made["repeat/residual/attention/q_turned.base"]
        500000.0

        :raises DiagramError: faults of the spec, or of what was asked.
        """
        from transformer_diagrams.graph.options import Settings
        from transformer_diagrams.run import constants

        settings = self._settings(config, set)
        inferred = self.inferences.under(Settings(settings.options))
        inferred.report.raise_if_errors()
        assert inferred.frame is not None
        return constants(self._with_constants(inferred.frame, settings.constants))

    def _with_constants(self, frame: Frame, given: Mapping[str, Any]) -> Frame:
        """The frame with the model's constants; what is set by hand goes before them."""
        from transformer_diagrams.run import with_constants

        kept = self.adopted.constants if self.adopted is not None else {}
        by_hand = {name: value for name, value in given.items()
                   if name not in kept or kept[name].value != value}  # fmt: skip
        frame = with_constants(frame, {name: each.value for name, each in kept.items()})
        return with_constants(frame, by_hand, needed=by_hand)

    def _checkpoint(
        self, wanted: Mapping[str, Named], sizes: Mapping[str, int]
    ) -> Mapping[str, Any]:
        """The weights of a model's folder by the spec's names; nothing where it holds none.

        :raises DiagramError: a weight that the family does not say the tensors of.
        """
        from transformer_diagrams.families.tensors import shards
        from transformer_diagrams.run.adopted import Checkpoint
        from transformer_diagrams.run.arrays import Weights

        folder = Path(self.label).parent
        if self.adopted is None or not shards(folder):
            return {}
        if not self.adopted.family.weights:
            raise ask_error(
                f"the family '{self.adopted.family.id}' does not say yet which tensor is which "
                "weight, so this model cannot be run",
                "it can be drawn, counted and verified; its spec runs by id, on weights by chance",
            )
        if self.adopted.uncomputed:
            raise DiagramError(list(self.adopted.uncomputed))
        files = [Weights(str(folder / name)) for name in shards(folder)]
        found = Checkpoint(self.adopted, wanted, sizes, ChainMap(*files))  # type: ignore[arg-type]
        for name, tensor in wanted.items():
            if tensor.kind == "weight" and name not in found:
                raise ask_error(f"the family '{self.adopted.family.id}' does not say which tensor "
                                f"is '{name}'")
        return found

    def parity(
        self, arrays: Mapping[str, Any], against: Mapping[str, Any], *, set: Settable = ()
    ) -> list[Compared]:
        """How far a run of a model's folder lies from arrays that its own code gave.

        ``arrays`` are the inputs under their names there; those of ``against`` that are inputs are
        left out. `Compared.found` is None for one that nothing of the run is.

        :raises DiagramError: faults of what was given; a checkpoint that cannot be read.
        """
        from transformer_diagrams.run.parity import compared

        inputs = self.fed(arrays)
        given = {name: array for name, array in against.items()
                 if not any(each in self.spec.inputs for each in self._called(name))}
        some = next(iter(inputs.values()), None)
        for port in self._called("positions"):  # what is looked at: all of them
            if port in self.spec.inputs and some is not None:
                inputs[port] = some * 0 + range(some.shape[-1])
        wanted = {name: self._called(name) for name in given}
        taps = [each for every in wanted.values() for each in every]
        ran = self.run(inputs, set=set, taps=taps)
        return compared(given, {**ran.taps, **ran.outputs}, wanted)

    def fed(self, arrays: Mapping[str, Any]) -> dict[str, Any]:
        """Those of some arrays that are inputs, by the spec's names; all of them where it is no
        model's folder, as a run says what it does not know."""
        if self.adopted is None:
            return dict(arrays)
        found = {}
        for name, array in arrays.items():
            port = next((each for each in self._called(name) if each in self.spec.inputs), None)
            if port is not None:
                found[port] = array
        return found

    def _called(self, name: str) -> list[str]:
        """The names that an array of a model's code may have in a run."""
        from transformer_diagrams.run.parity import names_of

        if self.adopted is None:
            return [name]
        return [name, *names_of(name, self.adopted.family.arrays, self.adopted.numbers)]

    def prove(self, *, seed: int = 0, tries: int = 5) -> list[Proof]:
        """Each claim of ``equals:``, measured under ``tries`` choices of sizes.

        >>> all(proof.holds() for proof in load("mla").prove(tries=1))
        True

        :raises DiagramError: faults of the spec; a claim that cannot be measured.
        """
        from transformer_diagrams.extras import need
        from transformer_diagrams.run.claims import prove

        need("run", "numpy")
        self._checked.report.raise_if_errors()
        claims = self.spec.equals
        return [prove(self.spec, each, self.library, seed=seed, tries=tries) for each in claims]

    def claimed(self) -> list[Model]:
        """The specs that it claims to equal."""
        refs = (claim.spec.value for claim in self.spec.equals)
        return [Model.find(str(self.library.find(ref, self.spec))) for ref in dict.fromkeys(refs)]

    def formulas(self, config: str | None = None, *, set: Settable = ()) -> Mapping[str, str]:
        """The shape of every output as a formula, by its name in a run without numbers of turns.

        >>> load("gqa").formulas()["scores"]
        '[n_h, d_t, d_s]'

        :raises DiagramError: faults of the spec, or of what was asked.
        """
        from transformer_diagrams.graph.options import Settings
        from transformer_diagrams.run.formulas import formulas

        inferred = self.inferences.under(Settings(self._settings(config, set).options))
        inferred.report.raise_if_errors()
        assert inferred.frame is not None
        return formulas(inferred.frame, inferred.speller)

    def _settings(
        self, config: str | None, set: Settable, beside: Mapping[str, int] | None = None
    ) -> Settings:
        """What was asked; ``beside`` are sizes where neither that nor the config says any."""
        from transformer_diagrams.graph.options import resolve_settings

        options = settle({"config": self._config(config), "set": set})
        fit(self.spec, options.config, options.set)
        self._checked.report.raise_if_errors()
        known: Container[str] = ()
        if options.config is not None and self.adopted is None:  # a model takes what it is given
            known = self.spec.configs[options.config].dims
        more = {name: size for name, size in (beside or {}).items() if name not in known}
        return resolve_settings(
            self.spec, config=options.config, overrides={**more, **dict(options.set)}
        )

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

    def verify(self) -> tuple[Verification, int]:
        """How the checkpoint beside a model's configuration agrees with it, and the figure's total.

        :raises DiagramError: when there is no checkpoint, or its family names no tensors.
        """
        from transformer_diagrams.families.tensors import headers, verify

        if self.adopted is None:
            raise ask_error(f"'{self.label}' is a spec; a model's folder is verified")
        if not self.adopted.family.tensors:
            raise ask_error(f"the family '{self.adopted.family.id}' names no tensors yet")
        found = headers(Path(self.label).parent)
        total = self.inspection().params.total.number
        assert total is not None
        return verify(self.adopted, found), total

    def as_text(self) -> str:
        """The YAML of this spec; of a model's configuration, that of a spec which uses it."""
        if self.adopted is None:
            return self.data.decode("utf-8")
        from transformer_diagrams.families.written import written

        return written(self.adopted, self.spec)

    def files(self, theme: str | None = None) -> tuple[str, ...]:
        """The files that this model's figure is made from, and those whose appearance would change
        it; ``theme`` is the one asked for."""
        own = [str(self.path)] if self.path is not None else []
        try:
            asked = {} if theme is None else {"theme": theme}
            options = settle(asked).over(self.spec.show)
            if os.path.isabs(options.theme):
                own.append(options.theme)  # also when it cannot be read now
            trace = result.trace(self.spec, self.library, pipeline.theme(options).files)
        except DiagramError:
            return tuple(own)
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

    def _options(self, asked: Mapping[str, Any]) -> Options:
        return settle(asked).over(self.spec.show)

    def _sound(self, theme: str | None = None) -> None:
        """Raise every error of the texts, the wiring and the shapes at once."""
        labels = self._labels if theme is None else self._texts(theme)
        joined(labels.faults, self._checked.report.faults).raise_if_errors()

    def _graph(self, options: Options) -> Graph:
        fit(self.spec, options.config, options.set)
        self._sound(options.theme)
        return pipeline.graph(self.inferences, options)

    def _render(self, format: str, options: Options) -> store.Entry:
        drawn = pipeline.figure(self._graph(options), options, format, self._steps(options))
        labels = self._texts(options.theme).warnings
        told = {(f.code, f.found) for f in labels}  # there with their lines
        warnings = joined(
            self._loaded[1].warnings,
            self._checked.report.warnings,
            labels,
            (f for f in drawn.warnings if (f.code, f.found) not in told),
        ).faults
        trace = result.trace(self.spec, self.library, pipeline.theme(options).files)
        return store.Entry(drawn.data, drawn.media_type, tuple(warnings), trace)

    def _key(self, format: str, options: Options) -> str:
        data = self.data
        if self.adopted is not None:
            data += repr(self.adopted.taken).encode()
        return result.key(data, self.label, self.id, self.path, format, options)


def _known(format: str) -> None:
    if format not in format_names():
        hint = did_you_mean(str(format), format_names(), what="format")
        raise ask_error(f"there is no format '{format}'", hint, code="unknown-format")


def _fits_steps(format: str, options: Options, *, each: bool = False) -> None:
    """Raise for a format that does not show steps as they were asked for."""
    from transformer_diagrams.render.formats import get

    single = format in SINGLE
    if options.animate and (format != "svg" or each):
        raise ask_error("only an SVG plays its steps, in one file", "leave animate out")
    if (each and not single) or (options.steps and not (single or get(format).paged)):
        raise ask_error(
            f"{format} does not show a figure in steps", "take pdf, pptx, svg or png for that"
        )
    if options.steps and single and not each and not options.animate:
        raise ask_error(
            f"{format} shows one step a file", "render_steps gives each; animate plays them in one"
        )


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
    config_a, config_b = a._config(config_a), b._config(config_b)
    for model, config in ((a, config_a), (b, config_b)):
        fit(model.spec, config)
        model._sound()
        # Symbols, whatever the config: a size that has another number is no other structure.
        graphs.append(build(model.inferences, config=config, open=["*"]))
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

    _known(format)
    found = compare(a, b, config_a=config_a, config_b=config_b)
    options = settle(asked)
    if options.steps:
        raise ask_error("a comparison is not shown in steps")
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
    return pipeline.figure(side_by_side(graphs[0], graphs[1], found), options, format)


def side_by_side(models: Sequence[Model], format: str = "svg", **asked: Any) -> Rendering:
    """Several specs as the panels of one figure: a letter each, sizes in common, one legend.

    What each spec's ``show:`` says holds for its panel, the look of the first for all.

    :raises DiagramError: faults of one of the specs, or of what was asked.
    """
    from transformer_diagrams.layout.panels import MOST

    _known(format)
    if not 2 <= len(models) <= MOST:
        raise ask_error(f"side by side stand 2 to {MOST} specs, not {len(models)}")
    options = settle(asked)
    for name in ("steps", "fold", "aspect", "animate"):
        if getattr(options, name):
            raise ask_error(f"panels side by side do not go with {name}", "leave it out")
    look = options.over(models[0].spec.show).theme
    graphs, faults = [], []
    for model in models:
        own = replace(options.over(model.spec.show), theme=look)
        graphs.append(model._graph(own))
        faults += model._texts(look).warnings
    options = replace(options, theme=look)
    made = pipeline.finished(pipeline.panels(graphs, options), options, format)
    return replace(made, warnings=tuple(joined(faults, made.warnings).faults))


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


def theme_schema() -> dict[str, Any]:
    """The JSON Schema of a theme file (draft 2020-12)."""
    from transformer_diagrams.theme import schema

    found: dict[str, Any] = schema()
    return found


def write_starter(path: Path, *, theme: bool = False) -> None:
    """Write a commented spec, or ``theme``, to begin with.

    :raises AskError: when the file is there already, its name is no id, or it cannot be written.
    """
    import re

    from transformer_diagrams.spec.starter import starter, theme_starter

    if os.path.lexists(path):
        raise ask_error(f"'{path}' is there already; nothing was written", code="exists")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", path.stem):
        raise ask_error(
            f"'{path.stem}' cannot be the {'name of a theme' if theme else 'id of a spec'}",
            "begin with a letter; letters, digits, - and _ may follow",
        )
    if theme:
        save(path, theme_starter(path.stem, path.name).encode("utf-8"))
        return
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


def bundled_ids() -> tuple[str, ...]:
    """The ids of the specs that come with the package, sorted."""
    return tuple(bundled_specs())


def _id_from(label: str) -> str:
    stem = "".join(c if c.isalnum() or c in "-_" else "-" for c in Path(label).stem).strip("-")
    return stem or "figure"
