"""A theme file: its data, and where each key of it stands, for faults that name the line.

A theme is read on every run, so the file is read once for its data; places are looked up only when
something is to be told.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from transformer_diagrams import reading
from transformer_diagrams.errors import DiagramError, Fault, Span

if TYPE_CHECKING:
    import yaml

MAX_BYTES = 100_000  # a bundled one has 3 kB
_SUFFIXES = (".yaml", ".yml")


def is_path(name: str) -> bool:
    """Whether the name of a theme is that of a file."""
    return name.endswith(_SUFFIXES) or os.sep in name or "/" in name


class ThemeFile:
    """The text of one theme file.

    :raises DiagramError: it cannot be read, or is no YAML.
    """

    def __init__(self, path: str) -> None:
        import yaml

        self.shown = _shown(path)
        try:
            self._text = reading.read(path, MAX_BYTES).decode("utf-8")
        except UnicodeDecodeError:
            raise self._fault("bad-theme", "a theme file is text in UTF-8") from None
        except (OSError, ValueError) as fault:
            reason = getattr(fault, "strerror", None) or str(fault)
            message = f"the theme '{self.shown}' cannot be read: {reason}"
            hint = "`transformer-diagrams new --theme mine.yaml` writes one to begin with"
            raise self._fault("no-such-theme", message, hint=hint) from None
        try:
            self.data: Any = yaml.load(self._text, Loader=_loader())
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
            words = getattr(error, "problem", None) or "the file is no YAML"
            raise self._fault("yaml-syntax", f"{words}", line, column) from None
        except RecursionError:
            raise self._fault("yaml-syntax", "the file is nested too deeply") from None

    def _fault(
        self, code: str, message: str, line: int = 0, column: int = 0, hint: str = ""
    ) -> DiagramError:
        return DiagramError(Fault(code, message, Span(self.shown, line, column), hint=hint))

    def repeated(self) -> list[Fault]:
        """A fault for every key that stands twice in one mapping."""
        found = []
        for mapping, path in self._mappings():
            seen: dict[str, yaml.Node] = {}
            for key, _ in mapping.value:
                if key.value in seen:
                    first = seen[key.value].start_mark.line + 1
                    found.append(
                        Fault(
                            "bad-theme", f"the key '{key.value}' stands here again",
                            self._span(key), path, found=str(key.value),
                            hint=f"it stands in line {first} already",
                        )
                    )
                seen[str(key.value)] = key
        return found

    def _root(self) -> Any:
        import yaml

        return yaml.compose(self._text, Loader=_loader())

    def _mappings(self) -> list[tuple[yaml.MappingNode, str]]:
        import yaml

        found, todo = [], [(self._root(), "", 0)]
        while todo:
            node, path, depth = todo.pop()
            if isinstance(node, yaml.MappingNode) and depth < 5:
                found.append((node, path))
                before = f"{path}." if path else ""
                todo += [(value, f"{before}{key.value}", depth + 1) for key, value in node.value]
        return found

    def _span(self, node: yaml.Node) -> Span:
        mark = node.start_mark
        return Span(self.shown, mark.line + 1, mark.column + 1)

    def place(self, path: str) -> Span:
        """Where the value at a path like ``roles.norm.dash[0]`` stands, or the nearest around it.

        A fault of a key is told at the key: end the path in ``.key!``.
        """
        import yaml

        node = self._root()
        at_key = path.endswith("!")
        found = Span(self.shown)
        for step in re.findall(r"[^.\[\]]+|\[\d+\]", path.removesuffix("!")):
            if isinstance(node, yaml.MappingNode):
                pair = next((p for p in node.value if p[0].value == step), None)
                if pair is None:
                    return found
                found, node = self._span(pair[0] if at_key else pair[1]), pair[1]
            elif isinstance(node, yaml.SequenceNode) and step.startswith("["):
                index = int(step[1:-1])
                if index >= len(node.value):
                    return found
                node = node.value[index]
                found = self._span(node)
        return found


def _loader() -> Any:
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _shown(path: str) -> str:
    """A path as a message shows it: relative to here when it lies below."""
    try:
        inside = os.path.relpath(path)
    except ValueError:  # another drive
        return path
    return path if inside.startswith("..") else inside
