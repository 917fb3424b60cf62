"""A live figure: sliders, and one function that traces its maths and its drawing.

The same object gives numbers, a picture file of any state, a live page, and itself in a notebook.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_diagrams.live import words
from transformer_diagrams.live.draw import MarkGroup, groups, said
from transformer_diagrams.live.sketch import Sketch
from transformer_diagrams.live.slider import Slider, settle
from transformer_diagrams.live.trace import Array

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from transformer_diagrams.live.evaluate import Evaluator

NOT_SLIDERS = ("self", "path", "theme", "png_scale")
"""Names that a slider cannot have: sliders and options are given side by side as keywords."""
Build = Callable[[Sketch, Mapping[str, Array]], None]


@dataclass(frozen=True)
class Figure:
    """A live figure.

    id       its name everywhere, in kebab case
    title    what it is about
    claim    the one thing that the default state already shows
    caption  what to look at and what to try
    size     width and height of the drawing, in its own units (CSS pixels when not scaled)
    build    gets a sketch and the sliders' traced values, adds marks, outputs and the summary
    made     how to make this figure again: what Python call (figures with own data differ)
    panels   left and right of each part that can stand by itself; a narrow page stacks them
    """

    id: str
    title: str
    claim: str
    caption: str
    size: tuple[float, float]
    sliders: tuple[Slider, ...]
    build: Build = field(repr=False)
    made: str = ""
    options: str = ""
    panels: tuple[tuple[float, float], ...] = ()

    def __post_init__(self) -> None:
        for slider in self.sliders:
            if slider.name in NOT_SLIDERS:
                raise ValueError(f"a slider cannot be named '{slider.name}'")

    @cached_property
    def sketch(self) -> Sketch:
        """The traced maths and marks."""
        sketch = Sketch()
        self.build(sketch, {s.name: sketch.tape.param(s.name) for s in self.sliders})
        return sketch

    @cached_property
    def _evaluator(self) -> Evaluator:
        from transformer_diagrams.live.evaluate import Evaluator

        return Evaluator(self.sketch.tape.nodes)

    # -- states

    def state(self, **asked: object) -> dict[str, float]:
        """Every slider's value, checked.

        :raises AskError: for an unknown slider or a value off its grid.
        """
        return settle(self.sliders, asked, self.id)

    def states(self) -> Iterator[dict[str, float]]:
        """Every combination of slider values."""
        names = [s.name for s in self.sliders]
        for values in itertools.product(*(s.values for s in self.sliders)):
            yield dict(zip(names, values, strict=True))

    def state_text(self, **asked: object) -> str:
        """The state in words, "query: it; sharpness: 1"."""
        state = self.state(**asked)
        return "; ".join(f"{said(s.label)}: {s.shown(state[s.name])}" for s in self.sliders)

    # -- results

    def values(self, **asked: object) -> dict[str, NDArray[np.float64]]:
        """The named outputs as NumPy arrays."""
        read = self._at(asked)
        return {
            name: read(output.array).copy() for name, output in self.sketch.outputs.items()
        }

    def summary(self, **asked: object) -> str:
        """One sentence about the state."""
        return words.fill(self.sketch.summary, self.reader(**asked))

    def drawing(self, **asked: object) -> list[MarkGroup]:
        """The picture's elements, with colours as names."""
        return groups(self.sketch.marks, self.reader(**asked))

    def reader(self, **asked: object) -> words.Read:
        """Gives the flat values of any traced array of the figure, in this state."""
        read = self._at(asked)
        return lambda array: read(array).ravel().tolist()

    def _at(self, asked: Mapping[str, object]) -> Callable[[Array], NDArray[np.float64]]:
        self._evaluator.set(self.state(**asked))
        return lambda array: self._evaluator.value(array.index)

    # -- files

    def svg(self, *, theme: str = "light", **asked: object) -> str:
        """The picture as SVG whose words are text elements, as the page has it."""
        from transformer_diagrams.live.export import text_svg

        return text_svg(self, self.state(**asked), theme)

    def save(
        self, path: str | Path, *, theme: str = "light", png_scale: float | None = None,
        **asked: object,
    ) -> Path:  # fmt: skip
        """Write the state as .svg, .png or .pdf, or the live figure as .html.

        ``png_scale`` is a multiple of 96 dots an inch, 2 when not given.

        :raises AskError: for another suffix, slider or value.
        """
        from transformer_diagrams.live.export import write

        return write(self, Path(path), self.state(**asked), theme=theme, scale=png_scale)

    # -- in a notebook

    def _repr_mimebundle_(
        self, include: Sequence[str] | None = None, exclude: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """Live in a notebook: a frame of its own, that needs no network after export either."""
        from transformer_diagrams.live.notebook import bundle

        return bundle(self, include, exclude)
