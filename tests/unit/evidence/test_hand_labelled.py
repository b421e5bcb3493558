"""Sentences of gold treebanks of child-directed speech, labelled by hand before the filters ran.

Only their numbers are here (``sent_id`` of the file whose name begins so); the text is the
treebanks'. A sentence is labelled by reading it against the definition of appendix C: question
formation - a relative clause after a subject, in a question; binding - a reflexive after two nouns
or pronouns. *Hard* ones are those that a quick reader or a list of words would get wrong. Those of
``DIRECT`` were chosen after the filter ran, for the places where its narrow reading may go wrong.
"""

from __future__ import annotations

import re

import pytest

from poshgrid.evidence.filters import binding, question_formation
from poshgrid.evidence.screening.lexical import binding as binding_words
from poshgrid.evidence.screening.lexical import question_formation as question_words
from poshgrid.parsing import treebank
from tests.unit.evidence.trees import read_cases

LABELLED = read_cases("gold")
QUESTION_FORMATION, BINDING, DIRECT, MISLABELLED = (
    LABELLED[name] for name in ("question_formation", "binding", "direct", "mislabelled")
)


@pytest.fixture(scope="module")
def gold(shared):
    """Number -> gold tree."""
    found = {}
    for path in sorted((shared / "treebanks" / "childes").glob("*.conllu")):
        child = path.name.split("_")[0]
        numbers = re.findall(r"^# sent_id = (\S+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        for number, sentence in zip(numbers, treebank.trees(path), strict=True):
            found[f"{child}:{number}"] = sentence
    return found


@pytest.mark.parametrize(
    ("module", "words", "labels"),
    [
        (question_formation, question_words, QUESTION_FORMATION),
        (binding, binding_words, BINDING),
    ],
    ids=["question-formation", "binding"],
)
def test_the_papers_readings_take_what_their_definition_names(gold, module, words, labels):
    wrong, lost = [], []
    for number, (taken, _) in labels.items():
        sentence = gold[number]
        if (module.paper(sentence) is not None) != taken and number not in MISLABELLED:
            wrong.append(number)
        if taken and not words.screen(sentence.form):
            lost.append(number)
    assert wrong == []
    assert lost == []


def test_direct_evidence_is_found_by_tree_and_by_words(gold):
    trees = {number: question_formation.direct(gold[number]) is not None for number in DIRECT}
    assert trees == DIRECT
    found = [number for number in DIRECT if question_words.direct(gold[number].form)]
    assert {number for number, evidence in DIRECT.items() if evidence} <= set(found)
