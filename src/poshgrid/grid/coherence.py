"""Check that the parts of a configuration agree: corpora with sources, models with runs, and so on.

These checks need the grid and are fast, so that every dry-run makes them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from poshgrid.config import specs
from poshgrid.config.base import Section
from poshgrid.config.runs import AXES, RELEASED, Run, agrees, parse_only
from poshgrid.config.sizes import words
from poshgrid.core import plugins
from poshgrid.core.errors import ConfigError, Place, PoshgridError, Problem, did_you_mean
from poshgrid.core.plugins import FILTERS, READERS, REWRITERS
from poshgrid.corpora import budgets, conservation
from poshgrid.grid.grid import Grid
from poshgrid.grid.targets import product
from poshgrid.models.training import bias, builder


def check(grid: Grid) -> None:
    """Raise if parts of a configuration do not agree.

    Raises:
        ConfigError: all problems, each with its place; basic ones first.
    """
    for checks in (_FIRST, _THEN, _LAST):
        if problems := [problem for find in checks for problem in find(grid)]:
            raise ConfigError(problems)


def _at(grid: Grid, section: str, name: str, *keys: str) -> Place:
    """Return the place of a named entry, or of its section if the name is not listed."""
    names = [entry.name for entry in getattr(grid.config, section)]
    return (section, names.index(name), *keys) if name in names else (section,)


def _points(grid: Grid) -> Iterator[Problem]:
    """Yield exclusions that leave out nothing or everything, and sizes that a corpus lacks."""
    asked: dict[tuple[str, str], Place] = {}
    for name, sizes in grid.config.counted.items():
        asked |= {(name, size): ("counted", name, index) for index, size in enumerate(sizes)}
    for number, experiment in enumerate(grid.config.experiments):
        points = list(product(experiment))
        for index in range(len(experiment.exclude)):
            if not any(out[index] for _, out in points):
                what = (
                    "matches no point of the experiment, and leaves nothing out; fix or remove it"
                )
                yield ("experiments", number, "exclude", index), what
        runs = [run for run, out in points if not any(out)]
        if not runs:
            what = "leaves out every point; exclude less, or remove the experiment"
            yield ("experiments", number, "exclude"), what
        for run in runs:
            at = ("experiments", number, "sizes", experiment.sizes.index(run.size))
            asked.setdefault((run.condition, run.size), at)
    cells = {
        (grid.conditions[condition].corpus, size): key for (condition, size), key in asked.items()
    }
    for (corpus, size), key in cells.items():
        yield from _size(grid, corpus, size, key)


def _size(grid: Grid, name: str, size: str, key: Place) -> Iterator[Problem]:
    """Yield the problems of a corpus with a size that an experiment uses at a place."""
    portions = grid.corpora[name].sources
    known = {size for portion in portions for size in portion.words}
    if size not in known:
        what = (
            f"corpus {name!r} has no size {size!r}{did_you_mean(size, known)}; or write in "
            f"corpora how many words each source gives: {size}: ..., {words(size):,} together"
        )
        yield key, what
        return
    rest = max(0, words(size) - sum(portion.words.get(size, 0) for portion in portions))
    for index, portion in enumerate(portions):
        if size not in portion.words:
            what = f"source {portion.source!r} has no words for {size}; add {size}: {rest}"
            yield (*_at(grid, "corpora", name), "sources", index, "words"), what
            rest = 0


def _controls(grid: Grid) -> Iterator[Problem]:
    """Yield controls whose condition has no filters, or another corpus."""
    for name, condition in grid.conditions.items():
        other = grid.control_of(name)
        if other and (other.corpus != condition.corpus or not other.changed):
            what = (
                f"{other.name!r} is of corpus {other.corpus!r} and has {len(other.filters)} "
                f"filters; name a condition of {condition.corpus!r} that has some, or is rewritten"
            )
            yield _at(grid, "conditions", name, "control"), what


def _parsers(grid: Grid) -> Iterator[Problem]:
    """Yield parts that need a parser or its trees if there are none."""
    if not grid.parsers and any(map(grid.parsed_corpora, grid.targets)):
        what = (
            "conditions with filters or rewrite need a parser; add one: "
            "{name: stanza, engine: stanza, model: parsers/stanza}, a folder below data"
        )
        yield ("parsers",), what
    for word, parser in grid.parser_of_bias.items():
        if parser and parser not in grid.parsers:
            what = (
                f"unknown parser {parser!r}, the default of its key parser: write "
                f"parser: NAME there{did_you_mean(parser, grid.parsers)}"
            )
            yield ("biases", word), what
    for number, experiment in enumerate(grid.config.experiments):
        for run in grid.runs_of(experiment):
            condition = grid.conditions[run.condition]
            changed = condition.rewrite and run.size not in condition.unfiltered_sizes
            if changed and grid.parser_of_bias[run.bias]:
                what = (
                    f"condition {run.condition!r} is rewritten, and only the sentences of a corpus "
                    f"are parsed: exclude it with bias {run.bias}"
                )
                yield ("experiments", number), what
                break


def _given(grid: Grid) -> Iterator[Problem]:
    """Yield pretrained models that have the same place in the grid."""
    known: dict[Run, str] = {}
    for number, model in enumerate(grid.config.pretrained):
        run = grid.pretrained_run(model)
        if (other := known.setdefault(run, model.name)) != model.name:
            what = (
                f"{other!r} and {model.name!r} have one place in the grid ({run.name}); give them "
                "other seeds or models"
            )
            yield ("pretrained", number), what


def _language(grid: Grid) -> Iterator[Problem]:
    """Yield parts that only exist for English in a configuration of another language.

    A filter works for any language if its patterns name no word.
    """
    if (language := grid.config.language) == "en":
        return
    import spacy

    try:
        spacy.blank(language)
    except ImportError:
        yield ("language",), f"{language!r}: spaCy has no rules of words for it"

    def for_any(word: str) -> bool:
        patterns = getattr(plugins.load(FILTERS, word), "PATTERNS", {})
        return bool(patterns) and not any(
            "word:" in p.text for own in patterns.values() for p in own
        )

    what = f"is for English only; leave it out of a configuration with language {language}"
    for number, source in enumerate(grid.config.sources):
        if getattr(plugins.load(READERS, source.reader), "ENGLISH", False):
            yield ("sources", number, "reader"), f"reader {source.reader!r} {what}"
    for name in grid.suites:
        if grid.suites[name].generated:
            yield _at(grid, "suites", name, "reader"), f"{grid.suites[name].reader!r} {what}"
    for word in grid.every_filter:
        if not for_any(word):
            yield ("conditions",), f"filter {word!r} {what}"
    for word in sorted({word for name in grid.conditions for word in grid.rewriters(name)}):
        if getattr(plugins.load(REWRITERS, word), "ENGLISH", False):
            yield ("conditions",), f"rewriter {word!r} {what}"
    if "class_ngram" in grid.config.baselines:
        yield ("baselines",), f"'class_ngram' {what}"


def _twins(grid: Grid) -> Iterator[Problem]:
    """Yield entries that are equal except for their names: they would count twice."""
    runs = grid.every_run
    corpora = {grid.conditions[name].corpus for name, _ in grid.every_cell}
    sources = {portion.source for corpus in corpora for portion in grid.corpora[corpus].sources}
    used: dict[str, dict[str, Section]] = {
        "sources": {name: grid.sources[name] for name in sorted(sources)},
        "parsers": dict(grid.parsers),
        "models": {name: grid.models[name] for name in sorted({r.model for r in runs})},
        "recipes": {name: grid.recipes[name] for name in sorted({r.recipe for r in runs})},
        "suites": {suite.name: suite for suite in grid.config.suites},
    }
    for section, named in used.items():
        for (one, first), (other, second) in itertools.combinations(named.items(), 2):
            if first.model_dump(exclude={"name"}) == second.model_dump(exclude={"name"}):
                what = (
                    f"{one!r} and {other!r} are the same under two names, and would count twice; "
                    "change or remove one"
                )
                yield _at(grid, section, other), what


def _conditions(grid: Grid) -> Iterator[Problem]:
    """Yield conditions that only differ in their names."""
    defined: dict[str, str] = {}
    for name, size in grid.every_cell:
        if "void" in grid.conditions[name].allow:
            continue
        spec = grid.condition_spec(name, size)
        nameless = spec.condition.model_copy(update={"name": "any"})
        key = specs.canonical(spec.model_copy(update={"condition": nameless}))
        other = defined.setdefault(key + specs.canonical(grid.tokenizer_of(name)), name)
        if other != name:
            what = (
                f"{other!r} and {name!r} are the same at {size}; leave one out of the "
                "experiments, or set allow: [void]"
            )
            yield _at(grid, "conditions", name), what


def _sources(grid: Grid) -> Iterator[Problem]:
    """Yield corpora whose words, or published dev and test, their sources cannot have."""
    for name, corpus in grid.corpora.items():
        try:
            sizes = grid.sizes(name)
            budgets.needed(corpus, sizes) if sizes else None
        except PoshgridError as error:
            yield _at(grid, "corpora", name), str(error)
        for portion in corpus.sources if corpus.splits == "published" else ():
            if grid.sources[portion.source].share < 1:
                what = f"a share of source {portion.source!r} would shorten its dev and test, too"
                yield _at(grid, "corpora", name, "splits"), f"{what}; remove its `share`"


def _words(grid: Grid) -> Iterator[Problem]:
    """Yield sizes whose words differ from their names, and conditions of one size that differ.

    Compared are the words before filters remove any.
    """
    misnamed: dict[Problem, None] = {}
    numbers: dict[str, dict[str, float]] = {}
    kept: dict[str, dict[str, float]] = {}
    for name, size in grid.every_cell:
        condition, corpus = grid.conditions[name], grid.corpus_of(name)
        number = conservation.words_at(corpus, size)
        if not number:
            continue
        if "size" not in corpus.allow:
            why = conservation.misnamed(f"corpus {corpus.name}", size, number)
            if why:
                problem = _at(grid, "corpora", corpus.name), f"{why}, or set allow: [size]"
                misnamed[problem] = None
        if "words" not in (*corpus.allow, *condition.allow):
            if condition.downsample > 1:  # a number of sentences
                kept.setdefault(size, {})[name] = condition.downsample
            else:
                numbers.setdefault(size, {})[name] = number * condition.downsample
    uneven = [conservation.uneven(size, amounts) for size, amounts in numbers.items()]
    for size, sentences in kept.items():
        if len(set(sentences.values())) > 1 or size in numbers:
            what = f"conditions at {size}: {', '.join(sentences)}: downsample names sentences"
            uneven.append(f"{what}; give all conditions of the size the same number")
    # Sizes with wrong names explain the differences, so only they are reported
    yield from misnamed or [
        (("corpora",), f"{why}, or set allow: [words]") for why in uneven if why
    ]


def _training(grid: Grid) -> Iterator[Problem]:
    """Yield recipes and biases that a model cannot be trained with."""
    kinds = {(r.model, r.recipe, r.bias): r for runs in grid.targets.values() for r in runs}
    reported: set[str] = set()
    for _, run in sorted(kinds.items()):
        spec = grid.train_spec(run)
        try:
            if spec.recipe.steps == 0:
                raise PoshgridError(
                    "steps: 0 trains nothing, and gives the untrained baseline again; raise steps"
                )
            builder.check(spec.model, spec.recipe)
            bias.check(spec)
        except PoshgridError as error:
            if str(error) in reported:
                continue
            reported.add(str(error))
            section, name, *why = str(error).split(": ", 2)
            if section in ("models", "recipes"):
                yield _at(grid, section, name), ": ".join(why)
            else:
                yield _at(grid, "recipes", run.recipe), str(error)


def _regressions(grid: Grid) -> Iterator[Problem]:
    """Yield names in regressions that no run has."""
    runs = grid.every_run | {run for run in grid.pretrained_runs if run.recipe == RELEASED}
    used = {axis: {str(getattr(run, axis)) for run in runs} for axis in AXES}
    sources = {grid.facts(run.condition, run.size).source for run in grid.every_run}
    sources |= {cell.source for cell in grid.pretrained_facts().values()}
    for number, model in enumerate(grid.regressions.values()):
        at = ("regressions", number)
        if model.suite and model.suite not in grid.pairs:
            what = f"{model.suite!r} has no minimal pairs{did_you_mean('', grid.pairs)}"
            yield (*at, "suite"), what
        kept = parse_only(model.only)
        here = all(values <= used[axis] for axis, values in kept.items())
        if kept and here and not any(agrees(run, kept) for run in runs):
            what = (
                f"{model.only!r} matches no run of the experiments; fix it or remove the regression"
            )
            yield (*at, "only"), what
        # One without runs, e.g. because of `only`, is not fitted: its levels are not checked
        fitted = any(model.name in grid.fitted(target) for target in grid.targets)
        levels = {"source": sources, "filter": {"yes", "no"}} | (used if fitted else {})
        for contrast in model.contrasts:
            known = levels.get(contrast.factor)  # levels of other factors depend on the items
            for level in filter(None, (contrast.first, contrast.less)):
                if known is not None and level not in known:
                    what = f"no run of the experiments has {contrast.factor} {level!r}"
                    yield (*at, "contrasts"), what + did_you_mean(level, known)


_FIRST = (_points, _controls, _parsers, _given)
"""Checks on which the later ones rely."""
_THEN = (_language, _twins, _conditions, _sources, _training, _regressions)
_LAST = (_words,)  # needs corpora with sufficient sources
