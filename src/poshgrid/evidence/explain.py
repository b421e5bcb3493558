"""Why a sentence is kept or removed: its tree, the rules that match, and the matched words."""

from __future__ import annotations

from collections.abc import Iterable

from poshgrid.evidence.label import rules_of
from poshgrid.evidence.rewriting import rewrite
from poshgrid.parsing.tree import Tree


def explain(tree: Tree, filters: Iterable[str]) -> list[str]:
    """Return the tree, one word per line, and each filter's decision.

    Args:
        tree: a parse.
        filters: config words.
    """
    lines = [*drawn(tree), ""]
    for word in filters:
        lines += [word, *(f"  {line}" for line in _decision(tree, word))]
    return lines


def rewritten(tree: Tree, text: str, rewriters: Iterable[str]) -> list[str]:
    """Return what each rewriter, by itself, makes of a sentence, or why it leaves it."""
    lines = []
    for name in rewriters:
        done = rewrite(tree, text, [name])
        lines.append(name)
        lines += [f"  unsafe: {reason.removeprefix(f'{name}: ')}" for reason in done.unsafe]
        lines += [f"  before: {text}", f"  after:  {done.text}"] if done.changed else []
        lines += [] if done.unsafe or done.changed else ["  nothing to change"]
    return lines


def drawn(tree: Tree) -> list[str]:
    """Return a tree as columns: position, word, part of speech, relation, governor, features."""
    rows = [
        (
            str(number),
            tree.form[number - 1],
            tree.upos[number - 1],
            tree.deprel[number - 1],
            f"{head} {tree.form[head - 1]}" if head else "-",
            tree.feats[number - 1],
        )
        for number, head in enumerate(tree.head, start=1)
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def _decision(tree: Tree, word: str) -> list[str]:
    rules = rules_of(word)
    lines = []
    for reading, rule in rules.readings.items():
        match = rule(tree)
        looks = rules.backstops[reading](tree.form) if reading in rules.backstops else None
        if match is not None:
            roles = sorted(match.roles.items(), key=lambda item: item[1])
            named = ", ".join(
                f"{role} {tree.form[number - 1]} ({number})" for role, number in roles
            )
            lines.append(f"{reading}: removed: {match.rule}: {named}")
        elif looks is not None:
            named = ", ".join(f"{tree.form[number - 1]} ({number})" for number in looks)
            lines.append(f"{reading}: removed by the backstop, because of its words: {named}")
        else:
            lines.append(f"{reading}: kept: no rule matches")
    return lines
