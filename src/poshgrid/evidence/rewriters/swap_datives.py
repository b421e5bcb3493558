"""A language in which each dative is of the other kind.

*Give me the ball* becomes *give the ball to me*, and *give the ball to me* *give me the ball*
(double object and prepositional datives; Bresnan et al. 2007).
"""

from __future__ import annotations

from poshgrid.evidence.closed_classes import listed
from poshgrid.evidence.rewriters._verbs import lemma
from poshgrid.evidence.rewriting import UnsafeError, Word, span, words_of
from poshgrid.parsing.tree import Tree

ENGLISH = True
_TO = listed(
    "bring feed give hand lend mail offer owe pass pay promise read sell send serve show teach "
    "tell throw toss write"
)
_FOR = listed("bake build buy cook draw find fix get knit make paint pour save sew")
_PERSONS = listed(
    "me you him her us them ya everybody everyone somebody someone anybody anyone nobody who whom "
    "baby babies boy boys brother child children dad daddy doctor dog doggie doggy dolly friend "
    "friends girl girls grandma grandpa granny guy guys kid kids kitty lady man mom momma mommy "
    "mother mummy nana papa people teacher woman women"
)


def rewrite(tree: Tree) -> list[Word] | None:
    """Exchange the two objects of each verb that has both kinds of dative.

    A recipient is an indirect object, or a person behind *to* or *for*: not *throw it to the
    floor*. Unsafe are objects that do not stand side by side behind their verb (*what did you give
    me?*, *give it back to me*).
    """
    datives = [dative for verb in range(1, len(tree) + 1) if (dative := _dative(tree, verb))]
    if len(datives) > 1:
        raise UnsafeError("two datives")
    return _swapped(tree, *datives[0]) if datives else None


def _dative(tree: Tree, verb: int) -> tuple[int, int, int, str] | None:
    """Return a verb, its two objects in their order, and the preposition that a swap adds.

    The preposition is "" where a swap takes one away; ``None``: the verb has no dative.
    """
    small = lemma(tree.lower(verb))
    if small not in _TO | _FOR or tree.upos[verb - 1] != "VERB":
        return None
    objects = {tree.deprel[child - 1]: child for child in tree.children(verb)}
    theme = objects.get("obj")
    if theme is None or tree.upos[theme - 1] in ("ADV", "SCONJ", "VERB"):
        return None  # "show me how"
    preposition = "for" if small in _FOR else "to"
    if "iobj" in objects:
        return verb, objects["iobj"], theme, preposition
    recipient = _recipient(tree, verb, preposition)
    return (verb, theme, recipient, "") if recipient else None


def _recipient(tree: Tree, verb: int, preposition: str) -> int | None:
    """Return the person in a verb's phrase with a preposition."""
    for child in tree.children(verb):
        first = tree.subtree(child)[0]
        if (
            tree.relation(child) == "obl"
            and tree.lower(first) == preposition
            and tree.head[first - 1] == child
            and (tree.lower(child) in _PERSONS or tree.upos[child - 1] == "PROPN")
        ):
            return child
    return None


def _swapped(tree: Tree, verb: int, one: int, other: int, preposition: str) -> list[Word]:
    """Return the words with two objects in the other order.

    Raises:
        UnsafeError: the objects do not follow each other and their verb.
    """
    first, second = span(tree, one), span(tree, other)
    if first[0] < verb or second[0] < verb:
        raise UnsafeError("an object that stands before its verb")
    if first[0] != verb + 1 or second[0] != first[-1] + 1:
        raise UnsafeError("words between the objects")
    if any(tree.upos[n - 1] == "PUNCT" for n in (*first, *second)):
        raise UnsafeError("a mark within an object")
    recipient, relation = (one, "obl") if preposition else (other, "iobj")
    added = [Word(preposition, head=recipient, upos="ADP", deprel="case")] if preposition else []
    words = [
        *words_of(tree, range(1, first[0])),
        *words_of(tree, second if preposition else second[1:]),
        *added,
        *words_of(tree, range(first[0], first[-1] + 1)),
        *words_of(tree, range(second[-1] + 1, len(tree) + 1)),
    ]
    return [w._replace(deprel=relation) if w.number == recipient else w for w in words]
