"""Another language than English: Italian, by the example that ships."""

import shutil

import polars as pl
import pytest

from poshgrid.config import specs
from poshgrid.core import plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.corpora.split import split
from poshgrid.evaluation.heuristics.table import preferences
from poshgrid.evidence.label import rules_of
from poshgrid.grid import configfile
from poshgrid.grid.coherence import check
from poshgrid.grid.grid import Grid
from poshgrid.parsing import treebank
from poshgrid.parsing.tokenize import tokenize
from poshgrid.parsing.train import train
from poshgrid.stages import Stages
from tests.jobs import Cell
from tests.shipped import script
from tests.unit.corpora.reader_support import put, table_of

STUDY = "studies/babies/italian.yaml"
FOLDER = "resources/examples/italian"
CHAT = "@Begin\n@Languages:\t{}\n@Participants:\tMOT Mother\n*MOT:\tciao .\n@End\n"


@pytest.fixture
def study(root):
    return configfile.load(root / STUDY)


def test_sources_and_parsers_have_the_language_of_the_configuration(study):
    assert {source.language for source in study.sources} == {"it"}
    assert {parser.language for parser in study.parsers} == {"it"}
    english = study.model_validate(study.model_dump() | {"language": "en"})
    assert {source.language for source in english.sources} == {"it"}  # their own comes first


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"language": "xx"}, None),  # spaCy's language without rules
        ({"language": "qq"}, "'qq': spaCy has no rules of words for it"),
        ({"suites": [{"name": "posh", "reader": "templates"}]}, "'templates' is for English only"),
        (
            {"conditions": [{"name": "baby", "corpus": "baby"},
                            {"name": "baby-f", "corpus": "baby", "filters": ["binding"]}]},
            "filter 'binding' is for English only",
        ),
    ],
)  # fmt: skip
def test_what_is_for_english_only_is_refused_by_name(study, change, message):
    config = study.model_validate(study.model_dump(exclude_unset=True) | change)
    if message is None:
        check(Grid(config))
        return
    with pytest.raises(PoshgridError, match=message):
        check(Grid(config))


def test_the_rules_are_those_of_the_language():
    assert tokenize("L'uomo dell'isola non c'è.", "it") == (
        ["L'", "uomo", "dell'", "isola", "non", "c'", "è", "."]
    )
    assert split("Ecco il prof. Rossi. Dorme.", "it") == ["Ecco il prof. Rossi.", "Dorme."]


def test_transcripts_are_read_in_the_language_that_is_asked_for(tmp_path):
    for code in ("ita", "eng"):
        put(tmp_path, f"chat/{code}.cha", CHAT.format(code))
    for options, document in (({}, "eng"), ({"language": "ita"}, "ita")):
        frame, statistics = table_of(tmp_path, "chat", "chat", options=options)
        assert frame["document"].to_list() == [document]
        assert statistics["dropped"] == {"another language": 1}
        shutil.rmtree(tmp_path / "out")


def test_english_heuristics_are_not_asked():
    items = pl.DataFrame({"item_id": ["a"], "good": ["I cani corrono."], "bad": ["I cani."]})
    assert set(preferences(items, "it")["heuristic"]) == {"shorter"}


def test_what_heuristics_choose_is_of_a_language(study):
    """In the spec, which manifests keep: without it results that were moved pass for today's."""
    jobs = [
        Stages(Grid(study.model_copy(update={"language": language}))).heuristic_choices
        for language in ("en", "it")
    ]
    assert [job.spec(Cell()).written() for job in jobs] == [{}, {"language": "it"}]


def test_a_parser_learns_from_the_trees_that_ship_and_a_filter_finds_its_clauses(
    root, study, tmp_path
):
    """The files are what their script writes; a filter without words works as it is."""
    shutil.copy(root / FOLDER / "make.py", tmp_path)
    script(tmp_path / "make.py").main()
    for name in ("text.txt", "trees.conllu", "pairs.csv"):
        assert (tmp_path / name).read_bytes() == (root / FOLDER / name).read_bytes()
    (shipped,) = study.parsers
    options = shipped.options | {"steps": 100, "evaluate_every": 100}  # half of what is shipped
    parser = shipped.model_copy(update={"options": options})
    treebank.prepare(specs.TreebankSpec(treebank=parser.treebank), root / "resources", tmp_path)
    facts = train(specs.ParserSpec(parser=parser), tmp_path, tmp_path / "model")
    assert facts["las"] > 0.95
    rule = rules_of("agr-rel-cl").readings["paper"]
    engine = plugins.load(plugins.ENGINES, "spacy")
    loaded = engine.load(tmp_path / "model", None, "it")
    pairs = pl.read_csv(root / FOLDER / "pairs.csv")
    sentences = [*pairs["good"], "Le bambine vedono la mela.", "Il gatto con i cani dorme."]
    trees = loaded.parse([tokenize(text, "it") for text in sentences])
    assert [rule(tree) is not None for tree in trees] == [True] * pairs.height + [False] * 2
