"""Binding, written anew from its definition: the readings `paper` and `direct`."""

from __future__ import annotations

from dataclasses import dataclass

from tests.parity.ud import WORDS, Node, Sentence

NOMINAL = ("NOUN", "PROPN", "PRON")

FORMS = {form: tuple(features) for form, features in WORDS["reflexives"].items()}
"""Reflexive -> person, number, gender; None is open."""
PERSONAL = {
    form: tuple(features) for forms, features in WORDS["pronouns"].items() for form in forms.split()
}
RELATIVE = frozenset(["who", "whom", "which", "that", "whose"])

Features = tuple[int | None, str | None, str | None]


def reflexive(node: Node) -> bool:
    """A pronoun in -self or -selves."""
    return node.upos == "PRON" and len(node.word) > 4 and node.word.endswith(("self", "selves"))


def binding_paper(nodes: Sentence) -> bool:
    """POSH-BENCH, appendix C: a reflexive behind two nouns or pronouns."""
    seen = 0
    for node in nodes:
        if reflexive(node) and seen >= 2:
            return True
        seen += node.upos in NOMINAL
    return False


@dataclass
class Antecedent:
    """What a reflexive refers to: the nominal, and what stood for it on the way."""

    node: Node
    chain: list[Node]


def argument(node: Node) -> bool:
    """Whether a reflexive is an argument: no emphasis, no predicate, no 'by himself'."""
    while node.is_("conj") and node.parent is not None:
        node = node.parent
    if node.under("cop"):
        return False
    if node.is_("nsubj"):  # felt himself move; not: myself and those of you could go
        words = [node.parent, *node.parent.under("aux", "cop")] if node.parent else []
        return not any(w.xpos in ("VBZ", "VBD", "VBP", "MD") for w in words)
    if node.rel in ("obj", "iobj", "obl:agent"):
        return True
    cases = [k.word for k in node.under("case")]
    if node.rel in ("obl", "nmod"):
        return bool(cases) and cases != ["by"]
    return False


def relative(pronoun: Node, clause: Node) -> Node:
    """The head noun of a relative clause where the pronoun stands for it."""
    head = clause
    while head.is_("conj") and head.parent is not None:
        head = head.parent
    relativizer = pronoun.word in RELATIVE and pronoun.upos in ("PRON", "DET", "SCONJ")
    return head.parent if head.rel == "acl:relcl" and relativizer and head.parent else pronoun


def controller(head: Node, chain: list[Node], indirect: bool, anaphor: Node) -> Antecedent | None:
    """The object of a governing verb, or else its subject, or (plead with) an oblique."""
    objects = head.under("iobj") if indirect else [*head.under("obj"), *head.under("iobj")]
    if objects and head.word not in ("promise", "promised", "promises"):
        return Antecedent(objects[0], chain)
    subject = subject_of(head, chain, anaphor)
    if subject is None or not agrees(subject.node, anaphor):
        for oblique in head.under("obl"):
            if oblique.under("case") and oblique.at < anaphor.at and agrees(oblique, anaphor):
                return Antecedent(oblique, chain)
    return subject


def subject_of(  # noqa: PLR0911
    verb: Node, chain: list[Node], anaphor: Node
) -> Antecedent | None:
    """The subject of a clause; where it has none, what controls it."""
    subjects = [s for s in verb.under("nsubj") if s.rel != "nsubj:outer"] or verb.under("nsubj")
    if subjects:
        head = relative(subjects[0], verb)
        return Antecedent(head, [*chain, subjects[0]])
    parent = verb.parent
    if parent is None or verb.under("csubj"):
        return None
    if verb.is_("conj"):
        return subject_of(parent, chain, anaphor)
    if verb.is_("xcomp"):
        return controller(parent, chain, indirect=False, anaphor=anaphor)
    if verb.is_("ccomp", "advcl"):
        return subject_of(parent, chain, anaphor)
    if verb.rel == "acl:relcl" or verb.is_("amod"):
        return Antecedent(parent, chain)
    if verb.is_("acl"):
        if not verb.under("mark"):
            return Antecedent(parent, chain)
        owners = parent.under("nmod:poss")
        if owners:
            return Antecedent(owners[0], chain)
        if parent.is_("obj") and parent.parent is not None:
            return controller(parent.parent, chain, indirect=True, anaphor=anaphor)
        return phrase(parent, chain, anaphor)
    return None


def phrase(node: Node, chain: list[Node], anaphor: Node) -> Antecedent | None:
    """The antecedent for what stands in a noun phrase: its owner, or the clause's subject."""
    if node.under("nsubj", "cop"):
        return subject_of(node, chain, anaphor)
    owners = node.under("nmod:poss")
    if owners:
        return Antecedent(owners[0], chain)
    parent = node.parent
    if parent is None or node.is_("nsubj", "csubj"):
        return None
    if node.is_("nmod", "conj", "appos", "acl", "amod") and parent.upos in NOMINAL:
        return phrase(parent, chain, anaphor)
    return subject_of(parent, chain, anaphor)


def antecedent(anaphor: Node) -> Antecedent | None:
    """Who a reflexive refers to, by structure."""
    node = anaphor
    while node.is_("conj") and node.parent is not None:
        node = node.parent
    parent = node.parent
    if parent is None:
        return None
    if node.is_("nsubj"):  # let himself go: the clause above it
        return subject_of(parent.parent, [], anaphor) if parent.parent is not None else None
    if node.is_("nmod"):
        return phrase(parent, [], anaphor)
    return subject_of(parent, [], anaphor)


def features(node: Node) -> list[Features]:
    """What a nominal may agree as: person, number, gender."""
    mates = [k for k in node.kids if k.is_("conj") and k.upos in (*NOMINAL, "NUM", "ADJ", "DET")]
    if mates:
        members = [f for n in (node, *mates) for f in features_alone(n)]
        persons = {f[0] for f in members}
        person = 1 if 1 in persons else 2 if 2 in persons else 3
        joined: list[Features] = [(person, "p", None)]
        either = any(k.word in ("or", "nor") for n in (node, *mates) for k in n.under("cc"))
        return joined + members if either else joined
    return features_alone(node)


def features_alone(node: Node) -> list[Features]:
    """As features, one conjunct."""
    if node.word in PERSONAL and node.upos in ("PRON", "DET"):
        return [PERSONAL[node.word]]
    if reflexive(node):
        return [FORMS[node.word]] if node.word in FORMS else [(None, None, None)]
    if node.upos == "PRON" and node.word in ("this", "that"):
        return [(3, "s", None)]
    partitive = [m for k in node.under("nmod") for m in PERSONAL if k.word == m]
    if node.upos not in ("NOUN", "PROPN"):  # everyone, who, all of us, two, the rich
        return [(3, None, None), *(PERSONAL[m] for m in partitive)]
    plural = node.feats.get("Number") == "Plur" or node.xpos in ("NNS", "NNPS")
    own: list[Features] = [(3, "p" if plural else "s", None)]
    if any(k.word in ("you", "we", "us") and k.is_("det", "nmod", "dep") for k in node.kids):
        own += [(1, "p", None), (2, "p", None)]
    return own


def agrees(node: Node, anaphor: Node) -> bool:
    """Whether a nominal can be what the reflexive refers to, by form."""
    want = FORMS.get(anaphor.word, (None, None, None))
    return any(
        all(w is None or h is None or w == h for w, h in zip(want, have, strict=True))
        for have in features(node)
    )


def main_clause(node: Node) -> Node:
    """The head of the main clause a word stands in; coordinated ones are clauses of their own."""
    for head in (node, *node.up()):
        if head.parent is None or head.is_("parataxis", "list", "discourse", "vocative"):
            return head
        if head.is_("conj") and head.under("nsubj", "expl"):
            first = head
            while first.is_("conj") and first.parent is not None:
                first = first.parent
            if first.parent is None or first.is_("parataxis", "list"):
                return head
    return node


def candidate(node: Node) -> bool:
    """A noun, name or personal pronoun that heads a phrase of its own."""
    if node.is_("flat", "compound", "fixed", "goeswith", "vocative", "discourse", "expl"):
        return False
    if node.is_("reparandum", "nmod:desc") or reflexive(node):
        return False
    if node.upos in ("NOUN", "PROPN"):
        return True
    return node.word in PERSONAL and node.upos in ("PRON", "DET") and node.xpos != "EX"


def coargument(node: Node, anaphor: Node) -> bool:
    """Whether a nominal is a subject or object of the clause that the reflexive stands in."""
    mate = anaphor
    while mate.is_("conj", "nmod") and mate.parent is not None:
        mate = mate.parent
    clause = mate if mate.under("nsubj") else mate.parent
    return node.parent is clause and node.is_("nsubj", "obj", "iobj")


def ruled_out(node: Node, anaphor: Node, bound: Antecedent) -> bool:
    """Whether structure alone says that this is not what the reflexive refers to."""
    conjunct = node.is_("conj") and node.parent is bound.node
    if node in bound.chain or (node is bound.node and not coordinated(node)):
        return False
    if (node.is_("appos") and node.parent is bound.node) or any(
        k is bound.node and k.is_("appos") for k in node.kids
    ):
        return False
    if node is not bound.node and not conjunct and coargument(node, anaphor):
        return bound.node.at < node.at and not agrees(node, anaphor)
    if node.word in PERSONAL:
        alone = features_alone(node)[0]
        want = FORMS.get(anaphor.word, (None, None, None))
        same = all(w is None or h is None or w == h for w, h in zip(want, alone, strict=True))
        return not same
    return True


def coordinated(node: Node) -> bool:
    """Whether a nominal is the first of several conjuncts."""
    return any(k.is_("conj") and k.upos in NOMINAL for k in node.kids)


def binding_direct(nodes: Sentence) -> bool:
    """A reflexive whose antecedent structure finds, past another that structure rules out."""
    if not binding_paper(nodes):
        return False
    for anaphor in filter(reflexive, nodes):
        if sum(n.upos in NOMINAL for n in nodes[: anaphor.at]) < 2 or not argument(anaphor):
            continue
        bound = antecedent(anaphor)
        if bound is None or bound.node is anaphor or not agrees(bound.node, anaphor):
            continue
        clause = main_clause(anaphor)
        for node in nodes[: anaphor.at]:
            if candidate(node) and main_clause(node) is clause and ruled_out(node, anaphor, bound):
                return True
    return False
