"""Question formation, written anew from its definition: the readings `paper` and `direct`."""

from __future__ import annotations

from tests.parity.ud import WORDS, Node, Sentence

WH, FRONTED, FINITE_FORMS = (frozenset(WORDS[name].split()) for name in ("wh", "fronted", "finite"))
CLAUSES = ("acl", "ccomp", "csubj", "advcl", "xcomp")


def wh(node: Node) -> bool:
    """An interrogative or relative word by its form or tag; the relative 'that' is none."""
    return node.word in WH or (
        node.xpos in ("WP", "WP$", "WRB", "WDT") and node.word.startswith(("wh", "how"))
    )


def question_paper(nodes: Sentence) -> bool:
    """POSH-BENCH, appendix C: nsubj before acl:relcl, in what may be a question."""
    subjects = [n.at for n in nodes if n.is_("nsubj")]
    if not subjects or not any(n.is_("acl:relcl") and n.at > subjects[0] for n in nodes):
        return False
    words = list(nodes)
    while words and words[-1].form in ('"', "''", "”", "’", "'", ")", "]", "»"):
        words.pop()
    last = words[-1].form if words else ""
    mark = "?" in last and not any(c.isalnum() for c in last)
    return mark or any(map(wh, nodes)) or any(n.upos == "AUX" for n in nodes[:2])


def finite(node: Node) -> bool:
    """An auxiliary or copula that bears the tense."""
    if node.xpos in ("VBZ", "VBP", "VBD", "MD") or node.feats.get("VerbForm") == "Fin":
        return True
    if node.word in ("have", "'ve", "had"):
        head = node.parent
        earlier = [k for k in head.kids if k.at < node.at] if head else []
        return not any(k.xpos in ("MD", "TO") for k in earlier)
    return node.word in FINITE_FORMS


def auxiliary(node: Node) -> bool:
    """A finite auxiliary or copula, one that stands alone by ellipsis, or existential be."""
    if node.is_("aux", "cop") or node.upos == "AUX":
        return finite(node)
    there = any(k.is_("expl") and k.word == "there" for k in node.kids)
    be = node.word in ("am", "is", "are", "was", "were", "'s", "'re", "'m", "ai")
    return there and be and finite(node)


def between(node: Node, top: Node) -> list[Node]:
    """The words from this one up to, but without, the top."""
    path = []
    while node is not top:
        path.append(node)
        node = node.parent
    return path


def aside(node: Node, top: Node) -> bool:
    """Whether a word stands in a parenthesis or a false start below the top."""
    return any(n.is_("reparandum", "parataxis", "discourse") for n in between(node, top))


def question(predicate: Node, aux: Node, nodes: Sentence) -> bool:  # noqa: PLR0911
    """Whether the inversion of aux makes its clause a question, main or reported."""
    clause = predicate
    while clause.is_("conj") and clause.parent is not None:
        clause = clause.parent
    if clause.is_("acl", "advcl"):  # Had I known; which is where the man is; than is the man
        return False

    def asks(word: Node) -> bool:
        """A wh-word before the auxiliary, of this clause or a complement of it."""
        return wh(word) and not any(
            n.is_("acl", "advcl", "csubj", "parataxis") for n in between(word, predicate)
        )

    if any(asks(n) for n in predicate.span() if n.at < aux.at):
        return True
    if predicate.at < aux.at:  # Here 's the truck
        return False
    front = [k for k in predicate.kids if k.at < aux.at and not k.is_("aux", "cop")]
    marked = any("?" in n.form for n in nodes[aux.at :])
    for kid in front:
        words = {kid.word, *(k.word for k in kid.kids if not k.is_(*CLAUSES))}
        if words & FRONTED or (kid.is_("advcl") and any(k.word in FRONTED for k in kid.kids[:1])):
            return kid.word in ("no", "as", "such", "little", "few") and marked
        if kid.word == "so" and not marked:
            return False
        if kid.is_("mark") and kid.word in ("as", "than"):
            return False
    return aux.word != "may" or marked


def inversions(predicate: Node) -> list[tuple[Node, Node]]:
    """Auxiliaries of a predicate that stand before the subject they belong to."""
    auxes = [k for k in predicate.kids if k.is_("aux", "cop") and finite(k)]
    subjects = [
        k  # a wh-word that asks is in front already; one with a clause is a free relative
        for k in predicate.kids
        if k.is_("nsubj", "csubj") and not (k.word in ("who", "what", "which") and not k.kids)
    ]
    pairs = []
    for subject in subjects:
        # Problem is, are they here: the copula of the outer clause is not this subject's
        earlier = [s for s in subjects if s.at < subject.at]
        own = [
            a
            for a in auxes
            if a.at < subject.at
            and (not earlier or sum(b.at > earlier[-1].at for b in auxes if b.at < subject.at) > 1)
        ]
        if own and (predicate.at < own[-1].at or subject.at < predicate.at):
            pairs.append((own[-1] if earlier else own[0], subject))
    return pairs


def inside_subject(subject: Node, predicate: Node) -> bool:
    """Whether a clause in the phrase of the subject, not extraposed, holds an auxiliary."""
    if subject.word == "it":  # a cleft: the clause follows in the statement, too
        return False
    for word in subject.down():
        if not auxiliary(word):
            continue
        path = between(word, subject)
        if aside(word, subject):
            continue
        if not subject.is_("csubj") and not any(n.is_(*CLAUSES) for n in path):
            continue
        if subject.at < predicate.at < word.at:
            continue  # extraposed: Is the boy smiling who is there ?
        parted = [
            k
            for k in predicate.kids
            if subject.at < k.at < word.at and k.is_("obj", "obl", "xcomp", "ccomp", "advcl")
        ]
        if not parted:
            return True
    return False


def question_direct(nodes: Sentence) -> bool:
    """An inversion in a question, past a clause that holds an auxiliary of its own."""
    for predicate in nodes:
        if predicate.under("expl"):
            continue
        for aux, subject in inversions(predicate):
            fronted = [
                n
                for clause in predicate.under("advcl")
                if clause.at < aux.at
                for n in clause.span()
                if n.at < aux.at and auxiliary(n) and not aside(n, clause)
            ]
            if (fronted or inside_subject(subject, predicate)) and question(predicate, aux, nodes):
                return True
    return False
