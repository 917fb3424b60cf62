"""The front end: YAML text -> Spec, with every fault in its place."""

from transformer_diagrams.spec.library import SpecLibrary
from transformer_diagrams.spec.load import load_path, load_text

__all__ = ["SpecLibrary", "load_path", "load_text"]
