"""What tests of commands share: a module's fixture ``ask`` runs its command."""

import pytest

from poshgrid.errors import PoshgridError


@pytest.fixture
def shown(ask):
    """The text that is printed."""

    def run(*arguments, **options):
        answer = ask(*arguments, **options)
        assert answer.exception is None, answer.exception
        return answer.stdout

    return run


@pytest.fixture
def refused(ask):
    """The one line of an error."""

    def run(*arguments, **options):
        answer = ask(*arguments, **options)
        assert isinstance(answer.exception, PoshgridError), answer.output
        assert answer.stdout == ""
        assert "\n" not in str(answer.exception)
        return str(answer.exception)

    return run
