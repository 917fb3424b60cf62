"""Claims of equality: those of the bundled specs hold, false ones fail; identities on our specs.

The identities are those that a textbook states of attention and its relatives; each is tried in
float64 on random numbers, so what is left is rounding.
"""

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
from transformer_diagrams.run.matches import MatchError, made
from transformer_diagrams.run.tensors import drawn

RNG = np.random.default_rng(0)
SPECS = Path(__file__).parent.parent / "specs"
CLAIMING = sorted(p.stem for p in SPECS.rglob("*.yaml") if "\nequals:" in p.read_text("utf-8"))


def numbers(model: td.Model, **sizes: Any) -> dict[str, Any]:
    """Weights and buffers by chance."""
    frame = model.frame(set=sizes)
    return drawn(run.tensors(frame), 3)


def close(a: Any, b: Any) -> bool:
    return bool(np.allclose(a, b, rtol=0, atol=1e-12))


# -- the bundled claims -----------------------------------------------------------------------


@pytest.mark.parametrize("name", CLAIMING)
def test_what_a_bundled_spec_claims_holds(name: str) -> None:
    for proof in td.load(name).prove(tries=3):
        assert proof.holds(1e-12), (proof.claim.spec.value, proof.difference)
        assert proof.largest > 0.01
        assert len(proof.sizes) == 3


def test_there_are_enough_of_them() -> None:
    assert sum(len(td.load(name).spec.equals) for name in CLAIMING) >= 30


def test_sizes_that_are_tried_differ_and_keep_what_is_given() -> None:
    proof = td.load("gqa").prove(tries=4)[0]
    assert len({tuple(sorted(sizes.items())) for sizes in proof.sizes}) == 4
    assert all(sizes["n_g"] == 1 for sizes in proof.sizes)


# -- claims made false on purpose ----------------------------------------------------------------


def mutant(name: str, claim: str, *edits: tuple[str, str]) -> td.Model:
    """A bundled spec with a claim of its own and something changed in it."""
    text = next(SPECS.rglob(f"{name}.yaml")).read_text("utf-8")
    for before, after in edits:
        assert before in text, before
        text = text.replace(before, after)
    head, _, rest = text.partition("\nequals:\n")
    if rest:
        text = head + "\n" + "".join(
            line for line in _after_claims(rest.splitlines(keepends=True))
        )
    at = "\nshow:" if "\nshow:" in text else "\nblocks:"
    return td.load(f"{name}-mutant", text=text.replace(at, f"\nequals:\n  - {claim}{at}", 1))


def _after_claims(lines: list[str]) -> list[str]:
    first = next(n for n, line in enumerate(lines) if line[0] not in " \n")
    return lines[first:]


REPEATED = "axes: {r: n_h / n_g}, weights: {k.W: '%s', v.W: '%s'}"
IN_GROUPS = REPEATED % ("k.W | g m d -> (g r) m d", "v.W | g m d -> (g r) m d")
ACROSS = REPEATED % ("k.W | g m d -> (r g) m d", "v.W | g m d -> (r g) m d")
ABSORBED = "{spec: mla-absorbed, weights: {q_a.W: k.W | n_h d_c d_K -> n_h d_K d_c}}"
TRUE_AND_FALSE = [
    ("gqa", f"{{spec: gqa, with: {{n_g: n_h}}, {IN_GROUPS}}}", [], True),
    ("gqa", f"{{spec: gqa, with: {{n_g: n_h}}, {ACROSS}}}", [], False),
    ("mla", ABSORBED, [], True),
    ("mla", ABSORBED, [("by: 1/sqrt(d_K)", "by: 1/sqrt(d_c)")], False),
    ("mla", ABSORBED.replace("n_h d_K d_c}", "n_h d_K d_c}, outputs: {scores: q}"), [], None),
    ("mla", ABSORBED, [("rmsnorm, id: c_kv", "layernorm, id: c_kv, bias: false")], False),
    ("gqa", "{spec: gqa}", [(f"rope, id: {x}_turned,", f"rope, pairs: halves, id: {x}_turned,")
                            for x in "qk"], False),
    ("gqa", "{spec: gqa}", [("rope, id: k_turned,", "rope, base: 500, id: k_turned,")], False),
    ("gqa", "{spec: gqa}", [("by: 1/sqrt(d_K)", "by: 1/d_K")], False),
    ("gqa", "{spec: gqa, given: {mask: none}, with: {mask: causal}}", [], False),
    ("swiglu", "{spec: swiglu, weights: {gate.W: up.W, up.W: gate.W}}", [], False),
    ("mha-packed", "{spec: mha-per-head, given: {lora: false}, weights: {"
     "q.W: q_plain.W | m (d h) -> h m d, k.W: k_plain.W | m (d h) -> h m d, "
     "v.W: v_plain.W | m (d h) -> h m d, o.W: o_plain.W}, axes: {h: n_h}}", [], False),
    ("dsa", "{spec: gqa, given: {k_I: 1}, with: {n_g: n_h, rope: false}}", [], False),
    ("moe-deepseek", "{spec: moe-deepseek, given: {routing: v3}, weights: {offset.value: '0'}}",
     [], False),
]  # fmt: skip


@pytest.mark.parametrize(("name", "claim", "edits", "holds"), TRUE_AND_FALSE)
def test_a_false_claim_fails(
    name: str, claim: str, edits: list[tuple[str, str]], holds: bool | None
) -> None:
    model = mutant(name, claim, *edits)
    if holds is None:  # tensors of different shapes are no claim at all
        with pytest.raises(DiagramError):
            model.prove(tries=3)
        return
    (proof,) = model.prove(tries=6)
    assert proof.holds() is holds
    if not holds:
        assert proof.difference > 1e-4


# -- the command, and what is refused -------------------------------------------------------------


def test_the_command_prints_and_leaves_with_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["prove", "mla", "--json", "--tries", "2"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [each["equals"] for each in told] == ["mla-absorbed", "mla-absorbed"]
    assert all(each["holds"] and each["difference"] < 1e-12 for each in told)
    text = mutant("gqa", "{spec: gqa}", ("by: 1/sqrt(d_K)", "by: 1/d_K")).data
    Path("wrong.yaml").write_bytes(text)
    assert main(["prove", "wrong.yaml"]) == 1
    assert "FAILS" in capsys.readouterr().out
    assert main(["prove", "wrong.yaml", "--tol", "1e6"]) == 0
    assert main(["prove", "ffn"]) == 0
    assert "claims nothing" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("{spec: mqaa}", "mqaa"),
        ("{given: {n_g: 1}}", "a claim needs 'spec'"),
        ("{spec: mqa, given: {n_x: 1}}", "'n_x' is neither a size nor an option"),
        ("{spec: mqa, for: 1}", "a claim has no key 'for'"),
        ("{spec: gqa, with: {n_x: 1}}", "'gqa' has no size or option 'n_x'"),
        ("{spec: gqa, with: {n_g: n_q}}", "'n_q' has no value here"),
        ("{spec: mqa, given: {n_g: 1, rope: false}}", "k.W is"),
        ("{spec: gqa, weights: {k.W: kk.W}}", "has no weight 'kk.W'"),
        ("{spec: gqa, weights: {k.W: 'k.W | a b -> b a'}}", "does not fit"),
        ("{spec: gqa, weights: {k.W: 'k.W | a b c'}}", "is no pattern"),
        ("{spec: ffn}", "up.W"),
        ("{spec: gqa, given: {mask: all}}", "option mask of 'gqa-mutant' cannot be 'all'"),
        ("{spec: gqa, outputs: {nothing: Y}}", "no block 'nothing'"),
    ],
)
def test_a_claim_that_cannot_be_measured_is_a_sentence(claim: str, words: str) -> None:
    with pytest.raises(DiagramError) as caught:
        mutant("gqa", claim).prove(tries=1)
    assert words in str(caught.value)


def test_a_tensor_is_made_of_others() -> None:
    a, b = RNG.normal(size=(2, 6)), RNG.normal(size=(6, 3))
    held = {"a.W": a, "b.W": b}
    find, sizes = held.__getitem__, {"n": 3}

    def of(*texts: str, shape: tuple[int, ...] = ()) -> Any:
        return made(texts, find, sizes, shape)

    assert np.array_equal(of("a.W"), a)
    assert np.array_equal(of("a.W | m (n k) -> n m k"), a.reshape(2, 3, 2).transpose(1, 0, 2))
    assert np.allclose(of("a.W, b.W | m h, h k -> m k"), a @ b)
    assert np.allclose(of("-0.5 * a.W + 2 * a.W"), 1.5 * a)
    assert np.allclose(of("a.W | m k -> k"), a.sum(axis=0))
    assert np.array_equal(of("a.W | m k -> m k | 1"), a[1])
    assert np.array_equal(of("a.W", "a.W"), np.concatenate([a, a], axis=-1))
    assert np.array_equal(of("1", shape=(2, 2)), np.ones((2, 2)))
    for wrong in ("a.W, b.W", "a.W | m k -> k m | 9", "a.W | m k"):
        with pytest.raises(MatchError):
            of(wrong)
