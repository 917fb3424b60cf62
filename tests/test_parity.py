"""Bundled specs compute what the models' own code computes: tiny models written by it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from transformer_diagrams import run
from transformer_diagrams.api import Model, load
from transformer_diagrams.cli.app import run as main
from transformer_diagrams.errors import DiagramError
from transformer_diagrams.families import adopt
from transformer_diagrams.families.family import family, family_ids
from transformer_diagrams.run.adopted import Checkpoint
from transformer_diagrams.run.constants import constants, with_constants

HERE = Path(__file__).parent / "cases" / "parity"
BESIDE = Path(__file__).parents[2] / "shared" / "parity"

EVERY = (
    "bert_mlm", "bloom", "cohere2", "deepseek_v2", "deepseek_v2_group", "deepseek_v3",
    "deit_teacher",
    "falcon_7b", "falcon_rw", "gemma2", "gemma3_text", "glm4_moe", "gpt2", "gpt_neox", "gpt_oss",
    "gptj", "llama3_rope", "llama_gqa", "mixtral", "mpt", "olmo2", "opt", "phi3",
    "phi3_longrope_long", "qwen2", "qwen3", "qwen3_moe", "smollm3", "stablelm", "t5_relu",
    "vit_cls",
)  # fmt: skip
QUICK = {"gpt2", "llama_gqa", "phi3", "gpt_oss"}


def folder(name: str) -> Path:
    """A model's folder: a copy of this repository, or one that lies beside it."""
    found = HERE / name if (HERE / name).is_dir() else BESIDE / name
    if not found.is_dir():
        pytest.skip(f"the reference model '{name}' lies beside the repository: no {found}")
    return found


def arrays(where: Path) -> dict[str, Any]:
    with np.load(where / "io.npz") as file:
        return {name: file[name] for name in file.files}


def differences(where: Path, **changed: Any) -> dict[str, float]:
    """By array; what an input mask makes of the outputs is not compared."""
    given = arrays(where)
    rows = load(str(where)).parity(given, given, set=changed)
    return {row.name: row.difference for row in rows if "mask" not in row.name}


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in EVERY],
)
def test_outputs_and_hidden_states_are_those_of_the_models_own_code(name: str) -> None:
    found = differences(folder(name))
    assert {"logits", "hidden_1"} <= found.keys() or {"logits", "decoder_hidden_1"} <= found.keys()
    assert max(found.values()) < 1e-9, found
    verdict, total = load(str(folder(name))).verify()
    assert verdict.clean
    assert verdict.elements == total
    kept = json.loads((folder(name) / "note.json").read_text())["kv_cache"]
    if kept is not None:  # as measured; an encoder has none
        found_kept = load(str(folder(name))).inspect()["kv_cache"]["per_token"]
        assert found_kept == kept["elements_per_token"]


# -- what must be found ---------------------------------------------------------------------------


def broken(tmp_path: Path, name: str, change: Callable[[dict[str, Any]], None]) -> Path:
    """A copy of a model with other tensors."""
    made = tmp_path / name
    shutil.copytree(folder(name), made)
    tensors = load_file(made / "model.safetensors")
    change(tensors)
    save_file({n: np.ascontiguousarray(t) for n, t in tensors.items()}, made / "model.safetensors")
    return made


def rolled(tensors: dict[str, Any]) -> None:
    """Queries, keys and values of one layer in another order."""
    name = "h.0.attn.c_attn.weight"
    key = next(each for each in tensors if each.endswith(name))
    tensors[key] = np.roll(tensors[key], 32, axis=1)


def turned(tensors: dict[str, Any]) -> None:
    """A square matrix that lies the other way: no shape tells it."""
    key = next(each for each in tensors if each.endswith("h.0.attn.c_proj.weight"))
    tensors[key] = tensors[key].T


@pytest.mark.parametrize("change", [rolled, turned])
def test_what_no_shape_shows_is_found_by_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: Callable[[dict[str, Any]], None]
) -> None:
    made = broken(tmp_path, "gpt2", change)
    assert load(str(made)).verify()[0].clean
    found = differences(made)
    assert found["hidden_0"] < 1e-9
    assert found["hidden_1"] > 1e-3
    file = str(made / "io.npz")
    assert main(["run", str(made), "--inputs", file, "--against", file]) == 1
    assert "1 of 4 agree" in capsys.readouterr().out


def test_a_norm_that_is_missing_is_found_by_verify_and_named_by_a_run(tmp_path: Path) -> None:
    name = "model.layers.1.post_attention_layernorm.weight"
    made = broken(tmp_path, "llama_gqa", lambda tensors: tensors.__delitem__(name))
    assert list(load(str(made)).verify()[0].missing) == [name]
    with pytest.raises(DiagramError, match="the checkpoint has no"):
        differences(made)


def test_another_spec_is_found(tmp_path: Path) -> None:
    """Qwen2 is Llama with biases on three matrices: without them the tensors are too many."""
    made = tmp_path / "model"
    shutil.copytree(folder("llama_gqa"), made)
    config = json.loads((made / "config.json").read_text())
    config |= {"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"]}
    (made / "config.json").write_text(json.dumps(config))
    assert not load(str(made)).verify()[0].clean


@pytest.mark.parametrize(
    ("name", "constant", "value"),
    [
        ("llama_gqa", "rmsnorm.eps", "1e-6"),
        ("llama_gqa", "rope.base", "10000"),
        ("llama_gqa", "rope.pairs", "interleaved"),
        ("gpt2", "activation.form", "exact"),
        ("gpt2", "positions.offset", "1"),
    ],
)
def test_each_constant_changes_what_comes_out(name: str, constant: str, value: str) -> None:
    assert differences(folder(name), **{constant: value})["logits"] > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "constant", "value"),
    [
        ("llama3_rope", "rope.scaling", "linear"),
        ("phi3_longrope_long", "rope.attention", "1"),
        ("gemma2", "attention/softcap.cap", "5"),
        ("gemma2", "embed.times", "1"),
        ("gemma3_text", "window_layers/rope.base", "10000"),
        ("gpt_oss", "experts.limit", "7"),
        ("gpt_oss", "rope.truncate", "true"),
        ("deepseek_v2", "attention/scale.mscale", "0"),
        ("deepseek_v3", "gates_v3_scaled.by", "1"),
        ("cohere2", "scaled_logits.by", "1"),
        ("t5_relu", "rel_bias.distance", "128"),
        ("falcon_rw", "rel_bias.times", "1"),
    ],
)
def test_constants_of_these_models_change_what_comes_out(
    name: str, constant: str, value: str
) -> None:
    assert differences(folder(name), **{constant: value})["logits"] > 1e-7


# -- constants ------------------------------------------------------------------------------------


def test_the_most_particular_selector_counts() -> None:
    frame = load("gemma2").frame("2B", set={"d_t": 4})
    made = constants(with_constants(frame, {
        "softcap.cap": 3, "*attention/softcap.cap": 4, "full_layer/full_attention/softcap.cap": 5,
    }))  # fmt: skip
    caps = {path: value for path, value in made.items() if path.endswith(".cap")}
    assert sorted(caps.values()) == [3, 4, 5]
    assert next(v for p, v in caps.items() if "window_layer" in p) == 4


@pytest.mark.parametrize(
    ("set_", "message"),
    [("rope.bse=3", "no size or option"), ("rop.base=3", "did you mean 'rope.base'"),
     ("rope.base=many", "expected:"),
     ("rope.pairs=thirds", "interleaved or halves")],
)  # fmt: skip
def test_a_wrong_constant_is_told(
    capsys: pytest.CaptureFixture[str], set_: str, message: str
) -> None:
    assert main(["run", "llama3", "--set", set_]) in (1, 2)
    assert message in capsys.readouterr().err


def test_a_scaling_that_is_not_computed_is_drawn_and_counted_but_not_run(tmp_path: Path) -> None:
    made = tmp_path / "model"
    shutil.copytree(folder("llama_gqa"), made)
    config = json.loads((made / "config.json").read_text())
    config["rope_parameters"] |= {"rope_type": "dynamic", "factor": 2.0}
    (made / "config.json").write_text(json.dumps(config))
    assert load(str(made)).render("svg").data
    assert load(str(made)).verify()[0].clean
    with pytest.raises(DiagramError, match="scaling 'dynamic' of rotary positions is not computed"):
        differences(made)


def test_a_config_sets_constants_and_a_wrong_one_is_told_in_its_line() -> None:
    text = """
dims: {d_t: positions, d_m: width}
configs: {small: {d_t: 2, d_m: 4, rmsnorm.eps: 3.5}}
inputs: {x: [d_t, d_m]}
blocks: [rmsnorm]
"""
    x = np.arange(8.0).reshape(2, 4)
    found = load("tiny", text=text).run({"x": x}, {"rmsnorm.gain": np.ones(4)}, config="small")
    (y,) = found.outputs.values()
    assert np.allclose(y, x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 3.5))
    assert load("tiny", text=text).validate().ok
    with pytest.raises(DiagramError) as error:
        load("tiny", text=text.replace("eps", "epsilon"))
    assert [(fault.code, fault.span.line) for fault in error.value.faults] == [("unknown-dim", 3)]


def test_inspect_tells_the_constants_of_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(folder("llama_gqa")), "-v"]) == 0
    told = capsys.readouterr().out
    assert "repeat/residual/attention/q_turned.pairs = halves" in told
    assert "last_norm.eps = 0.001" in told
    assert main(["inspect", str(folder("llama_gqa")), "-v", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["constants"]["last_norm.eps"] == 0.001


# -- families -------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", [id for id in family_ids() if family(id).weights])
def test_every_weight_of_the_spec_is_said_to_be_a_tensor(id: str) -> None:
    """Under the defaults of the family: each weight has a rule, whose tensors are in its table."""
    types = family(id).model_types[0]
    classes = [*family(id).classes[:1]]
    text = json.dumps({"model_type": types, "architectures": classes})
    try:
        adopted = adopt(text.encode(), "config.json", "model")
    except DiagramError:
        pytest.skip("a key of this family has no default")
    model = Model(load(family(id).spec).data, label="m", adopted=adopted)
    sizes = {"d_t": 2, "d_m": 8, "n_h": 2, "n_g": 1, "d_K": 4, "d_h": 4, "V": 5, "L": 4, "N": 4,
             "K": 2, "d_e": 4}  # fmt: skip
    options = {name: value.value for name, value in adopted.taken.items()
               if name in model.spec.options}  # fmt: skip
    fits = {n: s for n, s in sizes.items() if n in model.spec.dims}
    try:
        frame = load(family(id).spec).frame(set={**fits, **options})
    except DiagramError:
        pytest.skip("the small sizes do not fit this spec")
    wanted = run.weights(frame)
    assert wanted.keys() == set(Checkpoint(adopted, wanted, {}, {}))
