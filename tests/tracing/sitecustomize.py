"""Records which functions of poshgrid a process runs; Python imports this file when it starts.

Snakemake's own process records instead which modules each digest of code stands for.
"""

import atexit
import cProfile
import importlib.abc
import importlib.util
import inspect
import json
import os
import sys
from collections import Counter
from pathlib import Path
from types import CodeType

SOURCE, LOG = Path(os.environ["TRACED_SOURCE"]), Path(os.environ["TRACED_LOG"])


profile = cProfile.Profile(builtins=False)


def write() -> None:
    """Write the command and its functions, without those that are part of an import."""
    profile.disable()
    ran = set()
    for code in at_work(profile):
        path = Path(code.co_filename)  # templates are compiled, too
        if path.suffix == ".py" and SOURCE in path.parents:
            names = path.relative_to(SOURCE).with_suffix("").parts
            ran.add(f"{'.'.join(names).removesuffix('.__init__')}:{code.co_qualname}")
    if sys.argv[1:2] == ["stage"] and ran:
        name, text = sys.argv[2:4]
        job = json.loads(Path(text[1:]).read_text() if text[0] == "@" else text)
        record = {"stage": name, "code": job["code"], "ran": sorted(ran)}
        (LOG / f"{os.getpid()}.json").write_text(json.dumps(record))


def at_work(profile: cProfile.Profile) -> set[CodeType]:
    """Return the functions that ran, except those that were only called by an import."""
    entries = {entry.code: entry for entry in profile.getstats()}
    importing = {
        code
        for code in entries
        if not isinstance(code, str) and not code.co_flags & inspect.CO_OPTIMIZED
    }  # bodies of modules and classes
    left = {code for code in entries if not isinstance(code, str)} - importing
    added = importing
    while added:
        calls = Counter[CodeType]()
        for entry in map(entries.__getitem__, importing):
            for call in entry.calls or ():
                calls[call.code] += call.callcount
        own = {
            code: sum(call.callcount for call in entries[code].calls or () if call.code is code)
            for code in left
        }
        added = {code for code in left if calls[code] == entries[code].callcount - own[code]}
        importing, left = importing | added, left - added
    return left


def record_digests() -> None:
    from poshgrid.core import fingerprint

    original = fingerprint.code

    def code(*modules: str) -> str:
        digest = original(*modules)
        with (LOG / "digests").open("a") as stream:
            stream.write(json.dumps([digest, modules]) + "\n")
        return digest

    fingerprint.code = code


LARGE = {
    "numpy": {"*"},
    "polars": {"*"},
    "torch": {"train", "untrained", "score", "perplexity", "train_parser", "parse"},
    "transformers.models.gpt2.modeling_gpt2": {"train", "untrained", "score", "perplexity"},
}
"""Library -> stages that import it: done before the profile begins, which would slow it down."""


def prepare() -> None:
    for library, stages in LARGE.items():
        if {"*", *sys.argv[2:3]} & stages:
            importlib.import_module(library)


class AfterCommandLine(importlib.abc.MetaPathFinder):
    """Begins once the command line is imported: what runs at its import is no part of a job."""

    def find_spec(self, name: str, path: object, target: object = None) -> object:
        if name != "poshgrid.cli":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module
        spec.loader.exec_module = lambda module: (execute(module), prepare(), profile.enable())
        return spec


if "snakemake" in " ".join(sys.orig_argv):
    record_digests()
else:
    sys.meta_path.insert(0, AfterCommandLine())
    atexit.register(write)
