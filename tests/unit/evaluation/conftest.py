"""A tiny causal model that the tests of scoring share."""

import shutil

import pytest

from tests.unit.models.tiny_causal import gpt2, tokenizer


@pytest.fixture(scope="package")
def folder(tmp_path_factory):
    """A tiny model of random weights with its tokenizer."""
    folder = tmp_path_factory.mktemp("model")
    gpt2(folder)
    tokenizer(folder)
    return folder


@pytest.fixture
def copy(folder, tmp_path):
    """A copy of the tiny model, to be spoilt."""
    return shutil.copytree(folder, tmp_path / "model")
