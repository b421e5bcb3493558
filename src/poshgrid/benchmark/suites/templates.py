"""Our own suite: minimal pairs generated from ``resources/templates`` and ``resources/lexicon``.

Source: POSH-BENCH, section 3.2, appendices F and G, Table 13.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field, field_validator

from poshgrid import plugins, resources

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from poshgrid.benchmark.lexicon import Vocabulary


class Options(plugins.Options):
    """Options of the reader ``templates``."""

    pairs: int = Field(500, gt=0, le=9_999, description="Pairs of each phenomenon")
    seed: int = Field(42, ge=0, description="The same seed gives the same pairs")
    phenomena: list[str] | None = Field(None, description="Default: every file of templates")

    @field_validator("phenomena")
    @classmethod
    def _known(cls, value: list[str] | None) -> list[str] | None:
        from poshgrid.errors import did_you_mean

        known = {path.stem for path in resources.path("templates").glob("*.yaml")}
        for name in value or []:
            if name not in known:
                raise ValueError(f"unknown phenomenon {name!r}{did_you_mean(name, known)}")
        if value is not None and (not value or len(set(value)) < len(value)):
            raise ValueError("name each phenomenon once, and at least one")
        return value


def files(path: Path, options: Options) -> list[Path]:
    """Return the templates and the lexicon; ``path`` is not used."""
    chosen = options.phenomena or sorted(p.stem for p in resources.path("templates").glob("*.yaml"))
    return [
        *(resources.path("templates", f"{name}.yaml") for name in sorted(chosen)),
        *sorted(resources.path("lexicon").glob("*.tsv")),
    ]


def load(path: Path | None, options: Options, vocabulary: Vocabulary) -> pl.DataFrame:
    """Generate the pairs and hold them to the gate of :mod:`poshgrid.benchmark.check`.

    Args:
        path: not used; the templates are part of the repository.
        options: how many, which, and the seed.
        vocabulary: the words that are frequent in every base.

    Returns:
        A table with the columns of ``ITEMS``.

    Raises:
        PoshgridError: too few usable words, or a pair with a fault.
    """
    import polars as pl

    from poshgrid import logs
    from poshgrid.benchmark import check, generate, lexicon, templates
    from poshgrid.benchmark.schema import ITEMS

    log = logs.get(__name__)
    words = lexicon.read()
    rows: list[generate.Row] = []
    for name in sorted(options.phenomena or templates.names()):
        phenomenon = templates.read(name)
        for word, bases in generate.rare_fixed(phenomenon, words, vocabulary).items():
            log.warning("%s: %r is rare in %s", name, word, ", ".join(bases))
        rows += generate.generate(phenomenon, options.pairs, options.seed, words, vocabulary)
    items = pl.DataFrame(rows, schema=ITEMS)
    check.gate(items, words, vocabulary)
    return items
