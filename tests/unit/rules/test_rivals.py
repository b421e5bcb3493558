"""What each rule says of a pair, worked by hand for every phenomenon."""

import re

import pytest

from poshgrid import plugins
from poshgrid.plugins import RIVALS
from poshgrid.rules.pair import Pair
from poshgrid.rules.table import rivals
from poshgrid.rules.words import Sentence

# Pairs, the good member first; after each sentence the rules that prefer it, others have no say
LONG = {"nearest": "nearest-noun", "gendered": "nearest-gendered-noun", "first": "first-noun"}
CASES = """
Will the man who the boy did see leave? main-auxiliary
Did the man who the boy see will leave? first-auxiliary front-do
Did the man the boy will see leave? main-auxiliary front-do
Will the man the boy see did leave? first-auxiliary
Must my sister who can meet the king eat the cake? main-auxiliary
Can my sister who meet the king must eat the cake? first-auxiliary
Will the lady who the council won't watch throw the ball? main-auxiliary
Won't the lady who the council watch will throw the ball? first-auxiliary
Mustn't the brother the friend does reach out to play the football? main-auxiliary
Does the brother the friend reach out to mustn't play the football? first-auxiliary front-do
Is the man who the dogs have seen running? main-auxiliary
Have the man who the dogs seen is running? first-auxiliary
Will the man see the boy who can swim? main-auxiliary first-auxiliary
Can the man will see the boy who swim?
Will the man who saw the girl help the boy who can swim? main-auxiliary first-auxiliary
Can the man who saw the girl will help the boy who swim?
Can the man who can swim leave? main-auxiliary
Can the man who swim can leave? first-auxiliary
The man said that John's mother helped herself. command nearest gendered
The man said that John's mother helped himself. first
The queen said that the king who saw the wife helped himself. command
The queen said that the king who saw the wife helped herself. nearest gendered first
The queen said that the king who saw the teacher helped himself. command gendered
The queen said that the king who saw the teacher helped herself. first
The woman said that the man helped himself. command nearest gendered
The woman said that the man helped herself. first
Ann says that the male president who trains Ann supports himself. command
Ann says that the male president who trains Ann supports herself. nearest gendered first
The woman said that the king's father helped himself. command nearest gendered
The woman said that the king's father helped herself. first
The man said that the boy who the girl saw helped himself. command first
The man said that the boy who the girl saw helped herself. nearest gendered
The boy said that the kings who saw the man helped themselves. command
The boy said that the kings who saw the man helped himself. nearest gendered first
The boys said that the girl hurt herself. command nearest gendered
The boys said that the girl hurt themselves. first
The boy's sister saw herself. command nearest gendered
The girl's brother saw herself. first
The man thinks the girl helped herself. command nearest gendered
The man thinks the girl helped himself. first
The king the queen saw helped himself. command first
The king the queen saw helped herself. nearest gendered
The queen saw the king who helped himself. command nearest gendered
The queen saw the king who helped herself. first
The girl saw herself helping the boy.
The girl saw herself helped the boy.
Who should the man help before seeing the girl? island first-gap
Who should the man help the girl before seeing?
What did Henry learn when teaching the language? island first-gap
What did Henry learn the language when teaching?
What did the man who helped the girl like? island
What did the man who helped like the girl? first-gap
Who did the customer who talked to Bill love? island
Who did the customer who talked to love Bill? first-gap
What did the girl say that John likes? island
What did the girl say whether John likes?
What must the female professor decide she shared? island
What must the female professor decide who shared?
Who did the professor who selected this teacher recognize? island
Who did the professor who recognized select this teacher?
Who did the man say that Mary found? island
Who did the man leave before Mary found?
Why did the man leave before Mary found the girl?
Why did the man say that Mary found the girl?
What did the man say that the boy found? island
What did the man help the boy who found?
Why did the girl know whether John liked the cake?
Why did the girl know that John liked the cake?
The girl said that John likes the dog.
The girl said whether John likes the dog.
When does the happy girl wanna help the dog? contraction
Who does the happy girl wanna help the dog?
Who does the happy girl want to help the dog? contraction
Who does the happy girl wanna help the dog? shorter
Why would James wanna swim? contraction
Who would James wanna swim?
When does the girl wanna help the dog? shorter
When does the girl want to help the dog?
Who do you want to help?
Who do you wanna help? shorter
When do you want to help the dog?
When do you wanna help the dog? shorter
"""

_LINES = [re.fullmatch(r"(.*[.?]) ?(.*)", line).groups() for line in CASES.strip().splitlines()]
PAIRS = [
    (
        good,
        bad,
        {LONG.get(r, r): m for m, rules in (("good", on), ("bad", off)) for r in rules.split()},
    )
    for (good, on), (bad, off) in zip(_LINES[::2], _LINES[1::2], strict=True)
]


@pytest.mark.parametrize(("good", "bad", "expected"), PAIRS, ids=[good for good, _, _ in PAIRS])
def test_by_hand_whichever_member_is_first(good, bad, expected):
    for first, second, values in (
        (good, bad, {"good": 1, "bad": 0}),
        (bad, good, {"good": 0, "bad": 1}),
    ):
        pair = Pair(first, second)
        found = {
            name: rule.prefers(pair)
            for name, rule in rivals().items()
            if hasattr(rule, "prefers") and rule.prefers(pair) is not None
        }
        assert found == {name: values[member] for name, member in expected.items()}


def test_every_rule_that_reads_words_has_an_example():
    shown = {name for _, _, expected in PAIRS for name in expected}
    assert shown == {name for name, rule in rivals().items() if hasattr(rule, "prefers")}


@pytest.mark.parametrize(
    ("good", "bad", "words"),
    [
        ("What did he say that Ann saw?", "What did he say whether Ann saw?", ("that", "whether")),
        ("Will the man who can swim go?", "Can the man who swim will go?", ("will", "can")),
        ("The boy hurt himself.", "The boy hurt herself.", ("himself", "herself")),
        ("When do you wanna go?", "Who do you wanna go?", ("when", "who")),
        # content words; and the one is the other's beginning
        ("Who helped the girl?", "Who helped the boy?", None),
        ("Who helped", "Who helped her", None),
    ],
)
def test_the_first_function_words_that_differ_are_compared(good, bad, words):
    rule = plugins.load(RIVALS, "frequent-word")
    assert rule.compares(Pair(good, bad)) == words
    assert rule.compares(Pair(bad, good)) == (words and words[::-1])


def test_hierarchical_rules_are_marked():
    found = {n for n, rule in rivals().items() if getattr(rule, "HIERARCHICAL", False)}
    assert found == {"main-auxiliary", "command", "island", "contraction"}


@pytest.mark.parametrize(
    ("text", "nouns"),
    [
        ("The male president says that Ann's uncle runs.",
         [("president", "m", False), ("ann", "f", True), ("uncle", "m", False)]),
        ("That boy knows that women sing.", [("boy", "m", False), ("women", "f", False)]),
        ("Lawrence knows that Zyx saw the Canadian child.",
         [("zyx", "fm", False), ("child", "fm", False)]),
        ("She can't see the table.", [("she", "f", False), ("table", "n", False)]),
    ],
)  # fmt: skip
def test_nouns_and_their_genders(text, nouns):
    sentence = Sentence(text)
    found = [
        (sentence.words[n.place], "".join(sorted(n.genders)), n.possessor) for n in sentence.nouns
    ]
    assert found == nouns
