"""The methods as a paper could take them over, from what specs and manifests record.

``methods.txt`` holds the words; here is what they are filled with. A setting that no manifest
records is not named: nothing here says what a run did. Works are cited by what was used (a reader,
an engine, a bias); see :mod:`poshgrid.report.references`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from poshgrid.config.formula import suite_of
from poshgrid.config.paths import SHARED
from poshgrid.config.runs import COUNTED, SCORED, UNTRAINED, parts
from poshgrid.report import references
from poshgrid.report.blocks import Block, Heading, Page
from poshgrid.report.collect import Collected, Fit, Trained
from poshgrid.report.layout import Layout, category_names
from poshgrid.report.references import Citations, Work
from poshgrid.statistics.summary import ESS_LEAST, R_HAT_MOST
from poshgrid.tables.words import count, counted, listed

TITLE, ORDER, AUDIENCE = "Methods", 140, "reviewer"
_WORK = Markup('<p class="note" id="reference-{}">{}</p>')
_BIBTEX = Markup('<p class="downloads">References: <a href="{}" download>BibTeX</a></p>')

READERS: dict[str, tuple[str, ...]] = {
    "childes-db": ("sanchez2019", "macwhinney2000"),
    "chat": ("macwhinney2000",),
    "switchboard": ("godfrey1992",),
    "switchboard-mrg": ("godfrey1992",),
    "gutenberg": ("gutenberg",),
    "wikipedia-dump": ("wikimedia",),
    "wikipedia-sentences": ("wikimedia",),
    "bnc-xml": ("bnc2007",),
    "opus": ("lison2016",),
    "tinystories": ("eldan2023",),
    "babylm": ("warstadt2023",),
}
"""Reader -> what its corpus is cited by."""
FILTERS = {
    "yang2026": ("question-formation", "binding"),
    "patil2024": (
        "agr-pp-mod", "agr-re-irr-sv", "agr-rel-cl", "binding-c-command", "binding-case",
        "binding-domain", "binding-reconstruction", "det-adj-noun", "det-noun", "npi-only",
        "npi-sent-neg", "npi-sim-ques", "passive", "quantifier-existential-there",
        "quantifier-superlative",
    ),
}  # fmt: skip
"""Work -> the filters whose definition is from it."""
ENGINES = {"stanza": ("qi2020",), "spacy": ("honnibal2020",)}
ARCHITECTURES = {
    "gpt2": ("GPT-2", "radford2019"),
    "lstm": ("LSTM", "hochreiter1997"),
    "babyberta": ("BabyBERTa", "huebner2021"),
}
BIASES = {
    "dyck": ("pre-pretraining on a shuffled k-Dyck language", "hu2025"),
    "tree-planting": ("supervision of attention by distances in dependency trees", "yoshida2024"),
    "recency": ("attention to near words, which fades from epoch to epoch", "mita2025"),
    "flat-brackets": (
        "the control of dyck: brackets of the same bigrams that do not match",
        "hu2025",
    ),
    "random-trees": ("a control of tree-planting: words exchanged in the tree", "yoshida2024"),
    "sequential-trees": ("a control of tree-planting: distances in words", "yoshida2024"),
    "static-recency": ("a control of recency: it does not fade", "mita2025"),
    "linear-recency": ("a control of recency: it fades in equal steps", "mita2025"),
}
SUITES: dict[str, tuple[str, tuple[str, ...]]] = {
    "templates": ("generated from templates, words counterbalanced over the corpora",
                  ("yang2026", "huebner2021")),
    "factorial": ("sets of factorial designs, generated from templates, words counterbalanced over "
                  "the corpora", ("yang2026", "huebner2021")),
    "paradigms": ("sets of filler × gap, generated from templates", ("lan2024", "pistotti2025")),
    "paradigm-csv": ("sets of filler × gap", ("pistotti2025", "lan2024")),
    "blimp": ("in the format of BLiMP", ("warstadt2020",)),
    "lines": ("in the format of Zorro", ("huebner2021",)),
    "scamp": ("in the format of SCaMP", ("mccoy2025",)),
    "acceptability": ("in the format of BaBIEs", ("capone2024",)),
    "choices": ("a target and its distractors, in the format of BaBIEs", ("capone2024",)),
    "completions": ("beginnings to complete, in the format of BaBIEs", ("capone2024",)),
}  # fmt: skip
"""Reader of a suite -> what its items are, and whose."""
_NAMED = {"blimp": "warstadt2020", "zorro": "huebner2021", "scamp": "mccoy2025"}
"""Suites that are known by their name."""
_TRAINING = (
    "input", "order", "context_length", "batch_size", "steps", "epochs", "patience_steps", "keep",
    "learning_rate", "schedule", "warmup_steps", "weight_decay", "dropout", "clip_norm",
    "padding_in_loss", "precision",
)  # fmt: skip
"""What a paper tells of a regimen, in its order."""
_CONSTANTS = {
    "READERS": READERS,
    "ENGINES": ENGINES,
    "ARCHITECTURES": ARCHITECTURES,
    "BIASES": BIASES,
    "SAMPLERS": {"nutpie": "nutpie", "pymc": "abrilpla2023", "numpyro": "phan2019"},
    "SOFTWARE": {
        "snakemake": "molder2021", "torch": "paszke2019", "transformers": "wolf2020",
        "stanza": "qi2020", "spacy": "honnibal2020", "bambi": "capretto2022",
        "pymc": "abrilpla2023", "nutpie": "nutpie", "numpyro": "phan2019", "arviz": "kumar2019",
    },
    # Packages that no run does without; the others are cited where they were used
    "EVERYWHERE": ("snakemake", "torch", "transformers"),
    "R_HAT_MOST": R_HAT_MOST,
    "ESS_LEAST": ESS_LEAST,
}  # fmt: skip


@dataclass(frozen=True)
class Methods:
    """The methods, and the works that they cite."""

    parts: list[tuple[str, str]]  # heading, text
    works: list[Work]  # by author and year


def blocks(page: Page) -> list[Block]:
    """Return the paragraphs, and the works that they cite."""
    written = write_up(page.collected, page.layout)
    address = references.write(written.works, page.shelf)
    return [
        *(text for _, text in written.parts),
        Heading("References") if written.works else None,
        *(_WORK.format(work.key, work.html) for work in written.works),
        _BIBTEX.format(address) if address else None,
    ]


def write_up(collected: Collected, layout: Layout) -> Methods:
    """Return the methods, a part for each stage whose settings are known, and its references."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("poshgrid", "report"),
        undefined=jinja2.ChainableUndefined,  # what no manifest records is not told
        autoescape=False,
    )
    environment.filters |= {
        "count": count, "g": "{:g}".format, "listed": listed, "options": _options, "range": _range,
    }  # fmt: skip
    cite = Citations()
    written = environment.get_template("methods.txt").render(
        _CONSTANTS, cite=cite, collected=collected, layout=layout, **_facts(collected, layout)
    )
    found = []
    for part in re.split(r"^# ", written, flags=re.MULTILINE)[1:]:
        heading, _, text = part.partition("\n")
        text = re.sub(r"\s*\n\s*(?=[.,;)])", "", text)
        if text.strip():
            found.append((heading, re.sub(r"\s*\n\s*", " ", text).strip()))
    return Methods(found, cite.works)


def _facts(collected: Collected, layout: Layout) -> dict[str, Any]:
    """Return what the words are filled with, by the names of the template."""

    def specs(stage: str) -> list[dict[str, Any]]:
        return [content.get("settings") or {} for _, content in _named(collected, stage)]

    conditions: dict[str, dict[str, Any]] = {}
    backstop = False
    for spec in specs("condition"):
        condition = spec.get("condition") or {}
        if condition.get("name"):
            conditions.setdefault(condition["name"], condition)
            backstop |= bool(condition.get("filters")) and bool(spec.get("backstop"))
    used = dict.fromkeys(f["name"] for c in conditions.values() for f in c.get("filters") or [])
    known = {name: work for work, names in FILTERS.items() for name in names}
    by_work = {w: [f for f in used if known.get(f, "") == w] for w in (*FILTERS, "")}
    tokenizers = [t for s in specs("tokenizer") if (t := s.get("tokenizer"))]
    regimens = {t.run.regimen for t in collected.trained}
    orders = sorted({s["order"] for s in specs("count") if s.get("order")})
    judged = dict(_named(collected, "accuracy"))
    judging: dict[str, Any] = next(filter(None, (s.get("scoring") for s in specs("accuracy"))), {})
    # Judgements depend on the reduction alone: how sentences were scored, scores' own specs say.
    scored = next((s for s in specs("score") if s.get("scoring")), {})
    scoring = judging | {k: scored["scoring"][k] for k in ("bos", "masked") if scored}
    asked = [(t.run, t.manifest.get("settings") or {}) for t in collected.asked]
    return {
        "specs": specs,
        "sources": lambda sizes: dict.fromkeys(s for at in sizes.values() for s in at["sources"]),
        "readers": {
            name: ((content.get("settings") or {}).get("source") or {}).get("reader")
            or content.get("reader")
            for name, content in _named(collected, "read")
        },
        "conditions": conditions,
        "backstop": backstop,
        "filters": {work: names for work, names in by_work.items() if names},
        "parser": _parser(collected),
        "audits": specs("audit"),
        "shared_tokenizer": any(
            r.stage == "tokenizer" and r.name.startswith(f"{SHARED}/") for r in collected.records
        ),
        "tokenizers": [t for i, t in enumerate(tokenizers) if t not in tokenizers[:i]],
        "learners": _learners(collected.asked),
        "seeds": _seeds(collected),
        "regimens": dict(sorted({
            run.regimen: {key: s["regimen"].get(key) for key in _TRAINING}
            for run, s in reversed(asked)
            if s.get("regimen")
        }.items())),
        "biases": dict(sorted({
            part: options[part]
            for run, s in reversed(asked)
            for part in parts(run.bias)
            if part in (options := s.get("options") or {})
        }.items())),
        "untrained": UNTRAINED in regimens,
        "orders": ["unigram" if n == 1 else f"{n}-gram" for n in orders if COUNTED in regimens],
        "given": sorted({t.run.learner for t in collected.trained
                         if t.run.regimen in SCORED}),
        "suites": _suites(collected, layout),
        "scoring": scoring,
        "scores": {scoring.get("masked"), *(scored.get("rescored") or {}).values()},
        "masked": any((s.get("learner") or {}).get("architecture") == "babyberta"
                      for _, s in asked),
        "judged": next(iter(judged.values()), None),
        "models": [
            _model(fit, suite_of(fit.spec.get("suite"), collected.spec.suites))
            for fit in collected.fits.values()
            if fit.spec
        ],
        "pythons": sorted({str(r.content["python"]) for r in collected.records
                           if r.content.get("python")}),
    }  # fmt: skip


def _named(collected: Collected, stage: str) -> Iterable[tuple[str, dict[str, Any]]]:
    return ((r.name, r.content) for r in collected.records if r.stage == stage)


def _parser(collected: Collected) -> dict[str, Any]:
    """Return the engine of the parser whose trees decide, what trained it, and its score."""
    name = collected.spec.evidence_parser or ""
    trained = dict(_named(collected, "train-parser")).get(name, {})
    parser = (trained.get("settings") or {}).get("parser") or {}
    if not parser:
        return {}
    treebank = parser.get("treebank")
    paths = treebank["path"] if treebank else []
    paths = [paths] if isinstance(paths, str) else [part["path"] for part in paths]
    return {
        "engine": parser.get("engine", ""),
        "treebanks": {"toy" if path == "toy" else "ud" for path in paths},
        "las": collected.parsers.get(name, {}).get("las"),
    }


def _learners(asked: list[Trained]) -> dict[str, dict[str, Any]]:
    """Return name -> learner as its runs' manifests have it, with their numbers of parameters."""
    found: dict[str, dict[str, Any]] = {}
    for item in sorted(asked, key=lambda item: item.run.learner):
        if learner := (item.manifest.get("settings") or {}).get("learner"):
            known = found.setdefault(item.run.learner, learner | {"parameters": []})
            known["parameters"] += filter(None, [item.statistics.get("parameters")])
    return found


def _seeds(collected: Collected) -> list[tuple[str, str]]:
    """Return (learner and regimen, seeds); one pair without a name where all have the same."""
    seeds: dict[tuple[str, str], dict[tuple[str, str, str], set[int]]] = {}
    for run in (item.run for item in collected.asked):
        points = seeds.setdefault((run.learner, run.regimen), {})
        points.setdefault((run.condition, run.size, run.bias), set()).add(run.seed)
    several = len({regimen for _, regimen in seeds}) > 1
    said = []
    for (learner, regimen), points in sorted(seeds.items()):
        each = [len(found) for found in points.values()]
        number = (
            f"{min(each)} to {max(each)} seeds" if len({*each}) > 1 else counted(each[0], "seed")
        )
        names = listed([str(seed) for seed in sorted(set().union(*points.values()))])
        said.append((f"{learner} ({regimen})" if several else learner, f"{number} ({names})"))
    return said if len({seeds for _, seeds in said}) > 1 else [("", said[0][1])] if said else []


def _suites(collected: Collected, layout: Layout) -> list[dict[str, Any]]:
    """Return name, notes and works of every suite of which something is known."""
    made = dict(_named(collected, "items"))
    found = []
    for suite in (*collected.spec.suites, *collected.spec.measured):
        content = made.get(suite, {})
        reader = ((content.get("settings") or {}).get("suite") or {}).get("reader", "")
        what, keys = SUITES.get(reader, ("", ()))
        if suite in _NAMED and reader != "templates":
            what, keys = "", (_NAMED[suite],)
        items = collected.items.get(suite)
        if items is not None and items.height:
            notes = [f"{items.height:,} pairs", category_names(layout, suite), what]
        else:
            notes = [f"{content['items']:,} items" if content.get("items") else "", what]
        if any(notes) or keys:
            found.append({"name": suite, "notes": list(filter(None, notes)), "works": keys})
    return found


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


def _options(options: dict[str, Any]) -> str:
    """Write options as a text does: ``k = 16, length = 256``; without those that are not set."""
    return ", ".join(
        f"{name.replace('_', ' ')} = {_value(value)}"
        for name, value in options.items()
        if value is not None and name != "name"
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
    low, high = min(values), max(values)
    return count(low) if low == high else f"{count(low)} to {count(high)}"
