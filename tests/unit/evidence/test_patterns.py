"""The pattern notation: what it means, held to a search of all words for all roles."""

import itertools
import random

import pytest

from poshgrid.core import resources
from poshgrid.core.errors import PoshgridError
from poshgrid.evidence.match import has_wh, is_relative
from poshgrid.evidence.patterns import Pattern, needed_labels, word_list
from poshgrid.parsing.tree import Tree
from tests.unit.evidence.trees import random_tree, read_cases, tree

CASES = read_cases("patterns")

# Written apart from the code: operator -> does it hold between places a and b (from 1)?
HOLDS = {
    ">": lambda t, a, b: t.head[b - 1] == a,
    "<": lambda t, a, b: t.head[a - 1] == b,
    ">>": lambda t, a, b: t.dominates(a, b),
    "<<": lambda t, a, b: t.dominates(b, a),
    ".": lambda t, a, b: b - a == 1,
    ".*": lambda t, a, b: b > a,
    ";": lambda t, a, b: a - b == 1,
    ";*": lambda t, a, b: b < a,
    "$++": lambda t, a, b: b > a and t.head[a - 1] == t.head[b - 1],
    "$--": lambda t, a, b: b < a and t.head[a - 1] == t.head[b - 1],
    "$+": lambda t, a, b: b - a == 1 and t.head[a - 1] == t.head[b - 1],
    "$-": lambda t, a, b: a - b == 1 and t.head[a - 1] == t.head[b - 1],
    ">+": lambda t, a, b: b - a == 1 and t.head[b - 1] == a,
    ">-": lambda t, a, b: a - b == 1 and t.head[b - 1] == a,
    ">++": lambda t, a, b: b > a and t.head[b - 1] == a,
    ">--": lambda t, a, b: b < a and t.head[b - 1] == a,
    "<+": lambda t, a, b: b - a == 1 and t.head[a - 1] == b,
    "<-": lambda t, a, b: a - b == 1 and t.head[a - 1] == b,
    "<++": lambda t, a, b: b > a and t.head[a - 1] == b,
    "<--": lambda t, a, b: b < a and t.head[a - 1] == b,
}
DOG = tree(
    "The/DET/3/det old/ADJ/3/amod dog/NOUN/6/nsubj:pass/Number=Sing was/AUX/6/aux:pass "
    "n’t/PART/6/advmod seen/VERB/0/root/Tense=Past|Voice=Pass"
)


def roles(text, sentence=DOG):
    match = Pattern("a rule", text).match(sentence)
    return match and match.roles


# Two words that an operator joins, on a line of its own or on one more about earlier words
JOINED = {
    "new": "{upos:NOUN|PRON}=a OPERATOR {}=b\n=a << {upos:VERB}=c",
    "earlier": "{upos:NOUN|PRON}=a << {upos:VERB}=c\n=c >> {}=b\n=a OPERATOR =b",
    "backwards": "{upos:NOUN|PRON}=a << {upos:VERB}=c\n=c >> {}=b\n=b OPERATOR =a",
}


@pytest.mark.parametrize("operator", HOLDS)
@pytest.mark.parametrize("lines", JOINED)
def test_operators_are_those_of_an_exhaustive_search(operator, lines):
    pattern = Pattern("x", JOINED[lines].replace("OPERATOR", operator))
    order = ("a", "b", "c") if lines == "new" else ("a", "c", "b")  # of the roles in the text
    generator = random.Random(operator)
    matches = 0
    for _ in range(250):
        sentence = random_tree(generator)
        expected = None
        for places in itertools.product(range(1, len(sentence) + 1), repeat=3):
            at = dict(zip(order, places, strict=True))
            a, b, c = at["a"], at["b"], at["c"]
            if (
                sentence.upos[a - 1] in ("NOUN", "PRON")
                and sentence.upos[c - 1] == "VERB"
                and sentence.dominates(c, a)
                and (lines == "new" or sentence.dominates(c, b))
                and HOLDS[operator](sentence, *((b, a) if lines == "backwards" else (a, b)))
            ):
                expected = at
                break
        match = pattern.match(sentence)
        assert (match and match.roles) == expected, sentence
        matches += match is not None
    assert 0 < matches < 250


def test_heads_in_a_circle_do_not_hang():
    circle = Tree(list("abcd"), ["X"] * 4, ["_"] * 4, [2, 1, 0, 3], ["dep"] * 4)
    assert roles("{word:a}=a >> {word:b}=b", circle) == {"a": 1, "b": 2}
    assert roles("{word:a}=a >> {word:d}=d", circle) is None


@pytest.mark.parametrize(("text", "expected"), CASES["asked"].items())
def test_what_is_asked_of_a_word(text, expected):
    assert roles(text) == expected


def test_a_relation_without_subtype_may_be_asked_for_alone():
    plain = tree("dogs/NOUN/2/nsubj seen/VERB/0/root")
    assert roles("{}=w >obl:|nsubj: {}=s", plain) == {"w": 2, "s": 1}
    assert needed_labels([Pattern("x", "{rel:nsubj:}=s >nmod:poss {}=p")]) == {"nsubj", "nmod:poss"}


@pytest.mark.parametrize(("text", "fault"), CASES["faults"].items())
def test_what_cannot_be_read_is_refused_when_the_filter_is_imported(text, fault):
    with pytest.raises(PoshgridError, match="pattern 'a rule'") as error:
        Pattern("a rule", text)
    assert fault in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["words:\n  - A\n", "words:\n  - no\n", "- x\n", "words:\n"])
def test_word_lists_are_in_lower_case(tmp_path, monkeypatch, text):
    monkeypatch.setattr(resources, "ROOT", tmp_path)
    (tmp_path / "filters").mkdir()
    (tmp_path / "filters" / "planted-fault.yaml").write_text(text)
    with pytest.raises(PoshgridError, match=r"planted-fault\.yaml"):
        word_list("planted-fault")


# ---- what filters ask of a word ------------------------------------------------------------------


@pytest.mark.parametrize(("clause", "relative"), read_cases("relative").items())
def test_relative_clauses(clause, relative):
    sentence = tree(f"thing/NOUN/0/root {clause}")
    (head,) = (i for i in range(2, len(sentence) + 1) if sentence.head[i - 1] == 1)
    assert is_relative(sentence, head) is relative


def test_a_wh_phrase_ends_before_a_place():
    sentence = tree("which/DET/2/det book/NOUN/3/obj saw/VERB/0/root who/PRON/3/nsubj")
    assert [has_wh(sentence, 2, end) for end in (1, 2, 3)] == [False, True, True]
    assert [has_wh(sentence, 3, end) for end in (4, 5)] == [False, True]
    assert [has_wh(sentence, 4, end) for end in (3, 4, 5)] == [False, False, True]
    assert not has_wh(tree("a/DET/2/det book/NOUN/0/root"), 2, 9)
