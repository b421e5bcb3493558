"""What would run, and why: as Snakemake's own dry-run says, and in words that name the cause."""

from collections import Counter
from pathlib import Path

import pytest

from poshgrid.core.errors import PoshgridError
from poshgrid.planning import launch, plan


def test_snakemakes_refusal_is_an_error_for_people(root, tmp_path, monkeypatch):
    """A rule's input that no job makes: Snakemake's reason, no traceback."""
    (tmp_path / "Snakefile").write_text(
        "rule all:\n    input: 'made.txt'\nrule make:\n    input: 'gone.txt'\n"
        "    output: 'made.txt'\n    shell: 'cp {input} {output}'\n"
    )
    monkeypatch.chdir(tmp_path)

    def planned():
        parser, args, _ = launch.parsed(["-n", "--", "all"])
        return plan.graph(parser, args, plan.read)

    with pytest.raises(PoshgridError, match=r"all: Snakemake cannot plan it: .*gone\.txt"):
        planned()
    assert Path.cwd() == tmp_path
    (tmp_path / "gone.txt").write_text("here")
    assert [(job.rule, job.reasons) for job in planned()] == [("make", ("missing",))]


def test_differences_name_keys_and_values():
    old = {"a": {"b": 1, "c": [1, 2]}, "d": None}
    new = {"a": {"b": 2, "c": [1, 2]}, "e": "x"}
    assert Counter(plan.differences(old, new)) == Counter(["a.b: 1 -> 2", 'e: null -> "x"'])
