"""A text or a file -> Spec, with everything that is wrong in one Report."""

from __future__ import annotations

import gc
import os
from collections.abc import Mapping
from typing import Any, Final

from transformer_diagrams import reading
from transformer_diagrams.errors import Fault, Report, Span, TooManyFaults
from transformer_diagrams.ops import registry
from transformer_diagrams.spec.blocks import BlockReader
from transformer_diagrams.spec.fields import LABEL, Fields
from transformer_diagrams.spec.grammar import (
    CLAIM,
    DIM,
    INPUT,
    OPTION,
    OUTPUT,
    SHOW,
    SOURCE,
    SPAN,
    TOP,
    Key,
)
from transformer_diagrams.spec.model import (
    PREV,
    Brace,
    Claim,
    Config,
    DimSpec,
    OptionSpec,
    PortSpec,
    Show,
    Source,
    Spec,
    Text,
    Value,
)
from transformer_diagrams.spec.yaml_nodes import (
    Map,
    Node,
    Scalar,
    Seq,
    SourceText,
    kind_of,
    plain_data,
)
from transformer_diagrams.spec.yaml_source import read

_TEXT: Final = Key("text", "text", "")
_MOST_NOTES: Final = 12
# Declarations come first: everything else refers to them.
_ORDER: Final = ("options", "dims", "configs", "inputs", "blocks")


def load_text(text: str, file: str = "<input>", *, pure: bool = False) -> tuple[Spec, Report]:
    """Read a spec from its text.

    ``file`` is the name for messages; its stem is the spec's id. ``pure`` reads with the YAML
    parser in Python.
    Returns the spec, as far as it could be read, and a report of all faults and warnings;
    nothing is raised for what the text says. With errors in the report the spec may lack parts.
    """
    report = Report()
    collecting = gc.isenabled()
    gc.disable()  # a tree has no cycles: looking for them takes a third of the time
    try:
        return _load(text, file, report, pure), report
    except TooManyFaults:
        return _nothing(file, report)
    finally:
        if collecting:
            gc.enable()


def load_bytes(data: bytes, file: str = "<input>") -> tuple[Spec, Report]:
    """Read a spec from the bytes of a file (UTF-8, with or without BOM); as :func:`load_text`."""
    report = Report()
    text = decode(data, file, report)
    return _nothing(file, report) if text is None else load_text(text, file)


def load_path(path: str | os.PathLike[str]) -> tuple[Spec, Report]:
    """Read a spec from a file; as :func:`load_text`. What the disk refuses is a fault too."""
    file = os.fspath(path)
    report = Report()
    data = read_file(file, report)
    return _nothing(file, report) if data is None else load_bytes(data, file)


def _nothing(file: str, report: Report) -> tuple[Spec, Report]:
    return Spec(id=_stem(file), span=Span(file), title=_stem(file), blocks=()), report


def read_file(file: str, report: Report) -> bytes | None:
    """The bytes of a file; None, with a fault, if they are not to be had or too many."""

    hint = ""
    try:
        return reading.read(file)
    except reading.TooLarge:
        report.add(reading.too_large(file))
        return None
    except FileNotFoundError:
        message, hint = f"there is no file {file}", "check the path"
    except IsADirectoryError:
        message = f"{file} is a folder, not a file"
        hint = "name the files in it, for example with *.yaml"
    except OSError as error:
        message = f"{file} cannot be read: {error.strerror or error}"
    report.add(Fault("no-file", message, Span(file), hint=hint))
    return None


def decode(data: bytes, file: str, report: Report) -> str | None:
    """The text of UTF-8 bytes; None, with a fault that names the place, if they are not."""

    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        message = "the file is in UTF-16, not in UTF-8"
        report.add(Fault("encoding", message, Span(file, 1, 1), hint="save it as UTF-8"))
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = SourceText(data[: error.start].decode("utf-8"), file).text
        line = before.count("\n") + 1
        column = len(before) - before.rfind("\n")
        byte = data[error.start]
        report.add(
            Fault(
                "encoding",
                f"the file is not UTF-8: byte 0x{byte:02X} in line {line}, column {column}",
                Span(file, line, column),
                found=f"byte 0x{byte:02X}",
                expected="UTF-8",
                hint="save the file as UTF-8",
            )
        )
        return None


def _stem(file: str) -> str:
    """The id of a spec: its file's stem, or what stands between the brackets of `<stdin>`."""
    if file.startswith("<") and file.endswith(">"):
        return file.strip("<>") or "spec"
    stem, suffix = os.path.splitext(os.path.basename(file))
    return stem if suffix in (".yaml", ".yml") else stem + suffix


def _load(text: str, file: str, report: Report, pure: bool) -> Spec:
    root, source = read(text, file, report, pure=pure)
    spec_id = _stem(file)
    whole = Span(file, root.line, root.column) if root is not None else Span(file)
    if root is None:
        return Spec(id=spec_id, span=whole, title=spec_id, blocks=(), text=source.text)
    loader = _Loader(Fields(source, report))
    values = loader.top(root)
    values.setdefault("title", spec_id)
    values.setdefault("blocks", ())
    return Spec(id=spec_id, span=whole, text=source.text, **values)


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """Texts that no later message points into as plain strings."""
    return {
        name: value.value if isinstance(value, Text) and name not in ("value", "default") else value
        for name, value in values.items()
    }


class _Loader:
    def __init__(self, fields: Fields) -> None:
        self.f = fields
        self.reader = BlockReader(fields)
        self.inputs: Mapping[str, PortSpec] = {}
        self.configs: Mapping[str, Config] = {}
        fields.keyed["title"] = fields.name
        fields.plain |= {
            "source": self._source,
            "dims": self._dims,
            "options": self._options,
            "configs": self._configs,
            "config-name": self._config_name,
            "theme": self._theme,
            "spans": self._spans,
            "inputs": self._inputs,
            "outputs": self._outputs,
            "show": self._show,
            "claims": self._claims,
            "renames": self._renames,
            "matches": self._matches,
        }
        fields.keyed["claimed"] = fields.name

    # -- the file

    def top(self, root: Node) -> dict[str, Any]:
        f = self.f
        if not isinstance(root, Map):
            hint = "a spec begins with 'title:' and lists its 'blocks:'"
            if isinstance(root, Seq):
                hint = "put 'blocks:' before the list"
            what = {"list": "a list", "map": "a mapping"}.get(kind_of(root), "one value")
            f.fault(
                "not-a-mapping",
                f"a spec must be a mapping, not {what}",
                root,
                "",
                found=what,
                expected="a mapping with the key 'blocks'",
                hint=hint,
            )
            return {}
        entries = root.entries
        for word, (key_node, _) in entries.items():
            if word not in TOP and not word.startswith("x-"):
                short = word[:60]
                f.unknown(
                    "unknown-key",
                    f"a spec has no key '{short}'",
                    key_node,
                    short,
                    word,
                    TOP,
                    "top",
                    hint="keys for anchors may begin with 'x-'",
                )
        if "blocks" not in entries:
            close = [w for w in entries if w not in TOP and f.near(w, ("blocks",), "blocks")]
            if not close:
                f.fault(
                    "missing-key",
                    "a spec needs 'blocks'",
                    root,
                    "",
                    found="no 'blocks'",
                    expected="blocks: the blocks, in order",
                )
        declared = entries.get("dims")
        if declared is not None and isinstance(declared[1], Map):
            f.dims = declared[1].entries
        if "blocks" in entries:
            self.reader.reserve(entries["blocks"][1])
        values: dict[str, Any] = {}
        for word in (*_ORDER, *(w for w in entries if w in TOP and w not in _ORDER)):
            if word in entries:
                got = f.read(TOP[word], entries[word][1], word)
                if got is not None:
                    values[word] = got
        self._references()
        return _plain(values)

    def _source(self, node: Node, path: str) -> Source:
        return Source(**_plain(self.f.mapping(node, path, SOURCE, "a source")))

    def _dims(self, node: Node, path: str) -> Mapping[str, DimSpec]:
        made: dict[str, DimSpec] = {}
        for name, key_node, value, at in self.f.named(node, path, "sizes: {d_m: model width}"):
            if not self.f.dim_name(key_node, at):
                continue
            span = self.f.span(key_node)
            if name in self.f.options:
                self.f.fault(
                    "duplicate-name",
                    f"'{name}' is both a size and an option",
                    key_node,
                    at,
                    found=name,
                    expected="different names",
                    notes=(("the option is here", self.f.options[name].span),),
                )
            if isinstance(value, Map):
                got = {"doc": "", **_plain(self.f.mapping(value, at, DIM, "a size"))}
            else:
                got = {"doc": str(self.f.text(value, at, _TEXT) or "")}
            made[name] = DimSpec(name=name, span=span, **got)
        self._definition_cycle(made)
        return made

    def _definition_cycle(self, dims: Mapping[str, DimSpec]) -> None:
        """A size defined, by way of others, through itself."""
        from transformer_diagrams.dims import parse
        from transformer_diagrams.dims.order import in_order

        needs = {
            name: sorted(parse(dim.value.value).free & dims.keys())
            for name, dim in dims.items()
            if dim.value is not None
        }
        for cycle in in_order(needs)[1]:
            value = dims[cycle[0]].value
            assert value is not None
            inner = cycle[1:-1][:_MOST_NOTES]
            self.f.fault(
                "definition-cycle",
                f"the size is defined through itself: {' -> '.join(cycle)}",
                value.span,
                f"dims.{cycle[0]}.value",
                found=value.value,
                expected="definitions that end in sizes without one",
                notes=tuple((f"'{n}' is defined here", dims[n].span) for n in inner),
            )

    def _options(self, node: Node, path: str) -> Mapping[str, OptionSpec]:
        made: dict[str, OptionSpec] = {}
        self.f.options = made  # conditions and attributes refer to them
        for name, key_node, value, at in self.f.named(node, path, "options: {bias: {doc: ...}}"):
            if self.f.identifier(key_node, at) is None:
                continue
            doc = ""
            choices: tuple[str, ...] = ()
            default: bool | str | None = None
            found = {key.name: (v, p) for key, v, p in self.f.keys(value, at, OPTION, "an option")}
            if "doc" in found:
                doc = str(self.f.text(*found["doc"], _TEXT) or "")
            if "choices" in found:
                choices = self.f.each(*found["choices"], "a list of words", self.f.identifier)
                if not choices and isinstance(found["choices"][0], Seq):
                    self.f.wrong(*found["choices"], "a list of at least one word")
            if "default" in found:
                default = self._option_value(*found["default"], choices)
            if default is None:
                default = choices[0] if choices else False
            made[name] = OptionSpec(name, doc, self.f.span(key_node), default, choices)
        return made

    def _option_value(self, node: Node, path: str, choices: tuple[str, ...]) -> bool | str | None:
        if choices:
            return self.f.choice(node, path, choices)
        return self.f.boolean(node, path)

    def _configs(self, node: Node, path: str) -> Mapping[str, Config]:
        made: dict[str, Config] = {}
        f = self.f
        for name, key_node, value, at in self.f.named(node, path, "configs: {base: {d_m: 512}}"):
            dims: dict[str, Value] = {}
            options: dict[str, Value] = {}
            constants: dict[str, Value] = {}
            origin = ""
            for word, inner_key, inner, inner_at in self.f.named(value, at, "sizes: {d_m: 512}"):
                if word == "source":
                    origin = str(f.text(inner, inner_at, LABEL) or "")
                elif "." in word and registry.is_constant(word):
                    constants[word] = Value(plain_data(inner), f.span(inner))
                elif word in f.options:
                    choice = self._option_value(inner, inner_at, f.options[word].choices)
                    if choice is not None:
                        options[word] = Value(choice, f.span(inner))
                elif word in f.dims:
                    text = f.constant(inner, inner_at)
                    if text is not None:
                        dims[word] = f.value(text, inner)
                else:
                    short = word[:60]
                    f.unknown(
                        "unknown-dim",
                        f"'{short}' is neither a size nor an option of this spec",
                        inner_key,
                        inner_at,
                        word,
                        [*f.dims, *f.options],
                        "config",
                        expected="a name declared under 'dims' or 'options'",
                        hint=f"add it to 'dims': {short}: ...",
                    )
            made[name] = Config(name, f.span(key_node), dims, options, origin, constants)
        self.configs = made
        return made

    def _inputs(self, node: Node, path: str) -> Mapping[str, PortSpec]:
        self.inputs = self._ports(node, path, INPUT, "an input")
        self.reader.taken.update(self.inputs)
        return self.inputs

    def _outputs(self, node: Node, path: str) -> Mapping[str, PortSpec]:
        return self._ports(node, path, OUTPUT, "an output")

    def _ports(
        self, node: Node, path: str, known: Mapping[str, Key], what: str
    ) -> Mapping[str, PortSpec]:
        made: dict[str, PortSpec] = {}
        f = self.f
        for name, key_node, value, at in self.f.named(node, path, "tensors: {x: [d_t, d_m]}"):
            if f.identifier(key_node, at) is None:
                continue
            span = f.span(key_node)
            if isinstance(value, Seq):
                shape = f.shape(value, at)
                made[name] = PortSpec(name, span, shape, f.span(value))
                continue
            if isinstance(value, Scalar):
                example = f"[{value.text}]" if value.text else "[d_t, d_m]"
                f.wrong(
                    value,
                    at,
                    "a shape such as [d_t, d_m], or a mapping with 'shape'",
                    f"write {name}: {example}",
                )
                made[name] = PortSpec(name, span)
                continue
            got = f.mapping(value, at, known, what)
            if "from" in got:
                got["source"] = got.pop("from")
            if "doc" in got:
                got["doc"] = got["doc"].value
            stated = value.entries.get("shape")
            if stated is not None:
                got["shape_span"] = f.span(stated[1])
            made[name] = PortSpec(name=name, span=span, **got)
        return made

    def _show(self, node: Node, path: str) -> Show:
        said = self.f.mapping(node, path, SHOW, "'show'")
        if said.keys() >= {"fold", "aspect"}:
            self.f.wrong(node, path, "'fold' or 'aspect', not both")
        return Show(**said)

    def _claims(self, node: Node, path: str) -> tuple[Claim, ...]:
        expected = "a list of claims: [{spec: mqa, given: {n_g: 1}}]"
        return self.f.each(node, path, expected, self._claim)

    def _claim(self, node: Node, path: str) -> Claim | None:
        f = self.f
        got = f.mapping(node, path, CLAIM, "a claim")
        if "spec" not in got:
            if isinstance(node, Map) and "spec" not in node.entries:
                expected = "spec: the id of another spec"
                f.fault("missing-key", "a claim needs 'spec'", node, path, expected=expected)
            return None
        for name, value in got.get("given", {}).items():
            if name not in f.dims and name not in f.options:
                f.fault(
                    "unknown-dim",
                    f"'{name[:60]}' is neither a size nor an option of this spec",
                    value.span,
                    f"{path}.given.{name}",
                    found=name,
                    expected="a name declared under 'dims' or 'options'",
                    hint=f.did_you_mean(name, [*f.dims, *f.options], "claim"),
                )
                return None
        if "doc" in got:
            got["doc"] = got["doc"].value
        if "with" in got:
            got["bind"] = got.pop("with")
        return Claim(**got)

    def _renames(self, node: Node, path: str) -> Mapping[str, Text]:
        """A name of another spec -> a name here."""
        entries = self.f.named(node, path, "names: {their_input: x}")
        found = {name: self.f.name(value, at, LABEL) for name, _, value, at in entries}
        return {name: text for name, text in found.items() if text is not None}

    def _matches(self, node: Node, path: str) -> Mapping[str, tuple[Text, ...]]:
        """A weight of another spec -> what it is made of here: a text, or a list that is joined."""
        made: dict[str, tuple[Text, ...]] = {}
        for name, _, value, at in self.f.named(node, path, "weights: {q.W: q.W}"):
            if isinstance(value, Seq):
                expected = "a list of weights, one at least"
                made[name] = self.f.each(value, at, expected, lambda n, p: self.f.name(n, p, LABEL))
                if not value.items:
                    self.f.wrong(value, at, expected)
            else:
                text = self.f.name(value, at, LABEL)
                if text is not None:
                    made[name] = (text,)
        return made

    def _spans(self, node: Node, path: str) -> tuple[Brace, ...]:
        expected = "a list of runs: [{from: a, to: b, text: what it is}]"
        return self.f.each(node, path, expected, self._span)

    def _span(self, node: Node, path: str) -> Brace | None:
        got = self.f.mapping(node, path, SPAN, "a span")
        if isinstance(node, Map):
            for key in ("from", "text"):
                if key not in node.entries:
                    expected = "{from: a, to: b, text: what it is}"
                    message = f"a span needs '{key}'"
                    self.f.fault("missing-key", message, node, path, expected=expected)
        if "from" not in got or "text" not in got:
            return None
        return Brace(got["from"], got.get("to", got["from"]), got["text"])

    def _theme(self, node: Node, path: str) -> str | None:
        from transformer_diagrams.theme import NAMES, is_path

        name = self.f.word(node, path, LABEL)
        if name is None or name in NAMES:
            return name
        if is_path(name):
            file = os.path.join(os.path.dirname(self.f.span(node).file), os.path.expanduser(name))
            if os.path.isfile(file):
                return os.path.abspath(file)
            message = f"there is no theme file '{name}'"
        else:
            message = f"there is no theme '{name}'"
        expected = "a bundled theme, or a file beside this one such as looks.yaml"
        self.f.unknown("unknown-theme", message, node, path, name, NAMES, "themes",
                       expected=expected)  # fmt: skip
        return None

    def _config_name(self, node: Node, path: str) -> str | None:
        name = self.f.word(node, path, LABEL)
        if name is None or name in self.configs:
            return name
        listed = ", ".join(self.configs)
        expected = f"one of {listed}" if listed else "a name under 'configs'"
        self.f.unknown(
            "unknown-config",
            f"there is no config '{name}'",
            node,
            path,
            name,
            self.configs,
            "configs",
            expected=expected,
        )
        return None

    # -- references

    def _references(self) -> None:
        """Every reference names a block or an input; an id is not an input's name as well."""
        f, reader = self.f, self.reader
        for name in self.inputs:
            if name in reader.ids:
                f.fault(
                    "duplicate-id",
                    f"'{name}' is the id of a block and the name of an input",
                    f.span(reader.ids[name]),
                    "",
                    found=name,
                    expected="different names, as 'from' may mean either",
                    notes=(("the input is here", self.inputs[name].span),),
                )
        anything = reader.ids.keys() | reader.generated | self.inputs.keys()
        for ref, path, what in reader.references:
            if ref.value != PREV or what != "from":
                self._known(ref, path, reader.weighted if what == "share" else anything, what)
        if PREV in reader.ids or PREV in self.inputs:
            f.fault(
                "reserved-name",
                f"'{PREV}' cannot be the name of a block or an input",
                f.span(reader.ids[PREV]) if PREV in reader.ids else self.inputs[PREV].span,
                "",
                found=PREV,
                expected="another name, as 'from: prev' means the block before",
            )

    def _known(self, ref: Text, path: str, known: set[str], what: str) -> None:
        target = ref.value if what == "share" else ref.value.partition(".")[0]
        if target in known:
            return
        close = self.f.near(target, known, what)
        kinds = "no block with weights" if what == "share" else "no block and no input"
        hint = f"did you mean '{close}'?" if close else ""
        if what == "share" and target in self.inputs:
            hint = "an input has no weights"
        elif what == "share" and (target in self.reader.ids or target in self.reader.generated):
            hint = "name an op or a used spec; a structure has no weights of its own"
        if not hint and 0 < len(known) <= 12:
            hint = "known: " + ", ".join(sorted(known))
        self.f.fault(
            "unknown-reference",
            f"there is {kinds} with the id '{target}'",
            ref.span,
            path,
            found=ref.value,
            expected="the id of an op or of a used spec"
            if what == "share"
            else "the id of a block or the name of an input",
            hint=hint,
        )
