"""The methods from sources to trained models, in words; see :mod:`poshgrid.report.methods`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from poshgrid.config.corpora import Treebank
from poshgrid.config.runs import COUNTED, PRETRAINED, UNTRAINED, parts
from poshgrid.report.collect import Collected, Trained
from poshgrid.report.layout import Layout
from poshgrid.report.references import Citations
from poshgrid.tables.words import counted, listed

_READERS: dict[str, tuple[str, ...]] = {
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
_FILTERS = {
    "yang2026": ("question-formation", "binding"),
    "patil2024": (
        "agr-pp-mod", "agr-re-irr-sv", "agr-rel-cl", "binding-c-command", "binding-case",
        "binding-domain", "binding-reconstruction", "det-adj-noun", "det-noun", "npi-only",
        "npi-sent-neg", "npi-sim-ques", "passive", "quantifier-existential-there",
        "quantifier-superlative",
    ),
}  # fmt: skip
"""Work -> the filters whose definition is from it."""
_REFILLED = ", with further sentences of the same sources in their place"
_ENGINES = {"stanza": "qi2020", "spacy": "honnibal2020"}
_ARCHITECTURES = {
    "gpt2": ("GPT-2", "radford2019"),
    "lstm": ("LSTM", "hochreiter1997"),
    "babyberta": ("BabyBERTa", "huebner2021"),
}
_BIASES = {
    "dyck": ("pre-pretraining on a shuffled k-Dyck language", "hu2025"),
    "tree-planting": ("supervision of attention by distances in dependency trees", "yoshida2024"),
    "recency": ("attention to near words, which fades from epoch to epoch", "mita2025"),
}

# ---- what specs record ---------------------------------------------------------------------------


def specs_of(
    collected: Collected, stage: str
) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Yield name, spec and content of a stage's manifests."""
    for record in collected.records:
        if record.stage == stage:
            yield record.name, record.content.get("spec") or {}, record.content


def _options(options: dict[str, Any]) -> str:
    """Write options as a text does: ``k = 16, length = 256``."""
    return ", ".join(f"{name.replace('_', ' ')} = {_value(v)}" for name, v in options.items())


def _value(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list):
        return " ".join(map(_value, value))
    return str(value)


def _range(values: Iterable[float]) -> str:
    low, high = min(found := list(values)), max(found)
    return f"{low:,.0f}" if low == high else f"{low:,.0f} to {high:,.0f}"


def spec_of(item: Trained) -> dict[str, Any]:
    """Return what a run was asked to be, as its manifest has it."""
    return item.manifest.get("spec") or {}


# ---- corpora, evidence, tokens -------------------------------------------------------------------


def corpora(collected: Collected, layout: Layout, cite: Citations) -> str:
    """Say which sources a base has, and how many words of each at each size."""
    readers = {
        name: reader
        for name, spec, content in specs_of(collected, "read")
        if (reader := (spec.get("source") or {}).get("reader") or content.get("reader"))
    }
    found = []
    for base, statistics in collected.bases.items():
        if not statistics:
            continue
        sizes = statistics.get("train", {})
        texts = []
        for size in layout.sizes:
            sources = sizes.get(size, {}).get("sources", {})
            if sources:
                words = ", ".join(f"{s} {facts['words']:,}" for s, facts in sources.items())
                texts.append(f"{size}: {words}")
        names = dict.fromkeys(s for size in sizes.values() for s in size.get("sources", {}))
        cited = [_source(name, readers.get(name), cite) for name in names]
        text = f"Base {base}"
        text += f" mixes {listed(cited)}" if len(cited) > 1 else f" is {listed(cited or ['empty'])}"
        if texts:
            text += f"; words by size: {'; '.join(texts)}"
        held = [
            f"{statistics[split]['words']:,} words for {split}"
            for split in ("dev", "test")
            if statistics.get(split, {}).get("words")
        ]
        found.append(f"{text}.{f' Held out: {listed(held)}.' if held else ''}")
    if found and len(layout.sizes) > 1:
        found.append("Sizes are nested: a smaller one is part of a larger one.")
    return " ".join(found)


def _source(name: str, reader: str | None, cite: Citations) -> str:
    if reader is None:
        return name
    keys = _READERS.get(reader, ())
    return f"{name} (read as {reader}{f'; {cite.bare(*keys)}' if keys else ''})"


def evidence(collected: Collected, cite: Citations) -> str:
    """Say what was removed and put back, by which filters and on whose trees."""
    conditions: dict[str, dict[str, Any]] = {}
    backstop = False
    for _, spec, _ in specs_of(collected, "condition"):
        condition = spec.get("condition") or {}
        if condition.get("name"):
            conditions.setdefault(condition["name"], condition)
            backstop |= bool(condition.get("filters")) and bool(spec.get("backstop"))
    used = dict.fromkeys(f["name"] for c in conditions.values() for f in c.get("filters") or [])
    if not used:
        return ""
    named = []
    for key, members in _FILTERS.items():
        mine = [f for f in used if f in members]
        if mine:
            named.append(f"{listed(mine)} (defined after {cite.bare(key)})")
    known = {f for members in _FILTERS.values() for f in members}
    named += [f"{f} (defined by the user)" for f in used if f not in known]
    text = f"Direct evidence is found by filters on dependency trees: {'; '.join(named)}."
    parser = _deciding(collected, cite)
    text += f" {parser}" if parser else ""
    if backstop:
        text += (
            " Where a reading has a backstop, it also removes sentences whose words alone "
            "suggest evidence."
        )
    for name, condition in conditions.items():
        text += _condition(name, condition)
    audits = [spec for _, spec, _ in specs_of(collected, "audit")]
    samples = [
        f"{spec['condition']} at {spec['size']} (up to {spec['sample']:,} a filter)"
        for spec in audits
        if {"condition", "size", "sample"} <= set(spec)
    ]
    if samples:
        text += (
            f" Sentences of {listed(samples)} were drawn for people to judge, with exact "
            f"intervals of the rates {cite('clopper1934')}."
        )
    if any(specs_of(collected, "collateral")):
        text += (
            " What else was removed with the evidence was counted, and word forms before and after "
            f"were compared by the Jensen–Shannon divergence {cite('lin1991')}."
        )
    if any(spec.get("detector") for spec in audits):
        text += (
            " What the filters left was sampled by strata of a detector's score, learned from gold "
            f"trees; rates are weighted {cite('horvitz1952')}, and the strata's intervals "
            f"combined {cite('fay2015')}."
        )
    if collected.agreement:
        text += f" Agreement of parsers is Cohen's kappa {cite('cohen1960')}."
    return text


def _deciding(collected: Collected, cite: Citations) -> str:
    """Say which parser's trees decide, and what it was trained from."""
    for name, spec, _ in specs_of(collected, "train-parser"):
        parser = spec.get("parser") or {}
        if name != collected.spec.evidence_parser or not parser:
            continue
        engine = parser.get("engine", "")
        cited = cite(_ENGINES[engine]) if engine in _ENGINES else ""
        origin = "with a model that was given"
        if parser.get("treebank"):
            paths = {part.path for part in Treebank.model_validate(parser["treebank"]).parts}
            told = ["trees of the toy grammar"] if "toy" in paths else []
            if paths != {"toy"}:
                told.append(f"treebanks of Universal Dependencies {cite('nivre2020')}")
            origin = f"trained from {listed(told)}"
        las = collected.parsers.get(name, {}).get("las")
        score = f", LAS {100 * las:.1f}% on held-out trees" if las is not None else ""
        return f"Trees are those of {engine} {cited}, {origin}{score}.".replace(" ,", ",")
    return ""


def _condition(name: str, condition: dict[str, Any]) -> str:
    filters = [f"{each['name']} ({each['reading']})" for each in condition.get("filters") or []]
    if condition.get("control"):
        matched = listed(["source", "length", *(condition.get("match") or [])])
        text = (
            f" Condition {name} is {condition.get('base')} less as many sentences as "
            f"{condition['control']} loses, chosen at random and matched by {matched}"
        )
        return f"{text}{_REFILLED if condition.get('refill') else ''}."
    if not filters:
        return f" Condition {name} is {condition.get('base')}, unfiltered."
    text = f" Condition {name} is {condition.get('base')} without what {listed(filters)} removes"
    back = [
        f"{each['filter']} at "
        + ("its natural rate" if each["rate"] == "natural" else f"a rate of {each['rate']:g}")
        + (f" (pool: {each['pool']})" if each.get("pool") else "")
        for each in condition.get("reinsert") or []
    ]
    if condition.get("refill"):
        text += _REFILLED
    if back:
        text += f", with sentences put back in place of others: {listed(back)}"
    bare = condition.get("unfiltered_sizes") or []
    if bare:
        text += f"; at {listed(bare)} nothing is removed"
    if (condition.get("downsample") or 1) < 1:
        text += f"; {100 * condition['downsample']:g}% of its sentences are kept"
    return text + "."


def tokens(collected: Collected, cite: Citations) -> str:
    """Say how text was cut into tokens."""
    found: dict[str, None] = {}
    for _, spec, _ in specs_of(collected, "tokenizer"):
        t = spec.get("tokenizer") or {}
        if "vocabulary_size" in t:
            case = "case folded" if t.get("lowercase") else "case kept"
            rare = f", pairs rarer than {t['min_frequency']} not merged"
            found[f"{t['vocabulary_size']:,} types, {case}"
                  f"{rare if t.get('min_frequency') else ''}"] = None  # fmt: skip
    if not found:
        return ""
    return (
        "Text is cut by byte-level byte-pair encoding "
        f"{cite('sennrich2016', 'radford2019')}, with one tokenizer for each condition and size: "
        f"{'; '.join(found)}."
    )


# ---- learners and training -----------------------------------------------------------------------


def learners(collected: Collected, cite: Citations) -> str:
    """Name the learners, their dimensions and seeds."""
    found: dict[str, dict[str, Any]] = {}
    parameters: dict[str, list[int]] = {}
    for item in collected.asked:
        learner = spec_of(item).get("learner")
        if learner:
            found.setdefault(item.run.learner, learner)
        if item.statistics.get("parameters"):
            parameters.setdefault(item.run.learner, []).append(item.statistics["parameters"])
    texts = []
    for name in sorted(found):
        architecture = found[name].get("architecture", "")
        label, key = _ARCHITECTURES.get(architecture, (architecture, ""))
        parts_ = [f"{label}{f'; {cite.bare(key)}' if key else ''}"]
        if found[name].get("options"):
            parts_.append(_options(found[name]["options"]))
        if parameters.get(name):
            parts_.append(f"{_range(parameters[name])} parameters")
        texts.append(f"{name} ({'; '.join(parts_)})")
    if not texts:
        return ""
    return f"Learners: {'; '.join(texts)}. {_seeds(collected)}"


def _seeds(collected: Collected) -> str:
    """Say from how many seeds learners were trained, by regimen where they differ."""
    seeds: dict[tuple[str, str], dict[tuple[str, str, str], set[int]]] = {}
    for run in (item.run for item in collected.asked):
        points = seeds.setdefault((run.learner, run.regimen), {})
        points.setdefault((run.condition, run.size, run.bias), set()).add(run.seed)
    said = {key: _from(list(points.values())) for key, points in sorted(seeds.items())}
    if len(set(said.values())) == 1:
        return f"Each was trained from {next(iter(said.values()))}."
    regimens = len({regimen for _, regimen in said}) > 1
    each = [
        f"{learner}{'' if i else ' was trained'}"
        f"{f' by regimen {regimen}' if regimens else ''} from {number}"
        for i, ((learner, regimen), number) in enumerate(said.items())
    ]
    return f"Of these, {listed(each)}."


def _from(points: list[set[int]]) -> str:
    """Write a number of seeds, which may differ from cell to cell, and the seeds."""
    least, seeds = min(map(len, points)), sorted(set().union(*points))
    most = max(map(len, points))
    number = counted(most, "seed") if least == most else f"{least} to {most} seeds"
    return f"{number} ({listed([str(seed) for seed in seeds])})"


def training(collected: Collected, cite: Citations) -> str:
    """Say how they were trained."""
    regimens: dict[str, dict[str, Any]] = {}
    for item in collected.asked:
        regimen = spec_of(item).get("regimen")
        if regimen:
            regimens.setdefault(item.run.regimen, regimen)
    texts = [_regimen(name, regimens[name]) for name in sorted(regimens)]
    if not texts:
        return ""
    return f"Models are trained by AdamW {cite('loshchilov2019')}. {' '.join(texts)}"


def _regimen(name: str, r: dict[str, Any]) -> str:
    length = f"{r['steps']:,} steps" if r.get("steps") is not None else f"{r['epochs']} epochs"
    stop = (
        f", stopping {r['patience_steps']:,} steps after the best dev loss"
        if r.get("patience_steps")
        else ""
    )
    clip = f", gradients clipped at norm {r['clip_norm']:g}" if r.get("clip_norm") else ""
    precision = f", {r['precision']}" if r.get("precision") else ""
    text = (
        f"Regimen {name}: {r['input']} rows of {r['context_length']} tokens, {r['batch_size']} in "
        f"a batch, learning rate {r['learning_rate']:g} ({r['schedule']}, {r['warmup_steps']:,} "
        f"steps of warm-up), weight decay {r['weight_decay']:g}, dropout {r['dropout']:g}{clip}"
        f"{precision}, at most {length}{stop}"
    )
    kept = {
        "best": "; the checkpoint with the lowest dev loss is kept",
        "last": "; the last weights are kept",
    }.get(r.get("keep", ""), "")
    padded = "; padding is predicted, too" if r.get("padding_in_loss") else ""
    return f"{text}{kept}{padded}."


def biases(collected: Collected, cite: Citations) -> str:
    """Name the inductive biases and what was set."""
    found: dict[str, dict[str, Any]] = {}
    for item in collected.asked:
        for part in parts(item.run.bias):
            options = spec_of(item).get("options") or {}
            if part in options:
                found.setdefault(part, options[part])
    texts = []
    for name in sorted(found):
        what, key = _BIASES.get(name, ("", ""))
        facts = [f"{what} {cite(key)}"] if key else []
        if found[name]:
            facts.append(f"set to {_options(found[name])}, all else at its defaults")
        else:
            facts.append("at its defaults")
        texts.append(f"{name}: {', '.join(facts)}")
    return f"Inductive biases: {'; '.join(texts)}." if texts else ""


def nulls(collected: Collected, cite: Citations) -> str:
    """Name what accuracies are compared to."""
    found = []
    regimens = {t.run.regimen for t in collected.trained}
    if UNTRAINED in regimens:
        found.append("the same learners untrained")
    orders = sorted({s["order"] for _, s, _ in specs_of(collected, "count") if s.get("order")})
    if orders and COUNTED in regimens:
        names = listed(["unigram" if n == 1 else f"{n}-gram" for n in orders])
        found.append(
            f"{names} models of the same text with interpolated modified Kneser–Ney smoothing "
            f"{cite('chen1999')}"
        )
    text = f"Accuracies are compared with nulls: {listed(found)}." if found else ""
    given = sorted({t.run.learner for t in collected.trained if t.run.regimen == PRETRAINED})
    if given:
        text += f" Models trained by others, scored in the same way: {listed(given)}."
    return text.strip()
