"""Gold trees of real treebanks, and a made-up corpus, which several tests read."""

import re

import pytest

from poshgrid.parsing import treebank
from tests.unit.evidence.condition_support import make


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    return make(tmp_path_factory.mktemp("base"), rows=3_000)


@pytest.fixture(scope="session")
def gold(shared):
    """Treebank -> ``FILE:sent_id`` -> tree; a file goes by its first word, such as Abe or train."""
    trees = {"childes": {}, "ewt": {}}
    for name, of_name in trees.items():
        for path in sorted((shared / "treebanks" / name).glob("*.conllu")):
            text = path.read_text(encoding="utf-8")
            ids = re.findall(r"^# sent_id = (\S+)", text, re.MULTILINE)
            file = path.stem.split("_")[0]
            keys = [f"{file}:{sent_id}" for sent_id in ids]
            of_name.update(zip(keys, treebank.trees(path), strict=True))
    if not trees["childes"] or not trees["ewt"]:
        pytest.skip("gold treebanks are absent: put them into treebanks of POSHGRID_SHARED")
    return trees
