"""What a reader must know before the numbers: what is missing, void, or has not converged."""

from __future__ import annotations

from collections.abc import Iterator

from poshgrid.report.collect import Collected
from poshgrid.tables.words import counted


def warnings(collected: Collected) -> list[tuple[str, str]]:
    """Return what a reader must know before the numbers: (what, explanation)."""
    found = []
    missing = [t.run.name for t in collected.trained if not t.done]
    if missing:
        few = ", ".join(missing[:3]) + (" …" if len(missing) > 3 else "")
        of = counted(len(collected.trained), "model")
        found.append(("Incomplete.", f"Not there yet: {len(missing)} of {of} ({few}). Cells that "
                      "need them say “not run”."))  # fmt: skip
    if collected.accuracy.is_empty() and collected.spec.suites:
        found.append(("No accuracies.", "The target has not been scored, or not been judged."))
    empty = list(void(collected))
    if empty:
        found.append(("No contrast.", f"{'; '.join(empty)}. What is compared there is the same."))
    for name, fit in collected.fits.items():
        if not fit.diagnostics.get("converged", False):
            reasons = "; ".join(fit.diagnostics.get("reasons", [])) or "no diagnostics"
            found.append((
                "Not converged.",
                f"Model {name}: {reasons}. Its estimates are shown but must not be quoted; "
                "raise target_accept, warmup or draws.",
            ))  # fmt: skip
    absent = [model for model in collected.spec.models if model not in collected.fits]
    if absent:
        found.append((
            "No model." if len(absent) == len(collected.spec.models) else "Models missing.",
            f"Not fitted, or not converged (the logs say which): {', '.join(absent)}.",
        ))  # fmt: skip
    for package, versions in collected.packages.items():
        if len(versions) > 1:
            found.append(("Mixed versions.", f"{package}: {', '.join(versions)}."))
    return found


def void(collected: Collected) -> Iterator[str]:
    """Yield a sentence for each filter or re-insertion without effect, and for what is the same.

    Args:
        collected: all results.
    """
    same: dict[tuple[str, str, str], list[str]] = {}
    for (condition, size), statistics in collected.conditions.items():
        where = f"{condition} at {size}"
        for word, counts in statistics.get("removed", {}).items():
            if counts.get("never"):
                never = ", ".join(counts["never"])
                yield f"{where}: filter {word} looks for {never}, which its parser never writes"
            elif not counts.get("rule") and not counts.get("backstop"):
                yield f"{where}: filter {word} removes nothing"
        for word, facts in statistics.get("reinserted", {}).items():
            if not facts.get("sentences"):
                yield f"{where}: none of what {word} removes is put back"
        if statistics.get("digest"):
            key = (statistics.get("base", ""), size, statistics["digest"])
            same.setdefault(key, []).append(condition)
    for (_, size, _), names in same.items():
        if len(names) > 1:
            yield f"{' and '.join(sorted(names))} hold the same training sentences at {size}"
