"""Files of templates, one for each phenomenon: which there are, and reading one.

A template is a text with slots: ``{slot}`` is a word's citation form, ``{slot:form}`` another of
its forms.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import yaml
from pydantic import Field, ValidationError, field_validator, model_validator

from poshgrid import plugins, resources
from poshgrid.benchmark.generation.slots import Filling, LexiconSlot, Part, Phrases
from poshgrid.config import yamltext
from poshgrid.config.base import Seed
from poshgrid.errors import PoshgridError, did_you_mean

_SLOT = re.compile(r"\{(\w+)(?::(\w+))?\}")

AnySlot = TypeVar("AnySlot", bound=LexiconSlot | Phrases)


class Pattern(Part, Generic[AnySlot]):
    """A template: one or more texts, and the slots that they share."""

    name: str
    slots: dict[str, AnySlot]

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts, as they are written."""
        raise NotImplementedError

    @model_validator(mode="after")
    def _described(self) -> Self:
        used = {slot for text in self.texts for slot, _ in _SLOT.findall(text)}
        for slot in sorted(used ^ set(self.slots)):
            raise ValueError(
                f"template {self.name}: slot {slot!r} is "
                + ("used but not described" if slot in used else "described but not used")
            )
        for slot, form in self.uses():
            if form not in self.slots[slot].forms:
                raise ValueError(f"template {self.name}: slot {slot!r} has no form {form!r}")
        return self

    def uses(self) -> list[tuple[str, str]]:
        """Return the (slot, form) pairs of all texts, each once, in order."""
        found = [
            (slot, form or self.slots[slot].forms[0])
            for text in self.texts
            for slot, form in _SLOT.findall(text)
        ]
        return list(dict.fromkeys(found))

    def forms(self, slot: str) -> list[str]:
        """Return the names of the forms in which a slot's word occurs."""
        return [form for name, form in self.uses() if name == slot]

    def literals(self) -> set[str]:
        """Return the fixed words of all texts, lower-cased."""
        return set(re.findall(r"[a-z]{2,}", _SLOT.sub(" ", " ".join(self.texts)).lower()))

    def fill(self, text: str, filling: Filling) -> str:
        """Return a text, or a piece of one, with its words.

        Args:
            text: what is filled.
            filling: slot -> word.
        """
        return _SLOT.sub(lambda m: filling[m[1]].forms[m[2] or self.slots[m[1]].forms[0]], text)


def capitalized(text: str) -> str:
    """Return a text whose first letter is upper-case; the others stay."""
    return text[0].upper() + text[1:]


AnyTemplate = TypeVar("AnyTemplate", bound=Pattern[Any])


class TemplateFile(Part, Generic[AnyTemplate]):
    """One file: the templates of a phenomenon."""

    category: str
    phenomenon: str
    templates: list[AnyTemplate] = Field(min_length=1)

    @model_validator(mode="after")
    def _unique(self) -> Self:
        found = [template.name for template in self.templates]
        for name in sorted({n for n in found if found.count(n) > 1}):
            raise ValueError(f"template {name!r} is defined twice")
        return self

    def place(self, template: Pattern[Any]) -> str:
        """Return what error messages call a template."""
        return f"phenomenon {self.phenomenon}, template {template.name}"


Described = TypeVar("Described", bound=TemplateFile[Any])


def names(folder: Path) -> list[str]:
    """Return the phenomena that have a file in a folder, sorted."""
    return sorted(path.stem for path in folder.glob("*.yaml"))


def read(model: type[Described], phenomenon: str, folder: Path) -> Described:
    """Read and check the templates of a phenomenon.

    Args:
        model: what the file must hold.
        phenomenon: names the file.
        folder: the files.

    Raises:
        PoshgridError: the file is missing, is not YAML, or breaks the rules of a template.
    """
    path = folder / f"{phenomenon}.yaml"
    status = path.stat() if path.is_file() else None
    known = (status.st_mtime_ns, status.st_size) if status else None
    found: Described = _read(model, phenomenon, path, known)
    return found


@cache
def _read(
    model: type[Described], phenomenon: str, path: Path, known: tuple[int, int] | None
) -> Described:
    """Read a file once while its time and size stay: a plan asks for each several times."""
    folder = path.parent
    try:
        found = model.model_validate(yamltext.parse(yamltext.read(path)))
    except FileNotFoundError as error:
        raise PoshgridError(
            f"{path}: no templates for {phenomenon!r}{did_you_mean(phenomenon, names(folder))}"
        ) from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError, yamltext.UnboundedError) as error:
        raise PoshgridError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "file"
        raise PoshgridError(f"{path}: {place}: {first['msg'].removeprefix('Value error, ')}") from (
            error
        )
    if found.phenomenon != phenomenon:
        raise PoshgridError(f"{path}: phenomenon: must be {phenomenon!r}, as the file's name")
    return found


class Options(plugins.Options):
    """Options of the readers that fill templates."""

    FOLDER: ClassVar[Path]

    seed: Seed = Field(42, description="The same seed gives the same items")
    phenomena: list[str] | None = Field(None, description="Default: see docs/benchmark.md")

    @field_validator("phenomena")
    @classmethod
    def _known(cls, value: list[str] | None) -> list[str] | None:
        known = names(cls.FOLDER)
        for name in value or []:
            if name not in known:
                raise ValueError(f"unknown phenomenon {name!r}{did_you_mean(name, known)}")
        if value is not None and (not value or len(set(value)) < len(value)):
            raise ValueError("name each phenomenon once, and at least one")
        return value


def watched(phenomena: Sequence[str], folder: Path) -> list[Path]:
    """Return what items are made from: the phenomena's files, and the lexicon."""
    return [
        *(folder / f"{name}.yaml" for name in phenomena),
        *sorted(resources.path("lexicon").glob("*.tsv")),
    ]
