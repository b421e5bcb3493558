"""Agreement across a prepositional phrase: a subject noun with a noun after a preposition.

*A sketch of lights doesn't appear*: the verb agrees with *sketch*, not with the nearer *lights*.

``paper``, the rule of FiCT (section 3.2.1)::

    VERB >nsubj NOUN >nmod NOUN >case ADP

Names count as nouns: half of the items have a name in the prepositional phrase (*movies about
Galileo*), and the paper says that the filter targets 99.5% of the items.

``published``, the rule of the published code, inferred from its decisions on gold trees::

    S <nsubj _      S >nmod M      S .* M .* predicate

Any part of speech matches, so that copular predicates (*the people at the bank were friendly*) and
quantifiers (*one of them*, *most of the deals*) count. A preposition is not required, but the
phrase must be between subject and predicate, which excludes *there is a lid for the jar*. Relations
with a subtype (``nmod:unmarked``: *the horse itself is calm*) do not count.
"""

from __future__ import annotations

from poshgrid.evidence.patterns import readings, written

TARGETS: tuple[str, ...] = ("distractor_agreement_relational_noun",)
"""Paradigms of BLiMP."""
PATTERNS = written(
    paper="""
    prepositional phrase on a subject:
        {upos:VERB}=verb >nsubj {upos:NOUN|PROPN}=subject
        =subject >nmod {upos:NOUN|PROPN}=modifier
        =modifier >case {upos:ADP}=preposition
    """,
    published="""
    phrase between a subject and its predicate:
        {}=subject <++nsubj {}=predicate
        =subject >++nmod: {}=modifier
        =modifier .* =predicate
    """,
)
READINGS = readings(PATTERNS)
