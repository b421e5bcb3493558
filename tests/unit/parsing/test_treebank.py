"""Reading and dividing gold trees; evaluating a parser's."""

from collections import Counter

import conllu
import pytest

from poshgrid.config import Treebank, specs
from poshgrid.config.runs import SPLITS
from poshgrid.core.errors import PoshgridError
from poshgrid.parsing import treebank
from poshgrid.parsing.evaluate import evaluate
from tests.cases import read_cases
from tests.unit.evidence.trees import tree

CASES = read_cases(__file__, "treebank")

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


def sentence(number, words=3, lemma="word"):
    lines = [f"1\tword{number}\t{lemma}\tNOUN\tNN\t_\t0\troot\t_\t_"]
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


@pytest.mark.parametrize(
    ("old", "new", "message"),
    CASES["malformed_line_is_named"],
)
def test_malformed_line_is_named(tmp_path, old, new, message):
    assert GOOD.count(old) == 1
    (tmp_path / "bad.conllu").write_text(GOOD.replace(old, new))
    with pytest.raises(PoshgridError, match=f"bad.conllu: {message}") as caught:
        treebank.prepare(spec(path="bad.conllu"), tmp_path, tmp_path / "out")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_what_stays_and_what_goes(tmp_path):
    """Soft hyphens and subtypes stay; a feature without a value goes: no engine learns from it."""
    path = tmp_path / "a.conllu"
    text = GOOD.replace("3\tgo", "3\tg\xado").replace("1\txcomp\t", "1\txcomp:mine\t")
    path.write_text(text.replace("Mood=Imp|", "Mood=Imp|Typo|").replace("VB\t_", "VB\tTypo"))
    words = next(treebank.read(path))
    assert (words[2][1], words[2][7]) == ("g\xado", "xcomp:mine")
    assert [word[5] for word in words] == ["Mood=Imp|VerbForm=Fin", "_", "_", "_"]


def test_missing_empty_and_binary_treebanks(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary.conllu").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "short.conllu").write_text(sentence(1))
    for path, message in {
        "absent": "no such treebank",
        "folder": "no sentences",
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
    parts = {s: treebank.trees(tmp_path / "one" / f"{s}.conllu") for s in SPLITS}
    assert {s: len(p) for s, p in parts.items()} == {"train": 240, "dev": 30, "test": 30}
    assert facts["test"] == {"sentences": 30, "words": 90}
    texts = {s: {" ".join(t.form) for t in p} for s, p in parts.items()}
    assert not texts["train"] & (texts["dev"] | texts["test"]) and not texts["dev"] & texts["test"]
    for split in SPLITS:
        one, two = ((tmp_path / n / f"{split}.conllu").read_bytes() for n in ("one", "two"))
        assert one == two
    treebank.prepare(spec(path="bank", sentences=60, heldout=0.2), tmp_path, tmp_path / "few")
    assert sum(len(treebank.trees(tmp_path / f"few/{s}.conllu")) for s in SPLITS) == 60


@pytest.mark.parametrize("parts", [["a", "b"], ["b", "a"]])
def test_each_part_is_held_out_in_proportion_and_no_words_leak(tmp_path, parts):
    """a: 200 sentences; b: 100, of which 40 are in a as well and 10 are one and the same."""
    numbers = {"a": range(200), "b": [*range(160, 200), *range(300, 350), *[350] * 10]}
    for part, own in numbers.items():  # the lemma names the part
        text = "".join(sentence(number, lemma=part) for number in own)
        (tmp_path / f"{part}.conllu").write_text(text)
    paths = [f"{part}.conllu" for part in parts]
    facts = treebank.prepare(spec(path=paths, heldout=0.2), tmp_path, tmp_path / "out")
    splits = {
        s: [words[0][1:3] for words in treebank.read(tmp_path / f"out/{s}.conllu")] for s in SPLITS
    }
    assert {s: Counter(part for _, part in splits[s]) for s in splits} == {
        "train": {"a": 160, "b": 80}, "dev": {"a": 20, "b": 10}, "test": {"a": 20, "b": 10},
    }  # fmt: skip
    # Training sentences stand part by part
    assert [part for _, part in splits["train"]] == sorted(
        (part for _, part in splits["train"]), key=parts.index
    )
    words = {s: {word for word, _ in splits[s]} for s in splits}
    assert not words["train"] & (words["dev"] | words["test"]) and not words["dev"] & words["test"]
    # what both have is held out from both, or learned from both
    shared = [{part for word, part in splits[s] if word == "word170"} for s in splits]
    assert sorted(map(len, shared)) == [0, 0, 2]
    assert facts["train"] == {"sentences": 240, "words": 720}


def test_features_are_known_by_the_sentence():
    assert treebank.has_features(tree("A/DET/2/det dog/NOUN/0/root/Number=Sing"))
    assert not treebank.has_features(tree("A/DET/2/det dog/NOUN/0/root"))


def test_toy_treebank(tmp_path):
    """An independent reader of CoNLL-U finds the sentences and their trees."""
    facts = treebank.prepare(spec(path="toy", sentences=200), tmp_path, tmp_path / "toy")
    assert sum(facts[split]["sentences"] for split in SPLITS) == 200
    file = tmp_path / "toy/train.conllu"
    ours, theirs = treebank.trees(file), conllu.parse(file.read_text())
    assert [list(tree.form) for tree in ours] == [[t["form"] for t in tree] for tree in theirs]
    assert [list(tree.head) for tree in ours] == [[t["head"] for t in tree] for tree in theirs]
    assert {tree.to_tree().token["deprel"] for tree in theirs} == {"root"}
    assert any("acl:relcl" in tree.deprel for tree in ours)


def test_evaluation_by_hand():
    gold = tree(
        "The/DET/2/det boy/NOUN/5/nsubj who/PRON/4/nsubj ran/VERB/2/acl:relcl left/VERB/0/root"
    )
    # wrong: the tag of boy, the head of who (label kept), the label of ran (head kept)
    guess = tree("The/DET/2/det boy/VERB/5/nsubj who/PRON/5/nsubj ran/VERB/2/acl left/VERB/0/root")
    counts = evaluate([gold, gold], [guess, gold])
    assert (counts["sentences"], counts["words"]) == (2, 10)
    assert (counts["upos"], counts["uas"], counts["las"]) == (0.9, 0.9, 0.8)
    assert evaluate([], [])["las"] is None
