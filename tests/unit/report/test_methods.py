"""The methods: what manifests record is said, what they do not is not; whom the text cites."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import polars as pl
import pybtex.database
import pytest

from poshgrid import plugins
from poshgrid.config.runs import Run
from poshgrid.report import references as refs
from poshgrid.report.collect import Fit, Trained, gather
from poshgrid.report.layout import lay_out
from poshgrid.report.records import Record
from poshgrid.report.references import WORKS, Citations
from poshgrid.report.sections import methods
from poshgrid.report.shelf import Shelf
from poshgrid.report.texts import environment
from tests.unit.report import report_results

MODEL = {
    "name": "paper", "formula": "p(correct, n) ~ size_z * S(filter) + (1|seed)", "only": None,
    "slope_sd": 0.5, "intercept_sd": 1.5, "group_rate": 2.0, "chains": 4, "warmup": 1000,
    "draws": 1000, "target_accept": 0.99, "sampler": "nutpie", "engine": "auto",
}  # fmt: skip


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    """A small results folder, read."""
    folder = tmp_path_factory.mktemp("results")
    spec = report_results.build(
        folder, conditions=("baby", "baby-f"), sizes=("10K",), seeds=(1, 2), swept=False
    )
    return gather(spec, folder)


def record(stage, name, spec, **content):
    return Record(stage, name, "", {"settings": spec, **content})


def written(collected, **fields):
    changed = dataclasses.replace(collected, **fields)
    return methods.write_up(changed, lay_out(changed))


def parts(collected, **fields):
    return dict(written(collected, **fields).parts)


def says(text, *facts):
    """Raise unless a text has all of these words, in this order."""
    place = 0
    for fact in facts:
        assert fact in text[place:], (fact, text[place:])
        place = text.index(fact, place) + len(fact)


# ---- the text ------------------------------------------------------------------------------------


def test_without_results_only_the_question_is_told(collected):
    bare = written(
        collected, records=[], trained=[], bases={}, fits={}, parsers={}, agreement=[],
        items={"posh": collected.items["posh"].clear()}, accuracy=collected.accuracy.clear(),
    )  # fmt: skip
    assert [heading for heading, _ in bare.parts] == ["Question"]
    assert [work.key for work in bare.works] == ["yang2026"]


def test_corpora_name_sources_words_and_readers(collected):
    def words(**sources):
        by_source = {source: {"words": number} for source, number in sources.items()}
        return {"words": sum(sources.values()), "sources": by_source}

    base = {
        "train": {"10K": words(childes=7001, films=2999)},
        "dev": words(childes=501),
        "test": {},
    }
    records = [
        record("read", "childes", {"source": {"reader": "chat"}}),
        record("read", "films", {"source": {"reader": "my-own"}}),
    ]
    text = parts(collected, bases={"baby": base, "wiki": {}}, records=records)["Corpora"]
    says(text, "baby", "childes", "chat", "MacWhinney, 2000", "films", "my-own", "10K", "7,001",
         "2,999", "501")  # fmt: skip


@pytest.mark.parametrize(
    ("path", "cited"), [("toy", False), ([{"path": "toy"}, {"path": "ewt", "weight": 2}], True)]
)
def test_evidence_names_filters_parsers_and_what_was_put_back(collected, path, cited):
    condition = {
        "name": "baby", "base": "baby",
        "filters": [{"name": name, "reading": reading} for name, reading in (
            ("binding", "direct"), ("npi-only", "paper"), ("mine", "own"))],
        "reinsert": [{"filter": "binding", "rate": "natural", "pool": "paper"},
                     {"filter": "mine", "rate": 0.002}],
        "unfiltered_sizes": ["100M"], "downsample": 0.5,
    }  # fmt: skip
    audit = {"condition": "baby", "size": "10K", "sample": 200}
    records = [
        *(record("train-parser", name, {"parser": {"engine": name, "treebank": {"path": path}}})
          for name in ("spacy", "stanza")),
        record("condition", "baby/10K", {"condition": condition, "backstop": True}),
        record("collateral", "baby/10K", {}),
        record("audit", "baby/10K", audit),
    ]  # fmt: skip
    found = written(collected, records=records, agreement=[])
    text = dict(found.parts)["Evidence"]
    says(text, "binding (defined after Yang", "npi-only (defined after Patil", "mine (defined by")
    # The parser that decides, not the one it is compared with
    says(text, "stanza", "toy", "79.2%", "binding (direct), npi-only (paper), mine (own)",
         "binding at its natural rate (pool: paper), mine at a rate of 0.002", "100M", "50%",
         "up to 200", "(Lin, 1991)")  # fmt: skip
    assert "spacy" not in text and "backstop" in text
    keys = {work.key for work in found.works}
    assert ("nivre2020" in keys) == cited and "clopper1934" in keys
    plain = record("condition", "baby/10K", {"condition": condition, "backstop": False})
    assert "backstop" not in parts(collected, records=[plain], agreement=[])["Evidence"]


def test_learners_regimens_biases_and_seeds_are_those_of_the_manifests(collected):
    regimen = {"input": "sentence", "epochs": 10, "steps": None, "learning_rate": 3e-3}

    def item(learner, architecture, bias, options, parameters, seed):
        spec = {
            "learner": {"name": learner, "architecture": architecture, "options": {"layers": 4}},
            "regimen": regimen, "options": options,
        }  # fmt: skip
        run = Run("baby", "10K", learner, "sentence", bias, seed)
        return Trained(run, {"parameters": parameters}, {"settings": spec})

    found = parts(collected, trained=[
        item("small", "gpt2", "none", {}, 1_000_000, 1),
        item("small", "gpt2", "dyck+recency", {"dyck": {"k": 64}, "recency": {}}, 1_200_000, 1),
        item("other", "their-own", "none", {}, 7, 2),
        Trained(Run("baby", "10K", "ngram", "counted", "none", 0), {}, {}),
    ], records=[record("count", "b", {"order": 3})])  # fmt: skip
    says(found["Learners"], "other (their-own; layers = 4; 7 parameters)", "small (GPT-2; Radford",
         "1,000,000 to 1,200,000", "other: 1 seed (2); small: 1 seed (1)")  # fmt: skip
    says(found["Training"], "input = sentence", "epochs = 10", "learning rate = 0.003")
    assert "steps" not in found["Training"]
    says(found["Biases"], "dyck", "(Hu et al., 2025)", "k = 64", "recency", "(Mita et al., 2025)")
    assert "3-gram" in found["Nulls"] and "untrained" not in found["Nulls"]


def test_a_model_is_told_with_what_was_used(collected):
    spec = {
        **MODEL, "only": "regimen=packed", "suite": "zorro",
        "priors": [{"term": "size_z", "sd": 0.25, "rate": None},
                   {"term": "1|seed", "sd": None, "rate": 4.0}],
        "contrasts": [{"factor": "condition", "first": "baby-f", "less": "baby",
                       "by": ["category"]},
                      {"factor": "bias", "first": None, "less": "none", "by": []}],
    }  # fmt: skip
    attempts = [{"target_accept": 0.99, "warmup": 1000, "draws": 1000},
                {"target_accept": 0.998, "warmup": 2000, "draws": 2000}]  # fmt: skip
    empty = pl.DataFrame()
    used = {"engine": "bambi", "sampler": "pymc", "attempts": attempts, "formula": "p ~ 1"}
    text = parts(collected, fits={"paper": Fit("paper", empty, empty, empty, used, spec)})["Models"]
    # The formula and the settings of the attempt that was kept
    says(text, "zorro (p ~ 1)", "Normal(0, 0.5)", "Normal(0, 1.5)", "Exponential(2)",
         "size_z ~ Normal(0, 0.25)", "1|seed ~ Exponential(4)", "regimen=packed", "pymc", "bambi",
         "2,000", "2,000", "0.998", "attempt 2", "baby-f less baby (condition, by category)",
         "every other level less none (bias)", "1.01", "400")  # fmt: skip
    bare = Fit("paper", empty, empty, empty, {"engine": "fast"}, MODEL)
    text = parts(collected, fits={"paper": bare})["Models"]
    assert "S() are coded" in text and "bambi" not in text and "attempt" not in text


def test_software_and_references_are_those_that_were_used(collected):
    packages = {"packages": {"torch": "2.13.0", "bambi": "0.17.2"}, "python": "3.11.2"}
    records = [
        record("read", "a", {}, **packages),
        record("read", "b", {}, packages={"torch": "2.12.0"}, python="3.11.2"),
    ]
    text = parts(collected, records=records, fits={})["Software"]
    says(text, "3.11.2", "bambi 0.17.2, torch 2.12.0/2.13.0 (Paszke")
    found = written(collected)
    text = " ".join(text for _, text in found.parts)
    cited = {w.key for w in WORKS.values()
             if f"{w.names}, {w.date}" in text or f"{w.names} ({w.date})" in text}  # fmt: skip
    assert {work.key for work in found.works} == cited > {"fisher1932", "holm1979", "paszke2019"}


@pytest.mark.parametrize(
    ("table", "package"),
    [
        ("READERS", "poshgrid.corpora.readers"), ("ENGINES", "poshgrid.parsing.engines"),
        ("ARCHITECTURES", "poshgrid.models.architectures"),
        ("BIASES", "poshgrid.training.biases"), ("SUITES", "poshgrid.benchmark.suites"),
    ],
)  # fmt: skip
def test_names_are_those_of_plugins(table, package):
    known = vars(environment(escaped=False, strict=False).get_template("plugins.txt").module)
    assert set(known[table]) <= set(plugins.names(package))
    filters = sorted(name for names in known["FILTERS"].values() for name in names)
    assert filters == plugins.names("poshgrid.evidence.filters")


# ---- citations -----------------------------------------------------------------------------------


def test_citations_are_remembered_sorted_and_told_apart():
    cite = Citations()
    assert cite("mita2025", "holm1979", "mita2025") == "(Mita et al., 2025; Holm, 1979)"
    assert cite.named("chen1999") == "Chen and Goodman (1999)"
    assert [work.key for work in cite.works] == ["chen1999", "holm1979", "mita2025"]
    assert len({(work.names, work.date) for work in WORKS.values()}) == len(WORKS)
    entries = pybtex.database.parse_file(Path(refs.__file__).with_name("works.bib")).entries
    assert list(WORKS) == list(entries)
    assert 'href="https://doi.org/' in WORKS["chen1999"].html


@pytest.mark.parametrize("key", sorted(WORKS))
def test_every_entry_is_whole(key):
    fields = WORKS[key].entry.fields
    place = {"journal", "booktitle", "publisher", "howpublished", "doi", "url"} & set(fields)
    assert place or key == "pistotti2025"
    assert fields["title"].startswith("{")  # its capitals stay
    assert not re.search(r"(?<!\\)[&%#]", WORKS[key].bibtex.partition("url =")[0])  # LaTeX's
    assert re.fullmatch(r"10\.\d{4,5}/\S+", fields.get("doi", "10.1000/none"))


def test_the_file_and_the_page_hold_the_works_cited_and_no_others(collected, tmp_path):
    works = written(collected).works
    made = methods.blocks(report_results.page(collected, Shelf(tmp_path)))
    text = (tmp_path / "tables/references.bib").read_text(encoding="utf-8")
    assert re.findall(r"^@\w+\{(\w+),$", text, re.MULTILINE) == [work.key for work in works]
    assert report_results.rendered(made).count('id="reference-') == len(works)
