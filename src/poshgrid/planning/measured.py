"""What earlier jobs took, by the manifests that lie in a results folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from poshgrid.config.paths import Paths
from poshgrid.config.runs import COUNTED, UNTRAINED
from poshgrid.planning.stale import told
from poshgrid.training import flops

_MANIFEST = "manifest.json"
_RUN = "{condition}/{size}/{learner}/{regimen}/{bias}/seed{seed}"


@dataclass(frozen=True)
class Earlier:
    """One job that was done.

    Attributes:
        rule: the workflow's rule.
        wildcards: what makes it one of its rule's.
        content: its manifest.
        folder: where its results lie.
        stem: what their names begin with, where others lie there, too; none: all are its own.
    """

    rule: str
    wildcards: Mapping[str, str]
    content: Mapping[str, Any]
    folder: Path
    stem: str | None

    @property
    def device(self) -> str:
        """``cpu`` or ``gpu``."""
        return "cpu" if str(self.content.get("device", "cpu")).startswith("cpu") else "gpu"

    @property
    def gpu(self) -> str:
        """The GPU's name as the driver tells it; ``""``: none, or an older manifest."""
        return str(self.content.get("gpu") or "")

    @property
    def together(self) -> int:
        """How many runs at most shared its GPU; 1: it had one alone, or none."""
        command = self.content.get("command") or []
        if self.device == "cpu" or "--together" not in command[:-1]:
            return 1
        return int(command[command.index("--together") + 1])

    @property
    def cpu_seconds(self) -> float:
        """CPU time, of all threads."""
        return float(self.content.get("cpu_seconds") or 0.0)

    @property
    def wall_seconds(self) -> float:
        """Clock time of the attempt that succeeded."""
        return float(self.content.get("wall_seconds") or 0.0)

    @cached_property
    def megabytes(self) -> float:
        """Size of its files, those of folders below without a manifest counted in."""
        return sum(_sizes(self.folder, self.stem)) / 1e6


class Records:
    """Earlier jobs by rule and device.

    Args:
        earlier: jobs that were done.
        gpu: the GPU that alone counts, of those that ran on one; none: any does.
    """

    def __init__(self, earlier: Iterable[Earlier], gpu: str | None) -> None:
        self._gpu = gpu
        self._by_rule: dict[str, list[Earlier]] = {}
        for each in earlier:
            self._by_rule.setdefault(each.rule, []).append(each)

    def of(self, rule: str, *, on_gpu: bool | None) -> list[Earlier]:
        """Return the earlier jobs of a rule, on a GPU or a CPU; none: on whatever they ran."""
        found = self._by_rule.get(rule, [])
        if on_gpu is None:
            return found
        if not on_gpu:
            return [each for each in found if each.device == "cpu"]
        return [
            each
            for each in found
            if each.device == "gpu" and (self._gpu is None or same_gpu(self._gpu, each.gpu))
        ]


def same_gpu(asked: str, told: str) -> bool:
    """Say whether a GPU that a person names is the one that a driver tells of.

    >>> same_gpu("h100", "NVIDIA H100 80GB HBM3"), same_gpu("h100", "NVIDIA H100 NVL")
    (True, False)
    """
    rates = [[flops.peak_of(name, p) for p in ("float32", "bf16")] for name in (asked, told)]
    return rates[0] == rates[1] and bool(re.search(rf"\b{re.escape(asked)}", told, re.I))


def _sizes(folder: Path, stem: str | None) -> Iterator[int]:
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            below = Path(entry.path)
            if stem is None and not (below / _MANIFEST).exists():
                yield from _sizes(below, None)
        elif stem is None or entry.name.startswith(f"{stem}."):
            yield entry.stat(follow_symlinks=False).st_size


def earlier(paths: Paths) -> list[Earlier]:
    """Read the manifests below a results folder; those of no rule of the workflow are passed over.

    Args:
        paths: of the results folder, which need not exist.
    """
    patterns = [(rule, _pattern(path)) for rule, path in _manifests(paths)]
    skipped = {Path(paths.checkpoints()), Path(paths.log("", "")).parent.parent}
    found = []
    for folder, below, files in os.walk(paths.results):
        below[:] = sorted(name for name in below if Path(folder, name) not in skipped)
        for name in sorted(files):
            if not name.endswith(_MANIFEST):
                continue
            path = Path(folder, name)
            for rule, pattern in patterns:
                match = pattern.fullmatch(path.as_posix())
                if match:
                    found += _read(rule, match.groupdict(), path)
                    break
    return found


def _read(rule: str, wildcards: Mapping[str, str], path: Path) -> list[Earlier]:
    content = told(path)
    if not content:
        return []  # a broken manifest measures nothing; the job itself will say what is wrong
    if rule == "train":
        rule = {UNTRAINED: "untrained", COUNTED: "count"}.get(wildcards["regimen"], rule)
    stem = None if path.name == _MANIFEST else path.name.removesuffix(f".{_MANIFEST}")
    if rule == "tokenizer":  # others lie in its folder, below which are those of other rules
        stem = rule
    return [Earlier(rule, wildcards, content, path.parent, stem)]


def _pattern(path: str) -> re.Pattern[str]:
    """Turn a path with wildcards into an expression that names them."""
    parts = re.split(r"\{(\w+)\}", Path(path).as_posix())
    named = (f"(?P<{p}>[^/]+)" if i % 2 else re.escape(p) for i, p in enumerate(parts))
    return re.compile("".join(named))


def _manifests(paths: Paths) -> Iterator[tuple[str, str]]:
    """Yield each rule with the path of its manifest, in which wildcards are written as in rules."""

    def beside(table: str) -> str:
        return str(Path(table).with_name(f"{Path(table).stem}.{_MANIFEST}"))

    cell = ("{condition}", "{size}")
    yield "read", str(Path(paths.source("{source}")).with_name(_MANIFEST))
    yield "mix", str(Path(paths.sentences("{base}")).with_name(_MANIFEST))
    yield "treebank", f"{paths.treebank('{parser}')}/{_MANIFEST}"
    yield "train_parser", f"{paths.parser('{parser}')}/{_MANIFEST}"
    yield "parse", beside(paths.parses("{base}", "{parser}", "{shard}"))
    yield "evidence", beside(paths.evidence("{base}", "{parser}"))
    yield "recall", beside(paths.recall("{parser}"))
    yield "condition", f"{paths.condition(*cell)}/{_MANIFEST}"
    yield "collateral", f"{paths.collateral(*cell)}/{_MANIFEST}"
    yield "detector", f"{paths.detector()}/{_MANIFEST}"
    yield "audit", f"{paths.audit(*cell)}/{_MANIFEST}"
    yield "tokenizer", f"{paths.tokenizer(*cell)}/{_MANIFEST}"
    yield "tokens", f"{paths.tokens(*cell)}/{_MANIFEST}"
    yield "sweep", beside(paths.sweep(*cell))
    yield "distances", f"{paths.distances(*cell, '{parser}')}/{_MANIFEST}"
    yield "ngrams", f"{paths.ngrams('{base}', '{size}')}/{_MANIFEST}"
    yield "items", str(Path(paths.items("{suite}")).with_name(_MANIFEST))
    yield "rule_preferences", str(Path(paths.rules("{suite}")).with_name(_MANIFEST))
    yield "lengths", f"{paths.lengths(*cell)}/{_MANIFEST}"
    yield "train", f"{paths.model(_RUN)}/{_MANIFEST}"
    yield "score", f"{paths.score_folder(_RUN)}/{_MANIFEST}"
    yield "perplexity", beside(paths.perplexity(_RUN))
    yield "quality", f"{paths.quality('{target}', '{suite}')}/{_MANIFEST}"
    yield "measures", f"{paths.measures('{target}', '{suite}')}/{_MANIFEST}"
    yield "fit", f"{paths.fit('{target}', '{model}')}/{_MANIFEST}"
    yield "rule_shares", f"{paths.rule_shares('{target}')}/{_MANIFEST}"
    yield "curves", f"{paths.curves('{target}')}/{_MANIFEST}"
    yield "deltas", f"{paths.deltas('{target}')}/{_MANIFEST}"
    yield "accuracy", f"{paths.statistics('{target}')}/{_MANIFEST}"
    yield "report", f"{paths.report('{target}')}/{_MANIFEST}"
