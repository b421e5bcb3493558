"""Solve integer programs with CBC, with which PuLP communicates through temporary files.

If CBC could not write its file, there is no solution: a full temporary folder must not look like an
infeasible program, nor like one whose remaining variables are zero.
"""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

from poshgrid.core.errors import PoshgridError

if TYPE_CHECKING:
    import pulp

_LOOSE = 0.1
"""Largest violation of a constraint: far above CBC's tolerance, below a count of one."""


def solve(program: pulp.LpProblem, **options: float) -> int:
    """Solve an integer program with one thread; the same program has the same solution.

    Args:
        program: the program; its variables get their values.
        options: options of :class:`pulp.PULP_CBC_CMD`: ``gapRel``, ``gapAbs``, ``maxNodes``.

    Returns:
        PuLP's status; the program's ``sol_status`` says whether there is a solution.

    Raises:
        PoshgridError: the solver failed; the message says if the temporary folder is full.
    """
    import pulp

    folder = tempfile.gettempdir()
    remedy = f"make room in {folder} or set TMPDIR to another folder, then run again; or report it"
    try:
        status = program.solve(pulp.PULP_CBC_CMD(msg=False, threads=1, **options))
    except (pulp.PulpSolverError, OSError, IndexError, ValueError) as error:  # a file is incomplete
        raise PoshgridError(
            f"{folder}: CBC, the solver, could not write {program.name} or its solution here "
            f"({error}); {remedy}"
        ) from error
    solved = program.sol_status in {pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible}
    if status == pulp.LpStatusUndefined or (solved and not program.valid(_LOOSE)):
        raise PoshgridError(
            f"{folder}: CBC, the solver, wrote no complete solution of {program.name}; {remedy}"
        )
    return int(status)
