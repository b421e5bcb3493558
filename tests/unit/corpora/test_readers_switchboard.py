"""Switchboard as trees and as transcripts: hand-worked sentences, random trees, every fault."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poshgrid.config import Source, specs
from poshgrid.corpora.joining import mend
from poshgrid.corpora.read import read_source
from poshgrid.corpora.readers import switchboard, switchboard_mrg
from poshgrid.corpora.readers.switchboard_mrg import Leaf, leaves
from poshgrid.corpora.report import Report
from poshgrid.corpora.schema import SOURCE
from poshgrid.errors import PoshgridError
from poshgrid.files import read_table
from tests.unit.corpora.reader_support import put, refused

BANNER = "*x*x*x*x*x*x*x*x*\n*x*  A licence (of 1995).  *x*\n*x*x*x*x*x*x*x*x*\n\n"
SPEAKER = "( (CODE (SYM SpeakerA1) (. .) ))\n"
TREES = (
    BANNER
    + SPEAKER
    + """( (SBARQ (WHNP-1 (WP What) )
    (SQ (VBD did) (RB n't)
      (NP-SBJ (DT the) (NNS dogs) )
      (VP (VB eat)
        (NP (-NONE- *T*-1) )))
    (. ?) (-DFL- E_S) ))
( (CODE (SYM SpeakerB2) (. .) ))
( (INTJ (UH Yeah)
    (, ,)
    (-DFL- E_S) ))
( (S (EDITED (RM (-DFL- \\[) )
      (NP-SBJ-UNF (PRP they) )
      (, ,) (IP (-DFL- \\+) ))
    (NP-SBJ-1 (PRP they) ) (RS (-DFL- \\]) )
    (INTJ (UH uh) ) (, ,)
    (VP (VBP wan)
      (S (NP-SBJ (-NONE- *-1) )
        (VP (TO na)
          (VP (VB leave) ))))
    (. .) (-DFL- N_S) ))
"""
)


def read(path, **options) -> tuple[list[tuple[str, str]], Report]:
    report = Report()
    return list(switchboard_mrg.read(path, switchboard_mrg.Options(**options), report)), report


def tree(text: str, **options) -> str | None:
    """Read one tree whose bracketing is given without the outermost pair."""
    [words] = leaves([f"( {text})"], "it")
    return switchboard_mrg.sentence(words, switchboard_mrg.Options(**options), Report())


def tagged(words: str) -> str:
    """Return a flat tree of words written as ``word/TAG``."""
    pairs = (word.rsplit("/", 1) for word in words.split())
    return "(S " + " ".join(f"({tag} {word})" for word, tag in pairs) + ")"


# ---- trees ------------------------------------------------------------------------------------


def test_a_conversation(tmp_path):
    found, report = read(put(tmp_path, "sw2005.mrg", TREES))
    assert found == [
        ("sw2005", "What didn't the dogs eat?"),
        ("sw2005", "Yeah."),
        ("sw2005", "They, wanna leave."),
    ]
    assert report.lines == 3
    assert not report.dropped


def test_disfluencies_may_be_kept(tmp_path):
    found, _ = read(put(tmp_path, "sw2005.mrg", TREES), disfluencies=True)
    assert [text for _, text in found] == [
        "What didn't the dogs eat?",
        "Yeah.",
        "they, they uh, wanna leave.",
    ]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("it/PRP 's/BES n't/RB ,/, it/PRP ca/MD n't/RB ./.", "It'sn't, it can't."),
        ("we/PRP 're/VBP sure/JJ they/PRP 've/VBP gone/VBN ./.", "We're sure they've gone."),
        ("I/PRP 'm/VBP what/WP he/PRP 'd/MD see/VB ,/,", "I'm what he'd see."),
        ("the/DT boys/NNS '/POS dog/NN ,/, Bob/NNP 's/POS cat/NN ./.",
         "The boys' dog, Bob's cat."),
        ("I/PRP 'm/VBP gon/VBG na/TO ,/, you/PRP got/VBN ta/TO ./.", "I'm gonna, you gotta."),
        ("Lem/VB me/PRP go/VB ,/, gim/VB me/PRP it/PRP !/.", "Lemme go, gimme it!"),
        ("get/VB 'em/PRP ,/, 'cause/IN I/PRP know/VBP ./.", "Get 'em, 'cause I know."),
        ("Uh/UH ,/, um/UH ,/, so/RB ,/, uh/UH ,/, yes/UH ,/,", "So, yes."),
        ("Uh-huh/UH ./.", "Uh-huh."),
        ("and/CC --/: the/DT ,/, the/DT cat/NN -/: it/PRP ran/VBD ./.",
         "And, the cat, it ran."),
        ("a/DT good-/XX good/JJ one/CD ./.", "A good one."),
        ("is/VBZ it/PRP ?/. yes/UH ./.", "Is it? Yes."),
        ("he/PRP said/VBD ,/, ``/`` go/VB ./. ''/''", "He said, ``go.''."),
        ("-LRB-/-LRB- this/DT -RRB-/-RRB- one/CD ./.", "This one."),
        ("Viet/NNP Nam/NNP ,/,", "Viet Nam."),
        ("Uh/UH ,/,", None),
        (",/, ./.", None),
        ("the/DT MUMBLEx/XX ran/VBD ./.", None),
    ],
)  # fmt: skip
def test_words_are_written_as_one_writes_them(words, text):
    assert tree(tagged(words)) == text


def test_marks_are_left_out_at_any_depth():
    text = (
        "(S (CODE (SYM SpeakerA1) (. .)) (NP (PRP I)) (EDITED (NP (XX MUMBLEx) (-NONE- *)))"
        " (VP (VBP go) (CODE (X (Y (Z nowhere)))) (ADVP-TMP (RB now)) (-NONE- *U*))"
        " (RS (-DFL- x)) (. .) (-DFL- E_S))"
    )
    assert tree(text) == "I go now."
    assert tree(text, disfluencies=True) is None  # what was taken back is not intelligible


def test_edits_within_edits():
    text = "(S (EDITED (EDITED (DT the)) (DT a)) (EDITED-UNF (DT this)) (DT that) (VBZ is) (. .))"
    assert tree(text) == "That is."
    assert tree(text, disfluencies=True) == "the a this that is."


def test_every_tree_with_words_is_accounted_for(tmp_path):
    trees = (
        TREES + "( (INTJ (UH Um) (. .) ))\n( (S (XX MUMBLEx) (VBZ is) (. .) ))\n( (-DFL- N_S) )\n"
    )
    found, report = read(put(tmp_path, "a.mrg", trees))
    assert report.dropped == {"only noise or fillers": 1, "unintelligible": 1}
    assert report.lines == len(found) + 2 == 5


def test_nested_folders_and_gz(tmp_path):
    put(tmp_path, "3/sw3001.mrg", "( (INTJ (UH Three) (. .)))")
    put(tmp_path, "2/sw2001.mrg.gz", gzip.compress(b"( (INTJ (UH Two) (. .)))"))
    put(tmp_path, "2/sw2001.pos", "not read")
    found, _ = read(tmp_path)
    assert found == [("2/sw2001", "Two."), ("3/sw3001", "Three.")]


LABELS = st.sampled_from(["S", "NP-SBJ-1", "VP", "EDITED", "CODE", "INTJ", "", "RM", "SBAR-ADV"])
TAGS = st.sampled_from(["NN", "VBD", "-NONE-", "-DFL-", "PRP$", ",", "XX"])
TERMINALS = st.tuples(TAGS, st.sampled_from(["dog", "*T*-1", "E_S", "n't", ",", "\\["]))
NODES = st.recursive(
    TERMINALS, lambda inner: st.tuples(LABELS, st.lists(inner, min_size=1, max_size=4))
)
GAPS = st.sampled_from(["", " ", "\n", "\n   ", "\t"])


def written(node, gap: str) -> str:
    label, content = node
    if isinstance(content, str):
        return f"({gap}{label} {content}{gap})"
    return f"({label}{gap}" + gap.join(written(child, gap) for child in content) + ")"


def expected(node, edited=False) -> list[Leaf]:
    """Walk the tree itself."""
    label, content = node
    if label in {"CODE", "-NONE-", "-DFL-"}:
        return []
    edited = edited or label == "EDITED"
    if isinstance(content, str):
        return [Leaf(content, edited)]
    return [leaf for child in content for leaf in expected(child, edited)]


@settings(max_examples=50)
@given(st.lists(st.tuples(st.just("S"), st.lists(NODES, min_size=1, max_size=3)), min_size=1), GAPS)
def test_leaves_of_random_trees(nodes, gap):
    text = "\n".join(f"( {written(node, gap)} )" for node in nodes)
    assert list(leaves(text.splitlines(), "it")) == [expected(node) for node in nodes]


def test_depth_has_no_limit():
    depth = 20_000
    [words] = leaves(["(S " * depth, "(NN dog)", ")" * depth], "it")
    assert words == [Leaf("dog", False)]


# ---- faults -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reader", "name", "content", "message"),
    [
        ("switchboard-mrg", "e.mrg", BANNER.encode(), r"e\.mrg: line 4: no tree in the file"),
        ("switchboard-mrg", "t.mrg", b"A.1: Hello.\n", r"t\.mrg: line 1: 'A\.1:' outside of brack"),
        ("switchboard-mrg", "t.mrg", b"<tree>(S)</tree>\n", r"t\.mrg: line 1: '<tree>' outside"),
        ("switchboard-mrg", "c.mrg", TREES[:-40].encode(), r"c\.mrg: line 16: .*never closed"),
        ("switchboard-mrg", "c.mrg", b"( (S (NN a))\n\n( (S (NN b)))\n",
         r"c\.mrg: line 1: .*never closed; the file was cut"),
        ("switchboard-mrg", "c.mrg", b"( (S (NN a)))\n( (S (NN b))))\n",
         r"c\.mrg: line 2: '\)' without '\('; give"),
        ("switchboard-mrg", "n.mrg", SPEAKER.encode(), r"n\.mrg: no sentence left of 0 lines"),
        ("switchboard", "transcript", TREES.encode(), r"transcript: line 1: no turn such as"),
    ],
)  # fmt: skip
def test_faults_name_file_place_and_remedy(tmp_path, reader, name, content, message):
    refused(tmp_path, reader, name, content, message)


def test_a_folder_without_trees_is_named(tmp_path):
    with pytest.raises(PoshgridError, match=r"holds no \.mrg"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("filler", "said"),
    [
        (f"(NN {'word' * 25}) " * 95_000, None),
        (f"(NN {'x' * 10_000_000})", None),
        (" " * 10_000_000 + "(NN word)", "Word."),
    ],
)
def test_a_line_of_ten_megabytes_harms_no_tree(tmp_path, filler, said):
    text = f"( (S (NN before)))\n( (S {filler}))\n( (S (NN after)))\n"
    found, report = read(put(tmp_path, "a.mrg", text))
    assert [sentence for _, sentence in found] == ["Before.", *([said] if said else []), "After."]
    assert report.dropped["too long"] == (said is None)
    assert report.lines == 3


@pytest.mark.parametrize(
    ("filler", "said"),
    [
        ("word " * 2_000_000, None),
        ("x" * 10_000_000, None),
        (" " * 10_000_000 + "word", "Word."),
        ("oh, " * 2_500_000, None),
    ],
)
def test_a_line_of_ten_megabytes_harms_no_turn(tmp_path, filler, said):
    text = f"A.1: Before. \nB.2: {filler}.\nA.3: After. B.4: Bye.\n"
    report = Report()
    path = put(tmp_path, "transcript", text)
    found = [t for _, t in switchboard.read(path, switchboard.Options(), report)]
    assert found == ["Before.", *([said] if said else []), "After.", "Bye."]
    assert report.dropped["too long"] == (said is None)
    assert report.lines == 4


def test_long_runs_of_spaces_do_not_change_a_turn():
    assert mend("so   the,\tthe \n dog , ran") == "So the dog, ran."


# ---- both forms -------------------------------------------------------------------------------


def test_trees_and_transcript_give_the_same_sentences(tmp_path):
    """One conversation in both forms, by hand; the comma of a filler stays in both."""
    put(tmp_path, "trees/a.mrg", TREES)
    turns = "A.1: What didn't the dogs eat? \nB.2: Yeah. They, they, uh, wanna leave. \n"
    put(tmp_path, "text/transcript", turns)
    texts = []
    for reader, path in [("switchboard-mrg", "trees"), ("switchboard", "text")]:
        source = Source(name="it", reader=reader, path=path)
        output = tmp_path / reader / "sentences.parquet"
        read_source(specs.SourceSpec(source=source), tmp_path, output)
        texts.append(read_table(output, SOURCE)["text"].to_list())
    assert texts[0] == texts[1] == ["What didn't the dogs eat?", "Yeah.", "They, wanna leave."]
