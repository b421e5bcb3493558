"""The formula of a Bayesian model: check its variables before any data exist.

Operators are those of Wilkinson and Rogers (1973), as formulae and bambi write them. On the left is
``p(correct, n)``. On the right:

- ``size_z``: million words of training text (counted), z-scored over pairs; constant if all models
  are of one size
- ``S(category)``, ``S(phenomenon)``, ``S(condition)``, ``S(bias)``, ``S(model)``, ``S(recipe)``,
  ``S(size)``: factors. Runs with a bias enter only if the formula names ``bias``
- ``S(filter)``: yes: evidence removed and none put back (``conditions[].filtered`` overrules)
- ``S(source)``: the condition's corpus
- ``(1|seed)``, ``(1|phenomenon)``: groups, intercepts that vary
- ``(1|run)``: one trained model
- ``(1|cell)``: one run on one phenomenon (by template: ``(1|run:template)``)
- ``(0 + category:condition|cell)``: the same, with an SD for each category and condition
- ``(0 + category|run)``: what a run shares over a category, such as one guess for all questions
- ``(1|point)``: one point of the grid on one phenomenon: what its seeds share
- ``(1|template)``: counts are then by template; a contrast may be taken ``by: [template]``

``S(x)`` is sum coding: with two levels (the first is +1, the second -1) a coefficient is *half*
their difference; with more, it is a level's distance from their mean. Levels are in alphabetical
order, except ``filter`` (yes is +1), ``size`` and seeds. The last level, marked with a dagger, is
minus the sum of the others. Terms that the data cannot estimate are left out and named.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from poshgrid.core.errors import did_you_mean

RESPONSE = "p(correct, n)"
FUNCTIONS = frozenset(
    ("p", "S", "C", "T", "I", "poly", "scale", "center", "standardize", "np.log", "np.exp")
)
"""Functions allowed in a formula: any other name could call arbitrary Python functions."""
VARIABLES = frozenset({
    "size_z", "filter", "source", "category", "condition", "model", "recipe", "bias", "size",
    "seed", "phenomenon", "run", "cell", "point", "template", "correct", "n",
})  # fmt: skip
"""Variables allowed in a formula: the columns of the frame that a model is fitted to."""
SUITE = "posh"
"""The suite that a model is fitted to if it names none and several exist."""
_POWER = re.compile(r"\*\*\s*(\d+)")
_TEXT = re.compile(r"""("[^"]*"|'[^']*')""")
_TOO_LONG = 2_000  # characters


def suite_of(named: str | None, suites: Sequence[str]) -> str:
    """Return the suite that a model is fitted to: its own, the only one, or posh.

    Args:
        named: the suite that the model names, or None.
        suites: all suites of minimal pairs.
    """
    return named or (suites[0] if len(suites) == 1 else SUITE)


def check(formula: str) -> None:
    """Raise if a formula cannot be read or uses unknown names.

    Raises:
        ValueError: it cannot be read, does not begin with the counts, or uses an unknown name.
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
    """Return a term's variables, without order, and its group: a:b is the same as b:a."""
    effect, _, group = term.replace(" ", "").replace("'", '"').rpartition("|")
    return frozenset((effect or group).split(":")), group if effect else ""


def _parsed(right: str) -> ast.expr:
    """Return the syntax tree of a right-hand side, parsed as a Python expression.

    Python's ``**`` replaces the colon, because it binds as tightly; a power, ``(a + b)**2``,
    becomes
    a subscript: ``(a + b)[2]``.

    Raises:
        ValueError: it is not a formula.
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
    """Yield the variables below a node, without functions and keywords of calls."""
    if isinstance(node, ast.Name):
        yield node.id
    for inner in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.Call) and inner is node.func):
            yield from _names(inner)
