"""From a model's `config.json` to the bundled spec that it is, with its sizes.

A family is one YAML file beside this one: which model types it serves, which spec draws them, and
what each key of the configuration means. `config` reads the JSON with the place of every value,
`family` the file of a family, `adopt` puts the two together.
"""

from __future__ import annotations

from transformer_diagrams.families.adopt import Adopted, adopt

__all__ = ["Adopted", "adopt"]
