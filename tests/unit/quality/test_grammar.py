"""The grammar against sentences labelled by hand."""

from __future__ import annotations

import re

import pytest

from poshgrid.benchmark.checks import grammar, readings
from poshgrid.benchmark.checks.readings import split
from tests.unit.quality.quality_suite import WORDS

KNOWN = readings.readings(WORDS)

GRAMMATICAL = """
The girl liked the boy. The girls like the boy. My happy mother sleeps. These boys like girls. The
girl's mother sleeps. The man who the boy saw left. The man the boy saw left. The boy who likes
the girl sleeps. The boy brought the girl the toy. The girl said the boy left. The girl knew whether
the boy left. The girl knew who left. The girl knew what the boy liked. The girl knew when the boy
left. The girl saw the boy leave. The girl saw herself leaving. The girl saw herself brought the
toy. The girl saw the boy who liked himself. Does the girl like the boy? Do the girls like the
boy? Who likes the girl? Who left? Who did the girl like? What did the boy bring the dog? Who did
the boy bring the toy? Who did the girl say left? Who did the girl say the boy liked? What did the
girl know the boy liked? What did the boy read before leaving? Who will the girl wanna help? When
will the girl leave? How did the girl see the boy leave?
"""
UNGRAMMATICAL = """
The girl like the boy. The girls likes the boy. Girl likes the boy. These girl likes the boy. The
girl liked. The girl slept the boy. The girl liking the boy. The girl liked himself. The girls
liked herself. The girl said that the boy liked herself. The girl's man liked herself. The man who
the boy saw the girl left. The boy brought the toy the girl. The girl hoped whether the boy left.
The girl saw himself leaving. The girl saw herself slept. The girl thanked the boy leave the house.
Does the girls like the boy? Does the girl likes the boy? The girl does like the boy? Who did the
girl like the boy? Who did the girl like the boy before seeing? What did the girl who liked know
the boy? Who did the girl know whether the boy liked? Who did the girl know when the boy liked?
Who did the girl say that left? Who did the girl see that the boy liked? What did the girl know
who liked? What will the girl wanna sleep? Who will the girl wanna help the boy? When did the girl
like? Did the man who the boy see will leave?
"""


def parses(sentence, *, nonsense=False):
    parser = grammar.Parser(split(sentence), KNOWN, nonsense=nonsense)
    return parser.parses(question=sentence.endswith("?"))


@pytest.mark.parametrize(("sentences", "accepted"), [(GRAMMATICAL, True), (UNGRAMMATICAL, False)])
def test_sentences_are_accepted_as_labelled(sentences, accepted):
    for sentence in re.findall(r"[A-Z][^.?]+[.?]", sentences):
        assert bool(parses(sentence)) == accepted, sentence


def test_nonsense_obeys_the_other_rules():
    for sentence in ("The girl read the dog.", "The wet girl left.", "The girl liked."):
        assert not parses(sentence)
        assert parses(sentence, nonsense=True)
    for sentence in ("The girl liked himself.", "The girl like the boy.", "The girl liking him."):
        assert not parses(sentence, nonsense=True)


@pytest.mark.parametrize(
    ("sentence", "binder"),
    [
        ("The girl said that the boy liked himself.", 5),
        ("The man knew that John's mother helped herself.", 5),
        ("The woman said that the man who met the girl liked himself.", 5),
        ("The boy saw himself helping the dog.", 1),
    ],
)
def test_the_binder_is_the_subject_of_the_reflexives_clause(sentence, binder):
    bound = {tag for tags in parses(sentence) for tag in tags if tag[0] == "bound"}
    words = split(sentence)
    place = next(i for i, word in enumerate(words) if word in grammar.REFLEXIVES)
    assert bound == {("bound", place, binder)}
