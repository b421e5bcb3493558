"""What makes a condition: a sentence of what was removed, put back and filled up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from poshgrid.report.texts import say


def treatment(statistics: Mapping[str, Any]) -> str:
    """Say what was done to a base to make a condition, as far as it was counted.

    Args:
        statistics: ``statistics.json`` of the condition at a size.

    Returns:
        For each filter, or for a control, the share of the base's sentences that is gone; how many
        of them are direct evidence, of how many there are, where the filter has a reading
        ``direct``; the same of what was put back; how many sentences filled the rest up. "" if
        nothing is gone.
    """
    whole = statistics.get("whole", {}).get("sentences")
    if not whole or not statistics.get("removed_sentences"):
        return ""
    control = statistics.get("control")
    # Of a control it counts what its condition's filters take: that stays in
    filtered = {} if control else statistics.get("removed", {})
    removed = [
        (name, (counts["rule"] + counts["backstop"]) / whole, counts["rule"] + counts["backstop"],
         counts.get("direct"), counts.get("direct_whole"))
        for name, counts in filtered.items()
    ]  # fmt: skip
    returned = [
        (name, facts["rate"], facts["sentences"], facts.get("direct"))
        for name, facts in statistics.get("reinserted", {}).items()
    ]
    gone = statistics["removed_sentences"] / whole
    return say(
        "treatment",
        control,
        gone,
        removed,
        returned,
        statistics.get("refilled", {}).get("sentences"),
    )
