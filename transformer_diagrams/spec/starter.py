"""What `new` writes, with comments: a small decoder to change into one's own model, or a theme."""

from __future__ import annotations

import re
from typing import Final

from transformer_diagrams.spec.yaml_errors import quoted

_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.()+/ -]*[A-Za-z0-9.)]\Z|[A-Za-z]\Z")
_WORDS: Final = frozenset({"true", "false", "null", "yes", "no", "on", "off"})

_TEXT: Final = """\
# {id}: a spec for transformer-diagrams.
#
#   transformer-diagrams check {file}      what is wrong, and where
#   transformer-diagrams render {file}     the figure
#   transformer-diagrams inspect {file}    parameters, KV cache, FLOPs
#
# For completion in an editor, write the schema beside it (transformer-diagrams schema >
# spec.schema.json) and make the first line: # yaml-language-server: $schema=spec.schema.json

title: {title}
caption: A decoder with causal attention and a gated feed-forward network.
tags: [decoder]

# Every size has a name. `value` defines a size (always equal); `default` only proposes one.
dims:
  d_t: positions in the sequence
  d_m: width of the residual stream
  n_h: attention heads
  d_K: {{doc: width of one head, value: d_m / n_h}}
  d_h: {{doc: hidden width of the feed-forward network, default: 4 d_m}}
  L: number of blocks
  V: vocabulary size

# Relations that must hold.
where: [n_h | d_m]

# Real settings. Try: transformer-diagrams inspect {file} --config small
configs:
  small: {{L: 6, d_m: 512, n_h: 8, d_h: 2048, V: 32000}}

# Tensors that come in and go out. Their shapes are checked.
inputs:
  tokens: {{shape: [d_t], dtype: int}}
outputs:
  probabilities: [d_t, V]

# A block takes the output of the block before it, unless it says `from`.
blocks:
  - {{op: embedding, id: embed, vocab: V, width: d_m}}

  # Drawn once, counted L times.
  - repeat: L
    title: Decoder block
    blocks:
      # x + body(x)
      - residual:
          - rmsnorm
          # Three branches that all take the same input; the next block takes all three.
          - parallel:
              q: [{{op: head_linear, heads: n_h, out: d_K, weight: W_Q, counts_as: attention}}]
              k: [{{op: head_linear, heads: n_h, out: d_K, weight: W_K, counts_as: attention}}]
              v: [{{op: head_linear, heads: n_h, out: d_K, weight: W_V, counts_as: attention}}]
          # What goes in as k comes out as k: inference keeps both.
          - {{op: cache, id: kv, from: {{k: k, v: v}}}}
          - {{op: attention_core, from: {{q: q, k: kv.k, v: kv.v}}, causal: true}}
          - merge_heads
          # Labels mix text and $TeX$; single quotes keep every backslash.
          - {{op: linear, out: d_m, label: 'Linear $W_O$', counts_as: attention}}
      # A part that exists already: its sizes bind by name. Try: --open ffn
      - residual:
          - rmsnorm
          - {{use: swiglu, id: ffn}}

  - rmsnorm
  - {{op: linear, id: head, out: V, weight: W_U, label: Linear (unembedding), counts_as: lm_head}}
  - softmax
"""


def starter(id: str, title: str) -> str:
    """A commented spec that loads and renders, with this id (the file's stem) and title.

    >>> starter("tiny", "Tiny: a decoder").splitlines()[9]
    "title: 'Tiny: a decoder'"
    """
    words = " ".join("".join(c if c.isprintable() else " " for c in title).split()) or id
    plain = _PLAIN.match(words) and words.lower() not in _WORDS
    return _TEXT.format(id=id, file=f"{id}.yaml", title=words if plain else quoted(words))


_THEME: Final = """\
# {id}: a look for transformer-diagrams.
#
#   transformer-diagrams render llama3 --theme {file}
#
# or, in a spec beside it:  show: {{theme: {file}}}
# A file says only what is other than in the theme that it extends; every colour is #rrggbb.
# For completion in an editor: transformer-diagrams schema --theme > theme.schema.json

extends: paper   # or another of `transformer-diagrams render --help`
summary: how our papers look

background: '#ffffff'
ink: '#1d2733'

# What a part is decides its colours. `dash` is in points, `weight` a factor of the outline.
roles:
  attention: {{fill: '#ffcf9f', stroke: '#3a4656', text: '#1d2733'}}
  ffn:       {{fill: '#b7d6f5', weight: 1.5}}
  cache:     {{dash: [3, 2]}}
  norm:      {{texture: bars}}   # or one of: {textures}

lines:
  residual: {{stroke: '#bf4f1a'}}

# What `accent: 1` on a block looks like, and is called in the legend.
accents:
  1: {{name: contribution, stroke: '#0056c7'}}

# A family is the package fontpkg-FAMILY, a file stands beside this one; what the first font lacks
# comes from the next:
# fonts: {{text: [Fira Sans, fonts/own.ttf], maths: fonts/own-math.otf}}

# Lengths in points: type, gaps, corners, strokes.
sizes:
  font_block: 9
  gap_rank: 20
  corner: 4.5
  frame_corner: 6
  stroke_box: 0.8
  stroke_data: 0.8
  stroke_residual: 1.4
"""


def theme_starter(id: str, file: str) -> str:
    """A commented theme file that draws.

    >>> theme_starter("ours", "ours.yaml").splitlines()[0]
    '# ours: a look for transformer-diagrams.'
    """
    from transformer_diagrams.theme.schema import TEXTURES

    return _THEME.format(id=id, file=file, textures=", ".join(TEXTURES))
