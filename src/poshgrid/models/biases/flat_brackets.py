"""Control of dyck: pre-pretraining on brackets of the same bigrams, which do not match.

The same kinds of brackets, steps and weights carried over; see
:class:`poshgrid.models.training.dyck_language.Flat`.
"""

from __future__ import annotations

from poshgrid.models.biases import dyck
from poshgrid.models.biases.dyck import PRETRAINS, Options, check

__all__ = ["CONTROLS", "PRETRAINS", "Options", "build", "check"]

CONTROLS = "dyck"


class FlatBrackets(dyck.Dyck):
    """Initial weights that have learned bigrams of brackets."""

    word = "flat-brackets"


build = FlatBrackets
