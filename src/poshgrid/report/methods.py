"""The methods in a few sentences, from the settings that the manifests record."""

from __future__ import annotations

from typing import Any

from poshgrid.report.collect import Collected
from poshgrid.report.headlines import category_names
from poshgrid.report.layout import Layout


def paragraphs(collected: Collected, layout: Layout) -> list[str]:
    """Return the methods, a paragraph for each stage whose settings are known."""
    return [
        text
        for text in (
            _question(collected, layout),
            _training(collected),
            _scoring(collected),
            _inference(collected),
        )
        if text
    ]


def _question(collected: Collected, layout: Layout) -> str:
    suites = [
        f"{suite} ({collected.items[suite].height:,} pairs; {names})"
        for suite in collected.spec.suites
        if (names := category_names(layout, suite))
    ]
    text = (
        "Language models are trained from scratch on text of a size and kind that a child might "
        "hear, with direct evidence for the structures in question removed in some conditions, and "
        "asked which of two minimally different sentences is more probable."
    )
    return f"{text} The suites: {'; '.join(suites)}." if suites else text


def _training(collected: Collected) -> str:
    regimens: dict[str, dict[str, Any]] = {}
    for item in collected.asked:
        regimen = (item.manifest.get("spec") or {}).get("regimen")
        if regimen:
            regimens.setdefault(item.run.regimen, regimen)
    found = []
    for name in sorted(regimens):
        r = regimens[name]
        length = f"{r['steps']:,} steps" if r.get("steps") is not None else f"{r['epochs']} epochs"
        stop = (
            f", stopping {r['patience_steps']:,} steps after the best dev loss"
            if r.get("patience_steps")
            else ""
        )
        found.append(
            f"Regimen {name}: {r['input']} rows of {r['context_length']} tokens, "
            f"{r['batch_size']} in a batch, learning rate {r['learning_rate']:g} ({r['schedule']}, "
            f"{r['warmup_steps']:,} steps of warm-up), weight decay {r['weight_decay']:g}, "
            f"dropout {r['dropout']:g}, at most {length}{stop}; the checkpoint with the lowest "
            "dev loss is kept."
        )
    return " ".join(found)


def _scoring(collected: Collected) -> str:
    for record in collected.records:
        scoring = (record.content.get("spec") or {}).get("scoring")
        if record.stage == "accuracy" and scoring:
            measure = (
                "the mean log-probability of its tokens, which orders sentences as perplexity does"
                if scoring["reduction"] == "mean"
                else "the sum of the log-probabilities of its tokens"
            )
            start = (
                "after a boundary token, so that the first word counts"
                if scoring["bos"]
                else "without a boundary token, so that the first token is not scored"
            )
            return (
                f"A sentence's score is {measure}, {start}. A pair is right if the grammatical "
                "member scores higher; a tie counts as half. Accuracies are means over seeds of "
                "each seed's share of right pairs; SDs are over seeds. Overall is the mean of the "
                "categories, Average the mean of the phenomena."
            )
    return ""


def _inference(collected: Collected) -> str:
    found = []
    for name, fit in collected.fits.items():
        s = fit.spec
        if s:
            found.append(
                f"Model {name} is a binomial mixed model of the counts ({s['formula']}), with "
                f"slopes ~ Normal(0, {s['slope_sd']:g}), intercept ~ Normal(0, "
                f"{s['intercept_sd']:g}), group SDs ~ Exponential({s['group_rate']:g}); "
                f"{s['chains']} chains of {s['warmup']:,} warm-up and {s['draws']:,} kept "
                f"draws, target acceptance {s['target_accept']:g}, sampled with {s['sampler']}."
            )
    return " ".join(found)
