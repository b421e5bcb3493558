"""The toy grammar: trees are trees, text is restored, constructions come as often as asked."""

from __future__ import annotations

import itertools
import re
from collections import Counter

import pytest
import yaml

from poshgrid import resources
from poshgrid.corpora import toy

REGISTERS = ("baby", "wiki")
N = 8_000


@pytest.fixture(scope="module", params=REGISTERS)
def sample(request):
    return request.param, list(itertools.islice(toy.sentences(request.param, 7), N))


def test_every_tree_has_one_root_and_no_cycle(sample):
    for s in sample[1]:
        assert [t.deprel for t in s.tokens if t.head == 0] == ["root"], s.text
        for number in range(1, len(s.tokens) + 1):
            seen, at = set(), number
            while at:
                assert at not in seen, s.text
                seen.add(at)
                at = s.tokens[at - 1].head


def test_text_is_what_the_tokens_say(sample):
    for s in sample[1]:
        again = "".join(t.form + " " * t.space_after for t in s.tokens)
        assert again == s.text
        assert re.fullmatch(r"[A-Z][A-Za-z' ,]*[.?!]", s.text), s.text
        assert "  " not in s.text


def test_constructions_come_in_the_proportions_of_the_grammar_file(sample):
    register, sentences = sample
    given = yaml.safe_load(resources.path("toy", "grammar.yaml").read_text(encoding="utf-8"))
    weights = given["registers"][register]
    found = Counter(s.construction for s in sentences)
    assert set(found) <= set(weights)
    for name, weight in weights.items():
        share = weight / sum(weights.values())
        tolerance = 4 * (share * (1 - share) / N) ** 0.5
        assert abs(found[name] / N - share) <= tolerance, name


def test_reflexives_agree_with_their_binder(sample):
    lexicon = yaml.safe_load(resources.path("toy", "lexicon.yaml").read_text(encoding="utf-8"))
    persons = lexicon["nouns"]["person"]
    allowed = {
        "himself": {*persons["m"], *lexicon["names"]["m"], "he"},
        "herself": {*persons["f"], *lexicon["names"]["f"], "she"},
        "itself": {*lexicon["nouns"]["animal"]},
    }
    seen = Counter()
    for s in sample[1]:
        for t in s.tokens:
            if t.form in allowed:
                subject = next(x for x in s.tokens if x.head == t.head and x.deprel == "nsubj")
                assert subject.lemma in allowed[t.form], s.text
                seen[t.form] += 1
    assert len(seen) == 3


def test_verbs_agree_with_their_subjects(sample):
    """An independent check: a finite present verb ends in -s exactly with third person singular."""
    for s in sample[1]:
        for t in s.tokens:
            if t.deprel != "nsubj":
                continue
            verb = s.tokens[t.head - 1]
            has_aux = any(x.head == t.head and x.deprel.startswith("aux") for x in s.tokens)
            relative = "PronType=Rel" in t.feats or "PronType=Int" in t.feats
            joined = any(x.deprel == "conj" and s.tokens[x.head - 1] is t for x in s.tokens)
            if has_aux or relative or verb.xpos not in {"VBZ", "VBP"}:
                continue
            plural = joined or "Number=Plur" in t.feats or t.form.lower() in {"i", "you"}
            assert (verb.xpos == "VBP") == plural, s.text
