"""Generated items: numbers, balance, determinism, and grammar by a checker of their own."""

from __future__ import annotations

import re
from collections import Counter

import polars as pl
import pytest
import yaml

from poshgrid.benchmark import items as stage
from poshgrid.benchmark import lexicon
from poshgrid.benchmark.context import Context
from poshgrid.benchmark.schema import ITEMS, PAIRS
from poshgrid.benchmark.suites import templates as suite
from poshgrid.config import Suite, specs
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


def spec(top_k=3_000, *, pool=1, **options):
    """One candidate for each pair, unless a test is about the choice: that takes seconds."""
    options["pool"] = pool
    return specs.ItemsSpec(suite=Suite(name="posh", options=options), top_k=top_k)


@pytest.fixture(scope="module")
def made(tmp_path_factory, toy_text):
    """The suite from the toy grammar's words, and the facts."""
    folder = tmp_path_factory.mktemp("items")
    bases = {name: base(folder / f"{name}.parquet", toy_text) for name in ("baby", "wiki")}
    facts = stage.generate(spec(), folder, bases, {}, folder / "items.parquet")
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
    assert facts["pairs"] == facts["candidates"] == 4_500
    assert facts["phenomena"] == dict.fromkeys(sorted(NINE), 500)
    assert facts["lexical_sets"] == items["lexical_set"].n_unique() > 3_000
    for name, of_phenomenon in facts["generated"].items():
        own = items.filter(pl.col("phenomenon") == name)
        assert of_phenomenon["lexical_sets"] == own["lexical_set"].n_unique()
        assert of_phenomenon["candidates"] == 500
        assert of_phenomenon["left_out"] == of_phenomenon["rare"] == {}
    per_template = items.group_by("phenomenon", "template").len()
    assert set(per_template["len"]) <= {125, 250, 500}
    assert set(items["lexical_set"].str.split("+").explode()) <= {
        w.lemma for w in lexicon.read().words
    }


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(made):
    _, _, bases, folder = made
    made = {}
    for name, seed in (("first", 42), ("again", 42), ("other", 43)):
        path = folder / f"{name}.parquet"
        stage.generate(
            spec(seed=seed, pairs=60, pool=2, phenomena=["wanna"]), folder, bases, {}, path
        )
        made[name] = path.read_bytes()
    assert made["first"] == made["again"] != made["other"]


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
    good, bad, aux, templates_of_wanna = Counter(), Counter(), Counter(), Counter()
    for row in rows(made[0], "wanna"):
        words, others = row["good"].split(), row["bad"].split()
        assert words[1:] == others[1:]
        assert words[5 if words[2] == "the" else 3] == "wanna"
        templates_of_wanna[words[2] == "the", len(words) - words.index("wanna")] += 1
        good[words[0]] += 1
        bad[others[0]] += 1
        aux[words[1]] += 1
    assert set(good) == {"When", "How", "Why", "Where"}
    assert set(bad) == {"Who", "What"}
    assert set(aux) == {"does", "did"}
    for counts in (good, bad, aux):
        assert max(counts.values()) - min(counts.values()) <= 8
    # with a name or a noun; "wanna see the ball", "wanna sleep"
    assert templates_of_wanna == dict.fromkeys([(True, 4), (True, 2), (False, 4), (False, 2)], 125)
    for phenomenon in ("island-adjunct", "island-complex-np", "island-wh"):
        first = Counter(row["good"].split()[0] for row in rows(made[0], phenomenon))
        assert first == {"Who": 250, "What": 250}
        auxes = Counter(row["good"].split()[1] for row in rows(made[0], phenomenon))
        assert set(auxes) <= AUX
        assert max(auxes.values()) - min(auxes.values()) <= 8


def test_islands_differ_in_the_gap_or_in_the_clause_type(made):
    for row in rows(made[0], "island-wh"):
        assert row["bad"] == row["good"].replace(" that ", " whether ", 1) or (
            # "that" can also be the determiner: the clause's is the one before a name
            re.sub(r"that (?=[A-Z])", "whether ", row["good"]) == row["bad"]
        )
        assert row["good"].split()[4] in {"say", "know", "hear"}
    for row in rows(made[0], "island-adjunct"):
        head, link, rest = re.split(r" (before|after) ", row["good"].rstrip("?"))
        gerund, moved = rest.split(" ", 1)
        assert gerund.endswith("ing")
        assert re.fullmatch(r"the [a-z]+|[A-Z][a-z]+", moved)
        assert row["bad"] == f"{head} {moved} {link} {gerund}?"
    for row in rows(made[0], "island-complex-np"):
        start, moved, verb = re.fullmatch(
            r"(Wh.* who \w+) (the \w+|[A-Z]\w+) (\w+)\?", row["good"]
        ).groups()
        assert row["bad"] == f"{start} {verb} {moved}?"


def test_a_poor_base_is_named_with_the_slot_and_the_missing_words(tmp_path, toy_text):
    poor = [re.sub("mother|sister|aunt", "tree", line, flags=re.IGNORECASE) for line in toy_text]
    bases = {
        "rich": base(tmp_path / "rich.parquet", toy_text),
        "poor": base(tmp_path / "poor.parquet", poor),
    }
    for options, says in (
        ({"phenomena": ["principle-a-command"], "pairs": 2_000}, "principle-a-command, template p"),
        ({"top_k": 5}, r"island-adjunct, template who, slot 'aux': .*5 most .*can in (poor|rich)"),
        ({"phenomena": ["wanna"], "pairs": 1_600}, r"intransitive-name: only \d+ different"),
    ):
        with pytest.raises(PoshgridError, match=says) as error:
            stage.generate(spec(**options), tmp_path, bases, {}, tmp_path / "items.parquet")
        assert "\n" not in str(error.value)
    assert not (tmp_path / "items.parquet").exists()


# ---- the suite, step by step ---------------------------------------------------------------


def forms(words):
    return frozenset(f for w in words for f in w.folded)


def context(counts=None, **parts):
    """Two bases that know all the words of the lexicon equally well, except as counts say."""
    words = lexicon.read().words
    both = {name: dict.fromkeys(forms(words), 10) | (counts or {}).get(name, {}) for name in "ab"}
    vocabulary = lexicon.Vocabulary(
        9_999, {b: frozenset(c) for b, c in both.items()}, both, dict.fromkeys(both, 100_000)
    )
    return Context(vocabulary, **parts)


def loaded(given, **options):
    found = suite.load(None, suite.Options(**{"pairs": 40, "pool": 1, **options}), given)
    assert dict(found.items.schema) == PAIRS
    return found


def test_words_that_one_base_prefers_are_left_out():
    given = context({"a": {"apple": 5_000, "john": 4_000}, "b": {"tom": 9_000}})
    options = {"phenomena": ["island-adjunct"], "occurrences": 50}
    out = loaded(given, **options).facts["generated"]["island-adjunct"]["left_out"]
    assert out == {
        "who-name.object": ["John", "Tom"],
        "what.object": ["apple"],
        "what-name.subject": ["John", "Tom"],
        "what-name.object": ["apple"],
    }
    free = loaded(given, balanced=False, **options)
    assert free.facts["generated"]["island-adjunct"]["left_out"] == {}


def test_what_the_corpora_hold_is_dropped():
    first = loaded(context(), phenomena=["wanna"], pool=2)
    known = set(first.items["good"][:5]) | set(first.items["bad"][5:10])
    asked = []

    def heard(sentences):
        asked.append(sentences)
        return sentences & known

    found = loaded(context(heard=heard), phenomena=["wanna"], pool=2)
    assert not known & set(found.items["good"]) | known & set(found.items["bad"])
    assert found.items.height == 40
    facts = found.facts["generated"]["wanna"]
    assert facts["candidates"] == 80
    assert facts["heard"] >= 10
    assert len(asked) == 1  # the corpora are read once a phenomenon
    with pytest.raises(PoshgridError, match="phenomenon wanna: 0 of 40 candidates are not in"):
        loaded(context(heard=lambda sentences: sentences), phenomena=["wanna"])


def test_a_null_is_brought_to_chance():
    """A model that dislikes a last word in -e, as many verbs are, is wrong on too many pairs."""

    def null(sentences):
        return [-float(sum(map(ord, s))) % 7 - (s[-2] == "e") for s in sentences]

    options = {"phenomena": ["island-complex-np"], "pool": 4, "pairs": 100}
    plain, chosen = loaded(context(), **options), loaded(context(nulls={"a/10M": null}), **options)

    def share(items):
        good, bad = null(items["good"].to_list()), null(items["bad"].to_list())
        return sum((g > b) + (g == b) / 2 for g, b in zip(good, bad, strict=True)) / len(good)

    reached = chosen.facts["generated"]["island-complex-np"]["nulls"]["a/10M"]
    assert abs(share(plain.items) - 0.5) > 0.05
    assert abs(share(chosen.items) - 0.5) <= 0.02
    assert reached["reached"]
    assert reached["after"] == pytest.approx(share(chosen.items), abs=1e-4)
    assert chosen.facts["candidates"] == 400


def test_the_two_that_are_not_default_are_made_when_named():
    names = ["island-wh-pronoun", "principle-a-participle"]
    found = loaded(context(), phenomena=names)
    assert dict(Counter(found.items["phenomenon"])) == dict.fromkeys(names, 40)
    for row in rows(found.items, "island-wh-pronoun"):
        before, pronoun, after = re.fullmatch(
            r"(What .*) (he|she|we|they|you) (\w+\?)", row["good"]
        ).groups()
        assert row["bad"] == f"{before} who {after}"
        assert row["contrast"] == "wh-pronoun"
        assert pronoun
    for row in rows(found.items, "principle-a-participle"):
        before, _, after = re.fullmatch(
            r"(The \w+ \w+ (?:him|her)self) (\w+ing) (\w+ \w+\.)", row["good"]
        ).groups()
        assert re.fullmatch(re.escape(before) + r" (?!\w+ing)\w+ " + re.escape(after), row["bad"])
        assert row["contrast"] == "participle-form"
    default = suite.files(None, suite.Options())
    assert {p.stem for p in default if p.suffix == ".yaml"} == set(NINE)
    named = suite.files(None, suite.Options(phenomena=names))
    assert {p.stem for p in named if p.suffix == ".yaml"} == set(names)
    assert {p.name for p in named if p.suffix == ".tsv"} == {
        table.file for table in lexicon.TABLES.values()
    }
