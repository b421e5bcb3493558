"""Learning a detector of evidence from gold trees, and telling how good it is on others."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from poshgrid import logs
from poshgrid.config import specs
from poshgrid.config.runs import SPLITS
from poshgrid.errors import PoshgridError
from poshgrid.evidence.label import rules_of
from poshgrid.evidence.match import Rule
from poshgrid.evidence.screening import strata
from poshgrid.evidence.screening.detector import Detector, train
from poshgrid.files import atomic_folder, write_json
from poshgrid.parsing import treebank
from poshgrid.parsing.tree import Tree

STATISTICS = "statistics.json"


def learn(spec: specs.DetectorSpec, data: Path, output: Path) -> dict[str, Any]:
    """Write a detector's folder, with ``statistics.json`` beside its model.

    Evidence of a filter is what any of its readings in the spec takes among the gold trees.

    Args:
        spec: the gold trees, and the filters in the readings that conditions use.
        data: folder that the treebank's paths are relative to.
        output: folder to write to.

    Returns:
        The content of ``statistics.json``: sentences and words of the gold trees, ``gold``, and for
        each filter ``sentences`` that it was learned from (those that pass the filter's screen) and
        how many of them are evidence, ``positive``; and of the held-out trees, ``heldout``:
        ``evidence``, its ``missed`` part that no score is given, and ``strata``: how much of it
        lies in each stratum of the held-out sentences, and how many sentences do.

    Raises:
        PoshgridError: there are no filters, or the gold trees are missing, malformed, too few to
            divide or without evidence.
    """
    if not spec.filters:
        raise PoshgridError(
            "detector: no filters to learn; name a condition with filters in audit.conditions"
        )
    rules: dict[str, list[Rule]] = {}
    for each in spec.filters:
        rules.setdefault(each.name, []).append(rules_of(each.name).readings[each.reading])
    with tempfile.TemporaryDirectory() as folder:
        given = specs.TreebankSpec(treebank=spec.treebank)
        gold = treebank.prepare(given, data, Path(folder))
        parts = {each: treebank.trees(Path(folder) / f"{each}.conllu") for each in SPLITS}
    detector = train(parts["train"], rules)
    with atomic_folder(output) as temporary:
        detector.save(temporary)
    heldout = [*parts["dev"], *parts["test"]]
    filters = {
        word: {**detector.facts[word], "heldout": _tried(detector, word, mine, heldout)}
        for word, mine in rules.items()
    }
    facts = {"gold": gold, "filters": filters}
    write_json(output / STATISTICS, facts)
    for word, found in filters.items():
        logs.get(__name__).info("%s: %s", word, found)
    return facts


def _tried(
    detector: Detector, word: str, rules: Sequence[Rule], trees: Sequence[Tree]
) -> dict[str, Any]:
    """Return where the evidence of held-out trees lies in the order of scores."""
    evidence = np.array([any(rule(tree) for rule in rules) for tree in trees], bool)
    scores = detector.scores(word, [tree.form for tree in trees])
    levels = strata.levels(scores)
    mine = strata.strata(levels)[levels]
    return {
        "evidence": int(evidence.sum()),
        "missed": int((evidence & (scores == 0)).sum()),
        "strata": {
            str(number): {
                "sentences": int((mine == number).sum()),
                "evidence": int((evidence & (mine == number)).sum()),
            }
            for number in sorted(set(mine.tolist()))
        },
    }
