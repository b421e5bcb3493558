"""Files that changed behind the workflow's back: flipped, cut off, gone; and clocks that jump."""

from __future__ import annotations

import os
import random
import re
import shutil
import time
from pathlib import Path

from tests.faults import compare, grid, jobs, processes
from tests.faults.outcome import Outcome

RUN = "baby-f/20K/gpt2-tiny/sentence/none/seed42"
TREE_RUN = "baby-f/20K/gpt2-tiny/sentence/tree-planting/seed42"
_STATISTICS = f"results/statistics/{grid.TARGET}"
READ = (
    ("results/sources/toy-baby/sentences.parquet", "mix"),
    ("results/corpora/baby/sentences.parquet", "parse"),
    ("results/treebanks/spacy/train.conllu", "train_parser"),
    ("results/treebanks/spacy/dev.conllu", "train_parser"),
    ("results/parsers/spacy/parser/model", "parse"),
    ("results/parses/baby/spacy/0.parquet", "evidence"),
    ("results/evidence/baby/spacy.parquet", "condition"),
    ("results/conditions/baby-f/20K/train.parquet", "tokenizer"),
    ("results/conditions/baby-f/20K/dev.parquet", "tokens"),
    ("results/conditions/baby-f/20K/statistics.json", "audit"),
    ("results/collateral/baby-f/20K/collateral.parquet", "report"),
    ("results/tokenizers/baby-f/20K/tokenizer.json", "tokens"),
    ("results/tokens/baby-f/20K/train.bin", "train"),
    ("results/tokens/baby-f/20K/train.offsets.npy", "train"),
    ("results/distances/baby-f/20K/spacy/distances.bin", "train"),
    ("results/distances/baby-f/20K/spacy/offsets.npy", "train"),
    (f"results/models/{RUN}/model.safetensors", "score"),
    (f"results/models/{RUN}/tokenizer.json", "score"),
    ("results/models/baby-f/20K/ngram/counted/none/seed0/model.safetensors", "score"),
    ("results/benchmark/ngrams/baby/20K/model.safetensors", "items"),
    ("results/benchmark/posh/items.parquet", "quality"),
    ("results/rules/posh.parquet", "rule_shares"),
    (f"results/scores/{RUN}/posh.parquet", "accuracy"),
    (f"results/scores/{RUN}/choices.parquet", "measures"),
    (f"results/models/{RUN}/training.jsonl", "curves"),
    (f"results/perplexity/{RUN}.json", "deltas"),
    (f"{_STATISTICS}/counts.parquet", "fit"),
    (f"{_STATISTICS}/accuracy.parquet", "report"),
    (f"{_STATISTICS}/rules/mixture.parquet", "report"),
    (f"{_STATISTICS}/models/paper/summary.parquet", "report"),
    (f"{_STATISTICS}/measures/choices/measures.parquet", "report"),
    (f"results/quality/{grid.TARGET}/posh/quality.json", "report"),
)
"""Files that stages write, each with a rule that reads it."""
FINAL = (
    f"{_STATISTICS}/counts.parquet",
    f"{_STATISTICS}/models/paper/posterior.nc",
    f"results/quality/{grid.TARGET}/posh/nulls.csv",
    f"{_STATISTICS}/accuracy.csv",
)
"""Files that are damaged together, found by ``poshgrid verify`` and made again."""
DAY = 86_400


def read(base: Path, folder: Path, seed: int) -> list[Outcome]:
    """Flip a bit of a file, cut it off, take it away: who reads it must refuse.

    Size and times are put back where they can be: Snakemake sees nothing of it.
    """
    shutil.copytree(base, folder, symlinks=True)
    known = jobs.jobs(base)
    outcomes = []
    for name, damage in (("bit flipped", _flip), ("cut off", _cut), ("vanished", _remove)):
        gone = damage is _remove
        wrong, tried = [], 0
        for path, rule in READ:
            if gone and rule == "report":
                continue  # it leaves out what has not been run; Snakemake runs it first
            file = folder / path
            if not file.is_file():
                wrong.append(f"{path}: the run has no such file")
                continue
            job = reader(known, path, rule)
            tried += 1
            damage(file, random.Random(f"{seed}/{path}"))
            output = folder / "elsewhere"
            done = jobs.run(folder, job.elsewhere(output))
            if not jobs.refused(done, "" if gone else f"{path}: not the bytes"):
                end = done.stderr.strip().splitlines()[-1:] or [""]
                wrong.append(f"{path} by {rule}: status {done.returncode}: {end[0][-150:]}")
            shutil.rmtree(output, ignore_errors=True)
            shutil.rmtree(folder / grid.RESULTS / "checkpoints", ignore_errors=True)
            shutil.copy2(base / path, file)
        outcomes.append(Outcome(f"{name}, then read", tried, tried - len(wrong), "; ".join(wrong)))
    return outcomes


def verified(base: Path, folder: Path, seed: int) -> list[Outcome]:
    """Damage several files; ``poshgrid verify --delete`` and Snakemake make them again."""
    shutil.copytree(base, folder, symlinks=True)
    expected = compare.digests(base / grid.RESULTS)
    for number, path in enumerate(FINAL):
        (_flip, _cut)[number % 2](folder / path, random.Random(f"{seed}/{path}"))
    done = jobs.run(folder, ("verify", grid.RESULTS, "--delete"))
    told = sum(f"{path}: not the bytes" in done.stdout for path in FINAL)
    status, text = processes.make(folder, "--", grid.TARGET)
    wrong = compare.differences(compare.digests(folder / grid.RESULTS), expected, whole=True)
    well = status == 0 and not wrong
    note = "" if well else f"{done.stdout} {done.stderr} {wrong} {text}"
    return [
        Outcome("damage found by `poshgrid verify`", len(FINAL), told),
        Outcome("deleted by it, made again", len(FINAL), len(FINAL) if well else 0, note[-1500:]),
    ]


def clocks(base: Path, folder: Path, seed: int) -> list[Outcome]:
    """Give all files times of the future, the past, or any order; run again."""
    shutil.copytree(base, folder, symlinks=True)
    expected = compare.digests(base / grid.RESULTS)
    draw, now = random.Random(f"{seed}/clocks"), time.time()
    rows, notes, well = 0, [], 0
    for name, moment in (
        ("all in the future", lambda: now + 30 * DAY),
        ("all in the past", lambda: now - 3650 * DAY),
        ("in any order", lambda: now + draw.uniform(-300, 300) * DAY),
        ("in any order again", lambda: now + draw.uniform(-300, 300) * DAY),
    ):
        for file in (folder / grid.RESULTS).rglob("*"):
            if file.is_file():
                time_ = moment()
                os.utime(file, (time_, time_))
        status, text = processes.make(folder, "--", grid.TARGET)
        notes.append(f"{name}: {_steps(text)} jobs ran again")
        if status and "older modification time" in text:
            # Snakemake refuses to make a file that is older than what it is made from
            notes.append("inputs of the future refused, `touch`ed")
            for file in (folder / grid.RESULTS).rglob("*"):
                if file.stat().st_mtime > time.time():
                    os.utime(file)
            status, text = processes.make(folder, "--", grid.TARGET)
            notes.append(f"then {_steps(text)} jobs")
        wrong = compare.differences(compare.digests(folder / grid.RESULTS), expected, whole=True)
        rows += 1
        well += status == 0 and not wrong
        if status or wrong:
            notes.append(f"status {status}, differ: {wrong[:3]}")
    return [Outcome("clock jumps", rows, well, "; ".join(notes))]


def remade(base: Path, folder: Path, seed: int) -> list[Outcome]:
    """Take away files that jobs read, with what those have written; run again."""
    shutil.copytree(base, folder, symlinks=True)
    expected = compare.digests(base / grid.RESULTS)
    gone = (f"results/scores/{TREE_RUN}/posh.parquet", f"{_STATISTICS}/counts.parquet")
    for job in jobs.jobs(base):
        if job.rule in ("fit", "report"):
            job.remove(folder)
    for path in gone:
        (folder / path).unlink()
    status, text = processes.make(folder, "--", grid.TARGET)
    wrong = compare.differences(compare.digests(folder / grid.RESULTS), expected, whole=True)
    well = status == 0 and not wrong
    note = "" if well else f"{wrong} {text[-800:]}"
    return [Outcome("vanished, then made again", len(gone), len(gone) if well else 0, note)]


def _steps(text: str) -> int:
    """Return how many jobs Snakemake has done."""
    done = re.findall(r"(\d+) of \d+ steps", text)
    return max(map(int, done), default=0)


def reader(known: list[jobs.Job], path: str, rule: str) -> jobs.Job:
    """Return the job of a rule that reads a file, as its manifest tells; else the rule's first."""
    candidates = [job for job in known if job.rule == rule]
    return next((job for job in candidates if path in job.inputs), candidates[0])


def _flip(file: Path, draw: random.Random) -> None:
    """Flip one bit; size and times stay."""
    before = file.stat()
    content = bytearray(file.read_bytes())
    content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    file.write_bytes(content)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def _cut(file: Path, draw: random.Random) -> None:
    """Cut the file off; its times stay."""
    before = file.stat()
    os.truncate(file, draw.randrange(before.st_size))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def _remove(file: Path, draw: random.Random) -> None:
    file.unlink()
