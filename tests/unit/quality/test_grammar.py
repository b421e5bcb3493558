"""The grammar against sentences labelled by hand."""

import pytest

from poshgrid.benchmark.checks import grammar, readings
from poshgrid.benchmark.checks.readings import split
from tests.cases import read_cases
from tests.unit.benchmark.generated import WORDS

KNOWN = readings.readings(WORDS)


def parses(sentence, *, nonsense=False):
    parser = grammar.Parser(split(sentence), KNOWN, nonsense=nonsense)
    return parser.parses(question=sentence.endswith("?"))


@pytest.mark.parametrize("label", ["grammatical", "ungrammatical"])
def test_sentences_are_accepted_as_labelled(label):
    for sentence in read_cases(__file__, "sentences")[label]:
        assert bool(parses(sentence)) == (label == "grammatical"), sentence


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
    position = next(i for i, word in enumerate(words) if word in grammar.REFLEXIVES)
    assert bound == {("bound", position, binder)}
