"""Gold trees: reading CoNLL-U, and dividing it into train, dev and test for a parser."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from pathlib import Path

from poshgrid import logs, specs
from poshgrid.errors import PoshgridError
from poshgrid.files import atomic
from poshgrid.parsing.tree import Tree

TOY = "toy"
TOY_SENTENCES = 2_000
SPLITS = ("train", "dev", "test")
_COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel")
_EMPTY_WORD = "_"

Row = tuple[str, ...]
"""A word's eight basic columns: id, form, lemma, upos, xpos, feats, head, deprel."""


def prepare(spec: specs.TreebankSpec, data: Path, output: Path) -> dict[str, object]:
    """Write ``train.conllu``, ``dev.conllu`` and ``test.conllu`` of a treebank.

    Only the basic tree is kept: ranges of multiword tokens, empty nodes, enhanced dependencies and
    comments go. A missing lemma becomes the word in lower case, because Stanza's parser reads
    lemmas. Sentences with the same words all fall on the same side, so that no test sentence has
    been seen in training. Half of the held-out sentences are dev, half test.

    Args:
        spec: the treebank's path, limit, held-out share and seed.
        data: folder that the path is relative to.
        output: folder to write to.

    Returns:
        Number of sentences and words of each split.

    Raises:
        PoshgridError: the treebank is missing, malformed, or too small to divide.
    """
    treebank = spec.treebank
    sentences = _toy(treebank) if treebank.path == TOY else _files(data / treebank.path)
    generator = random.Random(treebank.seed)
    generator.shuffle(sentences)
    if treebank.sentences is not None:
        sentences = sentences[: treebank.sentences]
    divided = dict(zip(SPLITS, _divide(sentences, treebank.heldout), strict=True))
    for split, part in divided.items():
        if not part:
            raise PoshgridError(
                f"{data / treebank.path}: {len(sentences)} sentences leave none for {split}; "
                "give more sentences, or change treebank.heldout"
            )
    facts: dict[str, object] = {}
    for split, part in divided.items():
        _write(part, output / f"{split}.conllu")
        facts[split] = {"sentences": len(part), "words": sum(map(len, part))}
    logs.get(__name__).info(
        "%s: %s", treebank.path, ", ".join(f"{s} {len(p):,} sentences" for s, p in divided.items())
    )
    return facts


def read(path: Path) -> Iterator[list[Row]]:
    """Yield the sentences of a CoNLL-U file, each a list of its words' basic columns.

    Raises:
        PoshgridError: the file is missing, is not UTF-8, or is not well-formed CoNLL-U.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise PoshgridError(f"{path}: no such treebank; check treebank.path") from error
    except UnicodeDecodeError as error:
        raise PoshgridError(f"{path}: not UTF-8 ({error.reason}); convert it") from error
    block: list[str] = []
    start = 1
    # One blank line more, for files that do not end in one
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
    """Return the tree of a sentence that :func:`read` yields."""
    return Tree(
        form=[word[1] for word in words],
        upos=[word[3] for word in words],
        feats=[word[5] for word in words],
        head=[int(word[6]) for word in words],
        deprel=[word[7] for word in words],
    )


def _sentence(lines: list[str], start: int, path: Path) -> list[Row]:
    """Return the words of one block after checking it line by line; comments alone: none."""
    import conllu

    numbers = [start + offset for offset, line in enumerate(lines) if not line.startswith("#")]
    if not numbers:
        return []

    def fault(number: int, reason: str) -> PoshgridError:
        return PoshgridError(
            f"{path}: line {number}: {reason}; mend the line or leave the file out"
        )

    for number in numbers:
        columns = lines[number - start].count("\t") + 1
        if columns != 10:
            raise fault(number, f"{columns} tab-separated columns instead of 10")
    try:
        tokens = conllu.parse("\n".join(lines) + "\n\n")[0]
    except conllu.exceptions.ParseException as error:
        raise fault(start, f"not CoNLL-U ({str(error).splitlines()[0]})") from error
    placed = [
        (number, token)
        for number, token in zip(numbers, tokens, strict=True)
        if isinstance(token["id"], int)  # neither a range (2-3) nor an empty node (8.1)
    ]
    words: list[Row] = []
    for place, (number, token) in enumerate(placed, start=1):
        if token["id"] != place:
            raise fault(number, f"word number {token['id']} where {place} is due")
        head = token["head"]
        if not isinstance(head, int) or not 0 <= head <= len(placed) or head == place:
            raise fault(number, f"impossible head {head!r}")
        if not token["deprel"] or token["deprel"] == _EMPTY_WORD:
            raise fault(number, "no relation (column 8)")
        words.append(_row(token))
    heads = [int(word[6]) for word in words]
    if heads.count(0) > 1:
        raise fault(placed[0][0], f"{heads.count(0)} roots instead of 1")
    if words and _cyclic(heads):
        raise fault(placed[0][0], "the heads form a circle")
    return words


def _row(token: dict[str, object]) -> Row:
    lemma = token["lemma"]
    if not lemma or (lemma == _EMPTY_WORD and token["form"] != _EMPTY_WORD):
        lemma = str(token["form"]).lower()
    feats = token["feats"]
    written = "|".join(f"{k}={v}" for k, v in feats.items()) if isinstance(feats, dict) else "_"
    values = {**token, "lemma": lemma, "feats": written or "_"}
    return tuple(str(values[column] or "_") if column != "head" else str(values[column])
                 for column in _COLUMNS)  # fmt: skip


def _cyclic(heads: list[int]) -> bool:
    for word in range(1, len(heads) + 1):
        steps, place = 0, word
        while place:
            place = heads[place - 1]
            steps += 1
            if steps > len(heads):
                return True
    return False


def _files(path: Path) -> list[list[Row]]:
    if path.is_dir():
        files = sorted(path.glob("*.conllu"))
        if not files:
            raise PoshgridError(f"{path}: no .conllu file in this folder; check treebank.path")
    else:
        files = [path]
    sentences = [sentence for file in files for sentence in read(file)]
    if not sentences:
        raise PoshgridError(f"{path}: no sentences; check treebank.path")
    return sentences


def _toy(treebank: specs.Treebank) -> list[list[Row]]:
    from poshgrid.corpora import toy

    wanted = treebank.sentences or TOY_SENTENCES
    registers = ("baby", "wiki")
    sentences: list[list[Row]] = []
    for index, register in enumerate(registers):
        share = wanted // 2 + (wanted % 2 if index == 0 else 0)
        source = Path(f"toy grammar, {register}")
        for sentence in itertools.islice(toy.sentences(register, treebank.seed), share):
            sentences.append(_sentence(toy.conllu(sentence).strip().split("\n"), 1, source))
    return sentences


def _divide(sentences: list[list[Row]], heldout: float) -> tuple[list[list[Row]], ...]:
    """Divide shuffled sentences, keeping copies of the same words together."""
    copies: dict[tuple[str, ...], list[list[Row]]] = {}
    for sentence in sentences:
        copies.setdefault(tuple(word[1].lower() for word in sentence), []).append(sentence)
    goal = round(len(sentences) * heldout / 2)
    parts: dict[str, list[list[Row]]] = {"test": [], "dev": [], "train": []}
    for group in copies.values():
        # A group larger than the room left (every "yeah") goes to train.
        split = next((s for s in ("test", "dev") if len(parts[s]) + len(group) <= goal), "train")
        parts[split].extend(group)
    return parts["train"], parts["dev"], parts["test"]


def _write(sentences: list[list[Row]], path: Path) -> None:
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8") as stream:
        for sentence in sentences:
            for word in sentence:
                stream.write("\t".join([*word, "_", "_"]) + "\n")
            stream.write("\n")
