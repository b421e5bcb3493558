"""The formula of a Bayesian model: its variables and terms, read before any data are there.

formulae does the same with the data at hand; it takes half a second to import, and a dry-run has
no data. Operators are those of Wilkinson and Rogers (1973), as formulae writes them.
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
    "size_z", "filter", "source", "category", "condition", "learner", "regimen", "bias", "size",
    "seed", "phenomenon", "run", "cell", "point", "template", "correct", "n",
})  # fmt: skip
"""What a formula may name: the columns of the frame that a model is fitted to."""
BY_SET = re.compile(r"\+?\s*\(\s*1\s*\|\s*set\s*\)")
"""What of a formula asks for counts by lexical set."""
SET_TERM = "1|set"
"""The term of lexical sets, whose effects are integrated out of the likelihood."""
SUITE = "posh"
"""The suite that a model is fitted to if it names none and there are several."""
_POWER = re.compile(r"\*\*\s*(\d+)")
_TEXT = re.compile(r"""("[^"]*"|'[^']*')""")
_TOO_LONG = 2_000  # characters
_TOO_MANY = 1_000  # terms that a power may stand for


def suite_of(named: str | None, suites: Sequence[str]) -> str:
    """Return the suite that a model is fitted to: the one it names, the only one, or posh.

    Args:
        named: by the model, if any.
        suites: of minimal pairs that there are.
    """
    return named or (suites[0] if len(suites) == 1 else SUITE)


def without_sets(formula: str) -> tuple[str, bool]:
    """Return a formula without ``(1|set)``, and whether it had it."""
    bare = BY_SET.sub("", formula)
    bare = re.sub(r"~\s*\+", "~ ", bare)
    return re.sub(r"~\s*$", "~ 1", bare), bare != formula


def check(formula: str) -> None:
    """Hold a formula to the variables and functions that there are.

    Raises:
        ValueError: it cannot be read, does not begin with the counts, or names what is unknown.
    """
    left, tilde, right = without_sets(formula)[0].partition("~")
    if not tilde or "".join(left.split()) != "".join(RESPONSE.split()):
        raise ValueError(f"{formula!r} must begin with '{RESPONSE} ~' (counts are fitted)")
    for name in re.findall(r"([\w.]+)\s*\(", formula):
        if name not in FUNCTIONS:
            raise ValueError(f"unknown function {name!r}{did_you_mean(name, FUNCTIONS)}")
    for name in sorted(_names(_parsed(right))):
        if name not in VARIABLES:
            raise ValueError(f"unknown variable {name!r}{did_you_mean(name, VARIABLES)}")


def terms(formula: str) -> list[str] | None:
    """Return a formula's terms as summaries have them, e.g. ``size_z:S(filter)``, ``1|seed``.

    Returns:
        The terms, and the intercept, barred or not; none: it has braces, or a power of more than
        a number, which formulae alone expands.

    Raises:
        ValueError: the formula cannot be read.
    """
    bare, by_set = without_sets(formula)
    right = bare.partition("~")[2]
    if "{" in right or "**" in _POWER.sub("", right):
        return None
    found = _expanded(_parsed(right))
    if found is None:
        return None
    names = (":".join(term) for term in found if term not in ((), _NONE))
    return ["Intercept", *dict.fromkeys(names), *([SET_TERM] if by_set else [])]


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


Term = tuple[str, ...]
"""Factors of an interaction, in the order in which they come; none: the intercept."""
_NONE: Term = ("0",)  # what says that there is no intercept


def _expanded(node: ast.expr) -> list[Term] | None:
    """Return the terms of an expression; none: it has what is not known here."""
    if isinstance(node, ast.BinOp):
        left, right = _expanded(node.left), _expanded(node.right)
        return None if left is None or right is None else _joined(node.op, left, right)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        base = _expanded(node.value)
        return None if base is None else _raised(base, node.slice.value)
    found = None
    if isinstance(node, ast.Constant) and node.value in (0, 1):
        found = () if node.value else _NONE
    elif isinstance(node, ast.Name | ast.Call):
        found = (ast.unparse(node),)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        found = _NONE
    return None if found is None else [found]


def _raised(base: list[Term], power: object) -> list[Term] | None:
    """Return the terms of a power: all interactions of so many at most; none: too many of them."""
    if (
        not isinstance(power, int)
        or power < 1
        or any("|" in part for term in base for part in term)
    ):
        return None
    found = {frozenset(term): term for term in base}
    for _ in range(min(power, len(base)) - 1):
        for left in list(found.values()):
            for right in base:
                both = tuple(dict.fromkeys((*left, *right)))
                found.setdefault(frozenset(both), both)
        if len(found) > _TOO_MANY:
            return None
    return list(found.values())


def _joined(operator: ast.operator, left: list[Term], right: list[Term]) -> list[Term] | None:
    """Return the terms of two expressions' terms and the operator between them."""
    both = [tuple(dict.fromkeys((*a, *b))) for a in left for b in right]
    found = None
    match operator:
        case ast.Add():
            found = [*left, *right]
        case ast.Sub():
            gone = [set(term) for term in right]
            found = [term for term in left if set(term) not in gone]
        case ast.Pow():  # that is, a colon
            found = both
        case ast.Mult():
            found = [*left, *right, *both]
        case ast.Div():
            whole = tuple(dict.fromkeys(part for term in left for part in term))
            found = [*left, *(tuple(dict.fromkeys((*whole, *b))) for b in right)]
        case ast.BitOr():
            found = _grouped(left, right)
    return found


def _grouped(effects: list[Term], groups: list[Term]) -> list[Term]:
    """Return the terms of ``(effects|groups)``: an intercept for each group unless it is barred."""
    inner = [":".join(term) for term in effects if term not in ((), _NONE)]
    intercept = [] if _NONE in effects else ["1"]
    return [(f"{effect}|{':'.join(group)}",) for group in groups for effect in intercept + inner]
