"""Judge minimal pairs in lm-evaluation-harness as poshgrid does.

``poshgrid export items`` copies this file as ``pairs.py`` into the folder of the tasks that call
it. It must run without poshgrid.

The harness's own accuracy differs in three ways. It compares sums of log-probabilities, not means
over tokens; it counts a tie as right if the good sentence comes first; and it judges each pair
by itself, also if a design judges several pairs together.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

TIE = 1e-6  # nats per token, as in poshgrid: scores that differ by at most this are equal
Member = tuple[float, int]  # log-probability, tokens
Judged = list[Any]  # key of pairs that are judged together ("": by itself), good and bad Member


def dataset(
    file: str, pretrained: str | None = None, revision: str | None = None, **others: object
) -> dict[str, Any]:
    """Return the pairs of a task, with their numbers of tokens if the model is known.

    Args:
        file: file of JSON lines in the folder of this file.
        pretrained: of the harness's ``--model_args``: the model whose tokenizer counts tokens. None
            (the harness has a model object): tokens are unknown, and there is no ``acc_mean``.
        revision: of the model.
        others: further ``--model_args``; ``tokenizer`` names another tokenizer.
    """
    from datasets import Dataset

    lines = Path(__file__).with_name(file).read_text(encoding="utf-8").splitlines()
    pairs = [json.loads(line) for line in lines]
    if pretrained is not None:
        from transformers import AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(
            others.get("tokenizer") or pretrained,
            revision=revision or "main",
            trust_remote_code=False,  # a tokenizer needs no code, even if the model does
        )
        for pair in pairs:
            for member in ("good", "bad"):
                ids = tokenizer.encode(pair[f"sentence_{member}"], add_special_tokens=False)
                pair[f"{member}_tokens"] = len(ids)
    return {"test": Dataset.from_list(pairs)}


def judge(doc: dict[str, Any], results: Sequence[tuple[float, bool]]) -> dict[str, Judged]:
    """Return the values of one pair for ``acc`` (sums) and ``acc_mean`` (means over tokens).

    Args:
        doc: the pair.
        results: log-probability, and an unused flag, of the good and of the bad sentence.
    """
    (good, _), (bad, _) = results
    known = "good_tokens" in doc
    tokens = [doc.get(f"{m}_tokens", len(doc[f"sentence_{m}"].split())) for m in ("good", "bad")]
    judged: Judged = [doc["joint"], (good, tokens[0]), (bad, tokens[1])]
    return {"acc": judged, **({"acc_mean": judged} if known else {})}


def by_sum(judged: Iterable[Judged]) -> float:
    """Return the accuracy if sums over tokens are compared; a tie is half right."""
    return _accuracy(judged, mean=False)


def by_mean(judged: Iterable[Judged]) -> float:
    """Return the accuracy if means over tokens are compared."""
    return _accuracy(judged, mean=True)


def _accuracy(judged: Iterable[Judged], *, mean: bool) -> float:
    sets: dict[object, list[Judged]] = {}
    for number, one in enumerate(judged):
        sets.setdefault(one[0] or number, []).append(one)
    right = 0.0
    for members in sets.values():
        (good, n), (bad, m) = (
            (sum(one[i][0] for one in members), sum(one[i][1] for one in members)) for i in (1, 2)
        )
        margin = good / n - bad / m if mean else good - bad
        tied = abs(margin) <= TIE * (1 if mean else max(n, m))
        right += 0.5 if tied else float(margin > 0)
    return right / len(sets)
