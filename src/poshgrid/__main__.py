"""``poshgrid``, and ``python -m poshgrid``: a job of a local run is left to a warm process."""

from __future__ import annotations

import signal
import sys

from poshgrid.warm import ask


def main() -> None:
    """Run the command line, here or in a fork of a warm process.

    Ctrl-C ends the start without a traceback; then a command has a say in how it ends.
    """
    status = ask.ask(sys.argv)
    if status is not None:
        ask.end(status)
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # nohup's is another
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from poshgrid import cli

    signal.signal(signal.SIGINT, handler)
    cli.main()


if __name__ == "__main__":
    main()
