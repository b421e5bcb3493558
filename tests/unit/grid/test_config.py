"""The configuration: what is refused, how it is said, and what the schema promises."""

from __future__ import annotations

import json
import re

import jsonschema
import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from poshgrid.config import Name, Regimen
from poshgrid.config.names import RULES
from poshgrid.config.sizes import words
from poshgrid.errors import PoshgridError
from poshgrid.grid import configfile


@pytest.fixture
def tiny(root):
    return yaml.safe_load((root / "config/tiny.yaml").read_text(encoding="utf-8"))


def write(tmp_path, data):
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    return path


def refused(tmp_path, data):
    with pytest.raises(PoshgridError) as caught:
        configfile.load(write(tmp_path, data))
    return str(caught.value)


@pytest.mark.parametrize("name", ["config", "tiny", "pilot"])
def test_shipped_configurations_are_valid_and_fit_the_schema(root, name):
    path = root / f"config/{name}.yaml"
    configfile.load(path)
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# yaml-language-server: $schema=../workflow/schemas/config.schema.json")
    schema = json.loads((root / "workflow/schemas/config.schema.json").read_text(encoding="utf-8"))
    data = yaml.safe_load(text)
    for regimen in data["regimens"]:  # YAML 1.1 reads 1e-4 as text; editors read it as a number
        regimen["learning_rate"] = float(regimen["learning_rate"])
    jsonschema.validate(data, schema)


def test_schema_file_is_up_to_date(root):
    path = root / "workflow/schemas/config.schema.json"
    assert path.read_text(encoding="utf-8") == configfile.schema(), "run: poshgrid schema"


def test_defaults_are_the_papers(root):
    paper = configfile.load(root / "config/config.yaml")
    regimen = next(r for r in paper.regimens if r.name == "packed")
    # Table 6
    assert (regimen.learning_rate, regimen.batch_size, regimen.context_length) == (1e-4, 32, 512)
    assert (regimen.warmup_steps, regimen.steps, regimen.patience_steps) == (4000, 100_000, 6000)
    assert (regimen.dropout, regimen.weight_decay, regimen.schedule) == (0.1, 0.1, "linear")
    # Table 5
    mini = next(x for x in paper.learners if x.name == "gpt2-mini")
    assert mini.options == {"hidden_size": 512, "heads": 8, "layers": 4, "ffn": 2048}
    # Table 2: each column adds up to its size
    baby = next(b for b in paper.bases if b.name == "baby")
    for size in ("10M", "30M", "50M", "100M"):
        assert sum(portion.words[size] for portion in baby.sources) == words(size)


def test_scientific_notation_is_a_number(tmp_path, tiny):
    tiny["regimens"][0]["learning_rate"] = "3e-4"
    assert configfile.load(write(tmp_path, tiny)).regimens[0].learning_rate == 3e-4


def test_all_errors_at_once_with_file_line_path_and_remedy(tmp_path, tiny):
    tiny["regimens"][0]["learnig_rate"] = 1
    tiny["tokenizer"]["vocabulary_size"] = -5
    tiny["bases"][0]["sources"][0]["words"] = {"10Q": "10M"}
    message = refused(tmp_path, tiny)
    lines = message.splitlines()
    text = (tmp_path / "config.yaml").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 3
    by_key = {key: next(x for x in lines if key in x) for key in ("learnig", "vocabulary", "10Q")}
    assert (
        "regimens[0].learnig_rate: unknown key; did you mean 'learning_rate'?" in by_key["learnig"]
    )
    assert "impossible size '10Q'" in by_key["10Q"]
    for key, line in by_key.items():
        number = int(line.split(":")[1])
        assert key in text[number - 1], "the message must name the line that holds the key"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda c: c["conditions"][0].update(filters=["bindin"]), "did you mean 'binding'"),
        (lambda c: c["sources"][0].update(reader="toi"), "did you mean 'toy'"),
        (
            lambda c: c["sources"][0]["options"].update(regster="x"),
            "sources[0].options.regster: unknown key; did you mean 'register'",
        ),
        (
            lambda c: c["suites"][0]["options"].update(pars=3),
            "suites[0].options.pars: unknown key; did you mean 'pairs'",
        ),
        (lambda c: c["learners"][0].update(architecture="gpt3"), "did you mean 'gpt2'"),
        (lambda c: c["experiments"][0].update(learners=["gpt2-tini"]), "did you mean 'gpt2-tiny'"),
        (lambda c: c["experiments"][0].update(conditions=["babe"]), "did you mean 'baby'"),
        (lambda c: c["experiments"][0].update(biases=["recencie"]), "unknown bias 'recencie'"),
        (lambda c: c["experiments"][0].update(sizes=["50K"]), "no words for size '50K'"),
        (lambda c: c["experiments"][0].update(sizes=["0M"]), "impossible size '0M'"),
        (lambda c: c["evidence"].update(parser="stanca"), "did you mean 'stanza'"),
        (lambda c: c["experiments"][0].update(name="All"), "'all' is the target that joins them"),
        (lambda c: c["experiments"][0].update(name="Counted"), "'Counted' is the name of a null"),
        (lambda c: c["suites"][0].update(name="a.Tokens"), "ends as the file of another"),
        (
            lambda c: c["experiments"][0].update(biases=["dyck+recency", "recency+dyck"]),
            "biases: 'recency+dyck' and 'dyck+recency' are the same; write one of them",
        ),
        (
            lambda c: c["bases"][0].update(sources=2 * c["bases"][0]["sources"][:1]),
            "twice: add the two together",
        ),
        (lambda c: c["conditions"][0].update(name="../x"), "cannot be part of a path"),
        (lambda c: c["conditions"].append(dict(c["conditions"][0])), "defined twice"),
        (lambda c: c.update(only="size=1K"), "leaves no run"),
        (lambda c: c.update(only="siz=20K"), "did you mean 'size'"),
        (lambda c: c.pop("bases"), "unknown base"),
        (lambda c: c.pop("experiments"), "neither experiments nor pretrained"),
        (
            lambda c: c.update(study={"name": "fict", "opens": ["filterin"]}),
            "did you mean 'filtering'",
        ),
        (lambda c: c["regimens"][0].update(epochs=3), "either steps or epochs"),
        (lambda c: c["regimens"][0].update(steps=0, warmup_steps=0, checkpoints=[]),
         "steps: 0 trains nothing"),
        (lambda c: c["experiments"][0].update(exclude=[{"condition": "baby-f"}]),
         "experiments: exp1: exclude leaves out every point"),
        (lambda c: c["bases"][0]["sources"][0]["words"].update({"0.02M": "20K"}),
         "bases[0].sources: 20K and 0.02M are the same size"),
        (lambda c: c["models"][1]["contrasts"][0].update(less="baby-f", planted={}),
         "first and less are both 'baby-f': nothing is compared"),
        (lambda c: c["audit"].update(conditions=["wiki"]), "has no filters, and so no sheet"),
        (lambda c: c["suites"][0].update(norms="n.csv"), "norms are of choices and completions"),
        (lambda c: c["conditions"][2].update(refill=True), "refill: nothing is gone"),
        (lambda c: c["conditions"][2].update(unfiltered_sizes=["20K"]),
         "unfiltered_sizes: it has no filters at any size"),
        (lambda c: c["conditions"].append({"name": "wiki~binding", "base": "wiki"}),
         "'wiki~binding': is listed with another base or filters than its name says"),
    ],
)  # fmt: skip
def test_mistakes_are_named_with_a_remedy(tmp_path, tiny, change, expected):
    change(tiny)
    message = refused(tmp_path, tiny)
    assert expected in message
    assert message.startswith(str(tmp_path / "config.yaml"))
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize(
    ("kind", "use"),
    [
        ("sources", lambda c: c["bases"][0]["sources"].append(
            {"source": "twin", "words": {"20K": "1K", "60K": "1K"}})),
        ("parsers", lambda c: c["evidence"]["compare"].append("twin")),
        ("learners", lambda c: c["experiments"][0]["learners"].append("twin")),
        ("regimens", lambda c: c["experiments"].append(
            c["experiments"][0] | {"name": "more", "regimen": "twin"})),
        ("suites", lambda c: None),
    ],
)  # fmt: skip
def test_what_is_the_same_under_two_names_would_count_twice(tmp_path, tiny, kind, use):
    first = tiny[kind][0]
    tiny[kind].append({**first, "name": "twin"})
    use(tiny)
    message = refused(tmp_path, tiny)
    assert f"{kind}: " in message and "are the same under two names" in message
    assert first["name"] in message and "twin" in message


def test_suites_that_are_scored_in_two_ways_are_no_twins(tiny):
    tiny["scoring"] = {"masked": ["pseudo-log-likelihood", "holistic"]}
    configfile.validate(tiny)


def test_a_listed_condition_may_be_called_what_it_is(tiny):
    tiny["conditions"].append(
        {"name": "wiki~binding", "base": "wiki", "filters": ["binding"], "allow": ["void"]}
    )
    configfile.validate(tiny)


def bias(name, **options):
    return lambda c: c["biases"][name].update(options)


def sentence(**changes):
    return lambda c: c["regimens"][1].update(changes)


def packed(**changes):
    return lambda c: c["regimens"][0].update(changes)


def learners(*given):
    return lambda c: c["experiments"][0].update(learners=list(given))


@pytest.mark.parametrize(
    ("change", "key", "expected"),
    [
        # options of biases
        (
            bias("dyck", lenght=64),
            "lenght",
            "biases.dyck.lenght: unknown key; did you mean 'length'?",
        ),
        (
            bias("dyck", brackets="txt"),
            "brackets",
            "biases.dyck.brackets: Input should be 'own' or 'text' (is 'txt'); "
            "did you mean 'text'?",
        ),
        (
            bias("dyck", warmup_steps=60),
            "dyck",
            "biases.dyck: 60 warmup_steps are not less than the 60 steps",
        ),
        (
            bias("tree-planting", heads=[0, "x"]),
            "x",
            "biases.tree-planting.heads[1]: Input should be a valid integer, unable to parse "
            "string as an integer (is 'x')",
        ),
        (
            lambda c: c["biases"].update(recencey={}),
            "recencey",
            "biases.recencey: unknown bias 'recencey'; did you mean 'recency'?",
        ),
        (
            lambda c: c["biases"].update(dyck=None),
            "dyck",
            "biases.dyck: Input should be a mapping (is None)",
        ),
        # options of other plug-ins
        (
            lambda c: c["learners"][0]["options"].pop("heads"),
            "options",
            "learners[0].options.heads: missing; add it",
        ),
        (
            lambda c: c["sources"][0]["options"].update(words=-5),
            "words: -5",
            "sources[0].options.words: Input should be greater than 0 (is -5)",
        ),
        # one of several: neither is meant, or one is
        (
            sentence(checkpoint_epochs="evry"),
            "checkpoint_epochs",
            "regimens[1].checkpoint_epochs: Input should be a valid list or 'every' (is 'evry'); "
            "did you mean 'every'?",
        ),
        (
            sentence(checkpoint_epochs=[1, "x"]),
            "x",
            "regimens[1].checkpoint_epochs[1]: Input should be a valid integer, unable to parse "
            "string as an integer (is 'x')",
        ),
        (
            sentence(evaluate_every="sometimes"),
            "evaluate_every",
            "regimens[1].evaluate_every: Input should be a valid integer or 'epoch' "
            "(is 'sometimes')",
        ),
        (
            sentence(evaluate_every=2.5),
            "evaluate_every",
            "regimens[1].evaluate_every: Input should be a valid integer or 'epoch' (is 2.5)",
        ),
        (
            sentence(evaluate_every=-1),
            "evaluate_every",
            "regimens[1].evaluate_every: Input should be greater than 0 (is -1)",
        ),
        (
            lambda c: c["conditions"][1]["reinsert"][1].update(rate="naturl"),
            "naturl",
            "conditions[1].reinsert[1].rate: Input should be a valid number or 'natural' "
            "(is 'naturl'); did you mean 'natural'?",
        ),
        (
            learners("a/b"),
            "a/b",
            "experiments[0].learners[0]: 'a/b' cannot be part of a path: use letters, digits, and "
            "+ ~ . _ - (64 at most)",
        ),
        (
            learners(5),
            "- 5",
            "experiments[0].learners[0]: Input should be a valid string or a mapping (is 5)",
        ),
        (
            learners({"learner": "gpt2-tiny"}),
            "learner: gpt2-tiny",
            "experiments[0].learners[0].sizes: missing; add it",
        ),
        (
            lambda c: c.update(pretrained=["gpt2", "a/b..c"]),
            "b..c",
            "pretrained[1].name: 'b..c' cannot be part of a path: use letters, digits, and "
            "+ ~ . _ - (64 at most)",
        ),
        # regimens that cannot be
        (
            packed(warmup_steps=600),
            "warmup_steps",
            "regimens[0].warmup_steps: 600 warmup_steps are not less than the 600 steps; lower "
            "them or train longer",
        ),
        (
            lambda c: c["regimens"][0].pop("warmup_steps"),
            "name: packed",
            "regimens[0].warmup_steps: 4,000 warmup_steps are not less than the 600 steps; lower "
            "them or train longer (is 4000)",
        ),
        (
            sentence(checkpoint_epochs=[4, 7, 5]),
            "checkpoint_epochs",
            "regimens[1].checkpoint_epochs: 5, 7 beyond the 4 epochs of the run; leave that out "
            "or train longer",
        ),
        (
            packed(padding_in_loss=True),
            "padding_in_loss",
            "regimens[0].padding_in_loss: packed rows have no padding; set it to false, or input "
            "to sentence (is True)",
        ),
    ],
)
def test_a_mistake_is_one_line_at_its_own_place(tmp_path, tiny, change, key, expected):
    change(tiny)
    message = refused(tmp_path, tiny)
    path, number, said = message.split(":", 2)
    assert said.strip() == expected
    line = (tmp_path / "config.yaml").read_text(encoding="utf-8").splitlines()[int(number) - 1]
    assert (path, key in line) == (str(tmp_path / "config.yaml"), True), line


def experiment(**changes):
    return lambda c: c["experiments"][0].update(changes)


@pytest.mark.parametrize(
    ("change", "key", "expected"),
    [
        (
            experiment(name="train"),
            "train",
            "experiments[0].name: 'train' is a rule of the workflow, and each experiment is one "
            "more: rename it",
        ),
        (experiment(seeds=[42, 53, 42]), "seeds",
         "experiments[0].seeds: 42 twice: its runs would count twice"),
        (experiment(conditions=["baby-f", "baby-f"]), "conditions",
         "experiments[0].conditions: baby-f twice: its runs would count twice"),
        (experiment(biases=["dyck", "none", "dyck", "none"]), "biases",
         "experiments[0].biases: dyck, none twice: its runs would count twice"),
        (learners("gpt2-tiny", {"learner": "gpt2-tiny", "sizes": ["20K"]}), "learners",
         "experiments[0].learners: gpt2-tiny at 20K twice: its runs would count twice"),
        (
            lambda c: c["regimens"].append(c["regimens"][0] | {"name": "Packed"}),
            "Packed",
            "regimens[2].name: 'Packed' and 'packed' differ by case alone: one file where a disk "
            "ignores case; rename one",
        ),
        (
            lambda c: c.update(pretrained=["gpt2", "openai/GPT2"]),
            "GPT2",
            "pretrained[1].name: 'GPT2' and 'gpt2' differ by case alone: one file where a disk "
            "ignores case; rename one",
        ),
    ],
)  # fmt: skip
def test_names_that_something_else_has(tmp_path, tiny, change, key, expected):
    test_a_mistake_is_one_line_at_its_own_place(tmp_path, tiny, change, key, expected)


PATTERN = "which Snakemake takes for a part of a pattern: rename the file or folder"
LETTER = "holds a line break, another control character or half a character: rename"


@pytest.mark.parametrize(
    ("change", "key", "expected"),
    [
        (lambda c: c.update(results="a/{condition}"), "results",
         f"results: 'a/{{condition}}' holds {{, {PATTERN}"),
        (lambda c: c.update(results="a <temp>"), "results",
         f"results: 'a <temp>' holds <temp>, {PATTERN}"),
        (lambda c: c.update(results=""), "results",
         "results: '' is empty or begins with a space: write . for this folder"),
        (lambda c: c.update(results=" a"), "results",
         "results: ' a' is empty or begins with a space: write . for this folder"),
        (lambda c: c.update(results="~/a"), "results",
         "results: '~/a' begins with ~: write the home folder out"),
        (lambda c: c["sources"][0].update(path="~/a"), "path",
         "sources[0].path: '~/a' begins with ~: write the home folder out"),
        (lambda c: c.update(data="a\nb"), "data",
         f"data: 'a\\nb' {LETTER} the file or folder"),
        (lambda c: c["sources"][0].update(path="a\x1bb"), "path",
         f"sources[0].path: 'a\\x1bb' {LETTER} the file or folder"),
        (lambda c: c["suites"][0].update(path="}"), "path",
         f"suites[0].path: '}}' holds }}, {PATTERN}"),
        (lambda c: c["suites"][0].update(norms="{"), "norms",
         f"suites[0].norms: '{{' holds {{, {PATTERN}"),
        (lambda c: c["conditions"][0].update(prebuilt="{"), "prebuilt",
         f"conditions[0].prebuilt: '{{' holds {{, {PATTERN}"),
        (lambda c: c.update(pretrained=[{"name": "a", "model": "{"}]), "model",
         f"pretrained[0].model: '{{' holds {{, {PATTERN}"),
        (lambda c: c["parsers"].append({"name": "a", "engine": "spacy", "model": "{"}), "model",
         f"parsers[2].model: '{{' holds {{, {PATTERN}"),
        (lambda c: c["evidence"].update(gold=["toy", "{"]), "{",
         f"evidence.gold[1]: '{{' holds {{, {PATTERN}"),
    ],
)  # fmt: skip
def test_folders_that_snakemake_or_a_line_cannot_hold(tmp_path, tiny, change, key, expected):
    test_a_mistake_is_one_line_at_its_own_place(tmp_path, tiny, change, key, expected)


@pytest.mark.parametrize("name", ["a b", "$(x)`y`;&|'\"", "Zoë 你好", "-x", "a<b", "~a", "a < b >"])
def test_other_folders_may_be_named_at_will(tiny, name):
    tiny.update(results=name, data=name)
    assert configfile.validate(tiny).config.results == name


@pytest.mark.parametrize(
    "given",
    [
        ["gpt2-tiny", {"learner": "gpt2-tiny", "sizes": ["9M"]}],  # a size that is not asked for
        [{"learner": "gpt2-tiny", "sizes": ["20K"]}, {"learner": "gpt2-tiny", "sizes": ["60K"]}],
    ],
)
def test_a_learner_that_is_named_for_sizes_of_its_own_is_not_there_twice(tmp_path, tiny, given):
    once = configfile.validate(tiny).targets["exp1"]
    learners(*given)(tiny)
    assert configfile.validate(tiny).targets["exp1"] == once


def test_every_rule_of_the_workflow_is_known(root):
    """Snakemake refuses a second rule of one name, in words of the rule, not of the experiment."""
    files = (root / "workflow/rules").glob("*.smk")
    rules = r"^\s*(?:rule|checkpoint)\s+(\w+)\s*:"
    found = {rule for file in files for rule in re.findall(rules, file.read_text(), re.MULTILINE)}
    assert found == RULES


@given(
    st.from_regex(r"[a-b1.]{0,9}", fullmatch=True),
    st.from_regex(r"[ab1]{1,4}", fullmatch=True),
    st.integers(18, 22),
)
def test_names_that_snakemake_takes_for_a_cycle_are_refused(start, part, times):
    from snakemake.io import PeriodicityDetector

    name = ("x" + start + part * times)[:64]
    assume(".." not in name and name[-1] != ".")
    if PeriodicityDetector().is_periodic(name) is None:
        assert TypeAdapter(Name).validate_python(name) == name
        return
    with pytest.raises(ValidationError, match="which Snakemake refuses"):
        TypeAdapter(Name).validate_python(name)


def test_a_key_that_is_there_twice_is_refused(tmp_path, tiny):
    """PyYAML and Snakemake keep the later: a learner would be lost without a word."""
    path = write(tmp_path, tiny)
    text = path.read_text()
    first = text.splitlines().index("learners:") + 1
    path.write_text(f"{text}learners:\n- {{name: a, architecture: gpt2}}\n")
    again = text.count("\n") + 1
    said = f"each key once: 'learners' is in line {first} and again in line {again}"
    for read in (configfile.load, lambda file: configfile.validate(tiny, [file])):
        with pytest.raises(PoshgridError) as caught:
            read(path)
        assert str(caught.value) == f"{path}:{again}: not YAML: {said}; mend that line"


def test_mistakes_of_several_biases_and_of_one_regimen_are_told_together(tmp_path, tiny):
    bias("dyck", lenght=64, k=0)(tiny)
    bias("recency", decay=2)(tiny)
    tiny["biases"]["trees"] = {}
    packed(warmup_steps=600, padding_in_loss=True)(tiny)
    lines = refused(tmp_path, tiny).splitlines()
    assert sorted(line.split(": ")[1] for line in lines) == [
        "biases.dyck.k", "biases.dyck.lenght", "biases.recency.decay", "biases.trees",
        "regimens[0].padding_in_loss", "regimens[0].warmup_steps",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "fits",
    [
        {"steps": 0, "warmup_steps": 0},
        {"steps": 5, "warmup_steps": 4, "checkpoints": [5], "checkpoint_epochs": [9]},
        {"steps": None, "epochs": 2, "checkpoint_epochs": [1, 2]},  # 4,000 of who knows how many
        {"steps": None, "epochs": 2, "input": "sentence", "padding_in_loss": True},
    ],
)
def test_a_regimen_that_can_be_is_not_refused(fits):
    assert Regimen.model_validate({"name": "mine"} | fits)


def test_a_mistake_is_in_the_file_that_made_it(tmp_path, tiny):
    """Mappings are merged over files, and lists replaced."""
    bias("dyck", lenght=64)(tiny)
    base, over = write(tmp_path, tiny), tmp_path / "over.yaml"
    over.write_text("biases:\n  recency: {decay: 0.5}\n")
    with pytest.raises(PoshgridError, match=rf"^{base}:\d+: biases\.dyck\.lenght: unknown key"):
        configfile.load(base, over)
    over.write_text("biases:\n  dyck: {lenght: 128}\n")
    with pytest.raises(PoshgridError, match=rf"^{over}:2: biases\.dyck\.lenght: unknown key"):
        configfile.load(base, over)
    del tiny["biases"]["dyck"]["lenght"]
    write(tmp_path, tiny)
    over.write_text("regimens:\n  - name: packed\n    steps: 20\n  - {name: sentence, steps: 9}\n")
    with pytest.raises(PoshgridError) as caught:
        configfile.load(base, over)
    places = [line.split(": ")[0] for line in str(caught.value).splitlines()]
    assert places == [f"{over}:2", f"{over}:4"], "4,000 steps of warm-up, which no file has"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "empty"),
        (b"a: [1,\nb: 2", ":2: not YAML"),
        (b"a: \xff\xfe", "not UTF-8 at byte 3"),
        (b"- 1\n", "not a mapping"),
    ],
)
def test_broken_files(tmp_path, content, expected):
    path = tmp_path / "config.yaml"
    path.write_bytes(content)
    with pytest.raises(PoshgridError, match=r"config\.yaml") as caught:
        configfile.load(path)
    assert expected in str(caught.value)


def test_a_results_folder_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    with pytest.raises(PoshgridError, match=r"/file is not a folder; choose another folder"):
        configfile.check_results(str(tmp_path / "file" / "below"))
    with pytest.raises(PoshgridError) as caught:
        configfile.check_results(str(tmp_path / "file"))
    assert str(caught.value).count(str(tmp_path)) == 1
    configfile.check_results(str(tmp_path / "new" / "folder"))
    assert not (tmp_path / "new").exists(), "a dry-run must write nothing"
    monkeypatch.setattr("os.access", lambda path, mode: False)  # root may write anywhere
    with pytest.raises(PoshgridError, match="cannot be written; change its permissions or choose"):
        configfile.check_results(str(tmp_path / "new"))


@given(st.integers(1, 10**6), st.sampled_from("KM"))
def test_sizes_read_as_written(amount, unit):
    assert words(f"{amount}{unit}") == amount * {"K": 1000, "M": 1_000_000}[unit]


@pytest.mark.parametrize("size", ["", "10", "10m", "-1M", "1.2345K", "M", "1e3M", "0K", "10M "])
def test_impossible_sizes(size):
    with pytest.raises(ValueError, match="impossible size"):
        words(size)


def test_the_reference_preset_lies_over_the_papers_configuration(root):
    """Only what was published otherwise differs: corpora, conditions and suites are the same."""
    ours = configfile.load(root / "config/config.yaml")
    theirs = configfile.load(
        root / "config/config.yaml", root / "studies/posh-bench/reference.yaml"
    )
    a, b = (each.model_dump(mode="json") for each in (ours, theirs))
    assert {key for key in a if a[key] != b[key]} == {
        "results", "learners", "regimens", "biases", "experiments", "scoring"
    }  # fmt: skip
    assert a["biases"]["tree-planting"] | {"rows": "all"} == b["biases"]["tree-planting"]
    recency = next(r for r in theirs.regimens if r.name == "sentence-recency")
    assert (recency.learning_rate, recency.patience_steps) == (5e-6, 1)
    assert recency.padding_in_loss
    assert theirs.regimens[0].warmup_steps == 40_000
    assert not theirs.scoring.bos


def test_a_configuration_further_up_is_named(tmp_path, monkeypatch):
    (tmp_path / "config").mkdir()
    (tmp_path / "docs/more").mkdir(parents=True)
    (tmp_path / "config/mine.yaml").write_text("{}")
    monkeypatch.chdir(tmp_path / "docs/more")
    for name, remedy in (("mine", f"go to {tmp_path}"), ("other", "name a configuration")):
        with pytest.raises(PoshgridError) as caught:
            configfile.load(f"config/{name}.yaml")
        path = f"config/{name}.yaml"
        assert str(caught.value) == f"{path}: cannot read: No such file or directory; {remedy}"


def test_the_smallest_study_of_the_tutorial_is_a_configuration(root):
    """Nine lines: a given model and pairs; the default model of the counts has nothing to fit."""
    page = (root / "docs/quickstart.md").read_text(encoding="utf-8")
    text = re.search(r"## 2. The smallest study.*?```yaml\n(.*?)```", page, re.S)[1]
    assert len(text.splitlines()) == 9
    grid = configfile.validate(yaml.safe_load(text), [])
    assert [given.name for given in grid.config.pretrained] == ["gpt2"]
    assert not grid.fitted("all")
