"""Optional packages: what each is for, and the sentence when one is missing."""

from __future__ import annotations

from transformer_diagrams.cachedir import package_folder
from transformer_diagrams.errors import Fault, ToolMissing

EXTRAS = (  # (name to import, name to install, extra, what it does)
    ("numpy", "numpy", "live", "runs the maths of live figures"),
    ("jinja2", "jinja2", "site", "writes the gallery's pages"),
    ("markdown_it", "markdown-it-py", "site", "reads the gallery's texts"),
    ("nh3", "nh3", "site", "cleans the gallery's texts"),
    ("pptx", "python-pptx", "pptx", "writes slides"),
    ("numpy", "numpy", "run", "executes specs"),
    ("safetensors", "safetensors", "run", "reads the weights of a model"),
    ("einops", "einops", "run", "brings weights into another order of axes"),
)


def need(extra: str, *modules: str) -> None:
    """Look, without importing, for the packages of an extra: all, or those of some modules.

    :raises ToolMissing: that says what to install.
    """
    for module, wheel, group, purpose in EXTRAS:
        wanted = group == extra and (not modules or module in modules)
        if wanted and package_folder(module) is None:
            raise ToolMissing(
                Fault(
                    "missing-library",
                    f"the Python package '{wheel}', which {purpose}, is not installed",
                    hint=f"pip install 'transformer-diagrams[{extra}]'",
                )
            )
