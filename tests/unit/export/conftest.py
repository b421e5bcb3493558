from tests.unit.analysis.conftest import opened, paths

__all__ = ["opened", "paths"]
