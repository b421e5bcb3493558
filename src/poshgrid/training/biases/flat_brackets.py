"""Control of dyck: pre-pretraining on brackets of the same bigrams, which do not match.

The same kinds of brackets, steps and weights carried over; see
:class:`poshgrid.training.dyck_language.Flat`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poshgrid.training.biases import dyck
from poshgrid.training.biases.dyck import PRETRAINS, Options, check

if TYPE_CHECKING:
    from poshgrid.training.dyck_language import Drawn

__all__ = ["CONTROLS", "PRETRAINS", "Options", "build", "check"]

CONTROLS = "dyck"


class FlatBrackets(dyck.Dyck):
    """Initial weights that have learned bigrams of brackets."""

    word = "flat-brackets"

    def language(self) -> Drawn:
        """Return the flat language."""
        from poshgrid.training.dyck_language import Flat, Language

        options = self.options
        return Flat(Language(options.k, options.p_open, options.depth, options.length))


def build(options: Options) -> FlatBrackets:
    """Return the control with its options: those of dyck."""
    return FlatBrackets(options)
