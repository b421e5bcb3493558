"""ClearNLP's dependencies, as in spaCy's English pipelines, converted to Universal Dependencies.

The two differ in labels and in heads. In ClearNLP (Choi & Palmer 2012, "Guidelines for the CLEAR
style constituent to dependency conversion") a preposition governs its noun, *be* governs its
predicate, conjuncts form a chain and a conjunction depends on the conjunct before it. In UD content
words are the governors. One case is ambiguous: an adverb or a phrase after *be* without a
complement is always analysed as its predicate.
"""

from __future__ import annotations

from poshgrid.parsing.tree import Tree

RELATIONS = {
    "ROOT": "root", "acl": "acl", "acomp": "xcomp", "advcl": "advcl", "advmod": "advmod",
    "agent": "obl:agent", "amod": "amod", "appos": "appos", "attr": "xcomp", "aux": "aux",
    "auxpass": "aux:pass", "case": "case", "cc": "cc", "ccomp": "ccomp", "compound": "compound",
    "conj": "conj", "csubj": "csubj", "csubjpass": "csubj:pass", "dative": "iobj", "dep": "dep",
    "det": "det", "dobj": "obj", "expl": "expl", "intj": "discourse", "mark": "mark",
    "meta": "dep", "neg": "advmod", "nmod": "nmod", "npadvmod": "obl", "nsubj": "nsubj",
    "nsubjpass": "nsubj:pass", "nummod": "nummod", "oprd": "xcomp", "parataxis": "parataxis",
    "pcomp": "advcl", "pobj": "obl", "poss": "nmod:poss", "preconj": "cc:preconj",
    "predet": "det:predet", "prep": "obl", "prt": "compound:prt", "punct": "punct",
    "quantmod": "advmod", "relcl": "acl:relcl", "xcomp": "xcomp",
}  # fmt: skip
"""ClearNLP's relation in spaCy's English pipelines -> UD's relation where the heads are the
same."""

_BE = frozenset({"am", "are", "be", "been", "being", "is", "was", "were", "'m", "'re", "'s"})
_NOMINAL = frozenset({"NOUN", "PROPN", "PRON", "NUM", "SYM"})
_PASSIVE = frozenset({"aux:pass", "nsubj:pass"})
_PREPOSITIONS = frozenset({"prep", "agent", "dative"})


def universal(tree: Tree) -> Tree:
    """Return a tree in Universal Dependencies.

    Args:
        tree: its relations are keys of :data:`RELATIONS`; its root has the relation ``root``.
    """
    draft = _Draft(tree)
    depth = [len(list(tree.ancestors(word))) for word in range(1, len(tree) + 1)]
    bottom_up = sorted(range(1, len(tree) + 1), key=lambda word: -depth[word - 1])
    draft.attach_conjuncts()
    for step in (draft.lower_preposition, draft.lower_copula, draft.split_clause):
        for word in bottom_up:  # in "out of the house" `of` is converted first
            step(word)
    feats = [
        "|".join(sorted({*feats.split("|"), "Voice=Pass"} - {"_"}))
        if draft.is_passive(word)
        else feats
        for word, feats in enumerate(tree.feats, start=1)
    ]
    return Tree(form=tree.form, upos=tree.upos, feats=feats, head=draft.head, deprel=draft.new)


class _Draft:
    """A tree during conversion: its current governors, and the relations of both schemes."""

    def __init__(self, tree: Tree) -> None:
        self.tree, self.head, self.old = tree, list(tree.head), tree.deprel
        self.new = [RELATIONS.get(relation, relation) for relation in tree.deprel]

    def children(self, word: int, *relations: str) -> list[int]:
        """Return the words that a word governs now; with ``relations``, only those of ClearNLP."""
        return [
            child
            for child, head in enumerate(self.head, start=1)
            if head == word and (not relations or self.old[child - 1] in relations)
        ]

    def promote(self, word: int, function: int, relation: str, own: str) -> None:
        """Put a word in the position of its governor, a function word, and make it govern that.

        Args:
            word: the content word.
            function: the function word.
            relation: new relation of the content word.
            own: new relation of the function word.
        """
        for child in self.children(function):
            self.head[child - 1] = word
        self.head[word - 1], self.new[word - 1] = self.head[function - 1], relation
        self.head[function - 1], self.new[function - 1] = word, own

    def attach_conjuncts(self) -> None:
        """Attach conjuncts to the first one, and each conjunction to the conjunct after it."""
        for word, relation in enumerate(self.new, start=1):
            if relation == "cc":
                others = self.tree.children(self.tree.head[word - 1])
                conjuncts = [c for c in others if c > word and self.new[c - 1] == "conj"]
                self.head[word - 1] = conjuncts[0] if conjuncts else self.head[word - 1]
            while relation == "conj" and self.new[self.head[word - 1] - 1] == "conj":
                self.head[word - 1] = self.head[self.head[word - 1] - 1]

    def lower_preposition(self, word: int) -> None:
        """Put the complement of a preposition in the preposition's position: *near the houses*."""
        relation, governor = self.old[word - 1], self.head[word - 1]
        if relation == "aux" and self.tree.upos[word - 1] == "PART":
            self.new[word - 1] = "mark"  # to
        inside = self.children(word, "pobj", "pcomp")
        if relation not in _PREPOSITIONS or not inside:
            return
        nominal = relation == "prep" and governor and self.tree.upos[governor - 1] in _NOMINAL
        if self.old[inside[0] - 1] == "pcomp":
            self.promote(inside[0], word, "acl" if nominal else "advcl", "mark")
        else:
            phrase = "nmod" if nominal else "obl:agent" if relation == "agent" else "obl"
            self.promote(inside[0], word, phrase, "case")

    def lower_copula(self, word: int) -> None:
        """Make the predicate of a form of *be* the head of the clause, except in *there is a man*.

        The predicate is a complement, else a phrase or adverb that follows.
        """
        if self.tree.lower(word) not in _BE or self.old[word - 1] in ("aux", "auxpass"):
            return
        predicates = self.children(word, "attr", "acomp")
        if self.children(word, "expl"):
            for child in self.children(word, "attr"):
                self.new[child - 1] = "nsubj"
            return
        for relation in ("obl", "advmod"):
            predicates += [
                child
                for child in self.children(word)
                if child > word and self.new[child - 1] == relation and self.old[child - 1] != "neg"
            ]
        if predicates:
            self.promote(predicates[0], word, self.new[word - 1], "cop")

    def split_clause(self, word: int) -> None:
        """Make the subject of a clause without a finite verb an object: *saw him go*."""
        infinite = self.tree.feature(word, "VerbForm") in ("Inf", "Part", "Ger")
        finite = self.children(word, "aux", "auxpass", "mark")
        subjects = self.children(word, "nsubj")
        if self.old[word - 1] == "ccomp" and subjects and infinite and not finite:
            self.new[word - 1], self.new[subjects[-1] - 1] = "xcomp", "obj"
            self.head[subjects[-1] - 1] = self.head[word - 1]

    def is_passive(self, word: int) -> bool:
        """Return whether a verb is passive in UD: by its auxiliary, or as a reduced clause."""
        if any(self.new[child - 1] in _PASSIVE for child in self.children(word)):
            return True
        reduced = self.old[word - 1] in ("acl", "advcl") and not self.children(word, "aux")
        return reduced and self.tree.feature(word, "Aspect") == "Perf"
