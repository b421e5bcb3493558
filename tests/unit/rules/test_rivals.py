"""What each rule says of a pair, worked by hand for every phenomenon."""

import pytest

from poshgrid import plugins
from poshgrid.plugins import RIVALS
from poshgrid.rules.pair import Pair
from poshgrid.rules.table import rivals
from poshgrid.rules.words import Sentence

QUESTIONS = {
    "main-auxiliary": "good", "first-auxiliary": "bad",
}  # fmt: skip

# good, bad, and what the rules that have a say prefer
PAIRS = [
    # ---- question formation: ours
    (
        # The statement: the man who the boy did see will leave. The first auxiliary is "did".
        "Will the man who the boy did see leave?",
        "Did the man who the boy see will leave?",
        QUESTIONS | {"front-do": "bad"},
    ),
    (
        "Did the man the boy will see leave?",
        "Will the man the boy see did leave?",
        QUESTIONS | {"front-do": "good"},
    ),
    (
        "Must my sister who can meet the king eat the cake?",
        "Can my sister who meet the king must eat the cake?",
        QUESTIONS,
    ),
    # ... as published: negated, unknown nouns and verbs
    (
        "Will the lady who the council won't watch throw the ball?",
        "Won't the lady who the council watch will throw the ball?",
        QUESTIONS,
    ),
    (
        "Mustn't the brother the friend does reach out to play the football?",
        "Does the brother the friend reach out to mustn't play the football?",
        QUESTIONS | {"front-do": "bad"},
    ),
    (
        "Is the man who the dogs have seen running?",
        "Have the man who the dogs seen is running?",
        QUESTIONS,
    ),
    # ... the relative clause behind the main verb: the first auxiliary is the main one
    (
        "Will the man see the boy who can swim?",
        "Can the man will see the boy who swim?",
        {"main-auxiliary": "good", "first-auxiliary": "good"},
    ),
    # ... the relative clause has its verb already, and the auxiliary after it is the main one
    (
        "Will the man who saw the girl help the boy who can swim?",
        "Can the man who saw the girl will help the boy who swim?",
        {"main-auxiliary": "good", "first-auxiliary": "good"},
    ),
    # ... the same auxiliary twice, one of which has moved
    (
        "Can the man who can swim leave?",
        "Can the man who swim can leave?",
        QUESTIONS,
    ),
    # ---- binding: ours
    (
        "The man said that John's mother helped herself.",
        "The man said that John's mother helped himself.",
        {"command": "good", "nearest-noun": "good", "nearest-gendered-noun": "good",
         "first-noun": "bad"},
    ),
    (
        "The queen said that the king who saw the wife helped himself.",
        "The queen said that the king who saw the wife helped herself.",
        {"command": "good", "nearest-noun": "bad", "nearest-gendered-noun": "bad",
         "first-noun": "bad"},
    ),
    (
        # The nearest noun, a teacher, may be either
        "The queen said that the king who saw the teacher helped himself.",
        "The queen said that the king who saw the teacher helped herself.",
        {"command": "good", "nearest-gendered-noun": "good", "first-noun": "bad"},
    ),
    (
        "The woman said that the man helped himself.",
        "The woman said that the man helped herself.",
        {"command": "good", "nearest-noun": "good", "nearest-gendered-noun": "good",
         "first-noun": "bad"},
    ),
    # ... as published: "trains" is no noun here; the gender of "president" is its adjective's
    (
        "Ann says that the male president who trains Ann supports himself.",
        "Ann says that the male president who trains Ann supports herself.",
        {"command": "good", "nearest-noun": "bad", "nearest-gendered-noun": "bad",
         "first-noun": "bad"},
    ),
    (
        "The woman said that the king's father helped himself.",
        "The woman said that the king's father helped herself.",
        {"command": "good", "nearest-noun": "good", "nearest-gendered-noun": "good",
         "first-noun": "bad"},
    ),
    (
        "The man said that the boy who the girl saw helped himself.",
        "The man said that the boy who the girl saw helped herself.",
        {"command": "good", "nearest-noun": "bad", "nearest-gendered-noun": "bad",
         "first-noun": "good"},
    ),
    # ... number
    (
        "The boy said that the kings who saw the man helped themselves.",
        "The boy said that the kings who saw the man helped himself.",
        {"command": "good", "nearest-noun": "bad", "nearest-gendered-noun": "bad",
         "first-noun": "bad"},
    ),
    (
        "The boys said that the girl hurt herself.",
        "The boys said that the girl hurt themselves.",
        {"command": "good", "nearest-noun": "good", "nearest-gendered-noun": "good",
         "first-noun": "bad"},
    ),
    # ... the antecedents differ, and not the reflexive
    (
        "The boy's sister saw herself.",
        "The girl's brother saw herself.",
        {"command": "good", "nearest-noun": "good", "nearest-gendered-noun": "good",
         "first-noun": "bad"},
    ),
    # ... no complementizer, and an object relative without a pronoun
    (
        "The man thinks the girl helped herself.",
        "The man thinks the girl helped himself.",
        {"command": "good", "nearest-noun": "good", "nearest-gendered-noun": "good",
         "first-noun": "bad"},
    ),
    (
        "The king the queen saw helped himself.",
        "The king the queen saw helped herself.",
        {"command": "good", "nearest-noun": "bad", "nearest-gendered-noun": "bad",
         "first-noun": "good"},
    ),
    # ... the reflexive is inside the relative clause
    (
        "The queen saw the king who helped himself.",
        "The queen saw the king who helped herself.",
        {"command": "good", "nearest-noun": "good", "nearest-gendered-noun": "good",
         "first-noun": "bad"},
    ),
    # ... forms of a participle: no antecedents are compared
    (
        "The girl saw herself helping the boy.",
        "The girl saw herself helped the boy.",
        {},
    ),
    # ---- islands
    (
        "Who should the man help before seeing the girl?",
        "Who should the man help the girl before seeing?",
        {"island": "good", "first-gap": "good"},
    ),
    (
        "What did Henry learn when teaching the language?",
        "What did Henry learn the language when teaching?",
        {"island": "good", "first-gap": "good"},
    ),
    (
        "What did the man who helped the girl like?",
        "What did the man who helped like the girl?",
        {"island": "good", "first-gap": "bad"},
    ),
    (
        "Who did the customer who talked to Bill love?",
        "Who did the customer who talked to love Bill?",
        {"island": "good", "first-gap": "bad"},
    ),
    (
        "What did the girl say that John likes?",
        "What did the girl say whether John likes?",
        {"island": "good"},
    ),
    (
        "What must the female professor decide she shared?",
        "What must the female professor decide who shared?",
        {"island": "good"},
    ),
    # ... no permutation: the verbs' forms differ
    (
        "Who did the professor who selected this teacher recognize?",
        "Who did the professor who recognized select this teacher?",
        {"island": "good"},
    ),
    # ... in sets of gap by structure
    (
        "Who did the man say that Mary found?",
        "Who did the man leave before Mary found?",
        {"island": "good"},
    ),
    (
        "Why did the man leave before Mary found the girl?",
        "Why did the man say that Mary found the girl?",
        {},
    ),
    (
        "What did the man say that the boy found?",
        "What did the man help the boy who found?",
        {"island": "good"},
    ),
    (
        "Why did the girl know whether John liked the cake?",
        "Why did the girl know that John liked the cake?",
        {},
    ),
    # ... no gap, no island
    (
        "The girl said that John likes the dog.",
        "The girl said whether John likes the dog.",
        {},
    ),
    # ---- wanna
    (
        "When does the happy girl wanna help the dog?",
        "Who does the happy girl wanna help the dog?",
        {"contraction": "good"},
    ),
    (
        "Who does the happy girl want to help the dog?",
        "Who does the happy girl wanna help the dog?",
        {"contraction": "good", "shorter": "bad"},
    ),
    (
        "Why would James wanna swim?",
        "Who would James wanna swim?",
        {"contraction": "good"},
    ),
    (
        "When does the girl wanna help the dog?",
        "When does the girl want to help the dog?",
        {"shorter": "good"},
    ),
    # ... the gap may be the object's: both are grammatical
    (
        "Who do you want to help?",
        "Who do you wanna help?",
        {"shorter": "bad"},
    ),
    (
        "When do you want to help the dog?",
        "When do you wanna help the dog?",
        {"shorter": "bad"},
    ),
]  # fmt: skip


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
