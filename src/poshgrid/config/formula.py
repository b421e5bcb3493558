"""The formula of a Bayesian model: its variables, read before any data are there.

formulae reads its terms; it takes half a second to import, which a dry-run has no time for.
Operators are those of Wilkinson and Rogers (1973), as formulae writes them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from poshgrid.errors import did_you_mean

RESPONSE = "p(correct, n)"
FUNCTIONS = frozenset(
    ("p", "S", "C", "T", "I", "poly", "scale", "center", "standardize", "np.log", "np.exp")
)
"""Functions of a formula: any other name would be looked up among ours and Python's, and called."""
VARIABLES = frozenset({
    "size_z", "filter", "source", "category", "condition", "model", "recipe", "bias", "size",
    "seed", "phenomenon", "run", "cell", "point", "template", "correct", "n",
})  # fmt: skip
"""What a formula may name: the columns of the frame that a model is fitted to."""
SUITE = "posh"
"""The suite that a model is fitted to if it names none and there are several."""
_POWER = re.compile(r"\*\*\s*(\d+)")
_TEXT = re.compile(r"""("[^"]*"|'[^']*')""")
_TOO_LONG = 2_000  # characters


def suite_of(named: str | None, suites: Sequence[str]) -> str:
    """Return the suite that a model is fitted to: the one it names, the only one, or posh.

    Args:
        named: by the model, if any.
        suites: of minimal pairs that there are.
    """
    return named or (suites[0] if len(suites) == 1 else SUITE)


def check(formula: str) -> None:
    """Raise if a formula cannot be read or names what is unknown.

    Raises:
        ValueError: it cannot be read, does not begin with the counts, or names what is unknown.
    """
    left, tilde, right = formula.partition("~")
    if not tilde or "".join(left.split()) != "".join(RESPONSE.split()):
        raise ValueError(f"{formula!r} must begin with '{RESPONSE} ~' (counts are fitted)")
    for name in re.findall(r"([\w.]+)\s*\(", formula):
        if name not in FUNCTIONS:
            raise ValueError(f"unknown function {name!r}{did_you_mean(name, FUNCTIONS)}")
    for name in sorted(_names(_parsed(right))):
        if name not in VARIABLES:
            raise ValueError(f"unknown variable {name!r}{did_you_mean(name, VARIABLES)}")


def parts(term: str) -> tuple[frozenset[str], str]:
    """Return a term's variables, in whatever order, and its group: a:b is b:a."""
    effect, _, group = term.replace(" ", "").replace("'", '"').rpartition("|")
    return frozenset((effect or group).split(":")), group if effect else ""


def _parsed(right: str) -> ast.expr:
    """Return the tree of a right-hand side, with Python's operators that bind as tightly.

    A colon is its power, and a power, ``(a + b)**2``, its subscript: ``(a + b)[2]``.

    Raises:
        ValueError: it is no formula.
    """
    pieces = _TEXT.split(right)
    pieces[::2] = [_POWER.sub(r"[\1]", piece).replace(":", "**") for piece in pieces[::2]]
    try:
        if len(right) > _TOO_LONG:
            raise ValueError(f"more than {_TOO_LONG:,} characters")
        return ast.parse("(" + "".join(pieces).strip() + ")", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise ValueError(f"cannot be read ({reason}); see docs/configuration.md") from error


def _names(node: ast.AST) -> Iterator[str]:
    """Yield the variables below a node: no functions, no keywords of calls."""
    if isinstance(node, ast.Name):
        yield node.id
    for inner in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.Call) and inner is node.func):
            yield from _names(inner)
