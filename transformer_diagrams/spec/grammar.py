"""The keys of the spec language: one table that the loader and the JSON Schema both read.

A key's ``kind`` says what its value may be; the loader has one reader for each kind (see
`fields.py`) and `schema.py` one schema. The attributes of ops come from the op registry, not
from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from transformer_diagrams.choices import DIRECTIONS, MODES, SHAPES
from transformer_diagrams.ops.registry import Attr
from transformer_diagrams.records import dataclass
from transformer_diagrams.roles import ROLES


@dataclass(frozen=True, slots=True)
class Key:
    """One key of the language."""

    name: str
    kind: str
    doc: str
    choices: tuple[str, ...] = ()
    required: bool = False
    most: int = 0  # longest text in characters; 0: the kind's own limit


def _table(*keys: Key) -> Mapping[str, Key]:
    return {key.name: key for key in keys}


ID_PATTERN: Final = r"[A-Za-z_][A-Za-z0-9_-]*"
REF_PATTERN: Final = rf"{ID_PATTERN}(\.[A-Za-z0-9_-]+)?"
DIM_NAME_PATTERN: Final = r"[A-Za-z][A-Za-z0-9_]*"
LEAD_PATTERN: Final = rf"\.\.\.({DIM_NAME_PATTERN})?"
RATIO_PATTERN: Final = r"(\d{1,5}(?:\.\d{1,5})?)(?::(\d{1,5}(?:\.\d{1,5})?))?"
MOST_STEPS: Final = 999
LONGEST_LABEL: Final = 1_000
LONGEST_TEXT: Final = 10_000

WHEN: Final = ("always", "train", "infer")
MARKS: Final = ("frozen", "trained", "ema")
EDGE_MARKS: Final = ("stop-gradient", "ema")
NOTES: Final = ("beside", "numbered")
DTYPES: Final = ("float", "int", "bool")

KINDS: Final = ("op", "use", "residual", "repeat", "group", "parallel", "columns")
"""The keys that say what a block is; a block has exactly one of them."""

TOP: Final = _table(
    Key("title", "title", "Title of the figure.", most=LONGEST_LABEL),
    Key("short", "label", "Label when the spec is used as one box; default: the title."),
    Key("caption", "text", "Caption: what the figure shows, in a sentence or two."),
    Key("family", "text", "Family of architectures this belongs to, e.g. llama.", most=100),
    Key("role", "choice", "Style role of the box when the spec is used.", tuple(ROLES)),
    Key("counts_as", "name", "Parameter role of weights without an own one; default: the role."),
    Key("source", "source", "Where the architecture was published."),
    Key("tags", "texts", "Words to find the spec by."),
    Key("builds_on", "spec-refs", "Specs to read first, by id."),
    Key("dims", "dims", "The named sizes: name: meaning, or name: {doc, value, default, tex}."),
    Key("where", "conditions", "Relations between sizes that must hold, e.g. n_g | n_h."),
    Key("options", "options", "Named switches: name: {doc, default, choices}."),
    Key("configs", "configs", "Real settings of the sizes and options, by name."),
    Key("inputs", "inputs", "The tensors that come in: name: shape, or a mapping."),
    Key("outputs", "outputs", "The tensors that go out; default: the last block's output."),
    Key("equals", "claims", "What it equals, and when: claims that `prove` measures."),
    Key("show", "show", "What the figure shows by default."),
    Key("blocks", "blocks", "The blocks, in order; each takes the output of the one before."),
)

SOURCE: Final = _table(
    Key("title", "label", "Title of the publication."),
    Key("arxiv", "label", "arXiv id, in quotes."),
    Key("year", "year", "Year of publication."),
    Key("authors", "label", "Authors, as one text."),
    Key("url", "label", "Address of the publication."),
    Key("note", "text", "What else a reader should know of the source."),
)

CLAIM: Final = _table(
    Key("spec", "claimed", "The spec that gives the same, by id or by path.", required=True),
    Key("given", "bindings", "When: sizes and options of this spec, e.g. {n_g: 1}."),
    Key("with", "bindings", "Sizes and options of that spec; default: the same name here."),
    Key("inputs", "renames", "Its inputs: those here, or blocks; default: the same name."),
    Key("weights", "matches", "Its weights: what each is made of here; default: the same name."),
    Key("axes", "bindings", "Sizes of axes in these patterns that are no size of this spec."),
    Key("outputs", "renames", "Of that spec: with what here it is compared; default: all."),
    Key("doc", "text", "Why, in a sentence."),
)

DIM: Final = _table(
    Key("doc", "text", "What the size means."),
    Key("value", "dim", "Definition: the size is always equal to this expression."),
    Key("default", "dim", "Proposed value, used only where numbers are needed."),
    Key("tex", "label", "How the size is set in TeX."),
)

OPTION: Final = _table(
    Key("doc", "text", "What the option switches."),
    Key("default", "option-value", "Value when nothing else is said."),
    Key("choices", "choices", "The allowed values; without it the option is true or false."),
)

INPUT: Final = _table(
    Key("shape", "shape", "Shape, checked, e.g. [d_t, d_m] or [..., d_m]."),
    Key("dtype", "choice", "Type of the elements; default: float.", DTYPES),
    Key("label", "label", "Label in the figure; default: the name."),
    Key("doc", "text", "What the tensor is."),
    Key("when", "choice", "Only in training, or only at inference; default: always.", WHEN),
)
OUTPUT: Final = {
    "from": Key("from", "output-ref", "The block (or block.port) the output comes from."),
    **INPUT,
}

SHOW: Final = _table(
    Key("shapes", "choice", "Shapes beside arrows: none, where they change, or all.", SHAPES),
    Key("where", "bool", "Print the relations above the figure."),
    Key("config", "config-name", "Name of the config whose numbers are shown."),
    Key("legend", "bool", "Draw a legend."),
    Key("title", "bool", "Print the title above the figure and the caption below it."),
    Key("notes", "choice", "Remarks beside their boxes, or by number and listed below.", NOTES),
    Key("spans", "spans", "Braces beside the figure, each along a run of blocks."),
    Key("frame", "bool", "Draw a frame with the title around the figure."),
    Key("direction", "choice", "Direction of the main stream.", DIRECTIONS),
    Key("theme", "theme", "How it looks: a bundled theme, or the path of a theme file."),
    Key("mode", "choice", "Draw all, or what is there in training alone, or at inference.", MODES),
    Key("fold", "folds", "How often the figure is cut, the pieces side by side; 0: not."),
    Key("aspect", "ratio", "As many folds as bring it nearest to this; not beside fold."),
)

SPAN: Final = _table(
    Key("from", "span-end", "The block at one end of the run.", required=True),
    Key("to", "span-end", "The block at the other end; default: the same."),
    Key("text", "label", "What stands at the brace.", required=True),
)

REF: Final = _table(
    Key("from", "ref", "The block (or block.port) or input."),
    Key("feedback", "ref", "Instead of from, of a later block or itself: what it gave a step ago."),
    Key("when", "choice", "Only in training, or only at inference; default: always.", WHEN),
    Key("mark", "choice", "Mark on the arrow.", EDGE_MARKS),
    Key("label", "label", "Text beside the arrow."),
)

COMMON: Final = _table(
    Key("id", "id", "Name of the block, unique in the file, for 'from' and 'share'."),
    Key("from", "sources", "Where the inputs come from; default: the block before."),
    Key("label", "label", "Label of the box: text with $TeX$."),
    Key("title", "label", "Title of the frame around a structure or opened spec; no op has one."),
    Key("role", "choice", "Style role.", tuple(ROLES)),
    Key("counts_as", "name", "Parameter role of its weights, e.g. lm_head."),
    Key("shape", "shapes", "Asserted shape of the output (or one shape a port); checked."),
    Key("stack", "size", "Drawn as a pile of this many."),
    Key("copies", "size", "Exists, and counts, this many times side by side."),
    Key("mark", "choice", "Mark on the box.", MARKS),
    Key("when", "choice", "Only in training, or only at inference; default: always.", WHEN),
    Key("if", "switch", "Only there when this holds of the options, e.g. not tied."),
    Key("share", "block-ref", "Uses the weights of that block."),
    Key("once", "bool", "Inside a repeat: one set of weights for all turns."),
    Key("note", "text", "A remark beside the box, or under the title of the frame."),
    Key("accent", "accent", "Highlights it in one of the theme's accents, 1 to 4."),
    Key("step", "step", "The step at which --steps spec shows it, from 1, and all that is in it."),
)
_AVERAGE: Final = Key(
    "average_of",
    "block-ref",
    "Its weights follow those of that block as a moving average; mark: ema is implied.",
)
OP: Final = {
    **{name: key for name, key in COMMON.items() if name != "title"}, **_table(_AVERAGE)
}
"""The common keys of an op, which has no frame."""

_OPEN: Final = Key(
    "open",
    "open",
    "Drawn opened in place (true), as one box (false) or opened beside the figure (callout); "
    "default: a used spec is closed, all else is open.",
)
_DIRECTION: Final = Key("direction", "choice", "Direction of the stream inside.", DIRECTIONS)

def _frame(*own: Key) -> Mapping[str, Key]:
    return {**_table(*own), **COMMON, **_table(_OPEN, _DIRECTION)}


STRUCTURES: Final[Mapping[str, Mapping[str, Key]]] = {
    "use": _frame(
        Key("use", "spec-ref", "Brings another spec in, by id or by path.", required=True),
        Key("with", "bindings", "Sizes and options of that spec: name: expression."),
        _AVERAGE,
    ),
    "residual": _frame(
        Key("residual", "blocks", "x + body(x): the blocks of the body.", required=True)
    ),
    "repeat": _frame(
        Key("repeat", "size", "Drawn once, counted this many times.", required=True),
        Key("carry", "ids", "Names, inside, for what a turn takes from the one before."),
        Key("blocks", "blocks", "The blocks of one turn."),
        Key("pattern", "pattern", "Instead of blocks, where the turns differ: their kinds."),
    ),
    "group": _frame(Key("group", "blocks", "Blocks inside one frame.", required=True)),
    "parallel": _frame(
        Key("parallel", "branches", "Branches that all take the current input.", required=True)
    ),
    "columns": _frame(
        Key("columns", "columns", "Streams drawn side by side.", required=True)
    ),
}

COLUMN: Final = {
    **COMMON,
    **_table(Key("blocks", "blocks", "The blocks of the column.", required=True)),
    **_table(_OPEN, _DIRECTION),
}

LAYER: Final = {
    **_table(
        Key("count", "size", "So many turns in a row, in each round of the pattern; default: 1."),
        Key("turns", "turns", "Which turns, e.g. turn % 8 == 4; without it, all that are left."),
        Key("carry", "ids", "Names, inside, for what a turn takes from the one before."),
        Key("blocks", "blocks", "The blocks of one turn.", required=True),
    ),
    **{name: key for name, key in COMMON.items() if name != "from"},
    **_table(_OPEN, _DIRECTION),
}
"""An entry of the `pattern:` of a repeat; what it takes comes from the turn before."""

TURN: Final = "turn"
"""In `turns:`, the number of the turn, from 1."""

ATTR_KINDS: Final = {
    "bool": "bool",
    "int": "int",
    "float": "float",
    "enum": "choice",
    "str": "label",
    "name": "block-ref",
}
"""The kind of key that an attribute is; sizes have limits of their own and are none."""


def attr_key(attr: Attr) -> Key:
    """An op's attribute as a key; of sizes only the name."""
    return Key(attr.name, ATTR_KINDS.get(attr.kind, attr.kind), attr.doc, attr.choices)


OP_KEY: Final = Key("op", "op-name", "Name of the operation.", required=True)
