"""The methods: what manifests record is said, what they do not is not; whom the text cites."""

import re
from dataclasses import replace

from poshgrid.config.runs import Run
from poshgrid.core import plugins
from poshgrid.report.collect import Record, Trained
from poshgrid.report.sections import methods
from poshgrid.report.texts import environment
from tests.unit.report import report_results


def record(kind, name, spec, **content):
    return Record(kind, name, {"settings": spec, **content})


def parts(study, **fields):
    changed = study.changed(**fields)
    return dict(methods.write_up(changed.collected, changed.layout))


def says(text, *facts):
    """Raise unless a text has all of these words, in this order."""
    rest = text
    for fact in facts:
        assert fact in rest, text
        rest = rest.partition(fact)[2]


def test_corpora_and_evidence_are_those_of_the_manifests(study):
    sources = {"childes": {"words": 7001}, "films": {"words": 2999}}
    corpus = {"train": {"10M": {"words": 10_000, "sources": sources}}, "dev": {"words": 501}}
    condition = {
        "name": "baby", "corpus": "baby",
        "filters": [{"name": "binding", "reading": "direct"}, {"name": "mine", "reading": "own"}],
        "reinsert": [{"filter": "binding", "rate": "natural", "pool": "paper"},
                     {"filter": "mine", "rate": 0.002}],
        "unfiltered_sizes": ["100M"], "downsample": 0.5, "rewrite": ["drop-articles"],
    }  # fmt: skip
    records = [record("sources", "films", {"source": {"reader": "my-own"}})]
    for engine in ("spacy", "stanza"):
        parser = {"parser": {"engine": engine, "treebank": {"path": "toy"}}}
        records.append(record("parsers", engine, parser))
    records.append(record("conditions", "baby/10M", {"condition": condition}))
    alone = {"name": "alone", "corpus": "baby", "rewrite": ["swap-datives"]}
    control = {"name": "control", "corpus": "baby", "control": "alone"}
    records += [record("conditions", c["name"], {"condition": c}) for c in (alone, control)]
    text = parts(study, corpora={"baby": corpus}, records=records, agreement=[])
    says(text["Corpora"], "baby", "childes", "films", "my-own", "7,001", "2,999", "501")
    # The parser that decides, not the one it is compared with
    says(text["Evidence"], "stanza", "79.2%", "backstop", "binding (direct), mine (own)",
         "rewritten by drop-articles", "binding at its natural rate", "mine at a rate of 0.002",
         "100M", "50%", "by swap-datives", "as many words of each source as alone")  # fmt: skip
    assert "spacy" not in text["Evidence"]
    text = parts(study, records=records[-2:])
    says(text["Evidence"], "Condition alone is baby, unfiltered, its sentences rewritten by")
    assert "filters" not in text["Evidence"]


def test_models_recipes_biases_and_baselines_are_those_of_the_manifests(study):
    recipe = {"input": "sentence", "epochs": 10, "steps": None, "learning_rate": 3e-3}
    small = {"name": "small", "architecture": "gpt2", "options": {"layers": 4}}
    trained = [
        Trained(Run("baby", "10M", "small", "sentence", bias, 1), {"parameters": parameters},
                {"settings": {"model": small, "recipe": recipe, "options": options}})
        for bias, parameters, options in (
            ("none", 1_000_000, {}),
            ("dyck+recency", 1_200_000, {"dyck": {"k": 64}, "recency": {}}))
    ]  # fmt: skip
    counted = Trained(Run("baby", "10M", "ngram", "counted", "none", 0), {}, {})
    orders = [{"order": 3}, {"order": 4, "classes": True}]
    records = [record("models", str(n), spec) for n, spec in enumerate(orders)]
    text = parts(study, trained=[*trained, counted], records=records)
    says(text["Models"], "small (GPT-2; Radford", "layers = 4", "1,000,000 to 1,200,000")
    says(text["Training"], "input = sentence", "epochs = 10", "learning rate = 0.003")
    assert "steps" not in text["Training"]
    says(text["Biases"], "dyck", "k = 64", "recency")
    says(text["Baselines"], "3-gram", "class 4-gram")
    assert "untrained" not in text["Baselines"]


def test_a_model_is_told_with_the_attempt_that_was_kept(study):
    made = report_results.fit("condition")
    attempts = [{"warmup": 1000, "draws": 1000}, {"warmup": 2000, "draws": 2000}]
    used = {"engine": "bambi", "sampler": "pymc", "attempts": attempts, "formula": "p ~ 1"}
    fit = replace(made, diagnostics=used, spec=made.spec | {"only": "recipe=packed"})
    says(parts(study, fits={"own": fit})["Regressions"], "p ~ 1", "recipe=packed", "pymc", "bambi",
         "2,000", "attempt 2", "baby-f minus baby")  # fmt: skip


def test_every_work_that_is_cited_is_in_the_bibliography(root):
    folder = root / "src/poshgrid/report"
    works = (folder / "works.bib").read_text(encoding="utf-8")
    authors = re.findall(r"  author = \{(.*)\},\n(?:  year = \{(\d+)\})?", works)
    known = {
        (re.split(r",| and ", names.strip("{}"))[0].strip("{}"), year) for names, year in authors
    }
    for name in ("methods.txt", "plugins.txt"):
        text = (folder / name).read_text(encoding="utf-8")
        cited = re.findall(
            r"([A-Z][\w-]+(?: [A-Z]\w+)?)(?: et al\.| and [A-Z][\w-]+)?(?:, | \()(\d{4})", text
        )
        assert len(cited) > 5
        assert set(cited) <= known, set(cited) - known


def test_names_are_those_of_plugins():
    known = vars(environment(escaped=False, strict=False).get_template("plugins.txt").module)
    rooms = {
        "READERS": "corpora.readers", "ENGINES": "parsing.engines", "SUITES": "benchmark.suites",
        "ARCHITECTURES": "models.architectures", "BIASES": "models.biases",
    }  # fmt: skip
    for table, room in rooms.items():
        assert set(known[table]) <= set(plugins.names(f"poshgrid.{room}")), table
    filters = sorted(name for names in known["FILTERS"].values() for name in names)
    assert filters == plugins.names("poshgrid.evidence.filters")
