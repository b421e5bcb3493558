"""The methods, written so that a paper can copy them, from specs and manifests.

``methods.txt`` has the sentences, ``plugins.txt`` the names of plug-ins and the works that are
cited for them, ``works.bib`` these works. This module fills the sentences with facts. Facts come
from manifests only: a setting that no manifest records is not mentioned.
"""

from __future__ import annotations

import importlib.resources
import re
from typing import Any

from poshgrid.config.formula import suite_of
from poshgrid.config.paths import SHARED
from poshgrid.config.runs import COUNTED, SCORED, UNTRAINED, parts
from poshgrid.report.collect import Collected, Fit
from poshgrid.report.layout import Layout
from poshgrid.report.parts import Page
from poshgrid.report.texts import environment, tidy
from poshgrid.statistics.gate import MAX_R_HAT, MIN_ESS
from poshgrid.statistics.intervals import REPLICATES

TITLE, ORDER, AUDIENCE = "Methods", 140, "reviewer"


def write(page: Page) -> dict[str, Any]:
    """Write the bibliography; return the paragraphs."""
    works = importlib.resources.files("poshgrid.report") / "works.bib"
    page.file("references.bib", works.read_text("utf-8"))
    return {"texts": write_up(page.collected, page.layout)}


def write_up(collected: Collected, layout: Layout) -> list[tuple[str, str]]:
    """Return heading and text for each stage whose settings are known."""
    # Not strict: unknown facts are empty, and their sentences are left out
    template = environment(escaped=False, strict=False).get_template("methods.txt")
    written = template.render(
        collected=collected, layout=layout, MAX_R_HAT=MAX_R_HAT, MIN_ESS=MIN_ESS,
        REPLICATES=REPLICATES, **_facts(collected), **_of_models(collected),
    )  # fmt: skip
    sections = (part.partition("\n") for part in re.split(r"^# ", written, flags=re.MULTILINE)[1:])
    return [(heading, words) for heading, _, text in sections if (words := tidy(text))]


def _facts(collected: Collected) -> dict[str, Any]:
    """Return the facts for the sentences on texts, suites and tests."""
    manifests: dict[str, dict[str, dict[str, Any]]] = {}
    for record in collected.records:
        manifests.setdefault(record.kind, {})[record.name] = record.content

    def specs(kind: str) -> list[dict[str, Any]]:
        return [content.get("settings") or {} for content in manifests.get(kind, {}).values()]

    asked = [spec for spec in specs("conditions") if (spec.get("condition") or {}).get("name")]
    conditions: dict[str, dict[str, Any]] = {}
    for spec in asked:
        conditions.setdefault(spec["condition"]["name"], spec["condition"])
    filters = [f["name"] for c in conditions.values() for f in c.get("filters") or []]
    tokenizers = [t for s in specs("tokenizers") if (t := s.get("tokenizer"))]
    judging: dict[str, Any] = next(
        (s["scoring"] for s in specs("statistics") if "scoring" in s), {}
    )
    # The spec of accuracies has the reduction; the specs of scores say how sentences were scored.
    scored = next((s for s in specs("scores") if s.get("scoring")), {})
    scoring = judging | {k: scored["scoring"][k] for k in ("bos", "masked") if scored}
    orders = {(bool(s.get("classes")), s["order"]) for s in specs("models") if s.get("order")}
    return {
        "specs": specs,
        "suites": manifests.get("benchmark", {}),
        "readers": {
            name: ((content.get("settings") or {}).get("source") or {}).get("reader")
            or content.get("reader")
            for name, content in manifests.get("sources", {}).items()
        },
        "conditions": conditions,
        "filters": list(dict.fromkeys(filters)),
        "parser": _parser(collected, manifests.get("parsers", {})),
        "shared_tokenizer": any(n.split("/")[0] == SHARED for n in manifests.get("tokenizers", {})),
        "tokenizers": [t for i, t in enumerate(tokenizers) if t not in tokenizers[:i]],
        "orders": [
            "unigram" if order == 1 else f"{'class ' if classes else ''}{order}-gram"
            for classes, order in sorted(orders)
            if any(t.run.recipe == COUNTED for t in collected.trained)
        ],
        "scoring": scoring,
        "scores": {scoring.get("masked"), *(scored.get("rescored") or {}).values()},
        "pythons": sorted({str(record.content["python"]) for record in collected.records
                           if record.content.get("python")}),
    }  # fmt: skip


def _of_models(collected: Collected) -> dict[str, Any]:
    """Return the facts for the sentences on trained and Bayesian models."""
    asked = [(t.run, t.manifest.get("settings") or {}, t.statistics.get("parameters"))
             for t in reversed(collected.without_baselines)]  # fmt: skip
    models = {run.model: s["model"] for run, s, _ in asked if s.get("model")}
    return {
        "models": {
            name: model | {"parameters": sorted({n for r, _, n in asked if n and r.model == name})}
            for name, model in sorted(models.items())
        },
        "seeds": sorted({run.seed for run, *_ in asked}),
        "recipes": dict(
            sorted({run.recipe: s["recipe"] for run, s, _ in asked if s.get("recipe")}.items())
        ),
        "biases": {
            part: s["options"][part]
            for run, s, _ in sorted(asked, key=lambda row: row[0].bias)
            for part in parts(run.bias)
            if part in (s.get("options") or {})
        },
        "untrained": any(t.run.recipe == UNTRAINED for t in collected.trained),
        "given": sorted({t.run.model for t in collected.trained if t.run.recipe in SCORED}),
        "masked": any(model.get("architecture") == "babyberta" for model in models.values()),
        "regressions": [_model(fit, suite_of(fit.spec.get("suite"), collected.spec.suites))
                        for fit in collected.fits.values() if fit.spec],
    }  # fmt: skip


def _parser(collected: Collected, manifests: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the engine of the parser that conditions use, its treebanks, and its LAS."""
    name = collected.spec.evidence_parser or ""
    parser = (manifests.get(name, {}).get("settings") or {}).get("parser")
    if not parser:
        return {}
    paths = (parser.get("treebank") or {}).get("path") or []
    paths = [paths] if isinstance(paths, str) else [part["path"] for part in paths]
    treebanks = {"toy" if path == "toy" else "ud" for path in paths}
    las = collected.parsers.get(name, {}).get("las")
    return {"engine": parser.get("engine", ""), "treebanks": treebanks, "las": las}


def _model(fit: Fit, suite: str) -> dict[str, Any]:
    """Return the settings of a Bayesian model, updated with those of its last attempt."""
    attempts = fit.diagnostics.get("attempts") or []
    last = attempts[-1] if attempts else {}
    # The formula that was fitted lacks terms that the data cannot estimate
    used = {key: fit.diagnostics[key] for key in ("formula", "sampler", "engine")
            if fit.diagnostics.get(key)}  # fmt: skip
    sampling = {key: last[key] for key in ("warmup", "draws", "target_accept") if key in last}
    return {**fit.spec, **sampling, **used, "name": fit.name, "suite": suite,
            "attempts": len(attempts)}  # fmt: skip
