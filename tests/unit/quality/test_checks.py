"""Checks of suites: each fault is caught by its own check alone; leaks; what flags a suite."""

import polars as pl
import pytest

from poshgrid.benchmark import lexicon, structure
from poshgrid.benchmark.schema import PAIRS
from poshgrid.config import specs
from poshgrid.core import files
from poshgrid.core.errors import PoshgridError
from poshgrid.quality.checks import check_suite, leaks
from tests.cases import read_cases
from tests.unit.benchmark.generated import KNOWN, WORDS

VOCABULARY = lexicon.Vocabulary(9_999, {**KNOWN.frequent, "b": KNOWN.frequent["a"] - {"witch"}})

CASES = read_cases(__file__, "pairs")
SOUND = [tuple(row) for row in CASES["sound"]]
"""(phenomenon, contrast, good, bad): one pair of each kind, none with a fault."""


def table(*rows: tuple[str, str, str, str]) -> pl.DataFrame:
    """Return rows as ``PAIRS``; ids are x-0001, x-0002 ..., each a set."""
    return pl.DataFrame(
        [
            {
                "item_id": f"x-{i:04}", "category": "c", "phenomenon": phenomenon,
                "template": f"{phenomenon}-t", "lexical_set": f"x{i}", "contrast": contrast,
                "good": good, "bad": bad,
            }
            for i, (phenomenon, contrast, good, bad) in enumerate(rows, start=1)
        ],
        schema=PAIRS,
    )  # fmt: skip


def failed(suite, vocabulary=VOCABULARY, *, generated=True):
    """Return check -> ids of the items that fail it."""
    checks = structure.checks(suite, WORDS, vocabulary, generated=generated)
    return {check.name: check.ids for check in checks if check.faults}


@pytest.mark.parametrize("row", CASES["planted"])
def test_a_planted_fault_is_caught_by_its_own_check(row):
    kind, phenomenon, *members = row
    suite = table(*SOUND, (phenomenon, "contrast", *members))
    assert failed(suite) == {kind: ["x-0015"]}
    with pytest.raises(PoshgridError, match=rf"{kind}: 1 \(first: x-0015, "):
        structure.refuse_faults(suite, WORDS, VOCABULARY)


def test_repeated_and_identical_pairs_are_caught():
    assert failed(table(*SOUND, SOUND[0], SOUND[1])) == {"repeated pairs": ["x-0015", "x-0016"]}
    for seen in (" ", " \N{NO-BREAK SPACE}", "\N{ZERO WIDTH SPACE} ", "  "):
        alike = (*SOUND[0][:3], SOUND[0][2].replace(" ", seen, 1))
        assert failed(table(*SOUND, alike))["identical members"] == ["x-0015"], ascii(seen)


# ---- suites of others ---------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "good", "bad"), CASES["outside"])
def test_a_planted_fault_of_an_outside_suite_is_caught_by_its_own_check(kind, good, bad):
    known = frozenset(lexicon.tokens(f"{good} {bad}")) - {"zelda"}
    faults = failed(table(("x", "x", good, bad)), lexicon.Vocabulary(0, {"list": known}),
                    generated=False)  # fmt: skip
    assert faults == ({kind: ["x-0001"]} if kind else {})


# ---- leaks --------------------------------------------------------------------------------------


def write_train(path, *texts):
    pl.DataFrame({"text": texts}).write_parquet(path)
    return path


def test_leaks_are_found_whatever_their_case_and_marks(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "BATCH", 1)
    items = table(*SOUND[:4])
    train = {
        "a/1K": write_train(tmp_path / "a.parquet", "Nothing .", "The man knew.",
                            "the man knew that john 's mother helped herself"),
        "b/1K": write_train(tmp_path / "b.parquet", "THE MAN, KNEW THAT JOHN'S MOTHER HELPED"
                            " HERSELF", "The boy saw himself: helped the dog!", "...", ""),
    }  # fmt: skip
    assert leaks(items, train) == [
        ("x-0002", "good member in a/1K, b/1K"),
        ("x-0004", "bad member in b/1K"),
    ]


# ---- the stage ----------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setattr(lexicon, "read", lambda: WORDS)
    corpus = tmp_path / "corpus.parquet"
    words = [" ".join(sorted(f for w in WORDS.words for f in w.folded))]
    pl.DataFrame({"text": words, "split": ["train"]}).write_parquet(corpus)

    def run(items, *, generated=True, text="Nothing to hear."):
        files.write_table(items, tmp_path / "items.parquet", PAIRS)
        spec = specs.QualitySpec(suite="toy", generated=generated, top_k=9_999)
        train = {"a/1K": write_train(tmp_path / "train.parquet", text)}
        return check_suite(spec, tmp_path / "items.parquet", {"a": corpus}, train, tmp_path / "out")

    return run


def faults(quality):
    return {check["name"]: check["items"] for check in quality["checks"] if check["items"]}


def test_a_sound_suite_passes(run, tmp_path):
    quality = run(table(*SOUND))
    assert (quality["verdict"], faults(quality)) == ("passed", {})
    assert {check["checked"] for check in quality["checks"]} == {len(SOUND)}
    assert pl.read_csv(tmp_path / "out/faults.csv").is_empty()


def test_every_fault_is_in_the_table_with_its_pair(run, tmp_path):
    wrong = ("wanna", "wh-word", "When does Mary, wanna sleep?", "Who does Mary wanna sleep?")
    heard = "The man: knew that John's mother helped himself!"
    quality = run(table(*SOUND, wrong), text=heard)
    assert quality["verdict"] == "flagged"
    assert faults(quality) == {"marks in one member only": 1, "leaked pairs": 1}
    assert quality == files.read_json(tmp_path / "out/quality.json")
    rows = pl.read_csv(tmp_path / "out/faults.csv").select("item_id", "reason", "good").rows()
    assert rows[1][:2] == ("x-0002", "bad member in a/1K")
    assert (rows[0][0], rows[0][2]) == ("x-0015", wrong[2])


def test_an_outside_suite_needs_no_lexicon_and_its_table_no_formula(run, tmp_path):
    quality = run(table(("x", "x", "zelda are here .", "zelda is here ."), ("x", "x", "=1", "=1")),
                  generated=False)  # fmt: skip
    assert faults(quality)["identical members"] == 1
    assert faults(quality)["words outside the vocabulary"] >= 1
    assert ",=1" not in (tmp_path / "out/faults.csv").read_text()
