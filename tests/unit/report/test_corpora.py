"""The tables of corpora and evidence: ours beside the paper's where names match, worked by hand."""

from __future__ import annotations

from pathlib import Path

from poshgrid import files
from poshgrid.config.paths import Paths
from poshgrid.config.sizes import words as number
from poshgrid.report import page
from poshgrid.report.collect import gather
from poshgrid.report.layout import lay_out
from poshgrid.report.sections import corpora, parsing
from poshgrid.statistics import published
from tests.unit.report import report_results

TINY = {"conditions": ("baby", "baby-f"), "sizes": ("20K", "60K"), "seeds": (1,)}
PAPER = {"conditions": ("baby", "baby-f", "wiki"), "sizes": ("10M", "100M"), "seeds": (1,)}
BABY = {  # words of each source in a base like the paper's; 100M holds its 10M
    "childes": (3_999_990, 9_000_010), "opensubtitles": (2_000_000, 20_000_000),
    "bnc": (1_000_000, 8_000_000), "switchboard": (500_000, 1_000_000),
    "tinystories": (1_000_000, 22_000_000), "gutenberg": (1_000_000, 26_000_000),
    "simple-wikipedia": (500_010, 14_000_000),
}  # fmt: skip


def built(folder: Path, **options):
    spec = report_results.build(folder, **options)
    return spec, Paths(str(folder))


def read(spec, folder: Path):
    collected = gather(spec, folder)
    return collected, lay_out(collected)


def sources(paths: Paths, base: str, found: dict[str, tuple[int, ...]], sizes: list[str]) -> None:
    """Give a base these words, and a tenth of the first size to dev and test."""

    def counts(i: int, part: int = 1) -> dict:
        by_source = {s: {"words": words[i] // part} for s, words in found.items()}
        return {"words": sum(f["words"] for f in by_source.values()), "sources": by_source}

    train = {size: counts(i) for i, size in enumerate(sizes)}
    path = Path(paths.sentences(base)).parent / "statistics.json"
    files.write_json(path, {"train": train, "dev": counts(0, 10), "test": counts(0, 10)})


def row(table, **wanted: str) -> dict[str, str]:
    (found,) = [r for r in report_results.shown(table) if all(r[k] == v for k, v in wanted.items())]
    return found


# ---- Table 2: words by source --------------------------------------------------------------------


def test_words_stand_beside_table_2_in_its_order_and_with_its_subtotals(tmp_path):
    spec, paths = built(tmp_path, **PAPER)
    backwards = dict(reversed(BABY.items()))
    sources(paths, "baby", backwards, spec.sizes)
    table = corpora.words_by_source(*read(spec, tmp_path))
    assert table.shown()[:10] == [
        ["baby", "speech", "childes", "4.00", "4", "9.00", "9", "0.40", "0.40"],
        ["baby", "speech", "opensubtitles", "2.00", "2", "20.00", "20", "0.20", "0.20"],
        ["baby", "speech", "bnc", "1.00", "1", "8.00", "8", "0.10", "0.10"],
        ["baby", "speech", "switchboard", "0.50", "0.5", "1.00", "1", "0.05", "0.05"],
        ["baby", "speech", "all speech", "7.50", "7.5", "38.00", "38", "0.75", "0.75"],
        ["baby", "written", "tinystories", "1.00", "1", "22.00", "22", "0.10", "0.10"],
        ["baby", "written", "gutenberg", "1.00", "1", "26.00", "26", "0.10", "0.10"],
        ["baby", "written", "simple-wikipedia", "0.50", "0.5", "14.00", "14", "0.05", "0.05"],
        ["baby", "written", "all written", "2.50", "2.5", "62.00", "62", "0.25", "0.25"],
        ["baby", "–", "all sources", "10.00", "–", "100.00", "–", "1.00", "1.00"],
    ]
    assert [column.title for column in table.columns] == [
        "Base", "Kind", "Source", "10M", "10M, paper", "100M", "100M, paper", "dev", "test",
    ]  # fmt: skip
    assert table.rows[4][3:5] == [7_499_990, 7_500_000]  # the CSV is not rounded
    assert table.classes == {4: "total", 8: "total", 9: "total", 11: "total"}
    assert [r["10M, paper"] for r in report_results.shown(table)[10:]] == [
        "–",
        "–",
    ]  # wiki is not in Table 2


def test_sources_of_another_base_are_not_set_beside_the_paper(tmp_path):
    spec, paths = built(tmp_path, **PAPER)
    sources(paths, "baby", {"diary": (1, 2)}, spec.sizes)
    sources(paths, "wiki", BABY, spec.sizes)
    table = corpora.words_by_source(*read(spec, tmp_path))
    assert row(table, Base="wiki", Source="all speech")["10M"] == "7.50"
    assert not [c.title for c in table.columns if "paper" in c.title]


# ---- Table 4: sentences --------------------------------------------------------------------------


def test_sentences_stand_beside_table_4(tmp_path):
    spec, paths = built(tmp_path, **PAPER)
    path = Path(paths.condition("baby", "10M")) / "statistics.json"
    split = {"sentences": 1_398_765, "words": 9_999_877}
    files.write_json(path, files.read_json(path) | {"splits": {"train": split}})
    table = corpora.exposure(*read(spec, tmp_path))
    assert table.shown()[0][:10] == [
        "10M", "baby", "all", "–", "1,398,765", "1.4M", "–", "9,999,877",
        "7.15", "7.13",  # 9999877 / 1398765
    ]  # fmt: skip
    assert row(table, Size="10M", Condition="wiki")["Sentences, paper"] == "430k"
    assert row(table, Size="100M", Condition="baby")["Words/sentence, paper"] == "8.55"
    # the paper has no baby-f at 100M
    assert row(table, Size="100M", Condition="baby-f")["Sentences, paper"] == "–"


def test_overridden_checks_are_told_before_the_numbers(tmp_path):
    spec, paths = built(tmp_path, **TINY)
    assert list(page.allowed(read(spec, tmp_path)[0])) == []
    condition = Path(paths.condition("baby-f", "20K")) / "statistics.json"
    message = "conditions: baby-f at 20K: 99 of 100 dev sentences are trained on"
    files.write_json(condition, files.read_json(condition) | {"allowed": {"leak": message}})
    base = Path(paths.sentences("baby")).parent / "statistics.json"
    statistics = files.read_json(base)
    statistics["train"]["20K"]["words"] = 30_000
    files.write_json(base, statistics)
    first, second = page.allowed(read(spec, tmp_path)[0])
    assert first == message
    assert "20K" in second and "30,000" in second


def test_the_exposure_table_names_the_sources_of_several(tmp_path):
    spec, paths = built(tmp_path, **TINY)
    for name, sources in (("baby", ("a", "b")), ("baby-f", ("a",))):
        path = Path(paths.condition(name, "20K")) / "statistics.json"
        one = {"sentences": 4, "words": 20}
        train = {"sentences": 4 * len(sources), "words": 20 * len(sources)}
        train["sources"] = dict.fromkeys(sources, one)
        files.write_json(path, files.read_json(path) | {"splits": {"train": train}})
    table = corpora.exposure(*read(spec, tmp_path))
    rows = [
        (r["Condition"], r["Source"], r["Words"])
        for r in report_results.shown(table)
        if r["Size"] == "20K"
    ]
    assert rows == [("baby", "all", "40"), ("baby", "a", "20"), ("baby", "b", "20"),
                    ("baby-f", "all", "20")]  # fmt: skip


# ---- Table 9: tokens by vocabulary ---------------------------------------------------------------


def test_tokens_by_vocabulary_stand_beside_table_9(tmp_path):
    spec, paths = built(tmp_path, **PAPER)
    report_results.sweep(Path(paths.tokenizer("baby", "10M")), 10_000_000, reached=20_000)
    table = corpora.vocabularies(*read(spec, tmp_path))
    titles = [c.title for c in table.columns]
    assert titles == [
        "Vocabulary", "Size", "Condition", "Types reached", "Tokens", "With boundaries", "Paper",
        "Tokens/word",
    ]  # fmt: skip
    assert len(table.rows) == 2 * 2 * 3
    assert [r["Condition"] for r in report_results.shown(table)[:3]] == ["baby", "baby-f", "wiki"]
    assert list(row(table, Vocabulary="32,768", Size="10M", Condition="baby").values())[3:] == [
        "20,000", "12,500,000", "13,750,001", "15,318,669", "1.250",
    ]  # fmt: skip
    assert row(table, Vocabulary="32,768", Size="100M", Condition="wiki")["Paper"] == "153,006,220"
    papers = {r["Paper"] for r in report_results.shown(table) if r["Vocabulary"] == "16,384"}
    assert papers == {"–"}
    assert row(table, Vocabulary="32,768", Size="10M", Condition="baby-f")["Paper"] == "–"


def test_table_9_is_transcribed_whole():
    rows = published.load(*published.POSH, "table9")
    assert rows.select("vocabulary_size", "condition", "size").unique().height == rows.height == 32
    # a larger vocabulary gives fewer tokens: so the misprinted cell lies where its digits say
    for (_, _), cell in rows.sort("vocabulary_size").group_by("condition", "size"):
        tokens = cell["tokens"].to_list()
        assert tokens == sorted(tokens, reverse=True)
        words = number(cell["size"][0])
        assert all(1.3 * words < n < 1.9 * words for n in tokens)


# ---- grids that are not the paper's --------------------------------------------------------------


def test_another_grid_has_no_published_columns(tmp_path):
    spec, _ = built(tmp_path, **TINY)
    collected, layout = read(spec, tmp_path)
    for make in (corpora.words_by_source, corpora.exposure, corpora.vocabularies):
        table = make(collected, layout)
        assert not [c.title for c in table.columns if "paper" in c.title.lower()]
        assert "Without published numbers" in table.caption
    table = corpora.words_by_source(collected, layout)
    # words, not millions of them: 20,000 in three sources
    assert row(table, Source="childes")["20K"] == "6,666"
    assert row(table, Source="all speech")["20K"] == "13,332"


# ---- parsing and evidence ------------------------------------------------------------------------


def shard(paths: Paths, parser: str, index: int, **facts: float) -> None:
    folder = Path(paths.parses("baby", parser, index)).parent
    name = f"{index}.manifest.json"
    report_results.manifest(folder, {}, 9.0, name)
    files.write_json(folder / name, files.read_json(folder / name) | facts)


def test_screening_is_summed_over_shards_and_the_speed_up_worked_out(tmp_path):
    spec, paths = built(tmp_path, **TINY)  # shard 0: 4,000 texts, 1,000 parsed, 2 s and 100 s
    shard(paths, "stanza", 1, sentences=3000, distinct_texts=1000, parsed=250,
          screening_seconds=3.0, seconds=20.0)  # fmt: skip
    (found,) = report_results.shown(parsing.screening(gather(spec, tmp_path)))
    # a quarter was parsed in 120 s, so all of it is put at 480 s: 480 / (5 + 120) = 3.84
    assert list(found.values()) == [
        "baby", "stanza", "8,000", "5,000", "1,250", "25.0", "5.0 s", "2 min 00 s", "8 min 00 s",
        "3.8",
    ]  # fmt: skip


def test_what_filters_took_and_what_was_put_back(tmp_path):
    spec, _ = built(tmp_path, **PAPER)
    collected, layout = read(spec, tmp_path)
    table = parsing.removed(collected, layout)
    assert [c.title for c in table.columns] == [
        "Size", "Condition", "Filter", "By its rule", "By words alone", "Words", "Put back",
        "Different", "Available", "From larger sizes",
    ]  # fmt: skip
    assert table.shown()[:4] == [
        ["10M", "baby", "binding.paper", "11,111", "31", "900", "77", "70", "90", "0"],
        ["10M", "baby", "question-formation.paper", "11,111", "0", "800", *"––––"],
        ["10M", "baby-f", "binding.paper", "11,111", "31", "900", *"––––"],
        ["10M", "baby-f", "question-formation.paper", "11,111", "0", "800", *"––––"],
    ]
    assert "wiki" not in {r["Condition"] for r in report_results.shown(table)}
    difference = parsing.words_difference(collected, layout)
    assert [c.title for c in difference.columns[3:]] == ["childes", "switchboard"]
    assert difference.shown() == [
        [size, "baby", "binding", "+0.040", "−0.012"] for size in ("10M", "100M")
    ]
