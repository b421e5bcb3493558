"""Show a run's losses in TensorBoard as it trains, if somebody has installed it.

It listens to the log line of each evaluation (:meth:`poshgrid.training.progress.Progress.tell`), so
that nothing of it is part of the training: a tracker decides no weight, and one that fails costs a
warning.
"""

from __future__ import annotations

import importlib
import logging
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from poshgrid import logs
from poshgrid.errors import PoshgridError

log = logs.get(__name__)
TOLD = "poshgrid.training.progress"
"""The logger of the evaluations."""
_SHOWN = ("train_loss", "bias_loss", "dev_loss", "learning_rate", "tokens_per_second", "epoch")
Write = Callable[[int, dict[str, float]], object]


@contextmanager
def tracking(word: str | None, run: str, folder: Path) -> Iterator[None]:
    """Show the evaluations of the run that is trained in the block.

    Args:
        word: ``tensorboard``; none: nothing is shown.
        run: its name.
        folder: of all runs' events.

    Raises:
        PoshgridError: TensorBoard is not installed.
    """
    if word is None:
        yield
        return
    try:
        module = importlib.import_module("torch.utils.tensorboard")
    except ImportError as error:
        raise PoshgridError(
            "tracker: tensorboard is not installed; `pip install tensorboard`, or set it to null"
        ) from error

    handler = _Handler(lambda step: _tensorboard(module, folder / run, step))
    logger = logging.getLogger(TOLD)
    level = logger.level
    if not logger.isEnabledFor(logging.INFO):
        logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        handler.close()


Opened = tuple[Write, Callable[[], object]]


class _Handler(logging.Handler):
    """Writes evaluations. The tracker is opened at the first: by then its step is known."""

    def __init__(self, opened: Callable[[int], Opened]) -> None:
        super().__init__(logging.INFO)
        self._open, self._failed = opened, False
        self._opened: Opened | None = None

    def emit(self, record: logging.LogRecord) -> None:
        line: dict[str, Any] | None = getattr(record, "evaluation", None)
        if line is not None and not self._failed:
            self._try(lambda: self._write(line))

    def _write(self, line: dict[str, Any]) -> None:
        values = {name: float(line[name]) for name in _SHOWN if line[name] is not None}
        values["dev_perplexity"] = math.exp(min(line["dev_loss"], 700.0))
        if self._opened is None:
            self._opened = self._open(line["step"])
        self._opened[0](line["step"], values)

    def close(self) -> None:
        if self._opened is not None:
            self._try(self._opened[1])
        super().close()

    def _try(self, act: Callable[[], object]) -> None:
        try:
            act()
        except Exception as error:
            self._failed = True
            log.warning(
                "the tracker failed (%s: %s); training goes on", type(error).__name__, error
            )


def _tensorboard(module: Any, folder: Path, step: int) -> Opened:  # noqa: ANN401 - imported by name
    # What an earlier attempt wrote from this step on is hidden: it is about to be written again
    writer = module.SummaryWriter(str(folder), purge_step=step)

    def write(at: int, values: dict[str, float]) -> None:
        for name, value in values.items():
            writer.add_scalar(name, value, at)
        writer.flush()

    return write, writer.close
