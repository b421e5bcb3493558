"""Case and reflexives: a pronoun subject of a clause, a reflexive before a participle.

*Tara thinks that she sounded like Wayne* (a subject is not a reflexive), *Anna imagines herself
praising this boy* (a reflexive has no finite verb). FiCT gives no rule, only the benchmarks'
contexts, "narrowly construed" (section 3.2.1). ``paper``, poshgrid's rule for them::

    VERB >ccomp _ >nsubj he|she|they
    $reflexives . VERB in -ing
    VERB > $reflexives $++ VERB in -ing, which is the VERB's xcomp or ccomp

The pronouns are those of the first paradigm. The second and third rule differ if there are words
between (*herself slowly opening*) and if parsers analyse the construction differently.

``published``, the rule of the published code, inferred from its decisions on gold trees::

    ccomp >mark M . PRON <nsubj _
    $reflexives . xcomp

Any pronoun and any governor match (*make sure that you ...*, *I ask if this ...*), but a
conjunction must be right before the pronoun: *I hope they worked* stays. After a reflexive any
``xcomp`` matches, also a noun (*they call themselves friends*). The conjunctions are listed here
(*that*, *if*, *whether*, *for*), so that sentences without one need no parse. The code only checks
the relation, so that misspelt conjunctions are missed here.
"""

from __future__ import annotations

from poshgrid.evidence.patterns import readings, written

TARGETS: tuple[str, ...] = (
    "principle_A_case_1",
    "principle_A_case_2",
)
"""Paradigms of BLiMP."""
PATTERNS = written(
    paper="""
    pronoun as subject of a complement clause:
        {upos:VERB}=verb >ccomp {}=clause
        =clause >nsubj {word:he|she|they}=pronoun
    reflexive right before a participle:
        {word:$reflexives}=reflexive . {upos:VERB;word:/ing$/}=participle
    reflexive and participle of one verb:
        {word:$reflexives}=reflexive $++ {upos:VERB;word:/ing$/;rel:xcomp|ccomp}=participle
        =reflexive < {upos:VERB}=verb
    """,
    published="""
    conjunction and pronoun subject of a complement clause:
        {rel:ccomp}=clause >mark {word:that|if|whether|for}=conjunction
        =conjunction . {upos:PRON;rel:nsubj}=pronoun
    reflexive right before an open complement:
        {word:$reflexives}=reflexive . {rel:xcomp}=complement
    """,
)
READINGS = readings(PATTERNS)
