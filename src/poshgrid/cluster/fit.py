"""Whether a cluster has a place for what a job asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from poshgrid.cluster.findings import Finding, error, ok, warning
from poshgrid.cluster.sbatch import Kind, Request
from poshgrid.cluster.slurm import Node, Partition
from poshgrid.errors import did_you_mean


def check(
    kinds: Sequence[Kind], nodes: Sequence[Node], partitions: Mapping[str, Partition]
) -> Iterator[Finding]:
    """Check each kind of job on its first and its last attempt.

    What no place has on the first attempt is an error: the job waits for ever, or is refused. On a
    later attempt it is a warning.
    """
    for name, same in _by_name(kinds):
        said: list[Finding] = []
        attempts = sorted({number for kind in same for number in kind.attempts})
        for attempt in attempts:
            state = error if attempt == attempts[0] else warning
            again = attempt == attempts[-1] and len(attempts) > 1
            for kind in same:
                request = kind.attempts[attempt]
                for what, remedy in problems(request, nodes, partitions, again=again):
                    finding = state("fits", f"{name}, attempt {attempt}: {what}", remedy)
                    if finding not in said:
                        said.append(finding)
        yield from said
        if not said:
            first = same[0].attempts[attempts[0]]
            where = first.partition or _default(partitions)
            yield ok("fits", f"{name}: attempts {attempts[0]} to {attempts[-1]} in {where}")


def problems(
    request: Request,
    nodes: Sequence[Node],
    partitions: Mapping[str, Partition],
    *,
    again: bool = False,
) -> list[tuple[str, str]]:
    """Return what is wrong with a request, each with its remedy; nothing: it fits.

    Args:
        request: of one attempt.
        nodes: of the cluster.
        partitions: of the cluster.
        again: whether it is that of a last attempt, which has grown.
    """
    if request.error:
        return [(f"the plug-in refuses it: {request.error}", "see docs/slurm.md")]
    wanted = [name for name in (request.partition or _default(partitions)).split(",") if name]
    if not wanted:
        return [("no partition, and the cluster has no default", "write `slurm_partition`")]
    found = []
    for name in wanted:
        if name not in partitions:
            found.append((f"no partition {name!r}", did_you_mean(name, partitions).lstrip("; ")))
            continue
        wrong = _in_partition(request, nodes, partitions[name], again=again)
        if not wrong:
            return []  # SLURM takes the first one that will do
        found += wrong
    return found


def _in_partition(
    request: Request, nodes: Sequence[Node], partition: Partition, *, again: bool
) -> list[tuple[str, str]]:
    found = []
    if not partition.up:
        found.append((f"partition {partition.name} is not up", "choose another"))
    if request.account and (
        (partition.accounts is not None and request.account not in partition.accounts)
        or request.account in partition.denied
    ):
        allowed = ", ".join(partition.accounts or ())
        found.append(
            (
                f"partition {partition.name} does not take account {request.account}",
                f"it takes {allowed}" if allowed else "choose another",
            )
        )
    asked = int(request.runtime or 0)
    if partition.minutes is not None and asked > partition.minutes:
        capped = f"cap it, as in `runtime: min(60 * attempt, {partition.minutes})`"
        remedy = capped if again else f"ask for {partition.minutes} at most"
        found.append(
            (f"{asked} min, and partition {partition.name} gives {partition.minutes}", remedy)
        )
    if partition.memory_mb is not None and request.memory > partition.memory_mb:
        found.append(
            (
                f"{request.memory} MB, and partition {partition.name} gives {partition.memory_mb}",
                "lower mem_mb",
            )
        )
    return found + _on_nodes(
        request, [n for n in nodes if n.partition == partition.name], partition
    )


def _on_nodes(
    request: Request, nodes: Sequence[Node], partition: Partition
) -> list[tuple[str, str]]:
    """Return what no node of the partition has; all of it must be on one."""
    if not nodes:
        return [(f"partition {partition.name} has no node", "choose another")]
    able = [node for node in nodes if _holds(request, node)]
    if any(node.usable for node in able):
        return []
    if able:
        states = ", ".join(sorted({node.state for node in able}))
        return [
            (f"all nodes of {partition.name} that could are {states}", "ask the administrators")
        ]
    most = f"the nodes of {partition.name} have"
    found = []
    for (name, kind), number in request.devices.items():
        has = max(_devices(node, name, kind) for node in nodes)
        if has < number:
            spelled = f"{name}:{kind}" if kind else name
            there = sorted({f"{n}:{k}" if k else n for node in nodes for n, k in node.devices})
            found.append(
                (
                    f"{number} {spelled}, and {most} {has or 'none'}",
                    f"they have {', '.join(there) or 'no generic resource'}; see sinfo -o '%P %G'",
                )
            )
    if request.memory > max(node.memory_mb for node in nodes):
        has = max(node.memory_mb for node in nodes)
        found.append((f"{request.memory} MB, and {most} {has}", "lower mem_mb, or cap its growth"))
    if int(request.cpus) > max(node.cpus for node in nodes):
        has = max(node.cpus for node in nodes)
        found.append((f"{request.cpus} CPUs, and {most} {has}", "lower the threads"))
    return found or [
        (f"no single node of {partition.name} has all of `{request.flags}`", "ask for less")
    ]


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


def _by_name(kinds: Iterable[Kind]) -> list[tuple[str, list[Kind]]]:
    found: dict[str, list[Kind]] = {}
    for kind in kinds:
        found.setdefault(kind.name, []).append(kind)
    return list(found.items())
