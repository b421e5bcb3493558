"""Write the Italian example: text to train on, gold trees for a parser, and minimal pairs.

A small grammar of subjects, verbs and relative clauses makes them all. The grammar, its words and
what it writes are our own. ``python resources/examples/italian/make.py`` writes the files beside
this script again, byte by byte.
"""

from __future__ import annotations

import csv
import random
from pathlib import Path
from typing import NamedTuple

SEED, SENTENCES, TREES, PAIRS = 1, 2_400, 160, 24
ARTICLES = {"ms": "il", "mp": "i", "fs": "la", "fp": "le"}
PEOPLE = "bambino/bambini m, gatto/gatti m, cane/cani m, ragazzo/ragazzi m, nonno/nonni m, "
PEOPLE += (
    "bambina/bambine f, nonna/nonne f, maestra/maestre f, gallina/galline f, ragazza/ragazze f"
)
THINGS = "libro/libri m, pane/pani m, fiore/fiori m, mela/mele f, palla/palle f, torta/torte f"
ALONE = "dorme/dormono, corre/corrono, ride/ridono, canta/cantano, salta/saltano, piange/piangono"
WITH_OBJECT = "vede/vedono, cerca/cercano, saluta/salutano, segue/seguono, chiama/chiamano"
ADJECTIVES = ("piccol", "ner", "stanc", "brav", "allegr")
ENDINGS = {"ms": "o", "mp": "i", "fs": "a", "fp": "e"}
ADVERBS = ("oggi", "sempre", "qui", "ancora")


class Word(NamedTuple):
    """A word of a sentence: its head is the place of another, from 0; -1 is the root."""

    form: str
    upos: str
    head: int
    relation: str
    feats: str = "_"


def _forms(written: str) -> list[tuple[str, str]]:
    """Return the singular of each word, and its plural with its gender."""
    return [(one, more) for one, more in (entry.split("/") for entry in written.split(", "))]


class Grammar:
    """Draws sentences."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.words: list[Word] = []

    def noun(self, words: str, head: int, relation: str) -> str:
        """Add an article and a noun; return its agreement: ``ms``, ``fp`` ..."""
        singular, rest = self.rng.choice(_forms(words))
        plural, gender = rest.split()
        number = self.rng.choice("sp")
        agreement = gender + number
        feats = f"Gender={'Masc' if gender == 'm' else 'Fem'}|Number={_number(number)}"
        place = len(self.words) + 1
        self.words.append(Word(ARTICLES[agreement], "DET", place, "det", feats))
        form = singular if number == "s" else plural
        self.words.append(Word(form, "NOUN", head, relation, feats))
        return agreement

    def verb(self, words: str, number: str, head: int, relation: str) -> None:
        """Add a verb."""
        forms = self.rng.choice(words.split(", ")).split("/")
        feats = f"Mood=Ind|Number={_number(number)}|Person=3|Tense=Pres|VerbForm=Fin"
        self.words.append(Word(forms[number == "p"], "VERB", head, relation, feats))

    def sentence(self, kind: str) -> list[Word]:
        """Draw a sentence: ``alone``, ``object``, ``copula``, ``with``, ``subject-relative`` ..."""
        self.words = []
        long = {"alone": 2, "object": 2, "copula": 3, "with": 5}.get(kind, 6)
        agreement = self.noun(PEOPLE, long, "nsubj")
        number = agreement[1]
        if kind == "with":
            self.words.append(Word("con", "ADP", 4, "case"))
            self.noun(PEOPLE, 1, "nmod")
        elif kind == "subject-relative":
            self.words.append(Word("che", "PRON", 3, "nsubj", "PronType=Rel"))
            self.verb(WITH_OBJECT, number, 1, "acl:relcl")
            self.noun(PEOPLE, 3, "obj")
        elif kind == "object-relative":
            self.words.append(Word("che", "PRON", 5, "obj", "PronType=Rel"))
            inner = self.noun(PEOPLE, 5, "nsubj")
            self.verb(WITH_OBJECT, inner[1], 1, "acl:relcl")
        if kind == "copula":
            self.words.append(Word("è" if number == "s" else "sono", "AUX", 3, "cop"))
            adjective = self.rng.choice(ADJECTIVES) + ENDINGS[agreement]
            adjective = adjective.replace("ci", "chi").replace("ce", "che")
            self.words.append(Word(adjective, "ADJ", -1, "root"))
        else:
            self.verb(WITH_OBJECT if kind == "object" else ALONE, number, -1, "root")
        root = len(self.words) - 1
        if kind == "object":
            self.noun(THINGS, root, "obj")
        if self.rng.random() < 0.3:
            self.words.append(Word(self.rng.choice(ADVERBS), "ADV", root, "advmod"))
        self.words.append(Word(".", "PUNCT", root, "punct"))
        first = self.words[0]
        self.words[0] = first._replace(form=first.form.capitalize())
        return self.words


def _number(number: str) -> str:
    return "Sing" if number == "s" else "Plur"


KINDS = {
    "alone": 3, "object": 3, "copula": 2, "with": 2, "subject-relative": 1, "object-relative": 1,
}  # fmt: skip


def text(words: list[Word]) -> str:
    """Return a sentence as it is written."""
    return " ".join(word.form for word in words[:-1]) + words[-1].form


def pair(grammar: Grammar) -> tuple[str, str, str]:
    """Return a good sentence, a bad one whose last verb disagrees, and the nouns' numbers."""
    while True:
        words = list(grammar.sentence(grammar.rng.choice(["subject-relative", "object-relative"])))
        numbers = [word.feats[-4:] for word in words if word.upos == "NOUN"]
        if len(set(numbers)) == 2 and words[-2].upos == "VERB":  # the nearer noun misleads
            break
    verb = words[-2]
    forms = next(f for f in (v.split("/") for v in ALONE.split(", ")) if verb.form in f)
    other = forms[forms.index(verb.form) == 0]
    return text(words), text([*words[:-2], verb._replace(form=other), words[-1]]), numbers[0]


def main() -> None:
    """Write ``text.txt``, ``trees.conllu`` and ``pairs.csv``."""
    folder, grammar = Path(__file__).parent, Grammar(SEED)

    def draw() -> list[Word]:
        return list(grammar.sentence(grammar.rng.choices(list(KINDS), list(KINDS.values()))[0]))

    lines = [text(draw()) for _ in range(SENTENCES)]
    (folder / "text.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    blocks = [
        "".join(
            f"{place}\t{w.form}\t{w.form.lower()}\t{w.upos}\t_\t{w.feats}\t{w.head + 1}\t"
            f"{w.relation}\t_\t_\n"
            for place, w in enumerate(draw(), start=1)
        )
        for _ in range(TREES)
    ]
    (folder / "trees.conllu").write_text("\n".join(blocks) + "\n", encoding="utf-8")
    with (folder / "pairs.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(
            ["item_id", "category", "phenomenon", "good", "bad", "lexical_set", "contrast"]
        )
        for number in range(1, PAIRS + 1):
            good, bad, of = pair(grammar)
            phenomenon = "agreement-across-relative-clause"
            writer.writerow(
                [f"it-{number}", "agreement", phenomenon, good, bad, f"set-{number}", of]
            )


if __name__ == "__main__":
    main()
