"""What tests of commands share: a module's fixture ``ask`` runs its command."""

import pytest


@pytest.fixture
def shown(ask):
    """The text that is printed."""

    def run(*arguments, **options):
        answer = ask(*arguments, **options)
        assert answer.exception is None, answer.exception
        return answer.stdout

    return run
