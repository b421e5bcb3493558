"""The domain of binding: a pronoun or reflexive below the subject of a complement clause.

*Carlos said that Lori helped him*, *Mark imagines Erin might admire herself*: a reflexive is bound
in its own clause, a pronoun is not. FiCT gives no rule, only the benchmarks' contexts,
"narrowly construed" (section 3.2.1). ``paper``, poshgrid's rule, with the first paradigm's
pronouns::

    VERB >ccomp _ >nsubj _ $++ him|her|them|$reflexives, which is obj, iobj or obl

``published``, the rule of the published code, inferred from its decisions on gold trees::

    C: ccomp      C >mark _      C >++obj|obl PRON
    ccomp|xcomp > $reflexives

Any pronoun matches (*let me know if you need anything*, *how to do it*); a subject is not required,
but a conjunction or *to* is. A reflexive matches in any complement (*they want to protect
themselves*), but not in a clause of purpose. The words of ``mark`` are listed here (*that*, *if*,
*whether*, *to*, *for*), so that sentences without one need no parse. The code only checks the
relation, so that rarer words (*about how*) are missed here.

The paper's table can be read as if principle_A_domain_1 belonged to binding-case; its published
results put it here, as its name does.
"""

from __future__ import annotations

from poshgrid.evidence.patterns import readings, written

TARGETS: tuple[str, ...] = (
    "principle_A_domain_1",
    "principle_A_domain_2",
    "principle_A_domain_3",
)
"""Paradigms of BLiMP."""
PATTERNS = written(
    paper="""
    pronoun below the subject of a complement clause:
        {rel:nsubj}=subject $++ {word:him|her|them|$reflexives;rel:obj|iobj|obl}=pronoun
        =subject < {rel:ccomp}=clause
        =clause < {upos:VERB}=verb
    """,
    published="""
    conjunction and pronoun object of a complement clause:
        {rel:ccomp}=clause >mark {word:that|if|whether|to|for}=conjunction
        =clause >++obj|obl {upos:PRON}=pronoun
    reflexive of a complement clause:
        {word:$reflexives}=reflexive < {rel:ccomp|xcomp}=clause
    """,
)
READINGS = readings(PATTERNS)
