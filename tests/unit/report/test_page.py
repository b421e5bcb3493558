"""The page: what the tables hold, whatever is missing or malicious; its sections and manifests."""

import html
import re
import sys
import types
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

from poshgrid.benchmark.schema import PAIRS
from poshgrid.config.paths import Paths
from poshgrid.core import files, plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.report import parts
from poshgrid.report.accuracies import cells, of_level
from poshgrid.report.page import render, write
from poshgrid.statistics.schema import ACCURACY

from . import report_results

PLANTED = "<script>alert('what')</script>"
SMALL = {"conditions": ("baby", "baby-f"), "sizes": ("10K",), "seeds": (1, 2)}


class Page(HTMLParser):
    """The page taken apart: rows of tables, links, what is loaded, texts, tags left open."""

    VOID = frozenset(("meta", "link", "input", "br", "hr", "img", "path", "use", "rect", "circle"))

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.text = (folder / "index.html").read_text(encoding="utf-8")
        self.links, self.loaded, self.ids, self.tags, self.open, self.texts = ([] for _ in "123456")
        self.tables = {
            name: [[html.unescape(re.sub("<[^>]+>", "", cell)) for cell in
                    re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row, re.S)]
                   for row in re.findall(r"<tr.*?>(.*?)</tr>", body, re.S)]
            for name, body in re.findall(r'<table id="([^"]+)".*?>(.*?)</table>', self.text, re.S)
        }  # fmt: skip
        self.feed(self.text)

    def handle_starttag(self, tag, attributes):
        known = dict(attributes)
        self.tags.append(tag)
        self.open += [tag] * (tag not in self.VOID)
        self.ids += [value for name, value in attributes if name == "id"]
        if address := known.get("href") or known.get("src"):
            (self.links if tag == "a" else self.loaded).append(address)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module")
def shown(printed):
    """The page of the study, and its folder."""
    return printed, Page(printed)


# ---- numbers -------------------------------------------------------------------------------------


def test_accuracies_on_the_page_are_those_of_the_table(study, shown):
    folder, page = shown
    places = of_level(study.layout, "posh", "category")
    table = cells(study.collected, study.layout, places, baselines=True)
    rows = [row for row in page.tables["table-accuracy-posh-categories"] if len(row) > 4]
    numbers = [re.findall(r"\d+\.\d", " ".join(row[-5:])) for row in rows[1:]]
    judged = study.collected.accuracy.filter(recipe="packed", condition="baby", size="10M")
    overall = judged.filter(level="overall").row(0, named=True)
    assert numbers[0][-3:] == [f"{100 * overall[name]:.1f}" for name in ("mean", "sd", "untrained")]
    assert [row[-1] == "not run" for row in rows[1:]].count(True) == 1
    csv = pl.read_csv(folder / "tables/accuracy-posh-categories.csv")
    run = csv.drop_nulls("mean")
    assert csv["mean"].null_count() == 5 and csv.height == table.height
    means = judged.filter(pl.col("level").is_in(["category", "overall"]))["mean"]
    assert set(means) <= set(run["mean"])


# ---- what is missing or malicious ----------------------------------------------------------------


def test_what_is_missing_and_what_has_not_converged_comes_first(study, tmp_path):
    spec = report_results.build(tmp_path, missing=("baby/10K",), **SMALL)
    path = Path(Paths(str(tmp_path)).fit("all", "paper")) / "diagnostics.json"
    bad = {"converged": False, "reasons": ["17 divergences"]}
    files.write_json(path, files.read_json(path) | bad)
    with report_results.undrawn():
        facts = write(spec, tmp_path, tmp_path / "page")
    assert (facts["missing"], facts["models"]) == (4, 8)
    opening = Page(tmp_path / "page").text.partition('id="accuracy"')[0]
    assert "4 of 8 models" in opening and "17 divergences" in opening
    assert "+0.09" not in opening  # of the model that has not converged
    facts = write(spec, tmp_path / "nothing", tmp_path / "page")
    page = Page(tmp_path / "page")
    assert facts["missing"] == 8 and not page.open and "table-exposure" not in page.tables


def test_a_broken_file_is_one_line_and_leaves_no_page(tmp_path):
    spec = report_results.build(tmp_path, **SMALL)
    path = Path(Paths(str(tmp_path)).statistics("all")) / "accuracy.parquet"
    path.write_bytes(b"PAR1 not parquet")
    with pytest.raises(PoshgridError, match=r"accuracy\.parquet: ") as error:
        write(spec, tmp_path, tmp_path / "page")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "page/index.html").exists()


def test_text_of_corpora_items_and_manifests_is_escaped(tmp_path):
    spec = report_results.build(tmp_path, **SMALL)
    paths = Paths(str(tmp_path))
    pairs = files.read_table(paths.items("posh"), PAIRS).with_columns(
        good=pl.lit(f"{PLANTED} & $x$"), phenomenon=pl.lit(f"{PLANTED}$"), contrast=pl.lit(PLANTED)
    )
    files.write_table(pairs, paths.items("posh"), PAIRS)
    table = Path(paths.statistics("all")) / "accuracy.parquet"
    phenomenon = pl.when(level="phenomenon").then(pl.lit(f"{PLANTED}$")).otherwise("phenomenon")
    category = pl.when(category="wanna").then(pl.lit(PLANTED)).otherwise("category")
    accuracy = pl.read_parquet(table).with_columns(phenomenon=phenomenon, category=category)
    files.write_table(accuracy, table, ACCURACY)
    corpus = Path(paths.sentences("baby")).parent
    statistics = files.read_json(corpus / "statistics.json")
    statistics["dev"]["sources"][PLANTED] = {"words": 1}
    files.write_json(corpus / "statistics.json", statistics)
    report_results.manifest(corpus, corpus={"sources": [{"source": PLANTED}]})
    summary = Path(paths.fit("all", "paper")) / "summary.parquet"
    pl.read_parquet(summary).with_columns(label=pl.lit(PLANTED)).write_parquet(summary)

    write(spec, tmp_path, tmp_path / "page")
    page = Page(tmp_path / "page")
    assert "script" not in page.tags and "<script" not in page.text.lower()
    assert sum(PLANTED in words for words in page.texts) >= 8  # as text, in all those places


def test_the_page_loads_nothing_and_every_link_leads_somewhere(study, shown):
    folder, page = shown
    assert not page.open
    assert not [url for url in page.loaded if not url.startswith(("#", "data:"))]
    assert not {"script", "iframe"} & set(page.tags)
    css = page.text[page.text.index("<style>") : page.text.index("</style>")]
    assert "url(" not in css and "@import" not in css
    assert not re.search(r"\bon\w+=", re.sub(r">[^<]*<", "><", page.text))
    assert len(page.ids) == len(set(page.ids))
    for url in page.links:
        if url.startswith("#"):
            assert url[1:] in page.ids
        elif "://" in url:  # a work that is cited
            assert url.startswith("https://")
        else:
            assert (folder / url).is_file() and ".." not in url  # the folder travels whole
    others = len(study.collected.records) + 1  # the statistics of another target
    assert others == len(list(study.folder.rglob("manifest.json")))
    svg = page.text[page.text.index("<svg") : page.text.rindex("</svg>")]
    assert "var(--series-0)" in svg and not re.search("#006ab3", svg)


@pytest.mark.slow
def test_the_same_results_give_the_same_bytes_and_stale_files_go(tmp_path):
    spec = report_results.build(tmp_path, **SMALL)
    page = tmp_path / "page"

    def written():
        return {p.name: p.read_bytes() for p in sorted(page.rglob("*")) if p.is_file()}

    write(spec, tmp_path, page)
    first = written()
    for name in ("figures/old.png", "tables/old.csv", "tables/mine.txt"):
        (page / name).write_bytes(b"kept")
    write(spec, tmp_path, page)
    assert written() == first | {"mine.txt": b"kept"}
    assert {"opening-posh.pdf", "opening-posh.png", "fit-paper.csv"} < set(first)


# ---- sections and small parts --------------------------------------------------------------------


def test_a_module_is_a_section_with_or_without_a_template(study, tmp_path, monkeypatch):
    orders = [module.ORDER for module in parts.sections([]).values()]
    assert orders == sorted(set(orders))
    for name, audience in (("mine", "reader"), ("yours", "reviewer"), ("none", "engineer")):
        made = types.ModuleType(f"poshgrid.report.sections.{name}")
        made.TITLE, made.ORDER, made.AUDIENCE = f"<{name}>", len(name), audience
        made.__file__ = str(tmp_path / f"{name}.py")
        made.write = lambda page, name=name: None if name == "none" else {
            "notes": ["<said>"], "made": page.table(name, pl.DataFrame({"a": ["<b>"]}), caption="c")
        }  # fmt: skip
        monkeypatch.setitem(sys.modules, made.__name__, made)
    (tmp_path / "yours.html").write_text("{{- show.drawer('yours', 'Rows') }}")
    monkeypatch.setattr(plugins, "names", lambda package: ["none", "yours", "mine"])
    page = render(parts.Page(study.collected, tmp_path))
    assert re.findall(r'<section id="(\w+)">', page) == ["mine", "yours"]
    mine, yours = page.split("<section")[1:]
    assert "&lt;said&gt;" in mine and "&lt;b&gt;" in mine and "<mine>" not in page
    assert "said" not in yours and "(1 row)" in yours and "<details" in yours
    assert (tmp_path / "tables/mine.csv").is_file()
