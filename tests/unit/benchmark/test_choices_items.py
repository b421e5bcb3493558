"""Readers of choices, completions and acceptability: natural texts, and every slip is named."""

from __future__ import annotations

import csv

import pytest
import yaml
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
    def written(*lines):
        path = tmp_path / "items.csv"
        path.write_text("\n".join(lines), encoding="utf-8")
        return path

    return written


def load(path, **options):
    return choices.load(path, choices.Options(**options), None)


def test_options_follow_the_order_of_the_columns_and_the_target_is_marked(write):
    path = write(
        "item_id,category,phenomenon,stimulus,distractor1,target,distractor2",
        "a,sc,passive,La volpe è vista dal lupo.,La volpe vede il lupo.,Il lupo vede la volpe.,"
        "Il lupo vede l'oca.",
        "b,sc,passive,Un gatto dorme.,un micio dorme,un cane dorme,",
    )
    items = load(path).items
    assert items.schema == CHOICES
    assert items.drop("category", "phenomenon", "tags").rows()[:3] == [
        ("a", "", 0, False, "La volpe è vista dal lupo, cioè la volpe vede il lupo."),
        ("a", "", 1, True, "La volpe è vista dal lupo, cioè il lupo vede la volpe."),
        ("a", "", 2, False, "La volpe è vista dal lupo, cioè il lupo vede l'oca."),
    ]
    assert items.filter(item_id="b").height == 2


@pytest.mark.parametrize(
    ("stimulus", "option", "given", "expected"),
    [
        ("un gatto", "un animale.", {}, "Un gatto, cioè un animale."),
        ("Il gatto dorme!", "Il gatto riposa", {}, "Il gatto dorme, cioè il gatto riposa."),
        ("Dormi...", "Riposi!", {}, "Dormi, cioè riposi!"),
        ("Dorme.", "L'oca dorme.", {}, "Dorme, cioè l'oca dorme."),
        ("Dorme.", "Maria dorme.", {"names": ["Maria"]}, "Dorme, cioè Maria dorme."),
        ("Dorme.", "RAI", {}, "Dorme, cioè RAI."),
        ("Dorme.", "Riposa", {"option_case": "keep", "final_mark": ""}, "Dorme, cioè Riposa"),
        ("It runs.", "I see.", {"connective": ", that is, ", "names": ["I"]},
         "It runs, that is, I see."),
    ],
)  # fmt: skip
def test_joining(stimulus, option, given, expected):
    options = choices.Options(**given)
    assert choices.join(stimulus, option, options) == expected


def test_cells_are_spelled_like_the_corpora(write):
    decomposed = "e\u0300"  # e and a combining accent, as some systems write è
    path = write(
        "item_id,category,phenomenon,stimulus,target,distractor1",
        f"a,x,y, L’orso  {decomposed} qui. ,l’orso c'{decomposed},l’orso non c'{decomposed}",
        ",,,,,",
    )
    assert load(path).items["text"][0] == "L'orso è qui, cioè l'orso c'è."


# ---- choices: faults -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "line", "says"),
    [
        (["item_id,category,phenomenon,stimulus,distractor1"], 1, "target"),
        ([HEADER, "a,sc,p,1,Uno.,,Due.,Tre."], 2, "target is empty"),
        ([HEADER, "a,sc,,1,Uno.,Due.,Tre.,"], 2, "phenomenon is empty"),
        ([HEADER, 'a,sc,p,1,"Uno', 'e due.",Tre.,Sei.,', "b,sc,p,1,Uno.,,Due.,"], 4, "target is"),
        ([HEADER, f"{FOX},", "b,sc,passive,1,Uno.,Due.,Tre.,due"], 3, "the same as"),
        ([HEADER, "a,sc,p,1,Uno.,Due.,Tre!,"], 2, "ends in '.' and distractor1 in '!'"),
        ([HEADER.replace("target", "targt")], 1, "did you mean 'target'"),
        ([f"{HEADER},target"], 1, "'target' is there twice"),
        ([f"{HEADER},distractor0"], 1, "unknown column 'distractor0'"),
        ([HEADER.replace(",", ";")], 1, "with commas"),
        ([HEADER, f"{FOX},", OWL.replace("b,", "a,", 1) + ","], 3, "that of line 2"),
        ([HEADER, f"{FOX},", FOX.replace("a,", "b,", 1) + ","], 3, "texts as line 2"),
        ([HEADER, FOX], 2, "7 cells, but the header has 8"),
        ([HEADER, f'{FOX},"x'], 2, "broken CSV"),
        ([HEADER], None, "no rows"),
        ([HEADER, f"{FOX},", f"{OWL},", "c,sc,passive,2,Uno.,Due.,Tre.,"], 4, "block '2' of 'sc'"),
        ([HEADER, f"{FOX},", "c,sc,passive,,Uno.,Due.,Tre.,"], 3, "give a block to each"),
        ([HEADER, f"{FOX},", OWL.replace("passive", "no") + ","], 3, "passive and no;"),
        (
            [HEADER, "a,sc,p,1,Chi vede Maria?,Maria è vista.,Anna è vista.,"],
            2,
            "begin with 'maria'",
        ),
        ([HEADER.replace("block", "tags"), "a,x,y,n|n,Uno.,Due.,Tre.,"], 2, "tags has 'n' twice"),
        ([HEADER, "\0"], None, "binary"),
    ],
)
def test_planted_faults_of_choices_are_named(write, lines, line, says):
    path = write(*lines)
    with pytest.raises(PoshgridError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: line {line}: " if line else f"{path}: ")
    assert says in message
    assert "\n" not in message


def test_the_sound_rows_that_the_faults_are_planted_in_pass(write, tmp_path):
    assert load(write(HEADER, f"{FOX},", f"{OWL},")).items["block"].to_list() == ["1"] * 4
    named = write(HEADER, "a,sc,p,1,Chi vede Maria?,Maria è vista.,Anna è vista.,")
    assert "cioè Maria" in load(named, names=["Maria"], option_case="lower").items["text"][0]
    for path, says in ((None, "no path"), (tmp_path, "no such file")):
        with pytest.raises(PoshgridError, match=says):
            load(path)
        assert choices.files(path, choices.Options()) == []


@pytest.mark.parametrize("connective", ["", "cioè ", ", cioè", ",", "; that is,"])
def test_a_connective_that_glues_words_is_refused(connective):
    with pytest.raises(ValidationError, match=r"must|empty"):
        choices.Options(connective=connective)


# ---- acceptability and completions ---------------------------------------------------------------

PAIR, PROMPT = (f"item_id,category,phenomenon,{rest}" for rest in ("good,bad", "prompt,accepted"))


def pairs(path):
    return acceptability.load(path, acceptability.Options(), None)


def prompts(path):
    return completions.load(path, completions.Options(), None)


def test_acceptability_fills_template_set_and_contrast(write):
    rows = "a,x,agreement,Io vado.,Io vai.,person", "b,x,clitic,Lo vedo.,Vedo lo.,"
    items = pairs(write(f"{PAIR},contrast", *rows)).items
    assert items.schema == PAIRS
    assert items.drop(DESIGN).rows() == [
        ("a", "x", "agreement", "agreement", "a", "person", "Io vado.", "Io vai."),
        ("b", "x", "clitic", "clitic", "b", "clitic", "Lo vedo.", "Vedo lo."),
    ]


def test_completions_are_divided(write):
    items = prompts(write(PROMPT, "a,x,y,Bevo un bicchiere di,acqua | latte|succo di mela")).items
    assert items.schema == COMPLETIONS
    assert items["accepted"].to_list() == [["acqua", "latte", "succo di mela"]]


@pytest.mark.parametrize(
    ("read", "lines", "says"),
    [
        (pairs, [PAIR, "a,x,y,Io vado.,Io vado."], "line 2: good and bad are the same"),
        (pairs, [PAIR, "a,x,y,Io vado.,"], "line 2: bad is empty"),
        (pairs, [PAIR, "a,x,y,Io.,Tu.", "b,x,y,Io.,Tu."], "line 3: the same pair as line 2"),
        (
            pairs,
            [f"{PAIR},template", "a,x,y,Io.,Tu.,t", "b,x,z,Noi.,Voi.,t"],
            "line 3: template 't'",
        ),
        (prompts, [PROMPT, "a,x,y,Bevo,acqua||latte"], "line 2: accepted has an empty part"),
        (prompts, [PROMPT, "a,x,y,Bevo ___.,acqua"], "line 2: the prompt ends in a blank"),
        (prompts, [PROMPT, "a,x,y,Bevo …,acqua"], "line 2: the prompt ends in a blank"),
        (prompts, [PROMPT, "a,x,y,Bevo,acqua", "b,x,y,Bevo,latte"], "line 3: the same prompt"),
    ],
)
def test_planted_faults_of_pairs_and_prompts(write, read, lines, says):
    with pytest.raises(PoshgridError, match=says):
        read(write(*lines))


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
