"""Faults planted in manifests and in the index: each is found, and what is whole is not."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from typer.testing import CliRunner

from poshgrid import verification
from poshgrid.cli import app
from poshgrid.errors import PoshgridError
from poshgrid.provenance import index
from poshgrid.provenance.damage import damaged, delete, unlisted
from poshgrid.provenance.manifest import recorded
from tests.unit.provenance.manifest_support import stage, text


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A results folder with an index and three sound stages, one beside its tables."""
    folder = tmp_path / "results"
    index.begin(folder)
    for name in ("models/a/table.bin", "models/b/table.bin"):
        stage(text(folder / name).with_name("manifest.json"))
    text(folder / "parses" / "0.parquet")
    stage(folder / "parses" / "0.manifest.json")
    assert faults(folder) == {}
    return folder


def faults(results: Path) -> dict[str, str]:
    return {each.path.relative_to(results).as_posix(): each.fault for each in damaged(results)}


def edit(manifest: Path, **changes: object) -> None:
    manifest.write_text(
        verification.json_text(json.loads(manifest.read_text()) | changes), encoding="utf-8"
    )


@pytest.mark.parametrize("name", ["models/a/manifest.json", "parses/0.manifest.json"])
def test_a_deleted_manifest_is_found_and_to_be_made_again(results: Path, name: str) -> None:
    (results / name).unlink()
    assert faults(results) == {name: "missing"}
    assert [each.path for each in delete(damaged(results))] == [results / name]
    assert faults(results) == {}


def test_a_stage_reads_no_folder_that_another_runs_was_copied_over(results: Path) -> None:
    text(results / "models/b/table.bin", "of another run")
    stage(results / "models/b/manifest.json")
    read = results / "models/a/table.bin"
    text(results / "scores/table.bin")
    with recorded(results / "scores/manifest.json", inputs=[read]):
        pass
    shutil.copytree(results / "models/b", results / "models/a", dirs_exist_ok=True)
    with (
        pytest.raises(PoshgridError, match="the index has another digest"),
        recorded(results / "scores/manifest.json", inputs=[read]),
    ):
        pass


@pytest.mark.parametrize("where", [".", "elsewhere", "study/results/models"])
def test_nothing_is_deleted_where_snakemake_works_wherever_that_is_typed(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    study = tmp_path / "study"
    text(study / ".snakemake/locks/0.output.lock")
    shutil.move(results, study / "results")
    text(study / "results/models/a/table.bin", "damaged")
    (tmp_path / where).mkdir(exist_ok=True)
    monkeypatch.chdir(tmp_path / where)
    result = CliRunner().invoke(app, ["verify", "--delete", str(study / "results")])
    assert result.exit_code == 1
    assert "a Snakemake works here" in str(result.exception)
    assert (study / "results/models/a/table.bin").exists()


def test_a_whole_stage_that_was_deleted_is_found(results: Path) -> None:
    shutil.rmtree(results / "models" / "a")
    assert faults(results) == {"models/a/manifest.json": "missing"}


def test_an_emptied_list_breaks_the_seal(results: Path) -> None:
    edit(results / "models/a/manifest.json", outputs={})
    assert faults(results) == {"models/a/manifest.json": "broken"}


@pytest.mark.parametrize("seal", ["new", "none"])
def test_an_emptied_list_that_is_sealed_anew_or_not_at_all_is_not_the_one_of_the_index(
    results: Path, seal: str
) -> None:
    manifest = results / "models/a/manifest.json"
    content = json.loads(manifest.read_text()) | {"outputs": {}}
    del content[verification.SEAL]
    if seal == "new":
        manifest.write_text(verification.sealed(content), encoding="utf-8")
    else:
        manifest.write_text(verification.json_text(content), encoding="utf-8")
    assert faults(results) == {"models/a/manifest.json": "changed"}
    delete(damaged(results))
    assert not manifest.exists()
    assert (manifest.parent / "table.bin").exists()
    assert faults(results) == {}


@pytest.mark.parametrize("content", ["", "[]", "{}", "not JSON", '{"outputs": 3}'])
def test_what_is_no_manifest_where_one_must_be_is_no_strangers_file(
    results: Path, content: str
) -> None:
    text(results / "models/a/manifest.json", content)
    assert set(faults(results)) == {"models/a/manifest.json"}
    assert delete(damaged(results))


def test_a_flipped_bit_of_a_manifest_breaks_its_seal(tmp_path: Path) -> None:
    """Without an index: but for the bits that make it one of an earlier version, without a seal."""
    manifest = tmp_path / "manifest.json"
    text(tmp_path / "model.bin")
    with recorded(manifest, spec={"rate": 1e-05, "steps": 3}, code="abc") as facts:
        facts["counts"] = {2: 1.5, 10: [float("inf"), "ä"]}
    whole = manifest.read_bytes()
    verification.recorded(manifest, ())
    missed = set()
    for bit in range(0, 8 * len(whole), 7):  # each bit of a byte in turn
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        manifest.write_bytes(flipped)
        try:
            verification.recorded(manifest, (bit,))
        except verification.NoManifestError:
            continue
        missed.add(bit // 8)
    key = whole.index(b'"seal"')
    assert missed <= set(range(key + 1, key + 5))


def test_with_an_index_all_of_them_are_found(results: Path) -> None:
    manifest = results / "models/a/manifest.json"
    whole = manifest.read_bytes()
    for bit in range(0, 8 * len(whole), 7):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        manifest.write_bytes(flipped)
        assert set(faults(results)) == {"models/a/manifest.json"}, bit


def test_a_stage_refuses_what_a_broken_manifest_vouches_for(results: Path) -> None:
    edit(results / "models/a/manifest.json", outputs={})
    with pytest.raises(PoshgridError, match=r"manifest\.json: .* its seal is broken; run poshgrid"):
        verification.check([results / "models/a/table.bin"])


def test_a_manifest_of_an_earlier_version_passes_and_is_told_of(tmp_path: Path) -> None:
    old = {"command": ["poshgrid", "count"], "outputs": {}}
    text(tmp_path / "manifest.json", json.dumps(old))
    assert faults(tmp_path) == {}
    assert unlisted(tmp_path) == [tmp_path / "manifest.json"]


def test_an_entry_that_is_gone_is_told_of(results: Path) -> None:
    (results / "index/models/a/manifest.json.sha256").unlink()
    said = CliRunner().invoke(app, ["verify", str(results)])
    assert said.exit_code == 0
    assert f"1 manifests are not in its index, {results}/models/a/manifest.json" in said.stdout
    shutil.rmtree(results / "index")
    assert len(unlisted(results)) == 3


NOBODYS = "0" * 64


@pytest.mark.parametrize(
    "content",
    [
        "", "\x00", "\udc80", f"{NOBODYS[1:]}  models/a/manifest.json\n",
        *(f"{NOBODYS}  {name}/manifest.json\n" for name in ("models/b", "models/A")),
    ],
)  # fmt: skip
def test_an_entry_that_is_none_is_an_error_in_one_line(results: Path, content: str) -> None:
    entry = results / "index/models/a/manifest.json.sha256"
    entry.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(PoshgridError, match=r"index/models/a/manifest\.json\.sha256: ") as caught:
        list(damaged(results))
    assert "\n" not in str(caught.value)


def test_an_entry_that_goes_while_they_are_read_is_passed_over(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Path.read_text

    def read_text(path: Path, **more: object) -> str:
        if path.parent.name == "a":
            path.unlink()  # its stage begins anew
        return original(path, **more)

    monkeypatch.setattr(Path, "read_text", read_text)
    assert dict(index.entries(results)).keys() == {
        results / "models/b/manifest.json", results / "parses/0.manifest.json"
    }  # fmt: skip


def test_an_index_that_is_there_is_left_as_it_is(results: Path) -> None:
    note = results / index.FOLDER / index.NOTE
    note.write_text("somebody's remark")
    index.begin(results)
    assert note.read_text() == "somebody's remark"


def test_a_stage_that_begins_takes_its_entry_away_and_puts_it_back(results: Path) -> None:
    manifest = results / "models/a/manifest.json"
    with pytest.raises(RuntimeError), recorded(manifest):
        assert dict(index.entries(results)).keys() == {
            results / "models/b/manifest.json", results / "parses/0.manifest.json"
        }  # fmt: skip
        raise RuntimeError  # a job that fails
    assert faults(results) == {}  # it has yet to be made, and nobody says otherwise
    with recorded(manifest):
        pass
    found = dict(index.entries(results))[manifest]
    assert found == hashlib.sha256(manifest.read_bytes()).hexdigest()


def test_the_index_is_found_from_anywhere(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(results / "models")
    with recorded(Path("c/manifest.json")):
        text(Path("c/table.bin"))
    assert unlisted(results) == []
    assert [path for path, _ in index.entries(Path("c"))] == [Path("c/manifest.json")]
    Path("c/manifest.json").unlink()
    assert [each.path for each in damaged(Path("c"))] == [Path("c/manifest.json")]


def test_outside_a_results_folder_there_is_no_index(tmp_path: Path) -> None:
    with recorded(tmp_path / "manifest.json"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


def _stage(manifest: Path) -> None:
    with recorded(manifest):
        text(manifest.with_name("table.bin"), str(manifest))


def test_jobs_that_end_at_once_are_all_entered(results: Path) -> None:
    manifests = [results / "models" / str(n) / "manifest.json" for n in range(40)]
    with ProcessPoolExecutor(4) as pool:
        list(pool.map(_stage, manifests))
    assert set(manifests) <= dict(index.entries(results)).keys()
    assert unlisted(results) == []
    assert faults(results) == {}


def test_sha256sum_reads_the_index(results: Path) -> None:
    """Somebody without poshgrid can hold the manifests to it."""
    command = "find index -name '*.sha256' -exec cat {} + | sha256sum --check --quiet"

    def status() -> int:
        done = subprocess.run(command, shell=True, cwd=results, capture_output=True, check=False)
        return done.returncode

    assert status() == 0
    edit(results / "models/a/manifest.json", outputs={})
    assert status() != 0
