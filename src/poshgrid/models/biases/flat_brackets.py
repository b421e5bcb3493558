"""Control of dyck: pre-pretraining on brackets of the same bigrams, which do not match.

The same kinds of brackets, steps and weights carried over; see
:class:`poshgrid.models.training.dyck_language.Flat`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poshgrid.models.biases import dyck
from poshgrid.models.biases.dyck import PRETRAINS, Options, check

if TYPE_CHECKING:
    from poshgrid.models.training.dyck_language import Flat

__all__ = ["CONTROLS", "PRETRAINS", "Options", "build", "check"]

CONTROLS = "dyck"


class FlatBrackets(dyck.Dyck):
    """Initial weights that have learned bigrams of brackets."""

    word = "flat-brackets"

    def language(self) -> Flat:
        """Return the flat language."""
        from poshgrid.models.training.dyck_language import Flat

        options = self.options
        return Flat(options.k, options.p_open, options.depth, options.length)


build = FlatBrackets
