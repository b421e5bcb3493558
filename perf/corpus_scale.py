"""From toy text to tokens at growing sizes: minutes, words per second and memory of each stage.

    python perf/corpus_scale.py WORK [--sizes 1M 10M 100M] [--parser spacy=FOLDER]

Every stage runs as its own command, as on a cluster; time and peak memory are those that it wrote
to its manifest. The corpus has four sources, made of the toy grammar with four seeds, so that two
can be made at once. Sentences go to the engine `words` (no trees: the backstop decides alone) or to
a parser whose folder is given (`spacy=results/tiny/parsers/spacy`, say).
Linear cost shows as equal words per second at all sizes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from poshgrid import config
from poshgrid.config import sizes, specs
from poshgrid.core.files import read_json
from tests import jobs

Job = tuple[str, specs.Section | None, Path, dict[str, Any]]
"""Stage, spec, output, and the keywords of :func:`tests.jobs.text`."""
SOURCES = 4
FILTERS = ["binding", "question-formation"]


def main() -> None:
    """Run every size and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", type=Path)
    parser.add_argument("--sizes", nargs="+", default=["1M", "10M", "100M"])
    # `words` reads no model, but each job digests the folder that it is given: a small one.
    parser.add_argument("--parser", default=f"words={Path(__file__).parent}")
    parser.add_argument("--shard-words", default="2M")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    table = []
    for size in given.sizes:
        table += _size(given, size)
        (given.work / "corpus_scale.json").write_text(json.dumps(table, indent=1))
    for row in table:
        sys.stdout.write("  ".join(f"{cell:>12}" for cell in row) + "\n")


def _size(given: argparse.Namespace, size: str) -> list[tuple[object, ...]]:
    work, words = given.work / size, sizes.words(size)
    engine, _, model = given.parser.partition("=")
    shards = -(-words // sizes.words(given.shard_words))
    sources = [f"toy{n}" for n in range(SOURCES)]
    rows: list[tuple[object, ...]] = []

    def run(name: str, *asked: Job) -> None:
        """Run the jobs of a stage, some at once, and keep what their manifests say."""
        start = time.monotonic()
        with ThreadPoolExecutor(given.jobs) as pool:
            list(pool.map(_run, asked))
        wall = time.monotonic() - start
        facts = [read_json(output / "manifest.json") for _, _, output, _ in asked]
        cpu = sum(f["cpu_seconds"] for f in facts)
        peak = max(f["peak_memory_mb"] for f in facts)
        rows.append((size, name, len(facts), f"{wall / 60:.2f} min", f"{cpu:.0f} CPU s",
                     f"{words / cpu:,.0f} w/s", f"{peak:,.0f} MB"))  # fmt: skip
        sys.stdout.write(f"{rows[-1]}\n")
        sys.stdout.flush()

    def out(name: str) -> Path:
        return work / name

    made = [
        config.Source(
            name=name, reader="toy", path="toy",
            options={"register": "baby", "words": int(words / SOURCES * 1.7) + 60_000,
                     "seed": number},
        )
        for number, name in enumerate(sources)
    ]  # fmt: skip
    run("read", *(
        ("read", specs.SourceSpec(source=source), out(source.name), {"data": "resources"})
        for source in made
    ))  # fmt: skip
    portions = [config.Portion(source=s, words={size: words // SOURCES}) for s in sources]
    corpus = config.Corpus(
        name="toy", sources=portions, spare=0.6, dev_words=20_000, test_words=20_000
    )
    files = {name: out(name) / "sentences.parquet" for name in sources}
    run(
        "mix",
        ("mix", specs.CorpusSpec(corpus=corpus, sizes=[size]), out("corpus"), {"sources": files}),
    )
    sentences = out("corpus") / "sentences.parquet"
    parsing = config.Parser(name=engine, engine=engine, model=model)
    shards_of = [out(f"parses/{shard}") for shard in range(shards)]
    run("parse", *(
        (
            "parse",
            specs.ParseSpec(parser=parsing, shard=n, shards=shards),
            path,
            {"sentences": sentences, "arguments": {"model": model}},
        )
        for n, path in enumerate(shards_of)
    ))  # fmt: skip
    parses = [folder / "parses.parquet" for folder in shards_of]
    evidence = {"sentences": sentences, "parses": parses}
    run("evidence", ("evidence", specs.EvidenceSpec(filters=FILTERS), out("evidence"), evidence))
    labels = out("evidence") / "evidence.parquet"
    filters = [config.Filter(name=name, reading="direct") for name in FILTERS]
    removal = config.Condition(name="baby-f", corpus="toy", filters=filters)
    back = [config.Reinsertion(filter=f, rate="natural") for f in FILTERS]
    conditions = {
        "baby-f": removal,
        "refilled": removal.model_copy(update={"name": "refilled", "refill": True}),
        "baby": removal.model_copy(update={"name": "baby", "reinsert": back}),
    }
    labelled = {"sentences": [sentences], "evidence": [labels]}
    for name, condition in conditions.items():
        spec = specs.ConditionSpec(condition=condition, size=size)
        # Of words alone no tree bears what rules ask for
        allowed = {"arguments": {"allow": ["void"]}}
        run(name, ("condition", spec, out(name), labelled | allowed))
    tables = {name: [out(name) / "train.parquet"] for name in conditions}
    side_effects = specs.SideEffectsSpec(condition=removal, size=size)
    run("side_effects", ("side_effects", side_effects, out("side_effects"),
                       labelled | {"condition": tables["baby-f"]}))  # fmt: skip
    tokenizer = specs.TokenizerSpec(tokenizer=config.Tokenizer(vocabulary_size=700))
    run("tokenizer", ("tokenizer", tokenizer, out("tokenizer"), {"texts": tables["baby"]}))
    tokens = {"condition": tables["baby"], "tokenizer": [out("tokenizer") / "tokenizer.json"]}
    run("tokens", ("tokens", None, out("tokens"), tokens))
    return rows


def _run(job: Job) -> None:
    stage, spec, output, inputs = job
    words = ["poshgrid", "stage", stage, jobs.text(output, spec, **inputs)]
    subprocess.run(words, check=True)


if __name__ == "__main__":
    main()
