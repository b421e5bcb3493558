"""Reading templates: the two members of a pair, their slots, and what each slot takes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from poshgrid import resources
from poshgrid.benchmark.lexicon import TABLES, Word
from poshgrid.errors import PoshgridError, did_you_mean

TEMPLATES = resources.ROOT / "templates"
_SLOT = re.compile(r"\{(\w+)(?::(\w+))?\}")  # {slot} or {slot:form}
_DEFAULT_FORM = {"noun": "singular", "verb": "base"}


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Slot(_Part):
    """What may fill a slot. A value ``m|f`` is satisfied by either; all listed values must hold."""

    category: Literal[
        "noun", "name", "verb", "adjective", "determiner", "auxiliary", "function"
    ]  # table of the lexicon
    where: dict[str, list[str]] = {}  # feature -> values that the word must have
    without: dict[str, list[str]] = {}  # feature -> values that the word must not have
    agree: dict[str, str] = {}  # own feature -> "slot.feature" that shares a value with it
    unlike: list[str] = []  # slots that hold another word
    distinct: list[str] = []  # forms of the word that must be spelt differently
    balanced: bool = False  # every word (and combination of balanced slots) equally often
    frequent: bool = True  # false: the word makes the construction, and may be rare in a base
    least: int = Field(2, ge=1)  # fewer usable words than this are an error

    @model_validator(mode="after")
    def _known(self) -> Self:
        table = TABLES[self.category]
        for feature, values in {**self.without, **self.where}.items():
            if feature not in table.features:
                raise ValueError(
                    f"unknown feature {feature!r} of a {self.category}"
                    f"{did_you_mean(feature, table.features)}"
                )
            for value in (v for alternatives in values for v in alternatives.split("|")):
                if value not in table.features[feature]:
                    raise ValueError(
                        f"unknown {feature} {value!r}{did_you_mean(value, table.features[feature])}"
                    )
        for feature in self.agree:
            if feature not in table.features:
                raise ValueError(f"unknown feature {feature!r} of a {self.category}")
        for form in self.distinct:
            if form not in table.forms:
                raise ValueError(
                    f"unknown form {form!r} of a {self.category}{did_you_mean(form, table.forms)}"
                )
        return self

    def takes(self, word: Word) -> bool:
        """Say whether a word suits the slot, whatever the other slots hold."""
        forms = [word.forms[name] for name in self.distinct]
        return (
            word.category == self.category
            and all(
                word.features[feature] & set(value.split("|"))
                for feature, values in self.where.items()
                for value in values
            )
            and not any(word.features[f] & set(values) for f, values in self.without.items())
            and len(set(forms)) == len(forms)
        )


class Template(_Part):
    """Two members that differ in the contrast only, and the slots that they share."""

    name: str
    good: str
    bad: str
    slots: dict[str, Slot]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        used = {slot for slot, _ in self.uses()}
        for slot in sorted(used ^ set(self.slots)):
            raise ValueError(
                f"template {self.name}: slot {slot!r} is "
                + ("used but not described" if slot in used else "described but not used")
            )
        for slot, form in self.uses():
            if form not in TABLES[self.slots[slot].category].forms:
                raise ValueError(f"template {self.name}: slot {slot!r} has no form {form!r}")
        for name, slot in self.slots.items():
            others = [reference.partition(".") for reference in slot.agree.values()]
            for other, _, feature in [*others, *((o, "", "") for o in slot.unlike)]:
                if other not in self.slots:
                    raise ValueError(f"template {self.name}: slot {name!r}: no slot {other!r}")
                if feature and feature not in TABLES[self.slots[other].category].features:
                    raise ValueError(
                        f"template {self.name}: slot {name!r}: {other!r} has no {feature!r}"
                    )
        return self

    def uses(self) -> list[tuple[str, str]]:
        """Return the (slot, form) pairs of both members, each once, in order."""
        found = [
            (slot, form or self._default(slot))
            for member in (self.good, self.bad)
            for slot, form in _SLOT.findall(member)
        ]
        return list(dict.fromkeys(found))

    def forms(self, slot: str) -> list[str]:
        """Return the names of the forms in which a slot's word occurs."""
        return [form for name, form in self.uses() if name == slot]

    def literals(self) -> set[str]:
        """Return the fixed words of both members, lower-cased."""
        text = _SLOT.sub(" ", f"{self.good} {self.bad}").lower()
        return set(re.findall(r"[a-z]{2,}", text))

    def fill(self, member: str, filled: dict[str, Word]) -> str:
        """Return a member (``self.good`` or ``self.bad``) with its words, first letter upper-case.

        Args:
            member: the pattern.
            filled: slot -> word.
        """
        text = _SLOT.sub(lambda m: filled[m[1]].forms[m[2] or self._default(m[1])], member)
        return text[0].upper() + text[1:]

    def _default(self, slot: str) -> str:
        category = self.slots[slot].category if slot in self.slots else "name"
        return _DEFAULT_FORM.get(category, TABLES[category].forms[0])


class Phenomenon(_Part):
    """One file of templates."""

    category: str
    phenomenon: str
    contrast: str
    default: bool = True  # false: made only where the option ``phenomena`` names it
    templates: list[Template] = Field(min_length=1)
    shared: dict[str, Slot] = {}  # named pieces that the templates repeat by YAML reference

    @model_validator(mode="after")
    def _unique(self) -> Self:
        names = [template.name for template in self.templates]
        for name in sorted({n for n in names if names.count(n) > 1}):
            raise ValueError(f"template {name!r} is defined twice")
        return self


def names(folder: Path = TEMPLATES, *, default_only: bool = True) -> list[str]:
    """Return the phenomena that have a file of templates, sorted.

    Args:
        folder: the files.
        default_only: leave out those that are made only where they are named.

    Raises:
        PoshgridError: with ``default_only``, a file breaks the rules of a template.
    """
    every = sorted(path.stem for path in folder.glob("*.yaml"))
    return [name for name in every if not default_only or read(name, folder).default]


def file(phenomenon: str, folder: Path = TEMPLATES) -> Path:
    """Return the file of a phenomenon's templates."""
    return folder / f"{phenomenon}.yaml"


def read(phenomenon: str, folder: Path = TEMPLATES) -> Phenomenon:
    """Read and check the templates of a phenomenon.

    Raises:
        PoshgridError: the file is missing, is not YAML, or breaks the rules of a template.
    """
    path = file(phenomenon, folder)
    try:
        found = Phenomenon.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise PoshgridError(
            f"{path}: no templates for {phenomenon!r}"
            f"{did_you_mean(phenomenon, names(folder, default_only=False))}"
        ) from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
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
