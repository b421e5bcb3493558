"""Conditions of ready files: taken as they are, and refused where they are not what they say."""

import pytest

from poshgrid.config.runs import SPLITS
from poshgrid.corpora import listing
from poshgrid.errors import PoshgridError
from poshgrid.evidence import prebuilt
from tests.unit.evidence.condition_support import read, spec

READY = spec("10M", name="baby-f", prebuilt="x")


def build(folder, output):
    """Build a condition of files of a few words that are called 10M."""
    return prebuilt.build(READY, folder, output, ["size"])


def test_ready_files_are_taken_as_they_are(tmp_path):
    texts = {"train": "Is it ?\n\n the boy  left\n", "dev": "One two three.\n", "test": "Café\n"}
    for split, text in texts.items():
        (tmp_path / f"{split}.txt").write_text(text, encoding="utf-8")
    facts = build(tmp_path, tmp_path / "out")
    splits = read(tmp_path / "out")
    assert splits["train"]["text"].to_list() == ["Is it ?", "the boy  left"]
    assert splits["train"]["n_words"].to_list() == [3, 3]
    assert [splits[s]["sent_id"].to_list() for s in SPLITS] == [[0, 1], [2], [3]]
    train = {"sentences": 2, "words": 6, "words_per_sentence": 3.0}
    assert facts["splits"]["train"] == {**train, "sources": {"baby-f": train}}
    # Another that trains on the same sentences has the same digest
    (tmp_path / "test.txt").write_text("Yes.\n", encoding="utf-8")
    assert build(tmp_path, tmp_path / "test")["digest"] == facts["digest"]
    (tmp_path / "train.txt").write_text("Is it ?\n", encoding="utf-8")
    assert build(tmp_path, tmp_path / "train")["digest"] != facts["digest"]
    (tmp_path / "dev.txt").write_text("\n \n", encoding="utf-8")
    with pytest.raises(PoshgridError, match=r"dev\.txt: no sentence"):
        build(tmp_path, tmp_path / "empty")
    (tmp_path / "dev.txt").unlink()
    with pytest.raises(PoshgridError, match=r"dev\.txt: not found"):
        build(tmp_path, tmp_path / "none")


def test_ready_files_lie_in_folders_of_their_splits_too(tmp_path):
    """As the corpora of POSH-BENCH do: 10Mf/train/10Mf.txt."""
    assert listing.ready_place("baby/{size}f", "10M") == "baby/10Mf"
    assert listing.ready_place("baby", "10M") == "baby/10M"
    for split in SPLITS:
        (tmp_path / split).mkdir(parents=True)
        (tmp_path / split / "10Mf.txt").write_text(f"The {split} .\n", encoding="utf-8")
    build(tmp_path, tmp_path / "out")
    splits = read(tmp_path / "out")
    assert [splits[s]["text"].to_list() for s in SPLITS] == [[f"The {s} ."] for s in SPLITS]
    (tmp_path / "dev" / "other.txt").write_text("Which?\n", encoding="utf-8")
    with pytest.raises(PoshgridError, match=r"dev\.txt: not found"):
        build(tmp_path, tmp_path / "two")
