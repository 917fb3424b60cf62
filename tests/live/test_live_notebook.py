"""A figure in a notebook: run, exported, opened with the network off, and moved by keyboard."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from transformer_diagrams.live.figures import get

RUN = """
import json, os, re, sys
from pathlib import Path
import nbclient, nbconvert, nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager

folder, file = Path(sys.argv[1]), Path(sys.argv[2])
os.environ["PYTHONPATH"] = os.getcwd()
book = nbformat.v4.new_notebook()
book.cells = [
    nbformat.v4.new_code_cell(
        "from transformer_diagrams.live import figure; figure('several-heads')"
    ),
    nbformat.v4.new_code_cell("figure('l1-and-giou')"),
]
# The kernel of this very interpreter, whatever kernels are registered.
kernel = folder / "kernels" / "here"
kernel.mkdir(parents=True)
argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
kernel_json = {"argv": argv, "display_name": "here", "language": "python"}
(kernel / "kernel.json").write_text(json.dumps(kernel_json))
specs = KernelSpecManager(kernel_dirs=[str(folder / "kernels")])
manager = AsyncKernelManager(kernel_name="here", kernel_spec_manager=specs)
nbclient.NotebookClient(book, timeout=120, km=manager).execute()
text, _ = nbconvert.HTMLExporter().from_notebook_node(book)
# What the export itself would load (formula typesetting and the like) is not the figure's.
file.write_text(re.sub(r"<script[^>]*\\bsrc=[^>]*></script>", "", text), encoding="utf-8")
"""


def test_the_forms_a_notebook_may_choose_from() -> None:
    figure = get("l1-and-giou")
    forms = figure._repr_mimebundle_()
    assert set(forms) == {"text/plain", "text/html", "image/svg+xml"}
    assert forms["text/plain"].startswith("l1 and GIoU as the box slides away. dy 0.0")
    assert re.match(r'<iframe title="[^"]+" srcdoc="', forms["text/html"])
    assert set(figure._repr_mimebundle_(include=["text/html"])) == {"text/plain", "text/html"}
    assert "text/html" not in figure._repr_mimebundle_(exclude=["text/html"])


@pytest.mark.browser
def test_a_notebook_runs_exports_and_lives(open_tab: Any, tmp_path: Path) -> None:
    file = tmp_path / "book.html"
    root = Path(__file__).resolve().parents[2]
    run = [sys.executable, "-c", RUN, str(tmp_path), str(file)]
    done = subprocess.run(run, cwd=root, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    tab = open_tab(file)
    frames = tab.page.locator("iframe")
    assert frames.count() == 2
    inside = tab.page.frame_locator("iframe").nth(0)
    frames.nth(0).scroll_into_view_if_needed()
    before = inside.locator(".summary span").first.text_content()
    assert before == get("several-heads").summary()
    inside.locator("input[name=log2h]").focus()
    tab.page.keyboard.press("End")
    after = inside.locator(".summary span").first.text_content()
    assert after == get("several-heads").summary(log2h=3)
    other = tab.page.frame_locator("iframe").nth(1)
    frames.nth(1).scroll_into_view_if_needed()
    assert other.locator(".summary span").first.text_content() == get("l1-and-giou").summary()
    # The frame is as high as what is in it: nothing is cut off.
    tab.page.wait_for_timeout(200)
    room = frames.nth(0).evaluate(
        "f => [f.clientHeight, f.contentDocument.documentElement.scrollHeight]"
    )
    assert room[1] <= room[0]
    ours = [line for line in tab.said if "live" in line.lower() or "lv" in line.lower()]
    assert ours == []
