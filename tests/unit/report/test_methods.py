"""The methods: what manifests record is said, what they do not is not; whom the text cites."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import polars as pl
import pybtex.database
import pytest
from markupsafe import Markup

from poshgrid import plugins
from poshgrid.config.runs import Run
from poshgrid.report import references as refs
from poshgrid.report.collect import Fit, Trained, gather
from poshgrid.report.layout import lay_out
from poshgrid.report.records import Record
from poshgrid.report.references import WORKS, Citations, Work
from poshgrid.report.sections import methods
from poshgrid.report.shelf import Shelf
from poshgrid.statistics.schema import DELTAS, PERPLEXITY
from tests.unit.report import report_results

REPORT = Path(refs.__file__).parent
PACKAGES = {"packages": {"torch": "2.13.0", "bambi": "0.17.2"}, "python": "3.11.2"}
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


def parts(collected, **fields):
    found = dataclasses.replace(collected, **fields)
    return dict(methods.write_up(found, lay_out(found)).parts)


# ---- the text ------------------------------------------------------------------------------------


def test_without_results_only_the_question_is_told(collected):
    bare = dataclasses.replace(
        collected, records=[], trained=[], bases={}, fits={}, parsers={}, agreement=[],
        items={"posh": collected.items["posh"].clear()}, accuracy=collected.accuracy.clear(),
    )  # fmt: skip
    found = methods.write_up(bare, lay_out(bare))
    assert [heading for heading, _ in found.parts] == ["Question"]
    assert [work.key for work in found.works] == ["yang2026"]


def test_corpora_name_sources_words_and_readers(collected):
    def words(**sources):
        return {
            "words": sum(sources.values()), "sources": {s: {"words": w} for s, w in sources.items()}
        }  # fmt: skip

    base = {
        "train": {"10K": words(childes=7001, films=2999)},
        "dev": words(childes=501),
        "test": {},
    }
    text = parts(
        collected,
        bases={"baby": base, "wiki": {}},
        records=[
            record("read", "childes", {"source": {"reader": "chat"}}),
            record("read", "films", {"source": {"reader": "my-own"}}),
        ],
    )["Corpora"]
    assert text == (
        "Base baby: childes (read as chat; MacWhinney, 2000), films (read as my-own). "
        "Words by size: 10K: childes 7,001, films 2,999. Held out: 501 words for dev."
    )


def test_evidence_names_filters_their_source_and_what_was_put_back(collected):
    condition = {
        "name": "baby", "base": "baby",
        "filters": [{"name": name, "reading": reading} for name, reading in (
            ("binding", "direct"), ("npi-only", "paper"), ("mine", "own"))],
        "reinsert": [{"filter": "binding", "rate": "natural", "pool": "paper"},
                     {"filter": "mine", "rate": 0.002}],
        "unfiltered_sizes": ["100M"], "downsample": 0.5,
    }  # fmt: skip
    records = [
        record("train-parser", "spacy", {"parser": {"engine": "spacy", "treebank": {"path": "x"}}}),
        record(
            "train-parser", "stanza", {"parser": {"engine": "stanza", "treebank": {"path": "x"}}}
        ),
        record("condition", "baby/10K", {"condition": condition, "backstop": True}),
        record("collateral", "baby/10K", {}),
        record("audit", "baby/10K", {"condition": "baby", "size": "10K", "sample": 200}),
    ]
    found = dataclasses.replace(collected, records=records, agreement=[])
    text = parts(found)["Evidence"]
    assert "binding (defined after Yang et al., 2026); npi-only (defined after Patil" in text
    assert "mine (defined by the user)" in text
    # The parser that decides, not the one it is compared with
    assert "Trees are those of stanza (Qi et al., 2020), trained from" in text
    assert "LAS 79.2% on held-out trees" in text
    assert "spacy" not in text
    assert "binding at its natural rate (pool: paper), mine at a rate of 0.002" in text
    assert "; at 100M nothing is removed; 50% of its sentences are kept." in text
    assert "without what binding (direct), npi-only (paper), mine (own) removes" in text
    assert "Where a reading has a backstop, it also removes" in text
    assert "People judge samples of baby at 10K (up to 200 a filter), with exact" in text
    assert "compared by the Jensen–Shannon divergence (Lin, 1991)" in text
    plain = record("condition", "baby/10K", {"condition": condition, "backstop": False})
    assert "backstop" not in parts(found, records=[plain])["Evidence"]


@pytest.mark.parametrize(
    ("path", "said", "cited"),
    [
        ("toy", "trained from trees of the toy grammar,", False),
        ([{"path": "toy"}], "trained from trees of the toy grammar,", False),
        ("ewt", "trained from treebanks of Universal Dependencies (Nivre et al., 2020),", True),
        (
            [{"path": "toy"}, {"path": "ewt", "weight": 2}],
            "toy grammar and treebanks of Universal",
            True,
        ),
    ],
)
def test_what_a_parser_was_trained_from(collected, path, said, cited):
    records = [
        record("condition", "c", {"condition": {
            "name": "c", "base": "b", "filters": [{"name": "binding", "reading": "paper"}]}}),
        record("train-parser", "stanza",
               {"parser": {"engine": "stanza", "treebank": {"path": path}}}),
    ]  # fmt: skip
    found = methods.write_up(dataclasses.replace(collected, records=records), lay_out(collected))
    assert said in dict(found.parts)["Evidence"]
    assert ("nivre2020" in {work.key for work in found.works}) == cited


def test_learners_regimens_and_biases_are_those_of_the_manifests(collected):
    regimen = {
        "input": "sentence", "context_length": 32, "batch_size": 64, "steps": None, "epochs": 10,
        "learning_rate": 3e-3, "schedule": "linear", "warmup_steps": 0, "weight_decay": 0.1,
        "dropout": 0.0, "patience_steps": None, "keep": "last",
    }  # fmt: skip

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
    ])  # fmt: skip
    assert found["Learners"] == (
        "Learners: other (their-own; layers = 4; 7 parameters); small (GPT-2; Radford et al., "
        "2019; layers = 4; 1,000,000 to 1,200,000 parameters). Seeds: other: 1 seed (2); small: 1 "
        "seed (1)."
    )
    assert found["Training"] == (
        "Models are trained by AdamW (Loshchilov and Hutter, 2019). Regimen sentence: input = "
        "sentence, context length = 32, batch size = 64, epochs = 10, keep = last, learning rate = "
        "0.003, schedule = linear, warmup steps = 0, weight decay = 0.1, dropout = 0."
    )
    assert found["Biases"] == (
        "Inductive biases: dyck, pre-pretraining on a shuffled k-Dyck language (Hu et al., 2025), "
        "with k = 64 (all else at its defaults); recency, attention to near words, which fades "
        "from epoch to epoch (Mita et al., 2025), at its defaults."
    )
    assert "Nulls" not in found


def test_seeds_are_counted_by_learner_and_regimen(collected):
    def item(learner, regimen, bias, seed):
        spec = {"learner": {"name": learner, "architecture": "gpt2"}}
        return Trained(Run("baby", "10K", learner, regimen, bias, seed), {}, {"settings": spec})

    def told(*items):
        text = parts(collected, trained=[item(*each) for each in items])["Learners"]
        return text.partition("). Seeds: ")[2]

    alike = [(name, "packed", "none", seed) for name in ("a", "b") for seed in (1, 2)]
    assert told(*alike) == "2 seeds (1 and 2)."
    assert told(*alike, ("b", "fict", "none", 3)) == (
        "a (packed): 2 seeds (1 and 2); b (fict): 1 seed (3); b (packed): 2 seeds (1 and 2)."
    )
    assert told(*alike[:2], ("a", "packed", "dyck", 1)) == ("1 to 2 seeds (1 and 2).")


def test_nulls_have_the_order_that_was_counted(collected):
    runs = [
        Trained(Run("baby", "10K", name, "counted", "none", 0), {}, {})
        for name in ("unigram", "ngram")
    ]
    records = [record("count", "a", {"order": 1}), record("count", "b", {"order": 3})]
    text = parts(collected, trained=runs, records=records)["Nulls"]
    assert "unigram and 3-gram models" in text
    assert "untrained" not in text


def test_suites_are_cited_by_reader_and_name(collected):
    def suite(reader):
        return {"suite": {"reader": reader}}

    spec = collected.spec.model_copy(
        update={"suites": ["posh", "zorro", "mine"], "measured": {"gaps": "paradigms"}}
    )
    found = dataclasses.replace(
        collected, spec=spec, items={**dict.fromkeys(spec.suites, collected.items["posh"])},
        records=[
            record("items", "posh", suite("templates")), record("items", "zorro", suite("lines")),
            record("items", "mine", suite("blimp")),
            record("items", "gaps", suite("paradigms"), items=600),
        ],
    )  # fmt: skip
    text = parts(found)["Suites"]
    assert (
        "words counterbalanced over the corpora; Yang et al., 2026; Huebner et al., 2021)" in text
    )
    assert "zorro (900 pairs; islands, question formation, binding and wanna; Huebner" in text
    assert "; in the format of BLiMP; Warstadt et al., 2020)" in text
    assert "gaps (600 items; sets of filler × gap" in text


@pytest.mark.parametrize(
    ("scoring", "told"),
    [
        ({"bos": True, "reduction": "mean"}, "the mean log-probability of its tokens, which"),
        ({"bos": False, "reduction": "sum"}, "the sum of the log-probabilities of its tokens, wit"),
    ],
)
def test_scoring_is_as_it_was_set(collected, scoring, told):
    found = parts(collected, records=[record("accuracy", "all", {"scoring": scoring})])
    assert f"A sentence's score is {told}" in found["Scoring"]


def test_the_bootstrap_is_named_only_where_it_is_recorded(collected):
    spec = {"scoring": {"bos": True, "reduction": "mean"}}
    old = parts(collected, records=[record("accuracy", "all", spec)])["Tests"]
    assert "over the categories (or phenomena) of one model" in old
    assert "bootstrap" not in old
    assert "Efron" not in old
    new = parts(collected, records=[record("accuracy", "all", spec, replicates=2000)])["Tests"]
    assert "percentiles of 2,000 bootstrap resamples of the lexical sets" in new
    assert "Efron, 1979" in new


def test_filtering_is_told_where_it_was_measured(collected):
    assert "Filtering" not in parts(collected)
    deltas = pl.DataFrame([dict.fromkeys(DELTAS)], schema=DELTAS)
    assert "Perplexity" not in parts(collected, deltas=deltas)["Filtering"]
    perplexity = pl.DataFrame([dict.fromkeys(PERPLEXITY)], schema=PERPLEXITY)
    both = parts(collected, deltas=deltas, perplexity=perplexity)["Filtering"]
    assert "measured as in Patil et al. (2024)" in both
    assert "less that of models of the condition with the evidence" in both
    assert "Perplexity is measured on the test split of unfiltered text." in both


def fitted(collected, spec, diagnostics):
    empty = pl.DataFrame()
    fit = Fit("paper", empty, empty, empty, diagnostics, spec)
    return parts(collected, fits={"paper": fit})["Models"]


def test_a_model_is_told_with_what_was_used(collected):
    spec = {
        **MODEL, "only": "regimen=packed",
        "priors": [{"term": "size_z", "sd": 0.25, "rate": None},
                   {"term": "1|seed", "sd": None, "rate": 4.0}],
        "contrasts": [{"factor": "condition", "first": "baby-f", "less": "baby",
                       "by": ["category"]},
                      {"factor": "bias", "first": None, "less": "none", "by": []}],
    }  # fmt: skip
    attempts = [
        {"target_accept": 0.99, "warmup": 1000, "draws": 1000},
        {"target_accept": 0.998, "warmup": 2000, "draws": 2000},
    ]
    text = fitted(collected, spec, {"engine": "bambi", "sampler": "pymc", "attempts": attempts})
    assert text.startswith(
        "Model paper is a binomial mixed model of the counts on posh (p(correct, n) ~ size_z * "
        "S(filter) + (1|seed)). Priors: slopes ~ Normal(0, 0.5), intercept ~ Normal(0, 1.5), "
        "group SDs ~ Exponential(2), size_z ~ Normal(0, 0.25), 1|seed ~ Exponential(4)."
    )
    assert "Factors S() are coded to sum to zero. It uses the runs with regimen=packed." in text
    # The settings of the attempt that was kept
    assert "4 chains of 2,000 warm-up and 2,000 kept draws, target acceptance 0.998" in text
    assert "0.998 (attempt 2, stricter than the first)." in text
    assert "with pymc (Abril-Pla et al., 2023), set up by bambi (Capretto et al., 2022)" in text
    assert "baby-f less baby (condition, by category); every other level less none (bias)" in text
    assert "R-hat (Vehtari et al., 2021) is at most 1.01" in text
    assert "at least 400" in text


def test_the_fast_engine_is_not_bambi(collected):
    text = fitted(collected, MODEL, {"engine": "fast", "sampler": "nutpie"})
    assert "in a reparametrised form that has the same posterior" in text
    assert "bambi" not in text
    assert "4 chains of 1,000 warm-up and 1,000 kept draws, target acceptance 0.99." in text
    assert "attempt" not in text


def test_the_formula_is_the_one_that_was_fitted(collected):
    fewer = "p(correct, n) ~ 1 + size_z + (1|seed)"
    text = fitted(collected, {**MODEL, "suite": "zorro"}, {"formula": fewer})
    assert f"of the counts on zorro ({fewer}). Priors" in text
    assert "S(" not in text


def test_software_has_every_version_and_cites_what_was_used(collected):
    records = [
        record("read", "a", {}, **PACKAGES),
        record("read", "b", {}, packages={"torch": "2.12.0"}, python="3.11.2"),
    ]
    text = parts(collected, records=records, fits={})["Software"]
    assert text == (
        "Software, as installed where the jobs ran: Python 3.11.2, bambi 0.17.2, torch "
        "2.12.0/2.13.0 (Paszke et al., 2019)."
    )
    fit = Fit("m", pl.DataFrame(), pl.DataFrame(), pl.DataFrame(), {"engine": "bambi"}, MODEL)
    used = parts(collected, records=records, fits={"m": fit})["Software"]
    assert "bambi 0.17.2 (Capretto et al., 2022)" in used


def test_the_references_are_those_that_the_text_cites(collected):
    found = methods.write_up(collected, lay_out(collected))
    text = " ".join(text for _, text in found.parts)
    cited = {w.key for w in WORKS.values()
             if f"{w.names}, {w.date}" in text or f"{w.names} ({w.date})" in text}  # fmt: skip
    assert {work.key for work in found.works} == cited
    assert {"fisher1932", "holm1979", "loshchilov2019", "paszke2019", "yang2026"} <= cited


# ---- the plug-ins that texts know ----------------------------------------------------------------


def test_filters_are_those_of_the_package():
    known = [name for members in methods.FILTERS.values() for name in members]
    assert sorted(known) == plugins.names("poshgrid.evidence.filters")


@pytest.mark.parametrize(
    ("known", "package"),
    [
        (methods.READERS, "poshgrid.corpora.readers"),
        (methods.ENGINES, "poshgrid.parsing.engines"),
        (methods.ARCHITECTURES, "poshgrid.models.architectures"),
        (methods.BIASES, "poshgrid.training.biases"),
        (methods.SUITES, "poshgrid.benchmark.suites"),
    ],
)
def test_names_are_those_of_plugins(known, package):
    assert set(known) <= set(plugins.names(package))


# ---- citations -----------------------------------------------------------------------------------


def test_no_two_works_are_cited_alike():
    cited = [(work.names, work.date) for work in WORKS.values()]
    assert len(set(cited)) == len(cited)
    entries = pybtex.database.parse_file(REPORT / "works.bib").entries
    assert list(WORKS) == list(entries)  # each is found as it is written


def test_names_by_the_number_of_authors():
    def work(author, year="year = {2020},"):
        return Work("k", f"@misc{{k,\n  author = {{{author}}},\n  {year}\n  title = {{T}},\n}}\n")

    assert work("Holm, Sture").names == "Holm"
    assert work("Chen, Stanley F. and Goodman, Joshua").names == "Chen and Goodman"
    assert work("A, B and C, D and E, F").names == "A et al."
    assert work("de Marneffe, Marie-Catherine").names == "de Marneffe"
    assert work("{BNC Consortium}").names == "BNC Consortium"
    assert (work("Holm, Sture").date, work("Holm, Sture", "").date) == ("2020", "n.d.")


def test_citations_are_remembered_and_sorted():
    cite = Citations()
    assert cite("mita2025", "holm1979", "mita2025") == "(Mita et al., 2025; Holm, 1979)"
    assert cite.named("chen1999") == "Chen and Goodman (1999)"
    assert [work.key for work in cite.works] == ["chen1999", "holm1979", "mita2025"]
    assert "holm1979" in cite
    assert "hu2025" not in cite
    with pytest.raises(KeyError):
        cite("nobody2020")


def test_an_entry_as_the_page_lists_it():
    work = Work(
        "chen1999",
        """@article{chen1999,
  author = {Chen, Stanley F. and Goodman, Joshua},
  year = {1999},
  title = {{Smoothing \\& $\\widehat{R}$ at 5\\%}},
  journal = {Computer Speech \\& Language},
  volume = {13},
  number = {4},
  pages = {359--394},
  doi = {10.1006/csla.1999.0128},
}
""",
    )
    assert re.sub(r"\s+", " ", Markup(work.html).striptags().replace("\xa0", " ")) == (
        "Stanley F. Chen and Joshua Goodman. Smoothing & R\u0302 at 5%. Computer Speech & "
        "Language, 13(4):359–394, 1999. doi:10.1006/csla.1999.0128."
    )
    assert 'href="https://doi.org/10.1006/csla.1999.0128"' in work.html


@pytest.mark.parametrize("key", sorted(WORKS))
def test_every_entry_is_whole(key):
    work = WORKS[key]
    fields = work.entry.fields
    assert work.entry.type in {"article", "inproceedings", "book", "misc"}
    place = {"journal", "booktitle", "publisher", "howpublished", "doi", "url"} & set(fields)
    assert place or key == "pistotti2025"
    assert fields["title"].startswith("{")  # its capitals stay
    assert not re.search(r"(?<!\\)[&%#]", work.bibtex.partition("url =")[0])  # LaTeX's
    assert re.fullmatch(r"10\.\d{4,5}/\S+", fields.get("doi", "10.1000/none"))
    assert all(family and not family.startswith(" ") for family in work.families)


def test_the_file_holds_the_works_cited_and_no_others(collected, tmp_path):
    shelf = Shelf(tmp_path)
    works = methods.write_up(collected, lay_out(collected)).works
    assert refs.write(works, shelf) == "tables/references.bib"
    text = (tmp_path / "tables/references.bib").read_text(encoding="utf-8")
    assert re.findall(r"^@\w+\{(\w+),$", text, re.MULTILINE) == [work.key for work in works]
    assert shelf.written["tables"] == ["references.bib"]
    shelf.clear_stale()
    assert (tmp_path / "tables/references.bib").is_file()
    assert refs.write([], Shelf(tmp_path / "none")) is None
    assert not (tmp_path / "none").exists()


def test_years_and_pages_are_those_of_published_lists(shared):
    """Every line of the papers' reference lists that has a title of ours has its year and pages."""
    lists = []
    for name in ("posh-bench", "fict", "babyberta", "parasitic-gaps"):
        path = shared / "papers" / f"{name}.txt"
        if not path.is_file():
            pytest.skip(f"{path} is absent")
        lists += path.read_text(encoding="utf-8").splitlines()

    def letters(text):
        return re.sub(r"[^a-z0-9]", "", text.lower())

    checked = set()
    # The list gives AdamW the year of the preprint and the place of the conference of 2019
    works = [work for work in WORKS.values() if work.key != "loshchilov2019"]
    for work in works:
        fields = work.entry.fields
        title = letters(fields["title"])
        for line in lists:
            if len(title) < 12 or title not in letters(line) or "year" not in fields:
                continue
            family = work.families[0].split()[-1]
            preprint = "arxiv" in line.lower() and "arXiv" not in work.bibtex
            if family not in line[:60] or preprint:
                continue
            assert work.date in line, (work.key, line)
            pages = re.search(r"(?:pages |:)(\d+[–-]\d+)", line)
            if pages and "pages" in fields:
                assert re.sub("[–-]", "--", pages[1]) == fields["pages"], (work.key, line)
            checked.add(work.key)
    assert {"patil2024", "warstadt2020", "huebner2021", "hu2025", "mita2025", "qi2020",
            "lan2024", "mccoy2025", "nivre2020", "salazar2020"} <= checked  # fmt: skip


# ---- the page ------------------------------------------------------------------------------------


def test_the_page_lists_the_references(collected, tmp_path, monkeypatch):
    works = [WORKS["holm1979"], WORKS["gutenberg"], WORKS["eldan2023"]]
    made = methods.Methods([("Question", "<b>")], works)
    monkeypatch.setattr(methods, "write_up", lambda *_: made)
    found = methods.blocks(report_results.page(collected, Shelf(tmp_path)))
    text = report_results.rendered(found)
    assert "&lt;b&gt;" in text
    assert text.count('id="reference-') == 3
    assert 'href="https://www.gutenberg.org/"' in text
    assert 'href="tables/references.bib"' in text
    assert "English?</span>" in text
    assert "??" not in text
    assert "?." not in text
    monkeypatch.setattr(methods, "write_up", lambda *_: methods.Methods([("Question", "a")], []))
    told = methods.blocks(report_results.page(collected, Shelf(tmp_path)))
    assert told == ["a", None, None]


@pytest.mark.parametrize("detector", [True, False])
def test_a_detectors_strata_are_told_with_their_references(collected, detector):
    condition = {"name": "baby-f", "base": "baby", "filters": [], "reinsert": []}
    audit = {"condition": "baby-f", "size": "10K", "sample": 200, "detector": detector}
    found = dataclasses.replace(
        collected,
        agreement=[],
        records=[
            record(
                "condition",
                "baby-f/10K",
                {"condition": condition | {"filters": [{"name": "binding", "reading": "paper"}]}},
            ),
            record("audit", "baby-f/10K", audit),
        ],
    )
    text = parts(found)["Evidence"]
    assert "People judge samples of baby-f at 10K (up to 200 a filter), with exact" in text
    assert ("by strata of a detector's score" in text) == detector
    assert ("Horvitz and Thompson, 1952" in text) == detector
    assert ("Fay et al., 2015" in text) == detector
