"""Reflexives and c-command: a subject with a relative clause binds a later reflexive.

*A lot of actresses that thought about Alice healed themselves*: *Alice* is nearer, but inside the
relative clause. FiCT describes this filter in words (section 3.2.1): evidence of c-command "in
relative clauses, but not elsewhere", so that *Mary's brother hurt himself* stays.
``paper``, poshgrid's rule for this::

    _ >nsubj _ >acl:relcl _
    _ >obj|iobj|obl $reflexives, of the same predicate and after the subject ($++)

Reflexives of all persons count (``resources/filters/reflexives.yaml``).

``published`` is the same rule. The published code removes none of 14,545 gold sentences, and
neither does this rule, so nothing more can be inferred.
"""

from __future__ import annotations

from poshgrid.evidence.patterns import readings, written

TARGETS: tuple[str, ...] = ("principle_A_c_command",)
"""Paradigms of BLiMP."""
_RULE = """
reflexive of a subject with a relative clause:
    {rel:nsubj}=subject $++ {word:$reflexives;rel:obj|iobj|obl}=reflexive
    =subject >acl:relcl {}=relative
"""
PATTERNS = written(paper=_RULE, published=_RULE)
READINGS = readings(PATTERNS)
