"""What a parser finds of the evidence in gold trees: hand-made trees, and a parser that errs."""

import itertools
import json
from types import SimpleNamespace

import pytest
from scipy.stats import binomtest

from poshgrid.config import Parser, Treebank, specs
from poshgrid.core import plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import read_table
from poshgrid.evidence import recall as stage
from poshgrid.evidence.label import Rules
from poshgrid.evidence.match import Match
from poshgrid.evidence.recall import recall
from poshgrid.evidence.schema import RECALL
from poshgrid.parsing.tree import Tree

GIVEN = Parser(name="given", engine="spacy", model="x")
TRAINED = Parser(name="trained", engine="spacy", treebank=Treebank(path="toy"))
# words -> relation of the last word in the gold tree, and in the parser's
SENTENCES = {
    "Give me it": ("iobj", "iobj"),  # found
    "Tell him that one": ("iobj", "iobj"),  # found
    "Show wug it": ("iobj", "obj"),  # missed; the backstop sees the wug
    "Try to go": ("xcomp", "obj"),  # missed
    "See the big red dog": ("obj", "iobj"),  # wrongly removed
    "A wug runs away": ("advmod", "advmod"),  # wrongly removed by the backstop
    "The wug": ("obj", "obj"),  # likewise
    "Yes it is": ("nsubj", "nsubj"),
    "Yes": ("root", "root"),
}
WITHOUT = {"evidence": 4, "right": 2, "removed": 3, "words_removed": 3 + 4 + 5}
WITH = {"evidence": 4, "right": 3, "removed": 6, "words_removed": 3 + 4 + 5 + 3 + 4 + 2}


def tree(words, last):
    n = len(words)
    relations = ["root", *["dep"] * (n - 2), last][:n] if n > 1 else ["root"]
    return Tree(words, ["X"] * n, ["_"] * n, [0, *[1] * (n - 1)], relations)


def conllu(sentences):
    """Write gold trees as CoNLL-U."""
    lines = []
    for text, (gold, _) in sentences.items():
        parsed = tree(text.split(), gold)
        rows = zip(itertools.count(1), parsed.form, parsed.head, parsed.deprel)
        lines += [f"{i}\t{w}\t{w}\tX\t_\t_\t{h}\t{r}\t_\t_" for i, w, h, r in rows] + [""]
    return "\n".join(lines) + "\n"


def fires(parsed):
    known = next((r for r in ("iobj", "xcomp") if r in parsed.deprel), None)
    return Match(f"has {known}", {"last": len(parsed)}) if known else None


def looks(words):
    return (words.index("wug") + 1,) if "wug" in words else None


@pytest.fixture
def asked(monkeypatch):
    """What a parser was asked; planted are its trees, and a filter of two readings.

    The first reading has a backstop.
    """
    asked = []

    def parse(sentences):
        asked.extend(map(tuple, sentences))
        return [tree(words, SENTENCES[" ".join(words)][1]) for words in sentences]

    rules = Rules(
        {"wide": fires, "narrow": lambda t: fires(t) if "xcomp" in t.deprel else None},
        {"wide": looks},
    )
    engine = plugins.load(plugins.ENGINES, GIVEN.engine)
    monkeypatch.setattr(engine, "load", lambda *arguments: SimpleNamespace(parse=parse))
    monkeypatch.setattr(stage, "rules_of", lambda word: rules)
    return asked


def run(folder, *, gold=("all.conllu",), trained=None, chosen=GIVEN):
    """Run the stage on the files of a folder; return its table, counts and what it returned."""
    spec = specs.RecallSpec(parser=chosen, filters=["mine"], gold=list(gold))
    output = folder / "out" / f"{chosen.name}.parquet"
    facts = recall(spec, folder, folder, trained, output)
    return read_table(output, RECALL), json.loads(output.with_suffix(".json").read_text()), facts


def row(table, **wanted):
    wanted = {"reading": "wide", "gold": "all.conllu", **wanted}
    (only,) = table.filter(**wanted).iter_rows(named=True)
    return only


@pytest.fixture
def gold_folder(tmp_path, asked):
    """A folder of gold trees."""
    (tmp_path / "all.conllu").write_text(conllu(SENTENCES))
    return tmp_path


def test_recall_precision_and_words_by_hand(gold_folder):
    table, counts, facts = run(gold_folder)
    for backstop, expected in ((False, WITHOUT), (True, WITH)):
        counted = row(table, backstop=backstop)
        assert {key: counted[key] for key in expected} == expected
        assert (counted["sentences"], counted["skipped"]) == (9, 0)
        assert counted["words"] == 3 + 4 + 3 + 3 + 5 + 4 + 2 + 3 + 1
        assert counted["words_evidence"] == 3 + 4 + 3 + 3
        for name, whole in (("recall", "evidence"), ("precision", "removed")):
            assert counted[name] == expected["right"] / expected[whole]
            share = binomtest(counted["right"], counted[whole])
            interval = share.proportion_ci(0.95, method="wilson")
            assert counted[f"{name}_low"] == pytest.approx(interval.low)
            assert counted[f"{name}_high"] == pytest.approx(interval.high)
    of_gold = counts["gold"]["all.conllu"]
    assert (of_gold["sentences"], of_gold["words"], of_gold["skipped"]) == (9, 28, 0)
    assert of_gold["las"] == pytest.approx((28 - 3) / 28, abs=1e-6)  # three last words are wrong
    assert facts["parsed"] == 9


def test_what_a_parser_was_trained_on_is_left_out(gold_folder, asked):
    bank = gold_folder / "bank"
    bank.mkdir()
    # Capitals do not make another sentence; the parser's own test is unseen
    (bank / "train.conllu").write_text(conllu({"YES": ("root", "")}))
    (bank / "dev.conllu").write_text(conllu({"give Me it": ("obj", "")}))
    (bank / "test.conllu").write_text(conllu({"Tell him that one": ("iobj", "")}))
    table, counts, _ = run(gold_folder, trained=bank, chosen=TRAINED)
    counted = row(table, backstop=False)
    assert (counted["sentences"], counted["skipped"]) == (7, 2)
    assert (counted["evidence"], counted["right"], counted["removed"]) == (3, 1, 2)
    assert counted["words"] == 28 - 3 - 1
    assert counts["gold"]["all.conllu"]["skipped"] == 2
    assert ("Yes",) not in asked and ("Give", "me", "it") not in asked


def test_files_folders_and_all_together(tmp_path, asked):
    first, second = ({k: SENTENCES[k] for k in list(SENTENCES)[part]}
                     for part in (slice(None, 5), slice(5, None)))  # fmt: skip
    (tmp_path / "talk").mkdir()
    (tmp_path / "talk" / "b.conllu").write_text(conllu(dict(list(first.items())[:2])))
    (tmp_path / "talk" / "a.conllu").write_text(conllu(dict(list(first.items())[2:])))
    (tmp_path / "web.conllu").write_text(conllu(second))
    table, counts, _ = run(tmp_path, gold=["web.conllu", "talk"])
    assert sorted(counts["gold"]) == ["talk", "web.conllu"]
    talk, web, both = (row(table, gold=name, backstop=True) for name in ("talk", "web.conllu", ""))
    assert (talk["right"], talk["evidence"], talk["removed"]) == (3, 4, 4)
    assert (web["right"], web["evidence"], web["removed"]) == (0, 0, 2)
    assert {key: both[key] for key in WITH} == WITH
    # One file alone has no row of all: it would be the same
    assert "" not in run(tmp_path, gold=["talk"])[0]["gold"]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (["none.conllu"], "none.conllu: no such treebank"),
        (["empty"], "empty: no sentences"),
        (["blank.conllu"], "blank.conllu: no sentences"),
    ],
)
def test_gold_trees_that_are_not_there(tmp_path, asked, files, message):
    (tmp_path / "empty").mkdir()
    (tmp_path / "blank.conllu").write_text("# nothing\n\n")
    with pytest.raises(PoshgridError) as caught:
        run(tmp_path, gold=files)
    assert message in str(caught.value) and "evidence.gold" in str(caught.value)
    assert not (tmp_path / "out").exists()
