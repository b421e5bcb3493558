"""CHAT transcripts: hand-worked tiers for each code, files and archives, every kind of fault."""

from __future__ import annotations

import gzip
import io
import logging
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poshgrid.config import Source, specs
from poshgrid.corpora.chat_codes import LONGEST
from poshgrid.corpora.read import read_source
from poshgrid.corpora.readers import chat, childes_db
from poshgrid.corpora.report import Report
from poshgrid.corpora.schema import SOURCE
from poshgrid.corpora.textfile import rows
from poshgrid.errors import PoshgridError
from poshgrid.files import read_table
from tests.unit.corpora.reader_support import put, refused

HEADER = (
    "@UTF8\n@Begin\n@Languages:\teng\n"
    "@Participants:\tCHI Ann Target_Child, MOT Mother, BRO Ben Brother, TOM Tom Child\n"
    "@ID:\teng|Home|CHI|2;03.|female|||Target_Child|||\n"
    "@ID:\teng|Home|MOT|||||Mother|||\n"
)


def say(tier: str, **options) -> str | None:
    return chat.utterance(tier, chat.Options(**options), Report(), "eng")


def transcript(*tiers: str, header: str = HEADER, end: str = "@End\n") -> str:
    return header + "".join(f"{tier}\n" for tier in tiers) + end


def archive(**members: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in members.items():
            packed.writestr(name.replace("__", "/") + ".cha", text)
    return buffer.getvalue()


def read(path, **options) -> tuple[list[tuple[str, str]], Report]:
    report = Report()
    return list(chat.read(path, chat.Options(**options), report)), report


# ---- codes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("terminator", "end"),
    [
        (".", "."), ("?", "?"), ("!", "!"),
        ("+...", "."), ("+..?", "?"), ("+!?", "?"), ("+/.", "."), ("+/?", "?"),
        ("+//.", "."), ("+//?", "?"), ('+"/.', "."), ('+".', "."), ("+.", "."), ("", "."),
        ("? \x1512_345\x15", "?"), ("! [+ bch]", "!"), ("? [+ imp] \x151_2\x15", "?"),
        ("? 0_2443", "?"), ("? [+ imp] 12_3456", "?"),
    ],
)  # fmt: skip
def test_terminators_become_punctuation(terminator, end):
    assert say(f"you see it {terminator}") == f"you see it{end}"
    if terminator and "+" not in terminator.split()[0]:
        assert say(f"you see it{terminator}") == f"you see it{end}"


@pytest.mark.parametrize(
    ("tier", "text"),
    [
        # taken back: the word or the group before goes
        ("the [/] the dog .", "the dog."),
        ("<I want> [//] I need it .", "I need it."),
        ("<what is> [///] where did he go ?", "where did he go?"),
        ("<so I> [/-] he ran .", "he ran."),
        ("<the the> [/?] the cat .", "the cat."),
        ("<<I was> [//] I am> [//] he is here .", "he is here."),
        ("<the big> [*] [//] the small one .", "the small one."),
        ("go <to the>[/] to the shop .", "go to the shop."),
        ("<he &-um> [/] (.) he , <no no> [/] no .", "he no."),
        ("[/] go .", "go."),
        ("the (.) [/] the dog .", "the dog."),
        ("dog , [//] cat .", "cat."),
        ("<xxx> [//] look here .", "look here."),
        # codes that leave the words
        ("<over there> [>] .", "over there."),
        ("<yes please> [<1] .", "yes please."),
        ("this [?] one [!] now [!!] .", "this one now."),
        ("no [=! cries] <go away> [=! shouts] !", "no go away!"),
        ("two feets [* m:+s] .", "two feets."),
        ("he [= the dog] barks [=? parks] [% to himself] [# 2.5] .", "he barks."),
        ("bye [x 3] !", "bye!"),
        ('he said <come here> ["] .', "he said come here."),
        # words that are not words
        ("well &-uh I &+g go &=laughs home &~ah .", "well I go home."),
        ("&uh there it 0is .", "there it."),
        ("(be)cause (th)em dogs (a)n(d) .", "because them dogs and."),
        ("(.) wait (..) for (2.5) it (1:03.) .", "wait for it."),
        ("# wait ## here #2 .", "wait here."),
        ("doggie@c says b@l woof@o hola@s:spa .", "doggie says b woof hola."),
        ("bed+room and merry_go_round .", "bed room and merry go round."),
        ("uh-huh that's Mommy's .", "uh-huh that's Mommy's."),
        ("well$co run$n .", "well run."),
        # separators, prosody, linkers
        ("no , Mary ‡ you're tired „ right ?", "no Mary you're tired right?"),
        ("↑so↓ it's lo::ng ˈba:by °hush° and ⌈2 spa^ghetti ⌉2 .",
         "so it's long baby hush and spaghetti."),
        ("↫w-w↫well ≠no “yes” .", "well no yes."),
        ("+< yes .", "yes."),
        ("+<yes .", "yes."),
        ("+^ I know .", "I know."),
        ("+, and then .", "and then."),
        ("++ the end .", "the end."),
        ('+" come in .', "come in."),
        ("I\x15%snd:tape_1_2\x15 know .", "I know."),
        # not quite CHAT
        ("hello there.", "hello there."),
        ("where is it?", "where is it?"),
        ("I fell+...", "I fell."),
        ("where is it ? &=laughs", "where is it?"),
        # nothing is left
        ("0 .", None),
        ("&=laughs .", None),
        (", .", None),
        (".", None),
        ("", None),
        ("0 [=! smiles] .", None),
        ("xxx .", None),
        ("this is xxx dog .", None),
        ("YYY .", None),
        ("she www .", None),
    ],
)  # fmt: skip
def test_codes(tier, text):
    assert say(tier) == text


def test_codes_of_several_lines(tmp_path):
    text = transcript(
        "*MOT:\tput the dog [//]", "\tthe cat in", "\tthe box +...", "%mor:\tv|put", "\tdet|the"
    )
    found, report = read(put(tmp_path, "a.cha", text))
    assert found == [("a", "put the the cat in the box.")]
    assert report.lines == 1


@pytest.mark.parametrize(
    ("tier", "said", "meant"),
    [
        ("you wanna [: want to] go ?", "you wanna go?", "you want to go?"),
        ("he goed [: went] [* m] home .", "he goed home.", "he went home."),
        ("a <bik a bo> [:: picnic] .", "a bik a bo.", "a picnic."),
        ("dis [: this] [//] dat one .", "dat one.", "dat one."),
    ],
)
def test_replacements(tier, said, meant):
    assert say(tier) == said
    assert say(tier, replacements="meant") == meant


def test_commas_may_be_kept():
    assert say("no , , Mary ‡ come , „ .", commas=True) == "no, Mary, come."
    assert say(", no , <I , > [/] I go .", commas=True) == "no, I go."


def test_unintelligible_words_may_be_taken_out_instead():
    assert say("a yyy dog ?", unintelligible="remove") == "a dog?"
    assert say("yyy .", unintelligible="remove") is None


def test_other_languages_are_dropped():
    options, report = chat.Options(), Report()
    assert chat.utterance("[- spa] hola .", options, report, "eng") is None
    assert chat.utterance("hola .", options, report, "spa") is None
    assert report.dropped == {"another language": 2}
    assert chat.utterance("[- eng] hello .", options, report, "spa") == "hello."
    assert chat.utterance("hello .", options, report, None) == "hello."
    assert say("[- spa] hola .", language=None) == "hola."


@pytest.mark.parametrize("tier", ["<a [/] b .", "a > b .", "a [/ b .", "a /] b .", "<<a> b ."])
def test_broken_brackets_are_dropped_and_counted(tier):
    report = Report()
    assert chat.utterance(tier, chat.Options(), report) is None
    assert report.dropped == {"broken brackets": 1}


def test_both_forms_of_childes_give_the_same_sentences():
    """What childes-db made of a tier is read as the tier is."""
    for tier, gloss, kind in [
        ("it's a (be)cause+word@n !", "it's a because+word", "imperative_emphatic"),
        ("do you &-uh have_to 0to go +..?", "do you have_to go", "trail off question"),
        ("look , a yyy .", "look a yyy", "declarative"),
        ("you wanna [: want to] see ?", "you wanna see", "question"),
    ]:
        options = childes_db.Options()
        assert say(tier) == childes_db.utterance(gloss, kind, options, Report())


def test_real_utterances_give_the_same_sentences_in_both_forms(shared, tmp_path):
    """childes-db's rows, written as tiers, are read as childes-db's rows are."""
    table = shared / "corpora" / "childes-db" / "Bates.csv"
    ends = {"question": "?", "imperative_emphatic": "!", "trail off": "+...",
            "trail off question": "+..?", "interruption": "+/.", "interruption question": "+/?",
            "self interruption": "+//.", "self interruption question": "+//?",
            "quotation next line": '+"/.', "quotation precedes": '+".'}  # fmt: skip
    tiers, roles = [], {}
    for row in rows(table, childes_db.COLUMNS):
        end = ends.get(row["type"], ".")
        tiers.append(f"*{row['speaker_code']}:\t{row['gloss'] or '0'} {end}")
        roles[row["speaker_code"]] = row["speaker_role"]
    names = ", ".join(f"{code} {role}" for code, role in roles.items())
    text = transcript(*tiers, header=f"@UTF8\n@Begin\n@Participants:\t{names}\n")
    found, report = read(put(tmp_path, "a.cha", text))
    wanted = Report()
    of_table = list(childes_db.read(table, childes_db.Options(), wanted))
    assert len(found) > 1_000
    assert [sentence for _, sentence in found] == [sentence for _, sentence in of_table]
    assert (report.lines, report.dropped) == (wanted.lines, wanted.dropped)


WORDS = ["the", "dog", "can't", "Mommy's", "uh-huh", "go", "on"]
WORD = st.sampled_from(WORDS)
CODES = st.sampled_from(
    ["&-uh", "&=laughs", "&+fr", "&~ah", "0is", "(.)", "(..)", "[!]", "[?]", "[= a note]", "[>]"]
)
PIECE = st.one_of(
    WORD,
    CODES,
    st.tuples(WORD, st.sampled_from(["[/]", "[//]", "[///]", "[=! sings]", "[* m]"])).map(" ".join),
    st.tuples(st.lists(WORD, min_size=1, max_size=3), st.sampled_from(["[/]", "[//]", "[<]"])).map(
        lambda p: f"<{' '.join(p[0])}> {p[1]}"
    ),
    st.just("(be)cause"),
    st.just("dis [: this]"),
    st.just("goed [: went] [* m]"),
)


@given(st.lists(PIECE, min_size=1, max_size=8), st.sampled_from([".", "?", "!", "+...", "+/?"]))
def test_same_words_as_pylangacq(pieces, terminator):
    """An independent reader of CHAT finds the same words, where it keeps them at all."""
    pylangacq = pytest.importorskip("pylangacq")
    # A code needs a word before it, or it belongs to nothing; both readers have one then.
    tier = " ".join(["so", *pieces, "there", terminator])
    parsed = pylangacq.CHAT.from_strs([transcript(f"*MOT:\t{tier}")], parallel=False, strict=False)
    words = [token.word for token in parsed.utterances()[0].tokens]
    assert words[-1] == terminator
    assert say(tier, replacements="meant")[:-1] == " ".join(words[:-1])


@given(st.text("ab <>[]/.?+&:\x15@(),0", max_size=40))
def test_any_tier_is_a_sentence_or_a_reason(tier):
    report = Report()
    text = chat.utterance(tier, chat.Options(), report)
    assert (text is None) == (sum(report.dropped.values()) == 1)
    if text:
        assert text[-1] in ".?!"
        assert not set("<>[]&\x15@()") & set(text)
        assert "  " not in text


# ---- files ------------------------------------------------------------------------------------


def test_children_are_left_out_and_every_line_is_accounted_for(tmp_path):
    text = transcript(
        "*MOT:\tlook here .", "%mor:\tv|look adv|here .", "*CHI:\tdoggie .", "*TOM:\tmine !",
        "@Comment:\tthey play", "*BRO:\tgo away !", "*XYZ:\twho is this ?", "*MOT:\txxx .",
        "*MOT no colon .", "stray words", "", "*MOT:\t0 .", "*MOT:", "@G:\tbook",
        "*MOT:\t[- fra] bonjour .",
    )  # fmt: skip
    found, report = read(put(tmp_path, "a.cha", text))
    assert found == [("a", "look here."), ("a", "go away!")]
    assert report.dropped == {
        "child's utterance": 2,
        "unknown speaker": 1,
        "unintelligible": 1,
        "line that is not CHAT": 2,
        "no words": 2,
        "another language": 1,
    }
    assert report.lines == len(found) + sum(report.dropped.values())


def test_a_target_child_of_another_name_is_left_out(tmp_path):
    header = HEADER.replace("CHI Ann Target_Child", "ANN Target_Child").replace("|CHI|", "|ANN|")
    only_ids = "\n".join(x for x in header.splitlines() if "@Participants" not in x) + "\n"
    only_names = "\n".join(x for x in header.splitlines() if "@ID" not in x) + "\n"
    for number, variant in enumerate([header, only_ids, only_names]):
        text = transcript("*ANN:\tball .", "*MOT:\ta ball .", header=variant)
        found, report = read(put(tmp_path, f"{number}.cha", text))
        assert [sentence for _, sentence in found] == ["a ball."]
        assert report.dropped == {"child's utterance": 1}


def test_roles_are_an_option(tmp_path):
    path = put(tmp_path, "a.cha", transcript("*MOT:\thi .", "*CHI:\tho .", "*BRO:\tha ."))
    found, _ = read(path, exclude_roles=["Mother", "Brother"], exclude_codes=[])
    assert found == [("a", "ho.")]


def test_transcripts_may_stand_by_age(tmp_path):
    """Ages from 1;11.30 to 4 years, written as CHAT may; one transcript gives none."""
    for name, age in {"a": "3;", "b": "1;11.30", "c": "", "d": "2;03", "e": "4;00.01"}.items():
        header = HEADER.replace("2;03.", age)
        put(tmp_path, f"{name}.cha", transcript(f"*MOT:\t{name} .", "*MOT:\tyes .", header=header))
    found, report = read(tmp_path, by_age=True)
    assert [document for document, _ in found] == [*"bb", *"dd", *"aa", *"ee"]
    assert [text for _, text in found][:2] == ["b.", "yes."]
    assert report.dropped == {"age not known": 2}
    assert [document for document, _ in read(tmp_path)[0]][::2] == [*"abcde"]


def test_tables_of_childes_db_may_stand_by_age(tmp_path):
    lines = [",".join([*childes_db.COLUMNS, childes_db.AGE])]
    for transcript_id, age in ((1, "900.5"), (2, "NA"), (3, "91.25"), (4, "1000")):
        lines += [f"{text},declarative,MOT,Mother,{transcript_id},{age}" for text in ("hi", "ho")]
    path = put(tmp_path, "t.csv", "\n".join(lines) + "\n")
    report = Report()
    found = list(childes_db.read(path, childes_db.Options(by_age=True), report))
    assert found == [(f"t-{n}", text) for n in (3, 1, 4) for text in ("hi.", "ho.")]
    assert report.dropped == {"age not known": 2}


def test_a_table_without_ages_is_refused_only_where_they_are_asked_for(tmp_path):
    path = put(tmp_path, "t.csv", f"{','.join(childes_db.COLUMNS)}\nhi,declarative,MOT,Mother,1\n")
    assert list(childes_db.read(path, childes_db.Options(), Report())) == [("t-1", "hi.")]
    with pytest.raises(PoshgridError, match=r"t\.csv.*target_child_age"):
        list(childes_db.read(path, childes_db.Options(by_age=True), Report()))


def test_nested_folders_archives_and_gz(tmp_path):
    put(tmp_path, "Brown/Eve/01.cha", transcript("*MOT:\tone ."))
    put(tmp_path, "Brown/Sarah/01.cha", "\ufeff" + transcript("*MOT:\ttwo ."))
    put(tmp_path, "C.cha.gz", gzip.compress(transcript("*MOT:\tthree .").encode()))
    text = transcript("*MOT:\tfive .").replace("\n", "\r\n")
    members = {"b__02": text, "a__01": transcript("*MOT:\tfour ."), "__MACOSX__._01": "\0"}
    put(tmp_path, "D.zip", archive(**members))
    put(tmp_path, "Brown/._01.cha", "\0")
    put(tmp_path, "notes.txt", "not read")
    found, report = read(tmp_path)
    assert found == [
        ("Brown/Eve/01", "one."),
        ("Brown/Sarah/01", "two."),
        ("C", "three."),
        ("D/a/01", "four."),
        ("D/b/02", "five."),
    ]
    assert report.lines == 5
    assert not report.dropped
    names = [p.relative_to(tmp_path).as_posix() for p in chat.files(tmp_path, chat.Options())]
    assert names == ["Brown/Eve/01.cha", "Brown/Sarah/01.cha", "C.cha.gz", "D.zip"]


@pytest.mark.parametrize("member", [False, True])
def test_a_file_without_its_end_is_read_and_reported(tmp_path, caplog, member):
    text = transcript("*MOT:\tit is whole .", "*MOT:\tthis was c", end="")[:-1]
    path = put(tmp_path, "a.zip", archive(x=text)) if member else put(tmp_path, "a.cha", text)
    with caplog.at_level(logging.WARNING, "poshgrid"):
        found, report = read(path)
    assert [sentence for _, sentence in found] == ["it is whole."]
    assert report.dropped == {"cut off": 1, "no @End": 1}
    assert report.lines == len(found) + 2
    assert "no @End" in caplog.text
    assert str(path) in caplog.text


def test_a_last_utterance_that_is_whole_is_kept(tmp_path):
    for tiers in (["*MOT:\tit is +..."], ["*MOT:\tit is", "%com:\tcut"], ["*MOT:\tit is."]):
        found, report = read(put(tmp_path, "a.cha", transcript(*tiers, end="")))
        assert found == [("a", "it is.")]
        assert report.dropped == {"no @End": 1}


def test_transcripts_in_one_file_have_their_own_speakers(tmp_path):
    second = HEADER.replace("MOT Mother", "MOT Target_Child").replace("|Mother|", "|Target_Child|")
    text = transcript("*MOT:\tone .") + transcript("*MOT:\ttwo .", header=second)
    found, report = read(put(tmp_path, "a.cha", text))
    assert found == [("a", "one.")]
    assert report.dropped == {"child's utterance": 1}
    third = transcript("*MOT:\tthree .", header="@Begin\n@Participants:\tCHI Target_Child\n")
    _, report = read(put(tmp_path, "c.cha", transcript("*MOT:\tone .") + third))
    assert report.dropped == {"unknown speaker": 1}
    _, report = read(put(tmp_path, "b.cha", text.replace("@End\n", "", 1)))
    assert report.dropped == {"child's utterance": 1, "no @End": 1}


def test_the_whole_way_to_the_table(tmp_path):
    put(tmp_path, "a.cha", transcript("*MOT:\tit's mine .", "*CHI:\tno !", "*MOT:\tisn't it ?"))
    source = Source(name="it", reader="chat", path="a.cha", options={"commas": True})
    output = tmp_path / "out" / "sentences.parquet"
    statistics = read_source(specs.SourceSpec(source=source), tmp_path, output)
    assert read_table(output, SOURCE)["text"].to_list() == ["it's mine.", "isn't it?"]
    assert statistics["dropped"] == {"child's utterance": 1}
    assert statistics["lines"] == 3


# ---- faults -----------------------------------------------------------------------------------

GOOD = transcript(*[f"*MOT:\tthis is number {'x' * (i % 90)}b ." for i in range(4000)])
NO_SPEAKERS = "@UTF8\n@Begin\n*MOT:\thi .\n@End\n"


def damaged(packed: bytes) -> bytes:
    """Turn over the bits of some bytes in the middle."""
    middle = len(packed) // 2
    turned = bytes(byte ^ 255 for byte in packed[middle : middle + 40])
    return packed[:middle] + turned + packed[middle + 40 :]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("e.cha", b"\n \n", r"e\.cha: line 1: no @Begin.*not a CHAT file"),
        ("t.cha", b"Just a text.\n", r"t\.cha: line 1: no @Begin.*not a CHAT file"),
        ("t.cha", b"@UTF8\n*MOT:\thi .\n@End\n", r"t\.cha: line 2: no @Begin"),
        ("x.cha", b"<CHAT><u><w>hi</w></u></CHAT>\n", r"x\.cha: line 1: no @Begin"),
        ("s.cha", NO_SPEAKERS.encode(), r"s\.cha: line 3: no @Participants or @ID .*mend the file"),
        ("z.zip", GOOD.encode(), r"z\.zip: broken archive .*fetch it again"),
        ("z.zip", archive(x=GOOD)[:-30], r"z\.zip: broken archive"),
        ("z.zip", damaged(archive(x=GOOD)), r"z\.zip: x\.cha: broken archive"),
        ("z.zip", archive(), r"z\.zip: holds no \.cha file"),
        ("z.zip", archive(x="hello"), r"z\.zip: x\.cha: line 1: no @Begin"),
        ("z.zip", archive(x=""), r"z\.zip: x\.cha: line 1: no @Begin"),
        ("z.zip", archive(x=transcript("*MOT:\ta\0b .")), r"z\.zip: x\.cha: byte \d+: binary file"),
    ],
)  # fmt: skip
def test_faults_name_file_place_and_remedy(tmp_path, name, content, message):
    refused(tmp_path, "chat", name, content, message)


def test_a_folder_without_transcripts_is_named(tmp_path):
    with pytest.raises(PoshgridError, match=r"holds no \.cha or"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("x" * 10_000_001, r"c\.csv: line 2: broken CSV"),
        ("word " * 1_900_000, r"c\.csv: no sentence left of 1 lines \(too long 1\)"),
    ],
)
def test_a_row_of_ten_megabytes_is_refused_or_dropped(tmp_path, row, message):
    header = ",".join(childes_db.COLUMNS)
    table = f"{header}\n{row},declarative,MOT,Mother,1\n"
    refused(tmp_path, "childes-db", "c.csv", table, message)


@pytest.mark.parametrize(
    "filler", ["word " * 2_000_000, "x" * 10_000_000, " " * 10_000_000 + "y", "<" * 10_000_000]
)
def test_a_line_of_ten_megabytes_harms_nobody(tmp_path, filler):
    text = transcript("*MOT:\tbefore .", f"*MOT:\t{filler} .", "*MOT:\tafter .")
    found, report = read(put(tmp_path, "a.cha", text))
    wanted = ["y."] if filler[0] == " " else []
    assert [sentence for _, sentence in found] == ["before.", *wanted, "after."]
    assert report.lines == 3
    assert len(found) + report.dropped["too long"] == 3


def test_the_longest_utterance():
    for words, kept in [(LONGEST // 2 - 1, True), (LONGEST, False)]:
        text = say("a " * words + ".")
        assert (text is not None) == kept


def test_an_encrypted_archive_is_refused(tmp_path):
    packed = bytearray(archive(x=transcript("*MOT:\thi .")))
    packed[6] |= 1  # "encrypted", in the member's own header ...
    packed[packed.index(b"PK\x01\x02") + 8] |= 1  # ... and in the directory's
    with pytest.raises(PoshgridError, match=r"z\.zip: x\.cha: .*encrypted.*unpack the archive"):
        read(put(tmp_path, "z.zip", bytes(packed)))
