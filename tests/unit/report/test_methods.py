"""The methods: what manifests record is said, what they do not is not; whom the text cites."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from poshgrid import config, plugins
from poshgrid.config.runs import Run
from poshgrid.report.collect import Trained
from poshgrid.report.records import Record
from poshgrid.report.references import WORKS, Citations
from poshgrid.report.sections import methods
from poshgrid.report.texts import environment
from tests.unit.report import report_results


def record(stage, name, spec, **content):
    return Record(stage, name, "", {"settings": spec, **content})


def written(study, **fields):
    changed = study.changed(**fields)
    return methods.write_up(changed.collected, changed.layout)


def parts(study, **fields):
    return dict(written(study, **fields)[0])


def says(text, *facts):
    """Raise unless a text has all of these words, in this order."""
    rest = text
    for fact in facts:
        assert fact in rest, text
        rest = rest.partition(fact)[2]


def test_without_results_the_question_is_all(study):
    collected = study.collected
    bare = written(
        study, records=[], trained=[], corpora={}, fits={}, parsers={}, agreement=[],
        items={"posh": collected.items["posh"].clear()}, accuracy=collected.accuracy.clear(),
    )  # fmt: skip
    assert bare == ([], [])
    asked = config.Study(name="own", question="Why?", authors="Me (2027)")
    spec = study.spec.model_copy(update={"study": asked})
    (_, question), *_ = written(study, spec=spec)[0]
    says(question, "Why?", "Me (2027)")


def test_corpora_and_evidence_are_those_of_the_manifests(study):
    sources = {"childes": {"words": 7001}, "films": {"words": 2999}}
    corpus = {"train": {"10M": {"words": 10_000, "sources": sources}}, "dev": {"words": 501}}
    condition = {
        "name": "baby", "corpus": "baby",
        "filters": [{"name": name, "reading": reading} for name, reading in (
            ("binding", "direct"), ("npi-only", "paper"), ("mine", "own"))],
        "reinsert": [{"filter": "binding", "rate": "natural", "pool": "paper"},
                     {"filter": "mine", "rate": 0.002}],
        "unfiltered_sizes": ["100M"], "downsample": 0.5,
    }  # fmt: skip
    records = [
        record("read", "films", {"source": {"reader": "my-own"}}),
        *(
            record("train-parser", name, {"parser": {"engine": name, "treebank": {"path": "toy"}}})
            for name in ("spacy", "stanza")
        ),
        record("condition", "baby/10M", {"condition": condition, "backstop": True}),
        record("audit", "baby/10M", {"condition": "baby", "size": "10M", "sample": 200}),
    ]
    text = parts(study, corpora={"baby": corpus}, records=records, agreement=[])
    says(text["Corpora"], "baby", "childes", "films", "my-own", "7,001", "2,999", "501")
    # The parser that decides, not the one it is compared with
    says(text["Evidence"], "binding", "npi-only", "mine", "stanza", "79.2%", "backstop",
         "binding (direct), npi-only (paper), mine (own)", "binding at its natural rate",
         "mine at a rate of 0.002", "100M", "50%", "up to 200")  # fmt: skip
    assert "spacy" not in text["Evidence"]
    plain = record("condition", "baby/10M", {"condition": condition, "backstop": False})
    assert "backstop" not in parts(study, records=[plain], agreement=[])["Evidence"]


def test_learners_recipes_biases_and_seeds_are_those_of_the_manifests(study):
    recipe = {"input": "sentence", "epochs": 10, "steps": None, "learning_rate": 3e-3}

    def item(model, architecture, bias, options, parameters, seed):
        spec = {
            "model": {"name": model, "architecture": architecture, "options": {"layers": 4}},
            "recipe": recipe, "options": options,
        }  # fmt: skip
        run = Run("baby", "10M", model, "sentence", bias, seed)
        return Trained(run, {"parameters": parameters}, {"settings": spec})

    text = parts(study, trained=[
        item("small", "gpt2", "none", {}, 1_000_000, 1),
        item("small", "gpt2", "dyck+recency", {"dyck": {"k": 64}, "recency": {}}, 1_200_000, 1),
        item("other", "their-own", "none", {}, 7, 2),
        Trained(Run("baby", "10M", "ngram", "counted", "none", 0), {}, {}),
    ], records=[
        record("count", "b", {"order": 3}), record("count", "c", {"order": 4, "classes": True}),
    ])  # fmt: skip
    says(text["Models"], "other (their-own; layers = 4; 7 parameters)", "small (GPT-2; Radford",
         "1,000,000 to 1,200,000")  # fmt: skip
    says(text["Training"], "input = sentence", "epochs = 10", "learning rate = 0.003")
    assert "steps" not in text["Training"]
    says(text["Biases"], "dyck", "k = 64", "recency")
    says(text["Baselines"], "3-gram", "class 4-gram", "Reali and Christiansen")
    assert "untrained" not in text["Baselines"]


def test_a_model_is_told_with_the_attempt_that_was_kept(study):
    made = report_results.fit("condition")
    attempts = [{"warmup": 1000, "draws": 1000}, {"warmup": 2000, "draws": 2000}]
    used = {"engine": "bambi", "sampler": "pymc", "attempts": attempts, "formula": "p ~ 1"}
    fit = replace(made, diagnostics=used, spec=made.spec | {"only": "recipe=packed"})
    says(parts(study, fits={"own": fit})["Regressions"], "p ~ 1", "recipe=packed", "pymc", "bambi",
         "2,000", "attempt 2", "baby-f less baby")  # fmt: skip


def test_software_is_what_was_used_and_references_are_the_works_cited(study, tmp_path):
    packages = {"packages": {"torch": "2.13.0", "bambi": "0.17.2"}, "python": "3.11.2"}
    older = {"packages": {"torch": "2.12.0"}, "python": "3.11.2"}
    records = [record("read", "a", {}, **packages), record("read", "b", {}, **older)]
    text = parts(study, records=records, fits={})["Software"]
    says(text, "3.11.2", "bambi 0.17.2, torch 2.12.0/2.13.0 (Paszke")
    texts, works = written(study)
    text = " ".join(text for _, text in texts)
    cited = {w.key for w in WORKS.values()
             if f"{w.names}, {w.date}" in text or f"{w.names} ({w.date})" in text}  # fmt: skip
    assert {work.key for work in works} == cited > {"fisher1932", "holm1979", "paszke2019"}
    study.written(methods, tmp_path)
    text = (tmp_path / "tables/references.bib").read_text(encoding="utf-8")
    assert re.findall(r"^@\w+\{(\w+),$", text, re.MULTILINE) == [work.key for work in works]


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


def test_citations_are_remembered_sorted_and_told_apart():
    cite = Citations()
    assert cite("mita2025", "holm1979", "mita2025") == "(Mita et al., 2025; Holm, 1979)"
    assert cite.named("chen1999") == "Chen and Goodman (1999)"
    assert [work.key for work in cite.works] == ["chen1999", "holm1979", "mita2025"]
    assert len({(work.names, work.date) for work in WORKS.values()}) == len(WORKS)
    assert 'href="https://doi.org/' in WORKS["chen1999"].html
