"""A source becomes a table: every line is accounted for, and processes change nothing."""

import pytest

from tests.unit.corpora.reader_support import put, refused, table_of


def test_turns_broken_off_are_joined_and_calls_are_told_apart(tmp_path):
    transcript = (
        "\nA.1: She's big enough to scare them,\nB.2: Yeah.\nA.3: and barks. Good dog! B.4: Oh?\n"
        "B.5: I went to Latin\nAmerica. \n\nA.1: Hello. \nB.2: <noise> \n"
    )
    put(tmp_path, "transcript", transcript)
    frame, statistics = table_of(tmp_path, "switchboard")
    assert frame.select("document", "position", "text").rows() == [
        ("call-0001", 0, "Yeah."),
        ("call-0001", 1, "She's big enough to scare them, and barks."),
        ("call-0001", 2, "Good dog!"),
        ("call-0001", 3, "Oh?"),
        ("call-0001", 4, "I went to Latin America."),
        ("call-0002", 0, "Hello."),
    ]
    assert statistics["dropped"] == {"only noise or fillers": 1}
    assert statistics["lines"] == 7
    refused(tmp_path / "other", "switchboard", "t", "( (S (NN a)))\n", "t: line 1: no turn such as")


def test_plain_text_is_kept_in_documents(tmp_path):
    put(tmp_path, "a.txt", "One is here. Two is there.\n\nThree <unk>.\n<|endoftext|>\nFour.\n")
    put(tmp_path, "b.txt", "It is <i>so</i>!\n" * 501)
    frame, statistics = table_of(tmp_path, "text")
    assert frame.select("document", "position", "text").rows()[:5] == [
        ("a-000000", 0, "One is here."),
        ("a-000000", 1, "Two is there."),
        ("a-000000", 2, "Three <unk>."),
        ("a-000001", 0, "Four."),
        ("b-000000", 0, "It is so!"),
    ]
    assert frame["document"][-2:].to_list() == ["b-000000", "b-000001"]
    assert statistics["unknown_words"] == 1


# ---- any source -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "sentences"), [(None, 6), (1, 1), (5, 1), (6, 2), ("0.011K", 3), (99, 6)]
)
def test_a_source_stops_after_so_many_words(tmp_path, words, sentences):
    """Whole sentences up to the one that reaches the number; the first ones, in file order."""
    tales = [f"story {i} is this one .\n" for i in range(6)]  # 5 words each
    put(tmp_path, "d/b.csv", "text\n" + "".join(tales[3:]))
    put(tmp_path, "d/a.csv", "text\n" + "".join(tales[:3]))
    if sentences < len(tales):
        put(tmp_path, "d/c.csv", b"\0")
    frame, statistics = table_of(tmp_path, "wikipedia-sentences", "d", words=words)
    assert frame["text"].to_list() == [f"story {i} is this one." for i in range(sentences)]
    assert statistics["words"] == 5 * sentences
    assert statistics["lines"] == sentences  # the others were not read


def test_a_share_is_of_documents_from_all_over_the_files(tmp_path):
    """Whole documents, in their order, then their first words; dropped lines are theirs."""
    documents = [f"Tale {n} is this one.\n***\n" * 3 for n in range(300)]
    put(tmp_path, "a.txt", "<|endoftext|>\n".join(documents))
    frame, statistics = table_of(tmp_path, "text", "a.txt", share=0.3)
    numbers = [
        int(name.removeprefix("a-")) for name in frame["document"].unique(maintain_order=True)
    ]
    assert 60 < len(numbers) < 120 and numbers == sorted(numbers) and numbers[-1] > 250
    assert frame.height == 3 * len(numbers)
    assert statistics["dropped"] == {"no letter": frame.height}
    larger, _ = table_of(tmp_path, "text", "a.txt", share=0.6)
    assert set(frame["text"]) < set(larger["text"])
    first, _ = table_of(tmp_path, "text", "a.txt", share=0.3, words=200)
    assert first.equals(frame.head(40))
    refused(tmp_path / "b", "text", "b.txt", documents[0], "b.txt: share 0.001 of", share=0.001)
