"""Change one constant in each module that a stage runs: which stages' digests of code change?

    python perf/invalidation_mutants.py [LOG]

Every stage of tests/tracing/every_stage.yaml runs once under a tracer (minutes; LOG is the `log`
folder of an earlier run). Then, in a copy of the package, one constant of each module that ran is
changed, and the digests of all stages are computed again. A stage that runs the module must get
another digest, and one that does not import it must keep its own.
"""

from __future__ import annotations

import ast
import os
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(tempfile.mkdtemp(prefix="invalidation-"))
os.environ["XDG_CACHE_HOME"] = str(FOLDER / "cache")  # nobody needs these digests again
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from poshgrid.core import fingerprint  # noqa: E402
from tests import tracing  # noqa: E402


def constant(tree: ast.Module) -> ast.Constant | None:
    """Return the first number or text of a module's functions, or of the module; no docstring."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for node in [inner for each in (*functions, tree) for inner in ast.walk(each)]:
        children = [] if isinstance(node, ast.Expr) else ast.iter_child_nodes(node)
        for child in children:
            if isinstance(child, ast.Constant) and isinstance(child.value, int | float | str):
                return child
    return None


def mutant(text: str) -> str | None:
    """Return a source with one constant changed; none: it has no constant."""
    tree = ast.parse(text)
    found = constant(tree)
    if found is None:
        return None
    value = found.value
    found.value = (
        value + "x" if isinstance(value, str) else not value if value is True else value + 1
    )
    return ast.unparse(tree)


def main() -> None:
    """Print the numbers: tried, caught, and needless reruns."""
    (FOLDER / "run").mkdir()
    log = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    jobs = list(tracing.jobs(log)) if log else tracing.run(ROOT, FOLDER / "run")
    ran: dict[tuple[str, tuple[str, ...]], set[str]] = {}
    for job in jobs:
        modules = {function.partition(":")[0] for function in job.ran}
        ran.setdefault((job.stage, job.modules), set()).update(modules)

    shutil.copytree(
        ROOT / "src/poshgrid", FOLDER / "poshgrid", ignore=shutil.ignore_patterns("share")
    )
    fingerprint.ROOT = FOLDER / "poshgrid"
    for path in fingerprint.ROOT.rglob("*.py"):  # so that a mutant differs in its constant alone
        path.write_text(ast.unparse(ast.parse(path.read_text(encoding="utf-8"))), encoding="utf-8")
    closures = {unit: set(fingerprint.closure(*unit[1])) for unit in ran}

    def digests() -> dict[tuple[str, tuple[str, ...]], str]:
        fingerprint.source.cache_clear()
        fingerprint.code.cache_clear()
        return {unit: fingerprint.code(*unit[1]) for unit in ran}

    before, counts, missed = digests(), Counter[str](), []
    for module in sorted(set().union(*ran.values())):
        parts = FOLDER.joinpath(*module.split("."))
        path = parts / "__init__.py" if parts.is_dir() else parts.with_suffix(".py")
        text = path.read_text(encoding="utf-8")
        changed_text = mutant(text)
        if fingerprint.exempt(module) or changed_text is None:
            counts["exempt" if fingerprint.exempt(module) else "without a constant"] += 1
            continue
        path.write_text(changed_text, encoding="utf-8")
        after = digests()
        path.write_text(text, encoding="utf-8")
        changed = {unit for unit in ran if before[unit] != after[unit]}
        runs_it = {unit for unit in ran if module in ran[unit]}
        counts["modules"] += 1
        counts["tried"] += len(runs_it)
        counts["caught"] += len(runs_it & changed)
        counts["needless"] += sum(module not in closures[unit] for unit in changed)
        counts["imported, not run"] += len(changed - runs_it)
        missed += [(module, unit[0]) for unit in runs_it - changed]
    print(f"{len({stage for stage, _ in ran})} stages, {len(ran)} sets of modules")
    print(", ".join(f"{name}: {number}" for name, number in counts.items()))
    for module, stage in missed[:20]:
        print(f"missed: {module} in {stage}")
    shutil.rmtree(FOLDER)


if __name__ == "__main__":
    main()
