"""The largest balanced part that fits: against every subset, and laid over the configuration."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from poshgrid.errors import PoshgridError
from poshgrid.grid import configfile
from poshgrid.grid.grid import Grid
from poshgrid.grid.runs import Run
from poshgrid.planning import budget, show
from poshgrid.planning.jobs import Job
from poshgrid.planning.plan import make

HOUR = 3600


def job(number, rule, needs=(), **wildcards):
    return Job(number, rule, wildcards, ("missing",), (), 1, tuple(needs))


def axes(run):
    return {"condition": run.condition, "size": run.size, "learner": run.learner,
            "regimen": run.regimen, "bias": run.bias, "seed": str(run.seed)}  # fmt: skip


def grid_of(points, shared):
    """Jobs of (size, seed, hours) blocks of two conditions, and one that all of a size need."""
    runs = [Run(c, size, "m", "packed", "none", seed)
            for size, seed, _ in points for c in ("a", "b")]  # fmt: skip
    found, seconds = [], {}
    sizes = sorted({size for size, _, _ in points})
    for number, size in enumerate(sizes):
        found.append(job(number, "parse", size=size))
        seconds[number] = shared * HOUR
    for run in runs:
        number = len(found)
        hours = next(h for s, e, h in points if (s, e) == (run.size, run.seed))
        found.append(job(number, "train", [sizes.index(run.size)], **axes(run)))
        seconds[number] = hours * HOUR / 2
    return runs, found, seconds


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.sampled_from(["1M", "2M", "3M"]), st.integers(1, 3),
                       st.integers(1, 9)), min_size=1, max_size=6,
             unique_by=lambda p: (p[0], p[1])),
    st.integers(0, 3),
    st.integers(1, 40),
)  # fmt: skip
def test_no_subset_is_better(points, shared, hours):
    runs, jobs, seconds = grid_of(points, shared)

    def worth(chosen):
        cost = sum(h for _, _, h in chosen) + shared * len({s for s, _, _ in chosen})
        return cost, (2 * len(chosen), len({s for s, _, _ in chosen}), -cost)

    subsets = (s for n in range(1, len(points) + 1) for s in itertools.combinations(points, n))
    best = max((worth(s)[1] for s in subsets if worth(s)[0] <= hours), default=None)
    if best is None:
        with pytest.raises(PoshgridError, match="no size and seed fits; the cheapest takes"):
            budget.choose(runs, jobs, seconds, hours)
        return
    found = budget.choose(runs, jobs, seconds, hours)
    assert (len(found.runs), len({r.size for r in found.runs}), -found.gpu_hours) == (
        best[0], best[1], pytest.approx(best[2]))  # fmt: skip
    # balanced: both conditions of every size and seed
    assert {(r.size, r.seed, c) for r in found.runs for c in "ab"} == {
        (r.size, r.seed, r.condition) for r in found.runs
    }


def test_a_null_is_paid_once_and_by_whoever_needs_it():
    runs = [Run("a", "1M", "m", "packed", bias, 1) for bias in ("none", "recency")]
    null = Run("a", "1M", "m", "untrained", "none", 1)
    counted = {"condition": "a", "size": "1M", "learner": "ngram"}
    jobs = [
        job(0, "train", **axes(runs[0])), job(1, "train", **axes(runs[1])),
        job(2, "score", **axes(null)), job(3, "count", **counted), job(4, "items"),
        job(5, "accuracy", [0, 1, 2, 3, 4]),
    ]  # fmt: skip
    hours = {0: 10, 1: 20, 2: 5, 3: 1, 4: 2}
    found = budget.choose(runs, jobs, {n: h * HOUR for n, h in hours.items()}, 37)
    assert [r.bias for r in found.runs] == ["none"]
    assert found.gpu_hours == pytest.approx(10 + 5 + 1 + 2)  # items: whatever is chosen
    assert budget.choose(runs, jobs, {n: h * HOUR for n, h in hours.items()}, 38).dropped == ()


def test_runs_that_share_a_gpu_are_chosen_all_or_none():
    """Four seeds, two on a GPU: half an hour of it for each, and a score. A null has no seed."""
    runs = [Run("a", "1M", "m", "packed", "none", seed) for seed in (1, 2, 3, 4)]
    cell = {key: value for key, value in axes(runs[0]).items() if key != "seed"}
    counted = {"condition": "a", "size": "1M", "learner": "ngram"}
    jobs = [
        job(0, "count", **counted), *(job(n, "train", **axes(r)) for n, r in enumerate(runs, 1)),
        job(5, "together", [1, 2], **cell, part="0"), job(6, "together", [3, 4], **cell, part="1"),
        *(job(n, "score", [n - 6], **axes(r)) for n, r in enumerate(runs, 7)),
    ]  # fmt: skip
    seconds = dict.fromkeys((1, 2, 3, 4), HOUR / 2) | dict.fromkeys((7, 8, 9, 10), HOUR / 10)
    with pytest.raises(PoshgridError, match=r"the cheapest takes 1\.2 GPU-hours"):
        budget.choose(runs, jobs, seconds, 1.15)
    found = budget.choose(runs, jobs, seconds, 2.3)
    assert ([r.seed for r in found.runs], found.gpu_hours) == ([1, 2], pytest.approx(1.2))
    assert budget.choose(runs, jobs, seconds, 2.4).dropped == ()
    # A seed of another target, which shares with one of this: trained with it, and paid.
    found = budget.choose(runs[:1], jobs[:8], {n: seconds[n] for n in (1, 2, 7)}, 1.1)
    assert found.gpu_hours == pytest.approx(1.1)
    # Nothing shared: the cheapest seeds.
    apart = [each for each in jobs if each.rule != "together"]
    assert [r.seed for r in budget.choose(runs, apart, seconds, 1.9).runs] == [1, 2, 3]


def test_what_shares_is_planned_again_as_it_was_chosen(root, tmp_path, monkeypatch):
    """By Snakemake, with two seeds on a GPU: no seed is trained that was not chosen."""
    monkeypatch.chdir(tmp_path)
    tiny = yaml.safe_load((root / "config/tiny.yaml").read_text(encoding="utf-8"))
    for regimen in tiny["regimens"]:
        regimen["together"] = 2
    files = [Path("tiny.yaml"), Path("overlay.yaml")]
    files[0].write_text(yaml.safe_dump(tiny))

    def plan(files):
        return make(files, "exp1", results=Path("else where"), gpus=1, cores=4, gpu="A100")

    whole = plan(files[:1])
    hours = whole.amounts().gpu_hours * 0.9
    chosen = budget.choose(whole.runs, whole.jobs, whole.gpu_seconds, hours)
    assert 0 < len(chosen.runs) < len(whole.runs)
    said = list(show.selection(whole, chosen, hours, files[1]))
    assert said[-1].endswith(
        "--configfile tiny.yaml overlay.yaml --config 'results=else where' -- exp1"
    )
    files[1].write_text(budget.overlay_text(budget.overlay(whole.grid, "exp1", chosen), []))
    smaller = plan(files)
    assert smaller.amounts().gpu_hours == pytest.approx(chosen.gpu_hours)
    trained = [j.wildcards for j in smaller.jobs if j.rule == "train"]
    assert trained == [axes(run) for run in chosen.runs]


@pytest.mark.parametrize("target", ["exp2", "all", "full"])
def test_an_overlay_leaves_exactly_the_chosen_runs(root, tmp_path, target):
    paths = [root / "config/config.yaml"]
    grid = Grid(configfile.load(*paths))
    runs = grid.targets[target]
    jobs = [job(n, "train", **axes(run)) for n, run in enumerate(runs)]
    seconds = {n: HOUR * (1 + n % 5) for n in range(len(runs))}
    chosen = budget.choose(runs, jobs, seconds, sum(seconds.values()) / HOUR * 0.6)
    assert 0 < len(chosen.runs) < len(runs)
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text(budget.overlay_text(budget.overlay(grid, target, chosen), ["why"]))
    smaller = Grid(configfile.load(*paths, overlay))
    assert smaller.targets[target] == sorted(chosen.runs)
    assert smaller.targets["all"] == sorted(chosen.runs)
    # Nothing that is cut for all sizes changes: what is there stays valid.
    assert {b: smaller.sizes(b) for b in smaller.bases} == {b: grid.sizes(b) for b in grid.bases}
    assert smaller.corpora() == grid.corpora()
    # An overlay of an overlay
    left = [j for j, run in zip(jobs, runs, strict=True) if run in set(chosen.runs)]
    paid = {j.number: seconds[j.number] for j in left}
    again = budget.choose(smaller.targets[target], left, paid, chosen.gpu_hours / 2)
    assert len(again.runs) < len(chosen.runs)
    overlay.with_name("two.yaml").write_text(
        budget.overlay_text(budget.overlay(smaller, target, again), [])
    )
    smallest = Grid(configfile.load(*paths, overlay, overlay.with_name("two.yaml")))
    assert smallest.targets[target] == sorted(again.runs)
    assert {b: smallest.sizes(b) for b in grid.bases} == {b: grid.sizes(b) for b in grid.bases}


def test_a_plan_of_the_overlay_fits_the_budget(root, tmp_path, monkeypatch):
    """Planned again by Snakemake, from the file: the same runs, within the budget."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "place.yaml").write_text("{results: r, data: d}")
    files = [root / "config/config.yaml", Path("place.yaml")]
    whole = make(files, "exp2", gpus=8, cores=32, gpu="A100")
    chosen = budget.choose(whole.runs, whole.jobs, whole.gpu_seconds, 300)
    assert chosen.gpu_hours <= 300 < chosen.whole
    assert chosen.whole == pytest.approx(whole.amounts().gpu_hours)
    Path("overlay.yaml").write_text(
        budget.overlay_text(budget.overlay(whole.grid, "exp2", chosen), [])
    )
    smaller = make([*files, Path("overlay.yaml")], "exp2", gpus=8, cores=32, gpu="A100")
    assert smaller.runs == list(chosen.runs)
    assert smaller.amounts().gpu_hours == pytest.approx(chosen.gpu_hours)
    assert yaml.safe_load(Path("overlay.yaml").read_text()).keys() == {"experiments"}
