"""Readers of choices and completions: natural texts, and every slip is named."""

import pytest

from poshgrid.benchmark.schema import CHOICES, COMPLETIONS
from poshgrid.benchmark.suites import choices, completions
from poshgrid.core.errors import PoshgridError

HEADER = "item_id,category,phenomenon,block,stimulus,target,distractor1,distractor2"
FOX = "a,sc,passive,1,La volpe è vista dal lupo.,il lupo vede la volpe.,la volpe vede il lupo."
OWL = "b,sc,passive,1,Il gufo è visto dal gatto.,il gatto vede il gufo.,il gufo vede il gatto."


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
        "a,sc,passive,La volpe è vista dal lupo.,la volpe vede il lupo.,il lupo vede la volpe.,"
        "il lupo vede l'oca.",
        "b,sc,passive,Un gatto dorme.,un micio dorme,un cane dorme,",
    )
    items = load(path).items
    assert items.schema == CHOICES
    assert items.drop("category", "phenomenon", "tags", "context", "people").rows()[:3] == [
        ("a", "", 0, False, "La volpe è vista dal lupo, cioè la volpe vede il lupo."),
        ("a", "", 1, True, "La volpe è vista dal lupo, cioè il lupo vede la volpe."),
        ("a", "", 2, False, "La volpe è vista dal lupo, cioè il lupo vede l'oca."),
    ]
    assert items.filter(item_id="b").height == 2


def test_joining():
    for stimulus, option, joined in (
        ("un gatto", "un animale.", "Un gatto, cioè un animale."),
        ("Dormi...", "riposi!", "Dormi, cioè riposi!"),
        ("Dorme.", "Maria dorme", "Dorme, cioè Maria dorme."),
    ):
        assert choices.join(stimulus, option, ", cioè ") == joined


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([HEADER], ": no rows"),
        ([HEADER.replace("target", "tagret"), f"{FOX},"], "line 2: tagret: unknown column; did"),
        ([HEADER.replace("category,", ""), FOX], "line 2: category: Field required"),
        ([HEADER, "a,sc,p,1,Uno.,,Due.,Tre."], "line 2: target and"),
        ([HEADER, f"{FOX},", "b,sc,passive,1,Uno.,Due.,Tre.,due"], "line 3: distractor2"),
        ([HEADER, "a,sc,p,1,Uno.,Due.,Tre!,"], "line 2: target ends in '.' and distractor1"),
        ([HEADER, f"{FOX},", OWL.replace("b,", "a,", 1) + ","], "item_id 'a' is there twice"),
        ([HEADER, f"{FOX},", f"{OWL},", "c,sc,passive,2,Uno.,Due.,Tre.,"], "block '1' of 'sc'"),
        ([HEADER, f"{FOX},", OWL.replace("passive", "no") + ","], "block '1' of 'sc'"),
    ],
)
def test_planted_faults_of_choices_are_named(write, lines, message):
    path = write(*lines)
    with pytest.raises(PoshgridError) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


# ---- completions --------------------------------------------------------------------------------

PROMPT = "item_id,category,phenomenon,prompt,accepted"


def prompts(path):
    return completions.load(path, completions.Options(), None)


def test_without_a_stimulus_options_are_sentences(write):
    items = load(write("item_id,category,phenomenon,target,distractor1", "a,x,y,Io vado.,Io vai."))
    assert items.items.select("correct", "text").rows() == [(True, "Io vado."), (False, "Io vai.")]


def test_completions_are_divided(write):
    items = prompts(write(f"{PROMPT},tags", "a,x,y,Bevo,acqua | latte||acqua,n|m")).items
    assert items.schema == COMPLETIONS
    assert items.select("accepted", "tags").row(0) == (["acqua", "latte"], ["n", "m"])


def test_planted_faults_of_prompts(write):
    for blank in ("___.", "…"):
        with pytest.raises(PoshgridError, match="line 2: prompt: ends in a blank"):
            prompts(write(PROMPT, f"a,x,y,Bevo {blank},acqua"))
