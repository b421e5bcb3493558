"""CHILDES transcripts as CHAT files (``.cha``), loose in folders or in the ``.zip`` of a corpus.

Main tiers are read here and not with pylangacq, which (0.23) leaves ``xxx`` out of an utterance, so
that nobody can tell a whole sentence from a mutilated one, passes over broken lines and brackets
without a word, and either refuses or empties an utterance whose ``%mor`` tier does not match.
A test holds the two to the same words. Codes are those of the CHAT manual (MacWhinney 2000).
"""

from __future__ import annotations

import lzma
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import Field

from poshgrid import logs
from poshgrid.corpora.chat_codes import LONGEST, SpeechOptions, arranged, assemble
from poshgrid.corpora.listing import label, listed_below
from poshgrid.corpora.report import Report
from poshgrid.corpora.textfile import Budget, lines, lines_of
from poshgrid.errors import PoshgridError, plain

SPLIT = False

_SUFFIXES = (".cha", ".cha.gz", ".zip")
_ENDING = re.compile(r"\.(?:cha(?:\.gz)?|zip)$")
_SPEAKER = re.compile(r"\*([^\s:]+):(?:\s+|$)(.*)", re.DOTALL)
_TOKEN = re.compile(r"\[[^\[\]]*\]|\+<|[<>\[\]]|[^\s<>\[\]]+")
# times in the recording; where the marks around them were lost, they follow the terminator
_BULLET = re.compile(r"\x15[^\x15]*\x15?|(?<=[.?!\s])\d+_\d+\s*$")
_PRECODE = re.compile(r"\s*\[-\s+(\w+)\s*\]")  # [- spa]: the utterance is in another language
_RETRACED = {"/", "//", "///", "/-", "/?"}
_REPLACEMENT = re.compile(r"::?\s+(.*)")
_PAUSE = re.compile(r"\(\.+\)|\([\d:.]+\)")
_TERMINATOR = re.compile(r"\+\S*[.?!]|[.?!]+")
_GLUED = re.compile(r"\w(\+\S*[.?!]|[.?!]+)$")  # "dog." for "dog ."
_SEPARATORS = {",", "„", "‡"}
_PROSODY = re.compile(
    r"↫[^↫]*↫"  # stuttered: ↫w-w↫well
    r"|[⌈⌉⌊⌋]\d?"  # overlaps
    r"|[ˈˌ↑↓→↗↘⇗⇘≠∆∇°▁▔☺♋⁇∬Ϋ∮⁎◉§∾≈≋∞⁑‹›“”„‡]"  # stress, pitch, voice, quotes
    r"|(?<=\w):+|\^"  # drawled, blocked: wo:rd, spa^ghetti
)

_AGE = re.compile(r"(\d+);(?:(\d+)\.?(\d+)?)?")  # years;months.days
_DAYS = (365.25, 30.4375, 1)  # of each, as in childes-db

_NOT_CHAT = "no @Begin before it: not a CHAT file; take it out of the folder"

log = logs.get(__name__)


class Options(SpeechOptions):
    """Whose speech is read, and how much of its transcription is kept."""

    replacements: Literal["said", "meant"] = Field(
        "said",
        description="Of 'wanna [: want to]': what was said (as childes-db), or what it means",
    )
    commas: bool = Field(False, description="Keep commas, „ and ‡; childes-db has none of them")
    language: str | None = Field(
        "eng",
        description="Utterances in another language, by @Languages and [- spa], are dropped; "
        "null: all are read",
    )


@dataclass
class _Transcript:
    """What the header lines have said so far."""

    begun: bool = False
    ended: bool = False
    language: str | None = None
    roles: dict[str, str] = field(default_factory=dict)  # speaker code -> role
    age: float | None = None  # of the target child, in days

    def learn(self, line: str) -> None:
        """Take in a header line."""
        name, _, value = line.partition(":")
        if line.rstrip() == "@Begin":
            self.begun, self.ended = True, False
            self.language, self.roles, self.age = None, {}, None
        elif line.rstrip() == "@End":
            self.ended = True
        elif name == "@Languages" and value.strip():
            self.language = re.split(r"[,\s]+", value.strip())[0]
        elif name == "@Participants":
            for entry in value.split(","):
                words = entry.split()  # code, perhaps a name, role
                if len(words) > 1:
                    self.roles.setdefault(words[0], words[-1])
        elif name == "@ID":
            fields = [part.strip() for part in value.split("|")]
            if len(fields) > 7 and fields[7]:
                self.roles[fields[2]] = fields[7]
                age = _AGE.fullmatch(fields[3])
                if age and fields[7] == "Target_Child":
                    self.age = sum(
                        int(part or 0) * days
                        for part, days in zip(age.groups(), _DAYS, strict=True)
                    )

    def fault(self, line: str) -> str | None:
        """Return why a line may not stand here, or ``None``."""
        if not self.begun:
            return _NOT_CHAT
        if line.startswith("*") and not self.roles:
            return (
                "no @Participants or @ID before the first utterance, so that nobody knows who is "
                "the child; mend the file's header"
            )
        return None


def files(path: Path, options: Options) -> list[Path]:
    """Return the files: one, or all ``.cha``, ``.cha.gz`` and ``.zip`` of a folder's folders."""
    return listed_below(path, _SUFFIXES)


def read(path: Path, options: Options, report: Report) -> Iterator[tuple[str, str]]:
    """Yield (transcript, utterance). Documents are named by their path below the source's.

    Dependent tiers are passed over. Lines that are not CHAT, and speakers whom no header names, are
    dropped and counted. A transcript without ``@End`` was cut: it is read, named in the log, and
    its missing line is counted as one that was dropped.
    """
    return arranged(_read_all(path, options, report), options, report)


_Turn = tuple[float | None, str, str]
"""Age of the target child in days, transcript, utterance."""


def _read_all(path: Path, options: Options, report: Report) -> Iterator[_Turn]:
    for file in files(path, options):
        name = label(file, path, _ENDING)
        if file.suffix.lower() == ".zip":
            yield from _read_archive(file, name, options, report)
        else:
            yield from _read(lines(file), name, str(file), options, report)


def _read_archive(archive: Path, name: str, options: Options, report: Report) -> Iterator[_Turn]:
    """Yield the utterances of the transcripts in an archive, sorted by name.

    Raises:
        PoshgridError: the archive is broken, encrypted, or holds no transcript.
    """
    member = ""
    try:
        with zipfile.ZipFile(archive) as unpacked:
            budget = Budget(archive)
            members = [
                entry.filename
                for entry in unpacked.infolist()
                if entry.filename.lower().endswith(".cha")
                # macOS puts a file of its own, ._x.cha, beside each x.cha
                and not any(part.startswith(".") for part in Path(entry.filename).parts)
            ]
            if not members:
                raise PoshgridError(f"{archive}: holds no .cha file; check sources[].path")
            for member in sorted(members):
                document = f"{name}/{_ENDING.sub('', member)}"
                with unpacked.open(member) as stream:
                    place = f"{archive}: {plain(member)}"
                    text = lines_of(budget.counted(stream), place)
                    yield from _read(text, document, place, options, report)
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError) as error:
        place = f"{archive}: {plain(member)}" if member else f"{archive}"
        # zipfile shows all bytes of a name that it cannot find
        reason = str(error).split(" and header", 1)[0] or "it was cut off"
        raise PoshgridError(f"{place}: broken archive ({reason}); fetch it again") from error
    except (RuntimeError, NotImplementedError) as error:  # a password, an exotic compression
        reason = str(error).split(",", 1)[0]
        raise PoshgridError(
            f"{archive}: {plain(member)}: {reason}; unpack the archive into a folder"
        ) from error


def _read(
    text: Iterable[str], document: str, place: str, options: Options, report: Report
) -> Iterator[_Turn]:
    """Yield the utterances of one file.

    Raises:
        PoshgridError: it is no text, no CHAT, or does not say who speaks.
    """
    transcript, number = _Transcript(), 1
    for number, tier, last in _tiers(text):
        if tier.startswith("@"):
            if tier.rstrip() == "@Begin" and transcript.begun and not transcript.ended:
                _cut(place, report)
            transcript.learn(tier)
            continue
        fault = transcript.fault(tier)
        if fault:
            raise PoshgridError(f"{place}: line {number:,}: {fault}")
        if not tier.startswith("%"):
            report.lines += 1
            cut = last and not transcript.ended
            said = _turn(tier, transcript, options, report, cut=cut)
            if said:
                yield transcript.age, document, said
    if not transcript.begun:
        raise PoshgridError(f"{place}: line {number:,}: {_NOT_CHAT}")
    if not transcript.ended:
        _cut(place, report)


def _turn(
    tier: str, transcript: _Transcript, options: Options, report: Report, *, cut: bool
) -> str | None:
    """Return a line's utterance, or ``None`` if it is dropped.

    Args:
        tier: the line, ``"*MOT: hello ."``, or whatever stands in its place.
        transcript: who speaks, in which language.
        options: who is left out.
        report: counts what is dropped.
        cut: the file ends here without ``@End``: an utterance without its terminator is not whole.
    """
    spoken = _SPEAKER.fullmatch(tier)
    if not spoken:
        report.drop("line that is not CHAT", tier)
        return None
    code = spoken[1]
    role = transcript.roles.get(code)
    if options.excludes(code, role):
        report.drop("child's utterance", spoken[2])
    elif role is None:
        report.drop("unknown speaker", spoken[2])
    elif cut and not _terminator(_tokens(spoken[2], options) or []):
        report.drop("cut off", spoken[2])
    else:
        return utterance(spoken[2], options, report, transcript.language)
    return None


def _cut(place: str, report: Report) -> None:
    """Report a transcript that lacks its last line."""
    log.warning("%s: no @End: was the file cut? What is there was read", place)
    report.lines += 1  # lines = sentences + dropped still holds
    report.drop("no @End")


def _tiers(text: Iterable[str]) -> Iterator[tuple[int, str, bool]]:
    """Yield (line, tier, is it the last): lines that begin with white space go on with a tier."""
    start, parts = 0, list[str]()
    for number, line in enumerate(text, 1):
        if not line.strip():
            continue
        if line[0].isspace() and parts:
            parts.append(line.strip())
            continue
        if parts:
            yield start, " ".join(parts), False
        start, parts = number, [line.rstrip()]
    if parts:
        yield start, " ".join(parts), True


def utterance(
    tier: str, options: Options, report: Report, language: str | None = None
) -> str | None:
    """Return a main tier as one would write it, or ``None`` if it is dropped.

    Args:
        tier: what follows the speaker's code, e.g. ``"<I want> [//] I need (th)em +..."``.
        options: what becomes of the unintelligible, replaced and foreign.
        report: counts what is dropped.
        language: the transcript's, by its header.
    """
    precode = _PRECODE.match(tier)
    spoken = precode[1] if precode else language
    if options.language and spoken and spoken != options.language:
        report.drop("another language", tier)
        return None
    if len(tier) > LONGEST:
        report.drop("too long", tier)
        return None
    tokens = _tokens(tier, options)
    if tokens is None:
        report.drop("broken brackets", tier)
        return None
    terminator = _terminator(tokens)
    end = next((mark for mark in "?!" if mark in terminator), ".")
    words = [
        "," if token in _SEPARATORS else _PROSODY.sub("", token.partition("@")[0].partition("$")[0])
        for token in tokens
        if not _TERMINATOR.fullmatch(token)
    ]
    return assemble(words, end, options, report, commas=options.commas)


def _terminator(tokens: list[str]) -> str:
    """Return an utterance's terminator, also one written to its last word; ``""`` for none."""
    for token in reversed(tokens):
        if _TERMINATOR.fullmatch(token):
            return token
    glued = _GLUED.search(tokens[-1]) if tokens else None
    return glued[1] if glued else ""


def _tokens(tier: str, options: Options) -> list[str] | None:
    """Return a tier's words, codes and marks without what the speaker took back.

    A code in square brackets belongs to the word before it, or to the group in ``<...>``.

    Returns:
        ``None`` if brackets do not match.
    """
    groups: list[list[list[str]]] = [[]]  # open groups, of units, of tokens
    for token in _TOKEN.findall(_BULLET.sub(" ", tier)):
        units = groups[-1]
        if token == "<":
            groups.append([])
        elif token == ">":
            if len(groups) == 1:
                return None
            group = groups.pop()
            groups[-1].append([word for unit in group for word in unit])
        elif token in {"[", "]"}:
            return None
        elif token.startswith("["):
            _annotate(units, token[1:-1].strip(), options)
        elif token in _SEPARATORS and units:
            units[-1].append(token)
        elif not _PAUSE.fullmatch(token):
            units.append([token])
    if len(groups) > 1:
        return None
    return [token for unit in groups[0] for token in unit]


def _annotate(units: list[list[str]], code: str, options: Options) -> None:
    """Apply a code to the last unit: what is retraced goes, what is replaced may change."""
    if not units:
        return
    replacement = _REPLACEMENT.fullmatch(code)
    if code in _RETRACED:
        units[-1] = []
    elif replacement and options.replacements == "meant":
        units[-1] = replacement[1].split()
