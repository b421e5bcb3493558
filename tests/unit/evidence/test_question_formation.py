"""The question-formation filter on hand-labelled, random, toy and gold trees."""

from __future__ import annotations

import itertools
import random

import pytest

from poshgrid.evidence.filters.question_formation import direct, paper
from poshgrid.parsing import treebank
from poshgrid.parsing.tree import Tree
from tests.unit.evidence.trees import mutated, random_tree, tree

# sentence, words that are direct evidence (None: none), whether the paper's reading takes it
CASES = {
    "paper (i)": (
        "Is/AUX/9/aux the/DET/3/det boy/NOUN/9/nsubj who/PRON/8/nsubj is/AUX/8/cop in/ADP/8/case "
        "the/DET/8/det corner/NOUN/3/acl:relcl smiling/VERB/0/root ?/PUNCT/9/punct",
        (1, 3, 5),
        True,
    ),
    "paper (ii)": (
        "How/ADV/8/advmod could/AUX/8/aux anyone/PRON/8/nsubj that/PRON/6/nsubj was/AUX/6/cop "
        "awake/ADJ/3/acl:relcl not/PART/8/advmod hear/VERB/0/root that/PRON/8/obj ?/PUNCT/8/punct",
        (2, 3, 5),
        True,
    ),
    "Sampson: those of you who": (
        "Would/AUX/9/aux those/PRON/9/nsubj of/ADP/4/case you/PRON/2/nmod who/PRON/8/nsubj "
        "have/AUX/8/aux not/PART/8/advmod answered/VERB/2/acl:relcl write/VERB/0/root "
        "to/ADP/11/case me/PRON/9/obl ?/PUNCT/9/punct",
        (1, 2, 6),
        True,
    ),
    "Sampson: adverbial clause": (
        "If/SCONJ/5/mark you/PRON/5/nsubj do/AUX/5/aux n't/PART/5/advmod need/VERB/10/advcl "
        "this/PRON/5/obj ,/PUNCT/5/punct can/AUX/10/aux I/PRON/10/nsubj have/VERB/0/root "
        "it/PRON/10/obj ?/PUNCT/10/punct",
        (3, 8, 9),
        False,
    ),
    "adverbial clause, wh-question without a mark": (
        "when/ADV/4/advmod I/PRON/4/nsubj 'm/AUX/4/cop five/NUM/8/advcl what/PRON/8/obj "
        "can/AUX/8/aux I/PRON/8/nsubj do/VERB/0/root",
        (3, 6, 7),
        False,
    ),
    "adverbial clause with a copula that governs": (
        "When/SCONJ/3/advmod you/PRON/3/nsubj are/AUX/7/advcl tall/ADJ/3/acomp can/AUX/7/aux "
        "you/PRON/7/nsubj jump/VERB/0/ROOT ?/PUNCT/7/punct",
        (3, 5, 6),
        False,
    ),
    "wh-predicate": (
        "Where/ADV/0/root is/AUX/1/cop the/DET/4/det ball/NOUN/1/nsubj that/PRON/8/obj "
        "I/PRON/8/nsubj was/AUX/8/aux kicking/VERB/4/acl:relcl",
        (2, 4, 7),
        True,
    ),
    "which-predicate": (
        "Which/DET/2/det one/NOUN/0/root is/AUX/2/cop the/DET/5/det ball/NOUN/2/nsubj "
        "I/PRON/8/nsubj have/AUX/8/aux had/VERB/5/acl:relcl ?/PUNCT/2/punct",
        (3, 5, 7),
        True,
    ),
    "passive": (
        "Was/AUX/8/aux:pass the/DET/3/det man/NOUN/8/nsubj:pass who/PRON/7/obj you/PRON/7/nsubj "
        "had/AUX/7/aux seen/VERB/3/acl:relcl arrested/VERB/0/root ?/PUNCT/8/punct",
        (1, 3, 6),
        True,
    ),
    "no question mark": (
        "is/AUX/7/cop the/DET/3/det dog/NOUN/7/nsubj that/PRON/6/nsubj can/AUX/6/aux "
        "bark/VERB/3/acl:relcl big/ADJ/0/root",
        (1, 3, 5),
        True,
    ),
    "inside the subject": (
        "Is/AUX/10/cop the/DET/3/det father/NOUN/10/nsubj of/ADP/6/case the/DET/6/det "
        "boy/NOUN/3/nmod who/PRON/9/nsubj is/AUX/9/cop here/ADV/6/acl:relcl sad/ADJ/0/root "
        "?/PUNCT/10/punct",
        (1, 3, 8),
        True,
    ),
    "clause as subject": (
        "Is/AUX/6/cop what/PRON/5/obj you/PRON/5/nsubj are/AUX/5/aux saying/VERB/6/csubj "
        "true/ADJ/0/root ?/PUNCT/6/punct",
        (1, 4, 5),
        False,
    ),
    "parser with bare acl: not the paper's": (
        "Will/AUX/8/aux the/DET/3/det man/NOUN/8/nsubj who/PRON/7/nsubj did/AUX/7/aux "
        "not/PART/7/advmod read/VERB/3/acl leave/VERB/0/root ?/PUNCT/8/punct",
        (1, 3, 5),
        False,
    ),
    "parser whose copula governs": (
        "Is/AUX/0/ROOT the/DET/3/det boy/NOUN/1/nsubj who/PRON/5/nsubj is/AUX/3/relcl "
        "tall/ADJ/5/acomp happy/ADJ/1/acomp ?/PUNCT/1/punct",
        (1, 3, 5),
        True,
    ),
    "auxiliary late, no question mark: appendix C misses it": (
        "oh/INTJ/9/discourse mommy/NOUN/9/vocative is/AUX/9/aux the/DET/5/det boy/NOUN/9/nsubj "
        "that/PRON/8/nsubj was/AUX/8/aux crying/VERB/5/acl:relcl sleeping/VERB/0/root",
        (3, 5, 7),
        False,
    ),
    "no auxiliary in the clause": (
        "What/PRON/0/root was/AUX/1/cop the/DET/4/det thing/NOUN/1/nsubj you/PRON/6/nsubj "
        "wanted/VERB/4/acl:relcl ?/PUNCT/1/punct",
        None,
        True,
    ),
    "no auxiliary in the adverbial clause": (
        "If/SCONJ/3/mark you/PRON/3/nsubj need/VERB/7/advcl this/PRON/3/obj can/AUX/7/aux "
        "I/PRON/7/nsubj wait/VERB/0/root ?/PUNCT/7/punct",
        None,
        False,
    ),
    "adverbial clause after": (
        "Can/AUX/3/aux I/PRON/3/nsubj go/VERB/0/root when/ADV/7/advmod you/PRON/7/nsubj "
        "are/AUX/7/cop here/ADV/3/advcl ?/PUNCT/3/punct",
        None,
        False,
    ),
    "adverbial clause whose head could open a statement": (
        "If/SCONJ/4/mark you/PRON/4/nsubj are/AUX/4/cop here/ADV/8/advcl ,/PUNCT/4/punct "
        "can/AUX/8/aux I/PRON/8/nsubj go/VERB/0/root ?/PUNCT/8/punct",
        (3, 6, 7),
        False,
    ),
    "no inversion after the adverbial clause": (
        "If/SCONJ/4/mark you/PRON/4/nsubj are/AUX/4/cop here/ADV/7/advcl I/PRON/7/nsubj "
        "can/AUX/7/aux go/VERB/0/root ./PUNCT/7/punct",
        None,
        False,
    ),
    "relative on the object": (
        "Did/AUX/3/aux you/PRON/3/nsubj see/VERB/0/root the/DET/5/det man/NOUN/3/obj "
        "who/PRON/8/nsubj was/AUX/8/aux leaving/VERB/5/acl:relcl ?/PUNCT/3/punct",
        None,
        True,
    ),
    "here-statement": (
        "Here/ADV/0/root 's/AUX/1/cop the/DET/4/det truck/NOUN/1/nsubj that/PRON/8/obj "
        "you/PRON/8/nsubj have/AUX/8/aux broken/VERB/4/acl:relcl ./PUNCT/1/punct",
        None,
        True,
    ),
    "here's what": (
        "Here/ADV/0/root 's/AUX/1/cop what/PRON/1/nsubj you/PRON/6/nsubj can/AUX/6/aux "
        "do/VERB/3/acl:relcl",
        None,
        True,
    ),
    "predicate": (
        "Is/AUX/3/cop that/PRON/3/nsubj what/PRON/0/root you/PRON/6/nsubj are/AUX/6/aux "
        "saying/VERB/3/acl:relcl ?/PUNCT/3/punct",
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
        "The/DET/2/det boy/NOUN/7/nsubj who/PRON/5/nsubj is/AUX/5/cop here/ADV/2/acl:relcl "
        "can/AUX/7/aux leave/VERB/0/root ./PUNCT/7/punct",
        None,
        True,
    ),
    "wh-subject": (
        "Who/PRON/2/nsubj saw/VERB/0/root the/DET/4/det man/NOUN/2/obj that/PRON/7/nsubj "
        "had/AUX/7/aux left/VERB/4/acl:relcl ?/PUNCT/2/punct",
        None,
        True,
    ),
    "negative inversion": (
        "Nor/CCONJ/8/cc do/AUX/8/aux the/DET/4/det people/NOUN/8/nsubj that/PRON/7/nsubj "
        "were/AUX/7/aux coming/VERB/4/acl:relcl know/VERB/0/root ./PUNCT/8/punct",
        None,
        True,
    ),
    "conditional inversion": (
        "Had/AUX/7/aux the/DET/3/det man/NOUN/7/nsubj that/PRON/6/nsubj was/AUX/6/aux "
        "falling/VERB/3/acl:relcl screamed/VERB/10/advcl we/PRON/10/nsubj would/AUX/10/aux "
        "know/VERB/0/root ./PUNCT/10/punct",
        None,
        True,
    ),
    "statement": (
        "The/DET/2/det boy/NOUN/5/nsubj that/PRON/4/nsubj ran/VERB/2/acl:relcl left/VERB/0/root "
        "./PUNCT/5/punct",
        None,
        False,
    ),
    "true that": (
        "It/PRON/3/expl is/AUX/3/cop true/ADJ/0/root that/SCONJ/7/mark he/PRON/7/nsubj "
        "has/AUX/7/aux left/VERB/3/csubj ./PUNCT/3/punct",
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
    text, evidence, taken = CASES[name]
    sentence = tree(text)
    found = direct(sentence)
    assert (found.words if found else None) == evidence
    assert (paper(sentence) is not None) == taken


def roles(text, rule=direct):
    found = rule(tree(text))
    return found and tuple(found.roles.values())


def asked(
    front="Is/AUX/6/cop", other="is/AUX/5/cop", clause="acl:relcl", subject="boy/NOUN/6/nsubj"
):
    """*Is boy who is here happy?*, with other words in its places."""
    return (
        f"{front} {subject} who/PRON/5/nsubj {other} here/ADV/2/{clause} happy/ADJ/0/root "
        "?/PUNCT/6/punct"
    )


@pytest.mark.parametrize(
    ("word", "finite"),
    [
        ("is/AUX/5/cop", True), ("ca/AUX/5/aux", True), ("was/AUX/5/aux:pass", True),
        ("can/AUX/5/dep", True),  # its verb is left out
        ("is/VERB/5/dep", True), ("'re/VERB/5/dep", True),  # "be" as a verb
        ("s/AUX/5/cop", True), ("s/PART/5/case", False), ("d/AUX/5/dep", False),
        ("can/VERB/5/advmod", False), ("has/VERB/5/dep", False), ("is/NOUN/5/dep", False),
        ("be/AUX/5/cop", False), ("been/AUX/5/aux", False), ("barked/VERB/5/aux", False),
    ],
)  # fmt: skip
def test_the_other_auxiliary_is_finite(word, finite):
    assert roles(asked(other=word)) == ((1, 2, 4) if finite else None)


@pytest.mark.parametrize(
    ("word", "inverted"),
    [
        ("Is/AUX/6/cop", True), ("Can/AUX/6/aux", True), ("s/AUX/6/cop", True),
        ("Can/AUX/6/dep", False), ("Is/VERB/6/dep", False), ("Has/VERB/6/advmod", False),
        ("Be/AUX/6/cop", False), ("Being/AUX/6/cop", False),
    ],
)  # fmt: skip
def test_the_auxiliary_in_front_is_finite_and_the_clauses(word, inverted):
    assert roles(asked(front=word)) == ((1, 2, 4) if inverted else None)


@pytest.mark.parametrize(
    ("relation", "counts"),
    [("acl:relcl", True), ("acl", True), ("relcl", True), ("appos", True), ("nmod", True),
     ("parataxis", False), ("reparandum", False), ("discourse", False)],
)  # fmt: skip
def test_what_is_said_aside_is_no_part_of_the_subject(relation, counts):
    assert roles(asked(clause=relation)) == ((1, 2, 4) if counts else None)
    assert roles(asked(other=f"can/AUX/5/{relation}")) == ((1, 2, 4) if counts else None)


@pytest.mark.parametrize(
    ("subject", "counts"),
    [("boy/NOUN/6/nsubj", True), ("boy/NOUN/6/nsubj:pass", True), ("boy/NOUN/6/csubj", True),
     ("who/PRON/6/nsubj", True), ("it/PRON/6/nsubj", False), ("It/PRON/6/nsubj", False),
     ("boy/NOUN/6/obj", False)],
)  # fmt: skip
def test_the_subject_stands_behind_the_auxiliary(subject, counts):
    assert roles(asked(subject=subject)) == ((1, 2, 4) if counts else None)


@pytest.mark.parametrize(
    ("relation", "question"),
    [("ccomp", True), ("conj", True), ("parataxis", True), ("advcl", False), ("acl", False),
     ("acl:relcl", False), ("relcl", False), ("csubj", False)],
)  # fmt: skip
def test_clauses_that_are_no_questions(relation, question):
    text = asked().replace(
        "0/root ?/PUNCT/6/punct", f"7/{relation} said/VERB/0/root ?/PUNCT/7/punct"
    )
    assert roles(text) == ((1, 2, 4) if question else None)


@pytest.mark.parametrize(
    ("before", "mark", "question"),
    [
        *((f"so/X/7/{each}", "?", False) for each in ("advmod", "cc", "discourse")),
        *((f"{each}/ADV/7/advmod", "?", False) for each in (
            "nor", "neither", "never", "not", "only", "rarely", "seldom", "here", "there", "Here",
        )),
        *((f"x/X/7/{each}", ".", True) for each in (
            "cc", "discourse", "intj", "vocative", "punct", "reparandum", "parataxis", "advcl",
            "mark", "advmod", "advmod:emph",
        )),
        ("today/NOUN/7/obl:tmod", "?", True), ("today/NOUN/7/obl:tmod", ".", False),
        ("dogs/NOUN/7/obj", "?", False), ("dogs/NOUN/7/ccomp", "?", False),
        ("what/PRON/7/obj", ".", True), ("where/ADV/7/nsubj", ".", False),
        ("there/ADV/8/advmod", "?", True),  # of another word
    ],
)  # fmt: skip
def test_what_stands_before_the_auxiliary_leaves_it_a_question(before, mark, question):
    text = (
        f"{before} is/AUX/7/cop boy/NOUN/7/nsubj who/PRON/6/nsubj is/AUX/6/cop "
        f"here/ADV/3/acl:relcl happy/ADJ/0/root {mark}/PUNCT/7/punct"
    )
    assert roles(text) == ((2, 3, 5) if question else None)


# Where clauses stand, by hand
PLACES = {
    "a clause behind the predicate stands behind the auxiliary of the statement": (
        "Is/AUX/3/cop boy/NOUN/3/nsubj happy/ADJ/0/root who/PRON/6/nsubj is/AUX/6/cop "
        "here/ADV/2/acl:relcl",
        None,
    ),
    "the subject's own copula is the question's": (
        "Is/AUX/4/cop boy/NOUN/4/nsubj was/AUX/2/cop happy/ADJ/0/root ?/PUNCT/4/punct",
        None,
    ),
    "that of a clause as subject is not": (
        "Is/AUX/4/cop here/ADV/4/csubj was/AUX/2/cop happy/ADJ/0/root ?/PUNCT/4/punct",
        (1, 2, 3),
    ),
    "an auxiliary on the subject that governs a clause": (
        "Is/AUX/5/cop boy/NOUN/5/nsubj is/AUX/2/acl here/ADV/3/advmod happy/ADJ/0/root",
        (1, 2, 3),
    ),
    "a subject that looks like an auxiliary": (
        "Is/AUX/3/cop can/AUX/3/nsubj happy/ADJ/0/root ?/PUNCT/3/punct",
        None,
    ),
    "a clause as subject that is an auxiliary": (
        "Is/AUX/3/cop is/AUX/3/csubj happy/ADJ/0/root ?/PUNCT/3/punct",
        (1, 2, 2),
    ),
    "the first auxiliary of the subject": (
        "Is/AUX/7/cop boy/NOUN/7/nsubj who/PRON/6/nsubj will/AUX/6/aux 's/AUX/6/cop "
        "here/ADV/2/acl:relcl happy/ADJ/0/root",
        (1, 2, 4),
    ),
    "of two questions the one with evidence": (
        "Is/AUX/3/cop he/PRON/3/nsubj sad/ADJ/0/root or/CCONJ/9/cc is/AUX/9/cop boy/NOUN/9/nsubj "
        "who/PRON/8/nsubj was/AUX/6/acl happy/ADJ/3/conj",
        (5, 6, 8),
    ),
    "a verb whose subject stands before the auxiliary": (
        "which/DET/2/det dogs/NOUN/8/nsubj that/PRON/5/nsubj are/AUX/5/cop here/ADV/2/acl "
        "is/AUX/8/cop he/PRON/8/nsubj happy/ADJ/0/root",
        None,
    ),
    "behind a question about its subject": (
        "who/PRON/3/nsubj can/AUX/3/aux bark/VERB/0/root or/CCONJ/10/cc is/AUX/10/cop "
        "boy/NOUN/10/nsubj who/PRON/9/nsubj was/AUX/9/cop here/ADV/6/acl happy/ADJ/3/conj",
        (5, 6, 8),
    ),
    "behind an auxiliary of no clause": (
        "can/AUX/7/discourse is/AUX/7/cop boy/NOUN/7/nsubj who/PRON/6/nsubj was/AUX/6/cop "
        "here/ADV/3/acl happy/ADJ/0/root",
        (2, 3, 5),
    ),
    "an adverbial clause with its auxiliary behind the question's": (
        "here/ADV/4/advcl can/AUX/4/aux I/PRON/4/nsubj go/VERB/0/root are/AUX/1/cop",
        None,
    ),
    "an adverbial clause as predicate's auxiliary, before": (
        "are/AUX/2/cop tall/ADJ/5/advcl can/AUX/5/aux I/PRON/5/nsubj go/VERB/0/root",
        (3, 4, 1),
    ),
    "a clause before the question that is none of its adverbials": (
        "are/AUX/2/cop tall/ADJ/5/parataxis can/AUX/5/aux I/PRON/5/nsubj go/VERB/0/root",
        None,
    ),
    "an adverbial clause of a question about its subject": (
        "are/AUX/2/cop tall/ADJ/5/advcl can/AUX/5/aux who/PRON/5/nsubj go/VERB/0/root",
        None,
    ),
    "a statement behind an adverbial clause with a wh-word": (
        "when/ADV/3/advmod are/AUX/3/cop here/ADV/7/advcl dogs/NOUN/7/obj can/AUX/7/aux "
        "I/PRON/7/nsubj see/VERB/0/root ?/PUNCT/7/punct",
        None,
    ),
    "an expletive does not matter to an adverbial clause": (
        "are/AUX/2/cop tall/ADJ/6/advcl is/AUX/6/cop it/PRON/6/expl he/PRON/6/nsubj sad/ADJ/0/root",
        (3, 5, 1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PLACES)
def test_where_clauses_stand(name):
    text, expected = PLACES[name]
    assert roles(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # the first subject, and the first relative clause behind it
        ("I/PRON/2/nsubj met/VERB/0/root dogs/NOUN/2/obj left/VERB/3/acl:relcl "
         "ran/VERB/3/acl:relcl ?/PUNCT/2/punct", (1, 4)),
        ("left/VERB/2/acl:relcl dogs/NOUN/4/nsubj ran/VERB/2/relcl bark/VERB/0/root "
         "?/PUNCT/4/punct", (2, 3)),
        ("left/VERB/2/acl:relcl dogs/NOUN/3/nsubj bark/VERB/0/root ?/PUNCT/3/punct", None),
        # an auxiliary among the first two words
        ("dogs/NOUN/3/nsubj can/AUX/3/aux bark/VERB/0/root left/VERB/1/acl:relcl", (1, 4)),
        ("oh/INTJ/4/discourse dogs/NOUN/4/nsubj can/AUX/4/aux bark/VERB/0/root left/VERB/2/relcl",
         None),
        ("dogs/NOUN/3/nsubj can/VERB/3/aux bark/VERB/0/root left/VERB/1/acl:relcl", (1, 4)),
        ("dogs/NOUN/3/nsubj can/VERB/3/obj bark/VERB/0/root left/VERB/1/acl:relcl", None),
        ("dogs/NOUN/3/nsubj bit/AUX/3/aux bark/VERB/0/root left/VERB/1/acl:relcl", None),
        # a wh-word
        ("dogs/NOUN/2/nsubj bark/VERB/0/root who/PRON/4/nsubj left/VERB/1/acl:relcl", (1, 4)),
        ("dogs/NOUN/0/root", None),
    ],
)  # fmt: skip
def test_the_places_of_the_papers_reading(text, expected):
    assert roles(text, paper) == expected


def test_places_are_words_of_the_sentence():
    generator = random.Random(1)
    found = {direct: 0, paper: 0}
    cases = [tree(text) for text, _, _ in CASES.values()]
    nonsense = [random_tree(generator) for _ in range(2_000)]
    near = [mutated(generator.choice(cases), generator) for _ in range(2_000)]
    for sentence in nonsense + near:
        for rule in found:
            match = rule(sentence)
            found[rule] += match is not None
            assert match is None or all(1 <= word <= len(sentence) for word in match.words)
    assert all(100 < times < 2_000 for times in found.values())


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


@pytest.mark.slow
def test_gold_child_directed_trees(shared):
    total = wide = narrow = 0
    for path in sorted((shared / "treebanks" / "childes").glob("*.conllu")):
        for sentence in treebank.trees(path):
            total += 1
            taken = paper(sentence) is not None
            wide += taken
            narrow += direct(sentence) is not None
            if any(r.startswith("acl") for r in sentence.deprel) and "acl" not in sentence.deprel:
                assert taken == appendix_c(sentence), sentence.form
    assert 0.003 < wide / total < 0.03
    assert 0.0001 < narrow / total < 0.001


def test_toy_grammar_agrees_with_the_construction_it_drew():
    from poshgrid.corpora import toy

    found = 0
    for sentence in itertools.islice(toy.sentences("baby", 5), 1_500):
        parsed = toy_tree(sentence)
        drew = sentence.construction == "question-formation"
        assert (direct(parsed) is not None) == drew, sentence.text
        assert paper(parsed) is not None or not drew, sentence.text
        found += drew
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
