"""Agreement over a prepositional phrase: a subject noun with a noun behind a preposition.

*A sketch of lights doesn't appear*: the verb agrees with *sketch*, not with the nearer *lights*.

``paper``, the rule of FiCT (section 3.2.1)::

    VERB >nsubj NOUN >nmod NOUN >case ADP

Names count as nouns: in half of the targets a name stands in the prepositional phrase (*movies
about Galileo*), and the paper says that 99.5% of the items are targeted.

``published``, what the published code does, as far as its decisions on gold trees tell::

    S <nsubj _      S >nmod M      S .* M .* predicate

Any part of speech will do, so that copular predicates (*the people at the bank were friendly*) and
quantifiers (*one of them*, *most of the deals*) count. No preposition is asked for, but the phrase
must stand between subject and predicate, which leaves *there is a lid for the jar* alone.
Relations with a subtype (``nmod:unmarked``: *the horse itself is calm*) do not count.
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
