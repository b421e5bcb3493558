"""A results folder made up for the tests of the report: every file that the report reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from poshgrid import files
from poshgrid.benchmark.schema import ITEMS
from poshgrid.config import BayesianModel, Contrast, Regimen, specs
from poshgrid.config.paths import Paths
from poshgrid.config.runs import UNTRAINED
from poshgrid.config.sizes import words
from poshgrid.evidence.collateral import MEASURES
from poshgrid.evidence.constructions import CONSTRUCTIONS
from poshgrid.evidence.schema import BACKSTOP, COLLATERAL, TOKENS, Labels, column
from poshgrid.report import shelf as shelves
from poshgrid.report.blocks import Block, Fold, Page
from poshgrid.report.collect import Collected
from poshgrid.report.layout import lay_out
from poshgrid.report.shelf import Shelf
from poshgrid.report.texts import environment
from poshgrid.statistics import tests
from poshgrid.statistics.schema import ACCURACY, CONTRASTS, COUNTS, PREDICTIVE, SUMMARY
from poshgrid.tables.table import Table

PAIRS = {
    "island-adjunct": ("Who should the boy hug after meeting the girl?",
                       "Who should the boy hug the girl after meeting?"),
    "island-complex-np": ("Who did the girl who saw the dog like?",
                          "Who did the girl who saw like the dog?"),
    "island-wh": ("What did he say that Ann saw?", "What did he say whether Ann saw?"),
    "question-formation-or": ("Is the man who the dogs have seen running?",
                              "Have the man who the dogs seen is running?"),
    "question-formation-rr": ("Can the girl who is reading sing?",
                              "Is the girl who reading can sing?"),
    "question-formation-sr": ("Will the boy who can see the cat jump?",
                              "Can the boy who see the cat will jump?"),
    "principle-a-command": ("The man's sister saw herself.", "The man's sister saw himself."),
    "principle-a-locality": ("Ann thinks that the boy likes himself.",
                             "Ann thinks that the boy likes herself."),
    "wanna": ("Who do you want to win?", "Who do you wanna win?"),
}  # fmt: skip
CATEGORY = {
    name: "binding" if name.startswith("principle") else name.rpartition("-")[0] or name
    for name in PAIRS
} | {"island-complex-np": "island"}
N = 100  # pairs per phenomenon
LESS = 123  # words that a condition has less than its size says
FILTERS = ("binding", "question-formation")
AIMS = {
    "binding": ["principle-a-command", "principle_a_locality"],
    "question-formation": [f"question-formation-{which}" for which in ("or", "rr", "sr")],
}
LABELS = Labels(dict.fromkeys(FILTERS, ("paper",)), {"binding": ("paper",)})


@contextmanager
def undrawn() -> Iterator[None]:
    """Leave figures' files empty: they are most of a page's time, and not what is looked at."""

    def finish(_figure, folder, name, label):
        for kind in shelves.KINDS:
            files.write_text(folder / f"{name}.{kind}", "")
        return f'<svg role="img" aria-label="{label}"></svg>'

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shelves, "finish", finish)
        yield


def build(
    results: Path,
    *,
    conditions: tuple[str, ...] = ("baby", "baby-f", "wiki"),
    sizes: tuple[str, ...] = ("10M", "30M", "50M"),
    biases: tuple[str, ...] = ("none",),
    seeds: tuple[int, ...] = (42, 53, 76),
    missing: tuple[str, ...] = (),
    converged: bool = True,
    swept: bool = True,
    models: tuple[str, ...] = ("paper", "condition"),
) -> specs.ReportSpec:
    """Write a results folder and return the spec of its report.

    Args:
        results: folder to write to.
        conditions: "wiki" has a base of its own.
        sizes: as in a config.
        biases: inductive biases.
        seeds: of every run.
        missing: runs whose name begins so are asked for but not there.
        converged: what the diagnostics of the last model say; the others have converged.
        swept: whether tokens were counted at several sizes of the vocabulary.
        models: Bayesian models that are fitted, some of :data:`FITS`.
    """
    paths = Paths(str(results))
    generator = np.random.default_rng(7)
    runs = [
        f"{c}/{s}/{'gpt2-mini' if s == sizes[0] else 'gpt2-small'}/{regimen}/{bias}/seed{seed}"
        for c in conditions
        for s in sizes
        for regimen, bias in [*(("packed", b) for b in biases), (UNTRAINED, "none")]
        for seed in seeds
    ]
    spec = specs.ReportSpec(
        target="all",
        runs=sorted(runs, key=lambda r: (UNTRAINED in r, r)),
        cells={
            f"{c}/{s}": specs.Cell(
                words=words(s), source="wiki" if c == "wiki" else "baby", filtered=c == "baby-f"
            )
            for c in conditions
            for s in sizes
        },
        bases=sorted({"wiki" if c == "wiki" else "baby" for c in conditions}),
        conditions=list(conditions),
        sizes=list(sizes),
        parsers=["stanza", "spacy"],
        evidence_parser="stanza",
        models=list(models),
        suites=["posh"],
        removed={c: AIMS for c in conditions if c == "baby-f"},
    )
    there = [r for r in runs if not r.startswith(missing or ("\0",))]
    _corpora(paths, spec, swept)
    _parsers(paths, generator)
    _items(Path(paths.items("posh")))
    for run in there:
        _model(Path(paths.model(run)), run, generator)
        manifest(Path(paths.scores(run, "posh")).parent, {"scoring": {}}, 3.0)
    counts = _counts(there, spec, generator)
    folder = Path(paths.statistics("all"))
    files.write_table(counts, folder / "counts.parquet", COUNTS)
    files.write_table(accuracy(counts), folder / "accuracy.parquet", ACCURACY)
    manifest(folder, {"scoring": {"bos": True, "reduction": "mean"}}, 2.5)
    for name in models:
        _fit(Path(paths.fit("all", name)), name, converged or name != models[-1])
    return spec


def manifest(folder: Path, spec: dict, seconds: float, name: str = "manifest.json") -> None:
    """Write a manifest as poshgrid.provenance.manifest does."""
    files.write_json(folder / name, {
        "command": ["poshgrid"], "spec": spec, "settings": spec,
        "code": "0123456789abcdef", "inputs": {},
        "packages": {"poshgrid": "0.1.0", "torch": "2.13.0"}, "python": "3.11.2", "host": "node7",
        "started": "2026-01-02T03:04:05+00:00", "wall_seconds": seconds, "cpu_seconds": seconds,
        "peak_memory_mb": 812.4, "device": "cpu",
    })  # fmt: skip


def _corpora(paths: Paths, spec: specs.ReportSpec, swept: bool) -> None:
    for base in spec.bases:
        sources = ["wikipedia"] if base == "wiki" else ["childes", "switchboard", "gutenberg"]

        def counts(total: int, sources: list[str] = sources) -> dict:
            share = {s: {"words": total // len(sources), "sentences": total // 24, "documents": 9}
                     for s in sources}  # fmt: skip
            return {"words": total // len(sources) * len(sources), "sentences": total // 8,
                    "words_per_sentence": 8.0, "sources": share}  # fmt: skip

        folder = Path(paths.sentences(base)).parent
        files.write_json(folder / "statistics.json", {
            "base": base, "pool": counts(90_000_000),
            "dev": counts(100_000), "test": counts(99_000),
            "train": {s: counts(words(s)) for s in spec.sizes}, "budget": {},
        })  # fmt: skip
        manifest(folder, {"base": {"sources": [{"source": s} for s in sources]}}, 31.0)
        for source in sources:
            manifest(Path(paths.source(source)).parent, {}, 12.0)
    for cell, facts in spec.cells.items():
        condition, size = cell.split("/")
        bare = condition == "wiki"
        split = {"sentences": facts.words // 8, "words": facts.words - LESS,
                 "words_per_sentence": 8.0, "sources": {}}  # fmt: skip
        files.write_json(Path(paths.condition(condition, size)) / "statistics.json", {
            "condition": condition, "base": facts.source, "size": size,
            "splits": {"train": split, "dev": split, "test": split},
            "removed": {} if bare else {
                "binding.paper": {"rule": facts.words // 900, "backstop": 31, "words": 900},
                "question-formation.paper": {"rule": facts.words // 900, "backstop": 0,
                                             "words": 800},
            },
            "reinserted": {"binding": {
                "sentences": 77, "different": 70, "available": 90, "from_larger_sizes": 0,
                "words_difference": {"childes": 0.0004, "switchboard": -0.00012},
            }} if condition == "baby" else {},
        })  # fmt: skip
        manifest(Path(paths.condition(condition, size)), {}, 4.0)
        if not bare:
            collateral(Path(paths.collateral(condition, size)), condition, size)
        manifest(Path(paths.tokenizer(condition, size)), {}, 4.0)
        tokens = {"sentences": 9, "words": facts.words, "tokens": int(facts.words * 1.47),
                  "tokens_per_word": 1.4689, "sha256": ""}  # fmt: skip
        files.write_json(Path(paths.tokens(condition, size)) / "statistics.json", {
            "dtype": "uint16", "vocabulary_size": 32768, "tokenizer": "",
            "train": tokens, "dev": tokens, "test": tokens,
        })  # fmt: skip
        manifest(Path(paths.tokens(condition, size)), {}, 4.0)
        if swept:
            sweep(Path(paths.tokenizer(condition, size)), facts.words)


def collateral(
    folder: Path,
    condition: str,
    size: str,
    *,
    control: str | None = None,
    parsed: float = 1.0,
    sources: tuple[str, ...] = ("childes", "gutenberg"),
    **changed: dict[str, int | None],
) -> None:
    """Write what went with a removal: of each source 10% of the sentences, 20% of the words.

    Args:
        folder: of the counts.
        condition: its name.
        size: as in a config.
        control: the condition that it is one of.
        parsed: share of the sentences that was parsed.
        sources: of the base, alike.
        changed: measure -> columns of one source that are otherwise.
    """
    usual = {"sentences": (1000, 100), "words": (9000, 1800), "parsed": (int(1000 * parsed), 100)}
    rows = []
    for source in (*sources, "all"):
        times = len(sources) if source == "all" else 1
        for measure in MEASURES:
            before, gone = usual.get(measure, (50, 5))
            row = {"before": before, "after": before - gone, "removed": gone,
                   "removed_by_rule": gone - 1, "removed_by_backstop": 1}  # fmt: skip
            if control:
                row |= {"removed_by_rule": None, "removed_by_backstop": None}
            row |= changed.get(measure, {})
            rows.append({"source": source, "measure": measure}
                        | {k: v if v is None else times * v for k, v in row.items()})  # fmt: skip
    files.write_table(
        pl.DataFrame(rows, schema=COLLATERAL), folder / "collateral.parquet", COLLATERAL
    )
    files.write_json(folder / "statistics.json", {
        "condition": condition, "base": "baby", "size": size, "control": control,
        "words": {"nominal": words(size), "before": 9000, "actual": 7200},
        "parsed": {"all": parsed, "sources": dict.fromkeys(sources, parsed)},
        "divergence": {"all": 0.01234567, "sources": dict.fromkeys(sources, 0.02)},
    })  # fmt: skip
    manifest(folder, {}, 2.0)


def sweep(folder: Path, words: int, reached: int = 65_536) -> None:
    """Write a sweep of two sizes, the second of which the text may not reach."""
    rows = [
        {"vocabulary_size": asked, "reached": min(asked, reached),
         "tokens_without_boundaries": tokens, "tokens_with_boundaries": tokens + words // 8 + 1,
         "tokens_per_word": tokens / words}
        for asked, tokens in ((16_384, words * 3 // 2), (32_768, words * 5 // 4))
    ]  # fmt: skip
    files.write_json(folder / "sweep.json", {
        "sentences": words // 8, "words": words, "distinct_words": 9, "lowercase": False,
        "min_frequency": 2, "vocabularies": rows,
    })  # fmt: skip
    manifest(folder, {}, 4.0, "sweep.manifest.json")


def _parsers(paths: Paths, generator: np.random.Generator) -> None:
    for parser, las in (("stanza", 0.792), ("spacy", 0.781)):
        relation = {"gold": 90, "predicted": 80, "correct": 60, "precision": 0.75, "recall": 2 / 3}
        files.write_json(Path(paths.parser(parser)) / "evaluation.json", {
            "sentences": 1234, "words": 9876, "upos": 0.939, "uas": las + 0.04, "las": las,
            "relations": {"acl:relcl": relation, "nsubj": relation | {"precision": None}},
        })  # fmt: skip
        manifest(Path(paths.parser(parser)), {}, 700.0)
        n = 5000
        labels = {"sent_id": pl.Series(range(n), dtype=pl.UInt32)}
        for f in FILTERS:
            marked = (np.arange(n) % 97 == 0) ^ (generator.random(n) < 0.003)
            labels[column(f, "paper")] = pl.Series(marked)
            labels[column(f, "paper", BACKSTOP)] = pl.Series(marked)
            labels[column(f, "paper", TOKENS)] = pl.Series([[]] * n, dtype=pl.List(pl.UInt16))
        labels |= {name: pl.Series([None] * n, dtype=pl.Boolean) for name in CONSTRUCTIONS}
        path = Path(paths.evidence("baby", parser))
        table = pl.DataFrame(labels).select(list(LABELS.schema))
        files.write_table(table, path, LABELS.schema)
        manifest(path.parent, {}, 5.0, f"{parser}.manifest.json")
        shard = Path(paths.parses("baby", parser, 0))
        manifest(shard.parent, {}, 300.0, "0.manifest.json")
        if parser == "stanza":
            facts = {"sentences": 5000, "distinct_texts": 4000, "parsed": 1000,
                     "screening_seconds": 2.0, "seconds": 100.0}  # fmt: skip
            path = shard.parent / "0.manifest.json"
            files.write_json(path, files.read_json(path) | facts)


def _items(path: Path) -> None:
    rows = [
        {
            "item_id": f"{phenomenon}-{i:04d}", "category": CATEGORY[phenomenon],
            "phenomenon": phenomenon, "template": phenomenon, "lexical_set": f"set{i}",
            "contrast": "word-order", "good": good, "bad": bad,
        }
        for phenomenon, (good, bad) in PAIRS.items()
        for i in range(N)
    ]  # fmt: skip
    files.write_table(pl.DataFrame(rows, schema=ITEMS), path, ITEMS)
    manifest(path.parent, {}, 1.0)


def _model(folder: Path, run: str, generator: np.random.Generator) -> None:
    _, _, learner, regimen, bias, seed = run.split("/")
    null = regimen == UNTRAINED
    curve = [
        {"step": step, "epoch": step / 900, "tokens": step * 512, "train_loss": None,
         "dev_loss": 10.4 if null else 3.6 + 6.8 * float(np.exp(-step / 1500))
         + abs(step - 8000) / 40_000 + 0.05 * float(generator.random()),
         "learning_rate": 1e-4, "tokens_per_second": 345.0}
        for step in range(0, 1 if null else 10_001, 1000)
    ]  # fmt: skip
    best = min(curve, key=lambda line: line["dev_loss"])
    lines = "".join(json.dumps(line) + "\n" for line in curve)
    files.write_text(folder / "training.jsonl", lines)
    files.write_json(folder / "statistics.json", {
        "parameters": 29_000_000, "steps": curve[-1]["step"], "best_step": best["step"],
        "epochs": 11.1, "tokens": 5_120_000, "tokens_per_second": 0.0 if null else 345.2,
        "initial_dev_loss": 10.4, "dev_loss": best["dev_loss"],
        "dev_perplexity": float(np.exp(best["dev_loss"])), "test_loss": best["dev_loss"] + 0.01,
        "test_perplexity": float(np.exp(best["dev_loss"] + 0.01)),
        "stopped": UNTRAINED if null else "patience", "learner": learner, "regimen": regimen,
        "bias": bias, "seed": int(seed[4:]), "vocabulary_size": 32768, "device": "cpu",
        "threads": 1, "steps_per_epoch": 900, "copies": 1,
    })  # fmt: skip
    regimen_spec = None if null else Regimen(name="packed").model_dump()
    manifest(folder, {"regimen": regimen_spec}, 12.0 if null else 4321.0)


def _counts(
    runs: list[str], spec: specs.ReportSpec, generator: np.random.Generator
) -> pl.DataFrame:
    rows = []
    for run in runs:
        condition, size, learner, regimen, bias, seed = run.split("/")
        cell = spec.cells[f"{condition}/{size}"]
        for i, phenomenon in enumerate(PAIRS):
            lift = 0 if regimen == UNTRAINED else 0.05 + 0.04 * spec.sizes.index(size)
            lift += 0.04 * spec.conditions.index(condition) * (-1) ** i + 0.02 * len(bias)
            p = float(np.clip(0.3 + 0.045 * i + (0 if regimen == UNTRAINED else lift), 0.05, 0.97))
            rows.append({
                "condition": condition, "size": size, "learner": learner, "regimen": regimen,
                "bias": bias, "seed": int(seed[4:]), "suite": "posh",
                "category": CATEGORY[phenomenon], "phenomenon": phenomenon,
                "correct": float(generator.binomial(N, p)), "ties": 0, "n": N,
                "words": cell.words - LESS, "source": cell.source, "filtered": cell.filtered,
            })  # fmt: skip
    return pl.DataFrame(rows, schema=COUNTS)


def accuracy(counts: pl.DataFrame) -> pl.DataFrame:
    """Return a table of accuracies of these counts, worked out row by row."""
    axes = ["condition", "size", "words", "learner", "regimen", "bias", "suite"]
    rows = []
    for key, point in counts.group_by(axes, maintain_order=True):
        head = dict(zip(axes, key, strict=True))
        by_seed = {}
        for (seed,), one in point.group_by("seed", maintain_order=True):
            share = {r["phenomenon"]: r["correct"] / r["n"] for r in one.iter_rows(named=True)}
            groups = {}
            for phenomenon, value in share.items():
                groups.setdefault(CATEGORY[phenomenon], []).append(value)
            means = {c: sum(v) / len(v) for c, v in groups.items()}
            by_seed[seed] = {
                **{("phenomenon", CATEGORY[p], p): v for p, v in share.items()},
                **{("category", c, ""): v for c, v in means.items()},
                ("overall", "", ""): sum(means.values()) / len(means),
                ("average", "", ""): sum(share.values()) / len(share),
            }
        for level, category, phenomenon in next(iter(by_seed.values())):
            values = [found[level, category, phenomenon] for found in by_seed.values()]
            tested = level in ("phenomenon", "category")
            n = N * (list(CATEGORY.values()).count(category) if level == "category" else 1)
            correct = [v * n for v in values]
            pooled = tests.chi_square(sum(correct), n * len(values)) if tested else None
            holm = min(1.0, 9 * tests.combine_seeds(correct, [n] * len(values))) if tested else None
            mean = float(np.mean(values))
            rows.append({
                **head, "level": level, "category": category, "phenomenon": phenomenon,
                "mean": mean, "sd": float(np.std(values, ddof=1)) if len(values) > 1 else None,
                "n_seeds": len(values), "n_pairs": n if tested else 9 * N,
                "low": max(0.0, mean - 0.05), "high": min(1.0, mean + 0.05), "p_pooled": pooled,
                "stars_pooled": tests.stars(pooled), "p_fisher_holm": holm,
                "stars_fisher_holm": tests.stars(holm), "untrained": None, "unigram": None,
                "ngram": None, "far": "untrained, ngram" if phenomenon == "wanna" else "",
            })  # fmt: skip
    frame = pl.DataFrame(rows, schema=ACCURACY)
    on = ["condition", "size", "learner", "suite", "level", "category", "phenomenon"]
    nulls = frame.filter(pl.col("regimen") == UNTRAINED).select(*on, pl.col("mean").alias("null"))
    return (
        frame.join(nulls, on=on, how="left", maintain_order="left")
        .with_columns(untrained=pl.when(pl.col("regimen") != UNTRAINED).then("null"))
        .drop("null")
    )


Term = tuple[str, str, str, bool, float]  # term, label, kind, implicit, median
_GROUPS: list[Term] = [
    ("1|phenomenon_sigma", "Phenomenon intercept SD", "sd", False, 0.69),
    ("1|seed_sigma", "Seed intercept SD", "sd", False, 0.06),
    ("1|seed[42]", "Seed 42", "group", False, 0.01),
]
_CATEGORIES: list[Term] = [
    ("S(category)[binding]", "Category (binding)", "common", False, -0.31),
    ("S(category)[island]", "Category (island)", "common", False, 0.62),
    ("S(category)[question-formation]", "Category (question-formation)", "common", False, 0.02),
    ("S(category)[wanna]", "Category (wanna)", "common", True, -0.33),
]
_YES = "Filtering (yes vs. no)"
_BY_FILTER = "S(category):S(filter)"
FITS: dict[str, tuple[BayesianModel, list[Term]]] = {
    "paper": (
        BayesianModel(name="paper"),
        [
            ("Intercept", "Intercept", "common", False, 0.55),
            ("size_z", "Training size (z)", "common", False, 0.12),
            *_CATEGORIES,
            ("S(filter)[yes]", _YES, "common", False, 0.09),
            ("S(source)[baby]", "Training source (baby vs. wiki)", "common", False, 0.07),
            ("size_z:S(filter)[yes]", f"Training size (z) × {_YES}", "common", False, -0.01),
            (f"{_BY_FILTER}[binding, yes]", f"Category (binding) × {_YES}", "common", False, -0.1),
            (f"{_BY_FILTER}[island, yes]", f"Category (island) × {_YES}", "common", False, -0.18),
            (f"{_BY_FILTER}[question-formation, yes]",
             f"Category (question-formation) × {_YES}", "common", False, -0.16),
            (f"{_BY_FILTER}[wanna, yes]", f"Category (wanna) × {_YES}", "common", True, 0.44),
            *_GROUPS,
        ],
    ),
    "condition": (
        BayesianModel(
            name="condition",
            formula="p(correct, n) ~ S(category) * S(condition) + (1|seed) + (1|phenomenon)",
            contrasts=[
                Contrast(name="filtering", factor="condition", first="baby-f", less="baby"),
                Contrast(name="register", factor="condition", first="wiki", less="baby"),
            ],
        ),
        [("Intercept", "Intercept", "common", False, 0.5), *_CATEGORIES, *_GROUPS],
    ),
    "bias": (
        BayesianModel(
            name="bias",
            formula="p(correct, n) ~ S(category) * S(bias) + (1|seed) + (1|phenomenon)",
            contrasts=[Contrast(factor="bias", less="none")],
        ),
        [("Intercept", "Intercept", "common", False, 0.5), *_CATEGORIES, *_GROUPS],
    ),
}  # fmt: skip
"""Models that results may hold, with the terms of their summaries and their medians."""

# Differences of log odds by (contrast, category): "" is overall; intervals are 0.1 either way
DIFFERENCES = {
    "filtering": {"": -0.05, "binding": -0.3, "island": 0.02, "question-formation": -0.04,
                  "wanna": 0.2},
    "register": {"": -0.2, "binding": -0.25, "island": -0.2, "question-formation": -0.3,
                 "wanna": -0.15},
    "recency - none": {"": 0.04, "binding": 0.2, "island": 0.05, "question-formation": -0.03,
                       "wanna": 0.01},
    "dyck - none": {"": 0.15, "binding": 0.01, "island": 0.05, "question-formation": 0.4,
                    "wanna": 0.02},
}  # fmt: skip
LEVELS = {"filtering": ("baby-f", "baby"), "register": ("wiki", "baby"),
          "recency - none": ("recency", "none"), "dyck - none": ("dyck", "none")}  # fmt: skip


def contrasts(*names: str) -> pl.DataFrame:
    """Return the rows of contrasts of :data:`DIFFERENCES`; a point is worth 4 hundredths of odds.

    Shares are a quarter of the log odds, as they are near 50%.
    """
    rows = [
        {
            "contrast": name, "factor": "bias" if name.endswith("none") else "condition",
            "first": LEVELS[name][0], "less": LEVELS[name][1], "by": "category" if level else "",
            "level": level, "median": value, "mean": value + 0.001, "sd": 0.05,
            "low": value - 0.1, "high": value + 0.1,
            "above": 0.9995 if value > 0.1 else 0.0003 if value < -0.1 else 0.5 + value,
            "share": value / 4, "share_low": (value - 0.1) / 4, "share_high": (value + 0.1) / 4,
            "joint_low": (value - 0.1) / 4, "joint_high": (value + 0.1) / 4,
            "r_hat": 1.001, "ess_bulk": 1900.0, "ess_tail": 2000.0,
        }
        for name in names
        for level, value in DIFFERENCES[name].items()
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=CONTRASTS)


def predictive(outside: int = 4) -> pl.DataFrame:
    """Return a predictive check of nine cells at each of three sizes, so many of them outside."""
    rows = [
        {
            "condition": "baby", "size": size, "learner": "gpt2-mini", "regimen": "packed",
            "bias": "none", "category": CATEGORY[phenomenon], "phenomenon": phenomenon,
            "n_seeds": 3, "n": 3 * N, "predicted": 0.4 + 0.05 * i + 0.02 * j,
            "observed": 0.4 + 0.05 * i + 0.02 * j
            + (-1) ** i * (0.1 if 9 * j + i < outside else 0.01),
            "low": 0.4 + 0.05 * i + 0.02 * j - 0.04, "high": 0.4 + 0.05 * i + 0.02 * j + 0.04,
            "p": 0.001 if 9 * j + i < outside else 0.6,
        }
        for j, size in enumerate(("10M", "30M", "50M"))
        for i, phenomenon in enumerate(PAIRS)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=PREDICTIVE)


def summary(terms: list[Term]) -> pl.DataFrame:
    """Return a summary with these medians; a mean is 0.004 higher, an interval 0.04 either way."""
    rows = [
        {"term": t, "label": label, "kind": kind, "implicit": implicit, "median": m,
         "mean": m + 0.004, "sd": 0.02, "low": m - 0.04, "high": m + 0.04, "r_hat": 1.0012,
         "ess_bulk": 1850.0, "ess_tail": 2100.0}
        for t, label, kind, implicit, m in terms
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=SUMMARY)


def _fit(folder: Path, name: str, converged: bool) -> None:
    model, terms = FITS[name]
    names = {"condition": ("filtering", "register"), "bias": ("recency - none",)}.get(name, ())
    cells = predictive()
    files.write_table(summary(terms), folder / "summary.parquet", SUMMARY)
    files.write_table(contrasts(*names), folder / "contrasts.parquet", CONTRASTS)
    files.write_table(cells, folder / "predictive.parquet", PREDICTIVE)
    (folder / "posterior.nc").write_bytes(b"netcdf")
    attempt = {"target_accept": 0.99, "warmup": 1000, "draws": 1000, "seconds": 12.0,
               "divergences": 0 if converged else 17, "max_r_hat": 1.0012, "min_ess": 1850.0,
               "converged": converged,
               "reasons": [] if converged else ["17 divergences"]}  # fmt: skip
    files.write_json(folder / "diagnostics.json", {
        "model": name, "formula": model.formula, "notes": [], "rows": 297, "pairs": 29700,
        "rounded_counts": 0, "engine": "fast", "sampler": "nutpie", "seconds": 12.0,
        "divergences": 0 if converged else 17, "max_r_hat": 1.0012, "min_ess": 1850.0,
        "converged": converged, "reasons": [] if converged else ["17 divergences"],
        "attempts": [attempt],
        "predictive": {"cells": cells.height, "inside": cells.height - 4,
                       "share": 1 - 4 / cells.height, "p": 0.4},
    })  # fmt: skip
    manifest(folder, {"model": model.model_dump()}, 20.0)


def page(collected: Collected, shelf: Shelf, results: Path | str = "") -> Page:
    """Return what a section is made from."""
    return Page(collected, lay_out(collected), shelf, Paths(str(results)))


def rendered(found: list[Block]) -> str:
    """Return blocks as the page shows them; a name that the template lacks is an error."""
    return environment().get_template("html/blocks.html").module.blocks(found)


def flat(found: list[Block]) -> list[Block]:
    """Return blocks, those in drawers too."""
    return [b for each in found for b in (flat(each.blocks) if isinstance(each, Fold) else [each])]


def of(found: list[Block], kind: type) -> list:
    """Return the blocks of a kind, those in drawers too."""
    return [block for block in flat(found) if type(block) is kind]


def tables(found: list[Block]) -> dict[str, Table]:
    """Return the tables of a section by name."""
    return {table.name: table for table in of(found, Table)}


def shown(table: Table) -> list[dict[str, str]]:
    """Return a table's rows as the page shows them: title -> text."""
    titles = [column.title for column in table.columns]
    return [dict(zip(titles, row, strict=True)) for row in table.shown()]
