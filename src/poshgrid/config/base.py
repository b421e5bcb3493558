"""Types that all sections of the configuration share: names, sizes, counts of words."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_serializer,
)
from pydantic_core import InitErrorDetails

from poshgrid.config.known import combination, refers
from poshgrid.config.sizes import MOST_WORDS, SIZE, words
from poshgrid.core import plugins

_NAME = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9+~._-]{0,62}[a-zA-Z0-9+~_-])?")
# Wildcards and path variables, also in the names of inputs; neither can be escaped
_PATTERN = re.compile(r"[{}]|<[a-z][a-z0-9_]*>")


def _size(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool):  # YAML reads 20000 as a number
        thousands = value / 1000
        size = f"{thousands:g}K" if thousands < 1000 else f"{thousands / 1000:g}M"
        raise ValueError(f"{value} is no size: write {size}")
    if isinstance(value, str):
        words(value)
    return value


def _name(value: str) -> str:
    if not _NAME.fullmatch(value) or ".." in value:
        raise ValueError(
            f"{value!r} cannot be part of a path: use letters, digits, and + ~ . _ - (64 at most)"
        )
    return value


def path_name(text: str) -> str:
    """Return a valid :data:`Name` for any file or folder name: ``modèle (1)`` -> ``modele-1``.

    A text without a Latin letter or digit gets a name made from its digest; a long one loses its
    middle.
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    plain = re.sub(r"\.\.+|[^a-zA-Z0-9+~._-]+", "-", plain).strip("+~._-")
    if len(plain) > 64:
        plain = f"{plain[:27]}~{plain[-36:]}"
    try:
        return _name(plain)
    except ValueError:
        return f"name-{hashlib.sha256(text.encode(errors='surrogateescape')).hexdigest()[:8]}"


def place(value: str) -> str:
    """Return a path if Snakemake and argument files read all its characters literally.

    Raises:
        ValueError: it contains characters that one of them would interpret.
    """
    if not value.strip() or value[0].isspace():
        raise ValueError(
            f"{value!r} is empty or begins with a space: write . for this folder, or rename it"
        )
    if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in value):
        raise ValueError(
            f"{value!r} holds a line break, another control character or half a character: "
            "rename the file or folder"
        )
    # Some libraries read ~ as the home folder, others as a folder of that name.
    if Path(value).parts[:1] == ("~",):
        raise ValueError(f"{value!r} begins with ~: write the home folder out")
    if pattern := _PATTERN.search(value):
        raise ValueError(
            f"{value!r} holds {pattern[0]}, which Snakemake reads as part of a pattern: rename "
            "the file or folder"
        )
    return value


def once(values: Iterable[Hashable], remedy: str, key: str = "") -> None:
    """Raise if values of a key occur more than once.

    Raises:
        ValueError: names the values, and the remedy.
    """
    if twice := [value for value, number in Counter(values).items() if number > 1]:
        raise ValueError(f"{key and f'{key}: '}{', '.join(map(str, twice))} twice: {remedy}")


def _count(value: object) -> object:
    return words(value) if isinstance(value, str) and not value.isdecimal() else value


Name = Annotated[str, AfterValidator(_name)]
Size = Annotated[str, BeforeValidator(_size, json_schema_input_type=str)]
CorpusName = Annotated[Name, refers("corpora")]
ConditionName = Annotated[Name, refers("conditions")]
ParserName = Annotated[Name, refers("parsers")]
ModelName = Annotated[Name, refers("models")]
BiasName = Annotated[Name, AfterValidator(combination), refers("biases")]
UsedSize = Annotated[Size, refers("sizes")]
Place = Annotated[str, AfterValidator(place)]
"""A file or folder, or a model on a hub."""
LARGEST = 10**9
"""Largest number of steps, rows or sentences."""
Share01 = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[int, Field(gt=0, le=LARGEST)]
Count = Annotated[int, Field(ge=0, le=LARGEST)]
Width = Annotated[int, Field(gt=0, le=1_000_000)]
"""A dimension in memory: of a layer, a row, a vocabulary."""
Depth = Annotated[int, Field(gt=0, le=1_000)]
Threads = Annotated[int, Field(gt=0, le=1_024)]
LearningRate = Annotated[float, Field(gt=0, le=10)]
Dropout = Annotated[float, Field(ge=0, lt=1)]
Scale = Annotated[float, Field(gt=0, le=1_000)]
"""SD or rate of a prior, on the logit scale."""
_WrittenWords = (
    Annotated[int, Field(ge=0, le=MOST_WORDS)] | Annotated[str, Field(pattern=SIZE.pattern)]
)
Words = Annotated[
    int,
    BeforeValidator(_count, json_schema_input_type=_WrittenWords),
    Field(ge=0, le=MOST_WORDS),
]
Kept = Annotated[float, Field(gt=0, le=1)] | Annotated[Words, Field(gt=1)]
"""A share of sentences, or their number."""
Language = Annotated[str, Field(pattern="^[a-z]{2}$")]
"""ISO 639-1 code of a language."""
Seed = Annotated[int, Field(ge=0, lt=2**32)]


class Section(plugins.Options):
    """A part of the configuration; unknown keys are refused.

    Written with ``exclude_defaults``, it only contains values that differ from the defaults of its
    class, so that a new key with a default changes no spec.
    """

    ALWAYS: ClassVar[frozenset[str]] = frozenset()
    """Keys that are always written, because their default has changed."""

    @field_validator("*")
    @classmethod
    def _once(cls, value: object, info: ValidationInfo) -> object:
        """Refuse entries that occur twice in a list of a configuration."""
        entries = value if info.context and isinstance(value, list) else []
        wrong = [
            plugins.mistake((number,), "occurs twice: leave it out", entry)
            for number, entry in enumerate(entries)
            if entry in entries[:number]
        ]
        if wrong:
            raise plugins.refusal(wrong)
        return value

    @model_serializer(mode="wrap")
    def _without_defaults(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        always = [*self.ALWAYS]
        always += [key for key, value in self if isinstance(value, Section) and value.written()]
        dumped: dict[str, Any] = handler(self)
        return {key: getattr(self, key) for key in always} | dumped

    def written(self) -> dict[str, Any]:
        """Return the values that differ from the defaults, and :attr:`ALWAYS`, as JSON types."""
        return self.model_dump(mode="json", exclude_defaults=True)


def wrong_options(
    package: str,
    word: str,
    options: dict[str, Any],
    keys: tuple[str, ...] = (),
    context: Any = None,  # noqa: ANN401 - pydantic's
) -> list[InitErrorDetails]:
    """Return the errors in a plug-in's name or options, each with its key.

    Args:
        package: package of the plug-ins.
        word: name of the plug-in.
        options: the options as written.
        keys: key of the name and the options, relative to the calling validator; default:
            ``options`` for options, and the plug-in's kind (``reader``) for the name.
        context: names that options may use (:mod:`poshgrid.config.known`).
    """
    try:
        plugins.options(package, word, options, context)
    except plugins.UnknownPluginError as error:
        return [plugins.mistake(keys or (plugins.KINDS[package][0],), str(error), word)]
    except ValidationError as error:
        return plugins.details(error, keys or ("options",))
    return []


def check_options(package: str, word: str, options: dict[str, Any]) -> None:
    """Raise if the options of a section are not valid for its plug-in: :func:`wrong_options`."""
    if wrong := wrong_options(package, word, options):
        raise plugins.refusal(wrong)
