"""A small dependency tree over CoNLL-U, for the readings that ours are held against.

It shares nothing with the package: other reader (conllu), other tree, other code.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import conllu
import yaml

WORDS = yaml.safe_load(Path(__file__).with_name("words.yaml").read_text("utf-8"))
"""Words of the readings."""


@dataclass(eq=False)
class Node:
    """A word: what its line says, and its neighbours in the tree."""

    at: int
    form: str
    upos: str
    xpos: str
    feats: dict[str, str]
    rel: str
    parent: Node | None = None
    kids: list[Node] = field(default_factory=list)

    def __repr__(self):
        return f"{self.form}/{self.at}:{self.rel}"

    @property
    def word(self) -> str:
        """The form in lower case, with the typewriter's apostrophe."""
        return self.form.lower().replace("’", "'")

    def is_(self, *relations: str) -> bool:
        """Whether the relation is one of those, or a subtype of one."""
        return any(self.rel == r or self.rel.startswith(r + ":") for r in relations)

    def under(self, *relations: str) -> list[Node]:
        """Dependents by one of those relations."""
        return [kid for kid in self.kids if kid.is_(*relations)]

    def up(self) -> Iterator[Node]:
        """The governors, from the nearest to the root."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def down(self) -> Iterator[Node]:
        """All that it governs, at any depth; itself left out."""
        for kid in self.kids:
            yield kid
            yield from kid.down()

    def span(self) -> list[Node]:
        """Itself and all that it governs, in the order of the words."""
        return sorted([self, *self.down()], key=lambda n: n.at)


Sentence = list[Node]


def sentence(tokens: conllu.TokenList) -> Sentence:
    """The nodes of one tree, in order; multiword and empty tokens are left out."""
    words = [t for t in tokens if isinstance(t["id"], int)]
    nodes = [
        Node(at, t["form"], t["upos"] or "_", t["xpos"] or "_", t["feats"] or {}, t["deprel"])
        for at, t in enumerate(words)
    ]
    places = {t["id"]: node for t, node in zip(words, nodes, strict=True)}
    for token, node in zip(words, nodes, strict=True):
        if token["head"]:
            node.parent = places[token["head"]]
            node.parent.kids.append(node)
    return nodes


FIELDS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel")


def read(path: Path) -> list[Sentence]:
    """All trees of a file."""
    with path.open(encoding="utf-8") as lines:
        return [sentence(t) for t in conllu.parse_incr(lines, fields=FIELDS)]


def tree(text: str) -> Sentence:
    """A tree from words 'form/upos/head/rel' or 'form/upos/head/rel/feats', for worked examples."""
    return sentence(conllu.parse(lines(text), fields=FIELDS)[0])


def lines(text: str) -> str:
    """The same in CoNLL-U."""
    rows = []
    for number, word in enumerate(text.split(), start=1):
        form, upos, head, rel, *feats = word.split("/")
        feat = feats[0] if feats else "_"
        rows.append(f"{number}\t{form}\t_\t{upos}\t_\t{feat}\t{head}\t{rel}\t_\t_")
    return "\n".join(rows) + "\n\n"
