"""Words and trees, before any parser is involved."""

import pytest

from poshgrid.parsing.tokenize import tokenize
from poshgrid.parsing.tree import Tree
from tests.cases import read_cases

CASES = read_cases(__file__, "words")


@pytest.mark.parametrize(
    ("text", "words"),
    CASES["words_as_in_universal_dependencies"],
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


def test_a_circle_does_not_hang():
    circle = Tree(["a", "b"], ["X", "X"], ["_", "_"], [2, 1], ["dep", "dep"])
    assert len(list(circle.ancestors(1))) == 2
    assert circle.subtree(1) == [1, 2]
