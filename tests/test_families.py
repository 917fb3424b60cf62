"""Configurations of models: counts against those of the models' own code, and every key's fate."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from selection import mostly_slow

from transformer_diagrams.api import Model
from transformer_diagrams.cli.app import run
from transformer_diagrams.errors import DiagramError, Fault
from transformer_diagrams.families import schema
from transformer_diagrams.families.family import COMMON, HERE, family, family_ids
from transformer_diagrams.families.tensors import verify

CASES = Path(__file__).parent / "cases" / "models"
ROWS: dict[str, Any] = json.loads((CASES / "counts.json").read_text(encoding="utf-8"))
SERVED = {kind for id in family_ids() for kind in family(id).model_types}
COUNTED = [name for name, row in ROWS.items() if row["config"]["model_type"] in SERVED]
QUICK = ("01_gpt2_small", "12_deepseek_v3_mla", "gemma3_text", "falcon_rw", "phi3")


def model(tmp_path: Path, config: Any) -> Model:
    """The model whose configuration this is, as text or data."""
    file = tmp_path / "m" / "config.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(config if isinstance(config, str) else json.dumps(config, indent=1))
    return Model.find(str(file.parent))


def faults(tmp_path: Path, config: Any) -> list[Fault]:
    with pytest.raises(DiagramError) as caught:
        _ = model(tmp_path, config).spec
    return list(caught.value.faults)


def llama(**keys: Any) -> dict[str, Any]:
    return {**ROWS["llama_gqa"]["config"], **keys}


# -- what is counted


@pytest.mark.parametrize("name", mostly_slow(COUNTED, lambda name: name in QUICK))
def test_counts_are_those_of_the_models_own_code(tmp_path: Path, name: str) -> None:
    row = ROWS[name]
    found = model(tmp_path, row["config"]).inspect()
    assert found["params"]["total"] == row["total"]
    if row.get("naive") is not None:
        assert found["params"]["naive"] == row["naive"]
    if row.get("active") is not None:
        assert found["params"]["active"] == row["active"]
    if row.get("kv") is not None:
        assert found["kv_cache"]["per_token"] == row["kv"]


@pytest.mark.parametrize("name", mostly_slow(COUNTED, lambda name: name in QUICK))
def test_every_key_of_a_file_has_a_known_fate(tmp_path: Path, name: str) -> None:
    found = model(tmp_path, ROWS[name]["config"]).adopted
    assert found is not None
    assert not [fault for fault in found.warnings if fault.code == "unknown-key"]
    fate = {key.split(".")[0] for key in (*found.used, *found.nothing)}
    fate |= {fault.found for fault in found.warnings}
    assert {*ROWS[name]["config"]} - fate <= {*found.family.within.values()}


def test_the_text_part_of_a_model_with_a_vision_tower_is_read(tmp_path: Path) -> None:
    text = ROWS["gemma3_text"]["config"]
    config = {"model_type": "gemma3", "text_config": text, "vision_config": {"hidden_size": 8}}
    made = model(tmp_path, config)
    assert made.inspect()["params"]["total"] == ROWS["gemma3_text"]["total"]
    assert made.adopted is not None
    assert [fault.found for fault in made.adopted.warnings] == ["vision_config"]


def test_quantisation_changes_no_count(tmp_path: Path) -> None:
    plain = model(tmp_path, llama()).inspect()["params"]["total"]
    config = llama(quantization_config={"quant_method": "bitsandbytes", "load_in_4bit": True})
    assert model(tmp_path, config).inspect()["params"]["total"] == plain


# -- what is refused, and where


def bad(name: str) -> list[Fault]:
    (path,) = CASES.glob(f"{name}_*.json")
    with pytest.raises(DiagramError) as caught:
        _ = Model.find(str(path)).spec
    return list(caught.value.faults)


def test_x01_an_unknown_type_names_the_nearest_family() -> None:
    (fault,) = bad("X01")
    assert (fault.code, fault.span.line) == ("unknown-family", 5)
    assert "'whatever'" in fault.message
    assert "the nearest family is" in fault.hint


def test_x02_no_model_type_is_said_and_the_guess_is_one() -> None:
    (fault,) = bad("X02")
    assert fault.code == "unknown-family"
    assert "has no 'model_type'" in fault.message
    assert "by its keys alone" in fault.hint


def test_x03_heads_that_do_not_divide_are_refused_with_both_numbers() -> None:
    (fault,) = bad("X03")
    assert "1000" in fault.message
    assert "12" in fault.message
    assert fault.path == "hidden_size, num_attention_heads"


def test_x04_key_value_heads_that_do_not_divide_are_refused_by_key() -> None:
    (fault,) = bad("X04")
    assert fault.span.line == 10
    assert fault.found == "num_attention_heads = 16, num_key_value_heads = 6"


def test_x07_sizes_further_down_are_found_and_not_replaced() -> None:
    (fault,) = bad("X07")
    assert "sizes stand in thinker_config.text_config" in fault.hint


def test_x09_numbers_that_are_no_sizes_are_refused_by_key() -> None:
    assert [fault.path for fault in bad("X09")] == ["hidden_size", "num_hidden_layers"]


def test_x10_what_is_no_json_has_a_place() -> None:
    (fault,) = bad("X10")
    assert (fault.span.line, fault.span.column) == (1, 25)


def test_x11_a_git_lfs_pointer_is_called_one() -> None:
    assert "Git LFS pointer" in bad("X11")[0].message


@pytest.mark.parametrize(
    ("keys", "path", "words"),
    [
        ({"hidden_size": "32"}, "hidden_size", "is 32"),
        ({"hidden_size": 32.5}, "hidden_size", "is 32.5"),
        ({"num_hidden_layers": True}, "num_hidden_layers", "is true"),
        ({"vocab_size": [1]}, "vocab_size", "is [1]"),
        ({"hidden_act": "relu"}, "hidden_act", "cannot be relu"),
        ({"tie_word_embeddings": "yes"}, "tie_word_embeddings", "cannot be yes"),
    ],
)
def test_a_wrong_value_is_refused_at_its_place(
    tmp_path: Path, keys: dict[str, Any], path: str, words: str
) -> None:
    (fault,) = faults(tmp_path, llama(**keys))
    assert fault.path == path
    assert words in fault.message
    text = (tmp_path / "m" / "config.json").read_text().splitlines()
    assert f'"{path}"' in text[fault.span.line - 1]
    assert fault.span.column == text[fault.span.line - 1].index(":") + 3 + (
        isinstance(next(iter(keys.values())), str)
    )


def test_a_list_of_the_wrong_length_is_refused_by_key(tmp_path: Path) -> None:
    config = {**ROWS["gemma3_text"]["config"], "layer_types": ["sliding_attention"] * 4}
    assert {fault.code for fault in faults(tmp_path, config)} == {"wrong-length"}


def test_layers_in_no_repeating_order_are_refused(tmp_path: Path) -> None:
    kinds = ["full_attention", "sliding_attention", "sliding_attention"]
    config = {**ROWS["gemma3_text"]["config"], "layer_types": kinds}
    assert {fault.path for fault in faults(tmp_path, config)} == {"layer_types"}


def test_not_a_number_is_refused(tmp_path: Path) -> None:
    (fault,) = faults(tmp_path, '{"model_type": "llama", "rope_theta": NaN}')
    assert fault.message == "this is no JSON: NaN is no number of JSON"


def test_text_in_any_script_keeps_the_places(tmp_path: Path) -> None:
    text = '{"model_type": "llama", "x": "\\ud83d\\ude00", "vocab_size": -1}'
    (fault,) = faults(tmp_path, text)
    assert (fault.path, fault.span.column) == ("vocab_size", text.index("-1") + 1)


# -- what is said


def test_an_unknown_key_is_a_warning_and_strictly_an_error(tmp_path: Path) -> None:
    config = llama(hidden_sizes=3)
    (warning,) = model(tmp_path, config).adopted.warnings  # type: ignore[union-attr]
    assert warning.code == "unknown-key"
    assert "hidden_size" in warning.hint
    folder = str(tmp_path / "m")
    assert run(["import", folder]) == 0
    assert run(["import", folder, "--strict"]) == 1


def test_what_is_filled_in_is_named(tmp_path: Path, capfd: Any) -> None:
    config = llama()
    del config["tie_word_embeddings"], config["head_dim"]
    found = model(tmp_path, config).adopted
    assert found is not None
    assert found.defaults == {"d_K": "8", "tied": "false"}
    assert run(["inspect", str(tmp_path / "m")]) == 0
    assert "filled in: d_K = 8, tied = false" in capfd.readouterr().err


def test_a_size_that_a_second_key_says_is_not_filled_in(tmp_path: Path) -> None:
    labels = {"id2label": {"0": "cat", "1": "dog", "2": "bird"}}
    plain = {**ROWS["vit_cls"]["config"]}
    plain.pop("id2label")
    for said, classes in ((labels, 3), ({"num_labels": 4}, 4), ({}, 2)):
        adopted = model(tmp_path, {**plain, **said}).adopted
        assert adopted is not None
        assert adopted.numbers["C"] == classes
        assert adopted.defaults.get("C") == (None if said else "2")


def test_another_head_is_said(tmp_path: Path) -> None:
    found = model(tmp_path, llama(architectures=["LlamaForSequenceClassification"])).adopted
    assert found is not None
    assert [fault.code for fault in found.warnings] == ["other-class"]


def test_import_writes_a_spec_of_the_same_counts(tmp_path: Path) -> None:
    for name in ("01_gpt2_small", "gemma3_text", "12_deepseek_v3_mla"):
        made = model(tmp_path, ROWS[name]["config"])
        target = tmp_path / "mine.yaml"
        assert run(["import", str(tmp_path / "m"), "-o", str(target)]) == 0
        again = Model.find(str(target))
        assert again.check().ok
        (config,) = again.spec.configs
        assert again.inspect(config)["params"]["total"] == ROWS[name]["total"]
        assert made.spec.id in again.spec.builds_on[0].value


def test_a_figure_of_a_model_shows_its_sizes(tmp_path: Path) -> None:
    svg = str(model(tmp_path, ROWS["04_llama31_8b_rope_type"]["config"]).render("svg"))
    assert "14336" in svg


def test_two_models_are_compared_with_their_sizes(tmp_path: Path, capfd: Any) -> None:
    for name, keys in (("a", {}), ("b", {"num_hidden_layers": 5})):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps(llama(**keys)))
    assert run(["diff", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    assert re.search(r"!= L +2 +5", capfd.readouterr().out)


def test_a_spec_is_not_imported() -> None:
    assert run(["import", "llama3"]) == 2


# -- the files of the families


@pytest.mark.parametrize("id", [*family_ids(), COMMON])
def test_the_file_of_a_family_is_sound(id: str) -> None:
    assert not schema.check(HERE / f"{id}.yaml").faults


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("spec: llama3", "spec: lama3", "no bundled spec is 'lama3'"),
        ("  d_h:", "  d_hh:", "has no size 'd_hh'"),
        ("  tied:", "  tide:", "has no option 'tide'"),
        ("default: d_m / n_h", "default: d_m / n_x", "n_x is no size said above"),
        ("default: d_m / n_h", "default: d_m /", "this is no formula"),
        ("key: hidden_size,", "kye: hidden_size,", "kye"),
        ("sizes:\n", "sizse:\n", "sizse"),
        ("values: [silu, swish]", "values: silu", "silu"),
    ],
)
def test_a_fault_in_the_file_of_a_family_is_told_by_line(
    before: str, after: str, words: str
) -> None:
    path = HERE / "llama.yaml"
    text = path.read_text(encoding="utf-8")
    assert before in text
    report = schema.check(path, text.replace(before, after, 1))
    line = text[: text.index(before)].count("\n") + 1
    assert any(words in f.message and f.span.line in (0, 1, line) for f in report.faults)


def test_no_two_families_serve_one_type() -> None:
    kinds = [kind for id in family_ids() for kind in family(id).model_types]
    assert len(kinds) == len({*kinds})


# -- checkpoints

TENSORS: dict[str, dict[str, list[int]]] = json.loads((CASES / "tensors.json").read_text())


def header(path: Path, shapes: dict[str, list[int]]) -> None:
    """A safetensors file without a weight: only its header is ever read."""
    entries = {n: {"dtype": "F32", "shape": s, "data_offsets": [0, 0]} for n, s in shapes.items()}
    text = json.dumps({"__metadata__": {"format": "pt"}, **entries}).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text)


def checkpoint(tmp_path: Path, name: str, shapes: dict[str, list[int]]) -> Model:
    made = model(tmp_path, ROWS[name]["config"])
    header(tmp_path / "m" / "model.safetensors", shapes)
    return made


@pytest.mark.parametrize("name", mostly_slow(TENSORS, lambda name: name in QUICK))
def test_a_checkpoint_of_the_models_own_code_verifies(tmp_path: Path, name: str) -> None:
    verdict, total = checkpoint(tmp_path, name, TENSORS[name]).verify()
    assert verdict.clean, verdict.as_json()
    assert verdict.elements == total == ROWS[name]["total"]


def without(shapes: dict[str, list[int]], name: str) -> dict[str, list[int]]:
    return {each: shape for each, shape in shapes.items() if each != name}


NORM = "model.layers.1.input_layernorm.weight"
GATE = "model.layers.0.mlp.gate_proj.weight"


@pytest.mark.parametrize(
    ("mutant", "kind"),
    [
        (lambda s: without(s, NORM), "missing"),
        (lambda s: {**s, GATE: s[GATE][::-1]}, "misshaped"),
        (lambda s: {**s, "model.layers.2.input_layernorm.weight": [32]}, "unexpected"),
        (lambda s: {**without(s, GATE), "model.layers.0.mlp.w1.weight": s[GATE]}, "unexpected"),
        (lambda s: {**s, "model.layers.0.self_attn.q_proj.bias": [48]}, "unexpected"),
        (lambda s: without(s, "lm_head.weight"), "missing"),
    ],
)
def test_a_wrong_checkpoint_is_found(tmp_path: Path, mutant: Any, kind: str) -> None:
    verdict, _ = checkpoint(tmp_path, "llama_gqa", mutant(TENSORS["llama_gqa"])).verify()
    assert not verdict.clean
    assert getattr(verdict, kind)


def test_another_model_s_checkpoint_is_found(tmp_path: Path) -> None:
    verdict, _ = checkpoint(tmp_path, "qwen2", TENSORS["qwen3"]).verify()
    assert {"model.layers.0.self_attn.q_norm.weight"} <= verdict.unexpected.keys()


def test_tied_copies_buffers_and_scales_are_told_apart(tmp_path: Path) -> None:
    more = {
        "lm_head.weight": [101, 32],
        "model.layers.0.self_attn.rotary_emb.inv_freq": [6],
        "model.layers.0.mlp.up_proj.weight_scale_inv": [1, 1],
    }
    verdict, _ = checkpoint(tmp_path, "qwen3", {**TENSORS["qwen3"], **more}).verify()
    assert verdict.clean
    assert (len(verdict.copies), len(verdict.buffers), len(verdict.quantised)) == (1, 1, 1)


def test_a_file_without_the_head_class_s_prefix_verifies(tmp_path: Path) -> None:
    bare = {name.removeprefix("transformer."): s for name, s in TENSORS["gpt2"].items()}
    assert checkpoint(tmp_path, "gpt2", bare).verify()[0].clean


def test_a_hundred_shards_are_read_by_their_index(tmp_path: Path) -> None:
    config = ROWS["12_deepseek_v3_mla"]["config"]
    made = model(tmp_path, config)
    assert made.adopted is not None
    nothing = verify(made.adopted, {})
    names = sorted(nothing.missing.items())
    shards = [f"model-{number:05}-of-00100.safetensors" for number in range(1, 101)]
    for number, shard in enumerate(shards):
        header(tmp_path / "m" / shard, {n: list(s) for n, s in names[number::100]})
    weight_map = {name: shards[number % 100] for number, (name, _) in enumerate(names)}
    (tmp_path / "m" / "model.safetensors.index.json").write_text(
        json.dumps({"weight_map": weight_map})
    )
    verdict, total = made.verify()
    assert verdict.clean
    assert verdict.elements == total == 671_026_404_352


def test_verify_leaves_with_1_and_folds_the_layers(tmp_path: Path, capfd: Any) -> None:
    shapes = {n: s for n, s in TENSORS["llama_gqa"].items() if "input_layernorm" not in n}
    checkpoint(tmp_path, "llama_gqa", shapes)
    assert run(["verify", str(tmp_path / "m")]) == 1
    assert "missing     model.layers.0-1.input_layernorm.weight  [32]" in capfd.readouterr().out
    assert run(["verify", str(tmp_path / "m"), "--json"]) == 1
    assert len(json.loads(capfd.readouterr().out)["missing"]) == 2


@pytest.mark.parametrize("data", [b"", b"12345678", (1 << 60).to_bytes(8, "little")])
def test_a_broken_checkpoint_is_told(tmp_path: Path, data: bytes) -> None:
    made = model(tmp_path, llama())
    (tmp_path / "m" / "model.safetensors").write_bytes(data)
    with pytest.raises(DiagramError, match="cannot be read"):
        made.verify()


def test_without_a_checkpoint_verify_says_so(tmp_path: Path) -> None:
    with pytest.raises(DiagramError, match="No such file"):
        model(tmp_path, llama()).verify()


def test_a_shard_elsewhere_is_refused(tmp_path: Path) -> None:
    made = model(tmp_path, llama())
    index = {"weight_map": {"a": "../other.safetensors"}}
    (tmp_path / "m" / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(DiagramError, match="lies elsewhere"):
        made.verify()
