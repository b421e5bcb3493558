"""Conditions that tell nothing, where a configuration allows them: a reader must know it first."""

from __future__ import annotations

from collections.abc import Iterator

from poshgrid.report.collect import Collected


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
                yield f"{where}: filter {word} asks for {never}, which no tree of its parser bears"
            elif not counts.get("rule") and not counts.get("backstop"):
                yield f"{where}: filter {word} removes nothing"
        for word, facts in statistics.get("reinserted", {}).items():
            if not facts.get("sentences"):
                yield f"{where}: nothing is put back of what {word} removes"
        if statistics.get("digest"):
            key = (statistics.get("base", ""), size, statistics["digest"])
            same.setdefault(key, []).append(condition)
    for (_, size, _), names in same.items():
        if len(names) > 1:
            yield f"{' and '.join(sorted(names))} hold the same training sentences at {size}"
