"""Published files of minimal pairs: what all readers of such files share.

A reader turns a file into :class:`Pair`; this module checks and names the pairs and assigns
categories.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import Field

from poshgrid import plugins, verification
from poshgrid.benchmark.reading import table10
from poshgrid.corpora.clean import normalise
from poshgrid.corpora.listing import label, listed_below
from poshgrid.errors import PoshgridError
from poshgrid.models.classes import CLITIC, FUNCTION_WORDS

if TYPE_CHECKING:
    from poshgrid.benchmark.schema import Context, Loaded

# Control characters, half characters, and marks that reverse the direction of text
_BROKEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SHARD = re.compile(r"[/-]?(?:train|validation|test|data)-\d+-of-\d+$")
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_DETACHED = re.compile(r"\s+(?=(?:n't|'(?:s|re|ve|ll|d|m))(?!\w)|[.,?!;:]+(?:\s|$))", re.IGNORECASE)
_NEAR = 0.5  # share of the words of two neighbours; see `lexical_sets`


class PairOptions(plugins.Options):
    """Options of every reader of files of pairs."""

    categories: Literal["paper", "own"] = Field(
        "paper", description="paper: Table 10, all others as other-TERM; own: the suite's own"
    )
    mapped: bool = Field(False, description="Leave out phenomena that Table 10 does not name")
    detokenise: bool = Field(
        False, description='"who is here ?" becomes "Who is here?", as in the corpora'
    )
    spelling: Literal["published", "corpora"] = Field(
        "published",
        description="corpora: quotes, dashes, accents and white space as in the corpora",
    )


class Pair(NamedTuple):
    """A pair as written in its file."""

    good: str
    bad: str
    lines: tuple[int, int]  # line numbers of the good and the bad member
    contexts: tuple[int, int] = (0, 0)  # characters of each that are read and not scored
    phenomenon: str = ""  # default: the file's name
    category: str = ""  # the suite's category; default: from the phenomenon's name
    item: str = ""  # the id; default: the phenomenon and the pair's number in the file
    template: str = ""  # default, also for the contrast: the phenomenon
    lexical_set: str = ""  # default: from the pair's words
    contrast: str = ""


Parse = Callable[[Path, Any], Iterator[Pair]]
"""Takes a file and the reader's options, and yields the file's pairs."""


def fault(file: Path, line: int, reason: str) -> PoshgridError:
    """Return the error for a line that is not a pair."""
    return PoshgridError(f"{file}: line {line:,}: {reason}; fix it or remove the pair")


def reader(
    suffixes: tuple[str, ...], parse: Parse, *formats: Path
) -> tuple[
    Callable[[Path, PairOptions], list[Path]],
    Callable[[Path | None, PairOptions, Context | None], Loaded],
]:
    """Return the functions ``files`` and ``load`` of a plug-in that reads files of pairs.

    Args:
        suffixes: endings of the files of a folder.
        parse: reads a file.
        formats: further files that decide what is read.
    """

    def files(path: Path, options: PairOptions) -> list[Path]:
        used = [table10.file()] if options.categories == "paper" or options.mapped else []
        return [*listed_below(path, *suffixes), *used, *formats]

    def load(path: Path | None, options: PairOptions, context: Context | None = None) -> Loaded:
        if path is None:
            raise PoshgridError("suites[].path: missing; name the file or folder below `data`")
        return _load(path, listed_below(path, *suffixes), options, parse)

    return files, load


def _load(path: Path, files: list[Path], options: PairOptions, parse: Parse) -> Loaded:
    """Read the pairs of a suite.

    Returns:
        A table with the columns of ``PAIRS``, in the order of the files and their lines, and facts:
        files (SHA-256, pairs), phenomena that were left out.

    Raises:
        PoshgridError: a malformed line; a phenomenon in two files; no pair.
    """
    import polars as pl

    from poshgrid.benchmark.schema import PAIRS, Loaded

    digests: dict[str, dict[str, Any]] = {}
    home: dict[str, Path] = {}
    table: list[dict[str, str | int]] = []
    for file in files:
        name = name_of(file, path)
        phenomena: dict[str, list[tuple[int, Pair]]] = {}
        number = 0
        for number, pair in enumerate(parse(file, options), 1):
            _check(file, pair)
            phenomenon = table10.spelled(pair.phenomenon) or name
            phenomena.setdefault(phenomenon, []).append((number, pair))
        if not number:
            raise PoshgridError(f"{file}: has no pair; replace it or remove it")
        digests[str(file.relative_to(path)) if path.is_dir() else file.name] = {
            "sha256": verification.sha256(file),
            "pairs": number,
        }
        for phenomenon, numbered in phenomena.items():
            other = home.setdefault(phenomenon, file)
            if other != file:
                raise PoshgridError(
                    f"{file}: phenomenon {phenomenon!r} is also in {other}; keep one of the files"
                )
            table += rows(phenomenon, numbered, options)
    left_out = sorted(p for p in home if options.mapped and not table10.category(p))
    pairs = pl.DataFrame(table, schema=PAIRS).filter(~pl.col("phenomenon").is_in(left_out))
    if pairs.is_empty():
        raise PoshgridError(f"{path}: no pair is left; check the suite's options and its files")
    return Loaded(pairs, {"files": digests, "left_out": left_out})


def name_of(file: Path, path: Path) -> str:
    """Return the phenomenon of a file: its name without the ending.

    A phenomenon of POSH-BENCH is spelled as in this project, so that its files and the generated
    items have the same phenomena.

    Args:
        file: one of the files of ``path``.
        path: file or folder of the suite; inner folders come before the name, joined by ``-``. For
            ``wh_island/train-00000-of-00001.parquet`` the name is the folder's.
    """
    name = label(file, path)
    return table10.spelled((_SHARD.sub("", name) or name).replace("/", "-"))


def _check(file: Path, pair: Pair) -> None:
    """Raise if a member or a name of a pair is not text."""
    for text, line in zip((pair.good, pair.bad), pair.lines, strict=True):
        if not text.strip():
            raise fault(file, line, "empty sentence")
        if reason := no_text(text.replace("\n", " ")):
            raise fault(file, line, reason)
    if reason := no_text("".join(pair[4:])):
        raise fault(file, pair.lines[0], reason)


def no_text(text: str) -> str | None:
    """Return which character is not allowed in text, or ``None``."""
    broken = _BROKEN.search(text)
    return f"the character U+{ord(broken[0]):04X} is not allowed in text" if broken else None


def rows(
    phenomenon: str, numbered: list[tuple[int, Pair]], options: PairOptions
) -> list[dict[str, str | int]]:
    """Return the pairs of a phenomenon as rows of ``PAIRS``, without a design.

    Args:
        phenomenon: the name of the phenomenon.
        numbered: (number in its file, pair).
        options: spelling and categories.
    """
    ids = [pair.item or f"{phenomenon}-{number:05}" for number, pair in numbered]
    sets = lexical_sets(
        (item, pair.good, pair.bad) for item, (_, pair) in zip(ids, numbered, strict=True)
    )
    return [
        {
            "item_id": item,
            "category": _category(phenomenon, pair.category, options),
            "phenomenon": phenomenon,
            "template": pair.template or phenomenon,
            "lexical_set": pair.lexical_set or lexical_set,
            "contrast": pair.contrast or phenomenon,
            **_written(pair, options),
        }
        for item, lexical_set, (_, pair) in zip(ids, sets, numbered, strict=True)
    ]


def _written(pair: Pair, options: PairOptions) -> dict[str, str | int]:
    """Return both members in the options' spelling, and how much of each is context.

    White space around only one of them is kept.
    """
    members = {"good": pair.good, "bad": pair.bad}
    around = {member.partition(member.strip())[::2] for member in members.values()}

    def written(text: str) -> str:
        text = text.strip() if len(around) == 1 else text
        if options.spelling == "corpora":
            text = normalise(text.replace("\n", " "))
        return detokenise(text) if options.detokenise else text

    contexts = {
        f"{name}_context": len(written(member[:length]))
        for (name, member), length in zip(members.items(), pair.contexts, strict=True)
    }
    return {name: written(member) for name, member in members.items()} | contexts


def _category(phenomenon: str, term: str, options: PairOptions) -> str:
    """Return a category: Table 10's, or the suite's own term.

    Without a term, the part of the name before the last hyphen is used, as in Zorro's file names.
    """
    own = term or phenomenon.rpartition("-")[0]
    if options.categories == "own":
        return own or "other"
    return table10.category(phenomenon) or (f"other-{own}" if own else "other")


# ---- words of pairs -----------------------------------------------------------------------------


def detokenise(text: str) -> str:
    """Return a tokenised sentence as running text: ``who is n't here ?`` -> ``Who isn't here?``.

    Punctuation marks and clitics join the word before them, the first letter and the pronoun *I*
    become capital. ``can n't``, as SCaMP writes it, becomes ``can't``. Other capitals are not
    restored.

    Args:
        text: a sentence with spaces between its tokens.
    """
    text = re.sub(r"\b(ca)n(?=\s+n't\b)", r"\1", text, flags=re.IGNORECASE)
    text = re.sub(r"\bi\b", "I", _DETACHED.sub("", text))
    return text[:1].upper() + text[1:]


def shared_ends(one: Sequence[str], two: Sequence[str]) -> tuple[int, int]:
    """Return how many words two members share at the beginning and, of the rest, at the end."""
    shorter = min(len(one), len(two))
    first = next((i for i in range(shorter) if one[i] != two[i]), shorter)
    rest = shorter - first
    return first, next((i for i in range(rest) if one[-1 - i] != two[-1 - i]), rest)


def content(*members: str) -> frozenset[str]:
    """Return the lower-cased words of sentences that are not of a closed class."""
    words = (CLITIC.sub("", w) for member in members for w in WORD.findall(member.lower()))
    return frozenset(word for word in words if word and word not in FUNCTION_WORDS)


def lexical_sets(pairs: Iterable[tuple[str, str, str]]) -> list[str]:
    """Return the lexical set of each pair of a phenomenon: pairs of one set are not independent.

    The files do not say which pairs were filled with the same words. Zorro writes the fillings of
    one draw one after the other and varies the frame around them (*look at this purple thing*,
    *this purple thing went there*), so the words of a whole pair are too many, and the shared words
    are only known from the neighbours. Hence: a pair belongs to the set of the previous pair if at
    least half of the content words of the two (Jaccard) are the same. A set is named after the
    content words of its first pair, and sets with the same name are one. Where pairs are drawn one
    by one, as in BLiMP, nearly every pair is its own set.

    Args:
        pairs: (item id, good, bad), in the file's order; a pair without a content word is its own
            set, named after its id.
    """
    names: list[str] = []
    before: frozenset[str] = frozenset()
    for item, good, bad in pairs:
        words = content(good, bad)
        if not words:
            names.append(item)
        elif before and len(words & before) >= _NEAR * len(words | before):
            names.append(names[-1])
        else:
            names.append("+".join(sorted(words)))
        before = words
    return names
