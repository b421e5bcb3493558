"""A real SLURM on one machine: a controller, virtual nodes and munge in a folder of their own.

The daemons listen on the loopback only. Nodes are virtual: each is told its processors, memory and
GPUs, and nothing binds or confines its jobs (no cgroups, no systemd). GPUs are copies of /dev/null.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

DAEMONS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol")
LINK = Path("/etc/slurm/slurm.conf")
"""Where SLURM looks for its configuration: job steps drop SLURM_CONF from their environment."""

_CONF = Path(__file__).with_name("slurm.conf.in")


def unavailable() -> str | None:
    """Return why there can be no cluster here; ``None``: there can be one."""
    missing = [name for name in DAEMONS if shutil.which(name) is None]
    if missing:
        return f"no {', '.join(missing)}: install slurm-wlm and munge"
    if os.geteuid() != 0:
        return "the daemons need root"
    if LINK.exists() and not _ours(LINK):
        return f"{LINK} belongs to a SLURM of this machine"
    return None


class Cluster:
    """One SLURM; start it, use :attr:`environment`, stop it."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder).resolve()
        self.nodes = [f"n{i + 1}" for i in range(5)]

    @property
    def environment(self) -> dict[str, str]:
        """The environment of commands that talk to the cluster."""
        return {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}

    def run(self, *command: str, timeout: float = 60) -> str:
        """Run a command of SLURM's; return what it prints."""
        done = subprocess.run(
            command, check=False, env=self.environment, capture_output=True, text=True,
            timeout=timeout,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
        return done.stdout

    def start(self) -> None:
        """Write the configuration and start munge, the controller and the nodes."""
        for name in ("log", "state", "munge"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o755)
        self._munge()
        self._configure()
        subprocess.run(["slurmctld"], env=self.environment, check=True, capture_output=True)
        _wait("slurmctld answers", lambda: "UP" in self.run("scontrol", "ping"))
        for node in self.nodes:
            (self.folder / f"spool.{node}").mkdir(exist_ok=True)
            slurmd = ["slurmd", "-N", node, "-f", str(self.folder / "slurm.conf")]
            subprocess.run(slurmd, env=self.environment, check=True, capture_output=True)
        _wait("the nodes are idle", self._idle)

    def revive(self, node: str) -> bool:
        """Bring a node that is down back; return whether it is."""
        with contextlib.suppress(RuntimeError):  # a node that has come back by itself
            self.run("scontrol", "update", f"nodename={node}", "state=resume")
        return "down" not in self.run("sinfo", "-h", "-n", node, "-o", "%T")

    def queue(self) -> list[dict[str, str]]:
        """Return the jobs in the queue: id, name, state, partition, comment."""
        fields = ("id", "name", "state", "partition", "comment")
        text = self.run("squeue", "-h", "-o", "%i|%j|%T|%P|%k")
        rows = (line.split("|", 4) for line in text.splitlines())
        return [dict(zip(fields, row, strict=True)) for row in rows]

    def stop(self) -> None:
        """Cancel all jobs and end every daemon that this cluster has started."""
        if (self.folder / "slurm.conf").exists():
            with contextlib.suppress(RuntimeError):
                self.run("scancel", "--user=root")
            time.sleep(1)
        for node in self.nodes:
            _end(self.folder / f"slurmd.{node}.pid")
        _end(self.folder / "slurmctld.pid")
        _end(self.folder / "munge" / "pid")
        if _ours(LINK):
            LINK.unlink()
            LINK.with_name("gres.conf").unlink(missing_ok=True)

    def _munge(self) -> None:
        folder = self.folder / "munge"
        key = folder / "key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(1024))
        folder.chmod(0o711)
        subprocess.run(
            ["munged", "--force", f"--key-file={key}", f"--socket={folder}/socket",
             f"--pid-file={folder}/pid", f"--log-file={folder}/log", f"--seed-file={folder}/seed"],
            check=True, capture_output=True,
        )  # fmt: skip
        _wait("munge answers", (folder / "socket").exists)

    def _configure(self) -> None:
        host = socket.gethostname().split(".")[0]
        controller, *ports = _free_ports(1 + len(self.nodes))
        device = self.folder / "gpu"
        os.mknod(device, 0o20666, os.makedev(1, 3))  # a copy of /dev/null
        nodes = "\n".join(
            f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2"
            " RealMemory=64000 Gres=gpu:1 State=UNKNOWN"
            for node, port in zip(self.nodes, ports, strict=True)
        )
        gres = "AutoDetect=off\n" + "".join(
            f"NodeName={node} Name=gpu File={device}\n" for node in self.nodes
        )
        values = {
            "host": host, "folder": self.folder, "controller_port": controller, "nodes": nodes,
            "many": ",".join(self.nodes[:-1]), "last": self.nodes[-1],
        }  # fmt: skip
        text = _CONF.read_text(encoding="utf-8").format_map(values)
        (self.folder / "slurm.conf").write_text(text)
        (self.folder / "gres.conf").write_text(gres)
        LINK.parent.mkdir(parents=True, exist_ok=True)
        for name in ("slurm.conf", "gres.conf"):
            link = LINK.with_name(name)
            link.unlink(missing_ok=True)
            link.symlink_to(self.folder / name)

    def _idle(self) -> bool:
        return set(self.run("sinfo", "-h", "-N", "-o", "%T").split()) == {"idle"}


def _ours(link: Path) -> bool:
    """Say whether a link of the configuration was set by a cluster of this kind."""
    return link.is_symlink() and (link.resolve().parent / "munge").is_dir()


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for free in sockets:
            free.bind(("127.0.0.1", 0))
        return [free.getsockname()[1] for free in sockets]
    finally:
        for free in sockets:
            free.close()


def _end(pid_file: Path) -> None:
    """End the process of a pid file, and wait for that."""
    try:
        pid = int(pid_file.read_text())
        os.kill(pid, signal.SIGTERM)
    except (FileNotFoundError, ValueError, ProcessLookupError):
        return
    _wait(f"{pid_file} ends", lambda: not Path(f"/proc/{pid}").exists())
    pid_file.unlink(missing_ok=True)


def _wait(what: str, ready: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            if ready():
                return
        except RuntimeError:
            pass
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not within {seconds:.0f} s")
        time.sleep(0.2)
