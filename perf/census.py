"""Count what there is to read: code by room, large and small modules, arrows, repeats.

    python perf/census.py

Code lines are those that hold code: no blank line, comment or docstring. An arrow goes from the
room that imports to the room that is imported; ``FLOORS`` says which way is down, and
``tests/unit/test_floors.py`` that nothing else goes up. A repeat is a pair of places with the same
six lines of code or more.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import typer

ROOT = Path(__file__).resolve().parents[1] / "src" / "poshgrid"
FLOORS = (
    ("core",),
    ("config",),
    ("corpora", "parsing"),
    ("evidence",),
    ("models",),
    ("benchmark", "evaluation"),
    ("grid",),
    ("statistics", "quality", "report"),
    ("planning",),
    ("stages", "commands", "cli", "__main__"),
)
"""Rooms from the ground up; on one floor, too, a room imports only those that stand before it."""
REPEATED = 6
"""Lines of code that make a repeat."""
LAYOUT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip


def code_lines(text: str) -> list[int]:
    """Return the numbers of the lines of a module that hold code."""
    documented: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            for part in body:
                if isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant):
                    documented.update(range(part.lineno, (part.end_lineno or part.lineno) + 1))
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT:
            held.update(range(token.start[0], token.end[0] + 1))
    return sorted(held - documented)


def room(module: str) -> str:
    """Return the room of a dotted name: the package below poshgrid, or a module at the root."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else parts[0]


def modules() -> dict[str, Path]:
    """Return dotted name -> file of every module of the package."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(path: Path, known: dict[str, Path]) -> Iterator[tuple[str, bool]]:
    """Yield the modules that a module imports, and whether for its types alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typed = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [
                inner if (inner := f"{node.module}.{alias.name}") in known else node.module
                for alias in node.names
            ]
        else:
            continue
        for name in names:
            if name in known and name != "poshgrid":
                yield name, id(node) in typed


def arrows(*, typed: bool = False) -> dict[tuple[str, str], list[str]]:
    """Return (room, room it imports) -> the modules that do.

    Args:
        typed: those that only annotations need, too.
    """
    known, found = modules(), defaultdict(list)
    for name, path in known.items():
        for imported, types_alone in imports(path, known):
            pair = room(name), room(imported)
            if pair[0] != pair[1] and name != "poshgrid" and (typed or not types_alone):
                found[pair].append(f"{name} -> {imported}")
    return dict(found)


def upward() -> list[str]:
    """Return the imports that go up, for types alone included; a circle has one, too."""
    order = [place for floor in FLOORS for place in floor]
    return [
        each
        for (one, other), found in sorted(arrows(typed=True).items())
        if order.index(one) < order.index(other)
        for each in found
    ]


def repeats() -> list[tuple[str, str]]:
    """Return pairs of places that repeat six lines of code or more."""
    places: dict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
    for name, path in modules().items():
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        held = [
            (number, line)
            for number in code_lines(text)
            if not (line := lines[number - 1].strip()).startswith(("import ", "from "))
        ]
        for start in range(len(held) - REPEATED + 1):
            window = held[start : start + REPEATED]
            places[tuple(line for _, line in window)].append((name, window[0][0]))
    found: dict[tuple[str, str, int], tuple[str, str]] = {}
    for same in places.values():
        for (one, at), (other, there) in combinations(same, 2):
            # A longer repeat is one: its windows are as far apart
            found.setdefault((one, other, there - at), (f"{one}:{at}", f"{other}:{there}"))
    return list(found.values())


def main() -> None:
    """Print the census."""
    lines: dict[str, list[int]] = defaultdict(list)
    for name, path in modules().items():
        place = room(name) if path.parent != ROOT else "(root)"
        lines[place].append(len(code_lines(path.read_text(encoding="utf-8"))))
    typer.echo(f"{'room':14} modules  lines")
    for place, counts in sorted(lines.items(), key=lambda item: -sum(item[1])):
        typer.echo(f"{place:14} {len(counts):7,} {sum(counts):6,}")
    every = [count for counts in lines.values() for count in counts]
    typer.echo(f"{'all':14} {len(every):7,} {sum(every):6,}")
    typer.echo(f"modules under 60 lines: {sum(0 < n < 60 for n in every)}")
    typer.echo(f"modules over 300 lines: {sum(n > 300 for n in every)}")
    typer.echo(f"arrows between rooms: {len(arrows())}")
    typer.echo(f"imports that go up: {len(upward())}")
    typer.echo(f"repeats of {REPEATED} lines or more: {len(repeats())}")


if __name__ == "__main__":
    typer.run(main)
