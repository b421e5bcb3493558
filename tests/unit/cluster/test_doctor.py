"""The doctor: each fault that is planted in a cluster or a profile is found, at its attempt."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import snakemake_executor_plugin_slurm as plugin
import yaml

from poshgrid.cluster import doctor, slurm
from poshgrid.cluster.doctor import Request
from poshgrid.cluster.slurm import Node, Partition
from poshgrid.errors import PoshgridError

NODES = [
    Node("n1", "cpu", 16, 24_000, {}, "idle"),
    Node("n2", "cpu", 64, 900_000, {}, "down*"),
    Node("g1", "gpu", 32, 256_000, {("gpu", "a100"): 4}, "mix"),
]
PARTITIONS = {
    "cpu": Partition("cpu", default=True, up=True, minutes=1440, memory_mb=None),
    "gpu": Partition("gpu", default=False, up=True, minutes=2880, memory_mb=200_000),
    "shut": Partition("shut", default=False, up=False, minutes=None, memory_mb=None),
}
TRAIN = Request("train", 1, "", 720, 16_000, 1, (), step=True, signal=True)


def errors(*requests):
    return [f.what for f in doctor.fits(requests, NODES, PARTITIONS) if f.state == "error"]


def test_a_retry_that_can_never_start_is_an_error_at_its_attempt():
    attempts = [replace(TRAIN, attempt=n, minutes=720 * n, memory_mb=16_000 * n) for n in (1, 2, 3)]
    assert errors(attempts[0]) == []
    # 32,000 MB of nodes with 24,000 (the larger one is down); 36 hours of a day
    assert errors(*attempts) == [
        "train, attempt 2: 32000 MB; partition cpu has 24000 on a node",
        "train, attempt 3: 2160 min; partition cpu gives 1440",
    ]
    remedies = [f.remedy for f in doctor.fits(attempts, NODES, PARTITIONS) if f.remedy]
    assert "min(16000 * attempt, 24000)" in remedies[0]


@pytest.mark.parametrize(
    ("changes", "resource"),
    [
        ({"partition": "gpus"}, "no partition 'gpus'"),
        ({"partition": "shut"}, "not up"),
        ({"partition": "gpu", "memory_mb": 201_000}, "201000 MB; partition gpu has 200000"),
        ({"cpus": 17}, "17 CPUs; partition cpu has 16"),
        ({"devices": ((("gpu", ""), 1),)}, "1 gpu; partition cpu has 0"),
        ({"partition": "gpu", "devices": ((("gpu", "h100"), 1),)}, "1 gpu:h100"),
        ({"partition": "gpu", "devices": ((("gpu", ""), 5),)}, "5 gpu; partition gpu has 4"),
    ],
)
def test_what_no_node_has_is_an_error(changes, resource):
    (error,) = errors(replace(TRAIN, **changes))
    assert resource in error


def test_what_one_of_several_partitions_has_is_none():
    device = ((("gpu", "a100"), 4),)
    assert errors(replace(TRAIN, partition="cpu,gpu", devices=device)) == []
    assert errors(replace(TRAIN, minutes=0, memory_mb=0)) == []  # what the cluster gives


def test_generic_resources_and_time_limits_are_read_as_slurm_writes_them():
    assert slurm.generic("gpu:a100:4(S:0,2-3),gpu:2,shard:1K,nic") == {
        ("gpu", "a100"): 4, ("gpu", ""): 2, ("shard", ""): 1024, ("nic", ""): 1,
    }  # fmt: skip
    assert slurm.generic("(null)") == {}
    assert [slurm.minutes(text) for text in ("1-12:30:00", "90", "2-12", "UNLIMITED")] == [
        2190, 90, 3600, None,
    ]  # fmt: skip


@pytest.fixture
def profile(root, tmp_path, monkeypatch):
    """The shipped profile, to be changed, in an empty study."""
    monkeypatch.chdir(tmp_path)
    given = yaml.safe_load((root / "profiles/slurm/config.yaml").read_text(encoding="utf-8"))
    path = tmp_path / "site/config.yaml"
    path.parent.mkdir()
    path.write_text("")

    def write(**changes):
        path.write_text(yaml.safe_dump(given | changes))
        return given

    write()
    return write


def test_requests_are_those_of_snakemake_and_the_profile(root, profile):
    given = profile()
    profile(**{"set-resources": given["set-resources"] | {
        "train": {"gpu_model": "a100", "runtime": "100 * attempt", "mem_mb_per_cpu": 500},
    }, "set-threads": {"train": 3}})  # fmt: skip
    requests, rules = doctor.asked(Path("site/config.yaml"), [root / "config/tiny.yaml"], "exp1",
                                   None)  # fmt: skip
    train = [each for each in requests if each.rule == "train"]
    assert [(r.attempt, r.minutes, r.memory_mb, r.cpus, r.devices) for r in train] == [
        (n, 100 * n, 1_500, 3, ((("gpu", "a100"), 1),)) for n in (1, 2, 3)
    ]
    assert {"train", "score", "report"} <= set(rules)
    assert "all" not in {each.rule for each in requests}


def test_the_shipped_profile_has_no_fault_but_the_cluster(root, profile, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    found = doctor.examine("site", [root / "config/tiny.yaml"], "exp1", None)
    assert [(each.state, each.check) for each in found] == [("error", "SLURM"), ("ok", "executor")]
    assert "sbatch: not found" in found[0].what


def test_faults_of_a_profile_come_first(root, profile):
    given = profile()
    profile(**{
        "executor": "local", "slurm-status-command": "sacct",
        "default-resources": {"gpus": 1},
        "set-resources": {"trian": {"gpu": 1}, "train": given["set-resources"]["train"] | {
            "slurm_extra": "'--exclude=n7'"}},
    })  # fmt: skip
    found = doctor.examine("site", [root / "config/tiny.yaml"], "exp1", None)
    states = [each.state for each in found]
    assert states == sorted(states, key=("error", "warning", "ok").index)
    text = "\n".join(each.line() for each in found if each.check == "profile")
    for fault in ("executor: slurm", "sacct", "'gpus'", "'trian'", "--signal=USR1@120"):
        assert fault in text


def test_a_profile_that_is_not_there_or_no_mapping(profile):
    with pytest.raises(PoshgridError, match="nowhere: no such profile"):
        doctor.read("nowhere")
    Path("site/config.yaml").write_text("- a list\n")
    with pytest.raises(PoshgridError, match=r"site/config\.yaml: no `key: value` pairs"):
        doctor.read("site")


def test_the_plug_in_reads_no_resource_that_is_unknown():
    code = "".join(p.read_text() for p in Path(plugin.__file__).parent.glob("*.py"))
    read = set(re.findall(r"job\.resources(?:\.get\(\s*\"|\[\")(\w+)\"", code))
    assert {"gpu", "gres", "slurm_account", "constraint"} <= read
    assert read - doctor.RESOURCES == set()


def test_a_configuration_that_is_a_program_is_refused_unread(profile, tmp_path):
    Path("evil.yaml").write_text("__use_yte__: true\n?open('ran', 'w'): 1\n")
    found = doctor.examine("site", [Path("evil.yaml")], "exp1", None)
    assert any(each.state == "error" and "evil.yaml" in each.what for each in found)
    assert not Path("ran").exists()
