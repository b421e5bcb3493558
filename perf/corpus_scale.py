"""From toy text to tokens at growing sizes: minutes, words per second and memory of each stage.

    python perf/corpus_scale.py WORK [--sizes 1M 10M 100M] [--parser spacy=FOLDER]

Every stage runs as its own command, as on a cluster; time and peak memory are those that it wrote
to its manifest. The base has four sources, made of the toy grammar with four seeds, so that two can
be made at once. Sentences that pass the screen go to the engine `words` (no trees: the backstop
decides alone) or to a parser whose folder is given (`spacy=results/tiny/parsers/spacy`, say).
Linear cost shows as equal words per second at all sizes.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from poshgrid import config
from poshgrid.config import specs
from poshgrid.evidence.screening.screen import screens
from poshgrid.files import read_json, write_json

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
    work, words = given.work / size, config.words(size)
    engine, _, model = given.parser.partition("=")
    shards = -(-words // config.words(given.shard_words))
    sources = [f"toy{n}" for n in range(SOURCES)]
    rows: list[tuple[object, ...]] = []

    def run(stage: str, *commands: tuple[str, specs.Section | None, str, Path]) -> None:
        """Run the commands of a stage, some at once, and keep what their manifests say."""
        start = time.monotonic()
        with ThreadPoolExecutor(given.jobs) as pool:
            list(pool.map(_command, commands))
        wall = time.monotonic() - start
        facts = [read_json(manifest) for *_, manifest in commands]
        cpu = sum(f["cpu_seconds"] for f in facts)
        peak = max(f["peak_memory_mb"] for f in facts)
        share = [f["parsed_sentences"] / f["sentences"] for f in facts if "parsed_sentences" in f]
        more = f"{100 * sum(share) / len(share):.1f}% parsed" if share else ""
        rows.append((size, stage, len(facts), f"{wall / 60:.2f} min", f"{cpu:.0f} CPU s",
                     f"{words / cpu:,.0f} w/s", f"{peak:,.0f} MB", more))  # fmt: skip
        sys.stdout.write(f"{rows[-1]}\n")
        sys.stdout.flush()

    def out(name: str) -> Path:
        return work / name

    def parses(shard: int) -> Path:
        return out(f"parses/{shard}.parquet")

    run(
        "read",
        *(
            (
                "read",
                specs.SourceSpec(
                    source=config.Source(
                        name=name, reader="toy", path="toy",
                        options={"register": "baby", "words": int(words / SOURCES * 1.7) + 60_000,
                                 "seed": number},
                    )
                ),
                f"--data resources --output {out(name)}/sentences.parquet",
                out(name) / "manifest.json",
            )
            for number, name in enumerate(sources)
        ),
    )  # fmt: skip
    portions = [config.Portion(source=s, words={size: words // SOURCES}) for s in sources]
    base = config.Base(name="toy", sources=portions, spare=0.6, dev_words=20_000, test_words=20_000)
    given_sources = " ".join(f"--source {s}={out(s)}/sentences.parquet" for s in sources)
    sentences = out("base") / "sentences.parquet"
    run("mix", ("mix", specs.BaseSpec(base=base, sizes=[size]),
                f"{given_sources} --output {sentences}",
                out("base") / "manifest.json"))  # fmt: skip
    parsing = config.Parser(name=engine, engine=engine, model=model)
    run(
        "screen+parse",
        *(
            (
                "parse",
                specs.ParseSpec(
                    parser=parsing, shard=shard, shards=shards, screens=screens(FILTERS)
                ),
                f"--sentences {sentences} --model {model} --output {parses(shard)}",
                out(f"parses/{shard}.manifest.json"),
            )
            for shard in range(shards)
        ),
    )
    shard_files = " ".join(f"--parses {parses(shard)}" for shard in range(shards))
    labels = out("evidence.parquet")
    run("evidence", ("evidence", specs.EvidenceSpec(filters=FILTERS),
                     f"--sentences {sentences} {shard_files} --output {labels}",
                     out("evidence.manifest.json")))  # fmt: skip
    filters = [config.Filter(name=name, reading="direct") for name in FILTERS]
    removal = config.Condition(name="baby-f", base="toy", filters=filters)
    back = [config.Reinsertion(filter=f, rate="natural") for f in FILTERS]
    conditions = {
        "baby-f": removal,
        "refilled": removal.model_copy(update={"name": "refilled", "refill": True}),
        "baby": removal.model_copy(update={"name": "baby", "reinsert": back}),
    }
    beside = out("beside.json")
    write_json(beside, {"allow": ["void"]})  # of words alone no tree bears what rules ask for
    for name, condition in conditions.items():
        spec = specs.ConditionSpec(condition=condition, size=size)
        run(name, ("condition", spec,
                   f"--sentences {sentences} --evidence {labels} --beside {beside} "
                   f"--output {out(name)}", out(name) / "manifest.json"))  # fmt: skip
    run("collateral", ("measure-collateral", specs.CollateralSpec(condition=removal, size=size),
                       f"--sentences {sentences} --evidence {labels} --condition {out('baby-f')} "
                       f"--output {out('collateral')}",
                       out("collateral") / "manifest.json"))  # fmt: skip
    tokenizer = specs.TokenizerSpec(tokenizer=config.Tokenizer(vocabulary_size=700))
    run("tokenizer", ("tokenizer", tokenizer,
                      f"--condition {out('baby')} --output {out('tokenizer')}",
                      out("tokenizer") / "manifest.json"))  # fmt: skip
    run("tokens", ("tokens", None,
                   f"--condition {out('baby')} --tokenizer {out('tokenizer')} "
                   f"--output {out('tokens')}", out("tokens") / "manifest.json"))  # fmt: skip
    return rows


def _command(command: tuple[str, specs.Section | None, str, Path]) -> None:
    stage, spec, options, _ = command
    given = f"--spec {shlex.quote(specs.canonical(spec))} " if spec is not None else ""
    subprocess.run(f"poshgrid {stage} {given}{options}", shell=True, check=True)


if __name__ == "__main__":
    main()
