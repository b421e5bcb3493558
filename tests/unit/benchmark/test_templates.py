"""Templates: faults are refused with their place, Table 13 is there, nonsense is not taken."""

from __future__ import annotations

import os
import re

import pytest

from poshgrid.benchmark.generation import templatefile, templates
from poshgrid.errors import PoshgridError
from tests.cases import read_cases
from tests.unit.benchmark.generated import WORDS

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
    return templatefile.read(templates.Phenomenon, phenomenon, folder)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{self}.", "{them}.", "slot 'them'"),
        ("      self:", "      other: {category: name}\n      self:", "slot 'other'"),
        ("verb:past", "verb:pst", "slot 'verb' has no form 'pst'"),
        ("gender: [m|f]", "gender: [m|x]", "unknown gender 'x'"),
        ("self.roles", "self.rolls", "slot 'noun': no 'rolls'"),
        ("distinct: [base", "distinct: [bas", "unknown form 'bas'"),
        ("phenomenon: p", "phenomenon: q", "phenomenon"),
        ("category: c", "category: [", "not YAML"),
    ],
)
def test_a_faulty_template_is_refused(tmp_path, old, new, message):
    path = tmp_path / "p.yaml"
    path.write_text(GOOD)
    assert read("p", tmp_path).templates[0].forms("verb") == [
        "past",
        "base",
    ]
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


def ours():
    for name in templatefile.names(templates.TEMPLATES):
        for template in templatefile.read(
            templates.Phenomenon, name, templates.TEMPLATES
        ).templates:
            yield name, template


def skeleton(template, member):
    """Write a member with its slots' categories in the place of their names."""
    return re.sub(
        r"\{(\w+)((?::\w+)?)\}", lambda m: SHORT[template.slots[m[1]].category] + m[2], member
    )


@pytest.mark.parametrize("row", read_cases(__file__, "table13"))
def test_every_template_of_table_13_is_there(row):
    found = [(skeleton(t, t.bad), skeleton(t, t.good)) for _, t in ours()]
    assert tuple(row) in found


# ---- what fits ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "sense", "nonsense"),
    [
        # a question reaches out of what is said or known, not out of what is seen or found
        ("island-wh who verb", {"say", "know", "hear", "guess"}, {"see", "find", "think", "ask"}),
        ("principle-a-command possessor head", {"mother", "son"}, {"king", "teacher", "baby"}),
        ("island-adjunct who verb", {"carry", "thank"}, {"show", "like", "know", "help", "paint"}),
        ("wanna intransitive-name verb", {"go", "sleep"}, {"fall", "cry", "eat", "run", "succeed"}),
        ("wanna transitive adjective", {"happy", "tall"}, {"broken", "empty", "wet"}),
    ],
)  # fmt: skip
def test_slots_take_sense_and_no_nonsense(place, sense, nonsense):
    phenomenon, name, slot = place.split()
    (template,) = (t for t in read(phenomenon).templates if t.name == name)
    lemmas = {word.lemma for word in template.slots[slot].suitable(WORDS)}
    assert sense <= lemmas
    assert not nonsense & lemmas
