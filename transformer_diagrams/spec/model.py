"""What a spec says, as frozen values: one class for a spec, one for a block of any kind.

Expressions are still text here (with their place); `graph.build` turns them into dims.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from transformer_diagrams.errors import NOWHERE, Span
from transformer_diagrams.records import dataclass

PREV = "prev"  # in `from:`, what the chain gives at that place: the block before


@dataclass(frozen=True, slots=True)
class Text:
    """A scalar as the author typed it, with its place."""

    value: str
    span: Span = NOWHERE

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Value:
    """A scalar or list attribute: str, int, float, bool, or a list of those or of texts with their
    own places; with its place."""

    value: Any
    span: Span = NOWHERE

    @property
    def texts(self) -> tuple[str, ...]:
        """What was typed: one text, or that of each item of a list."""
        items = self.value if isinstance(self.value, (list, tuple)) else (self.value,)
        return tuple(str(item) for item in items)


@dataclass(frozen=True, slots=True)
class DimSpec:
    """A named size. ``value`` defines it (always equal), ``default`` only proposes it."""

    name: str
    doc: str
    span: Span
    value: Text | None = None
    default: Text | None = None
    tex: str | None = None


@dataclass(frozen=True, slots=True)
class OptionSpec:
    """A named choice: a boolean, or one of ``choices``."""

    name: str
    doc: str
    span: Span
    default: bool | str
    choices: tuple[str, ...] = ()  # empty: boolean


@dataclass(frozen=True, slots=True)
class Config:
    """A real setting of the dims and options, e.g. "8B"."""

    name: str
    span: Span
    dims: Mapping[str, Value] = field(default_factory=dict)
    options: Mapping[str, Value] = field(default_factory=dict)
    source: str = ""
    constants: Mapping[str, Value] = field(default_factory=dict)  # selector -> value


@dataclass(frozen=True, slots=True)
class PortSpec:
    """A named input or output of a spec with its asserted shape (None: not stated)."""

    name: str
    span: Span
    shape: tuple[Text, ...] | None = None
    shape_span: Span = NOWHERE
    dtype: str = "float"
    label: Text | None = None
    doc: str = ""
    source: Text | None = None  # outputs: the block (or block.port) it comes from
    when: str = "always"  # always | train | infer


@dataclass(frozen=True, slots=True)
class Source:
    """Where an architecture was published."""

    title: str = ""
    arxiv: str = ""
    year: int | None = None
    authors: str = ""
    url: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """Another spec that computes the same, under some sizes and options.

    ``given`` are sizes and options of this spec, ``bind`` those of the other, both in sizes of this
    one. ``inputs``, ``weights`` and ``outputs`` say for names of the other what they are here; a
    weight may be joined of several texts (`run.matches` reads them). ``axes`` are sizes of axes.
    """

    spec: Text
    given: Mapping[str, Value] = field(default_factory=dict)
    bind: Mapping[str, Value] = field(default_factory=dict)
    inputs: Mapping[str, Text] = field(default_factory=dict)
    weights: Mapping[str, tuple[Text, ...]] = field(default_factory=dict)
    axes: Mapping[str, Value] = field(default_factory=dict)
    outputs: Mapping[str, Text] = field(default_factory=dict)
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Ref:
    """One end of `from:`; ``port`` is the port it feeds (None: the next free one)."""

    target: str  # block id, input name, or "block.port"
    span: Span
    port: str | None = None
    when: str = "always"  # always | train | infer
    mark: str = ""  # "", "stop-gradient", "ema"
    label: Text | None = None
    feedback: bool = False  # what it gave one step ago


@dataclass(frozen=True, slots=True)
class Block:
    """One entry of a `blocks:` list.

    ``kind`` is ``op`` (a registered op), ``use`` (another spec), or a structure:
    ``residual``, ``repeat``, ``group``, ``parallel``, ``columns``.
    """

    kind: str
    span: Span
    path: str  # document path, e.g. blocks[2].blocks[0]
    id: str  # unique in the spec; generated when not given
    explicit_id: bool = False
    op: str = ""  # kind op: name of the op
    use: str = ""  # kind use: id of the spec
    attrs: Mapping[str, Value] = field(default_factory=dict)  # op attributes as typed
    key_spans: Mapping[str, Span] = field(default_factory=dict)  # where each key stands
    sources: tuple[Ref, ...] | None = None  # None: the block before
    label: Text | None = None
    title: Text | None = None
    role: str | None = None  # style role
    counts_as: str | None = None  # parameter role
    shape: tuple[Text, ...] | Mapping[str, tuple[Text, ...]] | None = None
    stack: Text | None = None  # drawn as a pile of this many
    copies: Text | None = None  # exists (and counts) this many times side by side
    mark: str = ""  # "", frozen, trained, ema
    when: str = "always"
    condition: Text | None = None  # `if:`
    share: Text | None = None  # weights are those of this block
    average_of: Text | None = None  # weights are a moving average of those of this block
    once: bool = False  # weights shared by all turns of the repeat around it
    open: bool | str | None = None  # True, False, "callout"; None: a use closed, others open
    bind: Mapping[str, Value] = field(default_factory=dict)  # use: `with:`
    count: Text | None = None  # repeat; of an entry of a pattern: turns in a row
    pattern: bool = False  # repeat: its children are repeats, each of some of its turns
    turns: tuple[Text, ...] = ()  # an entry of a pattern: what holds of its turns' numbers
    carry: tuple[Text, ...] = ()  # repeat: names inside for what goes from turn to turn
    children: tuple[Block, ...] = ()  # of a structure; parallel and columns hold groups
    note: Text | None = None
    direction: str | None = None
    accent: int = 0  # 1 to 4; 0: none
    step: int | None = None  # at which it is shown, in a figure in steps

    @property
    def dressed(self) -> bool:
        """True for a structure that says what only a frame around it can show."""
        said = (self.title, self.label, self.role, self.stack, self.copies, self.mark, self.note,
                self.accent)
        return any(said)


@dataclass(frozen=True, slots=True)
class Brace:
    """Words beside a run of blocks, from one to another."""

    start: Text
    end: Text
    text: Text


@dataclass(frozen=True, slots=True)
class Show:
    """What the figure shows by default; command-line options win over it."""

    shapes: str = "changes"  # none | changes | all
    where: bool = False
    config: str | None = None
    legend: bool = False
    title: bool = False
    notes: str = "beside"  # beside | numbered
    spans: tuple[Brace, ...] = ()
    frame: bool | None = None  # None: framed when the spec has a role
    direction: str = "up"  # up | right | down
    theme: str = "paper"  # a name, or the absolute path of a file
    mode: str = "all"  # all | train | inference
    fold: int | None = None
    aspect: float | None = None  # width over height


@dataclass(frozen=True, slots=True)
class Spec:
    """A whole file, checked against the schema."""

    id: str
    span: Span
    title: str
    blocks: tuple[Block, ...]
    short: str = ""  # label when used as one box; default: title
    caption: str = ""
    family: str = ""
    role: str | None = None
    counts_as: str | None = None
    source: Source = field(default_factory=Source)
    tags: tuple[str, ...] = ()
    builds_on: tuple[Text, ...] = ()
    dims: Mapping[str, DimSpec] = field(default_factory=dict)
    options: Mapping[str, OptionSpec] = field(default_factory=dict)
    where: tuple[Text, ...] = ()
    configs: Mapping[str, Config] = field(default_factory=dict)
    inputs: Mapping[str, PortSpec] = field(default_factory=dict)
    outputs: Mapping[str, PortSpec] = field(default_factory=dict)
    equals: tuple[Claim, ...] = ()
    show: Show = field(default_factory=Show)
    text: str = ""  # the source, for messages
