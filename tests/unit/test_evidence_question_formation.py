"""The question-formation filter on hand-labelled, random, toy and gold trees."""

from __future__ import annotations

import itertools
import random

import pytest

from poshgrid.evidence.filters.question_formation import evidence, removed
from poshgrid.parsing import treebank
from poshgrid.parsing.tree import Tree
from tests.unit.trees import mutated, random_tree, tree

# sentence, words that are evidence (None: none), whether it is removed
CASES = {
    "paper (i)": (
        "Is/AUX/9/aux the/DET/3/det boy/NOUN/9/nsubj who/PRON/8/nsubj is/AUX/8/cop in/ADP/8/case "
        "the/DET/8/det corner/NOUN/3/acl:relcl smiling/VERB/0/root ?/PUNCT/9/punct",
        (1, 3, 8),
        True,
    ),
    "paper (ii)": (
        "How/ADV/8/advmod could/AUX/8/aux anyone/PRON/8/nsubj that/PRON/6/nsubj was/AUX/6/cop "
        "awake/ADJ/3/acl:relcl not/PART/8/advmod hear/VERB/0/root that/PRON/8/obj ?/PUNCT/8/punct",
        (2, 3, 6),
        True,
    ),
    "wh-predicate": (
        "Where/ADV/0/root is/AUX/1/cop the/DET/4/det ball/NOUN/1/nsubj that/PRON/7/obj "
        "I/PRON/7/nsubj had/VERB/4/acl:relcl",
        (2, 4, 7),
        True,
    ),
    "which-predicate": (
        "Which/DET/2/det one/NOUN/0/root is/AUX/2/cop the/DET/5/det ball/NOUN/2/nsubj "
        "I/PRON/7/nsubj had/VERB/5/acl:relcl ?/PUNCT/2/punct",
        (3, 5, 7),
        True,
    ),
    "passive": (
        "Was/AUX/7/aux:pass the/DET/3/det man/NOUN/7/nsubj:pass who/PRON/6/obj you/PRON/6/nsubj "
        "saw/VERB/3/acl:relcl arrested/VERB/0/root ?/PUNCT/7/punct",
        (1, 3, 6),
        True,
    ),
    "no question mark": (
        "is/AUX/6/cop the/DET/3/det dog/NOUN/6/nsubj that/PRON/5/nsubj barks/VERB/3/acl:relcl "
        "big/ADJ/0/root",
        (1, 3, 5),
        True,
    ),
    "inside the subject": (
        "Is/AUX/10/cop the/DET/3/det father/NOUN/10/nsubj of/ADP/6/case the/DET/6/det "
        "boy/NOUN/3/nmod who/PRON/9/nsubj is/AUX/9/cop here/ADV/6/acl:relcl sad/ADJ/0/root "
        "?/PUNCT/10/punct",
        (1, 3, 9),
        True,
    ),
    "parser with bare acl": (
        "Will/AUX/7/aux the/DET/3/det man/NOUN/7/nsubj who/PRON/6/nsubj did/AUX/6/aux "
        "read/VERB/3/acl leave/VERB/0/root ?/PUNCT/7/punct",
        (1, 3, 6),
        True,
    ),
    "parser whose copula governs": (
        "Is/AUX/0/ROOT the/DET/3/det boy/NOUN/1/nsubj who/PRON/5/nsubj is/AUX/3/relcl "
        "tall/ADJ/5/acomp happy/ADJ/1/acomp ?/PUNCT/1/punct",
        (1, 3, 5),
        True,
    ),
    "auxiliary late, no question mark: appendix C misses it": (
        "oh/INTJ/8/discourse mommy/NOUN/8/vocative is/AUX/8/aux the/DET/5/det boy/NOUN/8/nsubj "
        "that/PRON/7/nsubj cries/VERB/5/acl:relcl sleeping/VERB/0/root",
        (3, 5, 7),
        True,
    ),
    "relative on the object": (
        "Did/AUX/3/aux you/PRON/3/nsubj see/VERB/0/root the/DET/5/det man/NOUN/3/obj "
        "who/PRON/7/nsubj left/VERB/5/acl:relcl ?/PUNCT/3/punct",
        None,
        True,
    ),
    "here-statement": (
        "Here/ADV/0/root 's/AUX/1/cop the/DET/4/det truck/NOUN/1/nsubj that/PRON/7/obj "
        "you/PRON/7/nsubj broke/VERB/4/acl:relcl ./PUNCT/1/punct",
        None,
        True,
    ),
    "here's what": (
        "Here/ADV/0/root 's/AUX/1/cop what/PRON/1/nsubj you/PRON/5/nsubj do/VERB/3/acl:relcl",
        None,
        True,
    ),
    "free relative taken for the subject": (
        "Is/AUX/2/cop that/PRON/0/root what/PRON/2/nsubj you/PRON/5/nsubj said/VERB/3/acl:relcl "
        "?/PUNCT/2/punct",
        None,
        True,
    ),
    "clause of manner taken for a relative clause": (
        "is/AUX/2/cop that/PRON/0/root how/ADV/5/advmod you/PRON/5/nsubj sleep/VERB/2/acl:relcl",
        None,
        True,
    ),
    "the same on a subject": (
        "is/AUX/0/root that/PRON/1/nsubj how/ADV/5/advmod you/PRON/5/nsubj sleep/VERB/2/acl:relcl",
        None,
        True,
    ),
    "expletive": (
        "Is/VERB/0/root there/PRON/1/expl a/DET/4/det bear/NOUN/1/nsubj that/PRON/7/nsubj "
        "can/AUX/7/aux dance/VERB/4/acl:relcl ?/PUNCT/1/punct",
        None,
        True,
    ),
    "relative pronoun counts as a wh-word": (
        "The/DET/2/det boy/NOUN/6/nsubj who/PRON/5/nsubj is/AUX/5/cop here/ADV/2/acl:relcl "
        "left/VERB/0/root ./PUNCT/6/punct",
        None,
        True,
    ),
    "wh-subject": (
        "Who/PRON/2/nsubj saw/VERB/0/root the/DET/4/det man/NOUN/2/obj that/PRON/6/nsubj "
        "left/VERB/4/acl:relcl ?/PUNCT/2/punct",
        None,
        True,
    ),
    "negative inversion": (
        "Nor/CCONJ/7/cc do/AUX/7/aux the/DET/4/det people/NOUN/7/nsubj that/PRON/6/nsubj "
        "came/VERB/4/acl:relcl know/VERB/0/root ./PUNCT/7/punct",
        None,
        True,
    ),
    "conditional inversion": (
        "Had/AUX/6/aux the/DET/3/det man/NOUN/6/nsubj that/PRON/5/nsubj fell/VERB/3/acl:relcl "
        "screamed/VERB/9/advcl we/PRON/9/nsubj would/AUX/9/aux know/VERB/0/root ./PUNCT/9/punct",
        None,
        True,
    ),
    "statement": (
        "The/DET/2/det boy/NOUN/5/nsubj that/PRON/4/nsubj ran/VERB/2/acl:relcl left/VERB/0/root "
        "./PUNCT/5/punct",
        None,
        False,
    ),
    "imperative": (
        "Look/VERB/0/root at/ADP/4/case the/DET/4/det dog/NOUN/1/obl that/PRON/6/nsubj "
        "barks/VERB/4/acl:relcl !/PUNCT/1/punct",
        None,
        False,
    ),
    "no relative clause": (
        "Is/AUX/4/aux the/DET/3/det boy/NOUN/4/nsubj smiling/VERB/0/root ?/PUNCT/4/punct",
        None,
        False,
    ),
    "embedded question": (
        "I/PRON/2/nsubj know/VERB/0/root what/PRON/5/obj you/PRON/5/nsubj like/VERB/2/ccomp "
        "./PUNCT/2/punct",
        None,
        False,
    ),
    "participle": (
        "Is/AUX/6/cop the/DET/3/det boy/NOUN/6/nsubj sitting/VERB/3/acl there/ADV/4/advmod "
        "tired/ADJ/0/root ?/PUNCT/6/punct",
        None,
        False,
    ),
    "infinitive": (
        "Do/AUX/3/aux you/PRON/3/nsubj have/VERB/0/root something/PRON/3/obj to/PART/6/mark "
        "eat/VERB/4/acl ?/PUNCT/3/punct",
        None,
        False,
    ),
    "no subject before the relative clause": (
        "Know/VERB/0/root anyone/PRON/1/obj hurt/VERB/2/acl:relcl ?/PUNCT/1/punct",
        None,
        False,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_hand_labelled(name):
    text, strict, inclusive = CASES[name]
    sentence = tree(text)
    found = evidence(sentence)
    assert (found.words if found else None) == strict
    assert (removed(sentence) is not None) == inclusive


def test_evidence_is_removed_in_any_tree():
    generator = random.Random(1)
    found = 0
    cases = [tree(text) for text, _, _ in CASES.values()]
    nonsense = [random_tree(generator) for _ in range(2_000)]
    near = [mutated(generator.choice(cases), generator) for _ in range(2_000)]
    for sentence in nonsense + near:
        strict, inclusive = evidence(sentence), removed(sentence)
        if strict:
            found += 1
            assert inclusive
        for match in (strict, inclusive):
            assert match is None or all(1 <= word <= len(sentence) for word in match.words)
    assert 100 < found < 2_000


def appendix_c(sentence: Tree) -> bool:
    """The rule of appendix C over the flat columns, written apart from the filter's code."""
    relations = list(sentence.deprel)
    if "acl:relcl" not in relations:
        return False
    last = len(relations) - 1 - relations[::-1].index("acl:relcl")
    if not any(r.startswith("nsubj") for r in relations[:last]):
        return False
    words = [form.lower() for form in sentence.form]
    wh = {"what", "which", "who", "whom", "whose", "where", "when", "why", "how"}
    return (
        words[-1] == "?"
        or any(w in wh or (w[:2] in ("wh", "ho") and w.endswith("ever")) for w in words)
        or any(u == "AUX" for u in sentence.upos[:2])
        or any(r[:3] in ("aux", "cop") for r in relations[:2])
    )


def test_gold_child_directed_trees(shared):
    total = inclusive = strict = 0
    for path in sorted((shared / "treebanks" / "childes").glob("*.conllu")):
        for sentence in treebank.trees(path):
            total += 1
            out, found = removed(sentence) is not None, evidence(sentence) is not None
            inclusive += out
            strict += found
            assert out or not found
            if any(r.startswith("acl") for r in sentence.deprel) and "acl" not in sentence.deprel:
                assert out == (appendix_c(sentence) or found), sentence.form
    assert 0.003 < inclusive / total < 0.03
    assert 0.0001 < strict / total < 0.002


def test_toy_grammar_agrees_with_the_construction_it_drew():
    from poshgrid.corpora import toy

    found = 0
    for sentence in itertools.islice(toy.sentences("baby", 5), 1_500):
        parsed = toy_tree(sentence)
        is_evidence = evidence(parsed) is not None
        assert is_evidence == (sentence.construction == "question-formation"), sentence.text
        found += is_evidence
    assert found


def toy_tree(sentence) -> Tree:
    tokens = sentence.tokens
    return Tree(
        form=[t.form for t in tokens],
        upos=[t.upos for t in tokens],
        feats=[t.feats for t in tokens],
        head=[t.head for t in tokens],
        deprel=[t.deprel for t in tokens],
    )
