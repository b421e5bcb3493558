"""Templates: faults are refused with their place, Table 13 is there, nonsense is not taken."""

import os
import re

import pytest

from poshgrid.benchmark.generation import templates
from poshgrid.core.errors import PoshgridError
from tests.cases import read_cases
from tests.unit.benchmark.generated import WORDS

CASES = read_cases(__file__, "templates")

GOOD = """
category: c
phenomenon: p
contrast: wh-word
templates:
  - name: one
    good: "the {noun} {verb:past} {self}."
    bad: "the {noun} {verb} {self}."
    slots:
      noun: {category: noun, where: {gender: [m|f]}, agree: {gender: self.roles}}
      verb: {category: verb, without: {frames: [that]}, distinct: [base, past]}
      self: {category: function, where: {roles: [reflexive]}, balanced: true, frequent: false}
"""


def read(phenomenon, folder=templates.TEMPLATES):
    return templates.read(phenomenon, folder)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    CASES["a_faulty_template_is_refused"],
)
def test_a_faulty_template_is_refused(tmp_path, old, new, message):
    path = tmp_path / "p.yaml"
    path.write_text(GOOD)
    assert read("p", tmp_path).templates[0].forms("verb") == ["past", "base"]
    path.write_text(GOOD.replace(old, new, 1))
    os.utime(path, (0, 0))  # written in the same tick
    with pytest.raises(PoshgridError, match=rf"p\.yaml.*{re.escape(message)}") as error:
        read("p", tmp_path)
    assert "\n" not in str(error.value)


# ---- Table 13 -----------------------------------------------------------------------------------

# Slots are written by their category.
SHORT = {
    "auxiliary": "AUX", "determiner": "DET", "function": "F", "verb": "V", "noun": "N",
    "adjective": "A", "name": "NAME",
}  # fmt: skip


def skeleton(template, member):
    """Write a member with its slots' categories in the place of their names."""
    return re.sub(
        r"\{(\w+)((?::\w+)?)\}", lambda m: SHORT[template.slots[m[1]].category] + m[2], member
    )


@pytest.mark.parametrize("row", read_cases(__file__, "table13"))
def test_every_template_of_table_13_is_there(row):
    every = [t for name in templates.names(templates.TEMPLATES) for t in read(name).templates]
    assert tuple(row) in [(skeleton(t, t.bad), skeleton(t, t.good)) for t in every]


# ---- what fits ------------------------------------------------------------------------------


@pytest.mark.parametrize(("named", "sense", "nonsense"), CASES["sense"])
def test_slots_take_sense_and_no_nonsense(named, sense, nonsense):
    phenomenon, name, slot = named.split()
    (template,) = (t for t in read(phenomenon).templates if t.name == name)
    lemmas = {word.lemma for word in template.slots[slot].suitable(WORDS)}
    assert set(sense.split()) <= lemmas
    assert not set(nonsense.split()) & lemmas
