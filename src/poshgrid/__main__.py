"""``poshgrid``, and ``python -m poshgrid``."""

from __future__ import annotations

import signal


def main() -> None:
    """Run the command line; Ctrl-C during the import ends it without a traceback."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # not under nohup
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from poshgrid import cli

    signal.signal(signal.SIGINT, handler)
    cli.main()


if __name__ == "__main__":
    main()
