"""Words and trees, before any parser is involved."""

from __future__ import annotations

import pytest

from poshgrid.parsing.tree import Tree
from poshgrid.parsing.words import tokenize
from tests.unit.evidence.trees import tree


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I don't wanna go.", "I do n't wan na go ."),
        ("let's see mommy's hat", "let 's see mommy 's hat"),
        ("You hafta, he's gotta.", "You haf ta , he 's got ta ."),
        ("It can't, cannot, won't.", "It ca n't , can not , wo n't ."),
        ("Daddy'll come; who're they?", "Daddy 'll come ; who 're they ?"),
        ("Don’t you’ll", "Do n’t you ’ll"),
        ("Lemme spell b.", "Lem me spell b ."),
        ("Mr. Smith said so.", "Mr. Smith said so ."),
        ("so do I.", "so do I ."),
        ("  two   spaces ", "two spaces"),
        ("the <unk> , a <unk>.", "the <unk> , a <unk> ."),
        (" \t", ""),
    ],
)
def test_words_as_in_universal_dependencies(text, words):
    assert tokenize(text, "en") == words.split()


def test_no_letter_is_lost():
    text = "whatcha gonna do? I'd've gimme'd 'em, d'you s'pose, rock-'n'-roll (U.S.) :-) 3:30p.m."
    assert "".join(tokenize(text, "en")) == text.replace(" ", "")


def test_gold_words_of_child_directed_trees(shared):
    import conllu

    same = total = 0
    path = shared / "treebanks" / "childes" / "Lily_Providence_eud_gold.conllu"
    with path.open(encoding="utf-8") as stream:
        for sentence in conllu.parse_incr(stream):
            gold = [token["form"] for token in sentence if isinstance(token["id"], int)]
            total += 1
            same += tokenize(sentence.metadata["text"], "en") == gold
    assert same / total > 0.99


def test_questions_to_a_tree():
    sentence = tree(
        "The/DET/2/det boy/NOUN/5/nsubj/Case=Nom|Number=Sing who/PRON/4/nsubj "
        "ran/VERB/2/acl:relcl left/VERB/0/root"
    )
    assert len(sentence) == 5
    assert sentence.children(0) == [5]
    assert sentence.children(2) == [1, 4]
    assert sentence.children(1) == []
    assert list(sentence.ancestors(3)) == [4, 2, 5]
    assert sentence.subtree(2) == [1, 2, 3, 4]
    assert sentence.dominates(5, 1) and not sentence.dominates(1, 5)
    assert sentence.relation(4) == "acl"
    assert sentence.feature(2, "Number") == "Sing" and sentence.feature(1, "Number") is None


def test_a_circle_does_not_hang():
    circle = Tree(["a", "b"], ["X", "X"], ["_", "_"], [2, 1], ["dep", "dep"])
    assert len(list(circle.ancestors(1))) == 2
    assert circle.subtree(1) == [1, 2]
