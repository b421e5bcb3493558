"""A warm process: it imports what jobs need, and forks for each that asks."""

from __future__ import annotations

import atexit
import ctypes
import functools
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from poshgrid.warm import ask

_PR_SET_PDEATHSIG = 1
_PATIENCE = 10.0
"""Seconds that a request may take to arrive."""


@dataclass
class _Job:
    """What is asked for, and its fork once that runs.

    Attributes:
        connection: to the ``poshgrid`` that asks.
        request: what it sends (:func:`poshgrid.warm.ask.ask`).
        streams: its standard input, output and error.
        pid: of the fork; 0: none yet.
    """

    connection: socket.socket
    request: dict[str, Any]
    streams: list[int]
    pid: int = 0


class Parent:
    """The warm process of one kind of jobs."""

    def __init__(self, kind: str, listener: socket.socket) -> None:
        self._standing = ask.standing(sys.path)
        self._pid, self._kind = os.getpid(), kind
        self._files: dict[str, tuple[int, int]] = {}
        self._prctl = ctypes.CDLL(None).prctl
        self._watch = selectors.DefaultSelector()
        self._listener = listener
        listener.set_inheritable(False)
        self._on(self._listener, self._asked)
        self._on(sys.stdin.fileno(), self._close)  # its other end is open while Snakemake lives
        self._jobs = 0

    def serve(self) -> _Job | None:
        """Fork for each job until Snakemake has ended; return the job, in a fork, or nothing."""
        while self._jobs or self._listener.fileno() >= 0:
            for key, _ in self._watch.select():
                if key.fd not in self._watch.get_map():
                    continue  # what came before has closed it
                job: _Job | None = key.data()
                if job is not None:
                    return job
        return None

    def _on(self, what: socket.socket | int, act: Callable[[], _Job | None]) -> None:
        self._watch.register(what, selectors.EVENT_READ, act)

    def _close(self) -> None:
        """Take no more jobs."""
        for each in (sys.stdin.fileno(), self._listener):
            with suppress(KeyError, ValueError):
                self._watch.unregister(each)
        self._listener.close()

    def _asked(self) -> None:
        """Take a request and say whether a fork would be as the one who asks is."""
        if not self._files:
            self._import()
        connection, _ = self._listener.accept()
        connection.settimeout(_PATIENCE)
        streams: list[int] = []
        try:
            head, streams, _, _ = socket.recv_fds(connection, ask.HEAD.size, 3)
            size = ask.HEAD.unpack(head)[0]
            text = b""
            while len(text) < size:
                if not (piece := connection.recv(size - len(text))):
                    raise ConnectionError
                text += piece
            request = json.loads(text)
            if not self._pristine():
                self._close()
            elif request["standing"] == self._standing:
                connection.sendall(ask.YES)
                job = _Job(connection, request, streams)
                self._on(connection, functools.partial(self._told, job))
                return
        except (OSError, ValueError, KeyError):
            pass
        connection.close()
        for stream in streams:
            os.close(stream)

    def _import(self) -> None:
        """Import what jobs of this kind need, as ``poshgrid`` itself would."""
        from poshgrid import logs

        logs.setup(verbose=bool(os.environ.get("POSHGRID_DEBUG")))
        for name in ask.KINDS[self._kind]:
            importlib.import_module(name)
        importlib.import_module("poshgrid.cli").command()
        self._files = _ours()
        gc.collect()
        gc.freeze()  # pages that a fork's garbage collector would otherwise copy

    def _pristine(self) -> bool:
        """Say whether a fork would be as a new process: one thread, no GPU, today's code."""
        threads = len(os.listdir("/proc/self/task"))  # noqa: PTH208
        return threads == 1 and not _has_gpu() and _ours() == self._files

    def _told(self, job: _Job) -> _Job | None:
        """Do what ``poshgrid`` says: go, or a signal; at its end, kill the fork."""
        try:
            said = job.connection.recv(64)
        except OSError:
            said = b""
        if not said:
            self._watch.unregister(job.connection)
            job.connection.close()
            if job.pid:
                _signal(job.pid, signal.SIGKILL)
            else:
                _close_all(job.streams)
            return None
        for number in said:
            if number:
                _signal(job.pid, number)
            elif self._fork(job):
                return job
        return None

    def _fork(self, job: _Job) -> bool:
        """Fork; say whether this is the fork."""
        job.pid = os.fork()
        if not job.pid:
            for key in list(self._watch.get_map().values()):
                if isinstance(key.fileobj, int):
                    os.close(key.fileobj)
                elif isinstance(key.fileobj, socket.socket) and key.fileobj is not job.connection:
                    key.fileobj.close()
            self._watch.close()
            self._become(job)
            return True
        with suppress(OSError):  # it has done so itself
            os.setpgid(job.pid, job.pid)
        _close_all(job.streams)
        handle = os.pidfd_open(job.pid)
        self._jobs += 1
        self._on(handle, functools.partial(self._ended, job, handle))
        return False

    def _ended(self, job: _Job, handle: int) -> None:
        """Tell ``poshgrid`` how the fork has ended."""
        _, status = os.waitpid(job.pid, 0)
        self._watch.unregister(handle)
        os.close(handle)
        self._jobs -= 1
        if job.connection.fileno() >= 0:
            with suppress(OSError):
                job.connection.sendall(ask.STATUS.pack(status))
            self._watch.unregister(job.connection)
            job.connection.close()

    def _become(self, job: _Job) -> None:
        """Make of a fork what ``poshgrid`` would have been."""
        os.setpgid(0, 0)
        self._prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != self._pid:
            os._exit(1)
        for number, stream in enumerate(job.streams):
            os.dup2(stream, number)
        _close_all(job.streams)
        sys.stdout.reconfigure(line_buffering=sys.stdout.isatty())  # type: ignore[union-attr]
        os.chdir(job.request["cwd"])
        for name, value in job.request["own"].items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        tempfile.tempdir = None
        sys.executable = job.request["executable"]
        sys.argv[:] = job.request["argv"]
        sys.path[:] = job.request["path"]
        # Python draws the state of its own generator anew after a fork
        if "numpy.random" in sys.modules:
            sys.modules["numpy.random"].seed()
        if "torch" in sys.modules:
            sys.modules["torch"].default_generator.seed()


def _ours() -> dict[str, tuple[int, int]]:
    """Return the files of our own modules that are imported, with their times and sizes."""
    found = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and name.partition(".")[0] == "poshgrid":
            with suppress(OSError):
                told = os.stat(file)  # noqa: PTH116
                found[file] = told.st_mtime_ns, told.st_size
    return found


def _has_gpu() -> bool:
    """Say whether this process has opened a GPU, which its forks could not use."""
    found = []
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208
        with suppress(OSError):  # that of the folder itself
            found.append(os.readlink(f"/proc/self/fd/{name}"))  # noqa: PTH115
    return any(path.startswith(("/dev/nvidia", "/dev/kfd")) for path in found)


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, number)


def _close_all(streams: list[int]) -> None:
    for stream in streams:
        os.close(stream)


def _leave(ended: list[int]) -> None:
    """End a fork whose command has ended, as the last thing that its interpreter would do.

    To take torch apart, object by object, takes that interpreter four tenths of a second.
    """
    if ended:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):
                return  # the interpreter says so at its end
        os._exit(ended[0])


if __name__ == "__main__":
    ended: list[int] = []
    atexit.register(_leave, ended)  # the first that is registered is called last
    # Kept to the end: when the connection closes, `poshgrid` knows that nobody is left who writes.
    job = Parent(sys.argv[1], socket.socket(fileno=int(sys.argv[2]))).serve()
    if job:
        from poshgrid import cli

        try:
            cli.main()
        except SystemExit as left:
            if not isinstance(left.code, int | None):
                raise
            ended.append(left.code or 0)
            raise
        ended.append(0)
