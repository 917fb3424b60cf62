"""Running specs: outputs against NumPy written out here, names, structures, caches, feedback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transformer_diagrams as td
from transformer_diagrams import run
from transformer_diagrams.cli.app import run as main
from transformer_diagrams.errors import DiagramError
from transformer_diagrams.run.arrays import Weights
from transformer_diagrams.run.execute import fits
from transformer_diagrams.run.formulas import bare
from transformer_diagrams.run.tensors import drawn


def spec(blocks: str, head: str = "") -> td.Model:
    """A spec of sizes d_t, d_m, L with one input x."""
    return td.load("tiny", text=f"""
dims:
  d_t: {{doc: positions, default: 3}}
  d_m: {{doc: width, default: 4}}
  L: {{doc: turns, default: 3}}
inputs: {{x: [d_t, d_m]}}
{head}
blocks:
{blocks}
""")


def weights_of(model: td.Model, **sizes: Any) -> dict[str, Any]:
    frame = model.frame(set=sizes)
    return drawn({**run.weights(frame), **run.buffers(frame)}, 7)


X = np.random.default_rng(0).normal(size=(3, 4))


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def test_gqa_is_what_the_paper_says() -> None:
    sizes = {"d_t": 5, "d_m": 8, "n_h": 4, "n_g": 2, "d_K": 6}
    model = td.load("gqa")
    w, x = weights_of(model, **sizes), np.random.default_rng(1).normal(size=(5, 8))

    def turned(y: Any) -> Any:
        angle = np.arange(5)[:, None] / 10000 ** (np.arange(0, 6, 2) / 6)
        z = (y[..., 0::2] + 1j * y[..., 1::2]) * np.exp(1j * angle)
        return np.stack([z.real, z.imag], -1).reshape(y.shape)

    heads = []
    for h in range(4):
        q, k = turned(x @ w["q.W"][h]), turned(x @ w["k.W"][h // 2])
        scores = np.where(np.tri(5) > 0, q @ k.T / np.sqrt(6), -np.inf)
        heads.append(softmax(scores) @ (x @ w["v.W"][h // 2]))
    wanted = np.concatenate(heads, axis=-1) @ w["o.W"]
    given = model.run({"X": x}, w, set=sizes)
    assert np.allclose(given.outputs["Y"], wanted, atol=1e-12)


def test_each_turn_has_its_own_weights_and_a_name() -> None:
    model = spec("""
  - repeat: L
    id: layers
    blocks:
      - residual: [{op: linear, id: f, out: d_m}]
""")
    w = weights_of(model)
    assert {name: value.shape for name, value in w.items()} == {
        f"layers[{turn}]/f.W": (4, 4) for turn in range(3)
    }
    ran = model.run({"x": X}, w, taps=["layers[*]"])
    stream = X
    for turn in range(3):
        stream = stream + stream @ w[f"layers[{turn}]/f.W"]
        assert np.allclose(ran.taps[f"layers[{turn}]"], stream)
    assert np.allclose(ran.outputs["out"], stream)


def test_turns_of_a_pattern_are_numbered_through() -> None:
    model = spec("""
  - repeat: L
    id: layers
    pattern:
      - turns: turn == 2
        blocks: [{op: linear, id: even, out: d_m}]
      - blocks: [{op: linear, id: odd, out: d_m, bias: true}]
""", "")
    w = weights_of(model)
    assert sorted(w) == ["layers[0]/odd.W", "layers[0]/odd.b", "layers[1]/even.W",
                         "layers[2]/odd.W", "layers[2]/odd.b"]
    y = X @ w["layers[0]/odd.W"] + w["layers[0]/odd.b"]
    y = y @ w["layers[1]/even.W"] @ w["layers[2]/odd.W"] + w["layers[2]/odd.b"]
    assert np.allclose(model.run({"x": X}, w).outputs["out"], y)


def test_carry_taps_from_outside_and_once() -> None:
    model = spec("""
  - {op: linear, id: stem, out: d_m}
  - repeat: L
    id: layers
    carry: h
    blocks:
      - {op: linear, id: f, out: d_m, from: stem, once: true}
      - {op: add, from: [prev, h]}
""")
    w = weights_of(model)
    assert sorted(w) == ["layers/f.W", "stem.W"]
    stem = X @ w["stem.W"]
    assert np.allclose(model.run({"x": X}, w).outputs["out"], stem + 3 * (stem @ w["layers/f.W"]))


def test_each_layer_takes_its_own_entry_in_patterns_and_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    head = "dims: {d_t: positions, d_m: width, L: layers}\n"
    head += "inputs: {x: [d_t, d_m], p: [d_t, L, d_m]}\n"
    Path("part.yaml").write_text(head + """
blocks:
  - {op: layer_entry, id: own, from: p}
  - {op: mul, from: [own, x]}
""", encoding="utf-8")
    Path("whole.yaml").write_text(head + """
blocks:
  - repeat: L
    pattern:
      - {use: part, id: one, from: {x: prev, p: p}}
      - {use: part, id: two, from: {x: prev, p: p}}
""", encoding="utf-8")
    x, p = np.ones((2, 3, 4)), np.random.default_rng(4).normal(size=(2, 3, 5, 4))
    ran = td.load("whole.yaml").run({"x": x, "p": p})
    assert np.allclose(ran.outputs["out"], p.prod(axis=2))


def test_shared_weights_go_by_the_name_of_their_block() -> None:
    model = spec("""
  - {op: linear, id: a, out: d_m}
  - {op: linear, id: b, out: d_m, share: a}
""")
    w = weights_of(model)
    assert sorted(w) == ["a.W"]
    assert np.allclose(model.run({"x": X}, w).outputs["out"], X @ w["a.W"] @ w["a.W"])


def test_a_tied_output_multiplies_by_the_table() -> None:
    model = td.load("tied", text="""
dims:
  d_t: {doc: positions, default: 3}
  d_m: {doc: width, default: 4}
  V: {doc: tokens, default: 6}
inputs: {tokens: {shape: [d_t], dtype: int}}
blocks:
  - {op: embedding, id: embed, vocab: V, width: d_m}
  - {op: tied_linear, id: head, table: embed, out: V, bias: true}
""")
    w, tokens = weights_of(model), np.array([5, 0, 2])
    assert sorted(w) == ["embed.E", "head.b"]
    wanted = w["embed.E"][tokens] @ w["embed.E"].T + w["head.b"]
    assert np.allclose(model.run({"tokens": tokens}, w).outputs["out"], wanted)


def test_every_weight_that_is_counted_has_a_name() -> None:
    """Weights by name add up to the count, which is published for these."""
    for name, config in (("gpt2", "small"), ("llama3", "8B"), ("deepseek-v3", None)):
        model = td.load(name)
        config = config if config in model.spec.configs else next(iter(model.spec.configs))
        sizes = {"d_t": 8}
        total = model.inspect(config, set=sizes)["params"]["total"]
        found = run.weights(model.frame(config, set=sizes))
        assert sum(int(np.prod(t.shape, dtype=object)) for t in found.values()) == total


def test_a_batch_is_executed_element_by_element() -> None:
    sizes = {"d_t": 5, "d_m": 8, "n_h": 4, "n_g": 2}
    model = td.load("gqa")
    w, x = weights_of(model, **sizes), np.random.default_rng(1).normal(size=(2, 3, 5, 8))
    both = model.run({"X": x}, w, set=sizes, taps=["scores"])
    one = model.run({"X": x[1, 2]}, w, set=sizes, taps=["scores"])
    assert np.array_equal(both.outputs["Y"][1, 2], one.outputs["Y"])
    assert np.array_equal(both.taps["scores"][1, 2], one.taps["scores"])


def test_one_token_at_a_time_through_the_cache_is_the_full_pass() -> None:
    sizes = {"d_t": 6, "d_m": 16, "n_h": 4, "n_g": 2, "d_h": 24, "L": 3, "V": 20}
    model = td.load("llama3")
    w, tokens = weights_of(model, **sizes), np.array([3, 1, 4, 1, 5, 9])
    (full,) = model.run({"tokens": tokens}, w, set=sizes).outputs.values()
    kept: dict[str, Any] = {}
    for step in range(6):
        now = {**sizes, "d_t": 1, "d_s": step + 1}
        ran = model.run({"tokens": tokens[step : step + 1]}, {**w, **kept}, set=now)
        (one,) = ran.outputs.values()
        assert np.allclose(one[0], full[step], atol=1e-12)
        kept = ran.caches
    assert len(kept) == 2 * 3


def test_feedback_begins_at_zero_and_goes_on() -> None:
    model = td.load("cell", text="""
dims: {d_x: {doc: width, default: 3}, d_h: {doc: state, default: 4}}
inputs: {x: [d_x]}
outputs: {y: {from: state, shape: [d_h]}}
blocks:
  - {op: linear, id: from_input, out: d_h}
  - {op: linear, id: from_state, out: d_h, from: {feedback: state}}
  - {op: add, from: [from_input, from_state]}
  - {op: activation, id: state, kind: tanh, shape: [d_h]}
""")
    w, rng, past, state = weights_of(model), np.random.default_rng(2), {}, np.zeros(4)
    for _ in range(3):
        x = rng.normal(size=3)
        ran = model.run({"x": x}, w, past=past)
        state = np.tanh(x @ w["from_input.W"] + state @ w["from_state.W"])
        assert np.allclose(ran.outputs["y"], state)
        past = ran.steps


def test_a_recurrence_goes_on_from_the_state_in_which_it_ended() -> None:
    text = """
dims: {d_t: positions, d_m: width}
inputs: {x: [d_t, d_m]}
blocks:
  - {op: linear, id: f, out: d_m}
  - {op: linear, id: g, from: x, out: d_m}
  - {op: sigmoid, id: decay}
  - {op: scan, id: state, from: [f, decay]}
"""
    model, x = td.load("recurrent", text=text), np.random.default_rng(3).normal(size=(2, 6, 4))
    w = weights_of(model, d_t=6, d_m=4)
    full = model.run({"x": x}, w, set={"d_t": 6}).outputs["out"]
    past: dict[str, Any] = {}
    for start in (0, 2, 4):
        ran = model.run({"x": x[:, start : start + 2]}, w, past=past)
        assert np.allclose(ran.outputs["out"], full[:, start : start + 2])
        past = ran.steps


def test_a_missing_library_is_a_sentence_and_exit_code_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from transformer_diagrams import extras

    there = extras.package_folder
    for gone, line in (("numpy", "run gqa"), ("einops", "prove gqa"), ("numpy", "prove gqa"),
                       ("safetensors", "run gqa --weights w.safetensors")):
        monkeypatch.setattr(extras, "package_folder",
                            lambda name, gone=gone: None if name == gone else there(name))
        assert main(line.split()) == 3
        words = capsys.readouterr().err
        assert f"'{gone}'" in words
        assert "pip install 'transformer-diagrams[run]'" in words


def test_what_is_only_there_in_training_runs_only_then() -> None:
    model = td.load("trained", text="""
dims: {d_t: {doc: positions, default: 3}, d_m: {doc: width, default: 4}}
inputs: {x: [d_t, d_m], target: {shape: [d_t, d_m], when: train}}
outputs: {y: {from: f, shape: [d_t, d_m]}, loss: {from: loss, shape: [], when: train}}
blocks:
  - {op: linear, id: f, out: d_m}
  - {op: mse, id: loss, from: [f, target], when: train}
""")
    w = weights_of(model)
    assert model.run({"x": X}, w).outputs.keys() == {"y"}
    both = model.run({"x": X, "target": X + 1}, w, train=True).outputs
    assert np.allclose(both["loss"], ((both["y"] - X - 1) ** 2).mean())


def test_copies_each_have_weights_and_the_first_is_read_on() -> None:
    model = spec("""
  - group:
      - {op: linear, id: f, out: d_m}
      - {op: linear, id: g, out: d_m}
    id: head
    copies: 2
""")
    w = weights_of(model)
    assert sorted(w) == ["head[0]/f.W", "head[0]/g.W", "head[1]/f.W", "head[1]/g.W"]
    ran = model.run({"x": X}, w, taps=["**"])
    assert np.allclose(ran.taps["head[1]/g"], X @ w["head[1]/f.W"] @ w["head[1]/g.W"])
    assert np.allclose(ran.outputs["out"], X @ w["head[0]/f.W"] @ w["head[0]/g.W"])


def test_a_box_is_refused_by_name_or_given() -> None:
    model = spec("""
  - {op: box, id: secret}
  - {op: linear, id: f, out: d_m}
""")
    w = weights_of(model)
    with pytest.raises(DiagramError, match=r"'secret' \(box\) does not say what it computes"):
        model.run({"x": X}, w)
    given = model.run({"x": X, "secret": X + 1}, w)
    assert np.allclose(given.outputs["out"], (X + 1) @ w["f.W"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"inputs": {"y": X}}, "no input and no block 'y'"),
        ({"inputs": {"x": X[0]}}, "another shape"),
        ({"weights": {"f.V": X}}, "there is no weight 'f.V'"),
        ({"weights": {"f.W": X}}, "'f.W' has another shape"),
    ],
)
def test_what_does_not_fit_is_said(change: dict[str, Any], message: str) -> None:
    model = spec("  - {op: linear, id: f, out: d_m}")
    with pytest.raises(DiagramError, match=message):
        model.run(change.get("inputs", {"x": X}), change.get("weights"))


def test_sizes_come_from_what_is_given_and_the_rest_is_small() -> None:
    ran = td.load("gqa").run({"X": np.ones((5, 12))})
    assert ran.outputs["Y"].shape == (5, 12)
    assert 12 % ran.numbers["n_h"] == 0 == ran.numbers["n_h"] % ran.numbers["n_g"]
    with pytest.raises(DiagramError, match="a run needs a number for d_m, n_h"):
        td.load("gqa").frame(set={"d_t": 3})


def test_a_run_that_does_not_fit_is_refused_with_an_estimate() -> None:
    """Llama 3 70B: 70.6 billion weights of 8 bytes. A million layers take no time to refuse."""
    with pytest.raises(DiagramError, match=r"about 56\d GB of memory: 56\d GB for weights"):
        td.load("llama3").run(config="70B")
    with pytest.raises(DiagramError, match="would not end"):
        td.load("llama3").run(set={"L": 1_000_000, "d_m": 64, "n_h": 4, "n_g": 2})


@pytest.mark.parametrize("name", ["llama3", "deepseek-v3", "t5", "swin-stage", "perceiver-io",
                                  "mtp-chained", "bottleneck-down"])
def test_what_is_found_has_the_shape_that_is_derived(name: str) -> None:
    misfits, seen = [], []

    def watch(name: str, shape: Any, value: Any) -> None:
        seen.append(name)
        if not fits(shape, value.shape):
            misfits.append((name, str(shape), value.shape))

    model = td.load(name)
    outputs = model.run(watch=watch).outputs
    assert not misfits
    assert len(set(seen)) == len(seen) > 10
    assert all(np.isfinite(y).all() for y in outputs.values())
    assert {bare(n) for n in seen} <= model.formulas().keys()


# -- the command ----------------------------------------------------------------------------------

TINY = """
dims: {d_t: positions, d_m: width}
inputs: {x: [d_t, d_m]}
outputs: {y: [d_t, d_m]}
blocks:
  - {op: linear, id: f, out: d_m, bias: true}
  - relu
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from safetensors.numpy import save_file

    monkeypatch.chdir(tmp_path)
    Path("tiny.yaml").write_text(TINY, encoding="utf-8")
    np.savez("x.npz", x=X)
    np.savez("words.npz", x=np.array([["a"]]))
    np.save("x.npy", X)
    save_file({"f.W": np.eye(4, dtype=np.float32), "f.b": np.ones(4, np.float32)}, "w.safetensors")
    return tmp_path


def test_the_command_runs_on_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = "run tiny.yaml --weights w.safetensors --inputs x.npz --save out.npz --json --only f"
    assert main(line.split()) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["sizes"] == {"d_t": 3, "d_m": 4}
    (row,) = told["blocks"]
    assert (row["name"], row["derived"], row["found"]) == ("f", "[d_t, d_m]", [3, 4])
    assert row["mean"] == pytest.approx(X.mean() + 1)
    with np.load("out.npz") as out:
        assert np.allclose(out["f"], X + 1)
        assert np.allclose(out["y"], np.maximum(X + 1, 0))


def test_weights_may_be_bfloat16(folder: Path) -> None:
    values = {"f.W": np.arange(16, dtype=np.float32).reshape(4, 4) - 8, "f.b": np.ones(4)}
    head, data = {}, b""
    for name, value in values.items():
        halves = (value.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()
        head[name] = {"dtype": "BF16", "shape": value.shape,
                      "data_offsets": [len(data), len(data) + len(halves)]}
        data += halves
    text = json.dumps(head).encode()
    Path("half.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)
    ran = td.load("tiny.yaml").run({"x": X}, Weights("half.safetensors"))
    assert np.allclose(ran.outputs["y"], np.maximum(X @ values["f.W"] + 1, 0))


@pytest.mark.parametrize(("tokens", "words"), [([3, 9], "cannot take 9"), ([-1], "cannot take -1"),
                                               ([0.5], "must hold whole numbers")])
def test_a_token_that_the_table_lacks_is_told(tokens: list[float], words: str) -> None:
    sizes = {"d_m": 4, "n_h": 2, "n_g": 1, "d_h": 4, "L": 1, "V": 9}
    with pytest.raises(DiagramError, match=words):
        td.load("llama3").run({"tokens": np.array(tokens)}, set=sizes)


def test_the_same_seed_gives_the_same_words(capsys: pytest.CaptureFixture[str]) -> None:
    def told(seed: int) -> str:
        assert main(["run", "gqa", "--seed", str(seed)]) == 0
        return capsys.readouterr().out

    assert told(1) == told(1) != told(2)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--weights x.npz", "x.npz"),
        ("--weights none.safetensors", "none.safetensors"),
        ("--inputs x.npy", "it holds one array, without a name"),
        ("--inputs words.npz", "'x' must hold real numbers"),
        ("--inputs w.safetensors", "an .npz file, as numpy.savez writes it"),
        ("--set d_m=5 --weights w.safetensors", "'f.W' has another shape"),
        ("--only nothing", "no output has the name 'nothing'"),
        ("--set d_x=5", "d_x"),
    ],
)
def test_a_wrong_file_or_name_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str], line: str, words: str
) -> None:
    assert main(["run", "tiny.yaml", *line.split()]) in (1, 2)
    assert words in capsys.readouterr().err


# -- every bundled spec -----------------------------------------------------------------------

SPECS = Path(__file__).parent.parent / "specs"
LARGE = {"deformable-detr", "mask2former-pixel-decoder", "clip-rn50", "maskformer", "resnet50",
         "llava-1.5", "mae"}
EVERY = [
    pytest.param(path.stem, id=path.stem,
                 marks=[pytest.mark.slow] if folder in ("vision", "multimodal") else [])
    for folder in ("attention", "blocks", "models", "multimodal", "parts", "position", "vision")
    for path in sorted((SPECS / folder).glob("*.yaml"))
    if path.stem not in LARGE
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", EVERY)
def test_a_bundled_spec_runs_or_says_what_has_no_value(name: str) -> None:
    misfits = []

    def watch(name: str, shape: Any, value: Any) -> None:
        if not fits(shape, value.shape):
            misfits.append((name, str(shape), value.shape))

    try:
        outputs = td.load(name).run(watch=watch).outputs
    except DiagramError as refused:
        (fault,) = refused.faults
        assert fault.code == "no-value"
        known = ("does not say what it computes", "needs a number for", "a cost is not finite")
        assert any(words in fault.message for words in known)
        return
    assert outputs
    assert not misfits
