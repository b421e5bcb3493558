"""A language in which each dative is of the other kind.

*Give me the ball* becomes *give the ball to me*, and *give the ball to me* *give me the ball*
(double object and prepositional datives; Bresnan et al. 2007).
"""

from __future__ import annotations

from poshgrid.evidence.rewriters._verbs import lemma
from poshgrid.evidence.rewriting import UnsafeError, Word, span, words_of
from poshgrid.parsing.tree import Tree

ENGLISH = True
_TO = frozenset(
    {"bring", "feed", "give", "hand", "lend", "mail", "offer", "owe", "pass", "pay", "promise"}
    | {"read", "sell", "send", "serve", "show", "teach", "tell", "throw", "toss", "write"}
)
_FOR = frozenset(
    {"bake", "build", "buy", "cook", "draw", "find", "fix", "get", "knit", "make", "paint", "pour"}
    | {"save", "sew"}
)
_PERSONS = frozenset(
    """me you him her us them ya everybody everyone somebody someone anybody anyone nobody who whom
    baby babies boy boys brother child children dad daddy doctor dog doggie doggy dolly friend
    friends girl girls grandma grandpa granny guy guys kid kids kitty lady man mom momma mommy
    mother mummy nana papa people teacher woman women""".split()  # noqa: SIM905
)


def rewrite(tree: Tree) -> list[Word] | None:
    """Exchange the two objects of each verb that has both kinds of dative.

    A recipient is an indirect object, or a person behind *to* or *for*: not *throw it to the
    floor*. Unsafe are objects that do not stand side by side behind their verb (*what did you give
    me?*, *give it back to me*).
    """
    words: list[Word] | None = None
    for verb in range(1, len(tree) + 1):
        small = lemma(tree.lower(verb))
        if small not in _TO | _FOR or tree.upos[verb - 1] != "VERB":
            continue
        objects = {tree.deprel[child - 1]: child for child in tree.children(verb)}
        if "iobj" in objects:
            swapped = _prepositional(tree, verb, objects["iobj"], objects.get("obj"), small)
        elif "obj" in objects and (recipient := _recipient(tree, verb, small)):
            swapped = _double(tree, verb, objects["obj"], recipient)
        else:
            continue
        if words is not None:
            raise UnsafeError("two datives")
        words = swapped
    return words


def _prepositional(
    tree: Tree, verb: int, recipient: int, theme: int | None, small: str
) -> list[Word] | None:
    if theme is None or tree.upos[theme - 1] in ("ADV", "SCONJ", "VERB"):
        return None  # "show me how"
    first, second = span(tree, recipient), span(tree, theme)
    _side_by_side(tree, verb, first, second)
    preposition = "for" if small in _FOR else "to"
    phrase = words_of(tree, first)
    phrase[recipient - first[0]] = phrase[recipient - first[0]]._replace(deprel="obl")
    return [
        *words_of(tree, range(1, first[0])),
        *words_of(tree, second),
        Word(preposition, head=recipient, upos="ADP", deprel="case"),
        *phrase,
        *words_of(tree, range(second[-1] + 1, len(tree) + 1)),
    ]


def _double(tree: Tree, verb: int, theme: int, recipient: int) -> list[Word]:
    first, second = span(tree, theme), span(tree, recipient)
    _side_by_side(tree, verb, first, second)
    phrase = words_of(tree, second[1:])
    number = recipient - second[1]
    phrase[number] = phrase[number]._replace(deprel="iobj")
    return [
        *words_of(tree, range(1, first[0])),
        *phrase,
        *words_of(tree, first),
        *words_of(tree, range(second[-1] + 1, len(tree) + 1)),
    ]


def _recipient(tree: Tree, verb: int, small: str) -> int | None:
    """Return the person in a verb's phrase with *to* or *for*."""
    preposition = "for" if small in _FOR else "to"
    for child in tree.children(verb):
        place = tree.subtree(child)[0]
        if (
            tree.relation(child) == "obl"
            and tree.lower(place) == preposition
            and tree.head[place - 1] == child
            and (tree.lower(child) in _PERSONS or tree.upos[child - 1] == "PROPN")
        ):
            return child
    return None


def _side_by_side(tree: Tree, verb: int, first: range, second: range) -> None:
    """Raise if two phrases do not follow each other and their verb."""
    if first[0] < verb or second[0] < verb:
        raise UnsafeError("an object that stands before its verb")
    if first[0] != verb + 1 or second[0] != first[-1] + 1:
        raise UnsafeError("words between the objects")
    if any(tree.upos[n - 1] == "PUNCT" for n in (*first, *second)):
        raise UnsafeError("a mark within an object")
