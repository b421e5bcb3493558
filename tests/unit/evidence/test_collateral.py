"""What else goes when a filter removes: counts by hand, counts by brute force, planted faults."""

from __future__ import annotations

import functools
import random
import re
import shutil
from collections import Counter
from types import SimpleNamespace

import polars as pl
import pytest
from scipy.spatial.distance import jensenshannon

from poshgrid.config import Condition, Filter, specs
from poshgrid.corpora.schema import SENTENCES
from poshgrid.errors import PoshgridError
from poshgrid.evidence import collateral as stage
from poshgrid.evidence.collateral import ALL, MEASURES, collateral, divergence
from poshgrid.evidence.condition import build
from poshgrid.evidence.constructions import BY_TREE, BY_WORDS
from poshgrid.evidence.schema import COLLATERAL, CONDITION, Labels
from poshgrid.files import read_json, read_table, table_batches, write_json, write_table

LABELS = Labels({"binding": ("paper",), "question-formation": ("paper",)}, {"binding": ("paper",)})
FILTERS = ["binding.paper", "question-formation.paper"]
LONG_ONE = "I know what the boy who ran said to the girl that he saw on the very long way home."
# Source, text, split, size, what the table of evidence says; "tree": it was parsed
HAND = [
    ("a", "What is it?", "train", "1K", ""),
    ("a", "The dog sees himself.", "train", "1K", "tree binding_paper"),
    ("a", "Dad and himself.", "train", "1K", "tree binding_paper_backstop"),
    ("a", LONG_ONE, "train", "1K", "tree embedded_question relative"),
    ("b", "Is the boy who is here nice?", "train", "1K",
     "tree question_formation_paper binding_paper_backstop relative"),
    ("b", "It was seen.", "train", "1K", "tree passive"),
    ("b", "“Why?” he said.", "train", "1K", ""),
    ("b", "Keep it yourself.", "train", "1K", ""),
    ("c", "Hi.", "train", "1K", ""),
    ("a", "Who hurt herself?", "train", "2K", "tree"),
    ("a", "Dev.", "dev", "", ""),
    ("a", "Test.", "test", "", ""),
]  # fmt: skip
ONE_LINE = re.compile(r"[^\n]+")


def write_base(folder, rows):
    """Write a base and its labels."""
    base = [
        (i, source, "d", i, text, len(text.split()), split, i, size)
        for i, (source, text, split, size, _) in enumerate(rows)
    ]
    labels = []
    for i, (*_, says) in enumerate(rows):
        said = set(says.split())
        labels.append({
            name: i if name == "sent_id" else [] if kind == pl.List
            else None if name in BY_TREE and "tree" not in said else name in said
            for name, kind in LABELS.schema.items()
        })  # fmt: skip
        assert said <= {*LABELS.schema, "tree"}
    paths = SimpleNamespace(
        sentences=folder / "sentences.parquet", labels=folder / "labels.parquet", folder=folder
    )
    write_table(pl.DataFrame(base, schema=SENTENCES, orient="row"), paths.sentences, SENTENCES)
    write_table(pl.DataFrame(labels, schema=LABELS.schema), paths.labels, LABELS.schema)
    counts = {word: {"paper": {"rules": {}, "never": []}} for word in LABELS.readings}
    write_json(paths.labels.with_suffix(".json"), {"parsed": len(rows), "filters": counts})
    return paths


def chosen(name="f", control=None, backstop=True, size="1K", **settings):
    """Return the slice of a condition; a control's condition removes by both filters."""
    if control:
        settings["control"] = control
    else:
        settings.setdefault("filters", FILTERS)
    condition = Condition(name=name, base="x", **settings)
    removed = [Filter.model_validate(each) for each in FILTERS if control]
    return specs.CollateralSpec(condition=condition, control=removed, size=size, backstop=backstop)


def made(paths, spec):
    """Build a condition; return its folder."""
    folder = paths.folder / spec.condition.name
    beside = specs.BesideSpec(allow=spec.condition.allow)
    build(spec, paths.sentences, paths.labels, folder, beside)
    return folder


def counted(paths, spec, **other):
    """Build a condition and count; return the table as (source, measure) -> sets, and facts."""
    folder = other.get("condition") or made(paths, spec)
    output = paths.folder / "out"
    facts = collateral(
        spec, folder, other.get("sentences", paths.sentences), other.get("labels", paths.labels),
        output,
    )  # fmt: skip
    table = read_table(output / "collateral.parquet", COLLATERAL)
    assert facts == read_json(output / "statistics.json")
    return {(s, m): tuple(rest) for s, m, *rest in table.iter_rows()}, facts


@pytest.fixture
def hand(tmp_path):
    return write_base(tmp_path, HAND)


# ---- by hand -------------------------------------------------------------------------------------


def test_counts_by_hand(hand):
    """Sentences 1 and 4 go by a rule, 2 for its words; 4 looks like evidence, too."""
    found, facts = counted(hand, chosen())
    expected = {  # before, after, removed, by rule, by backstop
        ("all", "sentences"): (9, 6, 3, 2, 1),
        ("all", "words"): (47, 33, 14, 11, 3),
        ("all", "parsed"): (5, 2, 3, 2, 1),
        ("all", "over_15_words"): (1, 1, 0, 0, 0),
        ("all", "question"): (2, 1, 1, 1, 0),  # the first has no parse: its words tell
        ("all", "wh_question"): (1, 1, 0, 0, 0),
        ("all", "embedded_question"): (1, 1, 0, 0, 0),
        ("all", "relative"): (2, 1, 1, 1, 0),
        ("all", "passive"): (1, 1, 0, 0, 0),
        ("all", "reflexive"): (3, 1, 2, 1, 1),
        ("a", "sentences"): (4, 2, 2, 1, 1),
        ("a", "words"): (30, 23, 7, 4, 3),
        ("a", "reflexive"): (2, 0, 2, 1, 1),
        ("b", "words"): (16, 9, 7, 7, 0),
        ("b", "relative"): (1, 0, 1, 1, 0),
        ("b", "reflexive"): (1, 1, 0, 0, 0),
        ("c", "sentences"): (1, 1, 0, 0, 0),
    }
    assert {key: found[key] for key in expected} == expected
    assert [key for key in found if key[0] == "a"] == [("a", measure) for measure in MEASURES]
    assert {source for source, _ in found} == {"a", "b", "c", ALL}
    assert facts["words"] == {"nominal": 1000, "before": 47, "actual": 33}
    assert facts["parsed"] == {
        "all": pytest.approx(5 / 9),
        "sources": {"a": 0.75, "b": 0.5, "c": 0},
    }
    assert (facts["condition"], facts["size"], facts["control"]) == ("f", "1K", None)


def test_divergence_of_all_and_nothing():
    assert divergence({"a": 3}, {"b": 1}) == 1 and divergence({"a": 3}, {"a": 1}) == 0
    assert divergence({}, {"a": 1}) is None


def test_an_unknown_is_never_zero(hand):
    """Nothing of source c was parsed; nothing of it was removed, which is known."""
    found, _ = counted(hand, chosen())
    for measure in BY_TREE:
        assert found["c", measure] == (None, None, 0, 0, 0)
    for measure in (*BY_WORDS, "parsed", "over_15_words"):
        assert found["c", measure] == (0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is it?", {"question", "wh_question"}), ("What's it?!", {"question", "wh_question"}),
        ("“Is it here?” ", {"question"}), ("Whatnot?", {"question"}), ("“Why?” he said.", set()),
        ("who are you", set()), ("He hurt HIMSELF.", {"reflexive"}), ("My self.", set()),
        ("They saw themselves?", {"question", "reflexive"}), ("a selfless shelf", set()),
    ],
)  # fmt: skip
def test_what_the_words_tell(text, expected):
    found = pl.DataFrame({"text": [text]}).select(**BY_WORDS).row(0, named=True)
    assert {name for name, has in found.items() if has} == expected


# ---- by brute force ------------------------------------------------------------------------------


def rows(seed, number=700, parsed=0.7):
    """Return a base at random: two sources, two sizes, lengths, labels; part of it parsed."""
    rng = random.Random(seed)
    forms = [f"w{n}" for n in range(40)]
    found = []
    for i in range(number):
        split = "train" if i < number * 0.85 else rng.choice(["dev", "test"])
        size = "" if split != "train" else rng.choice(["1K", "2K", "2K"])
        says = []
        if rng.random() < parsed:
            says = ["tree"] + [name for name in BY_TREE if rng.random() < 0.2]
            says += [
                name
                for name, share in (("binding_paper", 0.06), ("binding_paper_backstop", 0.06),
                                    ("question_formation_paper", 0.08))
                if rng.random() < share
            ]  # fmt: skip
        words = rng.choices(forms, k=rng.randint(1, 22))
        if rng.random() < 0.3:
            words[0], words[-1] = rng.choice(["What", "Is"]), "it?"
        if rng.random() < 0.1:
            words.insert(0, "Myself")
        source = rng.choice(["books", "childes"])
        found.append((source, " ".join(words), split, size, " ".join(says)))
    return found


def brute(given, spec, train):
    """Count again, sentence by sentence, in plain Python."""
    by_rule = {"binding_paper", "question_formation_paper"}
    sizes = ("1K",) if spec.size == "1K" else ("1K", "2K")

    def measures(i):
        _, text, _, _, says = given[i]
        words, said = text.split(), set(says.split())
        has = {name: name in said if said else None for name in BY_TREE}
        has["question"] = words[-1].endswith("?")
        has["wh_question"] = has["question"] and words[0] == "What"
        has["reflexive"] = "Myself" in words
        return {
            "sentences": 1, "words": len(words), "parsed": bool(said),
            "over_15_words": len(words) > 15, **has,
        }  # fmt: skip

    at_size = [i for i, (_, _, split, size, _) in enumerate(given)
               if split == "train" and size in sizes]  # fmt: skip
    said = {i: set(given[i][-1].split()) for i in at_size}
    rule = [i for i in at_size if said[i] & by_rule]
    looks = [i for i in at_size if "binding_paper_backstop" in said[i] and i not in rule]
    removed = rule + looks
    if spec.control:
        there = set(train["sent_id"])
        removed, rule, looks = [i for i in at_size if i not in there], None, None
        if spec.condition.downsample < 1:
            removed = None
    found = {}
    for source in ("books", "childes", ALL):
        for measure in MEASURES:
            numbers = []
            for ids in (at_size, list(train["sent_id"]), removed, rule, looks):
                mine = [i for i in ids or () if source in (given[i][0], ALL)]
                values = [measures(i)[measure] for i in mine]
                known = [v for v in values if v is not None]
                numbers.append(None if ids is None or (mine and not known) else sum(known))
            found[source, measure] = tuple(numbers)
    return found


CONDITIONS = {
    "filtered": {},
    "one filter": {"filters": ["question-formation"]},
    "larger": {"size": "2K"},
    "put back": {
        "reinsert": [{"filter": "binding", "rate": 0.05, "tolerance": 0.1, "pool": "paper"}]
    },
    "refilled": {"refill": True},
    "down-sampled": {"downsample": 0.6},
    "control": {"control": "other"},
    "refilled control": {"control": "other", "refill": True},
    "down-sampled control": {"control": "other", "downsample": 0.6},
}


@pytest.mark.parametrize("name", CONDITIONS)
@pytest.mark.parametrize("parsed", [0.7, 1.0])
def test_counts_by_brute_force(tmp_path, monkeypatch, name, parsed):
    given = rows(len(name), parsed=parsed)
    paths = write_base(tmp_path, given)
    spec = chosen(name.replace(" ", "-"), **CONDITIONS[name])
    folder = made(paths, spec)
    train = read_table(folder / "train.parquet", CONDITION)
    found, facts = counted(paths, spec, condition=folder)
    expected = brute(given, spec, train)
    if name == "one filter":
        sets = slice(0, 2)  # brute counts both filters' removals
        assert {k: v[sets] for k, v in found.items()} == {k: v[sets] for k, v in expected.items()}
    else:
        assert found == expected
    assert facts["control"] == CONDITIONS[name].get("control")
    if name == "refilled":
        assert found[ALL, "sentences"][1] > found[ALL, "sentences"][0] - found[ALL, "sentences"][2]
        assert facts["words"]["actual"] >= facts["words"]["before"]
    forms = [Counter(w for t in texts for w in re.findall(r"\w+|\?", t.lower())) for texts in (
        [t for _, t, split, size, _ in given if size in ("1K", spec.size)], train["text"])
    ]  # fmt: skip
    shares = [[counts[form] for form in sorted(forms[0] | forms[1])] for counts in forms]
    assert facts["divergence"]["all"] == pytest.approx(
        jensenshannon(*shares, base=2) ** 2, abs=1e-8
    )
    # Text is read in parts: they may be of any length
    monkeypatch.setattr(stage, "table_batches", functools.partial(table_batches, size=13))
    assert counted(paths, spec, condition=folder) == (found, facts)


# ---- faults --------------------------------------------------------------------------------------


def refused(paths, message, spec=None, **other):
    output = paths.folder / "out"
    shutil.rmtree(output, ignore_errors=True)
    with pytest.raises(PoshgridError, match=message) as error:
        counted(paths, spec or chosen(), **other)
    assert "\n" not in str(error.value)
    assert not output.exists()


def test_tables_of_another_base(tmp_path):
    (tmp_path / "1").mkdir()
    (tmp_path / "2").mkdir()
    one, two = (write_base(tmp_path / str(n), rows(n)) for n in (1, 2))
    folder = made(one, chosen())
    again = "run -R condition"
    # The labels, the base, and both are another's
    refused(one, again, condition=folder, labels=two.labels)
    refused(one, again, condition=folder, sentences=two.sentences)
    refused(one, again, condition=folder, sentences=two.sentences, labels=two.labels)
    shorter = tmp_path / "shorter.parquet"
    labels = read_table(one.labels, LABELS.schema)
    for table in (labels.head(500), pl.concat([labels, labels[-1:]])):
        write_table(table, shorter, LABELS.schema)
        refused(one, "not one row for each sentence", condition=folder, labels=shorter)
    base = read_table(one.sentences, SENTENCES)
    write_table(base.head(500), shorter, SENTENCES)
    few = tmp_path / "few.parquet"
    write_table(labels.head(500), few, LABELS.schema)
    refused(one, f"not in its base.*{again}", condition=folder, sentences=shorter, labels=few)


def test_what_is_not_this_filtered_condition(hand):
    folder = made(hand, chosen())
    other = made(hand, chosen("other", filters=["question-formation"]))
    refused(hand, "the one was not made from the other", condition=other)
    refused(hand, "the one was not made from the other", chosen(size="2K"), condition=folder)
    refused(hand, "is its base: nothing was removed", chosen(filters=[]))
    refused(hand, "no labels of filter 'passive", chosen(filters=["passive"]), condition=folder)
    write_json(folder / "statistics.json", {"condition": "f", "size": "1K", "whole": None})
    refused(hand, "not the statistics of a filtered condition", condition=folder)
