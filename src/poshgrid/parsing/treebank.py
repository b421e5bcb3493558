"""Gold trees: read CoNLL-U, and divide it into train, dev and test for a parser."""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from poshgrid.config import Treebank, specs
from poshgrid.core import logs
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import atomic
from poshgrid.parsing.tree import RELATIONS, TAGS, Tree

TOY = "toy"
TOY_SENTENCES = 2_000
SEED = 42
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
_NO_WORD = re.compile("[0-9]+[-.][0-9]+")  # a range (2-3) or an empty node (8.1)
_EMPTY_WORD = "_"

Row = tuple[str, ...]
"""A word's eight basic columns: id, form, lemma, upos, xpos, feats, head, deprel."""


_Gold = tuple[str, list[Row]]
"""The part of a treebank that a sentence is from, and its words."""


def prepare(spec: specs.TreebankSpec, data: Path, output: Path) -> dict[str, object]:
    """Write ``train.conllu``, ``dev.conllu`` and ``test.conllu`` of a treebank.

    Only the basic tree is kept: ranges of multiword tokens, empty nodes, enhanced dependencies,
    features without a value and comments are removed. A missing lemma becomes the word in lower
    case, because Stanza's parser reads lemmas. Sentences with the same words are all put into the
    same split, so that no test sentence was seen in training. Half of the held-out sentences of
    each part are dev, half test. Training sentences are written part by part.

    Args:
        spec: the treebank's parts, limit and held-out share.
        data: folder that the paths are relative to.
        output: folder to write to.

    Returns:
        Number of sentences and words of each split.

    Raises:
        PoshgridError: a part is missing or malformed, or the treebank is too small to divide.
    """
    treebank, parts = spec.treebank, components(spec.treebank)
    # The limit is for the whole treebank. With other parts, the toy part keeps its usual size.
    toy = ((treebank.sentences if len(parts) == 1 else None) or TOY_SENTENCES, SEED)
    sentences = [(name, words) for name in parts for words in part(name, data, toy)]
    random.Random(SEED).shuffle(sentences)
    if treebank.sentences is not None:
        sentences = sentences[: treebank.sentences]
    divided = _divide(sentences, treebank.heldout)
    for split, own in divided.items():
        if not own:
            paths = ", ".join(str(data / part) for part in parts)
            raise PoshgridError(
                f"{paths}: {len(sentences)} sentences leave none for {split}; "
                "give more sentences, or change treebank.heldout"
            )
    divided["train"].sort(key=lambda sentence: parts.index(sentence[0]))
    facts: dict[str, object] = {}
    for split, own in divided.items():
        _write(own, output / f"{split}.conllu")
        words = sum(len(sentence) for _, sentence in own)
        facts[split] = {"sentences": len(own), "words": words}
        logs.get(__name__).info("%s: %s", split, facts[split])
    return facts


def components(treebank: Treebank) -> list[str]:
    """Return the parts of a treebank: its single path, or its list of paths."""
    return [treebank.path] if isinstance(treebank.path, str) else treebank.path


def read(path: Path, key: str = "treebank.path") -> Iterator[list[Row]]:
    """Yield the sentences of a CoNLL-U file, each a list of its words' basic columns.

    Args:
        path: the file.
        key: configuration key, for messages.

    Raises:
        PoshgridError: the file is missing, is not UTF-8, is not well-formed CoNLL-U, or has a tag
            or relation that UD does not have; any subtype (``obl:tmod``) is allowed, as in UD.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise PoshgridError(f"{path}: no such treebank; check {key}") from error
    except UnicodeDecodeError as error:
        raise PoshgridError(f"{path}: not UTF-8 ({error.reason}); convert it") from error
    block: list[str] = []
    start = 1
    # An extra blank line, for files that do not end in one
    for number, line in enumerate(itertools.chain(text.split("\n"), [""]), start=1):
        if line.strip():
            if not block:
                start = number
            block.append(line.rstrip("\r"))
        elif block:
            words = _sentence(block, start, path)
            if words:
                yield words
            block = []


def trees(path: Path) -> list[Tree]:
    """Return the gold trees of a CoNLL-U file."""
    return [tree(words) for words in read(path)]


def tree(words: list[Row]) -> Tree:
    """Return the tree of a sentence from :func:`read`."""
    return Tree(
        form=[word[1] for word in words],
        upos=[word[3] for word in words],
        feats=[word[5] for word in words],
        head=[int(word[6]) for word in words],
        deprel=[word[7] for word in words],
    )


def has_features(tree: Tree) -> bool:
    """Return whether a gold tree has morphological features.

    Some treebanks have none at all (those of child-directed speech). A missing annotation does not
    mean that a word has no features: engines do not learn features from such trees.
    """
    return any(feats != _EMPTY_WORD for feats in tree.feats)


def _sentence(lines: list[str], start: int, path: Path) -> list[Row]:
    """Check one block line by line and return its words; [] if it only has comments."""
    placed: list[tuple[int, list[str]]] = []
    words: list[Row] = []
    number = start
    try:
        for number, line in enumerate(lines, start):
            if line.startswith("#"):
                continue
            columns = line.split("\t")
            if len(columns) != 10:
                raise ValueError(f"{len(columns)} tab-separated columns instead of 10")
            if control := _CONTROL.search(line):
                raise ValueError(f"control character U+{ord(control[0]):04X}")
            if not _NO_WORD.fullmatch(columns[0]):
                placed.append((number, columns))
        for number, columns in placed:  # noqa: B007 - the error names it
            words.append(_word(columns, len(words) + 1, len(placed)))
        if words:
            number = placed[0][0]
            if (roots := [word[6] for word in words].count("0")) > 1:
                raise ValueError(f"{roots} roots instead of 1")
            if len(tree(words).subtree(0)) <= len(words):  # not all words are below the root
                raise ValueError("the heads form a circle")
    except ValueError as error:
        raise PoshgridError(
            f"{path}: line {number}: {error}; correct the line or leave the file out"
        ) from error
    return words


def _word(columns: list[str], due: int, last: int) -> Row:
    """Return a word's basic columns.

    Only UD's labels are accepted: a filter would silently never match any other label.

    Raises:
        ValueError: what is wrong with the word.
    """
    number, form, lemma, upos, xpos, feats, head, deprel = columns[:8]
    if number != str(due):
        raise ValueError(f"word number {number} where {due} is due")
    if not head.isdecimal() or int(head) > last or int(head) == due:
        raise ValueError(f"impossible head {head}")
    if not form.strip():
        raise ValueError("no form (column 2)")
    relation = deprel.partition(":")[0]
    if upos not in TAGS:
        raise ValueError(f"{upos!r} is not a Universal Dependencies tag (column 4); relabel it")
    if relation not in RELATIONS:
        raise ValueError(
            f"{deprel!r} is not a Universal Dependencies relation (column 8); relabel it"
        )
    if (head == "0") != (relation == "root"):
        raise ValueError(
            f"head {head} with relation {deprel!r}; in Universal Dependencies the word with head "
            "0, and no other, is the root"
        )
    if not lemma or (lemma == _EMPTY_WORD and form != _EMPTY_WORD):
        lemma = form.lower()
    # Engines cannot use a feature without a value: Number=Plur|Typo becomes Number=Plur
    feats = "|".join(feature for feature in feats.split("|") if "=" in feature) or _EMPTY_WORD
    return number, form, lemma, upos, xpos or _EMPTY_WORD, feats, head, deprel


def part(
    name: str, data: Path, toy: tuple[int, int], key: str = "treebank.path"
) -> list[list[Row]]:
    """Return the sentences of a CoNLL-U file, of a folder of them, or of the toy grammar.

    Args:
        name: file or folder, or :data:`TOY`.
        data: folder that ``name`` is relative to.
        toy: number of sentences of the toy grammar, and their seed.
        key: configuration key, for messages.

    Raises:
        PoshgridError: there is no sentence, or :func:`read` rejects a file.
    """
    if name == TOY:
        return list(toy_trees(*toy))
    path = data / name
    paths = files(path) if path.is_dir() else [path]
    sentences = [words for file in paths for words in read(file, key)]
    if not sentences:
        raise PoshgridError(f"{path}: no sentences of .conllu files; check {key}")
    return sentences


def files(path: Path) -> list[Path]:
    """Return a CoNLL-U file, or the CoNLL-U files of a folder, sorted; [] without any."""
    return sorted(path.glob("*.conllu")) if path.is_dir() else [path] if path.is_file() else []


def toy_trees(wanted: int, seed: int) -> Iterator[list[Row]]:
    """Yield sentences of the toy grammar, half from each register, as :func:`read` does."""
    from poshgrid.corpora import toy as grammar

    for register, share in (("baby", wanted - wanted // 2), ("wiki", wanted // 2)):
        for sentence in itertools.islice(grammar.sentences(register, seed), share):
            yield sentence.words


def _divide(sentences: list[_Gold], heldout: float) -> dict[str, list[_Gold]]:
    """Divide shuffled sentences, each part in the same way, with equal sentences in one split."""
    copies: dict[tuple[str, ...], list[_Gold]] = {}
    for part, words in sentences:
        copies.setdefault(tuple(word[1].lower() for word in words), []).append((part, words))
    sizes = Counter(part for part, _ in sentences)
    goal = {part: round(size * heldout / 2) for part, size in sizes.items()}
    room = {"test": Counter(goal), "dev": Counter(goal)}
    divided: dict[str, list[_Gold]] = {"train": [], "dev": [], "test": []}
    for group in copies.values():
        needed = Counter(part for part, _ in group)
        # A group that is larger than the remaining room (all "yeah") goes to train.
        split = next((name for name, left in room.items() if needed <= left), "train")
        divided[split].extend(group)
        if split in room:
            room[split] -= needed
    return divided


def _write(sentences: list[_Gold], path: Path) -> None:
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8") as stream:
        for _, words in sentences:
            for word in words:
                stream.write("\t".join([*word, "_", "_"]) + "\n")
            stream.write("\n")
