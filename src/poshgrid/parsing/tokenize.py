"""Split a sentence into words as Universal Dependencies does: do n't, let 's, wan na.

All parsers receive these words, so that their trees can be compared word by word. The rules are
spaCy's, which need no download, and for English a few from gold trees of child-directed speech.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from poshgrid.corpora.clean import UNKNOWN

if TYPE_CHECKING:
    from spacy.tokenizer import Tokenizer

# Written words that Universal Dependencies analyses as several words.
_FUSED = (
    "wan|na", "haf|ta", "has|ta", "had|ta", "need|ta", "spos|ta", "suppos|ta",
    "use|ta", "ought|a", "got|ta", "gon|na", "out|ta", "kind|a", "sort|a", "lott|a", "lots|a",
    "lem|me", "gim|me", "du|n|no", "why|n't", "what|cha", "can|not", "ai|nt", "do|nt",
    "did|nt", "does|nt", "wo|nt", "is|nt", "would|nt", "could|nt", "should|nt", "have|nt",
    "has|nt", "was|nt",
)  # fmt: skip
_CLITIC = r"(?<=[A-Za-z])['’](?:ll|re|ve|LL|RE|VE)"
_LONE_LETTER = re.compile(r"[A-Za-z]\.")


def tokenize(text: str, language: str) -> list[str]:
    """Return the words of a sentence; [] if it is only white space.

    Args:
        text: a sentence as in the corpus.
        language: ISO 639-1 code; selects the rules.
    """
    return [token.text for token in _tokenizer(language)(text) if not token.is_space]


@functools.cache
def _tokenizer(language: str) -> Tokenizer:
    import spacy

    blank = spacy.blank(language)
    tokenizer: Tokenizer = blank.tokenizer
    tokenizer.add_special_case(UNKNOWN, [{"ORTH": UNKNOWN}])
    if language == "en":
        _as_in_speech(tokenizer, blank.Defaults.suffixes or [])
    return tokenizer


def _as_in_speech(tokenizer: Tokenizer, suffixes: Sequence[Any]) -> None:
    """Add the rules of English child-directed speech to the existing ``suffixes``."""
    from spacy.util import compile_suffix_regex

    # "a." is split into a letter and a full stop: in speech, initials ("J.") are rare, but letters
    # at the end of a sentence (spelling games) are not.
    tokenizer.rules = {
        written: parts
        for written, parts in tokenizer.rules.items()
        if not _LONE_LETTER.fullmatch(written)
    }
    for entry in _FUSED:
        for spelt in (entry, entry.capitalize(), entry.upper()):
            parts = spelt.split("|")
            tokenizer.add_special_case("".join(parts), [{"ORTH": part} for part in parts])
    tokenizer.add_special_case("I.", [{"ORTH": "I"}, {"ORTH": "."}])  # the pronoun, not an initial
    tokenizer.suffix_search = compile_suffix_regex([*suffixes, _CLITIC]).search
