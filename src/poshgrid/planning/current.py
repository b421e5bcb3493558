"""Decide by their manifests which results are up to date if Snakemake has no record of them.

Snakemake keeps its records in ``.snakemake/`` of the working folder. It has no record, or an old
one, of results that were made from another folder, that were copied, or whose job outlived its
Snakemake, and it takes these for up to date. The manifest of a result has the spec, the code and
the digests of the inputs that it was made with. So before Snakemake decides what to run, each such
manifest is compared with its job. If both agree, Snakemake gets the record that it would have
written itself. If not, it gets a record of how the result was made, and runs the job again.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from poshgrid.core import lock, verification
from poshgrid.core.errors import PoshgridError
from poshgrid.core.verification import MANIFEST

SPEC, CODE, INPUTS, NO_MANIFEST = "spec", "code", "inputs", "no manifest"
"""Differences between a result and its job."""
LONG_JOBS: dict[str, str] = {}
"""``@FILE`` -> the long job in that file; needed because a dry-run writes no files."""


def check_folder(results: str) -> None:
    """Raise if there cannot be a results folder of this name.

    Raises:
        PoshgridError: a file has the name of the results folder, or of a folder above.
    """
    folder = next(
        path for path in (Path(results), *Path(results).absolute().parents) if path.exists()
    )
    if not folder.is_dir():
        raise PoshgridError(
            f"results: {results}: {folder} is a file; name a folder (--config results=FOLDER)"
        )


def attach(workflow: Any, results: str) -> None:  # noqa: ANN401 - Snakemake's
    """Let manifests decide what runs, and allow only one workflow at a time on the results.

    Both happen in Snakemake's main process, not in the processes of its jobs.

    Args:
        workflow: Snakemake's workflow, while it reads the Snakefile.
        results: the results folder.

    Raises:
        PoshgridError: a file has the name of the results folder, or of a folder above.
    """
    check_folder(results)
    build = workflow._build_dag  # at this point records can be read, and nothing has run yet

    def build_dag() -> None:
        runs = workflow.executor_plugin is not None and not workflow.dryrun
        if runs:
            try:
                lock.own(Path(results))
            except PoshgridError as error:
                sys.stderr.write(f"error: {error}\n")
                sys.exit(1)
        decide = workflow.dag.update_needrun

        async def update_needrun(*, create_inventory: bool = False) -> None:
            if create_inventory:  # the first time, with all jobs
                await workflow.iocache.mtime_inventory(workflow.dag.jobs)
                _restore(workflow, results, write=runs and not workflow.touch)
            await decide(create_inventory=create_inventory)

        workflow.dag.update_needrun = update_needrun
        build()

    if workflow.is_main_process:
        workflow._build_dag = build_dag


def _restore(workflow: Any, results: str, *, write: bool) -> None:  # noqa: ANN401
    """Give Snakemake records of the results without one, and print which jobs run again.

    Args:
        workflow: workflow with all jobs, and the times of all files.
        results: the results folder.
        write: whether to save the records; false in a dry-run.
    """
    times, persistence = workflow.iocache.mtime, workflow.persistence
    lacking = {job for job in workflow.dag.jobs if _lacks_record(job, times, persistence)}
    if not lacking:
        return
    records: dict[str, Any] = {}
    read = persistence._read_record
    persistence._read_record = lambda key: records.get(key) or read(key)
    again: dict[str, Counter[str]] = {}
    for level in workflow.dag.toposorted():
        for job in lacking.intersection(level):
            content = _content(_manifest(job))
            reasons = differences(job.params, _manifest(job), content)
            # The spec does not say which parser is used, or which text a tokenizer is trained on
            now = verification.reads(_manifest(job), job.input, results)
            if not {INPUTS, NO_MANIFEST} & set(reasons) and content["reads"] != now:
                reasons.append(INPUTS)
            made = _record(job, persistence, content, reasons)
            if not reasons:
                _not_older(job, times, write=write)
            for file in job.output:
                time = times[file].local() if file in times else None
                records[str(file)] = record = made.model_copy(update={"endtime": time})
                if write and time is not None and not reasons:
                    persistence._write_record(str(file), record)
            if reasons:
                again.setdefault(job.rule.name, Counter()).update(["", *reasons])
    for rule, counts in sorted(again.items()):
        why = ", ".join(f"{reason} ({n:,})" for reason, n in sorted(counts.items()) if reason)
        sys.stderr.write(f"{rule}: {counts['']:,} run again: {why}\n")


def _manifest(job: Any) -> str:  # noqa: ANN401
    """Return the manifest that a job declares; "" if none."""
    return next((str(file) for file in job.output if file.endswith(MANIFEST)), "")


def _lacks_record(job: Any, times: Mapping[str, Any], persistence: Any) -> bool:  # noqa: ANN401
    """Return whether a job has results without a record, or with a record of replaced files."""
    path = next((file for file in job.output if file.endswith(MANIFEST)), None)
    if path is None or path not in times:
        return path is not None and any(file in times for file in job.output)
    record = persistence.metadata(path)
    return record is None or record.endtime != times[path].local()


def _record(job: Any, persistence: Any, content: Mapping[str, Any], reasons: list[str]) -> Any:  # noqa: ANN401
    """Return Snakemake's record of a job as its results were made."""
    from snakemake.persistence import RECORD_FORMAT_VERSION, MetadataRecord

    code, _, files = str(content.get("code")).partition("-")
    earlier = {"spec": content.get("spec"), "code": code, "files": files}
    params = persistence._params(job)
    if reasons:  # the job has changed since
        text = json.dumps(job_of(job.params) | earlier, sort_keys=True, separators=(",", ":"))
        params = [repr(text) if param == repr(job.params.get("job")) else param for param in params]
    return MetadataRecord(
        rule=job.rule.name,
        input=[] if INPUTS in reasons else persistence._input(job),
        log=persistence._log(job),
        params=params,
        code=persistence._code(job.rule),
        conda_env=persistence._conda_env(job),
        container_img_url=job.container_img_url,
        software_stack_hash=persistence._software_stack_hash(job),
        job_hash=hash(job),
        incomplete=False,
        record_format_version=RECORD_FORMAT_VERSION,
    )


def _not_older(job: Any, times: dict[str, Any], *, write: bool) -> None:  # noqa: ANN401
    """Make the outputs of a current job at least as new as its inputs, since copies have new times.

    Args:
        job: a job whose inputs are the same as when it ran.
        times: file -> time; changed in place.
        write: whether to change the files, too.
    """
    read = [times[file].local(follow_symlinks=True) for file in job.input if file in times]
    newest = max(read, default=0)
    for file in job.output:
        if file in times and times[file].local() < newest:
            times[file] = type(times[file])(local=newest)
            if write:
                stamp = Path(file, ".snakemake_timestamp")  # the time of a folder
                path = stamp if stamp.exists() else Path(file)
                os.utime(path, (newest, newest), follow_symlinks=False)
                rounded = path.lstat().st_mtime  # by the file system
                times[file] = type(times[file])(local=rounded)


def job_of(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the job that a rule's parameters describe (:mod:`poshgrid.stages.stage`).

    A long job of another configuration is in a file, which need not exist: then only its name is
    returned.
    """
    text = str(params.get("job", "{}"))
    with contextlib.suppress(OSError, ValueError):
        content = LONG_JOBS.get(text, text)
        if content.startswith("@"):
            content = Path(content[1:]).read_text(encoding="utf-8")
        job = json.loads(content)
        if isinstance(job, dict):
            return job
    return {"job": text}


def differences(
    params: Mapping[str, Any], manifest: str, content: Mapping[str, Any] | None = None
) -> list[str]:
    """Return what differs between a result and its job.

    Args:
        params: parameters of the job's rule.
        manifest: manifest of the result.
        content: its contents; None: read them here.
    """
    content = _content(manifest) if content is None else content
    if not {"path", "inputs", "reads"} <= content.keys() or "cwd" in content:
        return [NO_MANIFEST]  # or one of an earlier version
    job = job_of(params)
    code, _, files = str(content.get("code")).partition("-")
    reasons = []
    if content.get("spec") != job.get("spec"):
        reasons.append(SPEC)
    if code != job.get("code", code):
        reasons.append(CODE)
    if files != job.get("files", "") or _changed_inputs(manifest, content):
        reasons.append(INPUTS)
    return reasons


def _changed_inputs(manifest: str, content: Mapping[str, Any]) -> bool:
    """Return whether other stages have rewritten the results that a stage has read."""
    with contextlib.suppress(PoshgridError, OSError, KeyError):
        return any(
            verification.written(verification.located(Path(manifest), name)) not in (None, digest)
            for name, digest in content["inputs"].items()
        )
    return True


def _content(manifest: str) -> Mapping[str, Any]:
    """Return the contents of a manifest; {} if it is missing or broken."""
    with contextlib.suppress(PoshgridError, OSError):
        content = verification.read(Path(manifest))
        if isinstance(content, dict):
            return content
    return {}
