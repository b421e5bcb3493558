"""The detector as a stage: learned from gold trees, and asked by the audit."""

from __future__ import annotations

import csv
import itertools
import re
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
import yaml
from poshgrid.grid.slices import Slices

from poshgrid.audit.draw import draw
from poshgrid.audit.rate import rate
from poshgrid.audit.sheet import COLUMNS
from poshgrid.config import Condition, Config, Filter, specs
from poshgrid.corpora import toy
from poshgrid.corpora.schema import SENTENCES
from poshgrid.errors import PoshgridError
from poshgrid.evidence.condition import build
from poshgrid.evidence.label import labels_of, rules_of
from poshgrid.evidence.schema import column
from poshgrid.evidence.screening.detector import Detector
from poshgrid.evidence.screening.learn import learn
from poshgrid.files import read_json, write_json, write_table
from poshgrid.grid.grid import Grid
from poshgrid.parsing import treebank

ONE_LINE = re.compile(r"[^\n]+")
QUESTION = Filter(name="question-formation", reading="paper")
BINDING = Filter(name="binding", reading="paper")


def spec(*filters, path="toy", sentences=1_200):
    gold = {"path": path, "sentences": sentences, "heldout": 0.3}
    return specs.DetectorSpec(treebank=gold, filters=filters or [QUESTION, BINDING])


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("detector")
    return folder, learn(spec(), folder, folder)


def test_what_is_learned_can_be_loaded_and_knows_evidence(learned):
    folder, facts = learned
    detector = Detector.load(folder)
    assert set(detector.weights) == {"question-formation", "binding"}
    assert facts == read_json(folder / "statistics.json")
    found = facts["filters"]["question-formation"]
    assert 0 < found["positive"] < found["sentences"] < facts["gold"]["train"]["sentences"]
    heldout = found["heldout"]
    total = facts["gold"]["dev"]["sentences"] + facts["gold"]["test"]["sentences"]
    assert sum(each["sentences"] for each in heldout["strata"].values()) == total
    assert sum(each["evidence"] for each in heldout["strata"].values()) == heldout["evidence"] > 10
    assert heldout["missed"] == 0
    # The highest tenth holds nearly all of it that there is room for
    high = [each for number, each in heldout["strata"].items() if number != "1"]
    assert sum(e["evidence"] for e in high) > 0.8 * min(
        heldout["evidence"], sum(e["sentences"] for e in high)
    )


def test_learning_twice_gives_the_same(learned, tmp_path):
    learn(spec(), tmp_path, tmp_path)
    for name in ("detector.safetensors", "detector.json", "statistics.json"):
        assert (tmp_path / name).read_bytes() == (learned[0] / name).read_bytes(), name
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o644


def test_the_reading_that_conditions_use_is_learned(tmp_path):
    """Of the same trees, the strict reading takes fewer, and both together as many as either."""
    positive = {}
    for name, readings in {"p": ["paper"], "d": ["direct"], "b": ["paper", "direct"]}.items():
        filters = [Filter(name="question-formation", reading=each) for each in readings]
        facts = learn(spec(*filters), tmp_path, tmp_path / name)
        positive[name] = facts["filters"]["question-formation"]["positive"]
    assert 0 < positive["d"] < positive["p"] <= positive["b"]


def test_what_cannot_be_learned_is_one_line(tmp_path):
    for given, message in (
        (spec().model_copy(update={"filters": []}), "no filters to learn; name a condition"),
        (spec(path="none.conllu"), "none.conllu: no such treebank"),
        (spec(Filter(name="npi-only")), "detector: 0 of .* give it more gold trees"),
    ):
        with pytest.raises(PoshgridError, match=message) as error:
            learn(given, tmp_path, tmp_path / "out")
        assert ONE_LINE.fullmatch(str(error.value))
        assert not (tmp_path / "out/detector.json").exists()


def grid(tiny, *audited, detector=True):
    """The tiny grid with another condition, which removes by the strict reading alone."""
    value = yaml.safe_load(tiny.read_text(encoding="utf-8"))
    strict = {"name": "strict", "base": "baby", "filters": ["binding.direct"]}
    value["conditions"].append(strict)
    value["audit"]["conditions"] = list(audited)
    if not detector:
        del value["evidence"]["detector"]
    return Grid(Config.model_validate(value))


def test_a_grid_learns_for_the_audited_conditions(root):
    tiny = root / "config/tiny.yaml"
    both = ["binding.paper", "question-formation.paper"]
    for audited, expected in (
        (["baby-f"], both),
        (["strict"], ["binding.direct"]),
        (["baby-f", "strict", "baby"], ["binding.direct", *both]),
        (["wiki"], []),
    ):
        found = grid(tiny, *audited)
        assert [str(each) for each in found.detected()] == expected
        spec = specs.parse(specs.DetectorSpec, Slices(found).detector())
        assert spec.filters == found.detected() and spec.treebank.path == "toy"
    with pytest.raises(PoshgridError, match="audit: unknown condition 'strct'; did you mean"):
        grid(tiny, "strct").detected()
    # Without one nothing but the audit's own slice changes
    without = Slices(grid(tiny, "baby-f", detector=False))
    slice_ = specs.parse(specs.AuditSpec, without.audit("baby-f", "60K"))
    assert not slice_.detector
    assert specs.parse(
        specs.AuditSpec, Slices(grid(tiny, "baby-f")).audit("baby-f", "60K")
    ) == slice_.model_copy(update={"detector": True})
    with pytest.raises(PoshgridError, match="evidence: detector: no treebank"):
        without.detector()


# --- the audit asks it -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Toy text of another seed, whose labels miss every other sentence of evidence."""
    folder = tmp_path_factory.mktemp("corpus")
    rows, labels, leaks = [], [], set()
    rule = rules_of("question-formation").readings["paper"]
    known = labels_of(["question-formation", "binding"])
    nothing = {n: [] if k == pl.List(pl.UInt16) else False for n, k in known.schema.items()}
    evidence = 0
    for i, each in enumerate(itertools.islice(toy.sentences("baby", 7), 1_500)):
        tree = read_tree(folder, each)
        split = "train" if i < 1_400 else ("dev", "test")[i % 2]
        text = " ".join(tree.form)
        rows.append((i, "s", "d", i, text, len(tree), split, i, "1K" * (split == "train")))
        found = bool(rule(tree))
        evidence += found
        labelled = found and evidence % 2 == 0
        labels.append(nothing | {"sent_id": i, column("question-formation", "paper"): labelled})
        if split == "train" and found and not labelled:
            leaks.add(i)
    paths = SimpleNamespace(
        sentences=folder / "s.parquet", labels=folder / "l.parquet", condition=folder / "c"
    )
    write_table(pl.DataFrame(rows, schema=SENTENCES, orient="row"), paths.sentences, SENTENCES)
    write_table(pl.DataFrame(labels, schema=known.schema), paths.labels, known.schema)
    counts = {word: {r: {"never": []} for r in known.readings[word]} for word in known.readings}
    write_json(paths.labels.with_suffix(".json"), {"parsed": len(rows), "filters": counts})
    chosen = Condition(name="f", base="b", filters=[QUESTION])
    given = specs.ConditionSpec(condition=chosen, size="1K", backstop=False)
    build(given, paths.sentences, paths.labels, paths.condition)
    return paths, leaks


def read_tree(folder, sentence):
    path = folder / "one.conllu"
    path.write_text(toy.conllu(sentence), encoding="utf-8")
    return treebank.trees(path)[0]


def audit(paths, output, detector, *filters, sample=100, seed=0, wanted=True):
    given = specs.AuditSpec(
        condition="f", size="1K", filters=filters or [QUESTION], detector=wanted, sample=sample,
        seed=seed,
    )  # fmt: skip
    return draw(given, paths.condition, paths.sentences, paths.labels, output, detector)


def label(path, leaks):
    """Fill in a sheet as somebody does who knows the leaks."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for row in rows:
        row["label"] = "yes" if int(row["sent_id"]) in leaks else "no"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.slow
def test_leaks_of_a_real_detector_are_found_and_weighted(corpus, learned, tmp_path):
    paths, leaks = corpus
    found, holds, yes, drawn = [], 0, 0, 0
    for seed in range(20):
        facts = audit(paths, tmp_path, learned[0], seed=seed)["filters"]["question-formation"]
        assert facts["leakage"]["whole"]
        path = tmp_path / "question-formation.leakage.csv"
        label(path, leaks)
        first = rate(path).first
        found.append(first.low.expected)
        low, high = first.low.expected_interval
        holds += low <= len(leaks) <= high
        yes, drawn = yes + first.yes, drawn + first.annotated
        path.unlink()
    assert holds >= 18
    means = np.array(found)
    assert abs(means.mean() - len(leaks)) < 4 * means.std(ddof=1) / len(means) ** 0.5
    # More of the sheet is leaks than of the condition
    assert yes / drawn > 2 * len(leaks) / facts["leakage"]["candidates"]


def test_a_detector_of_other_filters_or_none_is_refused(corpus, learned, tmp_path):
    paths, _ = corpus
    other = tmp_path / "other"
    learn(spec(QUESTION), tmp_path, other)
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "detector.json").write_text('{"format": 0}')
    for folder, message in (
        (other, r"other: the detector knows question-formation, not binding; run poshgrid"),
        (tmp_path / "none", r"none/detector\.json: not found"),
        (broken, r"broken/detector\.json: not of format"),
        (None, r"condition 'f': the audit draws by a detector; name its folder with --detector"),
    ):
        with pytest.raises(PoshgridError, match=message) as error:
            audit(paths, tmp_path / "out", folder, QUESTION, BINDING)
        assert ONE_LINE.fullmatch(str(error.value))
        assert not (tmp_path / "out").exists()


def test_without_being_asked_for_it_draws_from_candidates(corpus, learned, tmp_path):
    facts = audit(corpus[0], tmp_path, learned[0], wanted=False)
    assert not facts["filters"]["question-formation"]["leakage"]["whole"]
