"""Passives of listed verbs: *Jeffrey's sons are insulted by Tina*.

A learner must tell from other passives that these verbs have one. ``paper``, the rule of FiCT
(section 3.2.2): a verb that the benchmark uses in the passive "appears in passive voice"::

    $passive-participles >aux:pass _
    $passive-participles >nsubj:pass _
    $passive-participles with Voice=Pass <acl|advcl|conj _

The list (``resources/filters/passive-participles.yaml``) holds the participles of the two
paradigms. Relations alone miss a second conjunct and a reduced relative clause (*the man insulted
by Tina*), the feature is what parsers differ in: any of the three removes. A
participle before a noun (*a respected doctor*) does not.

``published``, what the published code does, as far as its decisions on gold trees tell::

    $passive-participles with Voice=Pass
    $passive-participles >cop _

The feature alone decides, before a noun (*a visited town*) and after *get* (*get it cleaned*) as
well, and participles that treebanks call adjectives go if they are predicates (*I was impressed*).
With a parser without features only the latter go.
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
