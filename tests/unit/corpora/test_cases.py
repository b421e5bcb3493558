"""Hand-worked texts and files (``cases/*.yaml``): what readers and cleaning make of each."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from poshgrid.corpora.clean import clean, normalise
from poshgrid.corpora.joining import detokenise, without_disfluencies
from poshgrid.corpora.readers import bnc_xml, chat, opus
from poshgrid.corpora.report import Report
from poshgrid.corpora.split import split
from tests.cases import read_cases
from tests.unit.corpora.reader_support import put, read

TEXTS, FILES = (read_cases(__file__, name) for name in ("texts", "files"))
PAGE = (
    '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/"><siteinfo/><page><title>A</title>'
    "<ns>0</ns><revision><text>{}</text></revision></page></mediawiki>"
)
WHOLE = {
    "clean": clean,
    "normalise": normalise,
    "without_disfluencies": without_disfluencies,
    "detokenise": detokenise,
}


def dump(wikitext: str) -> str:
    return PAGE.format(wikitext.replace("&", "&amp;").replace("<", "&lt;"))


@pytest.mark.parametrize(
    ("function", "text"), [(name, text) for name in WHOLE for text in TEXTS[name]]
)
def test_a_text_is_rewritten(function, text):
    assert WHOLE[function](text) == TEXTS[function][text]


@pytest.mark.parametrize("sentences", TEXTS["split"])
def test_sentences_are_told_apart(sentences):
    assert split(" ".join(sentences), "en") == sentences


@pytest.mark.parametrize("tier", TEXTS["chat"])
def test_a_tier_of_chat(tier):
    report = Report()
    assert chat.utterance(tier, report, "eng") == TEXTS["chat"][tier]
    assert sum(report.dropped.values()) == (TEXTS["chat"][tier] is None)


@pytest.mark.parametrize("terminator", TEXTS["terminators"])
def test_terminators_of_chat_become_punctuation(terminator):
    end = TEXTS["terminators"][terminator]
    assert chat.utterance(f"you see it {terminator}", Report(), "eng") == f"you see it{end}"
    if terminator and "+" not in terminator.split()[0]:
        assert chat.utterance(f"you see it{terminator}", Report(), "eng") == f"you see it{end}"


@pytest.mark.parametrize("subtitle", TEXTS["opus"])
def test_a_subtitle(subtitle):
    report, expected = Report(), TEXTS["opus"][subtitle]
    spoken = opus.speeches(subtitle, report)
    if isinstance(expected, str):
        assert (spoken, report.dropped) == ([], {expected: 1})
        assert report.words == {expected: len(subtitle.split())}
    else:
        assert (spoken, report.dropped) == (expected, {})


@pytest.mark.parametrize("xml", TEXTS["bnc"])
def test_a_sentence_of_the_bnc(xml):
    report = Report()
    element = ElementTree.fromstring(f"<s>{xml}</s>")
    assert bnc_xml.sentence(element, report) == TEXTS["bnc"][xml]
    assert sum(report.dropped.values()) == (TEXTS["bnc"][xml] is None)


@pytest.mark.parametrize("wikitext", TEXTS["wikitext"])
def test_an_article(tmp_path, wikitext):
    yielded, _ = read("wikipedia-dump", put(tmp_path, "w.xml", dump(wikitext)))
    assert [text for _, text in yielded] == TEXTS["wikitext"][wikitext]


@pytest.mark.parametrize("case", FILES, ids=lambda case: f"{case['reader']} {case['name']}")
def test_a_file(tmp_path, case):
    """Each line is yielded or counted as dropped: no word is lost without a reason."""
    text = case.get("text") or dump(case["wikitext"])
    yielded, report = read(case["reader"], put(tmp_path, case["name"], text))
    assert [list(row) for row in yielded] == case["yields"]
    assert report.dropped == case.get("dropped", {})
    assert report.lines == len(yielded) + sum(report.dropped.values())
