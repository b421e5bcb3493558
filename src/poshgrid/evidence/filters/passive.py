"""Passives of listed verbs: *Jeffrey's sons are insulted by Tina*.

A learner must infer from other passives that these verbs have one. ``paper``, the rule of FiCT
(section 3.2.2): a verb that the benchmark uses in the passive "appears in passive voice"::

    $passive-participles >aux:pass _
    $passive-participles >nsubj:pass _
    $passive-participles with Voice=Pass <acl|advcl|conj _

The list (``resources/filters/passive-participles.yaml``) holds the participles of the two
paradigms. Relations alone miss a second conjunct and a reduced relative clause (*the man insulted
by Tina*), and parsers differ in the feature, so any of the three matches. A participle before a
noun (*a respected doctor*) does not match.

``published``, the rule of the published code, inferred from its decisions on gold trees::

    $passive-participles with Voice=Pass
    $passive-participles >cop _

The feature alone decides, also before a noun (*a visited town*) and after *get* (*get it cleaned*).
Participles that treebanks tag as adjectives match if they are predicates (*I was impressed*). With
a parser that predicts no features only the latter match.
"""

from __future__ import annotations

from poshgrid.evidence.patterns import readings, written

TARGETS: tuple[str, ...] = (
    "passive_1",
    "passive_2",
)
"""Paradigms of BLiMP."""
PATTERNS = written(
    paper="""
    passive auxiliary of a listed verb:
        {word:$passive-participles}=verb >aux:pass {}=auxiliary
    passive subject of a listed verb:
        {word:$passive-participles}=verb >nsubj:pass {}=subject
    listed verb as passive clause without auxiliary:
        {word:$passive-participles;feats:Voice=Pass;rel:acl|advcl|conj}=verb
    """,
    published="""
    listed verb with the feature of passives:
        {word:$passive-participles;feats:Voice=Pass}=verb
    listed verb as a copula's predicate:
        {word:$passive-participles}=predicate >cop {}=copula
    """,
)
READINGS = readings(PATTERNS)
