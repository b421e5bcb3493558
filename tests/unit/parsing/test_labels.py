"""Which labels are Universal Dependencies'."""

from __future__ import annotations

from poshgrid.parsing import labels

STOCK = (
    "ROOT acl acomp advcl advmod agent amod appos attr aux auxpass case cc ccomp compound conj "
    "csubj csubjpass dative dep det dobj expl intj mark meta neg nmod npadvmod nsubj nsubjpass "
    "nummod oprd parataxis pcomp pobj poss preconj predet prep prt punct quantmod relcl xcomp"
)
"""The labels of spaCy's stock English pipelines."""


def test_the_universal_relations():
    assert len(labels.RELATIONS) == 37
    assert {"nsubj", "obl", "clf", "reparandum", "root"} <= labels.RELATIONS
    # relations of the first version of UD, and subtypes
    assert not {"dobj", "auxpass", "neg", "mwe", "nsubj:pass"} & labels.RELATIONS


def test_labels_of_another_scheme_are_told():
    assert labels.foreign(["nsubj", "acl:relcl", "nsubj:whatever", "root"]) == []
    assert labels.foreign(["relcl", "dobj", "nsubj", "dobj:x"]) == ["dobj", "dobj:x", "relcl"]
    strange = labels.foreign(STOCK.split())
    assert {"nsubjpass", "dobj", "pobj", "prep", "relcl", "attr"} <= set(strange)
    assert {"nsubj", "ccomp", "case"} & set(strange) == set()
