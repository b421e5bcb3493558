"""The toy grammar: trees are trees, text is restored, constructions come as often as asked."""

from __future__ import annotations

import io
import itertools
import re
import time
from collections import Counter
from pathlib import Path

import conllu
import pytest
import yaml

from poshgrid import resources
from poshgrid.corpora import grammar, toy
from poshgrid.errors import PoshgridError

REGISTERS = ("baby", "wiki")
N = 8_000


@pytest.fixture(scope="module", params=REGISTERS)
def sample(request):
    return request.param, list(itertools.islice(toy.sentences(request.param, 7), N))


@pytest.fixture(scope="module")
def baby():
    return list(itertools.islice(toy.sentences("baby", 7), N))


def test_every_tree_has_one_root_and_no_cycle(sample):
    for s in sample[1]:
        assert [t.deprel for t in s.tokens if t.head == 0] == ["root"], s.text
        for number in range(1, len(s.tokens) + 1):
            seen, at = set(), number
            while at:
                assert at not in seen, s.text
                seen.add(at)
                at = s.tokens[at - 1].head


def crossing(s: toy.ToySentence) -> bool:
    arcs = [sorted((i, t.head)) for i, t in enumerate(s.tokens, 1) if t.head]
    return any(a < c < b < d for (a, b), (c, d) in itertools.permutations(arcs, 2))


def test_trees_are_projective_but_for_fillers_of_deeper_gaps(sample):
    deep = {"wh-long-distance", "wanna-wh-object"}
    for s in sample[1][:3000]:
        if s.construction not in deep:
            assert not crossing(s), s.text
        elif s.construction == "wh-long-distance":
            # the filler hangs under the embedded verb, not under the main one
            verb = s.tokens[s.tokens[0].head - 1]
            assert verb.deprel == "ccomp", s.text


def test_text_is_what_the_tokens_say(sample):
    for s in sample[1]:
        again = "".join(t.form + " " * t.space_after for t in s.tokens)
        assert again == s.text
        assert re.fullmatch(r"[A-Z][A-Za-z' ,]*[.?!]", s.text), s.text
        assert "  " not in s.text


def test_conllu_is_read_back_by_an_independent_parser(sample):
    chosen = sample[1][:300]
    parsed = conllu.parse("".join(map(toy.conllu, chosen)))
    assert len(parsed) == len(chosen)
    for mine, theirs in zip(chosen, parsed, strict=True):
        assert theirs.metadata["text"] == mine.text
        assert [t["form"] for t in theirs] == [t.form for t in mine.tokens]
        assert [t["head"] for t in theirs] == [t.head for t in mine.tokens]
        assert [t["id"] for t in theirs] == list(range(1, len(mine.tokens) + 1))
        assert theirs.to_tree().token["deprel"] == "root"


def test_constructions_come_in_the_proportions_of_the_grammar_file(sample):
    register, sentences = sample
    given = yaml.safe_load(resources.path("toy", "grammar.yaml").read_text(encoding="utf-8"))
    weights = given["registers"][register]
    found = Counter(s.construction for s in sentences)
    assert set(found) <= set(weights)
    for name, weight in weights.items():
        share = weight / sum(weights.values())
        tolerance = 4 * (share * (1 - share) / N) ** 0.5
        assert abs(found[name] / N - share) <= tolerance, name


def test_registers_add_up_to_a_thousand():
    given = yaml.safe_load(resources.path("toy", "grammar.yaml").read_text(encoding="utf-8"))
    for register, weights in given["registers"].items():
        assert sum(weights.values()) == 1000, register


def test_direct_evidence_is_rare_in_baby_and_lies_only_where_it_should(baby):
    for s in baby:
        relative_on_subject = any(
            t.deprel == "acl:relcl" and s.tokens[t.head - 1].deprel == "nsubj" for t in s.tokens
        )
        asked = s.text.endswith("?") and relative_on_subject
        assert asked == (s.construction == "question-formation"), s.text
        reflexive = [i for i, t in enumerate(s.tokens) if t.form.endswith(("self", "selves"))]
        before = sum(
            t.upos in {"NOUN", "PROPN", "PRON"}
            for t in s.tokens[: reflexive[0] if reflexive else 0]
        )
        assert (before >= 2) == (s.construction == "binding"), s.text


def test_reflexives_agree_with_their_binder(sample):
    lexicon = yaml.safe_load(resources.path("toy", "lexicon.yaml").read_text(encoding="utf-8"))
    persons = lexicon["nouns"]["person"]
    allowed = {
        "himself": {*persons["m"], *lexicon["names"]["m"], "he"},
        "herself": {*persons["f"], *lexicon["names"]["f"], "she"},
        "itself": {*lexicon["nouns"]["animal"]},
    }
    seen = Counter()
    for s in sample[1]:
        for t in s.tokens:
            if t.form in allowed:
                subject = next(x for x in s.tokens if x.head == t.head and x.deprel == "nsubj")
                assert subject.lemma in allowed[t.form], s.text
                seen[t.form] += 1
    assert min(seen.values()) > 0
    assert len(seen) == 3


def test_verbs_agree_with_their_subjects(sample):
    """An independent check: a finite present verb ends in -s exactly with third person singular."""
    for s in sample[1]:
        for t in s.tokens:
            if t.deprel != "nsubj":
                continue
            verb = s.tokens[t.head - 1]
            has_aux = any(x.head == t.head and x.deprel.startswith("aux") for x in s.tokens)
            relative = "PronType=Rel" in t.feats or "PronType=Int" in t.feats
            joined = any(x.deprel == "conj" and s.tokens[x.head - 1] is t for x in s.tokens)
            if has_aux or relative or verb.xpos not in {"VBZ", "VBP"}:
                continue
            plural = joined or "Number=Plur" in t.feats or t.form.lower() in {"i", "you"}
            assert (verb.xpos == "VBP") == plural, s.text


def test_clitics_are_tokens_of_their_own(baby):
    texts = {s.text: [t.form for t in s.tokens] for s in baby}
    wanna = next(t for t in texts if t.startswith("Do") and "wanna" in t)
    at = texts[wanna].index("wan")
    assert texts[wanna][at : at + 2] == ["wan", "na"]
    dont = next(t for t in texts if t.startswith("Don't "))
    assert texts[dont][:2] == ["Do", "n't"]
    owner = next(t for t in texts if "Mary's " in t)
    assert "'s" in texts[owner]
    assert any(" an apple" in t or " an aunt" in t for t in texts)
    assert not any(re.search(r"\b[Aa] (?:apple|aunt|uncle)", t) for t in texts)


def test_wanna_is_never_used_with_a_questioned_subject(baby):
    for s in baby:
        if "wanna" in s.text and s.text.startswith(("Who", "What")):
            assert s.tokens[0].deprel == "obj", s.text


def test_same_seed_same_sentences_other_seed_others():
    def first(register, seed):
        return [toy.conllu(s) for s in itertools.islice(toy.sentences(register, seed), 50)]

    assert first("baby", 1) == first("baby", 1)
    assert first("baby", 1) != first("baby", 2)
    assert first("baby", 1) != first("wiki", 1)


def test_wiki_sentences_are_longer_and_ask_less():
    def facts(register):
        texts = [s.text for s in itertools.islice(toy.sentences(register, 3), 3000)]
        words = sum(len(t.split()) for t in texts) / len(texts)
        return words, sum(t.endswith("?") for t in texts) / len(texts)

    (baby_words, baby_asks), (wiki_words, wiki_asks) = facts("baby"), facts("wiki")
    assert wiki_words > 1.3 * baby_words
    assert baby_asks > 0.3
    assert wiki_asks < 0.05


def test_sixty_thousand_words_take_seconds():
    words, started = 0, time.process_time()
    for s in toy.sentences("baby", 5):
        words += len(s.text.split())
        if words >= 60_000:
            break
    assert time.process_time() - started < 10  # measured: 0.7 s


def test_unknown_register_is_named():
    with pytest.raises(PoshgridError, match="unknown register 'babby'; did you mean 'baby'"):
        next(toy.sentences("babby", 1))


def copy_grammar(folder: Path, old: str, new: str) -> Path:
    for name in ("grammar.yaml", "lexicon.yaml"):
        text = resources.path("toy", name).read_text(encoding="utf-8")
        (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("nsubj:SUBJ($n) head:FIN($n) punct:.", "nsubj:SUBJX($n) head:FIN($n)", "unknown symbol"),
        ("nsubj:SUBJ($n) head:FIN($n) punct:.", "nsubj:SUBJ($n) root:FIN($n)", "exactly one head"),
        ("- 1 nsubj:SUBJ($n) head:FIN($n) punct:.", "- head:FIN(sg)", "needs a weight"),
        ("    declarative: ", "    declaratives: ", "unknown construction 'declaratives'"),
        ("constructions:", "constructions: [", "not YAML"),
        ("head:NOUN($k,$n)", "head:NOUN($k)", "NOUN takes 2 features"),
    ],
)
def test_faults_of_the_grammar_file_are_named(tmp_path, old, new, message):
    with pytest.raises(PoshgridError, match=message) as caught:
        grammar.load(copy_grammar(tmp_path, old, new))
    assert "grammar.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_words_that_benchmark_items_use_are_all_said(baby):
    said = {t.form.lower() for s in baby for t in s.tokens}
    lexicon = yaml.safe_load(resources.path("toy", "lexicon.yaml").read_text(encoding="utf-8"))
    nouns = lexicon["nouns"]["person"]
    needed = {n for group in nouns.values() for n in group} | set(lexicon["verbs"])
    needed |= {"book", "ball", "cake", "apple", "toy", "picture", "song", "story", "dog", "cat"}
    needed |= {"who", "what", "when", "where", "why", "how", "whether", "wan", "na"}
    needed |= {"will", "can", "should", "must", "did", "does", "do", "himself", "herself"}
    needed |= {n.lower() for names in lexicon["names"].values() for n in names}
    assert needed <= said


def test_conllu_reads_as_a_file():
    sentence = next(toy.sentences("baby", 1))
    (parsed,) = list(conllu.parse_incr(io.StringIO(toy.conllu(sentence))))
    assert parsed[-1]["misc"] == {"SpaceAfter": "No"}
