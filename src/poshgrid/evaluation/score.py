"""Score every suite with one model: with its kept weights and with its checkpoints."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from poshgrid.benchmark import schema as benchmark
from poshgrid.config import specs
from poshgrid.core import files, logs
from poshgrid.evaluation import schema, tasks
from poshgrid.evaluation.engine import Engine, Request, Score
from poshgrid.evaluation.engines import load as engines
from poshgrid.evaluation.engines import probe

log = logs.get(__name__)
CHECKPOINTS = "checkpoints"


def score(
    spec: specs.ScoreSpec, model: str, items: dict[str, Path], outputs: dict[str, Path]
) -> dict[str, Any]:
    """Write one table of scores for each suite.

    A model's folder may have checkpoints, ``checkpoints/{step}/``, each with ``config.json`` and
    ``model.safetensors``: they are scored, too, with the tokenizer of the folder.

    Args:
        spec: how sentences are scored, the task of each suite, and suites for which masked models
            use another score.
        model: folder of the model, with the tokenizer's files, or its name on the hub.
        items: suite -> its items, with the columns of its task.
        outputs: suite -> the table of scores to write; rows are sorted by step, the kept model
            (null) last.

    Returns:
        Facts for the manifest: items and pairs of each suite, steps, distinct sentences and tokens
        scored with one model, tokens per second, device; ``unwritten``: suites of completions whose
        tables are empty because this kind of model cannot generate text (masked and n-gram models);
        ``unknown``: the share of unknown tokens in each suite, if the tokenizer has such a token.

    Raises:
        PoshgridError: the model cannot be loaded, a table is missing, or a sentence cannot be
            scored.
    """
    suites = {
        name: (spec.tasks[name], files.read_table(path, benchmark.TASKS[spec.tasks[name]]))
        for name, path in sorted(items.items())
    }
    steps = [*checkpoints(model), None]
    scored, seconds = 0, 0.0
    unwritten: set[str] = set()
    with ExitStack() as stack:  # all tables appear together at the end
        writers = {
            suite: stack.enter_context(files.table_writer(outputs[suite], schema.TASKS[task]))
            for suite, (task, _) in suites.items()
        }
        for step in steps:
            loaded = engines.load(
                model if step is None else str(Path(model) / CHECKPOINTS / str(step)),
                spec.scoring,
                revision=spec.revision,
                tokenizer=None if step is None else Path(model),
            )
            engine = _CachingEngine(loaded)
            others = {
                # Masked models have several kinds of score
                name: _CachingEngine(loaded.scoring_by(how))
                if hasattr(loaded, "scoring_by")
                else engine
                for name, how in spec.rescored.items()
            }
            started = time.perf_counter()
            for suite, (task, table) in suites.items():
                own = others.get(suite, engine)
                tokens_before = own.tokens
                if task == "completions" and not engine.writes:
                    log.warning("%s: writes no completions; none for %s", model, suite)
                    unwritten.add(suite)
                else:
                    writers[suite](tasks.BY_NAME[task](suite, table, own, step=step))
                scored += own.tokens - tokens_before
            took = time.perf_counter() - started
            seconds += took
            at = "" if step is None else f", step {step:,}"
            log.info("%s sentences in %.1f s%s", f"{len(engine.known):,}", took, at)
    tokenizer = getattr(loaded, "tokenizer", None)  # n-gram models have none
    unknown = {
        suite: probe.unknown(model, suite, table, tasks.TEXTS[task], tokenizer)
        for suite, (task, table) in suites.items()
        if getattr(tokenizer, "unk_token_id", None) is not None
    }
    config = getattr(getattr(loaded, "model", None), "config", None)
    commit = getattr(config, "_commit_hash", None)  # of the hub; a folder has none
    return {
        "items": {suite: table["item_id"].n_unique() for suite, (_, table) in suites.items()},
        "pairs": {
            suite: table.height for suite, (task, table) in suites.items() if task == "pairs"
        },
        "tasks": {suite: task for suite, (task, _) in suites.items()},
        "unwritten": sorted(unwritten),
        "unknown": unknown,
        "steps": steps[:-1],
        "sentences": len(engine.known),
        "tokens": engine.tokens,
        "tokens_per_second": round(scored / seconds, 1),
        "device": engine.device,
        **({"commit": commit} if commit else {}),
    }


def checkpoints(model: str) -> list[int]:
    """Return the steps of the checkpoints in a model's folder, ascending."""
    folder = Path(model) / CHECKPOINTS
    if not folder.is_dir():
        return []
    return sorted(int(path.name) for path in folder.iterdir() if path.name.isdecimal())


class _CachingEngine:
    """An engine that scores each sentence once, even if several suites have it.

    So a sentence has the same score in all suites, to the last bit.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine, self.device, self.writes = engine, engine.device, engine.writes
        self.known: dict[tuple[str, tuple[int, int] | None], Score] = {}

    @property
    def tokens(self) -> int:
        return sum(score.tokens for score in self.known.values())

    def score(self, requests: Sequence[Request]) -> list[Score]:
        keys = [(request.text, request.region) for request in requests]
        new = {
            key: request
            for key, request in zip(keys, requests, strict=True)
            if key not in self.known
        }
        self.known |= zip(new, self.engine.score(list(new.values())), strict=True)
        return [self.known[key] for key in keys]

    def complete(self, prompts: Sequence[str], *, beams: int, tokens: int) -> list[str]:
        return self.engine.complete(prompts, beams=beams, tokens=tokens)
