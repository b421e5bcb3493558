"""The pattern notation: what it means, held to a search of all words for all roles."""

from __future__ import annotations

import itertools
import random

import pytest

from poshgrid import resources
from poshgrid.errors import PoshgridError
from poshgrid.evidence.notation import word_list
from poshgrid.evidence.patterns import Pattern, asked, possible
from poshgrid.parsing.tree import Tree
from tests.unit.evidence.trees import random_tree, tree

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
    found = Pattern("a rule", text).match(sentence)
    return found and found.roles


@pytest.mark.parametrize("operator", HOLDS)
def test_operators_are_those_of_an_exhaustive_search(operator):
    pattern = Pattern("x", f"{{upos:NOUN|PRON}}=a {operator} {{}}=b\n=a << {{upos:VERB}}=c")
    generator = random.Random(operator)
    matches = 0
    for _ in range(300):
        sentence = random_tree(generator)
        places = range(1, len(sentence) + 1)
        expected = next(
            (
                {"a": a, "b": b, "c": c}
                for a, b, c in itertools.product(places, repeat=3)
                if sentence.upos[a - 1] in ("NOUN", "PRON")
                and sentence.upos[c - 1] == "VERB"
                and HOLDS[operator](sentence, a, b)
                and sentence.dominates(c, a)
            ),
            None,
        )
        found = pattern.match(sentence)
        assert (found and found.roles) == expected, sentence
        matches += found is not None
    assert 5 < matches < 300


def test_heads_in_a_circle_do_not_hang():
    circle = Tree(list("abcd"), ["X"] * 4, ["_"] * 4, [2, 1, 0, 3], ["dep"] * 4)
    assert roles("{word:a}=a >> {word:b}=b", circle) == {"a": 1, "b": 2}
    assert roles("{word:a}=a >> {word:d}=d", circle) is None


def test_match_names_rule_and_roles():
    found = Pattern("passive", "{upos:VERB}=verb >nsubj {}=subject").match(DOG)
    assert (found.rule, found.roles, found.words) == ("passive", {"verb": 6, "subject": 3}, (3, 6))


def test_relation_without_subtype_stands_for_all():
    assert roles("{}=verb >nsubj {}=s") == roles("{}=verb >nsubj:pass {}=s") == {"verb": 6, "s": 3}
    assert roles("{}=verb >nsubj:outer {}=s") is None
    assert roles("{}=s <nsubj {}=verb") == {"s": 3, "verb": 6}
    assert roles("{rel:obj|nsubj}=s < {}=verb") == {"s": 3, "verb": 6}
    assert roles("{}=verb >nsub {}=s") is None


def test_relation_with_a_bare_colon_stands_for_itself_without_subtype():
    plain = tree("dogs/NOUN/2/nsubj seen/VERB/0/root")
    assert roles("{rel:nsubj:}=s") is None
    assert roles("{}=verb >nsubj: {}=s") is None
    assert roles("{rel:nsubj:}=s", plain) == {"s": 1}
    assert roles("{}=verb >obl:|nsubj: {}=s", plain) == {"verb": 2, "s": 1}
    assert roles("{rel:det:}=d") == {"d": 1}
    assert asked([Pattern("x", "{rel:nsubj:}=s >nmod:poss {}=p")]) == {"nsubj", "nmod:poss"}


def test_other_parts_of_speech():
    assert roles("{upos:!DET}=w") == {"w": 2}
    assert roles("{upos:!DET|ADJ}=w") == {"w": 3}
    assert roles("{upos:!DET|ADJ|NOUN|AUX|PART|VERB}=w") is None


@pytest.mark.parametrize("operator", HOLDS)
def test_two_earlier_words_may_be_joined(operator):
    """In either direction, and held to the same search of all words for all roles."""
    generator = random.Random(operator)
    for left, right in ("ab", "ba"):
        text = f"{{upos:NOUN}}=a << {{}}=b\n=b > {{upos:PRON}}=c\n={left} {operator} ={right}"
        pattern = Pattern("x", text)
        for _ in range(150):
            sentence = random_tree(generator)
            places = range(1, len(sentence) + 1)
            expected = next(
                (
                    {"a": a, "b": b, "c": c}
                    for a, b, c in itertools.product(places, repeat=3)
                    if (sentence.upos[a - 1], sentence.upos[c - 1]) == ("NOUN", "PRON")
                    and sentence.dominates(b, a)
                    and sentence.head[c - 1] == b
                    and HOLDS[operator](sentence, *((a, b) if left == "a" else (b, a)))
                ),
                None,
            )
            found = pattern.match(sentence)
            assert (found and found.roles) == expected, sentence


def test_two_earlier_words_that_name_words_say_what_is_possible():
    pattern = Pattern("x", "{word:that}=a < {}=b\n=b > {word:dog}=c\n=c ; =a")
    assert pattern.possible(["that", "dog"])
    assert not pattern.possible(["dog", "that"])


def test_words_are_compared_in_lower_case_and_with_typewriter_apostrophes():
    assert roles("{word:the|n't}=w") == {"w": 1}
    assert roles("{word:n't}=w") == {"w": 5}
    assert roles("{word:The}=w") is None
    assert roles("{word:/^o/}=w") == {"w": 2}
    assert roles("{word:/ee/}=w") == {"w": 6}


def test_features_are_whole_pairs():
    assert roles("{feats:Voice=Pass}=w") == {"w": 6}
    assert roles("{feats:Number=Plur|Tense=Past}=w") == {"w": 6}
    assert roles("{feats:Voice}=w") is None
    assert roles("{feats:Tense=Pas}=w") is None


def test_all_tests_of_a_word_must_hold():
    assert roles("{word:dog;upos:NOUN;rel:nsubj;feats:Number=Sing}=w") == {"w": 3}
    for wrong in ("word:cat", "upos:VERB", "rel:obj", "feats:Number=Plur"):
        key = wrong.partition(":")[0]
        right = {"word": "dog", "upos": "NOUN", "rel": "nsubj", "feats": "Number=Sing"}
        right.pop(key)
        tests = ";".join([wrong, *(f"{k}:{v}" for k, v in right.items())])
        assert roles(f"{{{tests}}}=w") is None


def test_words_lists_come_from_the_resources():
    assert roles("{word:$reflexives|dog}=w") == {"w": 3}
    assert roles("{word:$reflexives}=w") is None
    assert roles("{word:$reflexives}=w", tree("Herself/PRON/0/root")) == {"w": 1}


def test_possible_looks_at_words_and_their_order():
    pattern = Pattern("x", "{word:only}=a .* {word:ever|any}=b\n=b > {}=c")
    assert possible({"paper": (pattern,)}, ["Only", "he", "EVER"])
    assert not pattern.possible(["ever", "only"])
    assert not pattern.possible(["only", "he"])
    adjacent = Pattern("x", "{word:that}=a <+ {word:dog|cat}=b")
    assert adjacent.possible(["cat", "that", "dog"])
    assert not adjacent.possible(["that", "old", "dog"])
    assert Pattern("x", "{upos:VERB}=v").possible([])
    for patterns in ({"paper": (pattern, adjacent)}, {"paper": (pattern,), "other": (adjacent,)}):
        assert possible(patterns, ["that", "cat"])
        assert not possible(patterns, ["cat"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "empty"),
        ("{upos:VERB}=v >nsubj", "cannot read"),
        ("{upos:VERB}=v => {}=s", "cannot read"),
        ("{upos:VERB}=v >* {}=s", "unknown operator '>*'"),
        ("{upos:VERB}=v .nsubj {}=s", "takes no relation"),
        ("{upos:VERB}=v >>nsubj {}=s", "takes no relation"),
        ("{}=v > {}=s\n=x > {}=y", "'x' is on no earlier line"),
        ("=v > {}=s", "'v' is on no earlier line"),
        ("{}=v > {}=s\n=v > {}=s", "'s' is described twice"),
        ("{}=v > {}=s\n{}=w > {}=y", "'w' is described on a line other than the first"),
        ("{rel:obj}=s <nsubj {}=v", "'s' has two relations"),
        ("{}=v > =s", "'s' is on no earlier line and has no braces"),
        ("{}=v > {}=s\n=v . =x", "'x' is on no earlier line and has no braces"),
        ("{}=v >nsubj {}=s\n=v >obj =s", "'s' has two relations"),
        ("{lemma:be}=v", "cannot read 'lemma:be'"),
        ("{upos}=v", "cannot read 'upos'"),
        ("{}=v\n{}=w", "joins no two words"),
    ],
)
def test_what_cannot_be_read_is_told_when_the_filter_is_imported(text, told):
    with pytest.raises(PoshgridError, match="pattern 'a rule'") as error:
        Pattern("a rule", text)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("words:\n  - b\n  - a\n", "'a' after 'b'"),
        ("words:\n  - a\n  - a\n", "'a' after 'a'"),
        ("words:\n  - A\n", "'A' is no word in lower case"),
        ("words:\n  - no\n", "False is no word in lower case"),
        ("word: x\n", "no list `words`"),
        ("- x\n", "no list `words`"),
        ("words:\n", "no list `words`"),
    ],
)
def test_word_lists_are_sorted_and_in_lower_case(tmp_path, monkeypatch, text, told):
    folder = tmp_path / "resources"
    monkeypatch.setattr(resources, "ROOT", folder)
    (folder / "filters").mkdir(parents=True)
    (folder / "filters" / "planted-fault.yaml").write_text(text)
    with pytest.raises(PoshgridError) as error:
        word_list("planted-fault")
    assert told in str(error.value)
    assert "planted-fault.yaml" in str(error.value)
