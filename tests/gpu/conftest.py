"""The toy condition that the tests of training share."""

from tests.unit.models.training.conftest import distances, inputs

__all__ = ["distances", "inputs"]
