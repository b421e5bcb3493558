"""The methods as a paper could take them over, from what specs and manifests record.

``methods.txt`` holds the words, ``plugins.txt`` what each plug-in is called and cited by
(:mod:`poshgrid.report.references`); here is what the sentences are filled with. A setting that no
manifest records is not named: nothing here says what a run did.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from poshgrid.config.formula import suite_of
from poshgrid.config.paths import SHARED
from poshgrid.config.runs import COUNTED, SCORED, UNTRAINED, parts
from poshgrid.report import references
from poshgrid.report.blocks import Block, Page
from poshgrid.report.collect import Collected, Fit
from poshgrid.report.layout import Layout, category_names
from poshgrid.report.references import Citations, Work
from poshgrid.report.texts import environment, markup, tidy
from poshgrid.statistics.gate import ESS_LEAST, R_HAT_MOST
from poshgrid.tables.words import count, listed

TITLE, ORDER, AUDIENCE = "Methods", 140, "reviewer"


@dataclass(frozen=True)
class Methods:
    """The methods, and the works that they cite."""

    parts: list[tuple[str, str]]  # heading, text
    works: list[Work]  # by author and year


def blocks(page: Page) -> list[Block]:
    """Return the paragraphs, and the works that they cite."""
    written = write_up(page.collected, page.layout)
    address = references.write(written.works, page.shelf)
    return [*(text for _, text in written.parts), markup("references", written.works, address)]


def write_up(collected: Collected, layout: Layout) -> Methods:
    """Return the methods, a part for each stage whose settings are known, and its references."""
    cite = Citations()
    # What no manifest records is not told
    template = environment(escaped=False, strict=False).get_template("methods.txt")
    written = template.render(
        cite=cite, collected=collected, layout=layout, write=_options,
        **_facts(collected, layout), **_of_models(collected),
    )  # fmt: skip
    sections = []
    for part in re.split(r"^# ", written, flags=re.MULTILINE)[1:]:
        heading, _, text = part.partition("\n")
        if words := tidy(text):
            sections.append((heading, words))
    return Methods(sections, cite.works)


def _facts(collected: Collected, layout: Layout) -> dict[str, Any]:
    """Return what the words on texts, suites and tests are filled with."""
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
    # Judgements depend on the reduction alone: how sentences were scored, scores' own specs say.
    scored = next((s for s in specs("score") if s.get("scoring")), {})
    scoring = judging | {k: scored["scoring"][k] for k in ("bos", "masked") if scored}
    parser = collected.spec.evidence_parser or ""
    trained = manifests.get("train-parser", {}).get(parser, {}).get("settings") or {}
    return {
        "specs": specs,
        "sources": lambda sizes: dict.fromkeys(s for at in sizes.values() for s in at["sources"]),
        "readers": {
            name: ((content.get("settings") or {}).get("source") or {}).get("reader")
            or content.get("reader")
            for name, content in manifests.get("read", {}).items()
        },
        "conditions": conditions,
        "backstop": any(s["condition"].get("filters") and s.get("backstop") for s in asked),
        "filters": list(dict.fromkeys(filters)),
        "parser": _parser(trained.get("parser"), collected.parsers.get(parser, {})),
        "audits": specs("audit"),
        "shared_tokenizer": any(
            name.startswith(f"{SHARED}/") for name in manifests.get("tokenizer", {})
        ),
        "tokenizers": [t for i, t in enumerate(tokenizers) if t not in tokenizers[:i]],
        "orders": [
            "unigram" if order == 1 else f"{'class ' if classes else ''}{order}-gram"
            for classes, order in sorted(
                {(bool(s.get("classes")), s["order"]) for s in specs("count") if s.get("order")}
            )
            if any(t.run.regimen == COUNTED for t in collected.trained)
        ],
        "suites": [
            suite
            for name in (*collected.spec.suites, *collected.spec.measured)
            if (suite := _suite(collected, layout, name, manifests.get("items", {}).get(name, {})))
        ],
        "scoring": scoring,
        "scores": {scoring.get("masked"), *(scored.get("rescored") or {}).values()},
        "judged": next(iter(manifests.get("accuracy", {}).values()), None),
        "pythons": sorted({str(r.content["python"]) for r in collected.records
                           if r.content.get("python")}),
    }  # fmt: skip


def _of_models(collected: Collected) -> dict[str, Any]:
    """Return what the words on models, trained and Bayesian, are filled with."""
    asked = [(t.run, t.manifest.get("settings") or {}) for t in reversed(collected.asked)]
    learners = {r.learner: s["learner"] for r, s in asked if s.get("learner")}
    weights = {
        name: [
            n for t in collected.asked
            if t.run.learner == name and (n := t.statistics.get("parameters"))
        ]
        for name in learners
    }  # fmt: skip
    regimens = {run.regimen: s["regimen"] for run, s in asked if s.get("regimen")}
    biases = {
        part: s["options"][part]
        for run, s in asked
        for part in parts(run.bias)
        if part in (s.get("options") or {})
    }
    return {
        "learners": {
            name: learners[name] | {"parameters": _range(weights[name])}
            for name in sorted(learners)
        },
        "seeds": listed([str(s) for s in sorted({t.run.seed for t in collected.asked})]),
        "regimens": dict(sorted(regimens.items())),
        "biases": dict(sorted(biases.items())),
        "untrained": any(t.run.regimen == UNTRAINED for t in collected.trained),
        "given": sorted({t.run.learner for t in collected.trained if t.run.regimen in SCORED}),
        "masked": any(
            (s.get("learner") or {}).get("architecture") == "babyberta" for _, s in asked
        ),
        "models": [
            _model(fit, suite_of(fit.spec.get("suite"), collected.spec.suites))
            for fit in collected.fits.values()
            if fit.spec
        ],
        "R_HAT_MOST": R_HAT_MOST,
        "ESS_LEAST": ESS_LEAST,
    }


def _parser(parser: dict[str, Any] | None, evaluation: dict[str, Any]) -> dict[str, Any]:
    """Return the engine of the parser whose trees decide, what trained it, and its score."""
    if not parser:
        return {}
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
    """Return name, reader, size and categories of a suite; empty where nothing is known of it."""
    reader = ((manifest.get("settings") or {}).get("suite") or {}).get("reader", "")
    pairs = collected.items.get(name)
    if pairs is not None and pairs.height:
        size, categories = f"{pairs.height:,} pairs", category_names(layout, name)
    else:
        size, categories = f"{manifest['items']:,} items" if manifest.get("items") else "", ""
    if not size and not reader:
        return {}
    return {"name": name, "reader": reader, "size": size, "categories": categories}


def _model(fit: Fit, suite: str) -> dict[str, Any]:
    """Return what a model was asked to be, and what was used: of the last attempt that was made."""
    attempts = fit.diagnostics.get("attempts") or []
    last = attempts[-1] if attempts else {}
    return {
        **fit.spec,
        **{key: last[key] for key in ("warmup", "draws", "target_accept") if key in last},
        # The formula asked for, less the terms that the data cannot bear
        **{key: used for key in ("formula", "sampler", "engine")
           if (used := fit.diagnostics.get(key))},
        "name": fit.name,
        "suite": suite,
        "attempts": len(attempts),
    }  # fmt: skip


def _options(options: dict[str, Any], names: Sequence[str] = ()) -> str:
    """Write options as a text does: ``k = 16, length = 256``; without those that are not set."""
    return ", ".join(
        f"{name.replace('_', ' ')} = {_value(options[name])}"
        for name in names or options
        if options.get(name) is not None and name != "name"
    )


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return count(value)
    if isinstance(value, float):
        return f"{value:g}"
    return " ".join(map(_value, value)) if isinstance(value, list) else str(value)


def _range(values: list[float]) -> str:
    """Write the least and the most of numbers, or the one that they are; "" of none."""
    if not values:
        return ""
    low, high = min(values), max(values)
    return count(low) if low == high else f"{count(low)} to {count(high)}"
