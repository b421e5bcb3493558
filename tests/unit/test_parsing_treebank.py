"""Reading and dividing gold trees; evaluating a parser's."""

from __future__ import annotations

import pytest

from poshgrid import specs
from poshgrid.config import Treebank
from poshgrid.errors import PoshgridError
from poshgrid.parsing import treebank
from poshgrid.parsing.evaluate import evaluate
from tests.unit.trees import tree

GOOD = """\
# sent_id = 1
# text = Let's go.
1-2\tLet's\t_\t_\t_\t_\t_\t_\t_\t_
1\tLet\tlet\tVERB\tVB\tMood=Imp|VerbForm=Fin\t0\troot\t0:root\t_
2\t's\t_\tPRON\tPRP\t_\t1\tobj\t1:obj|3:nsubj:xsubj\t_
2.1\tleft\tleave\tVERB\tVBN\t_\t_\t_\t1:ccomp\tCopyOf=1
3\tgo\tgo\tVERB\tVB\t_\t1\txcomp\t1:xcomp\tSpaceAfter=No
4\t.\t.\tPUNCT\t.\t_\t1\tpunct\t1:punct\t_
"""


def sentence(number, words=3):
    lines = [f"1\tword{number}\tword\tNOUN\tNN\t_\t0\troot\t_\t_"]
    lines += [f"{i}\tx\tx\tNOUN\tNN\t_\t1\tdep\t_\t_" for i in range(2, words + 1)]
    return "\n".join(lines) + "\n\n"


def spec(**settings):
    return specs.TreebankSpec(treebank=Treebank(**settings))


def test_ranges_and_empty_nodes_go(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(GOOD)  # no empty line at the end either
    words = next(treebank.read(path))
    assert [word[1] for word in words] == ["Let", "'s", "go", "."]
    assert words[0] == ("1", "Let", "let", "VERB", "VB", "Mood=Imp|VerbForm=Fin", "0", "root")
    assert words[1][2] == "'s"  # a missing lemma
    assert treebank.trees(path)[0].head == [0, 1, 1, 1]


FAULTS = {
    "columns": ("3\tgo\tgo", "3 go go", "line 7: 8 tab-separated columns"),
    "head": ("\t_\t1\txcomp", "\t_\t9\txcomp", "line 7: impossible head 9"),
    "own head": ("\t_\t1\txcomp", "\t_\t3\txcomp", "line 7: impossible head 3"),
    "number": ("4\t.\t.", "5\t.\t.", "line 8: word number 5 where 4 is due"),
    "relation": ("1\txcomp\t", "1\t_\t", "line 7: no relation"),
    "circle": ("0\troot", "3\tdep", "line 4: the heads form a circle"),
    "two roots": ("\t_\t1\txcomp", "\t_\t0\troot", "line 4: 2 roots instead of 1"),
    "not a number": ("4\t.\t.", "x\t.\t.", "line 1: not CoNLL-U"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_malformed_line_is_named(tmp_path, fault):
    old, new, message = FAULTS[fault]
    assert GOOD.count(old) == 1
    (tmp_path / "bad.conllu").write_text(GOOD.replace(old, new))
    with pytest.raises(PoshgridError, match=f"bad.conllu: {message}") as caught:
        treebank.prepare(spec(path="bad.conllu"), tmp_path, tmp_path / "out")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_missing_empty_and_binary_treebanks(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty.conllu").write_text("\n\n# only a comment\n")
    (tmp_path / "binary.conllu").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "short.conllu").write_text(sentence(1))
    for path, message in {
        "absent": "no such treebank",
        "folder": "no .conllu file",
        "empty.conllu": "no sentences",
        "binary.conllu": "not UTF-8",
        "short.conllu": "leave none for",
    }.items():
        with pytest.raises(PoshgridError, match=message):
            treebank.prepare(spec(path=path), tmp_path, tmp_path / "out")


def test_division(tmp_path):
    folder = tmp_path / "bank"
    folder.mkdir()
    # 300 sentences, 100 of which are one and the same
    (folder / "a.conllu").write_text("".join(sentence(i) for i in range(150)))
    (folder / "b.conllu").write_text("".join(sentence(max(i, 249)) for i in range(150, 300)))
    for name in ("one", "two"):
        facts = treebank.prepare(spec(path="bank", heldout=0.2), tmp_path, tmp_path / name)
    parts = {s: treebank.trees(tmp_path / "one" / f"{s}.conllu") for s in treebank.SPLITS}
    assert {s: len(p) for s, p in parts.items()} == {"train": 240, "dev": 30, "test": 30}
    assert facts["test"] == {"sentences": 30, "words": 90}
    texts = {s: {" ".join(t.form) for t in p} for s, p in parts.items()}
    assert not texts["train"] & (texts["dev"] | texts["test"]) and not texts["dev"] & texts["test"]
    for split in treebank.SPLITS:
        one, two = ((tmp_path / n / f"{split}.conllu").read_bytes() for n in ("one", "two"))
        assert one == two
    treebank.prepare(spec(path="bank", heldout=0.2, seed=1), tmp_path, tmp_path / "three")
    assert (tmp_path / "three/test.conllu").read_bytes() != (
        tmp_path / "one/test.conllu"
    ).read_bytes()
    treebank.prepare(spec(path="bank", sentences=60, heldout=0.2), tmp_path, tmp_path / "few")
    assert sum(len(treebank.trees(tmp_path / f"few/{s}.conllu")) for s in treebank.SPLITS) == 60


def test_toy_treebank(tmp_path):
    facts = treebank.prepare(spec(path="toy", sentences=200), tmp_path, tmp_path / "toy")
    assert sum(part["sentences"] for part in facts.values()) == 200
    assert any("acl:relcl" in t.deprel for t in treebank.trees(tmp_path / "toy/train.conllu"))


def test_evaluation_by_hand():
    gold = tree(
        "The/DET/2/det boy/NOUN/5/nsubj who/PRON/4/nsubj ran/VERB/2/acl:relcl left/VERB/0/root"
    )
    # wrong: the tag of boy, the head of who (label kept), the label of ran (head kept)
    guess = tree("The/DET/2/det boy/VERB/5/nsubj who/PRON/5/nsubj ran/VERB/2/acl left/VERB/0/root")
    found = evaluate([gold, gold], [guess, gold])
    assert (found["sentences"], found["words"]) == (2, 10)
    assert (found["upos"], found["uas"], found["las"]) == (0.9, 0.9, 0.8)
    assert found["relations"]["nsubj"] == {
        "gold": 4, "predicted": 4, "correct": 3, "precision": 0.75, "recall": 0.75,
    }  # fmt: skip
    assert found["relations"]["acl:relcl"] == {
        "gold": 2, "predicted": 1, "correct": 1, "precision": 1.0, "recall": 0.5,
    }  # fmt: skip
    assert found["relations"]["aux"]["precision"] is None
    with pytest.raises(PoshgridError, match="changed the words"):
        evaluate([gold], [tree("A/DET/0/root")])
    with pytest.raises(PoshgridError, match="0 predicted trees"):
        evaluate([gold], [])
