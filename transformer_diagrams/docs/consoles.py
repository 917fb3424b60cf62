"""Real runs of the program: commands with what they print, made in a folder of their own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from shutil import copytree

from transformer_diagrams.docs.markdown import fenced

PROGRAM = "transformer-diagrams"


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        try:
            yield Path(name)
        finally:
            os.chdir(before)


def output_of(command: str) -> tuple[str, int]:
    """What a command prints (stderr first, as a reader meets it) and its exit code."""
    from transformer_diagrams.cli.app import run

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(shlex.split(command)[1:])
    return err.getvalue() + out.getvalue(), code


def session(*commands: str, most: int | None = None) -> str:
    """Commands and what each prints, as a console shows it; at most ``most`` lines of each."""
    shown = []
    for command in commands:
        lines = output_of(f"{PROGRAM} {command}")[0].rstrip("\n").split("\n")
        if most is not None and len(lines) > most:
            lines = [*lines[:most], "..."]
        shown.append("\n".join([f"$ {PROGRAM} {command}", *lines]))
    return fenced("\n\n".join(shown), "console")


def _changed(path: Path, *changes: tuple[str, str]) -> None:
    """Put mistakes into a file; each text to replace must be there."""
    text = path.read_text(encoding="utf-8")
    for old, new in changes:
        if old not in text:
            raise ValueError(f"'{old}' is not in {path.name} any more")
        text = text.replace(old, new, 1)
    path.write_text(text, encoding="utf-8")


def _starter(_: Path) -> str:
    with _folder():
        return session("new my-model.yaml", "check my-model.yaml")


def _misspelt(_: Path) -> str:
    with _folder() as folder:
        output_of(f"{PROGRAM} new my-model.yaml")
        _changed(
            folder / "my-model.yaml",
            ("out: d_m, label: 'Linear $W_O$'", "out: d_mm, lable: 'Linear $W_O$'"),
        )
        return session("check my-model.yaml")


def _misshapen(_: Path) -> str:
    with _folder() as folder:
        output_of(f"{PROGRAM} new my-model.yaml")
        _changed(
            folder / "my-model.yaml",
            ("out: d_m, label: 'Linear $W_O$'", "out: 2 d_m, label: 'Linear $W_O$'"),
        )
        return session("check my-model.yaml")


def _inspect_model(_: Path) -> str:
    with _folder():
        return session("inspect llama3 --config 8B")


def _inspect_blocks(_: Path) -> str:
    with _folder():
        return session("inspect llama3 --config 8B --by block --depth 2")


def _inspect_several(_: Path) -> str:
    with _folder():
        return session("inspect llama3 qwen3 gemma3 --dtype bf16")


def _width(_: Path) -> str:
    with _folder():
        return session("render gqa -f pdf --width 3.25in")


def _difference(_: Path) -> str:
    with _folder():
        text = session("diff gpt2 llama3", most=8)
    return re.sub(r" {2,}\[[^\]\n]*\]$", "", text, flags=re.MULTILINE)


def _run(_: Path) -> str:
    with _folder():
        return session("run gqa --seed 3")


MODEL = """\
{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 2048,
 "intermediate_size": 8192, "num_hidden_layers": 24, "num_attention_heads": 32,
 "num_key_value_heads": 8, "vocab_size": 49152, "tie_word_embeddings": true,
 "rms_norm_eps": 1e-05, "rope_theta": 130000, "atention_bias": false}
"""


def _your_model(_: Path) -> str:
    with _folder() as folder:
        (folder / "model").mkdir()
        (folder / "model" / "config.json").write_text(MODEL, encoding="utf-8")
        return session("import model/")


def _verify(_: Path) -> str:
    from transformer_diagrams.api import Model
    from transformer_diagrams.families.tensors import verify

    with _folder() as folder:
        (folder / "model").mkdir()
        (folder / "model" / "config.json").write_text(MODEL.replace("atent", "attent"), "utf-8")
        adopted = Model.find("model").adopted
        assert adopted is not None
        shapes = {
            name: {"shape": [*reversed(shape)] if "down_proj" in name else shape}
            for name, shape in verify(adopted, {}).missing.items()
            if "post_attention_layernorm" not in name
        }
        head = json.dumps(shapes).encode()
        (folder / "model" / "model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head)
        return session("verify model/")


def _parity(root: Path) -> str:
    model = (root / "tests" / "cases" / "parity" / "gpt2").resolve()
    with _folder() as folder:
        copytree(model, folder / "model")
        return session("run model/ --inputs model/io.npz --against model/io.npz")


PARTS: Mapping[str, Callable[[Path], str]] = {
    "console-starter": _starter,
    "console-misspelt": _misspelt,
    "console-misshapen": _misshapen,
    "console-inspect": _inspect_model,
    "console-inspect-blocks": _inspect_blocks,
    "console-inspect-several": _inspect_several,
    "console-width": _width,
    "console-diff": _difference,
    "console-run": _run,
    "console-import": _your_model,
    "console-verify": _verify,
    "console-parity": _parity,
}
