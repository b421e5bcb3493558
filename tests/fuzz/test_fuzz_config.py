"""Configurations that nobody should write: refused in lines to act on, or they hang together."""

from __future__ import annotations

import copy
import math
import os
import posixpath

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from poshgrid.core.errors import PoshgridError
from poshgrid.grid import configfile
from poshgrid.grid.grid import Grid
from poshgrid.stages import Stages
from tests import shipped
from tests.jobs import Cell, of_run

from .support import HOSTILE, promised, tried

TEXT, TINY = shipped.TOY.read_text(encoding="utf-8"), shipped.toy()

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([
        -1, 2**31, 2**63, 10**400, -0.0, 0.5, 1e-320, 1e308, math.inf, math.nan, *HOSTILE, "0M",
        "-1K", "1e3K", "0.1K", "10m", "1" * 400 + "M", "0.0000001M", "true", "none", "untrained",
        "all", "size=20K", "=,=", "dyck+dyck", "a~b", "baby~binding", "baby~no-such", "~" * 300,
        "p(correct, n) ~ ", "p(correct, n) ~ S(category) * (1|", "y ~ exec('1/0')",
    ]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),  # no file holds a surrogate
)  # fmt: skip
values = st.one_of(
    scalars,
    st.lists(scalars, max_size=3),
    st.dictionaries(st.one_of(st.sampled_from(HOSTILE), st.integers(), st.none()), scalars,
                    max_size=3),
    st.just([[[[[[["deep"]]]]]]]),
)  # fmt: skip


def dumped(config):
    """Write YAML, fast where it can be: C's emitter refuses surrogates, Python's escapes them."""
    try:
        return yaml.dump(config, Dumper=yaml.CSafeDumper, sort_keys=False)
    except UnicodeEncodeError:
        return yaml.dump(config, Dumper=yaml.SafeDumper, sort_keys=False)


def places(node, keys=()):
    """Every place of a configuration: the keys and indices that lead to it."""
    yield keys
    pairs = ()
    if isinstance(node, dict | list):
        pairs = node.items() if isinstance(node, dict) else enumerate(node)
    for key, inner in pairs:
        yield from places(inner, (*keys, key))


PLACES = [keys for keys in places(TINY) if keys]


@st.composite
def mutated(draw):
    """The tiny configuration with one to three changes."""
    config = copy.deepcopy(TINY)
    for _ in range(draw(st.integers(1, 3))):
        *way, last = draw(st.sampled_from(PLACES))
        change = draw(st.sampled_from(["set", "delete", "wrap", "add"]))
        try:
            node = config
            for part in way:
                node = node[part]
            old = node[last]
            if change == "set":
                node[last] = draw(values)
            elif change == "delete":
                del node[last]
            elif change == "wrap":
                node[last] = draw(st.sampled_from([[old], {"a": old}, str(old)]))
            elif isinstance(node, list):
                node.append(copy.deepcopy(old))
            else:
                node[draw(scalars)] = old
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change has taken the place away
    return config


def checked(path, content):
    """Load a configuration: a good one hangs together; return the lines of the error of another."""
    path.write_bytes(
        content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    )
    try:
        config = configfile.load(path)
    except PoshgridError as error:
        lines = promised(error)
        assert all(str(path) in line or line.startswith("models:") for line in lines), lines
        return lines
    whole(config)
    return []


def whole(config):
    """Ask a grid for all that the rules ask: every job, and every path inside the results."""
    grid = Grid(config)
    stages, paths = Stages(grid), grid.paths
    corpora = {grid.corpus_of(c).name for c in grid.conditions}
    corpora = {corpus for corpus in corpora if grid.sizes(corpus)}
    jobs = [(stages.read, Cell(source=source)) for source in grid.sources]
    jobs += [(stages.mix, Cell(corpus=corpus)) for corpus in corpora]
    jobs += [(stages.recall, Cell(parser=parser)) for parser in grid.parsers]
    jobs += [(stages.items, Cell(suite=suite)) for suite in grid.suites]
    files = [paths.parses(b, p, grid.shards(b)) for b in corpora for p in grid.parsers]
    for target, runs in grid.targets.items():
        for run in [*runs[:3], *grid.baselines(runs)[:3]]:
            files += [paths.scores(run.name, s) for s in grid.suites]
            jobs += [(stages.train, of_run(run.name))] if run.recipe in grid.recipes else []
            jobs += [(stages.score, of_run(run.name))]
        jobs += [(stages.audit, Cell(condition=c, size=s)) for c, s in grid.audits(target)]
        jobs += [(stages.side_effects, Cell(condition=c, size=s)) for c, s in grid.removals(target)]
        jobs += [(stages.fit, Cell(target=target, regression=name)) for name in grid.fitted(target)]
        for condition, size in grid.cells(target):
            cell = Cell(condition=condition, size=size)
            jobs += [(stage, cell) for stage in (stages.condition, stages.tokens, stages.tokenizer)]
        if all(task == "pairs" for task in grid.tasks.values()):
            whole_target = (stages.accuracy, stages.curves, stages.report)
            jobs += [(stage, Cell(target=target)) for stage in whole_target]
    files += [stage.describe(cell)["output"] for stage, cell in jobs]
    for path in files:
        inside(path, config.results)


def inside(path: str, results: str) -> None:
    """Raise if a path leaves the results, or has a name that a file system does not take."""
    start = results.rstrip("/") + "/"
    assert posixpath.normpath(path).startswith(posixpath.normpath(start)), path
    below = path.removeprefix(start)
    for part in below.split("/"):
        assert part not in ("", ".", ".."), path
        assert part.isascii() and part.isprintable(), path
        assert not set(part) & set(" \\:*?\"<>|{}$`;&'()"), path
        assert part[0] not in "-.", path
        # A table is written under a longer name first: .NAME.HOST-PID.tmp
        assert len(os.fsencode(part)) <= 255 - 1 - 64 - 1 - 10 - 4, path


@tried(50)
@given(mutated())
def test_a_configuration_with_wrong_values(tmp_path, config):
    checked(tmp_path / "mine.yaml", dumped(config))


@st.composite
def garbled(draw):
    """The text of the tiny configuration, some characters taken out, put in or moved."""
    text = TEXT
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 40)))
        put = draw(st.one_of(
            st.just(""), st.just(text[start:end] * 2), st.text(max_size=5),
            st.sampled_from(["\t", "\0", "&a ", "*a", "<<: *a", "!!python/name:os.system ",
                             "!!timestamp ", "!!binary ", "!!set ", "!!bool ", "? ", "- ", "[", "]",
                             "{", "}", ": ", "#", "---\n", "%YAML 9.9\n", "'", '"', "|\n", "\x85",
                             "\ufeff", "9" * 5_000, "2024-99-99", ".nan", "\ud800"]),
        ))  # fmt: skip
        text = text[:start] + put + text[end:]
    return text


@tried(40)
@given(garbled())
def test_a_configuration_whose_text_is_garbled(tmp_path, text):
    checked(tmp_path / "mine.yaml", text)


def laughs(levels: int, width: int) -> str:
    lines = ["a0: &a0 [lol, lol]"]
    for n in range(1, levels):
        lines.append(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * width)}]")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "text",
    [
        laughs(12, 10) + "sources: *a11\n",
        TEXT.replace("biases:", laughs(12, 10).replace("a0:", "x: 1\na0:") + "biases:"),
        "a: &a [*a]\nsources: *a\n",
        "biases: &a {dyck: *a}\n",
        "sources: " + "[" * 2_000 + "]" * 2_000,
        "".join(f"k{n}: 1\n" for n in range(5_000)),
        "data: " + "x" * 300_000,
    ],
    ids=["list", "options", "itself", "itself in a mapping", "deep", "many keys", "long"],
)
def test_yaml_that_grows_without_bounds(tmp_path, text):
    """A kilobyte of aliases may stand for a terabyte: it is counted before it is built."""
    assert 0 < len(checked(tmp_path / "mine.yaml", text)) <= 101
