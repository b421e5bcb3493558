"""Generated items: numbers, balance, determinism, and grammar by a checker of their own."""

from __future__ import annotations

import re
from collections import Counter

import polars as pl
import pytest
import yaml

from poshgrid import specs
from poshgrid.benchmark import generate as generator
from poshgrid.benchmark import items as stage
from poshgrid.benchmark import lexicon, templates
from poshgrid.benchmark.schema import ITEMS
from poshgrid.config import Suite
from poshgrid.errors import PoshgridError

NINE = {
    "island-adjunct": "island",
    "island-complex-np": "island",
    "island-wh": "island",
    "question-formation-or": "question-formation",
    "question-formation-rr": "question-formation",
    "question-formation-sr": "question-formation",
    "principle-a-command": "binding",
    "principle-a-locality": "binding",
    "wanna": "wanna",
}
# An independent list of genders and auxiliaries: not read from the lexicon.
MALE = {"man", "boy", "father", "brother", "king", "uncle"}
FEMALE = {"woman", "girl", "mother", "sister", "queen", "aunt"}
MALE_NAMES, FEMALE_NAMES = {"John", "Tom", "Peter", "Jack"}, {"Mary", "Anna", "Sarah", "Lucy"}
AUX = {"can", "will", "should", "must", "did", "does", "could", "would", "may", "might"}


@pytest.fixture(scope="module")
def toy_text(root) -> list[str]:
    """One 'sentence' for each line of the toy lexicon and grammar, so that all its words occur."""
    grammar = yaml.safe_load((root / "resources/toy/grammar.yaml").read_text())
    words = (root / "resources/toy/lexicon.yaml").read_text().splitlines()
    return [*words, " ".join(map(str, grammar["words"])), "wanna"]


def base(path, texts, split="train"):
    """Write the columns of a base that the stage reads."""
    pl.DataFrame({"text": texts, "split": [split] * len(texts)}).write_parquet(path)
    return path


def spec(top_k=3_000, **options):
    return specs.ItemsSpec(suite=Suite(name="posh", options=options), top_k=top_k)


@pytest.fixture(scope="module")
def made(tmp_path_factory, toy_text):
    """The suite from the toy grammar's words, and the facts."""
    folder = tmp_path_factory.mktemp("items")
    bases = {name: base(folder / f"{name}.parquet", toy_text) for name in ("baby", "wiki")}
    facts = stage.generate(spec(), folder, bases, folder / "items.parquet")
    return pl.read_parquet(folder / "items.parquet"), facts, bases, folder


def test_the_table_keeps_its_contract_and_numbers(made):
    items, facts, _, _ = made
    assert dict(items.schema) == ITEMS
    assert dict(items.select("phenomenon", "category").unique().iter_rows()) == NINE
    assert set(Counter(items["phenomenon"]).values()) == {500}
    assert items["item_id"].n_unique() == 4_500
    assert "principle-a-locality-0001" in items["item_id"]
    assert items.select("good", "bad").n_unique() == 4_500
    assert (items["good"] != items["bad"]).all()
    assert facts["pairs"] == 4_500
    assert facts["phenomena"] == dict.fromkeys(sorted(NINE), 500)
    assert facts["lexical_sets"] == items["lexical_set"].n_unique() > 2_000
    per_template = items.group_by("phenomenon", "template").len()
    assert set(per_template["len"]) <= {250, 500}
    assert set(items["lexical_set"].str.split("+").explode()) <= {
        w.lemma for w in lexicon.read().words
    }


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(made):
    _, _, bases, folder = made
    made = {}
    for name, seed in (("first", 42), ("again", 42), ("other", 43)):
        path = folder / f"{name}.parquet"
        stage.generate(spec(seed=seed, pairs=50), folder, bases, path)
        made[name] = path.read_bytes()
    assert made["first"] == made["again"] != made["other"]


def test_a_phenomenon_does_not_depend_on_the_others(made):
    items, _, bases, folder = made
    stage.generate(spec(phenomena=["wanna"]), folder, bases, folder / "wanna.parquet")
    alone = pl.read_parquet(folder / "wanna.parquet")
    assert alone.equals(items.filter(pl.col("phenomenon") == "wanna"))


def rows(items, phenomenon):
    return items.filter(pl.col("phenomenon") == phenomenon).iter_rows(named=True)


def gender(word: str) -> str:
    if word in MALE | MALE_NAMES:
        return "himself"
    assert word in FEMALE | FEMALE_NAMES, word
    return "herself"


def test_the_reflexive_agrees_with_the_local_subject_only(made):
    count = Counter()
    patterns = {
        "principle-a-locality": r"The (\w+) \w+ that the (\w+) \w+ (\w+)\.",
        "principle-a-command": r"The (\w+) \w+ that (?:(\w+)'s|the) (\w+)(?: who \w+ the (\w+))? "
        r"\w+ (\w+)\.",
    }
    for phenomenon, pattern in patterns.items():
        for row in rows(made[0], phenomenon):
            *nouns, good = re.fullmatch(pattern, row["good"]).groups()
            *same, bad = re.fullmatch(pattern, row["bad"]).groups()
            assert nouns == same
            if phenomenon == "principle-a-command":
                subject, owner, head, other = nouns
                assert (owner is None) != (other is None)
                assert gender(owner or other) == bad
            else:
                subject, head = nouns
            assert gender(head) == good
            assert gender(subject) == bad != good
            count[phenomenon, good] += 1
    assert all(249 <= n <= 251 for n in count.values())  # both genders equally often
    assert len(count) == 4


def test_yes_no_questions_have_two_different_auxiliaries(made):
    noun, verb = r"\w+", r"\w+"
    end = r"(?: the \w+)?\?"
    patterns = {
        "question-formation-or": (
            rf"(\w+) \w+ ({noun} who the {noun}) (\w+) ({verb} {verb}{end})",
            rf"(\w+) \w+ ({noun} who the {noun}) ({verb}) (\w+) ({verb}{end})",
        ),
        "question-formation-rr": (
            rf"(\w+) \w+ ({noun} the {noun}) (\w+) ({verb} {verb}{end})",
            rf"(\w+) \w+ ({noun} the {noun}) ({verb}) (\w+) ({verb}{end})",
        ),
        "question-formation-sr": (
            rf"(\w+) \w+ ({noun} who) (\w+) ({verb} the {noun} {verb}{end})",
            rf"(\w+) \w+ ({noun} who) ({verb} the {noun}) (\w+) ({verb}{end})",
        ),
    }
    for phenomenon, (good_pattern, bad_pattern) in patterns.items():
        pairs = Counter()
        for row in rows(made[0], phenomenon):
            main, _, embedded, _ = re.fullmatch(good_pattern, row["good"]).groups()
            moved, _, _, stranded, _ = re.fullmatch(bad_pattern, row["bad"]).groups()
            assert (moved.lower(), stranded) == (embedded, main.lower())
            assert {main.lower(), embedded} <= AUX
            assert main.lower() != embedded
            pairs[main.lower(), embedded] += 1
        assert len(pairs) == 6 * 5  # every ordered pair of the toy grammar's auxiliaries
        assert max(pairs.values()) - min(pairs.values()) <= 2


def test_wh_words_and_auxiliaries_are_balanced(made):
    good, bad, aux = Counter(), Counter(), Counter()
    for row in rows(made[0], "wanna"):
        words, others = row["good"].split(), row["bad"].split()
        assert words[1:] == others[1:]
        assert words[5 if words[2] == "the" else 3] == "wanna"
        good[words[0]] += 1
        bad[others[0]] += 1
        aux[words[1]] += 1
    assert set(good) == {"When", "How", "Why", "Where"}
    assert set(bad) == {"Who", "What"}
    assert set(aux) == {"does", "did"}
    for counts in (good, bad, aux):
        assert max(counts.values()) - min(counts.values()) <= 8
    for phenomenon in ("island-adjunct", "island-complex-np", "island-wh"):
        first = Counter(row["good"].split()[0] for row in rows(made[0], phenomenon))
        assert first == {"Who": 250, "What": 250}
        auxes = Counter(row["good"].split()[1] for row in rows(made[0], phenomenon))
        assert set(auxes) <= AUX
        assert max(auxes.values()) - min(auxes.values()) <= 4


def test_islands_differ_in_the_gap_or_in_the_clause_type(made):
    for row in rows(made[0], "island-wh"):
        assert row["bad"] == row["good"].replace(" that ", " whether ", 1) or (
            # "that" can also be the determiner: the clause's is the one before a name
            re.sub(r"that (?=[A-Z])", "whether ", row["good"]) == row["bad"]
        )
        assert row["good"].split()[4] in {"say", "know", "hear", "see"}
    for row in rows(made[0], "island-adjunct"):
        head, link, rest = re.split(r" (before|after) ", row["good"].rstrip("?"))
        gerund, the, noun = rest.split(" ")
        assert gerund.endswith("ing")
        assert row["bad"] == f"{head} {the} {noun} {link} {gerund}?"
    for row in rows(made[0], "island-complex-np"):
        *start, the, noun, verb = row["good"].rstrip("?").split()
        assert row["bad"] == " ".join([*start, verb, the, noun]) + "?"
        assert start[-2] == "who"


def test_only_training_rows_count(tmp_path, toy_text):
    path = base(tmp_path / "baby.parquet", ["wanna", "zebra"])
    pl.concat(
        [pl.read_parquet(path), pl.DataFrame({"text": ["secret Zebra"], "split": ["dev"]})]
    ).write_parquet(path)
    assert stage.count(path) == {"wanna": 1, "zebra": 1}
    base(path, toy_text, split="test")
    with pytest.raises(PoshgridError, match="no training sentence has a word"):
        stage.generate(spec(), tmp_path, {"baby": path}, tmp_path / "items.parquet")
    assert not (tmp_path / "items.parquet").exists()


def test_counting_in_chunks_is_the_same(tmp_path, monkeypatch, toy_text):
    path = base(tmp_path / "baby.parquet", toy_text)
    whole = stage.count(path)
    monkeypatch.setattr(stage, "_CHUNK", 3)
    assert stage.count(path) == whole


def test_a_poor_base_is_named_with_the_slot_and_the_missing_words(tmp_path, toy_text):
    rich = base(tmp_path / "rich.parquet", toy_text)
    poor = base(
        tmp_path / "poor.parquet",
        [re.sub("mother|sister|aunt", "tree", line, flags=re.IGNORECASE) for line in toy_text],
    )
    with pytest.raises(PoshgridError) as error:
        stage.generate(
            spec(phenomena=["principle-a-command"], pairs=2_000),
            tmp_path,
            {"rich": rich, "poor": poor},
            tmp_path / "items.parquet",
        )
    message = str(error.value)
    assert "phenomenon principle-a-command, template possessor" in message
    assert "\n" not in message
    assert not (tmp_path / "items.parquet").exists()
    with pytest.raises(PoshgridError) as error:
        stage.generate(
            spec(top_k=5), tmp_path, {"rich": rich, "poor": poor}, tmp_path / "items.parquet"
        )
    message = str(error.value)
    assert "phenomenon island-adjunct, template who, slot 'aux'" in message
    assert re.search(r"can in (poor|rich)", message)
    assert "5 most frequent" in message


def test_too_many_pairs_for_the_words_is_an_error(tmp_path, toy_text):
    path = base(tmp_path / "baby.parquet", toy_text)
    with pytest.raises(PoshgridError, match=r"template intransitive: only \d+ different pairs of"):
        stage.generate(
            spec(phenomena=["wanna"], pairs=1_200), tmp_path, {"b": path}, tmp_path / "i.parquet"
        )


def test_options_are_checked():
    with pytest.raises(ValueError, match="unknown phenomenon 'wana'; did you mean 'wanna'"):
        spec(phenomena=["wana"])
    with pytest.raises(ValueError, match="pairs"):
        spec(pairs=0)
    with pytest.raises(ValueError, match="number"):
        spec(number=3)


# ---- templates ------------------------------------------------------------------------------

GOOD = """
category: c
phenomenon: p
contrast: wh-word
templates:
  - name: one
    good: "the {noun} {verb:past} {self}."
    bad: "the {noun} {verb} {self}."
    slots:
      noun: {category: noun, where: {gender: [m|f]}, agree: {gender: self.roles}}
      verb: {category: verb, without: {frames: [that]}, distinct: [base, past]}
      self: {category: function, where: {roles: [reflexive]}, balanced: true, frequent: false}
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{self}.", "{them}.", "slot 'them' is used but not described"),
        ("      self:", "      other: {category: name}\n      self:", "described but not used"),
        ("verb:past", "verb:pst", "slot 'verb' has no form 'pst'"),
        ("gender: [m|f]", "gender: [m|x]", "unknown gender 'x'"),
        ("gender: self.roles", "gender: me.roles", "slot 'noun': no slot 'me'"),
        ("self.roles", "self.rolls", "'self' has no 'rolls'"),
        ("frames: [that]", "frame: [that]", "unknown feature 'frame' of a verb; did you mean"),
        ("distinct: [base", "distinct: [bas", "unknown form 'bas'"),
        ("balanced", "balance", "Extra inputs are not permitted"),
        ("category: verb", "category: verbs", "Input should be"),
        ("phenomenon: p", "phenomenon: q", "must be 'p'"),
        ("category: c", "category: [", "not YAML"),
    ],
)
def test_a_faulty_template_is_refused(tmp_path, old, new, message):
    (tmp_path / "p.yaml").write_text(GOOD)
    assert templates.read("p", tmp_path).templates[0].forms("verb") == ["past", "base"]
    (tmp_path / "p.yaml").write_text(GOOD.replace(old, new, 1))
    with pytest.raises(PoshgridError, match=re.escape(message)) as error:
        templates.read("p", tmp_path)
    assert "p.yaml" in str(error.value)
    assert "\n" not in str(error.value)


def test_every_needed_form_must_be_usable(tmp_path):
    """A verb whose past is rare is of no use to a template that needs base and past."""
    (tmp_path / "p.yaml").write_text(GOOD)
    phenomenon = templates.read("p", tmp_path)
    words = lexicon.read()
    known = {"man", "king", "woman", "help", "helped", "like", "hug", "hugged", "hit"}
    vocabulary = lexicon.Vocabulary(9, {"a": frozenset(known)})
    made = generator.generate(phenomenon, 4, 1, words, vocabulary)
    assert {re.split(r" ", row["good"])[2] for row in made} == {"helped", "hugged"}
    assert generator.rare_fixed(phenomenon, words, vocabulary) == {
        "herself": ["a"],
        "himself": ["a"],
        "the": ["a"],
    }


def test_a_missing_file_of_templates_is_named(tmp_path):
    (tmp_path / "wanna.yaml").write_text(GOOD)
    with pytest.raises(PoshgridError, match="no templates for 'wana'; did you mean 'wanna'"):
        templates.read("wana", tmp_path)


# ---- real vocabularies ------------------------------------------------------------------------


def test_real_corpora_hold_enough_words(shared, tmp_path):
    """Child-directed speech and Wikipedia share enough frequent words for every phenomenon."""
    speech = []
    for path in sorted((shared / "corpora/childes-db").glob("*.csv")):
        table = pl.read_csv(path, columns=["gloss", "speaker_role"], infer_schema_length=0)
        adults = table.filter(pl.col("speaker_role") != "Target_Child")
        speech += adults["gloss"].drop_nulls().to_list()
    articles = pl.read_csv(shared / "corpora/wikipedia/sentences.csv")["text"].to_list()
    bases = {
        "baby": base(tmp_path / "baby.parquet", speech),
        "wiki": base(tmp_path / "wiki.parquet", articles),
    }
    facts = stage.generate(spec(top_k=3_000), tmp_path, bases, tmp_path / "items.parquet")
    assert facts["phenomena"] == dict.fromkeys(sorted(NINE), 500)
    assert min(facts["usable_forms"].values()) > 400
