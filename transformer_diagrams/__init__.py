"""Transformer architectures written once as a block graph: checked, drawn, measured, explained.

>>> import transformer_diagrams as td
>>> model = td.load("llama3")                          # doctest: +SKIP
>>> model.check().ok                                   # doctest: +SKIP
>>> model.inspect(config="8B")["params"]["total"]      # doctest: +SKIP
>>> model.render("pdf", width="3.25in").save("figure.pdf")  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformer_diagrams.api import Model, Rendering, load
    from transformer_diagrams.errors import DiagramError, Fault, Report
    from transformer_diagrams.options import AskError, Options

__version__ = "0.1.0"

__all__ = [
    "AskError",
    "DiagramError",
    "Fault",
    "Model",
    "Options",
    "Rendering",
    "Report",
    "__version__",
    "load",
]

# Name -> module. Nothing is imported before it is asked for, so that `import transformer_diagrams`
# costs nothing.
_PLACES = {
    "AskError": "options",
    "DiagramError": "errors",
    "Fault": "errors",
    "Model": "api",
    "Options": "options",
    "Rendering": "api",
    "Report": "errors",
    "load": "api",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)


def load_ipython_extension(shell: Any) -> None:
    """In a notebook, ``%load_ext transformer_diagrams``: ``%diagram`` and ``%%diagram``."""
    from transformer_diagrams.publish.jupyter import load

    load(shell)


def __dir__() -> list[str]:
    return sorted(__all__)
