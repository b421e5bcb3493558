"""A small lexicon and suites of our own, for the tests of the gate."""

from __future__ import annotations

import polars as pl

from poshgrid.benchmark import items, lexicon
from poshgrid.benchmark.schema import PAIRS

_NOUNS = """
girl girls f person no
boy boys m person no
man men m person no
woman women f person no
witch witches f person no
mother mothers f person yes
doctor doctors n person no
dog dogs n animal no
book books n text,thing no
letter letters n text,thing no
"""
_NAMES = "John m, Tom m, Mary f, Lucy f"
_VERBS = """
help helps helped helped helping person,animal reflexive
like likes liked liked liking person,animal,thing,text reflexive
meet meets met met meeting person -
see sees saw seen seeing person,animal,thing that,whether,perception,participle,reflexive
say says said said saying - that,whether,bridge
know knows knew known knowing person,text that,whether,bridge
hope hopes hoped hoped hoping - that
leave leaves left left leaving person intransitive
sleep sleeps slept slept sleeping - intransitive,objectless
dance dances danced danced dancing - intransitive
give gives gave given giving thing ditransitive
show shows showed shown showing thing,person ditransitive
hit hits hit hit hitting person,animal,thing reflexive
read reads read read reading text intransitive
"""
_FUNCTIONS = """
that complementizer,declarative
whether complementizer,interrogative
who wh-argument,person
what wh-argument,thing
when wh-adjunct
how wh-adjunct
himself reflexive,m
herself reflexive,f
before subordinator
after subordinator
wanna contraction
he pronoun,m
"""
_AUXILIARIES = "do plural, does singular, did both, will both, should both, can both"
_DETERMINERS = "the both, that singular, these plural, my both"


def _word(category: str, forms: str, **features: str) -> lexicon.Word:
    table = lexicon.TABLES[category]
    named = dict(zip(table.forms, forms.split(), strict=True))
    given = {name: frozenset() if v == "-" else frozenset(v.split(",")) for name, v in
             features.items()}  # fmt: skip
    return lexicon.Word(
        category, named[table.forms[0]], named, dict.fromkeys(table.features, frozenset()) | given
    )


def _number(value: str) -> str:
    return "singular,plural" if value == "both" else value


def _made() -> list[lexicon.Word]:
    words = []
    for line in _NOUNS.strip().splitlines():
        one, more, gender, kinds, relational = line.split()
        words.append(_word("noun", f"{one} {more}", gender=gender, kinds=kinds,
                           relational=relational))  # fmt: skip
    for pair in _NAMES.split(", "):
        name, gender = pair.split()
        words.append(_word("name", name, gender=gender))
    for line in _VERBS.strip().splitlines():
        *forms, objects, frames = line.split()
        words.append(_word("verb", " ".join(forms), objects=objects, frames=frames))
    words.append(_word("adjective", "happy", describes="person"))
    words.append(_word("adjective", "wet", describes="thing"))
    for line in _FUNCTIONS.strip().splitlines():
        word, roles = line.split()
        words.append(_word("function", word, roles=roles))
    for category, listed in (("auxiliary", _AUXILIARIES), ("determiner", _DETERMINERS)):
        for pair in listed.split(", "):
            word, number = pair.split()
            words.append(_word(category, word, number=_number(number)))
    return words


WORDS = lexicon.Lexicon(_made())
_KNOWN = frozenset(f for w in WORDS.words for f in w.folded)
VOCABULARY = lexicon.Vocabulary(9_999, {"a": _KNOWN, "b": _KNOWN - {"witch"}})

SOUND = [
    ("principle-a-locality", "reflexive-gender",
     "The girl said that the boy liked himself.", "The girl said that the boy liked herself."),
    ("principle-a-command", "reflexive-gender",
     "The man knew that John's mother helped herself.",
     "The man knew that John's mother helped himself."),
    ("principle-a-command", "reflexive-gender",
     "The woman said that the man who met the girl liked himself.",
     "The woman said that the man who met the girl liked herself."),
    ("principle-a-participle", "participle-form",
     "The boy saw himself helping the dog.", "The boy saw himself helped the dog."),
    ("island-wh", "clause-type",
     "What did that girl say that John liked?", "What did that girl say whether John liked?"),
    ("island-wh-pronoun", "wh-pronoun",
     "What did the girl say he liked?", "What did the girl say who liked?"),
    ("wanna", "wh-word", "When does Mary wanna sleep?", "Who does Mary wanna sleep?"),
    ("wanna", "wh-word", "How did the happy man wanna help the dog?",
     "What did the happy man wanna help the dog?"),
    ("island-adjunct", "gap-position", "Who should the man help before seeing the girl?",
     "Who should the man help the girl before seeing?"),
    ("island-adjunct", "gap-position", "What will the man see after hitting the letter?",
     "What will the man see the letter after hitting?"),
    ("island-complex-np", "gap-position", "What did the man who helped the girl like?",
     "What did the man who helped like the girl?"),
    ("question-formation-or", "moved-auxiliary", "Will the man who the boy did see leave?",
     "Did the man who the boy see will leave?"),
    ("question-formation-rr", "moved-auxiliary", "Will my doctor the boy can meet read the book?",
     "Can my doctor the boy meet will read the book?"),
    ("question-formation-sr", "moved-auxiliary", "Does the man who will help the boy sleep?",
     "Will the man who help the boy does sleep?"),
]  # fmt: skip
"""(phenomenon, contrast, good, bad): one pair of each kind, none with a fault."""


def table(*rows: tuple[str, str, str, str]) -> pl.DataFrame:
    """Return rows as ``ITEMS``; ids are x-0001, x-0002 ..., each a set."""
    return items.with_regions(
        pl.DataFrame(
            [
                {
                    "item_id": f"x-{i:04}", "category": "c", "phenomenon": phenomenon,
                    "template": f"{phenomenon}-t", "lexical_set": f"x{i}", "contrast": contrast,
                    "good": good, "bad": bad,
                }
                for i, (phenomenon, contrast, good, bad) in enumerate(rows, start=1)
            ],
            schema=PAIRS,
        )
    )  # fmt: skip
