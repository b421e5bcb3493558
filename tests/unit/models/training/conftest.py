"""A toy condition, and runs on it, that the tests of training share."""

import pytest

from poshgrid.models.training.train import train
from tests.unit.models.training.training_support import corpus, plant, recipe, train_spec


@pytest.fixture(scope="session")
def inputs(tmp_path_factory):
    """Folders of tokens and tokenizer."""
    return corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="session")
def distances(inputs):
    """The folder of distances in trees of its sentences."""
    return plant(inputs[0].parent)


@pytest.fixture(scope="session")
def job(inputs, tmp_path_factory):
    """Train in fresh folders; returns the model's folder."""

    def run(spec):
        folder = tmp_path_factory.mktemp("run")
        train(spec, *inputs, folder / "checkpoints", folder / "model")
        return folder / "model"

    return run


@pytest.fixture(scope="session")
def whole(job):
    """A run that nothing interrupted."""
    return job(train_spec(recipe()))
