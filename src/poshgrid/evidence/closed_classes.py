"""English words of closed classes, in lower case and as parsers receive them: do n't, wan na."""

from __future__ import annotations

from collections.abc import Sequence


def listed(words: str) -> frozenset[str]:
    """Return the words of a text that are separated by spaces."""
    return frozenset(words.split())


WH_WORDS = listed(
    "what which who whom whose where when why how whether whence whereby wherein whither whatever "
    "whichever whoever whomever wherever whenever however whosoever"
)
AUXILIARIES = listed(
    "am is are was were 's 're 'm ai do does did have has had 've 'd can could may might must "
    "shall should will would ca wo sha 'll"
)
"""Auxiliaries that can be fronted in a question."""
CLITICS = listed("s re m ve d ll")
"""Auxiliaries without their apostrophe, as in transcripts and careless writing."""
AUXILIARY_FORMS = (
    AUXILIARIES
    | CLITICS
    | listed(
        "be been being having du r "
        # tagged as auxiliaries in transcripts: gon na, haf ta, got ta, need n't, d' ya, gets hit
        "gon haf got get gets getting need da cha iss"
    )
)
"""All words that gold trees of speech tag as auxiliaries, finite or not."""
ARTICLES = listed("a an the")
DETERMINERS = ARTICLES | listed(
    "this that these those dis dat some any every each another no my your his her its our their"
)
SUBJECT_PRONOUNS = listed("i you he she it we they ya y' dey u")
KIN = listed("mommy daddy mama papa mom dad mum mummy grandma grandpa baby")
OTHER_SUBJECTS = KIN | listed(
    "this that these those there one people somebody someone everybody everyone nobody anybody "
    "anyone everything something mamma dat dis"
)
CONJUNCTIONS = listed("and or but")
NEGATIONS = listed("n't not nt")
INTERJECTIONS = listed(
    "well oh so now okay ok then hey ah um uh hm huh yeah yes no please mhm uhhuh"
)
PREPOSITIONS = listed(
    "of in on at by for with from into onto about over under between against during without near "
    "behind beside before after off around along across like than as up down out"
)
SUBORDINATORS = listed(
    "if since because 'cause cause cos while whilst whereas though although before after until "
    "till unless once as whether"
)
"""Subordinators of adverbial clauses, without wh-words (*when*)."""
QUOTES = frozenset({'"', "'", "''", "”", "’", ")"})


def spoken(word: str) -> bool:
    """Return whether a word is more than punctuation."""
    return any(map(str.isalnum, word))


def ends_in_question_mark(words: Sequence[str]) -> bool:
    """Return whether the last word, ignoring quotation marks, is a question mark."""
    return "?" in next((word for word in reversed(words) if word not in QUOTES), "")
