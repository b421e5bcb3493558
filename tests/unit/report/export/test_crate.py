"""Results as a Workflow Run RO-Crate: what the profile asks for, and nothing of the machine."""

import json

import pytest

import poshgrid
from poshgrid.report.export import crate
from tests.unit.report import report_results


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("rocrate", reason="rocrate is not installed")
    top = tmp_path_factory.mktemp("crate")
    report_results.build(top / "results", conditions=("baby", "baby-f"), sizes=("10M",))
    return crate.export(poshgrid.open(top / "results"), top / "crate", None, "CC-BY-4.0")


@pytest.fixture(scope="module")
def entities(folder):
    metadata = json.loads((folder / crate.METADATA).read_text(encoding="utf-8"))
    return {entity["@id"]: entity for entity in metadata["@graph"]}


def test_the_profile_is_followed(entities):
    """The requirements of Workflow Run Crate 0.5 that roc-validator checks, too."""
    root = entities["./"]
    assert {profile["@id"] for profile in root["conformsTo"]} == set(crate.PROFILES)
    workflow = entities[root["mainEntity"]["@id"]]
    assert set(workflow["@type"]) == {"File", "SoftwareSourceCode", "ComputationalWorkflow"}
    assert workflow["programmingLanguage"]["@id"] in entities
    action = entities["#run"]
    assert action["instrument"] == {"@id": workflow["@id"]}
    assert {"@id": "#run"} in root["mentions"]
    assert action["startTime"] <= action["endTime"]
    value = entities[action["object"]["@id"]]
    assert entities[value["exampleOfWork"]["@id"]]["@type"] == "FormalParameter"
    assert value["value"] == "all"


def test_every_file_is_described_and_there(folder, entities):
    described = {part["@id"] for part in entities["./"]["hasPart"]}
    written = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert described == written - {crate.METADATA}
    results = {result["@id"] for result in entities["#run"]["result"]}
    assert "tables/counts.csv" in results <= described


def test_manifests_do_not_name_the_machine(folder):
    manifests = [json.loads(p.read_text()) for p in (folder / "provenance").iterdir()]
    assert manifests
    for manifest in manifests:
        assert not {"host", "command", "cwd"} & set(manifest)
        assert not [name for name in manifest["inputs"] if "/" in name]
