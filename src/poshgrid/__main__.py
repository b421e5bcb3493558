"""``poshgrid``, and ``python -m poshgrid``: a job of a local run is left to a warm process."""

from __future__ import annotations

import sys

from poshgrid.warm import ask


def main() -> None:
    """Run the command line, here or in a fork of a warm process."""
    status = ask.ask(sys.argv)
    if status is not None:
        ask.end(status)
    from poshgrid import cli

    cli.main()


if __name__ == "__main__":
    main()
