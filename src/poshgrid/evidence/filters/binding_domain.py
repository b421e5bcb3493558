"""The domain of binding: a pronoun or reflexive below the subject of a complement clause.

*Carlos said that Lori helped him*, *Mark imagines Erin might admire herself*: a reflexive is bound
in its own clause, a pronoun is not. FiCT gives no rule but the benchmarks' contexts, "narrowly
construed" (section 3.2.1). ``paper``, our rule, with the pronouns of the first paradigm::

    VERB >ccomp _ >nsubj _ $++ him|her|them|$reflexives, which is obj, iobj or obl

``published``, what the published code does, as far as its decisions on gold trees tell::

    C: ccomp      C >mark _      C >++obj|obl PRON
    ccomp|xcomp > $reflexives

Any pronoun will do (*let me know if you need anything*, *how to do it*) and no subject is asked
for, but a conjunction or *to* is. A reflexive goes in any complement (*they want to protect
themselves*), but not in a clause of purpose. The words of ``mark`` are listed (*that*, *if*,
*whether*, *to*, *for*), so that sentences without one need no parse: the code asks for the relation
alone, and rarer ones (*about how*) are lost here.

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
