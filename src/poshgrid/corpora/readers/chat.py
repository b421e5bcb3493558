"""CHILDES transcripts as CHAT files (``.cha``), and CHAT's notation of words in any file format.

The main tiers are read here and not with pylangacq (0.23), because pylangacq removes ``xxx`` from
an utterance, so that an incomplete sentence looks complete; ignores broken lines and brackets
without a warning; and rejects or empties an utterance whose ``%mor`` tier does not match. A test
compares the words of the two. Codes are those of the CHAT manual (MacWhinney 2000, *The CHILDES
Project*, part 1: https://talkbank.org/0info/manuals/CHAT.pdf). The reader of childes-db's tables
uses :func:`assemble`, so that a transcript gives the same sentences in both formats.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import Field

from poshgrid.core import logs, plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.corpora.report import Report
from poshgrid.corpora.textfile import label, lines, listed_below

SPLIT = False

LONGEST = 20_000
"""Largest number of characters in an utterance; a longer one means that the file is broken."""

UNINTELLIGIBLE = re.compile(r"(?:xxx?|yyy?|www?)(?:'s)?", re.IGNORECASE)
"""CHAT's codes for unintelligible words, in upper or lower case."""

_CODE = re.compile(r"[&0+\[<].*|.*[\d=/\\?#%*<>\[\]{}^~|].*|[^\w]+")  # events, omissions, overlaps
_SUFFIX = re.compile(r"@.*$")  # special form markers: kitty@f
_SPEAKER = re.compile(r"\*([^\s:]+):(?:\s+|$)(.*)", re.DOTALL)
_TOKEN = re.compile(r"\[[^\[\]]*\]|\+<|[<>\[\]]|[^\s<>\[\]]+")
# times in the recording; if the marks around them are lost, they follow the terminator
_BULLET = re.compile(r"\x15[^\x15]*\x15?|(?<=[.?!\s])\d+_\d+\s*$")
_PRECODE = re.compile(r"\s*\[-\s+(\w+)\s*\]")  # [- spa]: the utterance is in another language
_RETRACED = {"[/]", "[//]", "[///]", "[/-]", "[/?]"}
_SILENT = re.compile(r"\(\.+\)|\([\d:.]+\)|[,„‡]")  # pauses, separators
_TERMINATOR = re.compile(r"\+\S*[.?!]|[.?!]+")
_GLUED = re.compile(r"\w(\+\S*[.?!]|[.?!]+)$")  # "dog." for "dog ."
_PROSODY = re.compile(
    r"↫[^↫]*↫"  # stuttered: ↫w-w↫well
    r"|[⌈⌉⌊⌋]\d?"  # overlaps
    r"|[ˈˌ↑↓→↗↘⇗⇘≠∆∇°▁▔☺♋⁇∬Ϋ∮⁎◉§∾≈≋∞⁑‹›“”„‡]"  # stress, pitch, voice, quotes
    r"|(?<=\w):+|\^"  # drawled, blocked: wo:rd, spa^ghetti
)
_AGE = re.compile(r"(\d+);(?:(\d+)\.?(\d+)?)?")  # years;months.days
_DAYS = (365.25, 30.4375, 1)  # in a year, a month and a day, as in childes-db

log = logs.get(__name__)

Turn = tuple[float | None, str, str]
"""Age of the target child in days (None if unknown), transcript, utterance."""


class Order(plugins.Options):
    """In which order transcripts are read."""

    by_age: bool = Field(
        False,
        description="Sort transcripts by the target child's age; those that do not give it are "
        "left out",
    )


class Options(Order):
    """Order and language of transcripts."""

    language: str = Field(
        "eng",
        pattern="^[a-z]{3}$",
        description="Language of utterances, as the transcripts' headers call it; others are "
        "dropped",
    )


def is_child(code: str, role: str | None) -> bool:
    """Return whether a speaker is a child, whose speech is left out."""
    return code == "CHI" or role in {"Target_Child", "Child"}


def files(path: Path, options: Options) -> list[Path]:
    """Return the files: one, or all ``.cha`` and ``.cha.gz`` files at any depth below a folder."""
    return listed_below(path, ".cha", ".cha.gz")


def read(path: Path, options: Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (transcript, utterance). Documents are named by their path below the source's.

    Dependent tiers are skipped. Lines that are not CHAT, and speakers that no header names, are
    dropped and counted. A transcript without ``@End`` is incomplete: it is read, the log warns
    about it, and one dropped line is counted for it.
    """
    wanted = options.language
    turns = (t for file in files(path, options) for t in _turns(file, path, wanted, report))
    return arranged(turns, options, report)


def arranged(turns: Iterable[Turn], options: Order, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (transcript, utterance), sorted by age if the options say so (then all are in memory).

    Args:
        turns: utterances in the order of their files.
        options: whether to sort by age; transcripts of the same age keep their order.
        report: counts what is dropped.
    """
    held: dict[str, tuple[float, list[str]]] = {}
    for age, document, text in turns:
        if not options.by_age:
            yield document, text
        elif age is None:
            report.drop("age not known", text)
        else:
            held.setdefault(document, (age, []))[1].append(text)
    for document, (_, texts) in sorted(held.items(), key=lambda item: item[1][0]):
        yield from ((document, text) for text in texts)


@dataclass
class _Transcript:
    """What the header lines since ``@Begin`` say."""

    ended: bool = False
    language: str | None = None
    roles: dict[str, str] = field(default_factory=dict)  # speaker code -> role
    age: float | None = None  # of the target child, in days

    def learn(self, line: str) -> None:
        """Read a header line."""
        name, _, value = line.partition(":")
        if line == "@End":
            self.ended = True
        elif name == "@Languages" and value.strip():
            self.language = re.split(r"[,\s]+", value.strip())[0]
        elif name == "@Participants":
            for words in map(str.split, value.split(",")):  # code, perhaps a name, role
                if len(words) > 1:
                    self.roles.setdefault(words[0], words[-1])
        elif name == "@ID":
            parts = [part.strip() for part in value.split("|")]
            if len(parts) > 7 and parts[7]:
                self.roles[parts[2]] = parts[7]
                age = _AGE.fullmatch(parts[3])
                if age and parts[7] == "Target_Child":
                    self.age = sum(
                        int(part or 0) * days
                        for part, days in zip(age.groups(), _DAYS, strict=True)
                    )


def _turns(file: Path, path: Path, wanted: str, report: Report) -> Iterator[Turn]:
    """Yield the utterances of one file.

    Raises:
        PoshgridError: the file is not text, not CHAT, or does not name its speakers.
    """
    document, number = label(file, path), 1
    transcript: _Transcript | None = None
    for number, tier in _tiers(lines(file)):
        if tier == "@Begin":
            transcript = _Transcript()
        elif tier.startswith("@"):
            if transcript:
                transcript.learn(tier)
        elif not transcript:
            break
        elif tier.startswith("*") and not transcript.roles:
            raise PoshgridError(
                f"{file}: line {number:,}: no @Participants or @ID before the first utterance, so "
                "the child is unknown; correct the file's header"
            )
        elif not tier.startswith("%"):
            report.lines += 1
            if spoken := _spoken(tier, transcript, wanted, report):
                yield transcript.age, document, spoken
    if not transcript:
        raise PoshgridError(
            f"{file}: line {number:,}: no @Begin before it: not a CHAT file; remove it"
        )
    if not transcript.ended:
        log.warning("%s: no @End: is the file incomplete? It was read as far as it goes", file)
        report.lines += 1  # keeps lines = sentences + dropped
        report.drop("no @End")


def _spoken(tier: str, transcript: _Transcript, wanted: str, report: Report) -> str | None:
    """Return a line's utterance, or ``None`` if it is dropped."""
    match = _SPEAKER.fullmatch(tier)
    if not match:
        report.drop("line that is not CHAT", tier)
        return None
    code, words = match.groups()
    role = transcript.roles.get(code)
    if is_child(code, role):
        report.drop("child's utterance", words)
    elif role is None:
        report.drop("unknown speaker", words)
    else:
        return utterance(words, report, transcript.language, wanted)
    return None


def _tiers(text: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield (line number, tier); lines that begin with white space continue a tier."""
    start, parts = 0, list[str]()
    for number, line in enumerate(text, 1):
        if line.strip() and line[0].isspace() and parts:
            parts.append(line.strip())
        elif line.strip():
            if parts:
                yield start, " ".join(parts)
            start, parts = number, [line.rstrip()]
    if parts:
        yield start, " ".join(parts)


def utterance(
    tier: str, report: Report, language: str | None = None, wanted: str = "eng"
) -> str | None:
    """Return the text of a main tier, or ``None`` if it is dropped.

    Args:
        tier: what follows the speaker's code, e.g. ``"<I want> [//] I need (th)em +..."``.
        report: counts what is dropped.
        language: the transcript's language, by its header.
        wanted: the language that is kept; other utterances are dropped.
    """
    precode = _PRECODE.match(tier)
    spoken = precode[1] if precode else language
    if spoken not in {None, wanted}:
        report.drop("another language", tier)
        return None
    tokens = _tokens(tier)
    if tokens is None:
        report.drop("broken brackets", tier)
        return None
    terminator = _terminator(tokens)
    words = [
        _PROSODY.sub("", token.partition("@")[0].partition("$")[0])
        for token in tokens
        if not _TERMINATOR.fullmatch(token)
    ]
    return assemble(words, next((mark for mark in "?!" if mark in terminator), "."), report)


def _terminator(tokens: list[str]) -> str:
    """Return an utterance's terminator, even if no space separates it from the last word, or ""."""
    for token in reversed(tokens):
        if _TERMINATOR.fullmatch(token):
            return token
    glued = _GLUED.search(tokens[-1]) if tokens else None
    return glued[1] if glued else ""


def _tokens(tier: str) -> list[str] | None:
    """Return a tier's words, codes and marks without what the speaker retraced.

    A code in square brackets belongs to the word before it, or to the group in ``<...>``.

    Returns:
        ``None`` if brackets do not match.
    """
    # open groups; a group is a list of units, a unit a list of tokens
    groups: list[list[list[str]]] = [[]]
    for token in _TOKEN.findall(_BULLET.sub(" ", tier)):
        if token in {"[", "]"} or (token == ">" and len(groups) == 1):
            return None
        if token == "<":
            groups.append([])
        elif token == ">":
            group = groups.pop()
            groups[-1].append([word for unit in group for word in unit])
        elif token.startswith("["):
            if groups[-1] and "".join(token.split()) in _RETRACED:
                groups[-1][-1] = []
        elif not _SILENT.fullmatch(token):
            groups[-1].append([token])
    if len(groups) > 1:
        return None
    return [token for unit in groups[0] for token in unit]


def assemble(tokens: Iterable[str], end: str, report: Report) -> str | None:
    """Return the text of an utterance, or ``None`` if it is dropped.

    Args:
        tokens: words in CHAT, e.g. ``["the", "woof+woof", "has_to", "(be)cause", "kitty@f"]``;
            codes among them (``&-uh``, ``0is``, ``+^``) are left out.
        end: final punctuation.
        report: counts what is dropped.
    """
    tokens = list(tokens)
    if sum(map(len, tokens)) > LONGEST:
        report.drop("too long", " ".join(tokens))
        return None
    words: list[str] = []
    for token in tokens:
        # the parts of compounds (bed+room) and linked phrases (have_to) become words
        word = _SUFFIX.sub("", token).replace("(", "").replace(")", "").strip(".,!?")
        if UNINTELLIGIBLE.fullmatch(word):
            report.drop("unintelligible", " ".join(tokens))
            return None
        if word and not _CODE.fullmatch(word):
            words.extend(part for part in re.split(r"[+_]", word) if part)
    if not words:
        report.drop("no words", " ".join(tokens))
        return None
    return " ".join(words) + end
