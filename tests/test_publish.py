"""Figures in documents of other programs, built by these: MkDocs, Sphinx, a notebook's shell."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from transformer_diagrams.errors import DiagramError
from transformer_diagrams.publish.fence import CSS, Fence, html

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parent.parent
SPEC = """\
title: A step of one's own
dims: {n: {}, m: {}}
inputs: {x: [n, m]}
blocks:
  - {op: linear, out: m}
  - {use: part}
"""
PART = "dims: {n: {}, m: {}}\ninputs: {x: [n, m]}\nblocks: [gelu]\n"


def indented(text: str, room: str) -> str:
    return "".join(f"{room}{line}\n" for line in text.splitlines())


def build(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "DISABLE_MKDOCS_2_WARNING": "true"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


# -- what is written


def test_words_are_those_of_render_and_yaml_is_a_spec(tmp_path: Path) -> None:
    (tmp_path / "part.yaml").write_text(PART)
    page = str(tmp_path / "page.md")
    model, wish = Fence("", "llama3 --open attention --width 3.25in", page, 1).read()
    assert (model.id, wish) == ("llama3", {"open": ("attention",), "width": "3.25in"})
    model, wish = Fence("part --theme dark", "", page, 1).read()
    assert wish == {"theme": "dark"}
    model, wish = Fence("part.yaml", "", page, 1).read()
    assert model.path == tmp_path / "part.yaml", "a file beside the document"
    model, wish = Fence("--shapes none", SPEC, page, 9).read()
    assert (model.title, wish) == ("A step of one's own", {"shapes": "none"})
    assert html(model, wish).count("<svg ") == 2
    assert html(model, {"theme": "mono"}).count("<svg ") == 1


@pytest.mark.parametrize(
    ("words", "body", "line", "said"),
    [
        ("", "lama3", 7, "there is no spec 'lama3'"),
        ("llama3 --opn attention", "", 7, "--opn"),
        ("llama3 'x", "", 7, "quotation"),
        ("", "", 7, "no spec is named"),
        ("gqa", "title: T\ninputs: {x: [3]}\nblocks: [gelu]", 7, "'gqa' names a spec"),
    ],
)
def test_what_is_wrong_is_told_at_the_line_of_the_document(
    words: str, body: str, line: int, said: str
) -> None:
    with pytest.raises(DiagramError) as caught:
        Fence(words, body, "page.md", 7).read()
    (fault,) = caught.value.faults
    assert (fault.span.file, fault.span.line) == ("page.md", line)
    assert said in fault.message


def test_faults_of_a_spec_in_a_document_have_its_lines() -> None:
    model, wish = Fence("", "  inputs: {x: [3]}\n  blocks:\n    - geluu\n", "page.md", 40).read()
    with pytest.raises(DiagramError) as caught:
        html(model, wish)
    assert [(f.span.file, f.span.line, f.span.column) for f in caught.value.faults] == [
        ("page.md", 42, 7)
    ]


# -- MkDocs


@pytest.fixture
def mkdocs(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "part.yaml").write_text(PART)
    (tmp_path / "mkdocs.yml").write_text(
        "site_name: Notes\nplugins: [transformer-diagrams]\nuse_directory_urls: false\n"
        "markdown_extensions: [admonition]\n"
    )
    return tmp_path


PAGE = f"""\
---
title: One page
---

# Figures

```transformer
gqa
```

A spec, where it is written:

!!! note

{indented("~~~ {.transformer --direction right}", "    ")}{
    indented(SPEC, "    ")}    ~~~

````markdown
```transformer
not-a-spec
```
````
"""


def test_mkdocs_builds_a_page_with_figures_and_ends_at_a_fault(mkdocs: Path) -> None:
    page = mkdocs / "docs" / "index.md"
    page.write_text(PAGE)
    done = build(mkdocs, "mkdocs", "build", "--quiet")
    assert done.returncode == 0, done.stdout + done.stderr
    made = (mkdocs / "site" / "index.html").read_text()
    assert made.count("<svg ") == 4, "light and dark of two figures"
    assert made.count("not-a-spec") == 1
    ids = re.findall(r'<(?:g|svg|title|desc|path|rect)[^>]* id="([^"]+)"', made)
    assert len(ids) == len(set(ids)) > 10
    assert made.count(CSS) == 1
    assert "data-transformer-diagram" not in made
    note = re.search(r'<div class="admonition note">.*?</div>\s*<', made, re.DOTALL)
    assert note is not None
    assert "A step of one" in note[0]
    page.write_text(PAGE.replace("out: m}", "out: q}"))
    done = build(mkdocs, "mkdocs", "build", "--quiet")
    assert done.returncode == 1
    line = next(n for n, text in enumerate(PAGE.splitlines(), 1) if "op: linear" in text)
    assert f"index.md:{line}:27: blocks[0].out: 'q' is not declared" in done.stdout + done.stderr


# -- Sphinx


RST = f"""\
Figures
=======

.. transformer:: gqa
   :open: 1
   :legend:

.. transformer::
   :direction: right
   :open: 1

{indented(SPEC, "   ")}
"""


@pytest.fixture
def sphinx(tmp_path: Path) -> Path:
    (tmp_path / "part.yaml").write_text(PART)
    (tmp_path / "conf.py").write_text(
        'extensions = ["transformer_diagrams.publish.sphinx", "myst_parser"]\n'
        'project = "Notes"\nexclude_patterns = ["out*"]\n'
    )
    (tmp_path / "index.rst").write_text(RST + "\n.. toctree::\n\n   more\n")
    (tmp_path / "more.md").write_text("# More\n\n```{transformer} mqa --theme dark\n```\n")
    return tmp_path


def test_sphinx_builds_pages_and_latex_with_figures_and_ends_at_a_fault(sphinx: Path) -> None:
    done = build(sphinx, "sphinx", "-W", "-q", ".", "out")
    assert done.returncode == 0, done.stdout + done.stderr
    made = (sphinx / "out" / "index.html").read_text()
    assert made.count("<svg ") == 4
    assert made.count(CSS) == 1
    assert (sphinx / "out" / "more.html").read_text().count("<svg ") == 1
    # A used file counts, and the other builder's form is made of the same document.
    (sphinx / "part.yaml").write_text(PART.replace("gelu", "silu"))
    assert build(sphinx, "sphinx", "-q", ".", "out").returncode == 0
    assert "SiLU" in (sphinx / "out" / "index.html").read_text()
    done = build(sphinx, "sphinx", "-q", "-b", "latex", ".", "out-tex")
    assert done.returncode == 0, done.stdout + done.stderr
    (text,) = (sphinx / "out-tex").glob("*.tex")
    names = re.findall(r"\\sphinxincludegraphics\{(tdx.*?)\}", text.read_text())
    assert len(set(names)) == 3
    assert all((sphinx / "out-tex" / name).read_bytes().startswith(b"%PDF") for name in names)
    (sphinx / "index.rst").write_text(RST.replace("out: m}", "out: q}"))
    done = build(sphinx, "sphinx", "-q", ".", "out")
    assert done.returncode != 0
    line = next(n for n, text in enumerate(RST.splitlines(), 1) if "op: linear" in text)
    said = rf"index\.rst:{line}:\d+: blocks\[0\]\.out: 'q' is not"
    assert re.search(said, done.stderr), done.stderr


# -- what a reader sees


@pytest.mark.browser
@pytest.mark.parametrize(
    ("root", "scheme", "dark"),
    [
        ("", "dark", False),  # a page without a dark look
        ("data-theme=dark", "light", True),
        ("data-theme=light", "dark", False),
        ("data-theme=auto", "dark", True),
        ("data-theme=auto", "light", False),
        ("data-md-color-scheme=slate", "light", True),
        ("data-bs-theme=dark", "light", True),
    ],
)
def test_one_of_the_two_figures_is_seen(
    browser: Browser, root: str, scheme: Any, dark: bool
) -> None:
    model, wish = Fence("gqa", "", "page.md", 1).read()
    page = browser.new_page(color_scheme=scheme)
    page.set_content(f"<html {root}><style>{CSS}</style><body>{html(model, wish)}")
    seen = [page.locator(f".tdx-{name} > svg").is_visible() for name in ("light", "dark")]
    page.close()
    assert seen == [not dark, dark]


# -- notebooks


def test_a_cell_is_a_figure_and_its_faults_have_the_lines_of_the_cell(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "transformer_diagrams")
    with capture_output() as out:
        shell.run_cell_magic("diagram", "--theme dark", "inputs: {x: [3]}\nblocks: [gelu]\n")
        shell.run_line_magic("diagram", "mqa")
    shown = [output.data for output in out.outputs]
    assert [data["text/plain"] for data in shown][1:] == ["Multi-query attention (MQA)"]
    assert all(data["image/svg+xml"].startswith("<svg ") for data in shown)
    with capture_output() as out:
        shell.run_cell_magic("diagram", "", "inputs: {x: [3]}\nblocks: [geluu]\n")
    assert not out.outputs
    assert "cell:3:10: blocks[0]" in out.stderr
    assert "| blocks: [geluu]" in out.stderr
