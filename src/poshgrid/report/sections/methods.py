"""The methods, written so that a paper can copy them, from specs and manifests.

``methods.txt`` has the sentences, ``plugins.txt`` the names and citations of plug-ins
(:mod:`poshgrid.report.references`). This module fills the sentences with facts. Facts come from
manifests only: a setting that no manifest records is not mentioned.
"""

from __future__ import annotations

import re
from typing import Any

from poshgrid.config.formula import suite_of
from poshgrid.config.paths import SHARED
from poshgrid.config.runs import COUNTED, SCORED, UNTRAINED, parts
from poshgrid.report.collect import Collected, Fit
from poshgrid.report.layout import Layout, category_names
from poshgrid.report.parts import Page
from poshgrid.report.references import BIBLIOGRAPHY, Citations, Work
from poshgrid.report.texts import environment, tidy
from poshgrid.statistics.gate import MAX_R_HAT, MIN_ESS
from poshgrid.tables.words import count, listed

TITLE, ORDER, AUDIENCE = "Methods", 140, "reviewer"


def write(page: Page) -> dict[str, Any]:
    """Write the bibliography; return the paragraphs and the works that they cite."""
    texts, works = write_up(page.collected, page.layout)
    page.file(BIBLIOGRAPHY, "\n".join(work.bibtex for work in works))
    return {"texts": texts, "works": works, "bibliography": f"tables/{BIBLIOGRAPHY}"}


def write_up(collected: Collected, layout: Layout) -> tuple[list[tuple[str, str]], list[Work]]:
    """Return heading and text for each stage whose settings are known, and the cited works."""
    cite = Citations()
    # Not strict: unknown facts are empty, and their sentences are left out
    template = environment(escaped=False, strict=False).get_template("methods.txt")
    written = template.render(
        cite=cite, collected=collected, layout=layout,
        **_facts(collected, layout), **_of_models(collected),
    )  # fmt: skip
    sections = []
    for part in re.split(r"^# ", written, flags=re.MULTILINE)[1:]:
        heading, _, text = part.partition("\n")
        if words := tidy(text):
            sections.append((heading, words))
    return sections, cite.works


def _facts(collected: Collected, layout: Layout) -> dict[str, Any]:
    """Return the facts for the sentences on texts, suites and tests."""
    manifests: dict[str, dict[str, dict[str, Any]]] = {}
    for record in collected.records:
        manifests.setdefault(record.stage, {})[record.name] = record.content

    def specs(stage: str) -> list[dict[str, Any]]:
        return [content.get("settings") or {} for content in manifests.get(stage, {}).values()]

    asked = [spec for spec in specs("condition") if (spec.get("condition") or {}).get("name")]
    conditions: dict[str, dict[str, Any]] = {}
    for spec in asked:
        conditions.setdefault(spec["condition"]["name"], spec["condition"])
    filters = [f["name"] for c in conditions.values() for f in c.get("filters") or []]
    tokenizers = [t for s in specs("tokenizer") if (t := s.get("tokenizer"))]
    judging: dict[str, Any] = next(filter(None, (s.get("scoring") for s in specs("accuracy"))), {})
    # The spec of accuracies has the reduction; the specs of scores say how sentences were scored.
    scored = next((s for s in specs("score") if s.get("scoring")), {})
    scoring = judging | {k: scored["scoring"][k] for k in ("bos", "masked") if scored}
    parser = collected.spec.evidence_parser or ""
    trained = (manifests.get("train-parser", {}).get(parser, {}).get("settings") or {}).get(
        "parser"
    )
    orders = {(bool(s.get("classes")), s["order"]) for s in specs("count") if s.get("order")}
    return {
        "specs": specs,
        "readers": {
            name: ((content.get("settings") or {}).get("source") or {}).get("reader")
            or content.get("reader")
            for name, content in manifests.get("read", {}).items()
        },
        "conditions": conditions,
        "backstop": any(s["condition"].get("filters") and s.get("backstop") for s in asked),
        "filters": list(dict.fromkeys(filters)),
        "parser": _parser(trained, collected.parsers.get(parser, {})) if trained else {},
        "shared_tokenizer": any(n.startswith(f"{SHARED}/") for n in manifests.get("tokenizer", {})),
        "tokenizers": [t for i, t in enumerate(tokenizers) if t not in tokenizers[:i]],
        "orders": [
            "unigram" if order == 1 else f"{'class ' if classes else ''}{order}-gram"
            for classes, order in sorted(orders)
            if any(t.run.recipe == COUNTED for t in collected.trained)
        ],
        "suites": [
            suite
            for name in (*collected.spec.suites, *collected.spec.measured)
            if (suite := _suite(collected, layout, name, manifests.get("items", {}).get(name, {})))
        ],
        "scoring": scoring,
        "scores": {scoring.get("masked"), *(scored.get("rescored") or {}).values()},
        "judged": next(iter(manifests.get("accuracy", {}).values()), None),
        "pythons": sorted({str(record.content["python"]) for record in collected.records
                           if record.content.get("python")}),
    }  # fmt: skip


def _of_models(collected: Collected) -> dict[str, Any]:
    """Return the facts for the sentences on trained and Bayesian models."""
    asked = [(t.run, t.manifest.get("settings") or {}, t.statistics.get("parameters"))
             for t in reversed(collected.asked)]  # fmt: skip
    models = {run.model: s["model"] for run, s, _ in asked if s.get("model")}
    weights = {
        name: sorted({count(n) for run, _, n in asked if n and run.model == name},
                     key=lambda text: (len(text), text))
        for name in models
    }  # fmt: skip
    biases = {
        part: s["options"][part]
        for run, s, _ in asked
        for part in parts(run.bias)
        if part in (s.get("options") or {})
    }
    return {
        "models": {
            name: models[name] | {"parameters": " to ".join(dict.fromkeys(n[:1] + n[-1:]))}
            for name, n in sorted(weights.items())
        },
        "seeds": listed([str(s) for s in sorted({run.seed for run, *_ in asked})]),
        "recipes": dict(
            sorted({run.recipe: s["recipe"] for run, s, _ in asked if s.get("recipe")}.items())
        ),
        "biases": dict(sorted(biases.items())),
        "untrained": any(t.run.recipe == UNTRAINED for t in collected.trained),
        "given": sorted({t.run.model for t in collected.trained if t.run.recipe in SCORED}),
        "masked": any(model.get("architecture") == "babyberta" for model in models.values()),
        "regressions": [_model(fit, suite_of(fit.spec.get("suite"), collected.spec.suites))
                   for fit in collected.fits.values() if fit.spec],
        "MAX_R_HAT": MAX_R_HAT,
        "MIN_ESS": MIN_ESS,
    }  # fmt: skip


def _parser(parser: dict[str, Any], evaluation: dict[str, Any]) -> dict[str, Any]:
    """Return the engine of the parser that conditions use, its treebanks, and its LAS."""
    paths = (parser.get("treebank") or {}).get("path") or []
    paths = [paths] if isinstance(paths, str) else [part["path"] for part in paths]
    treebanks = {"toy" if path == "toy" else "ud" for path in paths}
    return {
        "engine": parser.get("engine", ""),
        "treebanks": treebanks,
        "las": evaluation.get("las"),
    }


def _suite(
    collected: Collected, layout: Layout, name: str, manifest: dict[str, Any]
) -> dict[str, str]:
    """Return name, reader, size and categories of a suite; empty if nothing is known about it."""
    reader = ((manifest.get("settings") or {}).get("suite") or {}).get("reader", "")
    pairs = collected.items.get(name)
    size = f"{manifest['items']:,} items" if manifest.get("items") else ""
    categories = ""
    if pairs is not None and pairs.height:
        size, categories = f"{pairs.height:,} pairs", category_names(layout, name)
    known = {"name": name, "reader": reader, "size": size, "categories": categories}
    return known if size or reader else {}


def _model(fit: Fit, suite: str) -> dict[str, Any]:
    """Return the settings of a Bayesian model, updated with those of its last attempt."""
    attempts = fit.diagnostics.get("attempts") or []
    last = attempts[-1] if attempts else {}
    # The formula that was fitted lacks terms that the data cannot estimate
    used = {key: value for key in ("formula", "sampler", "engine")
            if (value := fit.diagnostics.get(key))}  # fmt: skip
    sampling = {key: last[key] for key in ("warmup", "draws", "target_accept") if key in last}
    return {**fit.spec, **sampling, **used, "name": fit.name, "suite": suite,
            "attempts": len(attempts)}  # fmt: skip
