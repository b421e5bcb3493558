"""The fifteen filters of FiCT, reading `paper`, written anew from section 3.2 and its rules."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import yaml

from tests.parity.ud import Node, Sentence

NOUN = ("NOUN", "PROPN")
LISTS = Path(__file__).resolve().parents[2] / "resources" / "filters"


@functools.cache
def words(name: str) -> frozenset[str]:
    """A list of words of the filters."""
    return frozenset(yaml.safe_load((LISTS / f"{name}.yaml").read_text("utf-8"))["words"])


def later(node: Node, nodes: Sentence) -> Sentence:
    """The words behind one."""
    return nodes[node.at + 1 :]


def after(node: Node, nodes: Sentence) -> Node | None:
    """The word next to one."""
    return nodes[node.at + 1] if node.at + 1 < len(nodes) else None


def right_sisters(node: Node) -> list[Node]:
    """Words of the same governor that stand behind."""
    return [n for n in node.parent.kids if n.at > node.at] if node.parent else []


def subjects(nodes: Sentence) -> list[Node]:
    """Nouns that are subjects of verbs."""
    return [
        n
        for n in nodes
        if n.is_("nsubj") and n.upos in NOUN and n.parent and n.parent.upos == "VERB"
    ]


def agr_pp_mod(nodes: Sentence) -> bool:
    """VERB >nsubj NOUN >nmod NOUN >case ADP."""
    return any(
        case.upos == "ADP"
        for subject in subjects(nodes)
        for modifier in subject.under("nmod")
        if modifier.upos in NOUN
        for case in modifier.under("case")
    )


def agr_rel_cl(nodes: Sentence) -> bool:
    """VERB >nsubj NOUN >acl:relcl anything."""
    return any(subject.under("acl:relcl") for subject in subjects(nodes))


def agr_re_irr_sv(nodes: Sentence) -> bool:
    """A subject that the benchmark uses."""
    return any(n.is_("nsubj") and n.word in words("agreement-nouns") for n in nodes)


def polar(nodes: Sentence) -> list[Node]:
    """Negative polarity items; at all by its 'at'."""
    items = [n for n in nodes if n.word in words("npis")]
    for n in nodes:
        following = after(n, nodes)
        if n.word == "at" and following is not None and following.word == "all":
            items.append(n)
    return items


def npi_only(nodes: Sentence) -> bool:
    """An item behind only."""
    only = [n.at for n in nodes if n.word == "only"]
    return bool(only) and any(n.at > only[0] for n in polar(nodes))


def npi_sent_neg(nodes: Sentence) -> bool:
    """A negation and an item."""
    return any(n.word in ("not", "n't", "nt", "cannot") for n in nodes) and bool(polar(nodes))


def npi_sim_ques(nodes: Sentence) -> bool:
    """An item, and a question mark behind it."""
    marks = [n.at for n in nodes if "?" in n.form]
    return bool(marks) and any(n.at < marks[-1] for n in polar(nodes))


def quantifier_superlative(nodes: Sentence) -> bool:
    """A superlative in the phrase of a verb's object."""
    return any(
        low.feats.get("Degree") == "Sup" or low.word in ("least", "most")
        for n in nodes
        if n.is_("obl", "obj", "iobj") and n.upos in NOUN and n.parent and n.parent.upos == "VERB"
        for low in n.down()
    )


BE = frozenset(["am", "is", "are", "was", "were", "be", "been", "being", "'s", "'re", "ai"])
WEAK = frozenset(["a", "an", "no", "some", "few", "many"])


def quantifier_existential_there(nodes: Sentence) -> bool:
    """There is, and a weak quantifier on the subject."""
    return any(
        be.word in BE
        and any(t.word == "there" for t in be.under("expl"))
        and any(q.word in WEAK for s in be.under("nsubj") for q in s.kids)
        for be in nodes
    )


def binding_c_command(nodes: Sentence) -> bool:
    """A subject with a relative clause, and a reflexive object."""
    return any(
        sister.word in words("reflexives") and sister.is_("obj", "iobj", "obl")
        for subject in nodes
        if subject.is_("nsubj") and subject.under("acl:relcl")
        for sister in right_sisters(subject)
    )


def binding_case(nodes: Sentence) -> bool:
    """A pronoun as the subject of a complement clause, or a reflexive before an -ing verb."""
    for n in nodes:
        if n.word in ("he", "she", "they") and n.is_("nsubj"):
            clause = n.parent
            if clause and clause.is_("ccomp") and clause.parent and clause.parent.upos == "VERB":
                return True
        if n.word in words("reflexives"):
            verb = after(n, nodes)
            if verb is not None and verb.upos == "VERB" and verb.word.endswith("ing"):
                return True
            if n.parent is not None and n.parent.upos == "VERB":
                for sister in right_sisters(n):
                    ing = sister.upos == "VERB" and sister.word.endswith("ing")
                    if ing and sister.is_("xcomp", "ccomp"):
                        return True
    return False


def binding_domain(nodes: Sentence) -> bool:
    """In a complement clause, an object that is a reflexive, him, her or them."""
    kinds = words("reflexives") | {"him", "her", "them"}
    return any(
        sister.word in kinds and sister.is_("obj", "iobj", "obl")
        for n in nodes
        if n.is_("nsubj")
        and n.parent
        and n.parent.is_("ccomp")
        and n.parent.parent
        and n.parent.parent.upos == "VERB"
        for sister in right_sisters(n)
    )


def binding_reconstruction(nodes: Sentence) -> bool:
    """A reflexive as predicate of a copula, with a clause."""
    return any(
        n.word in words("reflexives")
        and n.under("cop")
        and n.under("acl", "advcl", "ccomp", "csubj")
        for n in nodes
    )


def passive(nodes: Sentence) -> bool:
    """A participle that the benchmark uses, in the passive."""
    return any(
        n.word in words("passive-participles")
        and (
            n.under("aux:pass", "nsubj:pass")
            or (n.feats.get("Voice") == "Pass" and n.is_("acl", "advcl", "conj"))
        )
        for n in nodes
    )


DEMONSTRATIVES = frozenset(["this", "that", "these", "those"])


def det_adj_noun(nodes: Sentence) -> bool:
    """A demonstrative, an adjective, and their noun."""
    return any(
        sister.is_("amod") and n.parent.upos in NOUN and n.parent.at > sister.at
        for n in nodes
        if n.word in DEMONSTRATIVES and n.is_("det") and n.parent is not None
        for sister in right_sisters(n)
    )


def det_noun(nodes: Sentence) -> bool:
    """A demonstrative right before a noun that the benchmark uses, or before a compound's start."""
    for n in nodes:
        following = after(n, nodes)
        if n.word not in DEMONSTRATIVES or not n.is_("det") or following is None:
            continue
        nouns = [following] if n.parent is following else []
        if following.is_("compound") and following.parent is after(following, nodes):
            nouns.append(following.parent)
        if any(noun.upos in NOUN and noun.word in words("det-nouns") for noun in nouns):
            return True
    return False


FICT: dict[str, Callable[[Sentence], bool]] = {
    name.replace("_", "-"): rule
    for name, rule in list(globals().items())
    if callable(rule)
    and name.startswith(("agr_", "npi_", "quantifier_", "binding_", "passive", "det_"))
}
