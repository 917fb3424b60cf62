"""The pages are true: generated parts are fresh, links, examples and commands work."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import unicodedata
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote

import pytest

from transformer_diagrams.api import Model, bundled_ids
from transformer_diagrams.cli.app import COMMANDS, program, run
from transformer_diagrams.docs.pages import PAGES, PARTS, renewed
from transformer_diagrams.docs.program import command as command_of

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("transformer-diagrams", "tdx")
OPERATORS = ("|", "||", ">", ">>", "<", "&&", ";")


@dataclass(frozen=True)
class Fence:
    """A block of code in a page: its kind, its text and the line it begins on."""

    page: str
    line: int
    kind: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


@cache
def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def fences(page: str) -> list[Fence]:
    found, kind, start, lines = [], None, 0, []
    for number, line in enumerate(text_of(page).split("\n"), 1):
        if not line.startswith("```"):
            lines.append(line)
        elif kind is None:
            kind, start, lines = line[3:].strip(), number + 1, []
        else:
            found.append(Fence(page, start, kind, "\n".join(lines) + "\n"))
            kind = None
    assert kind is None, f"{page}: a block of code is not closed"
    return found


def prose_of(page: str) -> str:
    """The page without its blocks of code and its code in lines."""
    text = re.sub(r"^```.*?^```$", "", text_of(page), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "`code`", text)


def all_fences(*kinds: str) -> list[Fence]:
    return [fence for page in PAGES for fence in fences(page) if fence.kind in kinds]


def place(fence: Fence) -> str:
    return fence.place


# -- generated parts ---------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES)
def test_generated_parts_are_fresh(page: str) -> None:
    assert renewed(text_of(page), ROOT) == text_of(page), "stale: `make docs` renews it"


def test_renewing_twice_changes_nothing() -> None:
    old = "a\n<!-- generated: themes -->\nold\n<!-- end -->\nb\n"
    new = renewed(old, ROOT)
    assert "old" not in new
    assert new.startswith("a\n<!-- generated: themes -->\n")
    assert new.endswith("<!-- end -->\nb\n")
    assert renewed(new, ROOT) == new


def test_every_part_has_its_place() -> None:
    marker = r"<!-- generated: (\S+) -->"
    assert {name for page in PAGES for name in re.findall(marker, text_of(page))} == set(PARTS)
    for page in PAGES:
        opened = text_of(page).count("<!-- generated: ")
        assert opened == text_of(page).count("<!-- end -->"), page


def test_the_pages_are_all_pages() -> None:
    found = {f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")}
    # what the page of the live figures shows is run by tests/live/test_live_docs.py
    assert found == {page for page in PAGES if page.startswith("docs/")} | {"docs/live.md"}


# -- links -------------------------------------------------------------------------------------


def anchors_of(page: Path) -> set[str]:
    """The anchors that GitHub gives to headings: lower case, no punctuation, - for a space."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    found: dict[str, int] = {}
    result = set()
    for heading in re.findall(r"^#{1,6} (.+)$", text, re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("\\", "")
        kept = "".join(
            c for c in plain.lower() if c in " -_" or unicodedata.category(c)[0] in "LN"
        )
        slug = kept.strip().replace(" ", "-")
        again = found.get(slug, 0)
        found[slug] = again + 1
        result.add(slug if not again else f"{slug}-{again}")
    return result


def links_of(page: str) -> Iterator[str]:
    prose = prose_of(page)
    yield from re.findall(r"\]\(([^)\s]+)\)", prose)
    yield from re.findall(r'(?:src|href|srcset)="([^"]+)"', prose)


@pytest.mark.parametrize("page", [*PAGES, "CONTRIBUTING.md", "CHANGELOG.md"])
def test_relative_links_and_anchors_resolve(page: str) -> None:
    lost = []
    for link in links_of(page):
        if re.match(r"[a-z]+:", link):
            assert link.startswith("https://"), link
            continue
        path, _, anchor = unquote(link).partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        there = target.exists() or is_figure(target)
        if not there or (anchor and anchor not in anchors_of(target)):
            lost.append(link)
    assert not lost


def is_figure(target: Path) -> bool:
    """A figure that `make diagrams` makes: a spec stands behind it."""
    try:
        inside = target.resolve().relative_to(ROOT / "diagrams")
    except ValueError:
        return False
    return inside.suffix == ".svg" and inside.stem in bundled_ids()


def test_anchors_of_equal_headings_differ(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One `two_b`: three\n## A\n## A\n```\n# no heading\n```\n", encoding="utf-8")
    assert anchors_of(page) == {"one-two_b-three", "a", "a-1"}


def test_no_op_and_no_command_share_an_anchor() -> None:
    headings = re.findall(r"^#{1,6} (.+)$", text_of("docs/spec.md"), re.MULTILINE)
    slugs = [heading.strip("`").lower() for heading in headings]
    assert len(slugs) == len(set(slugs))


# -- examples ----------------------------------------------------------------------------------


@pytest.mark.parametrize("fence", all_fences("yaml"), ids=place)
def test_yaml_examples_check_without_fault(fence: Fence) -> None:
    model = Model.from_text(fence.text, name=fence.place)
    assert not model.check().faults
    assert model.validate().ok  # what an editor would mark


@pytest.mark.parametrize("fence", all_fences("json"), ids=place)
def test_json_examples_are_json(fence: Fence) -> None:

    json.loads(fence.text)


@pytest.mark.parametrize("page", PAGES)
def test_python_examples_run(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}  # one page's examples go on from one another
    for fence in fences(page):
        if fence.kind != "python":
            continue
        if "from IPython" in fence.text and find_spec("IPython") is None:
            continue
        lines = "\n" * (fence.line - 1) + fence.text
        exec(compile(lines, str(ROOT / page), "exec"), names)
        printed = capsys.readouterr().out.split("\n")
        for said in re.findall(r"print\(.*\)  # (.+)$", fence.text, re.MULTILINE):
            assert said in printed


# -- commands ----------------------------------------------------------------------------------


def commands_in(line: str) -> Iterator[tuple[list[str], list[str]]]:
    """(words, words after it from the operator on) of each use of the program in a line."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    words = list(lexer)
    for at, word in enumerate(words):
        if word in NAMES and (at == 0 or words[at - 1] in OPERATORS):
            rest = words[at + 1 :]
            end = next((n for n, one in enumerate(rest) if one in OPERATORS), len(rest))
            yield rest[:end], rest[end:]


def lines_of(fence: Fence) -> list[str]:
    lines = fence.text.split("\n")
    if fence.kind == "console":
        return [line[2:] for line in lines if line.startswith("$ ")]
    return [line for line in lines if not line.startswith(("eval ", "_", "#"))]


def test_lines_are_taken_apart() -> None:
    assert list(commands_in("cat a | tdx render - -o - > x  # why")) == [
        (["render", "-", "-o", "-"], [">", "x"])
    ]
    assert list(commands_in("make test")) == []


SHOWN = [
    pytest.param(line, id=f"{fence.place}-{number}")
    for fence in all_fences("sh", "console")
    for number, line in enumerate(lines_of(fence))
    if any(commands_in(line))
]


def test_enough_commands_are_shown() -> None:
    assert len(SHOWN) > 30


@pytest.mark.parametrize("line", SHOWN)
def test_shown_commands_parse(line: str) -> None:
    for words, _ in commands_in(line):
        if words[0].startswith("-"):
            assert words[0] in [name for option in program.params for name in option.opts]
            continue
        assert words[0] in COMMANDS
        command_of(words[0]).make_context(words[0], list(words[1:]))  # raises for what is wrong


@pytest.mark.parametrize("page", PAGES)
def test_shown_commands_run(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command of a page, in its order, in one folder, ends well; files are those it names."""
    monkeypatch.chdir(tmp_path)
    for name in ("model", "model-a", "model-b"):
        write_model(Path(name))
    for fence in fences(page):
        named = re.match(r"# (\S+\.yaml)\n", fence.text)
        if fence.kind == "yaml" and named:
            Path(named[1]).write_text(fence.text, encoding="utf-8")
        if fence.kind not in ("sh", "console"):
            continue
        for line in lines_of(fence):
            for words, rest in commands_in(line):
                run_shown(words, rest, f"{fence.place}: {line}")


def write_model(folder: Path) -> None:
    """A model's folder: its configuration, its checkpoint, and what its own code gives."""
    shutil.copytree(ROOT / "tests" / "cases" / "parity" / "llama_gqa", folder)


def run_shown(words: list[str], rest: list[str], said: str) -> None:
    if words[0] == "watch" or "-" in words:
        return  # never ends, or reads what another program gives
    if words[0] == "new":
        Path(words[1]).with_suffix(".yaml").unlink(missing_ok=True)
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    err = io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(words)
    out.flush()
    assert code == 0, f"{said}\n{err.getvalue()}"
    if rest[:1] == [">"]:
        Path(rest[1]).write_bytes(out.buffer.getvalue())  # type: ignore[attr-defined]


# -- words -------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES)
def test_no_machine_path_and_no_tail(page: str) -> None:
    text = text_of(page)
    assert not re.search(r"(?<![\w.])/(?:home|tmp|work|root|Users|usr)/", text)
    assert not [n for n, line in enumerate(text.split("\n"), 1) if line != line.rstrip()]
