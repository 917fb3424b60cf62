"""The Python interface, and what stands behind it: options, the store, the figures' job."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import json
import pickle
import subprocess
import sys
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from selection import FEW, mostly_slow

import transformer_diagrams as td
from transformer_diagrams import api, figures, files, records, store
from transformer_diagrams.api import load, locate, reading_order
from transformer_diagrams.bundled import bundled_dir, bundled_specs
from transformer_diagrams.dump import to_plain
from transformer_diagrams.errors import DiagramError, Fault, Span
from transformer_diagrams.graph.infer import Inference
from transformer_diagrams.graph.options import Settings
from transformer_diagrams.options import AskError, Options, points, settle
from transformer_diagrams.spec.model import Show, Spec

ROOT = Path(__file__).resolve().parent.parent

TEXT = """title: Small model
dims: {d_t: positions, d_m: width}
configs: {tiny: {d_m: 8}}
inputs: {x: [d_t, d_m]}
blocks:
  - rmsnorm
  - {op: linear, id: up, out: 4 d_m, bias: false}
"""
USER = """title: User
dims: {d_t: positions, d_m: width}
inputs: {x: [d_t, d_m]}
blocks: [{use: small, id: part}]
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSFORMER_DIAGRAMS_CACHE", str(tmp_path / "cache"))


# -- the package's face


def test_every_public_name_is_there_and_listed() -> None:
    assert sorted(td.__all__) == dir(td)
    for name in td.__all__:
        assert getattr(td, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'laod'"):
        td.laod  # noqa: B018


# -- loading


def test_a_model_is_loaded_by_id_path_or_text(tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    path.write_text(TEXT)
    by_path, by_text = td.load(path), td.load("small", text=TEXT)
    assert by_path.id == by_text.id == "small"
    assert by_path.title == by_text.title == "Small model"
    assert td.load("gqa").id == "gqa"


def test_what_cannot_be_found_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(td.AskError) as caught:
        td.load("lama3")
    assert "llama3" in caught.value.faults[0].hint
    (tmp_path / "small.yaml").write_text(TEXT)
    with pytest.raises(td.AskError) as caught:
        td.load(tmp_path / "smal.yaml")
    assert "small.yaml" in caught.value.faults[0].hint


def test_a_spec_here_comes_before_a_bundled_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert locate("gqa") == bundled_specs()["gqa"]
    (tmp_path / "gqa.yaml").write_text(TEXT)
    assert locate("gqa") == Path("gqa.yaml")


def test_loading_raises_every_fault_of_form() -> None:
    with pytest.raises(td.DiagramError) as caught:
        td.load("x", text=TEXT.replace("title", "titel").replace("rmsnorm", "rmsnrom"))
    assert {fault.span.line for fault in caught.value.faults} >= {1, 6}


@pytest.mark.parametrize("data", [b"", b"\xff\xfe\x00", b"title: \xe9", b"\x00"])
def test_bytes_that_are_no_spec_are_faults_not_exceptions(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(data)
    for model in (td.Model.find(str(path)), td.Model.from_text(data, name="<stdin>")):
        report = model.check()
        assert not report.ok
        assert report.faults[0].span.file in (str(path), "<stdin>")


def test_the_two_ways_to_the_bundled_specs_agree() -> None:
    from transformer_diagrams.spec.library import SpecLibrary

    assert SpecLibrary().folder == bundled_dir()
    assert SpecLibrary().index == bundled_specs()


# -- check, inspect, render


def test_check_reports_and_does_not_raise() -> None:
    assert td.load("x", text=TEXT).check().ok
    report = td.load("x", text=TEXT + "  - {op: add, id: s, from: [up, x]}\n").check()
    assert not report.ok
    assert report.errors
    assert td.load("x", text=TEXT).check("tiny").ok
    with pytest.raises(AskError, match="no config 'tny'"):
        td.load("x", text=TEXT).check("tny")


def test_inspect_takes_sizes_in_three_forms() -> None:
    model = td.load("x", text=TEXT)
    for given in ({"d_m": 8}, ["d_m=8"], [("d_m", "8")]):
        assert model.inspect(set=given)["params"]["total"] == 8 + 8 * 32
    assert model.inspect("tiny", set={"d_m": 16})["params"]["total"] == 16 + 16 * 64
    assert json.dumps(model.inspect("tiny"))


def test_render_gives_bytes_with_their_type(tmp_path: Path) -> None:
    model = td.load("x", text=TEXT)
    figure = model.render("svg", theme="dark", width="3.25in", enlarge=True)
    assert figure.media_type == "image/svg+xml"
    assert 'width="234pt"' in str(figure)
    path = figure.save(tmp_path / "made" / "x.svg")
    assert path.read_bytes() == figure.data
    assert model.render("png", dpi=96).data.startswith(b"\x89PNG")
    assert model.render("pdf").data.startswith(b"%PDF")


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ({"them": "dark"}, "theme"),
        ({"theme": "drak"}, "dark"),
        ({"direction": "left"}, "right"),
        ({"config": "tyni"}, "tiny"),
        ({"set": {"d_n": 3}}, "d_m"),
    ],
)
def test_a_wrong_wish_names_the_nearest(asked: dict[str, object], hint: str) -> None:
    with pytest.raises(td.AskError) as caught:
        td.load("x", text=TEXT).render("svg", **asked)
    assert hint in caught.value.faults[0].hint
    with pytest.raises(td.AskError):
        td.load("x", text=TEXT).render("jpg")


def test_a_figure_shows_itself_in_a_notebook() -> None:
    bundle = td.load("x", text=TEXT)._repr_mimebundle_()
    assert bundle["image/svg+xml"].rstrip().endswith("</svg>")
    png = b64decode(bundle["image/png"])
    wide = int.from_bytes(png[16:20], "big")
    plain = td.load("x", text=TEXT).render("png", scale=1).data
    assert wide == pytest.approx(2 * int.from_bytes(plain[16:20], "big"), abs=1)
    assert sum(len(str(part)) for part in bundle.values()) < 200_000
    only = td.load("x", text=TEXT)._repr_mimebundle_(include={"image/png"})
    assert "image/svg+xml" not in only


def test_same_input_same_bytes_whatever_the_hash_seed() -> None:
    code = (
        "import sys, transformer_diagrams as td;"
        "sys.stdout.buffer.write(td.load('llama3').render('svg', open=['attention']).data)"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "TRANSFORMER_DIAGRAMS_CACHE": "/dev/null", "PATH": ""},
            cwd=ROOT,
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "12345")
    }
    assert len(seen) == 1
    assert seen.pop().startswith(b"<")


# -- options


def test_asking_wins_over_the_spec_and_that_over_the_default() -> None:
    show = Show(shapes="all", direction="right", legend=True, config="8B")
    assert settle({}) == Options()
    settled = settle({}).over(show)
    assert (settled.shapes, settled.direction, settled.legend) == ("all", "right", True)
    assert settled.config == "8B"
    assert settled.theme == Options().theme
    settled = settle({"shapes": "none", "legend": False, "direction": None}).over(show)
    assert (settled.shapes, settled.legend, settled.direction) == ("none", False, "right")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("3.25in", 234), ("1in", 72), ("2.54cm", 72), ("25.4 mm", 72), ("234pt", 234), ("96px", 72),
     ("100", 100), (100, 100), (99.5, 99.5), (".5in", 36), ("6pc", 72)],
)  # fmt: skip
def test_lengths_are_points(text: str | float, expected: float) -> None:
    assert points(text) == pytest.approx(expected)


@pytest.mark.parametrize("text", ["", "in", "3inch", "-1in", "0", "1e9in", "3 25in", "nan"])
def test_what_is_no_length_is_told(text: str) -> None:
    with pytest.raises(AskError):
        points(text)


def test_names_come_as_one_text_or_many() -> None:
    assert settle({"open": "a,b"}).open == settle({"open": ["a", "b", "a"]}).open == ("a", "b")
    assert settle({"set": ["a=1", "a=2"]}).set == (("a", "2"),)
    assert settle({"set": {"tied": True}}).set == (("tied", "true"),)


# -- reading order


def row(id: str, *below: str) -> dict[str, object]:
    return {"id": id, "builds_on": list(below)}


def test_the_reading_order_is_stable_and_knows_outsiders() -> None:
    rows = [row("a", "c"), row("b"), row("c", "d", "elsewhere"), row("d")]
    assert [r["id"] for r in reading_order(rows)] == ["d", "c", "a", "b"]
    assert reading_order([]) == []


def test_a_long_chain_of_reading_does_not_recurse() -> None:
    rows = [row(f"s{i}", f"s{i + 1}") for i in range(5000)]
    assert reading_order([*rows, row("s5000")])[0]["id"] == "s5000"


def test_a_circle_of_reading_is_named() -> None:
    with pytest.raises(td.DiagramError, match="b -> c -> b"):
        reading_order([row("a", "b"), row("b", "c"), row("c", "b")])


# -- the store


def entry(tmp_path: Path, **more: object) -> store.Entry:
    used = tmp_path / "used.yaml"
    used.write_text("x")
    warning = Fault("w", "mind", Span("f", 1, 2), notes=(("n", Span()),), severity="warning")
    trace = store.Trace({str(used): store.digest(b"x")}, (str(tmp_path / "absent.yaml"),))
    return store.Entry(b"data\nwith lines\n", "text/plain", (warning,), trace)


def test_what_was_put_is_got(tmp_path: Path) -> None:
    kept = entry(tmp_path)
    store.put("ab12", kept)
    assert store.get("ab12") == kept
    assert store.get("ab13") is None


def test_an_entry_is_forgotten_when_its_files_change(tmp_path: Path) -> None:
    store.put("ab12", entry(tmp_path))
    (tmp_path / "absent.yaml").write_text("now here")
    assert store.get("ab12") is None
    (tmp_path / "absent.yaml").unlink()
    assert store.get("ab12") is not None
    (tmp_path / "used.yaml").write_text("y")
    assert store.get("ab12") is None
    (tmp_path / "used.yaml").unlink()
    assert store.get("ab12") is None


def test_every_broken_entry_is_as_good_as_absent(tmp_path: Path) -> None:
    store.put("ab12", entry(tmp_path))
    place = tmp_path / "cache" / "results" / "ab" / "12"
    whole = place.read_bytes()
    for cut in range(0, len(whole), 7):
        place.write_bytes(whole[:cut])
        assert store.get("ab12") is None
    for at in range(0, len(whole), 7):
        place.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert store.get("ab12") is None
    place.unlink()
    place.mkdir()
    assert store.get("ab12") is None
    store.put("ab12", entry(tmp_path))  # and that is no fault either


def test_the_store_does_not_grow_without_end(tmp_path: Path) -> None:
    for i in range(store.PER_FOLDER + 20):
        store.put(f"ab{i:062x}", entry(tmp_path))
    folder = tmp_path / "cache" / "results" / "ab"
    assert len(list(folder.iterdir())) == store.PER_FOLDER


def test_a_cache_that_cannot_be_written_is_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TRANSFORMER_DIAGRAMS_CACHE", str(tmp_path / "file"))
    assert td.load("x", text=TEXT).render().data


def test_the_key_knows_every_fact(monkeypatch: pytest.MonkeyPatch) -> None:
    base = store.key_of(b"spec", theme="paper")
    assert store.key_of(b"spec", theme="paper") == base
    others = {
        store.key_of(b"spec2", theme="paper"),
        store.key_of(b"spec", theme="dark"),
        store.key_of(b"spec", theme="paper", width=3),
    }
    monkeypatch.setattr(store, "package_fingerprint", lambda: "other code")
    others.add(store.key_of(b"spec", theme="paper"))
    monkeypatch.undo()
    monkeypatch.setattr(store, "library_versions", lambda: (("ziamath", "0.14"),))
    others.add(store.key_of(b"spec", theme="paper"))
    assert len(others) == 5
    assert base not in others


def test_library_versions_are_those_installed() -> None:
    from importlib.metadata import version

    from packaging.version import Version

    found = dict(store.library_versions())
    assert {"pyyaml", "uharfbuzz", "ziamath", "graphviz-pure"} <= set(found)
    for name, shown in found.items():
        assert Version(shown) == Version(version(name))


def test_a_write_that_fails_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "x.svg"
    target.write_bytes(b"old")

    def broken(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", broken)
    with pytest.raises(OSError, match="No space"):
        files.write(target, b"new")
    assert [p.name for p in tmp_path.iterdir()] == ["x.svg"]
    assert target.read_bytes() == b"old"


def test_the_render_of_a_known_result_runs_no_stage(tmp_path: Path) -> None:
    """The whole warm process loads neither YAML nor any drawing library."""
    (tmp_path / "small.yaml").write_text(TEXT)
    (tmp_path / "user.yaml").write_text(USER)
    code = (
        "import sys, transformer_diagrams as td;"
        "from transformer_diagrams.cli.app import run;"
        "run(['render', 'user.yaml', '-o', 'out']); print(*sys.modules, file=sys.stderr)"
    )
    env = {"TRANSFORMER_DIAGRAMS_CACHE": str(tmp_path / "c"), "PYTHONPATH": str(ROOT), "PATH": ""}
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=tmp_path, env=env, capture_output=True, text=True, check=True,
        )  # fmt: skip
    heavy = {"yaml", "jsonschema", "uharfbuzz", "ziamath", "cairosvg", "graphviz", "subprocess"}
    loaded = set(done.stderr.split())
    assert not heavy & loaded
    # Of the drawing only the table of formats is known, which imports nothing by itself.
    loaded -= {"transformer_diagrams.render", "transformer_diagrams.render.formats"}
    stages = ("spec", "graph", "layout", "render", "text", "theme", "ops", "dims", "count")
    assert not [name for name in loaded if name.startswith("transformer_diagrams.")
                and name.split(".")[1] in stages]  # fmt: skip


# -- the figures' job


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    specs = tmp_path / "specs"
    (specs / "sub").mkdir(parents=True)
    (specs / "small.yaml").write_text(TEXT)
    (specs / "user.yaml").write_text(USER)
    (specs / "sub" / "other.yaml").write_text(TEXT.replace("Small", "Other"))
    return specs, tmp_path / "diagrams"


def test_figures_are_made_once_and_again_only_when_something_changed(
    folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    specs, out = folders
    arguments = [str(specs), str(out)]
    assert figures.main(arguments) == 0
    assert "3 figures: 3 drawn" in capsys.readouterr().out
    assert sorted(p.name for p in out.iterdir()) == ["other.svg", "small.svg", "user.svg"]
    before = {p.name: p.read_bytes() for p in out.iterdir()}
    assert figures.main(arguments) == 0
    assert "0 drawn, 3 already right" in capsys.readouterr().out

    # A used spec changes: itself and its user are drawn, nothing else.
    (specs / "small.yaml").write_text(TEXT.replace("Small model", "Smaller"))
    assert figures.main(arguments) == 0
    said = capsys.readouterr().out
    assert "other.svg" not in said
    assert "2 drawn, 1 already right" in said

    # A figure that was touched or deleted is put right, without drawing it anew.
    (specs / "small.yaml").write_text(TEXT)
    figures.main(arguments)
    (out / "user.svg").write_text("scribble")
    (out / "other.svg").unlink()
    assert figures.main(arguments) == 0
    assert {p.name: p.read_bytes() for p in out.iterdir()} == before


def test_faults_are_listed_at_the_end_and_the_rest_is_drawn(
    folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    specs, out = folders
    (specs / "bad.yaml").write_text(TEXT.replace("rmsnorm", "rmsnrom"))
    (specs / "worse.yaml").write_text("title: [")
    assert figures.main([str(specs), str(out), "--formats", "svg,dot"]) == 1
    said = capsys.readouterr()
    assert "10 figures: 6 drawn, 0 already right, 4 with faults" in said.out
    assert said.err.count("rmsnrom") < 4, "each fault once, not once a format"
    assert "bad.yaml:6" in said.err
    assert "worse.yaml:" in said.err
    assert not (out / "bad.svg").exists()
    assert not [p for p in out.rglob("*") if p.suffix == ".part"]


def test_other_themes_have_their_own_folder(folders: tuple[Path, Path]) -> None:
    specs, out = folders
    assert figures.main([str(specs), str(out), "--themes", "paper,dark", "--workers", "1"]) == 0
    names = {p.relative_to(out).as_posix() for p in out.rglob("*.svg")}
    ids = ("other", "small", "user")
    assert names == {f"{id}.svg" for id in ids} | {f"dark/{id}.svg" for id in ids}


def test_a_figure_without_a_spec_is_removed_when_asked(folders: tuple[Path, Path]) -> None:
    specs, out = folders
    figures.main([str(specs), str(out)])
    (specs / "sub" / "other.yaml").unlink()
    (out / "notes.txt").write_text("mine")
    (out / "drawing.svg").write_text("<svg/>")
    figures.main([str(specs), str(out)])
    assert (out / "other.svg").exists()
    figures.main([str(specs), str(out), "--prune"])
    names = ["drawing.svg", "notes.txt", "small.svg", "user.svg"]
    assert sorted(p.name for p in out.iterdir()) == names, "and no figure of somebody else"
    (specs / "user.yaml").unlink()
    (out / "user.svg").write_text("<svg>by hand</svg>")
    figures.main([str(specs), str(out), "--prune"])
    assert (out / "user.svg").read_text() == "<svg>by hand</svg>"


def test_two_specs_of_one_id_are_refused(
    folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    specs, out = folders
    (specs / "sub" / "small.yaml").write_text(TEXT)
    assert figures.main([str(specs), str(out)]) == 1
    assert "two specs have the id 'small'" in capsys.readouterr().err


def test_outcomes_travel_between_processes(tmp_path: Path) -> None:
    job = figures.Job(tmp_path / "a.yaml", tmp_path / "a.svg", "svg", "paper")
    outcome = figures.Outcome(job, True, (Fault("c", "m"),))
    assert pickle.loads(pickle.dumps(outcome)) == outcome


@pytest.mark.parametrize(
    "job",
    mostly_slow(figures.plan(ROOT / "specs", ROOT / "diagrams"), lambda j: j.target.stem in FEW),
    ids=lambda j: j.target.name,
)
def test_a_committed_figure_is_what_its_spec_gives(job: figures.Job) -> None:
    made = td.Model.find(str(job.spec)).render(job.format, theme=job.theme).data
    assert job.target.is_file(), "run `make diagrams` and commit the figure"
    assert job.target.read_bytes() == made, "run `make diagrams`, look at the figure, commit it"


def test_no_committed_figure_has_lost_its_spec() -> None:
    assert figures.stale(figures.plan(ROOT / "specs", ROOT / "diagrams")) == []


# -- stages as data


def test_a_stage_as_data_is_plain_and_free_of_folders() -> None:
    plain = to_plain(td.load("gqa").spec)
    text = json.dumps(plain, sort_keys=True)
    assert str(ROOT) not in text
    assert plain["id"] == "gqa"
    assert "text" not in plain


def test_a_stage_as_data_rounds_no_number() -> None:
    spec = load("x", text=TEXT.replace("- rmsnorm", "- {op: rmsnorm, eps: 0.000012345}")).spec
    assert '"value": 1.2345e-05' in json.dumps(to_plain(spec))
    assert to_plain([1 / 3, 10**30]) == [1 / 3, 10**30]


@pytest.mark.parametrize(
    ("text", "code", "column"),
    [
        ("title: '\ud800'\n", "control-character", 9),
        ("title: 'a\0'\n", "control-character", 10),
        (b"title: '\xff'\n", "encoding", 9),
        (b"title: '\xed\xa0\x80'\n", "encoding", 9),
    ],
)
def test_text_that_is_none_is_a_fault_with_its_place(
    text: str | bytes, code: str, column: int
) -> None:
    blocks = "blocks: [gelu]\n"
    with pytest.raises(DiagramError) as caught:
        load("x", text=text + (blocks if isinstance(text, str) else blocks.encode()))
    (fault,) = caught.value.faults
    assert (fault.code, fault.span.line, fault.span.column) == (code, 1, column)


def test_an_option_that_is_no_text_is_a_fault() -> None:
    text = "options: {b: {}}\ninputs: {x: [3]}\nblocks:\n  - {op: linear, out: 3, weight: b}\n"
    (fault,) = td.Model.from_text(text).check().errors
    assert (fault.span.line, fault.path) == (4, "blocks[0].weight")


WRONG: list[Any] = [3, None, 2.5, b"\xff", ["a", 3], {"a": 1}, object(), "\ud800", "\0"]
WRONG += ["x" * 5000, -1]


@pytest.mark.parametrize("value", WRONG, ids=lambda value: type(value).__name__)
def test_wrong_types_in_calls_are_told_as_faults(value: Any) -> None:
    """Whatever is handed to a call: it works, or is refused as a fault."""
    model = load("swiglu")
    calls: list[Any] = [
        lambda: load(value),
        lambda: load("x", text=value),
        lambda: model.check(value),
        lambda: model.inspect(value),
        lambda: model.inspect(set=value),
        lambda: model.inspect(set={"d_m": value}),
        lambda: model.inspect(set={value: 3}) if not isinstance(value, list | dict) else None,
        lambda: model.inspect(length=value),
        lambda: model.render(value),
        lambda: model.emit(value),
        *(
            (lambda name=name: settle({name: value}))
            for name in (*Options.__dataclass_fields__, "unknown")
        ),
        *((lambda name=name: model.graph(**{name: value})) for name in ("open", "config", "set")),
        lambda: model.render("svg", theme=value),
    ]
    for call in calls:
        with contextlib.suppress(DiagramError):
            call()


# -- each stage once


def test_inference_of_a_setting_runs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is asked of a model, the shapes under one setting are worked out once."""
    seen: list[tuple[object, ...]] = []
    root = Inference.root

    def counted(self: Inference, spec: Spec, settings: Settings, *, numeric: bool) -> object:
        told = sorted(settings.options.items()), sorted(settings.numbers.items())
        seen.append((numeric, settings.config, *map(str, told)))
        return root(self, spec, settings, numeric=numeric)

    monkeypatch.setattr(Inference, "root", counted)
    model = load("llama3")
    model._render("svg", model._options({}))
    model.check()
    assert len(seen) == len(set(seen))
    once = len(seen)
    model.graph(open=["attention"])
    model.graph(config="8B")
    model.check("8B")
    model.lint()
    model.emit("shapes")
    assert len(seen) == once + 1, "only the symbols of the config asked for are new"
    model.inspect("8B")
    model.inspect("8B", flops="causal")
    model.inspection("8B")
    api.compare(model, model)
    api.compare_figure(model, model, "dot")
    assert len(seen) == len(set(seen))


def test_what_is_asked_is_settled_once_a_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []
    monkeypatch.setattr(api, "settle", lambda asked: calls.append(asked) or settle(asked))
    load("gqa").render(theme="dark")
    assert len(calls) == 1


# -- records


@records.dataclass(frozen=True, slots=True)
class Quick:
    """Made by `records`; `Usual` is the same by the standard decorator."""

    a: int
    b: tuple[int, ...] = ()
    c: list[int] = dataclasses.field(default_factory=list, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "a", abs(self.a))


Usual = dataclasses.dataclass(frozen=True, slots=True)(
    type("Usual", (), {
        "__annotations__": {"a": "int", "b": "tuple[int, ...]", "c": "list[int]"},
        "b": (), "c": dataclasses.field(default_factory=list, compare=False, repr=False),
        "__post_init__": Quick.__post_init__, "__module__": __name__,
    })
)  # fmt: skip


def test_a_record_is_what_the_standard_decorator_makes() -> None:
    for made in (Quick, Usual):
        one = made(-1, (2,))
        assert (one.a, one.b, one.c) == (1, (2,), [])
        assert one.c is not made(1).c
        assert one == made(1, b=(2,), c=[3])
        assert one not in (made(2, (2,)), (1, (2,)))
        assert len({one, made(1, (2,)), made(1)}) == 2
        assert repr(one) == f"{made.__name__}(a=1, b=(2,))"
        assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == one
        assert dataclasses.replace(one, a=4) == made(4, (2,))
        assert [f.name for f in dataclasses.fields(one)] == ["a", "b", "c"]
        assert made.__match_args__ == ("a", "b", "c")
        assert not hasattr(one, "__dict__")
        for change in (lambda: setattr(one, "a", 2), lambda: delattr(one, "a")):  # noqa: B023
            with pytest.raises(dataclasses.FrozenInstanceError):
                change()
        with pytest.raises(TypeError):
            made()


@records.dataclass(slots=True)
class Draft:
    """A record that may be written into."""

    a: int
    b: list[int] = dataclasses.field(default_factory=list)


@records.dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A record whose fields are named when it is made."""

    b: int = 2
    a: int


def test_a_record_may_be_written_into_or_named() -> None:
    one = Draft(1)
    one.a, one.b = 3, [4]
    assert one == Draft(3, b=[4]) == pickle.loads(pickle.dumps(one))
    assert one != Draft(3)
    with pytest.raises(TypeError):
        hash(one)
    with pytest.raises(AttributeError):
        one.c = 1  # type: ignore[attr-defined]
    assert repr(Named(a=1)) == "Named(b=2, a=1)"
    assert dataclasses.replace(Named(a=1), b=3) == Named(a=1, b=3)
    assert Named.__match_args__ == ()
    with pytest.raises(TypeError):
        Named(1, 2)  # type: ignore[misc]
