"""ClearNLP's trees as Universal Dependencies."""

import json
import random

import pytest

from poshgrid.core.errors import PoshgridError
from poshgrid.parsing import clearnlp
from poshgrid.parsing.engines.spacy import is_mapped
from poshgrid.parsing.tree import RELATIONS, Tree
from tests.cases import read_cases
from tests.unit.evidence.trees import tree


@pytest.mark.parametrize(
    ("written", "heads", "relations"), read_cases(__file__, "clearnlp")["universal"]
)
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
