"""What people bring with them, broken: models, counts, judgements, pairs, a study's numbers."""

from __future__ import annotations

import shutil
import tempfile
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poshgrid import resources
from poshgrid.errors import PoshgridError
from poshgrid.statistics import countfile, design, published

from .damage import damaged
from .support import HOSTILE, poshgrid, promised, tried

COUNTS = "condition,size,seed,category,phenomenon,correct,n\n"
COUNTS += "".join(
    f"{condition},{size},{seed},binding,{phenomenon},{30 + seed},50\n"
    for condition in ("baby", "wiki")
    for size in ("10M", "100M")
    for seed in (1, 2)
    for phenomenon in ("command", "locality")
)
JUDGED = "sentence1\tPPL1\tSentence2\tPPL2\tCorrect\n"
JUDGED += "Dog sat the.\t5.5\tThe dog sat.\t4.25\tcorrect\n"
JUDGED += "Who did sat?\t3.5\tWho sat?\t4.25\tincorrect\n"
PAIRS = '{"sentence_good": "The dog sat.", "sentence_bad": "Dog the sat.", "UID": "x"}\n' * 3
PUBLISHED = "gpt2_mini_baby_10M_32768_42_wanna.tsv"


def fresh(folder: Path) -> Path:
    """Return a folder, empty: an example may have left it full, as it failed."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


@cache
def model() -> dict[str, bytes]:
    """Name -> bytes of the files of a small model."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    words = ["<bos>", "<eos>", "<unk>", "The", "Dog", "dog", "the", "sat", "."]
    tokenizer = Tokenizer(
        models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    folder = Path(tempfile.mkdtemp())
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<bos>", eos_token="<eos>", unk_token="<unk>"
    ).save_pretrained(folder)
    torch.manual_seed(1)
    config = GPT2Config(
        vocab_size=9, n_positions=32, n_embd=8, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=1
    )
    GPT2LMHeadModel(config).save_pretrained(folder)
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    shutil.rmtree(folder)
    return found


@tried(25)
@given(st.data())
def test_a_model_folder_that_is_damaged(tmp_path, data):
    """Weights, sizes, a vocabulary: one file of it damaged, gone, another's, or a folder."""
    here = fresh(tmp_path / "it")
    whole = model()
    name = data.draw(st.sampled_from(sorted(whole)))
    other = data.draw(st.one_of(
        damaged(whole[name], 3), st.just(b""), st.none(), st.sampled_from(list(whole.values())),
        st.sampled_from([b"1e999", b"-1", b"1000000000000", b"null", b'""', b"[]", b"0.5"]).map(
            lambda value: whole[name].replace(b": 8", b": " + value).replace(b": 32", b": " + value)
        ),
    ))  # fmt: skip
    for each, content in whole.items():
        put = other if each == name else content
        if put is not None:
            (here / each).write_bytes(put)
    suite = tmp_path / "x.jsonl"
    suite.write_text(PAIRS)
    answer = poshgrid("judge", here, "--suite", suite, "--output", fresh(tmp_path / "out"))
    assert answer.status == 0 or answer.lines


@tried(80)
@given(damaged(COUNTS.encode(), 3))
def test_counts_of_anybody(tmp_path, content):
    """They are refused, or no cell is right more often than it was asked, or less than never."""
    path = tmp_path / "counts.csv"
    path.write_bytes(content)
    try:
        frame = design.design(countfile.read(path), "p(correct, n) ~ size_z + (1|seed)").frame
    except PoshgridError as error:
        promised(error)
    else:
        assert (frame["correct"] >= 0).all()
        assert (frame["correct"] <= frame["n"]).all()
        assert (frame["n"] > 0).all()


@tried(30)
@given(st.data())
def test_judgements_of_anybody(tmp_path, data):
    """Published judgements: a name that tells a run or none, a file that is damaged."""
    folder = fresh(tmp_path / "in")
    name = data.draw(st.sampled_from([
        PUBLISHED, PUBLISHED.upper(), "x.tsv", PUBLISHED.replace("42", "9" * 30),
        PUBLISHED.replace("10M", "0M"), PUBLISHED.replace("10M", f"{'9' * 30}M"),
        PUBLISHED.replace("10M", "1.5.0M"), PUBLISHED.replace("wanna", "=1+1"),
        PUBLISHED.replace("wanna", "\udcff"),
    ]))  # fmt: skip
    (folder / name).write_bytes(data.draw(damaged(JUDGED.encode(), 3)))
    if data.draw(st.booleans()):
        (folder / PUBLISHED.replace("42", "53")).write_bytes(JUDGED.encode())
    answer = poshgrid("import-judgements", folder, "--output", fresh(tmp_path / "out"))
    assert answer.status == 0 or answer.lines


@tried(15)
@given(damaged(PAIRS.encode(), 3), st.sampled_from(["blimp", "lines", "scamp", "nonsense"]))
def test_the_gate_of_a_broken_suite(tmp_path, content, reader):
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    answer = poshgrid("gate", path, "--reader", reader, "--output", fresh(tmp_path / "out"))
    assert answer.status == 0 or answer.lines or answer.output


@pytest.mark.parametrize("word", [word for word in HOSTILE if word and ".." not in word])
def test_a_study_in_a_folder_of_any_name(tmp_path, word):
    """It is made below the name, or there is a line that says why not."""
    if word[0] in "/~" or word == ".":
        pytest.skip("leads elsewhere")
    name = word.replace("\0", "").encode("utf-8", "replace").decode()
    answer = poshgrid("init", "--", f"{tmp_path}/{name}")
    made = Path(f"{tmp_path}/{name}/Snakefile")
    assert made.is_file() if answer.status == 0 else answer.lines


@cache
def numbers() -> list[tuple[str, bytes]]:
    """The files of numbers that studies publish: name, content."""
    top = resources.ROOT.parent / "studies"
    return [
        (path.name, path.read_bytes()) for path in sorted(top.glob("*/published/*/numbers.csv"))
    ]


@tried(40)
@given(st.data())
def test_the_numbers_of_a_study(tmp_path, data):
    """A study's published numbers, damaged: a table, or a line that names the file."""
    name, whole = data.draw(st.sampled_from(numbers()))
    folder = fresh(tmp_path / "it/published/v1")
    (folder / name).write_bytes(data.draw(damaged(whole, 3)))
    try:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(resources, "STUDIES", tmp_path)
            published.numbers("it")
    except PoshgridError as error:
        assert any(name in line for line in promised(error))
