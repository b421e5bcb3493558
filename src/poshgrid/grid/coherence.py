"""Whether the parts of a configuration agree: corpora with sources, models with runs, and so on.

What is held here needs the grid and takes no time: every dry-run does it.
"""

from __future__ import annotations

import itertools

from poshgrid import plugins
from poshgrid.config import Regression
from poshgrid.config.base import Section
from poshgrid.config.runs import AXES, RELEASED, agrees, parse_only
from poshgrid.corpora import budgets, conservation
from poshgrid.errors import PoshgridError, check_known, did_you_mean
from poshgrid.grid.definitions import check_names
from poshgrid.grid.grid import Grid
from poshgrid.plugins import READERS
from poshgrid.training import bias, builder


def check(grid: Grid) -> None:
    """Hold the parts of a configuration to each other.

    Raises:
        PoshgridError: a name is not defined, a source is too small for a corpus, a run cannot be
            trained, or a regression names what the runs do not have; one line for each reason.
    """
    _check_names(grid)
    _check_twins(grid)
    _check_sizes(grid)
    _check_words(grid)
    _check_training(grid)
    _check_models(grid)


def _check_names(grid: Grid) -> None:
    """Raise if audits or the tokenizer name a condition that is not defined."""
    trained_on = grid.config.tokenizer.trained_on
    check_names("audit", "condition", grid.config.audit.conditions, grid.conditions)
    if not isinstance(trained_on, str):
        check_names("tokenizer: trained_on", "condition", trained_on, grid.conditions)


def _check_twins(grid: Grid) -> None:
    """Refuse what is the same under two names.

    Raises:
        PoshgridError: two sources, parsers, models, recipes or suites that are used differ by
            their names alone: their sentences, runs or items would count twice.
    """
    runs = grid.every_run
    corpora = {grid.conditions[name].corpus for name, _ in grid.every_cell}
    sources = {each.source for corpus in corpora for each in grid.corpora[corpus].sources}
    used: dict[str, dict[str, Section]] = {
        "sources": {name: grid.sources[name] for name in sorted(sources)},
        "parsers": dict(grid.parsers),
        "models": {name: grid.models[name] for name in sorted({r.model for r in runs})},
        "recipes": {name: grid.recipes[name] for name in sorted({r.recipe for r in runs})},
        "suites": {each.name: each for each in grid.config.suites},  # not those scored again
    }
    for kind, named in used.items():
        for (one, first), (other, second) in itertools.combinations(named.items(), 2):
            if first.model_dump(exclude={"name"}) == second.model_dump(exclude={"name"}):
                raise PoshgridError(
                    f"{kind}: {one!r} and {other!r} are the same under two names, and would count "
                    "twice; change one or take it away"
                )


def _check_sizes(grid: Grid) -> None:
    """Hold what corpora ask of their sources to what those can hold, as far as it is written.

    A source that stops at so many words (``words``, or an option of that name) holds no more.

    Raises:
        PoshgridError: a corpus asks for more, or a condition is bare at a size of no corpus.
    """
    for name, corpus in grid.corpora.items():
        sizes = grid.sizes(name)
        if not sizes:
            continue
        for source, needed in budgets.needed(corpus, sizes).items():
            given = grid.sources[source]
            options = plugins.options(READERS, given.reader, given.options)
            limits = [given.words, getattr(options, "words", None)]
            least = min((limit for limit in limits if limit), default=needed)
            if needed > least:
                raise PoshgridError(
                    f"corpora: {name}: source {source!r} is too small: needs {needed:,} words "
                    f"({sizes[-1]}, dev and test), and stops at {least:,}; lower what is asked of "
                    "it or raise its words"
                )
    for name, condition in grid.conditions.items():
        portions = grid.corpus_of(name).sources
        known = dict.fromkeys(size for portion in portions for size in portion.words)
        for size in condition.unfiltered_sizes:
            if size not in known and not condition.prebuilt:
                raise PoshgridError(
                    f"conditions: {name}: unfiltered_sizes: {condition.corpus!r} has no size "
                    f"{size!r}{did_you_mean(size, known)}"
                )


def _check_words(grid: Grid) -> None:
    """Check the words of every size, before filters remove any.

    Raises:
        PoshgridError: a size of a corpus has other words than its name says, or the conditions of a
            size differ.
    """
    faults = []
    numbers: dict[str, dict[str, float]] = {}
    kept: dict[str, dict[str, float]] = {}
    for name, size in grid.every_cell:
        condition, corpus = grid.conditions[name], grid.corpus_of(name)
        number = conservation.asked(corpus, size)
        if not number:
            continue
        if "size" not in corpus.allow and not condition.prebuilt:
            faults.append(("size", conservation.misnamed(f"corpora: {corpus.name}", size, number)))
        if "words" not in (*corpus.allow, *condition.allow):
            if condition.downsample > 1:  # a number of sentences
                kept.setdefault(size, {})[name] = condition.downsample
            else:
                numbers.setdefault(size, {})[name] = number * condition.downsample
    uneven = [("words", conservation.uneven(size, found)) for size, found in numbers.items()]
    for size, sentences in kept.items():
        if len(set(sentences.values())) > 1 or size in numbers:
            what = f"conditions at {size}: {', '.join(sentences)}: downsample names sentences"
            uneven.append(("words", f"{what}; give all conditions of the size the same number"))
    for kind in (faults, uneven):  # corpora that are misnamed are uneven for that
        conservation.settle([fault for fault in dict.fromkeys(kind) if fault[1]], ())


def _check_training(grid: Grid) -> None:
    """Hold every model to the recipe and the bias that it is trained in and with.

    Raises:
        PoshgridError: a run cannot be trained; one line for each reason.
    """
    targets = grid.targets.values()
    kinds = {(r.model, r.recipe, r.bias): r for found in targets for r in found}
    wrong: dict[str, None] = {}
    for _, run in sorted(kinds.items()):
        spec = grid.train_spec(run)
        try:
            if spec.recipe.steps == 0:
                raise PoshgridError(
                    f"recipes: {spec.recipe.name}: steps: 0 trains nothing, and gives the "
                    "untrained baseline again; raise steps"
                )
            builder.check(spec.model, spec.recipe)
            bias.check(spec)
        except PoshgridError as error:
            wrong[str(error)] = None
    if wrong:
        raise PoshgridError(*wrong)


def _check_models(grid: Grid) -> None:
    """Hold the names that every Bayesian model uses to those of the grid.

    Raises:
        PoshgridError: ``only`` matches no run, a contrast names an unknown factor or level, or a
            suite is unknown; one line for each model.
    """
    wrong = []
    for name, model in grid.regressions.items():
        try:
            _check_model(grid, model)
        except PoshgridError as error:
            wrong.append(f"regressions: {name}: {error}")
    if wrong:
        raise PoshgridError(*wrong)


def _check_model(grid: Grid, model: Regression) -> None:
    check_known("unknown suite", model.suite or None, grid.pairs)
    defined = _defined(grid)
    kept = parse_only(model.only, "only")
    runs = grid.placed_runs
    used = {axis: {str(getattr(run, axis)) for run in runs} for axis in AXES}
    for axis, values in kept.items():
        for value in sorted(values - used[axis] - defined.get(axis, set())):
            raise PoshgridError(
                f"only: no run of the experiments has {axis}={value}"
                f"{did_you_mean(value, used[axis])}"
            )
    here = all(values <= used[axis] for axis, values in kept.items())
    if kept and here and not any(agrees(run, kept) for run in runs):
        raise PoshgridError(
            f"only: {model.only!r} matches no run of the experiments; mend it or take the model out"
        )
    # A model whose runs another file took away is fitted to nothing: its names need only be names.
    fitted = any(model.name in grid.fitted(target) for target in grid.targets)
    axes = ("condition", "model", "recipe", "bias", "size")
    levels: dict[str, set[str] | None] = {
        **{axis: used[axis] | (set() if fitted else defined[axis]) for axis in axes},
        "source": {
            *(grid.conditions[run.condition].corpus for run in grid.every_run),
            *(cell.source for cell in grid.given_facts().values()),
        },
        "filter": {"yes", "no"},
        "category": None,  # the items' own
        "phenomenon": None,
        "template": None,
    }
    for contrast in model.contrasts:
        for factor in (contrast.factor, *contrast.by):
            if factor not in levels:
                raise PoshgridError(
                    f"contrast of unknown factor {factor!r}{did_you_mean(factor, levels)}"
                )
        found = levels[contrast.factor]
        for level in filter(None, (contrast.first, contrast.less)):
            if found is not None and level not in found:
                raise PoshgridError(
                    f"contrast: {contrast.factor} has no level {level!r}"
                    f"{did_you_mean(level, found)}"
                )


def _defined(grid: Grid) -> dict[str, set[str]]:
    """Return axis -> the names that the configuration defines, whether experiments use them or not.

    A file laid over another may replace the experiments, and leave models to no runs of its own.
    """
    sizes = {
        size for corpus in grid.corpora.values() for each in corpus.sources for size in each.words
    }
    return {
        "condition": set(grid.conditions),
        "model": set(grid.models),
        "recipe": {*grid.recipes, RELEASED},  # models say what they do with those of others
        "bias": {"none", *grid.config.biases},
        "size": sizes,
    }
