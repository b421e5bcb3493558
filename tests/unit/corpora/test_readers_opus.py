"""The OPUS reader: marks of subtitles by hand, its formats held to each other, broken files."""

from __future__ import annotations

import gzip
import tracemalloc
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poshgrid.config import Source, specs
from poshgrid.corpora import textfile
from poshgrid.corpora.joining import joined
from poshgrid.corpora.read import input_files, read_source
from poshgrid.corpora.readers import opus
from poshgrid.corpora.report import Report
from poshgrid.corpora.schema import SOURCE
from poshgrid.errors import PoshgridError
from poshgrid.files import read_table
from tests.unit.corpora.reader_support import refused


def put(tmp_path, name: str, content: str | bytes):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def raw(*sentences: str) -> str:
    """Untokenised XML: text between times, a sentence over one or two subtitles."""
    body = "".join(
        f'  <s id="{i}">\n    <time id="T{i}S" value="00:00:0{i % 10},000" />\n{escape(text)}\n'
        f'    <time id="T{i}E" value="00:00:0{i % 10},900" />\n  </s>\n'
        for i, text in enumerate(sentences, start=1)
    )
    return document(body)


def tokenised(*sentences: str) -> str:
    """XML with words, which are given with spaces between them."""
    body = "".join(
        f'<s id="{i}"><time id="T{i}S" value="00:00:01,000"/>\n'
        + "\n".join(f'<w id="{i}.{j}">{escape(w)}</w>' for j, w in enumerate(text.split(), start=1))
        + f'\n<time id="T{i}E" value="00:00:02,000"/></s>\n'
        for i, text in enumerate(sentences, start=1)
    )
    return document(body)


def document(body: str) -> str:
    meta = "<meta><subtitle><language>English</language><blocks>2</blocks></subtitle></meta>"
    return f'<?xml version="1.0" encoding="utf-8"?>\n<document id="1">\n{body}{meta}</document>\n'


def read(path, **options) -> tuple[list[tuple[str, str]], Report]:
    report = Report()
    return list(opus.read(path, opus.Options(**options), report)), report


def spec(path: str, **options) -> specs.SourceSpec:
    return specs.SourceSpec(source=Source(name="films", reader="opus", path=path, options=options))


# ---- marks of subtitles -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("subtitle", "wanted"),
    [
        ("Where are you going?", ["Where are you going?"]),
        # speakers
        ("- Hello.", ["Hello."]),
        ("-Hello.", ["Hello."]),
        ("– Hello.", ["Hello."]),
        (">> Good evening.", ["Good evening."]),
        ("- Where is he? - Gone.", ["Where is he?", "Gone."]),
        ("- where is he? -gone.", ["where is he?", "gone."]),
        ("- Where are you\n- Here", ["Where are you", "Here"]),
        ('- "Go!" - Why?', ['"Go!"', "Why?"]),
        ("I came - I saw.", ["I came - I saw."]),
        ("The boys' - well, they left.", ["The boys' - well, they left."]),
        ("A well-known man.", ["A well-known man."]),
        ("I was going to --", ["I was going to --"]),
        ("You know what\nthey call it?", ["You know what they call it?"]),
        # labels
        ("JOHN: Come here.", ["Come here."]),
        ("- MAN 2: Stop! - MRS. O'HARA: No!", ["Stop!", "No!"]),
        ("MAN: Stop! WOMAN: No!", ["Stop!", "No!"]),
        ("Stop. DR. NO: Never.", ["Stop.", "Never."]),
        ("ÉLODIE : Oui?", ["Oui?"]),
        ("JOHN (on phone): Hi.", ["Hi."]),
        ("[Mary]: Hi.", ["Hi."]),
        ("It's 5:30.", ["It's 5:30."]),
        ("AT 5:30 WE GO.", ["AT 5:30 WE GO."]),
        ("Remember: no.", ["Remember: no."]),
        ("I: the first.", ["I: the first."]),
        # typography
        (r"{\an8}Over there.", ["Over there."]),
        (r"{\i1}Over{\i0} there.", ["Over there."]),
        ("<i>Over</i> there.", ["Over there."]),
        ("I <b>un</b>did it, <i>no</i>!", ["I undid it, no!"]),
        ("So <br/>we left<br>.", ["So we left."]),
        (r"Up\Nthere.", ["Up there."]),
        ('<font color="#ffff00">Over</font> there.', ["Over there."]),
        ("&lt;i&gt;- Over there.&lt;/i&gt;", ["Over there."]),
        ("< i > Over there . < / i >", ["Over there."]),
        ("5 < 6 is true", ["5 < 6 is true"]),
        # sounds
        ("[door slams] Who's there?", ["Who's there?"]),
        ("Yes (sighs) I know.", ["Yes I know."]),
        ("(a [nested] one) Yes.", ["Yes."]),
        ("[♪♪] Hello.", ["Hello."]),
        # hashes that are no songs
        ("We're #1!", ["We're #1!"]),
        ("# 1 in the nation.", ["# 1 in the nation."]),
        # words that credits use, in speech
        ("The transcript was read by him.", ["The transcript was read by him."]),
        ("Subtitles are hard to read.", ["Subtitles are hard to read."]),
        ("The caption says: no.", ["The caption says: no."]),
        ("Stand by me. Correct.", ["Stand by me. Correct."]),
    ],
)
def test_what_speakers_say(subtitle, wanted):
    report = Report()
    assert opus.speeches(subtitle, report) == wanted
    assert not report.dropped


@pytest.mark.parametrize(
    ("subtitle", "reason"),
    [
        ("♪ Happy birthday to you ♪", "music"),
        ("♪ Happy birthday", "music"),
        ("- ♫ la la", "music"),
        ("# Happy birthday to you #", "music"),
        ("- # Happy birthday", "music"),
        ("to you #", "music"),
        ("#Happy birthday#", "music"),
        ("<i># Happy birthday</i>", "music"),
        ("¶ Happy birthday", "music"),
        ("[door slams]", "sound description"),
        ("(SIGHS)", "sound description"),
        ("- [laughs] - (cries)", "sound description"),
        ("MAN: [laughs]", "sound description"),
        ("I think it was [inaudible] yesterday.", "unintelligible"),
        ("He said (unclear) twice.", "unintelligible"),
        ("She has a [?] here.", "unintelligible"),
        ("[a door that goes on", "unclosed bracket"),
        ("in the next line] Yes.", "unclosed bracket"),
        ("Subtitles by SomeBody", "credits"),
        ("English subtitles: Somebody", "credits"),
        ("Subtitled and timed by A. Person", "credits"),
        ("- <i>Captioning made possible by A Firm</i>", "credits"),
        ("[Captions by A Firm]", "credits"),
        ("Sync and corrections by someone", "credits"),
        ("Synced & corrected by someone", "credits"),
        ("Translated by Some Body", "credits"),
        ("Support us and become VIP member", "credits"),
        ("See www.example.org", "URL"),
        ("Go to http://example.xyz/now today", "URL"),
        ("Visit Example.com for more", "URL"),
        ("Write to me@example.xyz", "URL"),
        ("Subtitles by Me www.example.org", "URL"),
        ("- ...", "no words"),
        ("JOHN:", "no words"),
        ("So f(x) is small.", "unclosed bracket"),
        ("word " * 401, "too long"),
    ],
)
def test_what_is_no_speech_is_counted(subtitle, reason):
    report = Report()
    assert opus.speeches(subtitle, report) == []
    assert report.dropped == {reason: 1}
    assert report.words == {reason: len(subtitle.split())}


@pytest.mark.parametrize(
    ("words", "written"),
    [
        ("I do n't know , Bob .", "I don't know, Bob."),
        ("I don 't know .", "I don't know."),
        ("How 'd you score that ?", "How'd you score that?"),
        ("You 're gon na , wan na , got ta .", "You're gonna, wanna, gotta."),
        ("Gim me that . Lem me go .", "Gimme that. Lemme go."),
        ('He said " Go " and " Stop . "', 'He said "Go" and "Stop."'),
        ("He said `` Go '' .", "He said ``Go''."),
        ("It ( the $ 5 ) is 10 % off !", "It (the $5) is 10% off!"),
        ("Well ... I", "Well... I"),
        ("- No . - Yes .", "- No. - Yes."),
        ("' Tis so", "' Tis so"),
        ("the boys ' books", "the boys' books"),
        ("no data", "no data"),
        ("", ""),
    ],
)
def test_words_are_joined(words, written):
    assert joined(words.split()) == written


@given(st.lists(st.sampled_from(["one", "two", "na", "me", "well-known", "AB", "5"]), max_size=9))
def test_plain_words_keep_their_spaces(words):
    assert joined(words) == " ".join(words)


# ---- formats ----------------------------------------------------------------------------------

SUBTITLES = ["- Hello, Ann. - I don't know.", "♪ la la ♪", "{\\an8}<i>She's gone!</i>", "(sighs)"]
WORDS = ["- Hello , Ann . - I do n't know .", "♪ la la ♪", "{ \\an8 } <i> She 's gone ! </i>",
         "( sighs )"]  # fmt: skip
SAID = ["Hello, Ann.", "I don't know.", "She's gone!"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "\n".join(SUBTITLES) + "\n\n"),
        ("a.txt", "\ufeff" + "\r\n".join(SUBTITLES)),
        ("a.txt.gz", "\n".join(SUBTITLES)),
        ("a.xml", raw(*SUBTITLES)),
        ("a.xml.gz", raw(*SUBTITLES)),
        ("a.xml", tokenised(*WORDS)),
        ("a.xml.gz", tokenised(*WORDS)),
        ("a.xml", raw(*SUBTITLES).replace("utf-8", "utf-16").encode("utf-16")),
    ],
)
def test_every_format_gives_the_same(tmp_path, name, content):
    found, report = read(put(tmp_path, name, content))
    assert [said for _, said in found] == SAID
    assert {film for film, _ in found} == {"a-000000" if ".txt" in name else "a"}
    assert report.lines == 4
    assert report.dropped == {"music": 1, "sound description": 1}


def test_a_sentence_over_two_subtitles(tmp_path):
    body = (
        '<s id="1"><time id="T1S" value="1"/>You know what<time id="T1E" value="2"/>\n'
        '<time id="T2S" value="3"/>they call it?<time id="T2E" value="4"/></s>'
        '<s id="2"/><s id="3">  </s>'
    )
    found, report = read(put(tmp_path, "a.xml", document(body)))
    assert found == [("a", "You know what they call it?")]
    assert report.lines == 1


def test_films_in_a_tree(tmp_path):
    tree = "OpenSubtitles/xml/en"
    put(tmp_path, f"{tree}/1994/110912/9.xml.gz", raw("Later."))
    put(tmp_path, f"{tree}/1994/110912/10.xml.gz", raw("First.", "Second."))
    put(tmp_path, f"{tree}/1994/110912/11.xml", raw("Last."))
    put(tmp_path, f"{tree}/1995/110912/1.xml.gz", raw("Another year."))
    put(tmp_path, f"{tree}/1995/some film/1.xml", raw("Another film."))
    put(tmp_path, f"{tree}/1995/.hidden.xml", raw("Hidden."))
    put(tmp_path, f"{tree}/README", "not read")
    wanted = [
        ("1994/110912", "First."), ("1994/110912", "Second."),
        ("1995/110912", "Another year."), ("1995/some film", "Another film."),
    ]  # fmt: skip
    found, report = read(tmp_path / tree)
    assert found == wanted
    assert report.dropped == {"other version of a film": 2}
    assert report.lines == 4
    # from higher up the films have longer names; from lower down, shorter ones
    assert read(tmp_path)[0] == [(f"{tree}/{film}", said) for film, said in wanted]
    assert read(tmp_path / tree / "1994")[0] == [("110912", "First."), ("110912", "Second.")]
    found, report = read(tmp_path / tree / "1994" / "110912")
    assert found == [("110912", "First."), ("110912", "Second.")]
    assert report.dropped == {"other version of a film": 2}
    # a file that is named is read, and Snakemake watches only what is read
    assert read(tmp_path / tree / "1994/110912/11.xml")[0] == [("11", "Last.")]
    names = [p.parent.name + "/" + p.name for p in input_files(spec(tree), tmp_path)]
    assert names == ["110912/10.xml.gz", "110912/1.xml.gz", "some film/1.xml"]


def test_films_side_by_side_are_all_read(tmp_path):
    """Neither a folder of a year nor one below a year's is a film because of the year."""
    put(tmp_path, "1994/a.xml", raw("One."))
    put(tmp_path, "1994/b.xml", raw("Two."))
    put(tmp_path, "1994/b.xml.gz", raw("Two, packed."))
    wanted = [("1994/a", "One."), ("1994/b", "Two.")]
    assert read(tmp_path)[0] == wanted
    assert read(tmp_path / "1994")[0] == [(film[5:], said) for film, said in wanted]
    put(tmp_path, "2024/subtitles/a.xml", raw("One."))
    put(tmp_path, "2024/subtitles/b.xml", raw("Two."))
    assert [said for _, said in read(tmp_path / "2024" / "subtitles")[0]] == ["One.", "Two."]


def test_raw_and_tokenised_films_together_are_refused(tmp_path):
    for kind in ("raw", "xml"):
        put(tmp_path, f"{kind}/en/1994/1/1.xml", raw("One."))
    with pytest.raises(PoshgridError, match=r"holds raw/ and xml/, the same films twice; let"):
        read(tmp_path)


def test_plain_text_is_cut_into_documents(tmp_path):
    put(tmp_path, "en.txt.gz", "One.\n\n# la #\nTwo. Three.\nFour.\n")
    put(tmp_path, "1994/1/x.txt", "A.\nB.\nC.\n")
    found, _ = read(tmp_path, lines_per_document=2)
    assert found == [
        ("1994/1", "A."), ("1994/1", "B."), ("1994/1", "C."),
        ("en-000000", "One."), ("en-000001", "Two. Three."), ("en-000001", "Four."),
    ]  # fmt: skip


def test_the_table(tmp_path):
    put(tmp_path, "films/1994/1/1.xml", raw("- Hi. I'm Ann. - no, you're not.", "[laughs]"))
    put(tmp_path, "films/1994/2/1.xml", raw("♪ la ♪"))
    put(tmp_path, "films/1994/3/1.xml", document(""))
    output = tmp_path / "out" / "sentences.parquet"
    statistics = read_source(spec("films"), tmp_path, output)
    assert read_table(output, SOURCE).select("document", "position", "text").rows() == [
        ("1994/1", 0, "Hi."), ("1994/1", 1, "I'm Ann."), ("1994/1", 2, "no, you're not."),
    ]  # fmt: skip
    assert statistics["dropped"] == {"file without text": 1, "music": 1, "sound description": 1}
    assert (statistics["lines"], statistics["files"], statistics["documents"]) == (3, 3, 1)


@pytest.mark.parametrize("name", ["a.txt.gz", "a.xml.gz"])
def test_memory_is_bounded(tmp_path, name):
    """A file three times as long takes no more memory, once it is longer than a block."""

    def peak(sentences: int) -> int:
        said = ["One two three four."] * sentences
        path = put(tmp_path, name, raw(*said) if ".xml" in name else "\n".join(said))
        tracemalloc.start()
        count = sum(1 for _ in opus.read(path, opus.Options(), Report()))
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert count == sentences
        return top

    peak(10)  # imports
    assert peak(12_000) < peak(4_000) + 300_000


# ---- broken files -----------------------------------------------------------------------------

TEXT = b"Hello there.\nBye now.\n"
XML = raw("Hello there.", "Bye now.").encode()
LATIN = "Hello.\nCafé.\nNaïve.\n".encode("latin-1")
LONG = b"word " * 2_000_000
PACKED = gzip.compress(LONG, 1, mtime=0)
BROKEN = [
    ("t.xml", XML[:-20], r"t\.xml: line 13, column \d+: broken XML \(.*\); download or convert"),
    ("a.xml", b'<cesAlign><linkGrp/></cesAlign>',
     r"a\.xml: line 1: root element <cesAlign>, not <document>; take the file out"),
    ("x.xml", TEXT, r"x\.xml: line 1, column 1: broken XML \(syntax error\)"),
    ("l.xml", XML.replace(b"Bye", b"Caf\xe9"), r"l\.xml: line 10, column 4: broken XML \(not well"),
    ("m.txt", "Café.\n".encode() + LATIN, r"m\.txt: byte 17: not UTF-8; convert it"),
    ("u.txt", "Hi.\n".encode("utf-16"), r"u\.txt: byte 3: binary file"),
    ("b.txt", LONG, r"b\.txt: no sentence left of 1 lines \(too long 1\)"),
    ("b.txt.gz", PACKED, r"b\.txt\.gz: no sentence left of 1 lines \(too long 1\)"),
    ("b.xml", raw(LONG.decode()).encode(), r"b\.xml: no sentence left of 1 lines \(too long 1\)"),
    ("d.xml", document("").encode(), r"d\.xml: no sentence left of 0 lines \(file without text 1"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "message"), BROKEN, ids=[name for name, *_ in BROKEN])
def test_broken_files(tmp_path, name, content, message):
    refused(tmp_path, "opus", name, content, message)


def test_a_long_line_does_not_hide_the_others(tmp_path):
    path = put(tmp_path, "a.txt", TEXT + LONG + b"\n" + TEXT)
    found, report = read(path)
    assert [said for _, said in found] == ["Hello there.", "Bye now."] * 2
    assert report.dropped == {"too long": 1}


def test_a_line_that_never_ends_is_not_held(tmp_path, monkeypatch):
    monkeypatch.setattr(textfile, "_LONGEST_LINE", 50_000)
    path = put(tmp_path, "a.txt.gz", TEXT + LONG)
    with pytest.raises(PoshgridError, match=r"a\.txt\.gz: line 3: more than 50,000 characters"):
        read(path)


def test_every_cut_of_a_packed_file_is_an_error(tmp_path):
    for name, content in (("a.txt.gz", TEXT), ("a.xml.gz", XML), ("a.xml", XML)):
        whole = gzip.compress(content) if name.endswith(".gz") else content.rstrip()
        for length in range(0, len(whole), 5):
            (tmp_path / name).write_bytes(whole[:length])
            with pytest.raises(PoshgridError, match=r"broken|empty"):
                read(tmp_path / name)


def test_a_folder_without_subtitles_is_named(tmp_path):
    put(tmp_path, "a.srt", "x")
    with pytest.raises(PoshgridError, match=r"holds no \.xml or .* or \.txt\.gz file; check sour"):
        read(tmp_path)
