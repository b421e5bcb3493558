"""The reference itself: examples by hand, most of them from the definitions."""

from __future__ import annotations

import pytest

from tests.parity import readings_binding, readings_question
from tests.parity.readings_fict import FICT
from tests.parity.ud import tree

QUESTIONS = [
    # Is the boy who is in the corner smiling ?
    "Is/AUX/9/aux the/DET/3/det boy/NOUN/9/nsubj who/PRON/8/nsubj is/AUX/8/cop in/ADP/8/case "
    "the/DET/8/det corner/NOUN/3/acl:relcl smiling/VERB/0/root ?/PUNCT/9/punct",
    # How could anyone that was awake not hear that ?
    "How/ADV/8/advmod could/AUX/8/aux anyone/PRON/8/nsubj that/PRON/6/nsubj was/AUX/6/cop "
    "awake/ADJ/3/acl:relcl not/PART/8/advmod hear/VERB/0/root that/PRON/8/obj ?/PUNCT/8/punct",
    # no mark, and an adverb in front
    "Also/ADV/9/advmod would/AUX/9/aux those/PRON/9/nsubj of/ADP/5/case you/PRON/3/nmod "
    "who/PRON/8/nsubj have/AUX/8/aux answered/VERB/3/acl:relcl write/VERB/0/root me/PRON/9/obj",
    # What was that game you were playing ?
    "What/PRON/0/root was/AUX/1/cop that/DET/4/det game/NOUN/1/nsubj you/PRON/7/nsubj "
    "were/AUX/7/aux playing/VERB/4/acl:relcl ?/PUNCT/1/punct",
    # Where is the special fork you can use ?
    "Where/ADV/0/root is/AUX/1/cop the/DET/5/det special/ADJ/5/amod fork/NOUN/1/nsubj "
    "you/PRON/8/nsubj can/AUX/8/aux use/VERB/5/acl:relcl ?/PUNCT/1/punct",
    # reported: I wonder is what you are saying true
    "I/PRON/2/nsubj wonder/VERB/0/root is/AUX/8/cop what/PRON/8/nsubj you/PRON/7/nsubj "
    "are/AUX/7/aux saying/VERB/4/acl:relcl true/ADJ/2/ccomp",
    # the same as a clausal subject
    "Is/AUX/6/cop what/PRON/5/obj you/PRON/5/nsubj are/AUX/5/aux saying/VERB/6/csubj "
    "true/ADJ/0/root ?/PUNCT/6/punct",
    # complement of a noun: Was the fact that he is ill a surprise ?
    "Was/AUX/9/cop the/DET/3/det fact/NOUN/9/nsubj that/SCONJ/7/mark he/PRON/7/nsubj is/AUX/7/cop "
    "ill/ADJ/3/acl a/DET/9/det surprise/NOUN/0/root ?/PUNCT/9/punct",
    # a conjunct: Are the cat and the dog that is barking yours ?
    "Are/AUX/10/cop the/DET/3/det cat/NOUN/10/nsubj and/CCONJ/6/cc the/DET/6/det dog/NOUN/3/conj "
    "that/PRON/9/nsubj is/AUX/9/aux barking/VERB/6/acl:relcl yours/PRON/0/root ?/PUNCT/10/punct",
    # If you do n't need this , can I have it ?
    "If/SCONJ/5/mark you/PRON/5/nsubj do/AUX/5/aux n't/PART/5/advmod need/VERB/10/advcl "
    "this/PRON/5/obj ,/PUNCT/10/punct can/AUX/10/aux I/PRON/10/nsubj have/VERB/0/root "
    "it/PRON/10/obj ?/PUNCT/10/punct",
    # ellipsis: If you do , would you send it ?
    "If/SCONJ/3/mark you/PRON/3/nsubj do/AUX/7/advcl ,/PUNCT/7/punct would/AUX/7/aux "
    "you/PRON/7/nsubj send/VERB/0/root it/PRON/7/obj ?/PUNCT/7/punct",
    # existential be: If there is milk , can I have it ?
    "If/SCONJ/3/mark there/PRON/3/expl is/VERB/8/advcl milk/NOUN/3/nsubj ,/PUNCT/8/punct "
    "can/AUX/8/aux I/PRON/8/nsubj have/VERB/0/root it/PRON/8/obj ?/PUNCT/8/punct",
]
NO_QUESTIONS = [
    # What was the thing you wanted ?
    "What/PRON/0/root was/AUX/1/cop the/DET/4/det thing/NOUN/1/nsubj you/PRON/6/nsubj "
    "wanted/VERB/4/acl:relcl ?/PUNCT/1/punct",
    # Is there a bear that can dance ?
    "Is/VERB/0/root there/PRON/1/expl a/DET/4/det bear/NOUN/1/nsubj that/PRON/7/nsubj "
    "can/AUX/7/aux dance/VERB/4/acl:relcl ?/PUNCT/1/punct",
    # Is that what you are saying ?
    "Is/AUX/3/cop that/PRON/3/nsubj what/PRON/0/root you/PRON/6/nsubj are/AUX/6/aux "
    "saying/VERB/3/acl:relcl ?/PUNCT/3/punct",
    # It is true that he has left
    "It/PRON/3/expl is/AUX/3/cop true/ADJ/0/root that/SCONJ/7/mark he/PRON/7/nsubj has/AUX/7/aux "
    "left/VERB/3/csubj",
    # Here 's the truck that you have broken
    "Here/ADV/0/root 's/AUX/1/cop the/DET/4/det truck/NOUN/1/nsubj that/PRON/8/obj "
    "you/PRON/8/nsubj have/AUX/8/aux broken/VERB/4/acl:relcl",
    # nor do those who are here care
    "nor/CCONJ/7/cc do/AUX/7/aux those/PRON/7/nsubj who/PRON/6/nsubj are/AUX/6/cop "
    "here/ADV/3/acl:relcl care/VERB/0/root",
    # extraposed: Is the boy smiling who is here ?
    "Is/AUX/4/aux the/DET/3/det boy/NOUN/4/nsubj smiling/VERB/0/root who/PRON/7/nsubj is/AUX/7/cop "
    "here/ADV/3/acl:relcl ?/PUNCT/4/punct",
    # Had the man who was ill come , we would know
    "Had/AUX/7/aux the/DET/3/det man/NOUN/7/nsubj who/PRON/6/nsubj was/AUX/6/cop "
    "ill/ADJ/3/acl:relcl come/VERB/11/advcl ,/PUNCT/11/punct we/PRON/11/nsubj would/AUX/11/aux "
    "know/VERB/0/root",
    # The boy who is here can stay
    "The/DET/2/det boy/NOUN/7/nsubj who/PRON/5/nsubj is/AUX/5/cop here/ADV/2/acl:relcl "
    "can/AUX/7/aux stay/VERB/0/root",
    # Can I stay if you are here ?
    "Can/AUX/3/aux I/PRON/3/nsubj stay/VERB/0/root if/SCONJ/7/mark you/PRON/7/nsubj are/AUX/7/cop "
    "here/ADV/3/advcl ?/PUNCT/3/punct",
    # of another clause: If you are tired sit down and may I stay ?
    "If/SCONJ/4/mark you/PRON/4/nsubj are/AUX/4/cop tired/ADJ/5/advcl sit/VERB/0/root "
    "down/ADV/5/advmod and/CCONJ/10/cc may/AUX/10/aux I/PRON/10/nsubj stay/VERB/5/conj "
    "?/PUNCT/5/punct",
    # the subject asks: But if you are out , is who knows it here
    "If/SCONJ/4/mark you/PRON/4/nsubj are/AUX/4/cop out/ADV/7/advcl is/AUX/7/cop who/PRON/7/nsubj "
    "knows/VERB/0/root",
]
PAPER_QUESTIONS = [
    QUESTIONS[0],
    NO_QUESTIONS[0],
    NO_QUESTIONS[8],
    # an auxiliary second: He can see dogs that left
    "He/PRON/3/nsubj can/AUX/3/aux see/VERB/0/root dogs/NOUN/3/obj that/PRON/6/nsubj "
    "left/VERB/4/acl:relcl",
    # closing quotes aside
    "You/PRON/2/nsubj saw/VERB/0/root dogs/NOUN/2/obj that/PRON/5/nsubj left/VERB/3/acl:relcl "
    "?/PUNCT/2/punct ”/PUNCT/2/punct",
]
PAPER_NO_QUESTIONS = [
    QUESTIONS[9],
    # You saw dogs that left .
    "You/PRON/2/nsubj saw/VERB/0/root dogs/NOUN/2/obj that/PRON/5/nsubj left/VERB/3/acl:relcl "
    "./PUNCT/2/punct",
    # the subject behind it: Seen what left ?
    "Seen/VERB/0/root what/PRON/1/obj left/VERB/2/acl:relcl you/PRON/1/nsubj ?/PUNCT/1/punct",
]
BINDING = [
    # John 's mother hurt herself
    "John/PROPN/3/nmod:poss 's/PART/1/case mother/NOUN/4/nsubj hurt/VERB/0/root herself/PRON/4/obj",
    # People like her hurt themselves
    "People/NOUN/4/nsubj/Number=Plur like/ADP/3/case her/PRON/1/nmod hurt/VERB/0/root "
    "themselves/PRON/4/obj",
    # John said Mary hurt herself
    "John/PROPN/2/nsubj said/VERB/0/root Mary/PROPN/4/nsubj hurt/VERB/2/ccomp herself/PRON/4/obj",
    # She saw a man who hurt himself
    "She/PRON/2/nsubj saw/VERB/0/root a/DET/4/det man/NOUN/2/obj who/PRON/6/nsubj "
    "hurt/VERB/4/acl:relcl himself/PRON/6/obj",
    # master and slave hurt themselves
    "master/NOUN/4/nsubj and/CCONJ/3/cc slave/NOUN/1/conj hurt/VERB/0/root themselves/PRON/4/obj",
    # I want you to enjoy yourself
    "I/PRON/2/nsubj want/VERB/0/root you/PRON/2/obj to/PART/5/mark enjoy/VERB/2/xcomp "
    "yourself/PRON/5/obj",
    # I gave the bag to myself
    "I/PRON/2/nsubj gave/VERB/0/root the/DET/4/det bag/NOUN/2/obj to/ADP/6/case myself/PRON/2/obl",
    # They made attempts to save themselves
    "They/PRON/2/nsubj made/VERB/0/root attempts/NOUN/2/obj/Number=Plur to/PART/5/mark "
    "save/VERB/3/acl themselves/PRON/5/obj",
    # I saw men hurting themselves
    "I/PRON/2/nsubj saw/VERB/0/root men/NOUN/2/obj/Number=Plur hurting/VERB/3/acl "
    "themselves/PRON/4/obj",
    # brothers pleaded with Ted to wash himself
    "brothers/NOUN/2/nsubj/Number=Plur pleaded/VERB/0/root with/ADP/4/case Ted/PROPN/2/obl "
    "to/PART/6/mark wash/VERB/2/xcomp himself/PRON/6/obj",
    # most of us keep hope for ourselves
    "most/ADJ/4/nsubj of/ADP/3/case us/PRON/1/nmod keep/VERB/0/root hope/NOUN/4/obj for/ADP/7/case "
    "ourselves/PRON/5/nmod",
]
NO_BINDING = [
    # he said he hurt himself: the other may be the same
    "he/PRON/2/nsubj said/VERB/0/root he/PRON/4/nsubj hurt/VERB/2/ccomp himself/PRON/4/obj",
    # you did the work yourself, by yourself
    "you/PRON/2/nsubj did/VERB/0/root the/DET/4/det work/NOUN/2/obj yourself/PRON/2/obl:unmarked",
    "you/PRON/2/nsubj did/VERB/0/root the/DET/4/det work/NOUN/2/obj by/ADP/6/case "
    "yourself/PRON/2/obl",
    # one word before it
    "I/PRON/2/nsubj hurt/VERB/0/root myself/PRON/2/obj",
    # he said I hurt himself
    "he/PRON/2/nsubj said/VERB/0/root I/PRON/4/nsubj hurt/VERB/2/ccomp himself/PRON/4/obj",
    # nobody said who: take the toy home and see yourself
    "take/VERB/0/root the/DET/3/det toy/NOUN/1/obj home/NOUN/1/obl and/CCONJ/6/cc see/VERB/1/conj "
    "yourself/PRON/6/obj",
    # two main clauses: John came and Mary hurt herself
    "John/PROPN/2/nsubj came/VERB/0/root and/CCONJ/5/cc Mary/PROPN/5/nsubj hurt/VERB/2/conj "
    "herself/PRON/5/obj",
    # John , Mary hurt herself
    "John/PROPN/4/vocative ,/PUNCT/1/punct Mary/PROPN/4/nsubj hurt/VERB/0/root herself/PRON/4/obj",
    # girls sent cats themselves: an object that may agree
    "girls/NOUN/2/nsubj/Number=Plur sent/VERB/0/root cats/NOUN/2/iobj/Number=Plur "
    "themselves/PRON/2/obj",
    # a part of a name: Mary Smith hurt herself
    "Mary/PROPN/3/nsubj Smith/PROPN/1/flat hurt/VERB/0/root herself/PRON/3/obj",
]
# filter: what it takes, and what it all but takes
FILTERS = {
    "agr-pp-mod": (
        "toys/NOUN/4/nsubj in/ADP/3/case boxes/NOUN/1/nmod break/VERB/0/root",
        "Ann/PROPN/3/nmod:poss 's/PART/1/case toys/NOUN/4/nsubj break/VERB/0/root",
    ),
    "agr-rel-cl": (
        "toys/NOUN/4/nsubj:pass that/PRON/3/nsubj fall/VERB/1/acl:relcl broken/VERB/0/root",
        "toys/NOUN/5/nsubj that/PRON/3/nsubj fall/VERB/1/acl:relcl are/AUX/5/cop nice/ADJ/0/root",
    ),
    "agr-re-irr-sv": (
        "Birds/NOUN/2/nsubj sing/VERB/0/root",
        "see/VERB/0/root birds/NOUN/1/obj",
    ),
    "npi-only": (
        "only/ADV/2/advmod she/PRON/4/nsubj ever/ADV/4/advmod came/VERB/0/root",
        "anyone/PRON/3/nsubj only/ADV/3/advmod came/VERB/0/root at/ADP/3/obl",
    ),
    "npi-sent-neg": (
        "not/PART/0/root at/ADP/1/advmod all/DET/2/fixed",
        "not/PART/0/root all/DET/1/advmod at/ADP/1/advmod once/ADV/3/fixed",
    ),
    "npi-sim-ques": (
        "Any/DET/2/det tea/NOUN/0/root ?/PUNCT/2/punct",
        "What/PRON/0/root ?/PUNCT/1/punct Any/DET/4/det tea/NOUN/1/parataxis",
    ),
    "quantifier-superlative": (
        "ate/VERB/0/root the/DET/4/det best/ADJ/4/amod/Degree=Sup cakes/NOUN/1/obj",
        "best/ADJ/2/amod/Degree=Sup cakes/NOUN/3/nsubj sold/VERB/0/root",
    ),
    "quantifier-existential-there": (
        "There/PRON/2/expl is/VERB/0/root a/DET/4/det cat/NOUN/2/nsubj",
        "There/PRON/2/expl is/VERB/0/root the/DET/4/det cat/NOUN/2/nsubj",
    ),
    "binding-c-command": (
        "man/NOUN/4/nsubj who/PRON/3/nsubj fell/VERB/1/acl:relcl hurt/VERB/0/root "
        "himself/PRON/4/obj",
        "man/NOUN/4/nsubj who/PRON/3/nsubj fell/VERB/1/acl:relcl hurt/VERB/0/root him/PRON/4/obj",
    ),
    "binding-case": (
        "saw/VERB/0/root himself/PRON/1/obj run/ADV/1/advmod eating/VERB/1/xcomp",
        "eating/VERB/0/root himself/PRON/1/obj is/AUX/1/aux bad/ADJ/1/xcomp",
    ),
    "binding-domain": (
        "say/VERB/0/root I/PRON/3/nsubj saw/VERB/1/ccomp him/PRON/3/obj",
        "say/VERB/0/root I/PRON/3/nsubj saw/VERB/1/ccomp it/PRON/3/obj himself/PRON/1/obj",
    ),
    "binding-reconstruction": (
        "It/PRON/3/nsubj is/AUX/3/cop himself/PRON/0/root that/PRON/5/obj saw/VERB/3/acl:relcl",
        "It/PRON/3/nsubj is/AUX/3/cop himself/PRON/0/root",
    ),
    "passive": (
        "He/PRON/3/nsubj:pass was/AUX/3/aux:pass fired/VERB/0/root",
        "He/PRON/3/nsubj had/AUX/3/aux fired/VERB/0/root",
    ),
    "det-adj-noun": (
        "these/DET/3/det red/ADJ/3/amod cars/NOUN/0/root",
        "these/DET/2/det cars/NOUN/0/root red/ADJ/2/amod",
    ),
    "det-noun": (
        "that/DET/3/det cat/NOUN/3/compound book/NOUN/0/root",
        "that/DET/3/det red/ADJ/3/amod book/NOUN/0/root",
    ),
}


@pytest.mark.parametrize("text", QUESTIONS)
def test_question_formation_direct(text):
    assert readings_question.question_direct(tree(text))


@pytest.mark.parametrize("text", NO_QUESTIONS)
def test_no_question_formation_direct(text):
    assert not readings_question.question_direct(tree(text))


@pytest.mark.parametrize("text", PAPER_QUESTIONS)
def test_question_formation_paper(text):
    assert readings_question.question_paper(tree(text))


@pytest.mark.parametrize("text", PAPER_NO_QUESTIONS)
def test_no_question_formation_paper(text):
    assert not readings_question.question_paper(tree(text))


@pytest.mark.parametrize("text", BINDING)
def test_binding(text):
    assert readings_binding.binding_paper(tree(text))
    assert readings_binding.binding_direct(tree(text))


@pytest.mark.parametrize("text", NO_BINDING)
def test_no_binding_direct(text):
    assert not readings_binding.binding_direct(tree(text))


def test_no_binding_paper():
    assert [readings_binding.binding_paper(tree(text)) for text in NO_BINDING] == [
        *[True] * 3,
        False,
        *[True] * 6,
    ]


@pytest.mark.parametrize("name", FICT)
def test_fict(name):
    taken, left = FILTERS[name]
    assert (FICT[name](tree(taken)), FICT[name](tree(left))) == (True, False)
