"""Agreement of listed nouns: one of the benchmark's nouns is a subject.

*The geese aren't here*: a learner sees these nouns only in other positions, and must infer
the agreement of their verbs from the nouns' number. ``paper``, the rule of FiCT (section 3.2.2)::

    _ >nsubj $agreement-nouns

The list (``resources/filters/agreement-nouns.yaml``) holds the subjects of the four paradigms,
including names, in both numbers. Case is ignored, so that *bill* and *mark* count as well.

``published`` is the same rule. The published code, given this list, removes the same sentences from
gold trees, passive subjects included. Its own list is not published; its authors drew it from the
subjects of all of BLiMP, although the paper says the four paradigms.
"""

from __future__ import annotations

from poshgrid.evidence.patterns import readings, written

TARGETS: tuple[str, ...] = (
    "irregular_plural_subject_verb_agreement_1",
    "irregular_plural_subject_verb_agreement_2",
    "regular_plural_subject_verb_agreement_1",
    "regular_plural_subject_verb_agreement_2",
)
"""Paradigms of BLiMP."""
_RULE = """
listed noun as subject:
    {}=predicate >nsubj {word:$agreement-nouns}=subject
"""
PATTERNS = written(paper=_RULE, published=_RULE)
READINGS = readings(PATTERNS)
