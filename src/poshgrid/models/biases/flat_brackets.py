"""Control of dyck: pre-pretraining on brackets with the same bigrams, which do not match.

Kinds of brackets, steps and copied weights are the same; see
:class:`poshgrid.models.training.dyck_language.Flat`.
"""

from __future__ import annotations

from poshgrid.models.biases import dyck
from poshgrid.models.biases.dyck import PRETRAINS, Options, check

__all__ = ["CONTROLS", "PRETRAINS", "Options", "build", "check"]

CONTROLS = "dyck"


class FlatBrackets(dyck.Dyck):
    """Start training from weights that have learned bigrams of brackets."""

    word = "flat-brackets"


build = FlatBrackets
