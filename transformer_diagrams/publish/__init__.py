"""Figures in other programs' documents: MkDocs, Sphinx, notebooks."""
