"""The doctor: each fault that is planted in a cluster or a profile is found, at its attempt."""

import pytest
import yaml

from poshgrid.planning import doctor

SBATCH = """#!/bin/sh
case "$*" in *"--mem 32000"*|*--gres=gpu:h100*) echo "not available" >&2; exit 1;; esac
"""  # a node has less than 32,000 MB
SINFO = """#!/bin/sh
case "$*" in *%l*)
printf 'cpu*\\t1-00:00:00\\t24000\\t16\\t(null)\\nlong\\t7-00\\t24000\\t16\\t(null)\\n';; esac
"""


@pytest.fixture
def profile(root, tmp_path, monkeypatch):
    """The shipped profile, to be changed, in an empty study, on a cluster that is made up."""
    monkeypatch.chdir(tmp_path)
    shipped = yaml.safe_load((root / "profiles/slurm/config.yaml").read_text(encoding="utf-8"))
    (tmp_path / "site").mkdir()
    for name, text in {"sbatch": SBATCH, "sinfo": SINFO, "scontrol": "#!/bin/sh\n",
                       "squeue": "#!/bin/sh\n"}.items():  # fmt: skip
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def write(train=None, **changes):
        made = shipped | changes
        if train:
            made["set-resources"] = shipped["set-resources"] | {"train": train}
        (tmp_path / "site/config.yaml").write_text(yaml.safe_dump(made))

    write()
    return write


def errors(root, check):
    findings = doctor.examine("site", [root / "studies/posh-bench/toy.yaml"], "exp1", None)
    states = [finding.state for finding in findings]
    assert states == sorted(states, key=("error", "warning", "ok").index)
    return [
        finding.what for finding in findings if (finding.state, finding.check) == ("error", check)
    ]


def test_a_retry_that_can_never_start_is_an_error_at_its_attempt(root, profile):
    profile(train={"mem_mb": "16000 * attempt", "runtime": 720})
    faults = errors(root, "fits")
    assert any(what.startswith("train, attempt 2 (-t 720 --mem 32000") for what in faults)
    # A job that is too long is not refused, and waits for ever
    profile(train={"mem_mb": 8000, "runtime": "720 * attempt"})
    assert [w for w in errors(root, "fits") if "too long" in w] == [
        "train, attempt 3 (-t 2160 --mem 8000 --ntasks=1 --cpus-per-task=1): 2160 minutes "
        "are too long"
    ]
    profile(train={"mem_mb": 8000, "runtime": 2160, "slurm_partition": "cpu,long"})
    assert not any("too long" in what for what in errors(root, "fits"))
    profile(train={"mem_mb": 8000, "gres": "'gpu:h100:1'"})
    assert any("--gres=gpu:h100:1" in what for what in errors(root, "fits"))


def test_requests_are_those_of_snakemake_and_the_profile(root, profile):
    profile({"gpu_model": "a100", "runtime": "100 * attempt", "mem_mb_per_cpu": 500},
            **{"set-threads": {"train": 3}})  # fmt: skip
    config = [root / "studies/posh-bench/toy.yaml"]
    requests, rules, _ = doctor.job_requests("site", config, "exp1", None)
    train = [request for request in requests if request.rule == "train"]
    assert [(r.attempt, r.minutes) for r in train] == [(1, 100), (2, 200), (3, 300)]
    options = train[0].options.split()
    assert {"--mem-per-cpu", "500", "--cpus-per-task=3", "--gpus=a100:1"} <= set(options)
    assert {"train", "score", "report"} <= set(rules)
    assert "all" not in {request.rule for request in requests}


def test_the_shipped_profile_has_no_fault_but_the_cluster(root, profile, monkeypatch):
    assert errors(root, "profile") == []
    monkeypatch.setenv("PATH", "/nowhere")
    findings = doctor.examine("site", [root / "studies/posh-bench/toy.yaml"], "exp1", None)
    assert [(finding.state, finding.check) for finding in findings] == [
        ("error", "SLURM"),
        ("ok", "executor"),
    ]


def test_faults_of_a_profile_are_found(root, profile):
    profile(**{
        "executor": "local", "slurm-status-command": "sacct", "cores": 4,
        "default-resources": {"gpus": 1}, "set-resources": {"trian": {"gpu": 1}},
    })  # fmt: skip
    text = "\n".join(errors(root, "profile"))
    for fault in ("executor", "sacct", "cores", "'gpus'", "'trian'"):
        assert fault in text
