"""After the drills on SLURM, what came of each."""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the account that each drill recorded."""
    reports = [
        report
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, [])
        if getattr(report, "when", "") == "call"
    ]
    lines = [
        f"{report.head_line} ({report.outcome}): {value}"
        for report in reports
        for name, value in report.user_properties
        if name == "account"
    ]
    if lines:
        terminalreporter.section("drills on SLURM")
        for line in lines:
            terminalreporter.write_line(line)
