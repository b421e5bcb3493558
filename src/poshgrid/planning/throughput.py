"""The stated table of costs, resources/throughput.yaml: what counts where nothing was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from poshgrid import resources
from poshgrid.config import yamltext
from poshgrid.errors import PoshgridError, did_you_mean
from poshgrid.training import flops

HOUR = 3600.0  # seconds
MEASURED, SCALED, ASSUMED = "measured", "scaled", "assumed"
"""Where a number comes from: jobs like it; smaller or larger ones; the stated table."""
BASES = (MEASURED, SCALED, ASSUMED)
REACH = 10.0
"""A job says nothing of one whose work, or whose model, is more than so many times its own."""


Unit = Literal["million words", "job", "models", "checkpoints"]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class GPU(_Entry):
    """How much of a GPU's peak rate training reaches; ``together``: when several runs share it.

    That is their models per hour, times those of one run after the other.
    """

    default: str
    utilisation: dict[Literal["float32", "bf16"], float]
    together: float = Field(1.0, gt=0)
    source: str


class CPU(_Entry):
    """FLOP/s of one thread."""

    flops: dict[Literal["float32", "bf16"], float]
    source: str


class Text(_Entry):
    """How text is counted where no tokens are yet.

    ``passed`` is the share of a suite's tokens that a model sees: pairs share their beginnings.
    """

    tokens_per_word: float = Field(gt=0)
    tokens_per_sentence: float = Field(gt=0)
    words_per_sentence: float = Field(gt=0)
    passed: float = Field(1.0, gt=0, le=1)


class Seconds(_Entry):
    """Seconds of a job, and of each unit of its work more."""

    seconds: float = Field(ge=0)
    per_unit: float = Field(ge=0)


class Stage(Seconds):
    """What a job of a rule costs: seconds and megabytes."""

    mb: float = Field(ge=0)
    mb_per_unit: float = Field(ge=0)
    unit: Unit = "million words"
    gpu: Seconds | None = None
    source: str


class Throughput(_Entry):
    """The whole table."""

    gpu: GPU
    cpu: CPU
    gpu_rules: list[str]
    text: Text
    pairs: dict[str, float]
    mapped: dict[str, float] = Field(default_factory=dict)
    stages: dict[str, Stage]

    def stage(self, kind: str) -> Stage:
        """Return the entry of ``rule/engine``, else of the rule, else of any other."""
        for name in (kind, kind.partition("/")[0]):
            if name in self.stages:
                return self.stages[name]
        return self.stages["other"]

    def rate(self, device: str | None, precision: str, threads: int) -> tuple[float, str]:
        """Return the FLOP/s that training reaches, and where the number comes from.

        Args:
            device: name of a GPU; none: the CPU.
            precision: ``float32`` or ``bf16``.
            threads: of the CPU.

        Raises:
            PoshgridError: nothing is known of the GPU.
        """
        bf16 = precision == "bf16"
        if device is None:
            rate = self.cpu.flops["bf16" if bf16 else "float32"] * threads
            return rate, self.cpu.source
        peak = flops.peak_of(device, "bf16" if bf16 else "float32")
        if peak is None and bf16:
            peak = flops.peak_of(device, "float32")  # an old GPU computes as it can
        if peak is None:
            known = ("V100-SXM2", "A100", "H100", "L4", "L40S", "RTX 4090")
            near = did_you_mean(device.upper(), known)
            raise PoshgridError(f"--gpu: nothing is known of {device!r}{near}")
        share = self.gpu.utilisation["bf16" if bf16 else "float32"]
        source = f"{share:.0%} of {device}'s {peak / 1e12:,.1f} TFLOP/s"
        if not bf16:
            faster = self.rate(device, "bf16", threads)[0] / (peak * share)
            source += f" in float32; bf16 would be {faster:.1f} x as fast" if faster > 1 else ""
        return peak * share, source


def load(path: Path | None = None) -> Throughput:
    """Read the stated table.

    Args:
        path: another file than the repository's, e.g. with numbers of your cluster.

    Raises:
        PoshgridError: unreadable or wrong; one line for each error.
    """
    found = path or resources.path("throughput.yaml")
    try:
        return Throughput.model_validate(yamltext.parse(yamltext.read(found)))
    except OSError as error:
        raise PoshgridError(f"{found}: cannot read: {error.strerror}; give --table") from error
    except (yaml.YAMLError, yamltext.UnboundedError, UnicodeDecodeError) as error:
        raise PoshgridError(f"{found}: not YAML; see resources/throughput.yaml") from error
    except ValidationError as error:
        lines = (
            f"{found}: {'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()
        )
        raise PoshgridError(*lines) from error
