"""The doctor: each fault that is planted in a cluster or a profile is found, and named."""

from __future__ import annotations

import errno
import logging
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from poshgrid.cluster import doctor, fit, probe, profile, sbatch, slurm
from poshgrid.cluster.sbatch import Kind, Request, Workflow
from poshgrid.commands import cluster  # noqa: F401 - adds the commands
from poshgrid.commands.base import app
from poshgrid.errors import PoshgridError
from poshgrid.provenance import lock

RULES = {"train": ["step"], "score": [], "parse": []}
GOOD = {
    "executor": "slurm",
    "jobs": 100,
    "retries": 2,
    "latency-wait": 60,
    "rerun-incomplete": True,
    "slurm-status-command": "squeue",
    "default-resources": {"mem_mb": 4000, "runtime": 60},
    "set-resources": {"train": {"gpu": 1, "step": "'srun'"}},
    "groups": {"score": "late"},
}
SINFO = """\
n1\tcpu*\t16\t64000\t(null)\tidle
n2\tcpu*\t16\t128000\t(null)\tmix
g1\tgpu\t32\t256000\tgpu:a100:4(S:0-1)\talloc
g2\told\t8\t32000\tgpu:k80:2\tdown*
"""
SCONTROL = """\
PartitionName=cpu AllowAccounts=ALL Default=YES MaxTime=1-00:00:00 State=UP MaxMemPerNode=UNLIMITED
PartitionName=gpu AllowAccounts=lab,guests Default=NO MaxTime=2-00:00:00 MaxMemPerNode=200000
PartitionName=old AllowAccounts=ALL Default=NO MaxTime=UNLIMITED State=UP MaxMemPerNode=UNLIMITED
PartitionName=shut AllowAccounts=ALL Default=NO MaxTime=UNLIMITED State=DOWN MaxMemPerNode=UNLIMITED
"""
CONFIG = """\
AccountingStorageType   = {accounting}
MinJobAge               = {age} sec
JobRequeue              = {requeue}
"""


class Standin:
    """A SLURM of small scripts: what each prints is a file, and sbatch runs its script here."""

    def __init__(self, top, monkeypatch):
        self.top, self.bin = top, top / "bin"
        self.bin.mkdir()
        self.prints("sinfo", SINFO)
        self.write("partitions", SCONTROL)
        self.settings()
        self.prints("squeue", "")
        self.script(
            "scontrol",
            f"""case "$*" in
            ping) echo 'Slurmctld(primary) is UP';;
            *partition) cat {top}/partitions;;
            *config) cat {top}/config;;
        esac""",
        )
        self.prints("sacctmgr", "lab\nmine\n")
        self.script("scancel", f'echo "$@" >> {top}/cancelled')
        self.batch('env -i PATH="$PATH" PYTHONPATH="${PYTHONPATH:-}" sh "$script" > /dev/null 2>&1')
        monkeypatch.setenv("PATH", f"{self.bin}:{Path(sys.executable).parent}:/usr/bin:/bin")
        monkeypatch.delenv("SLURM_JOB_ID", raising=False)
        self.checkout = top / "my checkout"
        self.checkout.mkdir()
        (self.checkout / "Snakefile").write_text("")
        monkeypatch.chdir(self.checkout)

    def write(self, name, text):
        (self.top / name).write_text(text)

    def script(self, name, body):
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    def prints(self, name, text):
        self.write(name, text)
        self.script(name, f"cat {self.top}/{name}")

    def settings(self, accounting="accounting_storage/slurmdbd", age=600, requeue=1):
        self.write("config", CONFIG.format(accounting=accounting, age=age, requeue=requeue))

    def batch(self, body):
        self.script(
            "sbatch",
            f"""test "$1" = --version && {{ echo 'slurm 22.05'; exit; }}
            echo "$@" >> {self.top}/submitted
            for script; do :; done
            {body}
            echo '77;here'""",
        )

    def lines(self, name):
        path = self.top / name
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def site(tmp_path, monkeypatch):
    return Standin(tmp_path, monkeypatch)


def request(**changed):
    return Request(**({"flags": "-t 60", "mem_mb": 4000, "runtime": 60} | changed))


def kind(name="train", first=None, last=None, count=1):
    first = first or request()
    return Kind(name, {name: 1}, count, {1: first, 3: last or first})


def said(findings):
    return [(finding.state, finding.line()) for finding in findings]


def bad(findings):
    return [finding.line() for finding in findings if finding.state != "ok"]


# ---- what SLURM says --------------------------------------------------------------------------


def test_nodes_and_partitions(site):
    nodes = slurm.nodes()
    assert [(n.name, n.partition, n.cpus, n.memory_mb) for n in nodes] == [
        ("n1", "cpu", 16, 64000), ("n2", "cpu", 16, 128000), ("g1", "gpu", 32, 256000),
        ("g2", "old", 8, 32000),
    ]  # fmt: skip
    assert [dict(n.devices) for n in nodes] == [{}, {}, {("gpu", "a100"): 4}, {("gpu", "k80"): 2}]
    assert [n.usable for n in nodes] == [True, True, True, False]
    partitions = slurm.partitions()
    assert [(p.default, p.minutes, p.memory_mb) for p in partitions.values()] == [
        (True, 1440, None), (False, 2880, 200000), (False, None, None), (False, None, None),
    ]  # fmt: skip
    assert partitions["gpu"].accounts == ("lab", "guests")
    assert not partitions["shut"].up


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("(null)", {}),
        ("gpu", {("gpu", ""): 1}),
        ("gpu:2", {("gpu", ""): 2}),
        ("gpu:a100", {("gpu", "a100"): 1}),
        ("gpu:a100:4(S:0,2-3),gpu:t4:1", {("gpu", "a100"): 4, ("gpu", "t4"): 1}),
        ("gpu:2(S:0-1),shard:8", {("gpu", ""): 2, ("shard", ""): 8}),
        ("lustre:2K", {("lustre", ""): 2048}),
    ],
)  # fmt: skip
def test_generic_resources(text, found):
    assert sbatch.generic(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [("UNLIMITED", None), ("infinite", None), ("n/a", None), ("30", 30), ("1:30", 1),
     ("02:30:00", 150), ("1-00:00:00", 1440), ("2-12", 3600), ("2-12:30", 3630)],
)  # fmt: skip
def test_time_limits(text, found):
    assert slurm.minutes(text) == found


def test_a_command_that_fails_hangs_or_is_missing(site):
    site.script("sinfo", "echo 'sinfo: error: no route' >&2; exit 1")
    with pytest.raises(PoshgridError, match=r"^sinfo: error: no route$"):
        slurm.nodes()
    lost = "error: DNS SRV lookup failed; fatal: Could not establish a configuration source"
    site.script("sinfo", f"echo 'sinfo: {lost}' >&2; exit 1")
    with pytest.raises(PoshgridError, match=r"^sinfo: .* no cluster; run this on a login node$"):
        slurm.nodes()
    site.script("sinfo", "exec sleep 5")
    with pytest.raises(PoshgridError, match=r"no answer within 0\.2 s"):
        slurm.run("sinfo", timeout=0.2)
    with pytest.raises(PoshgridError, match="nosuchtool: not found"):
        slurm.run("nosuchtool")


# ---- fit ----------------------------------------------------------------------------------------


def fits(site, **changed):
    return fit.problems(request(**changed), slurm.nodes(), slurm.partitions())


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"mem_mb": 128000, "cpus": 16, "runtime": 1440},
        {"partition": "gpu", "gpu": 4},
        {"partition": "gpu", "gpu": 4, "gpu_model": "a100"},
        {"partition": "gpu", "gres": "gpu:a100:2", "account": "lab"},
        {"partition": "shut,gpu", "gpu": 1},  # SLURM takes one of them
        {"mem_mb": None, "mem_mb_per_cpu": 8000, "cpus": 16},
    ],
)
def test_it_fits(site, changed):
    assert fits(site, **changed) == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"mem_mb": 128001}, "128001 MB, and the nodes of cpu have 128000"),
        ({"mem_mb": None, "mem_mb_per_cpu": 8001, "cpus": 16}, "128016 MB"),
        ({"cpus": 17}, "17 CPUs, and the nodes of cpu have 16"),
        ({"runtime": 1441}, "1441 min, and partition cpu gives 1440"),
        ({"gpu": 1}, "1 gpu, and the nodes of cpu have none"),
        ({"partition": "gpu", "gpu": 5}, "5 gpu, and the nodes of gpu have 4"),
        ({"partition": "gpu", "gres": "gpu:h100:1"}, "1 gpu:h100, and the nodes of gpu have none"),
        ({"partition": "gpu", "mem_mb": 200001}, "200001 MB, and partition gpu gives 200000"),
        ({"partition": "gpu", "account": "other"}, "does not take account other"),
        ({"partition": "old", "gpu": 1}, "all nodes of old that could are down*"),
        ({"partition": "shut"}, "partition shut is not up"),
        ({"partition": "gpuu"}, "no partition 'gpuu'"),
        ({"error": "no such thing"}, "the plug-in refuses it: no such thing"),
    ],
)
def test_it_does_not_fit(site, changed, said):
    found = fits(site, **changed)
    assert any(said in problem.what for problem in found), found
    assert all(problem.resource or problem.remedy for problem in found)


def test_no_single_node_has_all(site):
    site.prints("sinfo", "a\tcpu*\t4\t64000\tgpu:1\tidle\nb\tcpu*\t32\t64000\t(null)\tidle\n")
    assert "no single node of cpu has all" in fits(site, gpu=1, cpus=8)[0].what


def test_a_near_name_is_proposed(site):
    assert fits(site, partition="gpuu")[0].remedy == "did you mean 'gpu'?"


def checked(*kinds, unused=(), **given):
    """What is said of kinds of jobs, under a profile that says this."""
    profiles = {key.replace("_", "-"): value for key, value in given.items()}
    written = profile.Written(Path("slurm/config.yaml"), profiles, unused)
    return [f.line() for f in fit.check(kinds, slurm.nodes(), slurm.partitions(), written)]


def test_what_grows_is_capped_from_its_first_attempt(site):
    """Pasted, the remedy changes no attempt that fits."""
    grown = kind("train", request(runtime=720), request(runtime=2160))
    items = kind("items", request(mem_mb=48000), request(mem_mb=144000))
    assert checked(grown, items) == [
        "warning fits: train, attempt 3: 2160 min, and partition cpu gives 1440; write "
        "`runtime: min(720 * attempt, 1440)` for `train` in set-resources of slurm/config.yaml",
        "warning fits: items, attempt 3: 144000 MB, and the nodes of cpu have 128000; write "
        "`mem_mb: min(48000 * attempt, 128000)` for `items` in set-resources of slurm/config.yaml",
    ]


def test_a_groups_sum_is_not_capped_for_each_of_its_jobs(site):
    attempts = {1: request(), 3: request(mem_mb=144000)}
    (line,) = checked(Kind("cell", {"tokens": 2, "tokenizer": 1}, 1, attempts))
    assert line.endswith("; lower `mem_mb` for `tokens`, `tokenizer` in set-resources of "
                         "slurm/config.yaml")  # fmt: skip


def test_the_first_attempt_is_an_error_and_a_later_one_says_only_what_is_new(site):
    assert checked(kind("x", request(runtime=1500), request(runtime=4500))) == [
        "error   fits: x, attempt 1: 1500 min, and partition cpu gives 1440; write `runtime: 1440` "
        "or less for `x` in set-resources of slurm/config.yaml",
    ]
    error, warning = checked(kind("x", request(cpus=99), request(cpus=99, mem_mb=999999)))
    assert error.startswith("error   fits: x, attempt 1: 99 CPUs") and "set-threads" in error
    assert warning.startswith("warning fits: x, attempt 3: 999999 MB")


def test_what_fits_alike_is_one_line(site):
    assert checked(kind("a"), kind("b"), kind("c", request(partition="gpu"))) == [
        "ok      fits: a, b: attempts 1 to 3 in cpu",
        "ok      fits: c: attempts 1 to 3 in gpu",
    ]


def test_one_mistake_is_one_line_and_says_where_it_is_written(site):
    lost = [kind(f"rule{n}", request(partition="gpu-long")) for n in range(9)]
    line = (
        "error   fits: {}, attempt 1: no partition 'gpu-long'; write `slurm_partition` {} of "
        "slurm/config.yaml; known: cpu, gpu, old, shut"
    )
    defaults = {"slurm_partition": "gpu-long"}
    assert checked(*lost, kind("score"), default_resources=defaults) == [
        line.format("rule0, rule1, rule2 and 6 more", "in default-resources"),
        "ok      fits: score: attempts 1 to 3 in cpu",
    ]
    own = {"rule7": {"slurm_partition": "gpu-long"}}
    assert checked(
        *lost[6:], default_resources=["slurm_partition=gpu-long"], set_resources=own
    ) == [
        line.format("rule6, rule8", "in default-resources"),
        line.format("rule7", "for `rule7` in set-resources"),
    ]


def test_a_default_without_effect_is_not_where_to_mend(site):
    big = kind("items", request(mem_mb=999999))
    taken = checked(big, default_resources={"mem_mb": 999999})
    assert "less in default-resources of" in taken[0]
    (line,) = checked(big, default_resources={"mem_mb": 999999}, unused=["mem_mb"])
    assert "less for `items` in set-resources of" in line


def test_without_a_default_partition(site):
    site.write("partitions", SCONTROL.replace("Default=YES", "Default=NO"))
    assert "no default" in fits(site)[0][0]


# ---- the profile --------------------------------------------------------------------------------


def changed(**keys):
    given = {**GOOD, **{key.replace("_", "-"): value for key, value in keys.items()}}
    return {key: value for key, value in given.items() if value is not None}


def test_a_good_profile_has_nothing_wrong():
    assert bad(profile.check(GOOD, RULES)) == []


@pytest.mark.parametrize(
    ("given", "state", "words"),
    [
        ({"executor": None}, "error", "executor: slurm"),
        ({"executor": "local"}, "error", "executor is local"),
        ({"slurm_status_command": None}, "error", "hangs silently"),
        ({"slurm_status_command": "sacct"}, "error", "hangs silently"),
        ({"slurm_array_jobs": "all"}, "error", "loses outputs"),
        ({"cores": 4}, "warning", "caps the threads"),
        ({"retries": 0}, "warning", "retries is 0"),
        ({"latency_wait": 5}, "warning", "latency-wait is 5"),
        ({"jobs": None}, "warning", "does not start"),
        ({"rerun_incomplete": None}, "warning", "rerun-incomplete"),
        ({"set_resources": {"trian": {"gpu": 1}}}, "error", "no rule 'trian'"),
        ({"set_threads": {"socre": 1}}, "error", "did you mean 'score'?"),
        ({"groups": {"nothing": "late"}}, "error", "groups: no rule 'nothing'"),
        ({"set_resources": {"train": {"gpus": 1}}}, "error", "write `gpu: 1`"),
        ({"set_resources": {"score": {"step": "x"}}}, "error", "does not know 'step'"),
        ({"default_resources": {"partition": "x"}}, "error", "write `slurm_partition`"),
        ({"default_resources": ["mem_mb=1", "gpus=1"]}, "error", "write `gpu: 1`"),
        ({"set_resources": {"train": {"mem_mbb": 1}}}, "error", "did you mean 'mem_mb'?"),
        ({"set_resources": {"train": {"gpu": 1, "gres": "gpu:1"}}}, "error", "both gpu and gres"),
    ],
)
def test_faults_of_a_profile(given, state, words):
    lines = [f for f in profile.check(changed(**given), RULES) if f.state != "ok"]
    assert len(lines) == 1, lines
    assert lines[0].state == state
    assert words in lines[0].line()


def test_the_plugin_reads_what_we_know():
    """The names of resources in the plug-in's code are ours; a new version may have more."""
    import snakemake_executor_plugin_slurm as plugin

    code = "".join(p.read_text() for p in Path(plugin.__file__).parent.glob("*.py"))
    read = set(re.findall(r"job\.resources(?:\.get\(\s*\"|\[\")(\w+)\"", code))
    assert {"gpu", "gres", "slurm_account", "constraint"} <= read
    assert read - profile.RESOURCES == set()
    assert "gpus" not in read


def test_where_a_profile_is_looked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PoshgridError, match=r"'slurm': no config.yaml in \./slurm, .*/home/"):
        profile.find("slurm")
    users = tmp_path / "home/snakemake/slurm/config.yaml"
    for path in (tmp_path / "profiles/slurm/config.yaml", users, tmp_path / "slurm/config.yaml"):
        path.parent.mkdir(parents=True)
        if path != tmp_path / "slurm/config.yaml":
            path.write_text("executor: slurm\n")
        if path == tmp_path / "profiles/slurm/config.yaml":
            with pytest.raises(PoshgridError, match="write --profile profiles/slurm"):
                profile.find("slurm")
            assert profile.find("profiles/slurm") == Path("profiles/slurm/config.yaml")
    (tmp_path / "slurm").rmdir()
    assert profile.find("slurm") == users
    (tmp_path / "slurm").symlink_to("profiles/slurm")
    assert profile.find("slurm").resolve() == tmp_path / "profiles/slurm/config.yaml"


def test_a_link_to_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    (tmp_path / "slurm").symlink_to("profiles/slurm")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PoshgridError, match="git checkout -- slurm"):
        profile.find("slurm")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\nb: [1\n", r"config.yaml:3: not YAML"),
        ("- a\n", "not `key: value` pairs"),
        ("profiles/slurm", "write --profile profiles/slurm"),
        ("x: !!python/object/apply:os.system [true]\n", "not YAML"),
    ],
)
def test_a_profile_that_cannot_be_read(tmp_path, text, words):
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(PoshgridError, match=words) as caught:
        profile.read(path)
    assert "\n" not in str(caught.value)


# ---- accounts, settings -------------------------------------------------------------------------


def accounts(*named):
    return [finding.line() for finding in doctor._accounts(set(named))]


def test_accounts(site):
    assert accounts("Lab") == ["ok      account: Lab is yours"]
    (line,) = accounts("labb")
    assert line.startswith("error") and "did you mean 'lab'?" in line
    (line,) = accounts("")
    assert line.startswith("warning") and "yours: lab, mine" in line


def test_a_cluster_without_accounts(site):
    site.settings(accounting="accounting_storage/none")
    assert accounts("")[0].startswith("ok")
    site.prints("sshare", "")
    (line,) = accounts("lab")
    assert line == (
        "warning account: lab: this cluster keeps no accounts: the plug-in warns, and jobs run all "
        "the same; leave slurm_account out"
    )
    site.script("sshare", "echo 'sshare: error: no database' >&2; exit 1")
    (line,) = accounts("lab")
    assert line.startswith("error   account: lab: this cluster keeps no accounts, and the plug-in")
    assert "refuses the name: sshare: error: no database; leave slurm_account out" in line


@pytest.mark.parametrize("refuses", [False, True])
def test_the_plugin_does_with_an_account_what_we_say(site, refuses):
    """It asks sacctmgr, then sshare, and refuses only where that fails, too."""
    from snakemake_executor_plugin_slurm.accounts import validate_account
    from snakemake_interface_common.exceptions import WorkflowError

    site.script("sacctmgr", "exit 1")
    site.script("sshare", f"exit {int(refuses)}")
    if refuses:
        with pytest.raises(WorkflowError, match="sshare"):
            validate_account("lab", logging.getLogger())
    else:
        assert validate_account("lab", logging.getLogger()) == ""


def test_accounts_that_cannot_be_asked(site):
    site.script("sacctmgr", "echo 'sacctmgr: error: refused' >&2; exit 1")
    (line,) = accounts("lab")
    assert line.startswith("warning") and "refused" in line


def test_settings_of_the_controller(site):
    assert list(doctor._settings()) == []
    site.settings(age=30, requeue=0)
    age, requeue = (finding.line() for finding in doctor._settings())
    assert "30 s after their end" in age
    assert "slurm-requeue" in requeue


@pytest.mark.parametrize(
    ("changed", "warned"),
    [
        ({"flags": "-t 60 --signal=USR1@120", "step": "srun"}, False),
        ({"flags": "-t 60 --exclude=n7", "step": "srun"}, True),  # another slurm_extra
        ({"step": ""}, False),
        ({"error": "refused"}, False),
    ],
)
def test_training_that_is_not_told_of_its_end(changed, warned):
    alone = kind("train", request(**changed))
    group = Kind("together", {"together": 1, "train": 2}, 1, alone.attempts)
    for kinds in ([alone], [group], [kind("score"), alone, group]):
        lines = bad(doctor._told(Workflow({}, kinds)))
        assert len(lines) == warned
        assert all(line.startswith("warning signal: train has `step`") for line in lines)
    assert bad(doctor._told(Workflow({}, [kind("score", request(step="srun"))]))) == []


def test_small_memory():
    flow = Workflow({}, [kind("mix", request(mem_mb=500)), kind("read", request(mem_mb=600))])
    (finding,) = doctor._small(flow)
    assert "mix asks for 500 MB" in finding.line()


# ---- the job ------------------------------------------------------------------------------------


def look(site, placement="", patience=20.0):
    return probe.look(site.top / "results", placement, patience=patience, every=0.05)


def clean(site):
    return not (site.top / "results").exists()


def fast(monkeypatch, output="2.0+cpu|0|-"):
    """Torch is slow to import: what it would say is given."""
    monkeypatch.setattr(probe, "_LOOK", f"print({output!r})")


def test_a_job_that_sees_all(site, monkeypatch):
    fast(monkeypatch, "2.0|2|Some GPU")
    seen = look(site, "-A lab -p gpu --gpus=1")
    assert bad(probe.findings(seen, gpu=True)) == []
    lines = " ".join(finding.line() for finding in probe.findings(seen, gpu=True))
    for words in (
        "reads what is written here",
        f"sees {site.checkout}",
        "waits for a lock that is held here",
        "this machine agree",
        "poshgrid is ",
        "2 x Some GPU",
    ):
        assert words in lines
    (submitted,) = site.lines("submitted")
    assert "--time 1 " in submitted
    assert "-A lab -p gpu --gpus=1" in submitted
    assert site.lines("cancelled") == ["77"]
    assert clean(site)


def test_a_folder_that_is_not_shared(site, monkeypatch):
    """The node has a folder of the same name, with another's file in it, or none."""
    fast(monkeypatch)
    site.batch('sed -i "s/cat token/echo other/" "$script"; sh "$script" > /dev/null 2>&1')
    (line, *_) = bad(probe.findings(look(site), gpu=False))
    assert line.startswith("error   shared folder") and "'other'" in line
    site.batch("")
    site.prints("squeue", "FAILED|NonZeroExitCode\n")
    (line,) = bad(probe.findings(look(site), gpu=False))
    assert "FAILED" in line and "file system that compute nodes share?" in line
    assert clean(site)


def test_a_checkout_that_is_not_shared(site, monkeypatch):
    fast(monkeypatch)
    site.batch(f"""mv '{site.checkout}' {site.top}/gone; sh "$script" > /dev/null 2>&1
        mv {site.top}/gone '{site.checkout}'""")
    (line,) = bad(probe.findings(look(site), gpu=False))
    assert line.startswith("error   working folder")
    assert f"has no {site.checkout}/Snakefile" in line
    (site.checkout / "Snakefile").unlink()  # there is none here, either: said with the workflow
    site.batch('sh "$script" > /dev/null 2>&1')
    assert bad(probe.findings(look(site), gpu=False)) == []


def test_locks_that_do_not_reach_a_node(site, monkeypatch):
    """The node's lock is another: as another file's, which is a copy."""
    fast(monkeypatch)
    site.batch("""cd "$(dirname "$script")" && cp run/lock copy && mv copy run/lock
        sh "$script" > /dev/null 2>&1""")
    (line,) = bad(probe.findings(look(site), gpu=False))
    assert line.startswith("warning locks") and "does not see a lock that is held here" in line
    assert "two jobs that train the same run do not wait" in line
    assert clean(site)


def test_a_file_system_without_locks(site, monkeypatch):
    fast(monkeypatch)
    none = OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
    monkeypatch.setattr(lock, "_try", lambda descriptor: none)
    (line,) = bad(probe.findings(look(site), gpu=False))
    assert line.startswith("warning locks: the results' file system has none")
    monkeypatch.undo()
    seen = probe.Seen({"host": "n1", "lock": "no lock: No locks available", "end": "1"})
    (line,) = bad(probe.findings(seen, gpu=False))
    assert line.startswith("warning locks: the results' file system has none")


def test_a_job_that_is_refused(site):
    site.batch("echo 'sbatch: error: invalid partition' >&2; exit 1")
    (line,) = bad(probe.findings(look(site), gpu=False))
    assert "invalid partition" in line and "first block" in line
    assert site.lines("cancelled") == []
    assert clean(site)


def test_a_job_that_waits_is_cancelled(site):
    site.batch("")
    site.prints("squeue", "PENDING|Resources\n")
    begun = time.monotonic()
    (line,) = bad(probe.findings(look(site, patience=0.3), gpu=False))
    assert time.monotonic() - begun < 15
    assert "PENDING (Resources)" in line and "--patience" in line
    assert site.lines("cancelled") == ["77"]
    assert clean(site)


def test_a_job_that_is_cut_off(site, monkeypatch):
    fast(monkeypatch)
    site.batch('sed -i "/^say torch/,$ d" "$script"; sh "$script" > /dev/null 2>&1')
    site.prints("squeue", "TIMEOUT|TimeLimit\n")
    (line,) = bad(probe.findings(look(site), gpu=False))
    assert line.startswith("warning") and "after 'lock'" in line and "torch is slow" in line


def test_another_environment(site, monkeypatch):
    fast(monkeypatch)
    site.batch('PATH=/usr/bin:/bin sh "$script" > /dev/null 2>&1')
    (line,) = bad(probe.findings(look(site), gpu=False))
    assert line.startswith("error   environment") and "poshgrid does not start" in line
    fast(monkeypatch, "ModuleNotFoundError: No module named 'torch'")
    site.batch('sh "$script" > /dev/null 2>&1')
    (line,) = bad(probe.findings(look(site), gpu=False))
    assert "No module named 'torch'" in line


def test_clocks(site, monkeypatch):
    fast(monkeypatch)
    site.batch("""sed -i 's/date +%s.%N/date -d "90 sec" +%s.%N/' "$script"; sh "$script" """)
    (line,) = bad(probe.findings(look(site), gpu=False))
    assert line.startswith("warning clock") and "s off" in line
    assert probe.clock_here(site.top).state == "ok"
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + 60)
    assert "60 s off" in probe.clock_here(site.top).line()


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"torch": "2.0+cpu|0|-", "gpus": "0"}, "built without CUDA"),
        ({"torch": "2.0|0|-", "gpus": "0"}, "SLURM gave GPU 0; the node's driver"),
        ({"torch": "2.0|0|-", "gpus": ""}, "SLURM gave none"),
    ],
)
def test_a_gpu_that_is_not_seen(said, words):
    finding = probe._gpu(said, "g1")
    assert finding.state == "error"
    assert words in finding.line()


def test_results_that_cannot_be_written(site):
    (site.top / "results").write_text("a file")
    with pytest.raises(PoshgridError, match="cannot write: File exists; choose another folder"):
        look(site)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "No space left on device; make room there or choose another folder with"),
        (errno.EDQUOT, "; make room there or choose"),
        (errno.EACCES, "Permission denied; change its permissions or choose"),
        (errno.EROFS, "Read-only file system; choose another folder with --results"),
    ],
)
def test_the_remedy_is_that_of_the_reason(site, monkeypatch, number, words):
    def refuse(*_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(probe.tempfile, "NamedTemporaryFile", refuse)
    monkeypatch.setattr(probe.tempfile, "mkdtemp", refuse)
    for tried in (lambda: look(site), lambda: probe.clock_here(site.top / "results")):
        with pytest.raises(PoshgridError, match=words):
            tried()
    assert clean(site)


def test_what_was_there_stays(site):
    results = site.top / "a/b"
    probe.clock_here(results)
    assert not (site.top / "a").exists()
    results.mkdir(parents=True)
    probe.clock_here(results)
    assert results.is_dir()


def test_each_line_of_a_job_names_its_place(site, monkeypatch):
    fast(monkeypatch)
    for placement, name in (("-p gpu --gpus=1", " (-p gpu --gpus=1)"), ("", "")):
        lines = [f.line() for f in probe.findings(look(site, placement), gpu=True)]
        node = platform.node() + name
        assert len(lines) > 5
        assert [line for line in lines if f": {node}" not in line] == []
    site.batch("echo 'sbatch: error: no' >&2; exit 1")
    (line,) = bad(probe.findings(look(site, "-p gpu"), gpu=True))
    assert line.startswith("error   GPU job (-p gpu): not submitted")


# ---- all of it ----------------------------------------------------------------------------------


@pytest.fixture
def workflow(tmp_path, monkeypatch):
    """A small workflow with a group, local rules and a GPU, and its profile."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "Snakefile").write_text(
        """
localrules: all
rule all:
    input: "late"
rule train:
    output: "model{n}"
    threads: 3
    resources: mem_mb=lambda wildcards, attempt: 1000 * attempt, step=""
    shell: "{resources.step} touch {output}"
rule score:
    input: "model{n}"
    output: "score{n}"
    shell: "touch {output}"
rule late:
    input: "score1", "score2"
    output: "late"
    shell: "touch {output}"
"""
    )
    given = {**GOOD, "groups": {"score": "late", "late": "late"}}
    given["set-resources"] = {"train": {"gpu": 1, "runtime": "100 * attempt", "step": "'srun'"}}
    write(folder, given)
    monkeypatch.chdir(folder)
    return folder


def write(folder, given):
    (folder / "slurm").mkdir(exist_ok=True)
    (folder / "slurm/config.yaml").write_text(yaml.safe_dump(given))


def test_flags_are_the_plugins(workflow):
    found = sbatch.resolve("slurm")
    assert found.rules["train"] == ["step"]
    late, train = found.kinds
    assert (late.name, late.rules, late.count) == ("late", {"late": 1, "score": 2}, 1)
    assert (train.name, train.count, sorted(train.attempts)) == ("train", 2, [1, 3])
    # Three threads, though a dry-run on a laptop would give one.
    assert train.attempts[1].flags == "-t 100 --mem 1000 --cpus-per-task=3 --gpus=1"
    assert train.attempts[3].flags == "-t 300 --mem 3000 --cpus-per-task=3 --gpus=1"
    assert train.attempts[3].placement == "--gpus=1"
    assert not (workflow / "model1").exists()
    assert not list((workflow / ".snakemake/locks").glob("*.lock"))


def test_flags_of_a_partition_account_and_kind_of_gpu(workflow):
    given = yaml.safe_load((workflow / "slurm/config.yaml").read_text())
    given["default-resources"] |= {"slurm_partition": "cpu", "slurm_account": "lab"}
    given["set-resources"]["train"] = {"gres": "'gpu:a100:2'", "constraint": "'fast'"}
    given |= {"retries": 0, "slurm-qos": "long", "slurm-requeue": True}
    write(workflow, given)
    _, train = sbatch.resolve("slurm").kinds
    assert list(train.attempts) == [1]
    assert train.attempts[1].placement == "-A lab -p cpu --gres=gpu:a100:2 -C fast --qos=long"
    assert train.attempts[1].devices == {("gpu", "a100"): 2}
    assert train.attempts[1].account == "lab"
    assert "--requeue" in train.attempts[1].flags


def test_what_the_plugin_refuses(workflow):
    given = yaml.safe_load((workflow / "slurm/config.yaml").read_text())
    given["set-resources"]["train"]["slurm_extra"] = "'--partition=gpu'"
    write(workflow, given)
    _, train = sbatch.resolve("slurm").kinds
    assert "partition" in train.attempts[1].error


def test_a_workflow_that_cannot_be_built(workflow):
    (workflow / "Snakefile").write_text("rule all:\n    input: 'missing'\n")
    with pytest.raises(PoshgridError, match=r"Snakemake refuses: MissingInput[^\n]*missing"):
        sbatch.resolve("slurm")


def test_what_the_snakefile_says_is_passed_on(workflow):
    code = "import sys\nfor n in '12':\n    print(f'error: a:{n}: wrong; mend', file=sys.stderr)\n"
    (workflow / "Snakefile").write_text(f"{code}sys.exit(1)\n")
    with pytest.raises(PoshgridError) as caught:
        sbatch.resolve("slurm")
    assert str(caught.value) == "a:1: wrong; mend\na:2: wrong; mend"


@pytest.mark.slow
def test_defaults_that_no_rule_takes(workflow):
    """`score` has no time of its own, and `late` none but the profile's; each has its memory."""
    text = (workflow / "Snakefile").read_text().replace(
        "    shell: \"touch", "    resources: mem_mb=4000 + len('x')\n    shell: \"touch"
    )  # fmt: skip
    (workflow / "Snakefile").write_text(text)
    given = yaml.safe_load((workflow / "slurm/config.yaml").read_text())
    given["set-resources"]["late"] = {"runtime": 60}
    write(workflow, given)
    found = sbatch.resolve("slurm")
    assert "mem_mb" in found.unused
    assert "runtime" not in found.unused
    (line,) = bad(profile.check(given, found.rules, found.unused))
    assert line.startswith("warning resources: default-resources: mem_mb has no effect")
    given["set-resources"]["score"] = {"runtime": 60}
    write(workflow, given)
    assert {"mem_mb", "runtime"} <= {*sbatch.resolve("slurm").unused}


def test_defaults_may_be_empty(workflow):
    """As in the profile of this repository, where comments alone stand below the key."""
    given = yaml.safe_load((workflow / "slurm/config.yaml").read_text())
    write(workflow, given | {"default-resources": None})
    assert [kind.name for kind in sbatch.resolve("slurm").kinds] == ["late", "train"]
    assert (
        bad(profile.check(changed(default_resources={}) | {"default-resources": None}, RULES)) == []
    )


# ---- runs that share a GPU ----------------------------------------------------------------------

SHARED_STEP = "srun --overlap --ntasks=1 --cpu-bind=none"


def of_sharing(runs=3, **changed):
    """What is said of a group of so many runs."""
    asked = request(**({"gres": "gpu:1", "step": SHARED_STEP} | changed))
    group = Kind("together", {"together": 1, "train": runs}, 4, {1: asked})
    return list(doctor.check([kind(), group]))


def test_a_profile_that_shares_well():
    assert said(of_sharing()) == [("ok", "ok      sharing: up to 3 runs to a GPU")]
    assert bad(of_sharing(gres="", gpu=1, gpu_model="a100")) == []  # a text: not added up
    assert bad(of_sharing(step="")) == []  # no step of its own
    assert of_sharing(runs=1, gres="", gpu=1) == []  # a last seed that is left over
    assert of_sharing(gres="", error="refused") == []  # said elsewhere
    assert list(doctor.check([kind("train", request(gpu=1))])) == []


@pytest.mark.parametrize(
    ("changed", "words", "remedy"),
    [
        ({"gres": "", "gpu": 3}, "3 runs asks for 3 GPUs", "write `gres: \"'gpu:1'\"` for train"),
        ({"gres": "", "gpu": 3, "gpu_model": "a100"}, "asks for 3 GPUs", "`gpu_model: a100` for"),
        ({"gres": "gpu:h100:2"}, "asks for 2 GPUs", "gres"),
        ({"step": "srun --ntasks=1 --cpu-bind=none"}, "without --overlap the second", "--overlap"),
        ({"step": "srun --overlap --ntasks=1"}, "without --cpu-bind=none", "--cpu-bind=none"),
    ],
)
def test_a_profile_that_shares_badly(changed, words, remedy):
    (finding,) = of_sharing(**changed)
    assert finding.state == "warning"
    assert words in finding.what
    assert remedy in finding.remedy


TOGETHER = """
localrules: all
rule all:
    input: "together0", "together1"
rule train:
    output: "model{n}"
    group: "together"
    threads: 2
    resources: mem_mb=lambda wildcards, attempt: 1000 * attempt, step=""
    shell: "{resources.step} touch {output}"
rule together:
    input: lambda wildcards: [f"model{n}" for n in ((1, 2), (3,))[int(wildcards.part)]]
    output: "together{part}"
    group: "together"
    resources: runtime=0
    shell: "touch {output}"
"""


@pytest.fixture
def shared(workflow):
    """Two runs that share, and a third that is left over."""
    (workflow / "Snakefile").write_text(TOGETHER)
    given = changed(groups=None, retries=1)
    given["set-resources"] = {"train": {"gpu": 1, "runtime": "100 * attempt", "step": "'srun'"}}
    given["default-resources"] = {"mem_mb": 700, "slurm_account": "lab", "slurm_partition": "cpu"}
    write(workflow, given)
    return workflow


@pytest.mark.slow
def test_flags_of_runs_that_share_are_those_that_sbatch_gets(site, shared):
    """The plug-in submits to a stand-in that writes down what it is given, and refuses."""
    site.script("sbatch", f'echo "$@" >> {site.top}/given; echo no >&2; exit 1')
    subprocess.run(
        [sys.executable, "-m", "snakemake", "--profile", "slurm",
         "--slurm-init-seconds-before-status-checks", "1", "--seconds-between-status-checks", "1"],
        check=False, capture_output=True, timeout=120,
    )  # fmt: skip
    found = sbatch.resolve("slurm")
    assert [(kind.name, dict(kind.rules), kind.count) for kind in found.kinds] == [
        ("together", {"together": 1, "train": 1}, 1), ("together", {"together": 1, "train": 2}, 1),
    ]  # fmt: skip
    # What stands between the comment and the command, less the folder.
    given = {
        re.sub(r" -D \S+", "", re.search(r" --comment \S+ (.*) --wrap=", line).group(1))
        for line in site.lines("given")
    }
    asked = {request.flags for kind in found.kinds for request in kind.attempts.values()}
    assert given == asked
    assert {flags.split("--gpus=")[1] for flags in asked} == {"1", "2"}


@pytest.mark.slow
def test_the_doctor_warns_of_a_gpu_for_each_run(site, shared):
    result = run_doctor(shared, "--no-job")
    lines = [line for line in result.output.splitlines() if " sharing: " in line]
    assert [line.split()[0] for line in lines] == ["warning"] * 3
    assert "a group of 2 runs asks for 2 GPUs" in lines[0]
    assert "together = together + 2 train (1 job)\n" in result.output
    given = yaml.safe_load((shared / "slurm/config.yaml").read_text())
    given["set-resources"]["train"] |= {"gres": "'gpu:1'", "step": f"'{SHARED_STEP}'"}
    del given["set-resources"]["train"]["gpu"]
    write(shared, given)
    assert "ok      sharing: up to 2 runs to a GPU" in run_doctor(shared, "--no-job").output


def test_a_group_whose_rules_do_not_go_together(site, shared):
    given = yaml.safe_load((shared / "slurm/config.yaml").read_text())
    given["set-resources"]["train"]["slurm_partition"] = "gpu"
    write(shared, given)
    errors = [line for line in run_doctor(shared, "--no-job").output.splitlines()
              if line.startswith("error")]  # fmt: skip
    assert len(errors) == 1
    assert "fits: together, attempt 1" in errors[0]
    assert "slurm_partition" in errors[0]


def run_doctor(workflow, *arguments):
    given = ["doctor", "--results", str(workflow / "results"), *arguments]
    result = CliRunner().invoke(app, given)
    assert not isinstance(result.exception, PoshgridError)
    return result


def test_the_doctor_finds_all_at_once(site, workflow, monkeypatch):
    fast(monkeypatch)
    given = yaml.safe_load((workflow / "slurm/config.yaml").read_text())
    given["set-resources"]["trian"] = {"gpus": 1}
    write(workflow, given)
    result = run_doctor(workflow)
    assert result.exit_code == 1
    errors = [line for line in result.output.splitlines() if line.startswith("error")]
    for words in ("no rule 'trian'", "'gpus'", "train, attempt 1: 1 gpu, and the nodes of cpu"):
        assert sum(words in line for line in errors) == 1, result.output
    assert "GPU: " in errors[-1]
    assert "warning signal: train has `step`, and no --signal" in result.output
    assert "attempt 3: -t 300 --mem 3000" in result.output
    assert len(site.lines("submitted")) == 2
    assert f"\n{len(errors)} errors, " in result.output


def test_a_healthy_cluster_ends_well(site, workflow, monkeypatch):
    fast(monkeypatch, "2.0|1|Some GPU")
    given = yaml.safe_load((workflow / "slurm/config.yaml").read_text())
    given["default-resources"]["slurm_account"] = "lab"
    given["set-resources"]["train"] |= {
        "slurm_partition": "gpu", "slurm_extra": "'--signal=USR1@120'",
    }  # fmt: skip
    write(workflow, given)
    result = run_doctor(workflow)
    assert result.exit_code == 0, result.output
    assert "0 errors, 0 warnings" in result.output


def test_no_job_is_sent_where_there_is_no_place(site, workflow, monkeypatch):
    fast(monkeypatch)
    given = yaml.safe_load((workflow / "slurm/config.yaml").read_text())
    given["set-resources"]["train"]["slurm_partition"] = "gpuu"
    write(workflow, given)
    result = run_doctor(workflow)
    (error,) = [line for line in result.output.splitlines() if line.startswith("error")]
    assert "train, attempt 1: no partition 'gpuu'; write `slurm_partition` for `train`" in error
    assert "set-resources of slurm/config.yaml; did you mean 'gpu'?" in error
    assert len(site.lines("submitted")) == 1  # late's


def test_results_that_are_a_file_are_one_error(site, workflow):
    (workflow / "results").write_text("")
    result = run_doctor(workflow)
    lines = [line for line in result.output.splitlines() if line.startswith("error")]
    assert lines == [
        f"error   configuration: results: {workflow}/results is not a folder; choose another "
        "folder with --config results=FOLDER"
    ]
    assert site.lines("submitted") == []


def test_no_job_submits_nothing(site, workflow):
    result = run_doctor(workflow, "--no-job", "--no-flags")
    assert site.lines("submitted") == []
    assert "fits: train" in result.output
    assert "sbatch flags" not in result.output
    assert not (workflow / "results").exists()


def test_without_slurm_the_rest_is_checked(site, workflow, monkeypatch):
    folder = site.top / "tools"  # Snakemake's own
    folder.mkdir()
    for name in ("which", "bash"):
        (folder / name).symlink_to(shutil.which(name))
    monkeypatch.setenv("PATH", f"{folder}:{Path(sys.executable).parent}")
    result = run_doctor(workflow)
    assert result.exit_code == 1
    lines = result.output.splitlines()
    assert lines[0].startswith("error   SLURM: sbatch: not found")
    assert "attempt 3: -t 300" in result.output
    assert lines[-1].startswith("1 error, ")


def test_inside_a_job_and_old_plugins(site, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "5")
    assert "inside job 5" in bad(doctor._commands())[0]
    for version, state in (
        ("1.9.0", "error"),
        ("2.8.3", "ok"),
        ("2.9.0", "warning"),
        ("3.0", "warning"),
    ):
        monkeypatch.setattr(doctor.importlib.metadata, "version", lambda name, v=version: v)
        assert [finding.state for finding in doctor._plugin()] == [state]

    def missing(name):
        raise doctor.importlib.metadata.PackageNotFoundError

    monkeypatch.setattr(doctor.importlib.metadata, "version", missing)
    assert "pip install" in bad(doctor._plugin())[0]


def test_a_step_of_the_profile_is_told_and_has_its_cores(root):
    train = profile.read(root / "profiles/slurm/config.yaml")["set-resources"]["train"]
    assert "--signal=USR1@" in train["slurm_extra"]
    assert "--cpu-bind=none" in train["step"]


@pytest.mark.slow
def test_the_profile_of_this_repository(root, monkeypatch):
    """Every rule and resource that profiles/slurm names is known."""
    monkeypatch.chdir(root)
    flow = sbatch.resolve("profiles/slurm", [root / "config/tiny.yaml"])
    given = profile.read(root / "profiles/slurm/config.yaml")
    assert bad(profile.check(given, flow.rules, flow.unused)) == []
    assert [kind.name for kind in flow.kinds for r in kind.attempts.values() if r.error] == []
    (train,) = [kind for kind in flow.kinds if kind.name == "train"][:1]
    first, last = (train.attempts[number] for number in sorted(train.attempts))
    asked = [request for kind in flow.kinds for request in kind.attempts.values()]
    assert all(request.memory and request.runtime for request in asked)  # each rule its own
    assert last.memory > first.memory
    assert last.runtime > first.runtime
