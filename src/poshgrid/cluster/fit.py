"""Whether a cluster has a place for what a job asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from poshgrid.cluster.profile import Written, some
from poshgrid.cluster.sbatch import Kind, Request
from poshgrid.cluster.slurm import Node, Partition
from poshgrid.errors import did_you_mean
from poshgrid.planning.findings import Finding, error, ok, warning


class Problem(NamedTuple):
    """Why no place takes a request.

    Attributes:
        what: is wrong.
        resource: that is to be written otherwise; ``""``: none.
        remedy: what else helps.
        most: what there is of a resource that grows with the attempts; 0: it does not.
    """

    what: str
    resource: str = ""
    remedy: str = ""
    most: int = 0


class _Told(NamedTuple):
    """What is told once, for all the jobs of which it is true."""

    attempt: int
    what: str
    write: str
    section: str
    remedy: str


def check(
    kinds: Sequence[Kind],
    nodes: Sequence[Node],
    partitions: Mapping[str, Partition],
    written: Written,
) -> Iterator[Finding]:
    """Check each kind of job on its first and its last attempt.

    What no place has on the first attempt is an error: the job waits for ever, or is refused. On a
    later attempt it is a warning, unless the same was wrong on the first.

    Args:
        kinds: of jobs.
        nodes: of the cluster.
        partitions: of the cluster.
        written: where the profile says what they ask for.
    """
    told: dict[_Told, list[Kind]] = {}
    for kind in kinds:
        for each in _new(kind, nodes, partitions, written):
            told.setdefault(each, []).append(kind)
    for each, same in told.items():
        state = error if each.attempt == min(same[0].attempts) else warning
        told_of = some(dict.fromkeys(kind.name for kind in same))
        rules = dict.fromkeys(rule for kind in same for rule in kind.rules)
        write = f"{each.write} {written.place(each.section, rules)}" if each.write else ""
        yield state("fits", f"{told_of}, attempt {each.attempt}: {each.what}",
                    "; ".join(part for part in (write, each.remedy) if part))  # fmt: skip
    wrong = {kind.name for same in told.values() for kind in same}
    right: dict[str, list[str]] = {}
    for name, kind in {kind.name: kind for kind in kinds if kind.name not in wrong}.items():
        where = kind.first.partition or _default(partitions)
        what = f"attempts {min(kind.attempts)} to {max(kind.attempts)} in {where}"
        right.setdefault(what, []).append(name)
    for what, names in right.items():
        yield ok("fits", f"{', '.join(names)}: {what}")


def known(request: Request, partitions: Mapping[str, Partition]) -> bool:
    """Say whether there is a partition of those that are asked for."""
    return not request.partition or any(name in partitions for name in _wanted(request, partitions))


def problems(
    request: Request, nodes: Sequence[Node], partitions: Mapping[str, Partition]
) -> list[Problem]:
    """Return what is wrong with a request; nothing: it fits."""
    if request.error:
        return [Problem(f"the plug-in refuses it: {request.error}", remedy="see docs/slurm.md")]
    wanted = _wanted(request, partitions)
    if not wanted:
        return [Problem("no partition, and the cluster has no default", "slurm_partition")]
    found = []
    for name in wanted:
        if name not in partitions:
            near = did_you_mean(name, partitions).lstrip("; ")
            found.append(Problem(f"no partition {name!r}", "slurm_partition", near))
            continue
        wrong = _in_partition(request, nodes, partitions[name])
        if not wrong:
            return []  # SLURM takes the first one that will do
        found += wrong
    return found


def _new(
    kind: Kind, nodes: Sequence[Node], partitions: Mapping[str, Partition], written: Written
) -> Iterator[_Told]:
    """Yield what is wrong with each attempt and was not with an earlier one."""
    before: set[str] = set()
    for attempt in sorted(kind.attempts):
        found = problems(kind.attempts[attempt], nodes, partitions)
        for problem in found:
            if not before & {problem.what, problem.resource}:
                yield _told(problem, kind, attempt, written)
        before |= {word for each in found for word in (each.what, each.resource) if word}


def _told(problem: Problem, kind: Kind, attempt: int, written: Written) -> _Told:
    """Return what is said of a problem: the same where the same is to be written."""
    resource, most = problem.resource, problem.most
    write = f"write `{resource}`" if resource else ""
    if most and sum(kind.rules.values()) > 1:
        write = f"lower `{resource}`"  # a group's is made of those of its jobs
    elif most and attempt == min(kind.attempts):
        write = f"write `{resource}: {most}` or less"
    elif most:
        amount = kind.first.runtime if resource == "runtime" else kind.first.memory
        write = f"write `{resource}: min({amount} * attempt, {most})`"
    section = written.section(resource, kind.rules)
    return _Told(attempt, problem.what, write, section, problem.remedy)


def _in_partition(request: Request, nodes: Sequence[Node], partition: Partition) -> list[Problem]:
    found = []
    if not partition.up:
        found.append(Problem(f"partition {partition.name} is not up", "slurm_partition"))
    if request.account and (
        (partition.accounts is not None and request.account not in partition.accounts)
        or request.account in partition.denied
    ):
        what = f"partition {partition.name} does not take account {request.account}"
        if partition.accounts:
            takes = f"it takes {', '.join(partition.accounts)}"
            found.append(Problem(what, "slurm_account", takes))
        else:
            found.append(Problem(what, "slurm_partition"))
    asked, gives = int(request.runtime or 0), f"and partition {partition.name} gives"
    if partition.minutes is not None and asked > partition.minutes:
        what = f"{asked} min, {gives} {partition.minutes}"
        found.append(Problem(what, "runtime", most=partition.minutes))
    if partition.memory_mb is not None and request.memory > partition.memory_mb:
        found.append(_memory(request, f"{gives} {partition.memory_mb}", partition.memory_mb))
    return found + _on_nodes(
        request, [n for n in nodes if n.partition == partition.name], partition
    )


def _on_nodes(request: Request, nodes: Sequence[Node], partition: Partition) -> list[Problem]:
    """Return what no node of the partition has; all of it must be on one."""
    if not nodes:
        return [Problem(f"partition {partition.name} has no node", "slurm_partition")]
    able = [node for node in nodes if _holds(request, node)]
    if any(node.usable for node in able):
        return []
    if able:
        states = ", ".join(sorted({node.state for node in able}))
        what = f"all nodes of {partition.name} that could are {states}"
        return [Problem(what, remedy="ask the administrators")]
    most = f"and the nodes of {partition.name} have"
    found = []
    for (name, kind), number in request.devices.items():
        has = max(_devices(node, name, kind) for node in nodes)
        if has < number:
            spelled = f"{name}:{kind}" if kind else name
            there = sorted({f"{n}:{k}" if k else n for node in nodes for n, k in node.devices})
            remedy = f"they have {', '.join(there) or 'no generic resource'}; see sinfo -o '%P %G'"
            resource = "gres" if request.gres else "gpu"
            found.append(Problem(f"{number} {spelled}, {most} {has or 'none'}", resource, remedy))
    memory, cpus = (max(getattr(node, key) for node in nodes) for key in ("memory_mb", "cpus"))
    if request.memory > memory:
        found.append(_memory(request, f"{most} {memory}", memory))
    if int(request.cpus) > cpus:
        found.append(Problem(f"{request.cpus} CPUs, {most} {cpus}", "threads"))
    what = f"no single node of {partition.name} has all of `{request.flags}`"
    return found or [Problem(what, remedy="ask for less")]


def _memory(request: Request, has: str, most: int) -> Problem:
    if request.mem_mb_per_cpu:
        return Problem(f"{request.memory} MB, {has}", "mem_mb_per_cpu")
    return Problem(f"{request.memory} MB, {has}", "mem_mb", most=most)


def _holds(request: Request, node: Node) -> bool:
    return (
        request.memory <= node.memory_mb
        and int(request.cpus) <= node.cpus
        and all(_devices(node, *key) >= number for key, number in request.devices.items())
    )


def _devices(node: Node, name: str, kind: str) -> int:
    return sum(
        number
        for (has, its_kind), number in node.devices.items()
        if has == name and kind in ("", its_kind)
    )


def _default(partitions: Mapping[str, Partition]) -> str:
    return next((each.name for each in partitions.values() if each.default), "")


def _wanted(request: Request, partitions: Mapping[str, Partition]) -> list[str]:
    return [name for name in (request.partition or _default(partitions)).split(",") if name]
