"""Switchboard as trees and as transcripts: hand-worked sentences, random trees, every fault."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poshgrid.config import Source, specs
from poshgrid.corpora.read import read_source
from poshgrid.corpora.readers import switchboard_mrg
from poshgrid.corpora.readers.switchboard_mrg import leaves
from poshgrid.corpora.report import Report
from poshgrid.corpora.schema import SOURCE
from poshgrid.files import read_table
from tests.unit.corpora.reader_support import put, refused
from tests.unit.corpora.reader_support import read as read_with

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


def read(path) -> tuple[list[tuple[str, str]], Report]:
    return read_with("switchboard-mrg", path)


def tree(text: str) -> str | None:
    """Read one tree whose bracketing is given without the outermost pair."""
    [words] = leaves([f"( {text})"], "it")
    return switchboard_mrg.sentence(words, Report())


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


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("we/PRP 're/VBP sure/JJ they/PRP 've/VBP gone/VBN ./.", "We're sure they've gone."),
        ("the/DT boys/NNS '/POS dog/NN ,/, Bob/NNP 's/POS cat/NN ./.",
         "The boys' dog, Bob's cat."),
        ("I/PRP 'm/VBP gon/VBG na/TO ,/, you/PRP got/VBN ta/TO ./.", "I'm gonna, you gotta."),
        ("Lem/VB me/PRP go/VB ,/, gim/VB me/PRP it/PRP !/.", "Lemme go, gimme it!"),
        ("Uh/UH ,/, um/UH ,/, so/RB ,/, uh/UH ,/, yes/UH ,/,", "So, yes."),
        ("and/CC --/: the/DT ,/, the/DT cat/NN -/: it/PRP ran/VBD ./.",
         "And, the cat, it ran."),
        ("a/DT good-/XX good/JJ one/CD ./.", "A good one."),
        ("he/PRP said/VBD ,/, ``/`` go/VB ./. ''/''", "He said, ``go.''."),
        ("Uh/UH ,/,", None),
        ("the/DT MUMBLEx/XX ran/VBD ./.", None),
    ],
)  # fmt: skip
def test_words_are_written_as_one_writes_them(words, text):
    assert tree(tagged(words)) == text


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


def expected(node, edited=False) -> list[str]:
    """Walk the tree itself."""
    label, content = node
    if label in {"CODE", "-NONE-", "-DFL-"}:
        return []
    edited = edited or label == "EDITED"
    if isinstance(content, str):
        return ["" if edited else content]
    return [leaf for child in content for leaf in expected(child, edited)]


@settings(max_examples=50)
@given(st.lists(st.tuples(st.just("S"), st.lists(NODES, min_size=1, max_size=3)), min_size=1), GAPS)
def test_leaves_of_random_trees(nodes, gap):
    text = "\n".join(f"( {written(node, gap)} )" for node in nodes)
    assert list(leaves(text.splitlines(), "it")) == [expected(node) for node in nodes]


# ---- faults -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reader", "name", "content", "message"),
    [
        ("switchboard-mrg", "e.mrg", BANNER.encode(), r"e\.mrg: line 4: no whole tree"),
        ("switchboard-mrg", "t.mrg", b"A.1: Hello.\n", r"t\.mrg: line 1: 'A\.1:' outside of brack"),
        ("switchboard-mrg", "c.mrg", b"( (S (NN a))\n\n( (S (NN b)))\n",
         r"c\.mrg: line 1: no whole tree"),
        ("switchboard-mrg", "c.mrg", b"( (S (NN a)))\n( (S (NN b))))\n",
         r"c\.mrg: line 2: '\)' without '\('; give"),
        ("switchboard", "transcript", TREES.encode(), r"transcript: line 1: no turn such as"),
    ],
)  # fmt: skip
def test_faults_name_file_place_and_remedy(tmp_path, reader, name, content, message):
    refused(tmp_path, reader, name, content, message)


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
