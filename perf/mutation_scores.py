"""How many planted mistakes unit tests notice, where a silent one would falsify results.

    pip install cosmic-ray==8.7.0 coverage==7.17.3        # not among poshgrid's own dependencies
    python perf/mutation_scores.py                        # all rooms of ROOMS: about an hour
    python perf/mutation_scores.py judgement --mutants 40 --seed 7
    python perf/mutation_scores.py judgement --show 3     # its third mutant, as a diff

The operators are cosmic-ray's: comparisons, arithmetic, numbers, booleans, ``not``, ``break``,
decorators, exceptions, loops that never run. Places in the code are drawn evenly, and for each
place one mistake; annotations, and imports for them, are no places. Each mutant is a copy of
``src`` with one change, run by a process forked from one that has imported the large libraries. It
runs the tests that reach the changed line (by coverage, one context a test), and if these pass, all
files that hold them. A mutant is noticed when a test fails or uses five times its CPU time, and
20 s.
"""

from __future__ import annotations

import ast
import difflib
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

TOP = Path(__file__).resolve().parents[1]
SOURCE = TOP / "src"
ROOMS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "filters": (
        ("evidence/filters/*", "evidence/label", "evidence/match", "evidence/patterns",
         "evidence/constructions"),
        tuple(f"tests/unit/evidence/test_{name}.py" for name in
              ("fict_filters", "label", "patterns", "posh_filters", "side_effects")),
    ),
    "conditions": (
        ("evidence/condition", "evidence/reinsertion", "evidence/removal", "evidence/matching",
         "evidence/sentences", "grid/filtering"),
        ("tests/unit/evidence/test_conditions.py", "tests/unit/evidence/test_reinsertion.py",
         "tests/unit/evidence/test_matching.py", "tests/unit/grid/test_conditions.py",
         "tests/unit/grid/test_filtering.py"),
    ),
    "judgement": (
        ("evaluation/engine", "evaluation/judgements", "evaluation/tasks", "evaluation/trie",
         "evaluation/perplexity", "evaluation/score"),
        ("tests/unit/evaluation",),
    ),
    "statistics": (
        ("statistics/accuracy", "statistics/agreement", "statistics/contrasts",
         "statistics/design", "statistics/gate", "statistics/intervals", "statistics/levels",
         "statistics/tally", "statistics/tests"),
        tuple(f"tests/unit/statistics/test_{name}.py" for name in
              ("accuracy", "agreement", "contrasts", "design", "fit", "levels",
               "paradigms_measures", "tests")),
    ),
    "resume": (
        ("models/training/checkpoint", "models/training/data", "models/training/loop",
         "models/training/progress", "models/training/seeds"),
        tuple(f"tests/unit/models/training/test_{name}.py" for name in
              ("checkpoint", "data", "resume_kill", "training")),
    ),
    "digests": (
        ("core/adopt", "core/fingerprint", "core/lock", "core/manifest", "core/verification"),
        ("tests/unit/core",
         "tests/unit/models/training/test_checkpoint.py"),
    ),
    "stages": (
        ("stages/*", "grid/grid", "planning/current", "config/specs"),
        ("tests/unit/grid", "tests/unit/config", "tests/workflow/test_current.py"),
    ),
}  # fmt: skip
"""Room -> its modules, and the tests that hold them."""
LIBRARIES = ("numpy", "polars", "scipy.stats", "torch", "transformers", "hypothesis", "pytest",
             "pydantic", "yaml", "pulp", "pandas")  # fmt: skip
SLOW = "not slow and not slurm"
PATIENCE = 5
WORK = Path(tempfile.gettempdir()) / "poshgrid-mutants"


@dataclass(frozen=True)
class Mutant:
    """One mistake in one module."""

    module: str
    line: int
    column: int
    operator: str
    occurrence: int


def forked(work: Callable[[], int], *, cpu: float, log: Path) -> int:
    """Run something in a child with so many CPU seconds; return its status, or minus its signal."""
    child = os.fork()
    if child == 0:
        os.setsid()
        stream = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(stream, 1)
        os.dup2(stream, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu) + 1, int(cpu) + 2))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            os._exit(work())
        except BaseException as error:
            print(repr(error), flush=True)
            os._exit(70)
    end = time.monotonic() + 20 * cpu + 600  # who waits uses no CPU time
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done or time.monotonic() > end:
            break
        time.sleep(0.05)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # and what it has started
    if not done:
        _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def tested(copy: Path, given: list[str], *plugins: object) -> int:
    """Run tests against a copy of the sources, in this process."""
    import pytest

    sys.path.insert(0, str(copy))
    os.environ["PYTHONPATH"] = str(copy)
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.chdir(TOP)
    temporary = tempfile.mkdtemp(prefix="mutant-")
    try:
        return int(pytest.main(
            [*given, "-x", "-q", "-m", SLOW, "-p", "no:cacheprovider", "-p", "no:xdist",
             "--basetemp", f"{temporary}/t", "--rootdir", str(TOP)], plugins=list(plugins),
        ))  # fmt: skip
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


class Reached:
    """Which test reaches which line, and its CPU time: a plug-in of pytest for the first run."""

    def __init__(self, copy: Path, modules: list[str], into: Path) -> None:
        import coverage

        self.into, self.copy, self.seconds = into, copy, {}
        names = [str(copy / "poshgrid" / f"{module}.py") for module in modules]
        self.measured = coverage.Coverage(data_file=None, include=names)
        self.measured.start()
        self.began = 0.0

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A test begins."""
        self.measured.switch_context(nodeid)
        self.began = time.process_time()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """It has ended."""
        self.seconds[nodeid] = time.process_time() - self.began
        self.measured.switch_context("")

    def pytest_unconfigure(self) -> None:
        """All have: write what was seen."""
        self.measured.stop()
        data = self.measured.get_data()
        lines = {}
        for path in data.measured_files():
            module = str(Path(path).relative_to(self.copy / "poshgrid"))[: -len(".py")]
            lines[module] = {
                str(line): sorted(c for c in contexts if c)
                for line, contexts in data.contexts_by_lineno(path).items()
            }
        self.into.write_text(json.dumps({"lines": lines, "seconds": self.seconds}))


def annotated(tree: ast.AST) -> set[tuple[int, int]]:
    """Return the places (line, column) inside annotations and what is imported for them alone."""
    found: set[tuple[int, int]] = set()
    for node in ast.walk(tree):
        alone = node if isinstance(node, ast.If) and _for_types(node.test) else None
        for each in (getattr(node, "annotation", None), getattr(node, "returns", None), alone):
            if each is not None:
                for line in range(each.lineno, each.end_lineno + 1):
                    first = each.col_offset if line == each.lineno else 0
                    last = each.end_col_offset if line == each.end_lineno else 200
                    found.update((line, column) for column in range(first, last))
    return found


def _for_types(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def mutants(module: str) -> Iterator[Mutant]:
    """Yield every mutant of a module."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    text = (SOURCE / "poshgrid" / f"{module}.py").read_text(encoding="utf-8")
    away = annotated(ast.parse(text))
    away |= {  # a signature's bare star multiplies nothing
        (number, star.start())
        for number, line in enumerate(text.splitlines(), 1)
        for star in re.finditer(r"\*,", line)
    }
    nodes = list(ast_nodes(get_ast(text)))
    for name in sorted(operator_names()):
        if "Variable" in name or "NoOp" in name:
            continue
        operator = get_operator(name)()
        places = [start for node in nodes for start, _ in operator.mutation_positions(node)]
        for occurrence, (line, column) in enumerate(places):
            if (line, column) not in away:
                yield Mutant(module, line, column, name.removeprefix("core/"), occurrence)


def text_of(mutant: Mutant) -> tuple[str, str]:
    """Return a module's text, and as the mutant has it."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    text = (SOURCE / "poshgrid" / f"{mutant.module}.py").read_text(encoding="utf-8")
    changed = mutate_code(text, get_operator(f"core/{mutant.operator}")(), mutant.occurrence)
    return text, changed or text


def alters(mutant: Mutant) -> bool:
    """Say whether a mutant is another program, and one that can be read."""
    text, changed = text_of(mutant)
    try:
        return ast.dump(ast.parse(text)) != ast.dump(ast.parse(changed))
    except SyntaxError:
        return False


def sample(modules: list[str], count: int, seed: int) -> list[Mutant]:
    """Draw places evenly, and for each one mutant."""
    by_place = defaultdict(list)
    for module in modules:
        for mutant in mutants(module):
            by_place[mutant.module, mutant.line, mutant.column].append(mutant)
    drawn = random.Random(seed)
    places = sorted(by_place)
    drawn.shuffle(places)
    found: list[Mutant] = []
    for place in places:
        mutant = drawn.choice(by_place[place])
        if alters(mutant):
            found.append(mutant)
        if len(found) == count:
            break
    return found


def difference(mutant: Mutant) -> str:
    """Return what a mutant changes."""
    before, after = (text.splitlines(keepends=True) for text in text_of(mutant))
    return "".join(difflib.unified_diff(before, after, mutant.module, mutant.operator, n=1))


def interval(hits: int, of: int) -> tuple[float, float]:
    """Return Wilson's 95% interval of a share."""
    from scipy.stats import binomtest

    low, high = binomtest(hits, of).proportion_ci(method="wilson")
    return float(low), float(high)


def modules_of(room: str) -> list[str]:
    """Return the modules of a room, without their suffix."""
    top = SOURCE / "poshgrid"
    return sorted(
        str(path.relative_to(top))[: -len(".py")]
        for pattern in ROOMS[room][0]
        for path in top.glob(f"{pattern}.py")
        if path.name != "__init__.py"
    )


def measure(room: str, count: int, seed: int, work: Path) -> None:
    """Run a room's sample; ``ROOM-SEED.json`` has what came of each mutant, and is gone on with."""
    modules, tests = modules_of(room), list(ROOMS[room][1])
    copy, told = work / room / "src", work / room / "reached.json"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(SOURCE, copy, symlinks=False)
    if not told.exists():
        status = forked(
            lambda: tested(copy, tests, Reached(copy, modules, told)),
            cpu=3600, log=work / room / "whole.log",
        )  # fmt: skip
        if status:
            told.unlink(missing_ok=True)
            sys.exit(f"{room}: the tests fail without a mutant: see {work / room}/whole.log")
    reached = json.loads(told.read_text())
    lines, seconds = reached["lines"], reached["seconds"]
    of_file = Counter()
    for name, taken in seconds.items():
        of_file[name.split("::")[0]] += taken
    kept = work / f"{room}-{seed}.json"
    rows = json.loads(kept.read_text())[:count] if kept.exists() else []
    for number, mutant in enumerate(sample(modules, count, seed), 1):
        if number <= len(rows):
            continue
        here = lines.get(mutant.module, {})
        direct = here.get(str(mutant.line), [])
        # A line of a module's or a class's body runs when it is imported
        known = direct or sorted({name for names in here.values() for name in names})
        known.sort(key=lambda name: seconds.get(name, 0.0))
        files = sorted({name.split("::")[0] for name in known}, key=of_file.get)
        path = copy / "poshgrid" / f"{mutant.module}.py"
        original, changed = text_of(mutant)
        path.write_text(changed, encoding="utf-8")
        shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)
        outcome, began = "survived", time.monotonic()
        for chosen, usual in (
            (known if direct else [], sum(seconds.get(name, 0.0) for name in known)),
            (files, sum(of_file[name] for name in files)),
        ):
            if not chosen:
                continue
            log = work / room / f"{number}.log"
            given = chosen if len(chosen) <= 400 else files
            status = forked(lambda g=given: tested(copy, g), cpu=PATIENCE * usual + 20, log=log)
            if status:
                slow = status in (-signal.SIGXCPU, -signal.SIGKILL)
                outcome = "too slow" if slow else "noticed"
                break
        path.write_text(original, encoding="utf-8")
        row = asdict(mutant) | {
            "number": number, "outcome": outcome, "tests": len(known),
            "reached": bool(direct), "seconds": round(time.monotonic() - began, 1),
        }  # fmt: skip
        rows.append(row)
        kept.write_text(json.dumps(rows, indent=1))
        print(
            f"{room} {number}: {mutant.module}:{mutant.line} {mutant.operator} {outcome}",
            flush=True,
        )
        if outcome == "survived":
            print(difference(mutant), flush=True)
    noticed = sum(row["outcome"] != "survived" for row in rows)
    low, high = interval(noticed, len(rows))
    print(
        f"| {room} | {noticed} of {len(rows)} | {noticed / len(rows):.2f} [{low:.2f}, {high:.2f}] |"
    )


def main(
    rooms: Annotated[list[str] | None, typer.Argument(help="Rooms; none: all.")] = None,
    mutants_each: Annotated[int, typer.Option("--mutants", help="Mutants of a room.")] = 50,
    seed: Annotated[int, typer.Option(help="Of the sample.")] = 20,
    work: Annotated[Path, typer.Option(help="Where the copies and what came of them go.")] = WORK,
    show: Annotated[int, typer.Option(help="Print this mutant and end.")] = 0,
) -> None:
    """Plant mistakes, and count those that a test notices."""
    for room in rooms or list(ROOMS):
        if show:
            print(difference(sample(modules_of(room), mutants_each, seed)[show - 1]))
            continue
        for name in LIBRARIES:
            __import__(name)
        (work / room).mkdir(parents=True, exist_ok=True)
        measure(room, mutants_each, seed, work)


if __name__ == "__main__":
    typer.run(main)
