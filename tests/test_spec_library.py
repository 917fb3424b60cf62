"""Finding and loading specs by id and path."""

from __future__ import annotations

from pathlib import Path

import pytest

from transformer_diagrams.bundled import bundled_dir
from transformer_diagrams.errors import DiagramError, Fault
from transformer_diagrams.spec.library import SpecLibrary


def write(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        path = folder / (name.replace("__", "/") + ".yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


ADD = "blocks: [add]\n"


@pytest.fixture
def library(tmp_path: Path) -> SpecLibrary:
    folder = write(
        tmp_path / "bundled",
        gqa="dims: {n_g: heads, d_m: width}\noptions: {bias: {}}\nblocks: [add]\n",
        models__gpt2="blocks: [{use: gqa, with: {n_g: 1}}]\n",
        models__gpt3="blocks: [{use: gpt2}]\n",
    )
    return SpecLibrary(folder)


def refused(library: SpecLibrary, ref: str, base: Path | None = None) -> tuple[Fault, ...]:
    with pytest.raises(DiagramError) as caught:
        library.get(ref, base)
    return caught.value.faults


def test_ids_are_file_stems(library: SpecLibrary) -> None:
    assert library.ids() == ["gpt2", "gpt3", "gqa"]
    assert library.get("gpt2").id == "gpt2"
    assert library.get("gpt2") is library.get("gpt2")


def test_an_unknown_id_has_a_hint(library: SpecLibrary) -> None:
    (fault,) = refused(library, "gtp2")
    assert fault.code == "unknown-spec"
    assert fault.hint == "did you mean 'gpt2'?"


def test_a_path_is_relative_to_its_user(library: SpecLibrary, tmp_path: Path) -> None:
    mine = write(tmp_path / "mine", a="blocks: [{use: sub/b.yaml}, {use: c}]\n", sub__b=ADD, c=ADD)
    assert library.get(str(mine / "a.yaml")).id == "a"
    assert library.find("sub/b", mine / "a.yaml") == mine / "sub" / "b.yaml"


def test_a_spec_beside_wins_over_a_bundled_one(library: SpecLibrary, tmp_path: Path) -> None:
    mine = write(tmp_path / "mine", gqa="title: mine\nblocks: [add]\n", a="blocks: [{use: gqa}]\n")
    assert library.get("gqa", mine / "a.yaml").title == "mine"
    assert library.get("gqa").title == "gqa"


def test_a_missing_use_is_a_fault_in_its_place(library: SpecLibrary, tmp_path: Path) -> None:
    mine = write(tmp_path, a="builds_on: [qga]\nblocks:\n  - group: [{use: gpa}]\n")
    faults = refused(library, str(mine / "a.yaml"))
    assert [(f.code, f.span.line, f.path) for f in faults] == [
        ("unknown-spec", 1, "builds_on"),
        ("unknown-spec", 3, "blocks[0].group[0].use"),
    ]
    assert all("'gqa'" in f.hint for f in faults)


def test_bindings_must_be_sizes_or_options_of_the_used_spec(
    library: SpecLibrary, tmp_path: Path
) -> None:
    mine = write(tmp_path, a="blocks: [{use: gqa, with: {n_gg: 1, bias: true, d_m: 3}}]\n")
    (fault,) = refused(library, str(mine / "a.yaml"))
    assert fault.code == "unknown-dim"
    assert fault.path == "blocks[0].with.n_gg"
    assert fault.hint == "did you mean 'n_g'?"


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        ("{n_g: w}", "unknown-dim", "'w' is no size of 'a'"),
        ("{n_g: 2 d + w}", "unknown-dim", "'w' is no size of 'a'"),
        ("{n_g: o}", "unknown-dim", "'o' is no size of 'a'"),
        ("{n_g: true}", "unknown-dim", "'n_g' of 'gqa' is a size"),
        ("{bias: maybe}", "bad-choice", "cannot be 'maybe'"),
        ("{bias: word}", "bad-choice", "cannot be 'word'"),
        ("{bias: 1}", "bad-choice", "cannot be '1'"),
        ("{bias: o, n_g: 2 d}", "", ""),
        ("{bias: 'True'}", "", ""),
    ],
)
def test_with_gives_sizes_and_options_of_their_own_kind(
    library: SpecLibrary, tmp_path: Path, given: str, code: str, words: str
) -> None:
    head = "dims: {d: x}\noptions: {o: {}, word: {choices: [p, q]}}\n"
    mine = write(tmp_path, a=f"{head}blocks: [{{use: gqa, with: {given}}}]\n")
    _, report = library.load(str(mine / "a.yaml"))
    assert [fault.code for fault in report.faults] == ([code] if code else [])
    for fault in report.faults:
        assert words in fault.message
        assert (fault.span.line, fault.path.split(".")[1]) == (3, "with")


def test_faults_of_used_files_are_reported_with_their_own_place(
    library: SpecLibrary, tmp_path: Path
) -> None:
    mine = write(tmp_path, a="blocks: [{use: b}, {use: b}, softmaks]\n", b="blocks:\n  - ad\n")
    faults = refused(library, str(mine / "a.yaml"))
    assert [(Path(f.span.file).name, f.span.line, f.code) for f in faults] == [
        ("a.yaml", 1, "unknown-op"),
        ("b.yaml", 2, "unknown-op"),
    ]


def test_a_cycle_of_use_is_named(library: SpecLibrary, tmp_path: Path) -> None:
    mine = write(
        tmp_path,
        a="blocks: [{use: b}]\n",
        b="blocks:\n  - {use: c}\n",
        c="blocks:\n\n  - {use: b}\n",
        d="blocks: [{use: d}]\n",
    )
    (fault,) = refused(library, str(mine / "a.yaml"))
    assert fault.code == "use-cycle"
    assert "b -> c -> b" in fault.message
    assert Path(fault.span.file).name == "c.yaml"
    assert fault.span.line == 3
    assert [(Path(at.file).name, at.line) for _, at in fault.notes] == [("b.yaml", 2)]
    (own,) = refused(library, str(mine / "d.yaml"))
    assert "d -> d" in own.message


def test_a_long_chain_of_files_does_not_recurse(library: SpecLibrary, tmp_path: Path) -> None:
    texts = {f"s{i}": f"blocks: [{{use: s{i + 1}}}]\n" for i in range(1500)}
    mine = write(tmp_path, **texts, s1500=ADD)
    assert library.get(str(mine / "s0.yaml")).id == "s0"


def test_each_file_is_read_once(
    library: SpecLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import transformer_diagrams.spec.library as module

    read: list[str] = []
    real = module.load_path

    def counted(path, **more):  # type: ignore[no-untyped-def]
        read.append(Path(path).name)
        return real(path, **more)

    monkeypatch.setattr(module, "load_path", counted)
    library.get("gpt3")
    library.get("gpt2")
    assert sorted(read) == ["gpt2.yaml", "gpt3.yaml", "gqa.yaml"]


def test_warnings_do_not_stop(library: SpecLibrary, tmp_path: Path) -> None:
    mine = write(tmp_path, a="blocks:\n  - op: add\n    label: a #1\n")
    spec, report = library.load(str(mine / "a.yaml"))
    assert [f.code for f in report.warnings] == ["cut-at-hash"]
    assert library.get(str(mine / "a.yaml")) is spec


def test_the_bundled_folder() -> None:
    assert bundled_dir().name in ("specs", "_specs")


def test_bundled_specs_load_with_all_they_use() -> None:
    library = SpecLibrary()
    assert len(library.ids()) == len(list(library.folder.rglob("*.yaml"))), "two of one id"
    for name in library.ids():
        _, report = library.load(name)
        assert not report.faults, [str(f.span) + " " + f.message for f in report.faults]


def test_what_is_used_together_has_the_limit_of_one_file(
    library: SpecLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("transformer_diagrams.reading.MAX_BYTES", 100)
    texts = {f"s{i}": f"blocks: [{{use: s{i + 1}}}] # {'x' * 20}\n" for i in range(9)}
    mine = write(tmp_path, **texts, s9=ADD)
    (fault,) = refused(library, str(mine / "s0.yaml"))
    assert fault.code == "file-too-large"
    assert Path(fault.span.file).name == "s1.yaml"
