"""The report: what the page says is what the tables hold, whatever is missing or malicious."""

from __future__ import annotations

import math
import re
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poshgrid import files
from poshgrid.benchmark.schema import ITEMS
from poshgrid.config.paths import Paths
from poshgrid.errors import PoshgridError
from poshgrid.report import posterior, style
from poshgrid.report.collect import gather
from poshgrid.report.layout import lay_out
from poshgrid.report.page import write
from poshgrid.report.sections import accuracy as section
from poshgrid.report.sections import corpora, items, parsing
from poshgrid.statistics.schema import ACCURACY

from . import report_results

PLANTED = "<script>alert('what')</script>"
SMALL = {"conditions": ("baby", "baby-f"), "sizes": ("10K",), "seeds": (1, 2)}


class Page(HTMLParser):
    """The page taken apart: tables as texts, links, what is loaded, tags left open, ids."""

    VOID = frozenset(("meta", "link", "input", "br", "hr", "img", "path", "use", "rect", "circle"))

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.ids: list[str] = []
        self.tags: list[str] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self._table = self._cell = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        if "id" in found:
            self.ids.append(found["id"])
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif "href" in found or "src" in found:
            self.loaded.append(found.get("href") or found.get("src"))
        if tag == "table":
            self._table = self.tables.setdefault(found.get("id", ""), [])
        elif tag == "tr" and self._table is not None:
            self._table.append([])
        elif tag in ("td", "th") and self._table:
            self._cell = []

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag in self.VOID:
            return
        assert self.open.pop() == tag
        if tag in ("td", "th") and self._cell is not None:
            self._table[-1].append(" ".join("".join(self._cell).split()))
            self._cell = None
        elif tag == "table":
            self._table = None

    def handle_data(self, data):
        self.texts.append(data)
        if self._cell is not None:
            self._cell.append(data)


def made(folder: Path, **options):
    spec = report_results.build(folder, **options)
    facts = write(spec, folder, folder / "report/all")
    return spec, folder, facts, (folder / "report/all/index.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A complete report of three conditions and three sizes."""
    return made(tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="module")
def partial(tmp_path_factory):
    """A report of a grid with two biases whose baby runs at 30M are missing, and a bad fit."""
    with report_results.undrawn():
        return made(
            tmp_path_factory.mktemp("partial"),
            conditions=("baby", "baby-f"),
            sizes=("10M", "30M"),
            biases=("none", "recency"),
            seeds=(42, 53),
            missing=("baby/30M",),
            converged=False,
            swept=False,
        )


def accuracies(results: Path) -> pl.DataFrame:
    return files.read_table(
        Path(Paths(str(results)).statistics("all")) / "accuracy.parquet", ACCURACY
    )


# ---- numbers -------------------------------------------------------------------------------------


def test_table3_holds_the_numbers_of_the_table(report):
    _, results, _, text = report
    rows = Page(text).tables["table-accuracy-posh-categories"]
    levels = ["island", "question-formation", "binding", "wanna", ""]
    found, size = {}, ""
    for row in rows[1:]:
        if len(row) == 2:  # the group's row, shown on a telephone
            size = row[0]
            continue
        *head, condition = row[: len(row) - len(levels)]
        assert head in ([], [size])
        for category, cell in zip(levels, row[-len(levels) :], strict=True):
            found[condition, size, category] = cell
    judged = accuracies(results).filter(
        pl.col("level").is_in(["category", "overall"]) & (pl.col("regimen") == "packed")
    )
    nulls = {key: found.pop(key) for key in list(found) if key[1] == "Nulls"}
    assert set(nulls) == {("untrained", "Nulls", level) for level in levels}
    for (_, _, category), cell in nulls.items():
        values = judged.filter(pl.col("category") == category)["untrained"]
        assert cell == f"{100 * sum(values) / len(values):.1f}"
        assert f"least–most {100 * values.min():.1f}–{100 * values.max():.1f} over 9 nulls" in text
    assert len(found) == judged.height == 3 * 3 * 5
    for r in judged.iter_rows(named=True):
        stars = (r["stars_pooled"] or "") + (r["stars_fisher_holm"] or "")
        stars += "‡" if r["far"] else ""
        null = f"null {100 * r['untrained']:.1f}"
        expected = f"{100 * r['mean']:.1f}{stars} ({100 * r['sd']:.1f}){null}"
        assert found[r["condition"], r["size"], r["category"]] == expected


def test_every_plain_table_on_the_page_is_its_csv(report):
    _, results, _, text = report
    page = Page(text)
    collected = gather(report[0], results)
    layout = lay_out(collected)
    made_tables = [
        corpora.words_by_source(collected, layout), corpora.exposure(collected, layout),
        corpora.vocabularies(collected, layout),
        parsing.parsers(collected), parsing.screening(collected), parsing.agreement(collected),
        parsing.removed(collected, layout), parsing.words_difference(collected, layout),
        section.published(collected, layout, "posh"),
        *(posterior.coefficients(fit) for fit in collected.fits.values()),
        posterior.contrasts(collected.fits["condition"]),
    ]  # fmt: skip
    for table in made_tables:
        assert page.tables[f"table-{table.name}"][1:] == table.shown()
        csv = pl.read_csv(results / f"report/all/tables/{table.name}.csv", infer_schema=False)
        assert csv.height == len(table.rows)
        for shown, row in zip(table.rows, csv.iter_rows(), strict=True):
            for value, cell in zip(shown, row, strict=True):
                if isinstance(value, float):
                    assert math.isclose(float(cell), value, rel_tol=1e-12)
                elif value is not None:
                    assert cell == str(value)


# ---- figures -------------------------------------------------------------------------------------


# ---- what is missing or malicious ----------------------------------------------------------------


def test_missing_cells_say_so(partial):
    _, results, facts, text = partial
    page = Page(text)
    assert facts["missing"] == 6 and facts["models"] == 24
    table = page.tables["table-accuracy-posh-categories"]
    rows = [row for row in table if row[-1] == "not run"]
    assert [row[-6:] for row in rows] == [
        ["baby · no bias", *["not run"] * 5], ["baby · recency", *["not run"] * 5],
    ]  # fmt: skip
    said = " ".join(" ".join(page.texts).split())
    assert "6 of 24 models" in said
    csv = pl.read_csv(results / "report/all/tables/accuracy-posh-categories.csv")
    assert csv.filter(pl.col("status") == "not run")["mean"].null_count() == 10
    assert "2 of 8 cells" in said


def test_a_fit_that_fails_the_gate_is_flagged_and_not_quoted(partial):
    text = partial[3]
    assert text.count("Not converged.") == 2  # at the top and beside the model
    assert "17 divergences" in text
    opening = text.split('id="accuracy"')[0]
    assert "not quoted here: condition." in opening and "(model condition" not in opening
    assert "+0.09" in opening  # of the other model, which has converged


def test_an_empty_results_folder_gives_a_page(tmp_path):
    spec = report_results.build(tmp_path / "other", **SMALL)
    facts = write(spec, tmp_path / "nothing", tmp_path / "page")
    page = Page((tmp_path / "page/index.html").read_text(encoding="utf-8"))
    assert facts["missing"] == facts["models"] == 8
    assert not page.open
    assert "table-exposure" not in page.tables


def test_a_broken_file_is_one_line_and_leaves_no_page(tmp_path):
    spec = report_results.build(tmp_path, **SMALL)
    path = Path(Paths(str(tmp_path)).statistics("all")) / "accuracy.parquet"
    path.write_bytes(b"PAR1 not parquet")
    with pytest.raises(PoshgridError, match=r"accuracy\.parquet: not a parquet table") as error:
        write(spec, tmp_path, tmp_path / "page")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "page/index.html").exists()


def test_text_of_corpora_items_and_manifests_is_escaped(tmp_path):
    spec = report_results.build(tmp_path, **SMALL)
    paths = Paths(str(tmp_path))
    items = files.read_table(paths.items("posh"), ITEMS).with_columns(
        good=pl.lit(f"{PLANTED} & $x$"), phenomenon=pl.lit(f"{PLANTED}$"), contrast=pl.lit(PLANTED)
    )
    files.write_table(items, paths.items("posh"), ITEMS)
    table = Path(paths.statistics("all")) / "accuracy.parquet"
    frame = pl.read_parquet(table)
    files.write_table(frame.with_columns(
        phenomenon=pl.when(pl.col("level") == "phenomenon").then(pl.lit(f"{PLANTED}$"))
        .otherwise("phenomenon"),
        category=pl.when(pl.col("category") == "wanna").then(pl.lit(PLANTED)).otherwise("category"),
    ), table, ACCURACY)  # fmt: skip
    base = Path(paths.sentences("baby")).parent / "statistics.json"
    statistics = files.read_json(base)
    statistics["dev"]["sources"][PLANTED] = {"words": 1}
    files.write_json(base, statistics)
    report_results.manifest(base.parent, {"base": {"sources": [{"source": PLANTED}]}}, 1.0)
    manifest = files.read_json(base.parent / "manifest.json")
    files.write_json(base.parent / "manifest.json", manifest | {"host": PLANTED, "code": PLANTED})
    summary = Path(paths.fit("all", "paper")) / "summary.parquet"
    pl.read_parquet(summary).with_columns(label=pl.lit(PLANTED)).write_parquet(summary)

    write(spec, tmp_path, tmp_path / "page")
    text = (tmp_path / "page/index.html").read_text(encoding="utf-8")
    page = Page(text)
    assert "script" not in page.tags
    assert "<script" not in text.lower()
    assert sum(PLANTED in found for found in page.texts) >= 8  # as text, in all those places
    assert "&lt;script&gt;" in text
    tex = (tmp_path / "page/tables/accuracy-posh-phenomena.tex").read_text(encoding="utf-8")
    assert r"</script>\$" in tex


def test_the_page_loads_nothing(report):
    _, _, _, text = report
    page = Page(text)
    assert not [url for url in page.loaded if not url.startswith(("#", "data:"))]
    assert "script" not in page.tags and "iframe" not in page.tags
    css = text[text.index("<style>") : text.index("</style>")]
    assert "url(" not in css and "@import" not in css
    assert not re.search(r"\bon\w+=", re.sub(r">[^<]*<", "><", text))
    outside = [url for url in page.links if "://" in url]  # of works that are cited
    assert all(url.startswith("https://") for url in outside)


def test_every_link_leads_somewhere(report):
    _, results, _, text = report
    page = Page(text)
    assert len(page.ids) == len(set(page.ids))
    for url in page.links:
        if url.startswith("#"):
            assert url[1:] in page.ids
        elif "://" not in url:
            assert (results / "report/all" / url).is_file(), url
            assert ".." not in url  # the folder travels whole
    manifests = re.findall(r"<code>([^<]*manifest\.json)</code>", text)
    assert all((results / place).is_file() for place in manifests)
    assert len(manifests) == len(set(manifests)) == len(list(results.rglob("*manifest.json")))


def test_the_page_is_well_formed_and_figures_follow_the_theme(report):
    page = Page(report[3])
    assert not page.open
    figures_ = re.findall(r'<figure id="figure-([^"]+)">', report[3])
    assert {"accuracy-posh", "forest-paper", "contrasts-condition-forest",
            "predictive-condition"} <= set(figures_)  # fmt: skip
    assert page.tags.count("svg") == len(figures_)
    svg = report[3][report[3].index("<svg") : report[3].rindex("</svg>")]
    assert "var(--series-0)" in svg and "var(--muted)" in svg
    assert not re.search("|".join(c.light for c in style.COLOURS), svg)


# ---- the same input, the same bytes --------------------------------------------------------------


@pytest.mark.slow
def test_the_same_results_give_the_same_bytes_and_stale_files_go(tmp_path):
    spec = report_results.build(tmp_path, **SMALL)
    write(spec, tmp_path, tmp_path / "page")
    first = {p.name: p.read_bytes() for p in sorted((tmp_path / "page").rglob("*")) if p.is_file()}
    (tmp_path / "page/figures/old.png").write_bytes(b"")
    (tmp_path / "page/tables/old.csv").write_bytes(b"")
    (tmp_path / "page/tables/mine.txt").write_bytes(b"kept")
    write(spec, tmp_path, tmp_path / "page", threads=2)
    second = {p.name: p.read_bytes() for p in sorted((tmp_path / "page").rglob("*")) if p.is_file()}
    assert second.pop("mine.txt") == b"kept"
    assert first == second
    assert {
        "accuracy-posh.pdf",
        "accuracy-posh.png",
        "forest-paper.pdf",
    } < set(first)


def test_a_figure_that_cannot_be_saved_is_told_of(tmp_path):
    spec = report_results.build(tmp_path, **SMALL, models=())
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "figures").write_text("in the way")
    with pytest.raises(PoshgridError, match="figures"):
        write(spec, tmp_path, tmp_path / "page", threads=2)


# ---- small parts ---------------------------------------------------------------------------------


def test_the_arms_name_only_what_varies(tmp_path):
    spec = report_results.build(tmp_path, **SMALL)
    collected = gather(spec, tmp_path)
    assert [arm.label for arm in lay_out(collected).arms] == ["baby", "baby-f"]
    more = [
        *spec.runs,
        "baby/10K/gpt2-xs/sentence/dyck/seed1",
        "baby/10K/gpt2-mini/sentence/dyck/seed1",
    ]
    spec = spec.model_copy(update={"runs": more})
    labels = [arm.label for arm in lay_out(gather(spec, tmp_path)).arms]
    assert labels == [
        "baby · no bias · packed · gpt2-mini", "baby · dyck · sentence · gpt2-mini",
        "baby · dyck · sentence · gpt2-xs", "baby-f · no bias · packed · gpt2-mini",
    ]  # fmt: skip


@given(st.text(alphabet="abc .?", min_size=1), st.text(alphabet="abc .?", min_size=1))
def test_marked_stretches_make_up_the_sentences(good, bad):
    first, second = items.differences(good, bad)
    assert " ".join(text for text, _ in first).split() == good.split()
    assert " ".join(text for text, _ in second).split() == bad.split()
    assert [t for t, d in first if not d] == [t for t, d in second if not d]


def luminance(colour: str) -> float:
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(colour), strict=True))


def linear(colour: str) -> list[float]:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_colours_can_be_told_from_the_page(mode):
    page = luminance(getattr(style.PAGE, mode))
    for colours, least in (
        (style.SERIES, 3.0),
        ((style.INK, style.MUTED, style.ACCENT, style.WARNING), 4.5),
    ):
        for colour in colours:
            other = luminance(getattr(colour, mode))
            assert (max(page, other) + 0.05) / (min(page, other) + 0.05) >= least, colour.name


# Machado, Oliveira and Fernandes (2009), severity 1.0, on linear RGB
SIMULATED = {
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
                     (-0.011820, 0.042940, 0.968881)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
                   (-0.003882, -0.048116, 1.051998)),
}  # fmt: skip


@pytest.mark.parametrize("vision", SIMULATED)
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_series_can_be_told_apart_by_colour_blind_readers(vision, mode):
    def lab(colour: str) -> tuple[float, float, float]:
        rgb = linear(colour)
        r, g, b = (
            min(1, max(0, sum(w * c for w, c in zip(row, rgb, strict=True))))
            for row in SIMULATED[vision]
        )
        xyz = (
            (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047,
            0.2126 * r + 0.7152 * g + 0.0722 * b,
            (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883,
        )
        x, y, z = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in xyz)
        return 116 * y - 16, 500 * (x - y), 200 * (y - z)

    found = [lab(getattr(colour, mode)) for colour in style.SERIES]
    distances = [math.dist(a, b) for i, a in enumerate(found) for b in found[:i]]
    assert min(distances) > 15  # 2.3 is just noticeable side by side
