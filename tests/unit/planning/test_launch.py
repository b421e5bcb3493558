"""``poshgrid run``: how it ends after Ctrl-C, and arguments that are refused in one line."""

from __future__ import annotations

import logging
import signal
import sys

import pytest
from snakemake import cli

from poshgrid.planning import launch


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Run it in an empty folder; return its status and the last line of standard error."""
    monkeypatch.chdir(tmp_path)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["poshgrid", *words])
        with pytest.raises(SystemExit) as end:
            launch.main()
        return end.value.code, "".join(capsys.readouterr().err.splitlines()[-1:])

    yield run
    signal.signal(signal.SIGINT, handler)
    logging.disable(logging.NOTSET)


def test_after_ctrl_c_one_line_says_that_the_same_command_goes_on(run, monkeypatch, caplog):
    def interrupted(args, parser):
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)  # a second one changes nothing
        logging.getLogger("snakemake").error("Error in rule train")
        return False

    monkeypatch.setattr(cli, "args_to_api", interrupted)
    assert run("--cores", "1") == (130, "stopped; the same command goes on")
    assert "Error in rule" not in caplog.text
    monkeypatch.setattr(cli, "args_to_api", lambda args, parser: False)
    assert run("--cores", "1")[0] == 1


def test_an_argument_that_snakemake_has_not_is_one_line(run):
    status, line = run("--nosuch")
    assert status == 1 and line.startswith("error: ") and "--nosuch" in line
