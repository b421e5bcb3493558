"""Agreement across a relative clause: a subject noun with a relative clause.

*Boys that aren't disturbing Natalie suffer*: the verb agrees with *boys*, not with *Natalie*.

``paper``, the rule of FiCT (section 3.2.1), except for the last part of speech::

    VERB >nsubj NOUN >acl:relcl _

The paper prints ADJ for the head of the relative clause. Its own example and 94.4% of the items,
which it says are targeted, have a verb there, so that any head matches here. Names count as nouns.

``published``, the rule of the published code, inferred from its decisions on gold trees::

    _ >nsubj _ >acl:relcl _
    _ >nsubj _ >nmod _ >acl:relcl _

It matches any parts of speech (*those who left are happy*), and also relative clauses on a modifier
of the subject (*the story about Monet that ...*).
"""

from __future__ import annotations

from poshgrid.evidence.patterns import readings, written

TARGETS: tuple[str, ...] = ("distractor_agreement_relative_clause",)
"""Paradigms of BLiMP."""
PATTERNS = written(
    paper="""
    relative clause on a subject:
        {upos:VERB}=verb >nsubj {upos:NOUN|PROPN}=subject
        =subject >acl:relcl {}=relative
    """,
    published="""
    relative clause on any subject:
        {}=predicate >nsubj {}=subject
        =subject >acl:relcl {}=relative
    relative clause on a modifier of a subject:
        {}=predicate >nsubj {}=subject
        =subject >nmod {}=modifier
        =modifier >acl:relcl {}=relative
    """,
)
READINGS = readings(PATTERNS)
