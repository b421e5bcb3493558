"""The methods as a paper could take them over, from what specs and manifests record.

A setting that no manifest records is not named: nothing here says what a run did. Works are cited
by what was used (a reader, an engine, a bias); see :mod:`poshgrid.report.references`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from poshgrid.report import materials, posterior, references
from poshgrid.report.blocks import Block, Heading, Page
from poshgrid.report.collect import Collected, Fit
from poshgrid.report.layout import Layout, category_names
from poshgrid.report.materials import spec_of, specs_of
from poshgrid.report.references import Citations, Work
from poshgrid.tables.words import listed

_SUITES: dict[str, tuple[str, tuple[str, ...]]] = {
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
_SAMPLERS = {"nutpie": "nutpie", "pymc": "abrilpla2023", "numpyro": "phan2019"}
_SOFTWARE = {
    "snakemake": "molder2021", "torch": "paszke2019", "transformers": "wolf2020",
    "stanza": "qi2020", "spacy": "honnibal2020", "bambi": "capretto2022", "pymc": "abrilpla2023",
    "nutpie": "nutpie", "numpyro": "phan2019", "arviz": "kumar2019",
}  # fmt: skip
TITLE, ORDER, AUDIENCE = "Methods", 140, "reviewer"
_WORK = Markup('<p class="note" id="reference-{}">{} <cite>{}{}</cite>{}{}</p>')
_LINK = Markup(' <a href="{}">{}</a>')
_BIBTEX = Markup('<p class="downloads">References: <a href="{}" download>BibTeX</a></p>')
_EVERYWHERE = ("snakemake", "torch", "transformers")
"""Packages that no run does without; the others are cited where they were used."""


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
        *(
            _WORK.format(
                work.key,
                work.head,
                work.title,
                "" if work.title.endswith("?") else ".",
                f" {work.tail}" if work.tail else "",
                _LINK.format(work.link, work.link) if work.link else "",
            )
            for work in written.works
        ),
        _BIBTEX.format(address) if address else None,
    ]


def write_up(collected: Collected, layout: Layout) -> Methods:
    """Return the methods, a part for each stage whose settings are known, and its references."""
    cite = Citations()
    found = {
        "Question": _question(cite),
        "Corpora": materials.corpora(collected, layout, cite),
        "Evidence": materials.evidence(collected, cite),
        "Tokens": materials.tokens(collected, cite),
        "Learners": materials.learners(collected, cite),
        "Training": materials.training(collected, cite),
        "Biases": materials.biases(collected, cite),
        "Nulls": materials.nulls(collected, cite),
        "Suites": _suites(collected, layout, cite),
        "Scoring": _scoring(collected, cite),
        "Tests": _tests(collected, cite),
        "Filtering": _filtering(collected, cite),
        "Models": _models(collected, cite),
        "Software": _software(collected, cite),
    }
    return Methods([(heading, text) for heading, text in found.items() if text], cite.works)


def _question(cite: Citations) -> str:
    return (
        "Language models are trained from scratch on text of a size and kind that a child might "
        "hear, with direct evidence for the structures in question removed in some conditions, and "
        "asked which of two minimally different sentences is more probable "
        f"{cite('yang2026')}."
    )


# ---- suites, scores, statistics ------------------------------------------------------------------


def _suites(collected: Collected, layout: Layout, cite: Citations) -> str:
    facts = {name: (spec, content) for name, spec, content in specs_of(collected, "items")}
    texts = []
    for suite in (*collected.spec.suites, *collected.spec.measured):
        spec, content = facts.get(suite, ({}, {}))
        reader = (spec.get("suite") or {}).get("reader", "")
        what, keys = _SUITES.get(reader, ("", ()))
        if suite in _NAMED:
            what, keys = ("", (_NAMED[suite],)) if reader != "templates" else (what, keys)
        notes = []
        items = collected.items.get(suite)
        if items is not None and items.height:
            notes.append(f"{items.height:,} pairs")
            names = category_names(layout, suite)
            notes += [names] if names else []
        elif content.get("items"):
            notes.append(f"{content['items']:,} items")
        notes += [what] if what else []
        if keys:
            notes.append(cite.bare(*keys))
        if notes:
            texts.append(f"{suite} ({'; '.join(notes)})")
    return f"Suites: {listed(texts)}." if texts else ""


def _scoring(collected: Collected, cite: Citations) -> str:
    scoring = next(
        (s["scoring"] for _, s, _ in specs_of(collected, "accuracy") if s.get("scoring")), None
    )
    if not scoring or "reduction" not in scoring:
        return ""
    measure = (
        "the mean log-probability of its tokens, which orders sentences as perplexity does"
        if scoring["reduction"] == "mean"
        else "the sum of the log-probabilities of its tokens"
    )
    start = (
        "after a boundary token, so that the first word counts"
        if scoring.get("bos")
        else "without a boundary token, so that the first token is not scored"
    )
    text = (
        f"A sentence's score is {measure}, {start}. A pair is right if the grammatical member "
        "scores higher; a tie counts as half."
    )
    masked = any(
        (spec_of(t).get("learner") or {}).get("architecture") == "babyberta"
        for t in collected.asked
    )
    if masked and scoring.get("masked") == "pseudo-log-likelihood":
        text += f" Masked models are scored one mask at a time {cite('salazar2020')}."
    elif masked and scoring.get("masked") == "holistic":
        text += f" Masked models are scored without masks {cite('huebner2021')}."
    return text


def _tests(collected: Collected, cite: Citations) -> str:
    content = next((content for *_, content in specs_of(collected, "accuracy")), None)
    if content is None:
        return ""
    drawn = content.get("replicates")
    interval = (
        f"percentiles of {drawn:,} bootstrap resamples of the lexical sets, all seeds together "
        f"{cite('efron1979')}"
        if drawn
        else "taken over lexical sets, all seeds together"
    )
    return (
        "Accuracies are means over seeds of each seed's share of right pairs; SDs are over seeds. "
        "Overall is the mean of the categories, Average the mean of the phenomena. Accuracies are "
        "compared with 50% by χ² tests: one over the pairs of all seeds, uncorrected, and one per "
        f"seed, combined by Fisher's method {cite('fisher1932')} and corrected by Holm's "
        f"{cite('holm1979')} over the categories (or phenomena) of one model; a cell with "
        f"seeds on both sides of 50% has p = 1. Intervals (95%) are {interval}."
    )


def _filtering(collected: Collected, cite: Citations) -> str:
    if collected.deltas.is_empty():
        return ""
    text = (
        "The effect of filtering is measured as in "
        f"{cite.named('patil2024')}: the accuracy less that of models of the condition with the "
        "evidence, and the mean difference between the members' log-probabilities, before and "
        "after."
    )
    if collected.perplexity.is_empty():
        return text
    return f"{text} Perplexity is measured on the test split of unfiltered text."


def _models(collected: Collected, cite: Citations) -> str:
    texts = [
        _model(name, fit, posterior.suite(fit, collected.spec.suites), cite)
        for name, fit in collected.fits.items()
        if fit.spec
    ]
    if not texts:
        return ""
    from poshgrid.statistics.summary import ESS_LEAST, R_HAT_MOST

    return (
        f"{' '.join(texts)} A fit may be quoted if R-hat {cite('vehtari2021')} is at most "
        f"{R_HAT_MOST:g}, bulk and tail effective sample sizes are at least {ESS_LEAST:g}, and no "
        "transition diverged."
    )


def _model(name: str, fit: Fit, suite: str, cite: Citations) -> str:
    s, d = fit.spec, fit.diagnostics
    # What was fitted: the formula asked for, less the terms that the data cannot bear
    formula = d.get("formula") or s["formula"]
    sampler = d.get("sampler") or s.get("sampler", "")
    engine = d.get("engine") or s.get("engine", "")
    by = f", sampled by NUTS {cite('hoffman2014')}"
    if sampler:
        known = f" {cite(_SAMPLERS[sampler])}" if sampler in _SAMPLERS else ""
        by += f" with {sampler}{known}"
    if engine == "bambi":
        by += f", set up by bambi {cite('capretto2022')}"
    elif engine == "fast":
        by += ", in a reparametrised form that has the same posterior"
    text = (
        f"Model {name} is a binomial mixed model of the counts on {suite} ({formula}), with "
        f"slopes ~ Normal(0, {s['slope_sd']:g}), intercept ~ Normal(0, {s['intercept_sd']:g}), "
        f"group SDs ~ Exponential({s['group_rate']:g})"
    )
    own = [
        f"{p['term']} ~ "
        + (f"Normal(0, {p['sd']:g})" if p.get("sd") else f"Exponential({p['rate']:g})")
        for p in s.get("priors") or []
    ]
    text += f", except {listed(own)}" if own else ""
    text += "; factors S() are coded to sum to zero" if "S(" in formula else ""
    if s.get("only"):
        text += f"; it uses the runs with {s['only']}"
    last = (d.get("attempts") or [{}])[-1]
    kept = {key: last.get(key, s[key]) for key in ("warmup", "draws", "target_accept")}
    text += (
        f"; {s['chains']} chains of {kept['warmup']:,} warm-up and {kept['draws']:,} kept draws, "
        f"target acceptance {kept['target_accept']:g}{by}"
    )
    attempts = len(d.get("attempts") or [])
    if attempts > 1:
        text += f"; these are the settings of attempt {attempts}, which is stricter than the first"
    contrasts = [_contrast(contrast) for contrast in s.get("contrasts") or []]
    if contrasts:
        text += (
            f". Marginal contrasts, over the cells that both levels have: {'; '.join(contrasts)}"
        )
    return f"{text}."


def _contrast(contrast: dict[str, Any]) -> str:
    by = f", by {listed(contrast['by'])}" if contrast.get("by") else ""
    first = contrast.get("first") or "every other level"
    return f"{first} less {contrast['less']} ({contrast['factor']}{by})"


def _software(collected: Collected, cite: Citations) -> str:
    packages = collected.packages
    texts = []
    for name, versions in packages.items():
        key = _SOFTWARE.get(name, "")
        cited = f" {cite(key)}" if name in _EVERYWHERE or key in cite else ""
        texts.append(f"{name} {'/'.join(versions)}{cited}")
    pythons = sorted({str(r.content["python"]) for r in collected.records
                      if r.content.get("python")})  # fmt: skip
    if not texts:
        return ""
    python = f"Python {'/'.join(pythons)}, " if pythons else ""
    return f"Software, as installed where the jobs ran: {python}{listed(texts)}."
