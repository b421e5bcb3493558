"""Slices with their defaults: what a job reads, where its spec leaves out what is as usual."""

from __future__ import annotations

import json
from typing import Any

from poshgrid.grid.slices import Slices

from poshgrid.config import specs

KINDS = {
    "source": specs.SourceSpec, "base": specs.BaseSpec, "treebank": specs.TreebankSpec,
    "parser": specs.ParserSpec, "parse": specs.ParseSpec, "evidence": specs.EvidenceSpec,
    "recall": specs.RecallSpec, "condition": specs.ConditionSpec, "beside": specs.BesideSpec,
    "collateral": specs.CollateralSpec, "detector": specs.DetectorSpec, "audit": specs.AuditSpec,
    "tokenizer": specs.TokenizerSpec, "sweep": specs.TokenizerSpec, "train": specs.TrainSpec,
    "items": specs.ItemsSpec, "count": specs.CountSpec,
    "score": specs.ScoreSpec, "quality": specs.QualitySpec, "measures": specs.MeasuresSpec,
    "judgement": specs.JudgementSpec, "rule_shares": specs.RuleSharesSpec,
    "perplexity": specs.PerplexitySpec, "deltas": specs.DeltasSpec, "model": specs.ModelSpec,
    "report": specs.ReportSpec,
}  # fmt: skip


class FullSlices(Slices):
    """The same methods; their texts hold every key."""

    def __getattribute__(self, name: str) -> Any:
        method = super().__getattribute__(name)
        if name not in KINDS:
            return method
        return lambda *words: json.dumps(
            specs.parse(KINDS[name], method(*words)).model_dump(mode="json"), sort_keys=True
        )
