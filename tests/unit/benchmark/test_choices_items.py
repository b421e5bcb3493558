"""Readers of choices, completions and acceptability: natural texts, and every slip is named."""

from __future__ import annotations

import csv

import polars as pl
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from poshgrid import plugins, resources
from poshgrid.benchmark.schema import CHOICES, COMPLETIONS, DESIGN, PAIRS
from poshgrid.benchmark.suites import acceptability, choices, completions
from poshgrid.errors import PoshgridError

HEADER = "item_id,category,phenomenon,block,stimulus,target,distractor1,distractor2"
FOX = "a,sc,passive,1,La volpe è vista dal lupo.,Il lupo vede la volpe.,La volpe vede il lupo."
OWL = "b,sc,passive,1,Il gufo è visto dal gatto.,Il gatto vede il gufo.,Il gufo vede il gatto."


@pytest.fixture
def write(tmp_path):
    def written(*lines, encoding="utf-8"):
        path = tmp_path / "items.csv"
        path.write_bytes("\n".join(lines).encode(encoding))
        return path

    return written


def load(path, **options):
    return choices.load(path, choices.Options(**options), None)


def texts(path, **options):
    return load(path, **options).items["text"].to_list()


# ---- choices: what they become -------------------------------------------------------------------


def test_options_follow_the_order_of_the_columns_and_the_target_is_marked(write):
    path = write(
        "item_id,category,phenomenon,stimulus,distractor1,target,distractor2",
        "a,sc,passive,La volpe è vista dal lupo.,La volpe vede il lupo.,Il lupo vede la volpe.,"
        "Il lupo vede l'oca.",
    )
    found = load(path)
    assert found.items.schema == CHOICES
    assert found.items.drop("category", "phenomenon", "tags").rows() == [
        ("a", "", 0, False, "La volpe è vista dal lupo, cioè la volpe vede il lupo."),
        ("a", "", 1, True, "La volpe è vista dal lupo, cioè il lupo vede la volpe."),
        ("a", "", 2, False, "La volpe è vista dal lupo, cioè il lupo vede l'oca."),
    ]
    assert found.facts["items_by_target_position"] == {"1": 1}


def test_items_may_differ_in_their_number_of_options(write):
    found = load(write(HEADER, f"{FOX},Il lupo vede l'oca.", f"{OWL},"))
    assert found.items.group_by("item_id").len().sort("item_id")["len"].to_list() == [3, 2]
    assert found.facts["items_by_options"] == {"2": 1, "3": 1}


@pytest.mark.parametrize(
    ("stimulus", "option", "given", "expected"),
    [
        ("Un gatto", "un animale", {}, "Un gatto, cioè un animale."),
        ("un gatto", "un animale.", {}, "Un gatto, cioè un animale."),
        ("Il gatto dorme!", "Il gatto riposa", {}, "Il gatto dorme, cioè il gatto riposa."),
        ("Dormi...", "Riposi!", {}, "Dormi, cioè riposi!"),
        ("Dorme.", "I gatti", {}, "Dorme, cioè i gatti."),
        ("Dorme.", "L'oca dorme.", {}, "Dorme, cioè l'oca dorme."),
        ("Dorme.", "Maria dorme.", {"names": ["Maria"]}, "Dorme, cioè Maria dorme."),
        ("Dorme.", "RAI", {}, "Dorme, cioè RAI."),
        ("Dorme.", "È qui.", {}, "Dorme, cioè è qui."),
        ("è qui", "c'è", {}, "È qui, cioè c'è."),
        ("è qui", "c'è", {"capital": False, "final_mark": ""}, "è qui, cioè c'è"),
        ("Dorme.", "Riposa.", {"option_case": "keep"}, "Dorme, cioè Riposa."),
        ("Dorme?", "Sì.", {"strip_mark": False, "connective": " "}, "Dorme? sì."),
        ("It runs.", "I see.", {"connective": ", that is, ", "names": ["I"]},
         "It runs, that is, I see."),
    ],
)  # fmt: skip
def test_joining(stimulus, option, given, expected):
    options = choices.Options(**given)
    assert choices.join(stimulus, option, options.connective, options) == expected


WORDS = st.lists(st.text("abcèzAB", min_size=1, max_size=5), min_size=1, max_size=4).map(" ".join)


@given(WORDS, WORDS, st.sampled_from(["", ".", "!"]), st.sampled_from(["", ".", "!"]))
def test_joining_keeps_every_word_and_one_final_mark(stimulus, option, first, second):
    options = choices.Options()
    text = choices.join(stimulus + first, option + second, options.connective, options)
    assert text[:-1].casefold() == f"{stimulus}, cioè {option}".casefold()
    assert text[-1] == (second or ".")


def test_a_connective_of_the_row_comes_before_that_of_the_options(write):
    path = write(
        "item_id,category,phenomenon,stimulus,connective,target,distractor1",
        'a,x,y,Un gatto,", ovvero ",un micio,un cane',
        "b,x,y,Una mela,,un frutto,un mobile",
    )
    found = texts(path)
    assert found[0] == "Un gatto, ovvero un micio."
    assert found[2] == "Una mela, cioè un frutto."


def test_cells_are_spelled_like_the_corpora(write):
    decomposed = "e\u0300"  # e and a combining accent, as some systems write è
    path = write(
        "item_id,category,phenomenon,stimulus,target,distractor1",
        f"a,x,y, L’orso  {decomposed} qui. ,l’orso c'{decomposed},l’orso non c'{decomposed}",
        "",
        ",,,,,",
    )
    assert texts(path)[0] == "L'orso è qui, cioè l'orso c'è."


def test_an_option_that_repeats_its_stimulus_is_reported(write):
    found = load(write(HEADER, "a,x,y,1,Il gatto dorme.,il gatto riposa,il gatto dorme,"))
    assert found.facts["items_with_an_option_that_repeats_the_stimulus"] == ["a"]


# ---- choices: faults -----------------------------------------------------------------------------

FAULTS = {
    "no column target": (["item_id,category,phenomenon,stimulus,distractor1"], 1, "target"),
    "no target": ([HEADER, "a,sc,p,1,Uno.,,Due.,Tre."], 2, "target is empty"),
    "no stimulus": ([HEADER, "a,sc,p,1,,Uno.,Due.,Tre."], 2, "stimulus is empty"),
    "no distractor": ([HEADER, "a,sc,p,1,Uno.,Due.,,"], 2, "distractor1 is empty"),
    "no phenomenon": ([HEADER, "a,sc,,1,Uno.,Due.,Tre.,"], 2, "phenomenon is empty"),
    "gap": ([f"{HEADER},distractor3", "a,sc,p,1,Uno.,Due.,Tre.,,Sei."], 2, "close the gap"),
    "identical": ([HEADER, f"{FOX},", "b,sc,passive,1,Uno.,Due.,Tre.,due"], 3, "are the same"),
    "marks": ([HEADER, "a,sc,p,1,Uno.,Due.,Tre!,"], 2, "ends in '.' and distractor1 in '!'"),
    "unknown column": ([HEADER.replace("target", "targt")], 1, "did you mean 'target'"),
    "column twice": ([f"{HEADER},target"], 1, "'target' is there twice"),
    "distractor0": ([f"{HEADER},distractor0"], 1, "unknown column 'distractor0'"),
    "semicolons": ([HEADER.replace(",", ";")], 1, "with commas"),
    "duplicate id": ([HEADER, f"{FOX},", OWL.replace("b,", "a,", 1) + ","], 3, "that of line 2"),
    "same texts": ([HEADER, f"{FOX},", FOX.replace("a,", "b,", 1) + ","], 3, "texts as line 2"),
    "too many cells": ([HEADER, f"{FOX},x,y"], 2, "9 cells, but the header has 8"),
    "too few cells": ([HEADER, FOX], 2, "7 cells, but the header has 8"),
    "quotes": ([HEADER, f'{FOX},"x'], 2, "broken CSV"),
    "no rows": ([HEADER], None, "no rows"),
    "block sizes": (
        [HEADER, f"{FOX},", f"{OWL},", "c,sc,passive,2,Uno.,Due.,Tre.,"],
        4,
        "block '2' of 'sc' has 1 items and block '1' 2",
    ),
    "block missing": (
        [HEADER, f"{FOX},", "c,sc,passive,,Uno.,Due.,Tre.,"], 3, "give a block to each"
    ),
    "block of two": (
        [HEADER, f"{FOX},", OWL.replace("passive", "negation") + ","], 3, "passive and negation"
    ),
    "name": (
        [HEADER, "a,sc,p,1,Chi vede Maria?,Maria è vista.,Anna è vista.,"],
        2,
        "target would begin with 'maria', but line 2 has 'Maria' inside",
    ),
    "connective": (
        ["item_id,category,phenomenon,stimulus,connective,target,distractor1",
         "a,x,y,Un gatto,cioè,un micio,un cane"], 2, "connective 'cioè' must begin with a space",
    ),
    "NUL": ([HEADER, "\0"], None, "binary"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_of_choices_are_named(write, fault):
    lines, line, says = FAULTS[fault]
    path = write(*lines)
    with pytest.raises(PoshgridError) as caught:
        load(path)
    message = str(caught.value)
    place = f"{path}: line {line}: " if line else f"{path}: "
    assert message.startswith(place)
    assert says in message
    assert "\n" not in message


def test_the_sound_rows_that_the_faults_are_planted_in_pass(write):
    assert load(write(HEADER, f"{FOX},", f"{OWL},")).facts["blocks"] == 1
    named = write(HEADER, "a,sc,p,1,Chi vede Maria?,Maria è vista.,Anna è vista.,")
    assert "cioè Maria" in texts(named, names=["Maria"], option_case="lower")[0]
    assert "cioè Maria" in texts(named, option_case="keep")[0]


def test_a_row_of_several_lines_is_named_by_its_first(write):
    for rows, line in (
        (['a,sc,p,1,"Uno', 'e due.",,Sei.,'], 2),
        (['a,sc,p,1,"Uno', 'e due.",Tre.,Sei.,', "b,sc,p,1,Uno.,,Due.,"], 4),
    ):
        with pytest.raises(PoshgridError, match=f"line {line}: target is empty"):
            load(write(HEADER, *rows))


def test_wrong_encoding_names_the_place(write):
    path = write(HEADER.replace("stimulus", "stimulus"), f"{FOX},", encoding="latin-1")
    with pytest.raises(PoshgridError, match=r"items\.csv: byte \d+: not UTF-8"):
        load(path)
    marked = write(HEADER, f"{FOX},", encoding="utf-8-sig")  # as spreadsheets write it
    assert load(marked).items.height == 2


def test_missing_path_file_and_folder(tmp_path):
    for reader in (choices, completions, acceptability):
        for nothing in (None, tmp_path, tmp_path / "none.csv"):
            assert reader.files(nothing, reader.Options()) == []
        with pytest.raises(PoshgridError, match="no path"):
            reader.load(None, reader.Options(), None)
    with pytest.raises(PoshgridError, match="not found"):
        load(tmp_path / "none.csv")
    with pytest.raises(PoshgridError, match="a folder"):
        load(tmp_path)


@pytest.mark.parametrize("connective", ["", "cioè ", ", cioè", ",", "; that is,"])
def test_a_connective_that_glues_words_is_refused(connective):
    with pytest.raises(ValidationError, match=r"must|empty"):
        choices.Options(connective=connective)


@pytest.mark.parametrize("connective", [" ", ", that is, ", " — ", "，即"])
def test_other_connectives_pass(connective):
    assert choices.Options(connective=connective).connective == connective


# ---- acceptability and completions ---------------------------------------------------------------

PAIR = "item_id,category,phenomenon,good,bad"


def pairs(path):
    return acceptability.load(path, acceptability.Options(), None)


def test_acceptability_fills_template_set_and_contrast(write):
    found = pairs(
        write(
            f"{PAIR},contrast",
            "a,x,agreement,Io vado.,Io vai.,person",
            "b,x,clitic,Lo vedo.,Vedo lo.,",
        )
    )
    assert found.items.schema == PAIRS
    assert found.items.drop(DESIGN).rows() == [
        ("a", "x", "agreement", "agreement", "a", "person", "Io vado.", "Io vai."),
        ("b", "x", "clitic", "clitic", "b", "clitic", "Lo vedo.", "Vedo lo."),
    ]
    assert found.facts == {"pairs_that_differ_in_more_than_one_word": ["b"]}


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["a,x,y,Io vado.,Io vado."], "line 2: good and bad are the same"),
        (["a,x,y,Io vado.,"], "line 2: bad is empty"),
        (["a,x,y,Io vado.,Io vai.", "b,x,y,Io vado.,Io vai."], "line 3: the same pair as line 2"),
        (["a,x,y,Io vado.,Io vai.", "a,x,y,Tu vai.,Tu va."], "line 3: item_id 'a'"),
    ],
)
def test_planted_faults_of_pairs(write, lines, says):
    with pytest.raises(PoshgridError, match=says):
        pairs(write(PAIR, *lines))


def test_a_template_belongs_to_one_phenomenon(write):
    path = write(f"{PAIR},template", "a,x,y,Io vado.,Io vai.,t", "b,x,z,Tu vai.,Tu va.,t")
    with pytest.raises(PoshgridError, match="line 3: template 't' belongs to 'y' too"):
        pairs(path)


PROMPT = "item_id,category,phenomenon,prompt,accepted"


def prompts(path):
    return completions.load(path, completions.Options(), None)


def test_completions_are_divided(write):
    found = prompts(write(PROMPT, "a,x,y,Bevo un bicchiere di,acqua | latte|succo di mela"))
    assert found.items.schema == COMPLETIONS
    assert found.items["accepted"].to_list() == [["acqua", "latte", "succo di mela"]]
    assert found.facts == {"blocks": 0, "accepted": 3}


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("a,x,y,Bevo,acqua||latte", "accepted has an empty part"),
        ("a,x,y,Bevo,acqua|acqua", "'acqua' twice"),
        ("a,x,y,Bevo,", "accepted is empty"),
        ("a,x,y,Bevo ___,acqua", "ends in a blank"),
        ("a,x,y,Bevo ___.,acqua", "ends in a blank"),
        ("a,x,y,Bevo …,acqua", "ends in a blank"),
    ],
)
def test_planted_faults_of_completions(write, row, says):
    with pytest.raises(PoshgridError, match=f"line 2: .*{says}"):
        prompts(write(PROMPT, row))


def test_a_prompt_stands_once(write):
    with pytest.raises(PoshgridError, match="line 3: the same prompt as line 2"):
        prompts(write(PROMPT, "a,x,y,Bevo,acqua", "b,x,y,Bevo,latte"))


# ---- the example sets ----------------------------------------------------------------------------

LANGUAGES = ("italian", "english")
EXAMPLES = resources.path("examples")


def example(language, kind):
    given = yaml.safe_load((EXAMPLES / f"{language}-EXAMPLE.yaml").read_text(encoding="utf-8"))
    (suite,) = (s for s in given["suites"] if s["name"] == f"{language}-{kind}")
    package = "poshgrid.benchmark.suites"
    options = plugins.options(package, suite["reader"], suite.get("options", {}))
    path = EXAMPLES / suite["path"].rpartition("/")[2]
    reader = plugins.load(package, suite["reader"])
    assert reader.files(path, options) == [path]
    return reader.load(path, options, None).items


def test_tags_divide_at_bars_and_may_lack(write):
    header = HEADER.replace("block", "tags")
    found = load(write(header, "a,sc,p,neg | pas,Uno.,Due.,Tre.,", "b,sc,p,,Sei.,Sette.,Otto.,"))
    assert found.items["tags"].to_list() == [["neg", "pas"]] * 2 + [[]] * 2
    assert load(write(HEADER, f"{FOX},")).items["tags"].to_list() == [[]] * 2
    for cell, says in (("neg|", "tags has an empty part"), ("neg|neg", "tags has 'neg' twice")):
        with pytest.raises(PoshgridError, match=r"line 2: " + says):
            load(write(header, f"a,sc,p,{cell},Uno.,Due.,Tre.,"))


def test_every_example_file_is_marked_and_used():
    names = {p.name for p in EXAMPLES.iterdir() if p.name != "README.md"}
    assert all("EXAMPLE" in name for name in names)
    kinds = ("choices", "lexical", "acceptability", "completions")
    assert names == {f"{g}-{k}-EXAMPLE.csv" for g in LANGUAGES for k in kinds} | {
        *(f"{g}-EXAMPLE.yaml" for g in LANGUAGES),
        "blimp-EXAMPLE",  # a folder of pairs, of studies/fict/toy.yaml
    }
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert "no clinical test and have no norms" in readme


@pytest.mark.parametrize("language", LANGUAGES)
def test_examples_have_the_promised_shape(language):
    items = example(language, "choices")
    assert items.filter("correct").group_by("block").len()["len"].to_list() == [4] * 6
    assert items.group_by("item_id").len()["len"].unique().to_list() == [4]
    assert example(language, "lexical").filter("correct").height == 8
    assert example(language, "acceptability").height == 12
    assert example(language, "completions").height == 12


@pytest.mark.parametrize("language", LANGUAGES)
def test_roles_cannot_be_told_from_the_words(language):
    """Target and reversed distractor of passives have the same words; relatives the same length."""
    with (EXAMPLES / f"{language}-choices-EXAMPLE.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    for row in rows:
        words = {
            column: row[column].lower().strip(".").split()
            for column in row
            if column == "target" or column.startswith("distractor")
        }
        if row["phenomenon"] == "passive":
            assert sorted(words["target"]) == sorted(words["distractor1"]), row["item_id"]
        if row["phenomenon"].endswith("relative"):
            assert len({len(option) for option in words.values()}) == 1, row["item_id"]


def test_italian_relatives_are_not_ambiguous():
    with (EXAMPLES / "italian-choices-EXAMPLE.csv").open(encoding="utf-8") as stream:
        stimuli = pl.DataFrame(list(csv.DictReader(stream)))
    for phenomenon, stimulus in stimuli.select("phenomenon", "stimulus").iter_rows():
        after = stimulus.partition(" che ")[2].split()
        if phenomenon == "subject-relative":
            assert stimulus.split()[0] in {"Le", "I", "Gli"}
            assert after[0].endswith("no")  # third person plural
            assert after[1] in {"il", "la"}
        if phenomenon == "object-relative":
            assert after[0] in {"il", "la"}  # the subject comes before the verb
