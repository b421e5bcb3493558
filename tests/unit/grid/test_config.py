"""The configuration: what is refused, at which place, and what the schema promises."""

from __future__ import annotations

import json
import re

import jsonschema
import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from poshgrid.config import Name
from poshgrid.config.names import RULES
from poshgrid.config.sizes import words
from poshgrid.errors import PoshgridError
from poshgrid.grid import configfile
from poshgrid.stages import STAGES
from tests.jobs import put


@pytest.fixture
def tiny(root):
    return yaml.safe_load((root / "studies/posh-bench/toy.yaml").read_text(encoding="utf-8"))


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


def test_the_reference_preset_lies_over_the_papers_configuration(root):
    """Only what was published otherwise differs: corpora, conditions and suites are the same."""
    file = root / "config/config.yaml"
    ours = configfile.load(file)
    theirs = configfile.load(file, root / "studies/posh-bench/reference.yaml")
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


def test_the_smallest_study_of_the_tutorial_is_a_configuration(root):
    """A given model and pairs; the default model of the counts has nothing to fit."""
    page = (root / "docs/quickstart.md").read_text(encoding="utf-8")
    text = re.search(r"## 2. The smallest study.*?```yaml\n(.*?)```", page, re.S)[1]
    grid = configfile.validate(yaml.safe_load(text), [])
    assert [given.name for given in grid.config.pretrained] == ["gpt2"]
    assert not grid.fitted("all")


def test_scientific_notation_is_a_number(tmp_path, tiny):
    tiny["regimens"][0]["learning_rate"] = "3e-4"
    assert configfile.load(write(tmp_path, tiny)).regimens[0].learning_rate == 3e-4


def test_all_errors_at_once_with_file_line_and_place(tmp_path, tiny):
    put("biases", "dyck", lenght=64, k=0)(tiny)
    put("biases", "recency", decay=2)(tiny)
    put("biases", trees={})(tiny)
    put("regimens", 0, warmup_steps=600, padding_in_loss=True)(tiny)
    put("regimens", 1, learnig_rate=1)(tiny)
    put("tokenizer", vocabulary_size=-5)(tiny)
    put("bases", 0, "sources", 0, words={"10Q": "10M"})(tiny)
    lines = refused(tmp_path, tiny).splitlines()
    text = (tmp_path / "config.yaml").read_text(encoding="utf-8").splitlines()
    found = {}
    for line in lines:
        _, number, place, _ = line.split(":", 3)
        found[place.strip()] = text[int(number) - 1]
    # The line that is named is that of the key
    assert {place: line.split(":")[0].strip(" -") for place, line in found.items()} == {
        "biases.dyck.k": "k", "biases.dyck.lenght": "lenght", "biases.recency.decay": "decay",
        "biases.trees": "trees", "regimens[0].padding_in_loss": "padding_in_loss",
        "regimens[0].warmup_steps": "warmup_steps", "regimens[1].learnig_rate": "learnig_rate",
        "tokenizer.vocabulary_size": "vocabulary_size", "bases[0].sources[0].words.10Q": "10Q",
    }  # fmt: skip


def experiment(**changes):
    """Return a change of the first experiment."""
    return put("experiments", 0, **changes)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (put("conditions", 0, filters=["bindin"]), "did you mean 'binding'"),
        (experiment(conditions=["babe"]), "did you mean 'baby'"),
        (experiment(biases=["recencie"]), "unknown bias 'recencie'"),
        (experiment(sizes=["50K"]), "size '50K'"),
        (experiment(sizes=["0M"]), "impossible size '0M'"),
        (experiment(name="All"), "'all'"),
        (experiment(name="Counted"), "'Counted'"),
        (put("suites", 0, name="a.Tokens"), "a.Tokens"),
        (experiment(biases=["dyck+recency", "recency+dyck"]), "biases: 'recency+dyck'"),
        (lambda c: c["bases"][0].update(sources=2 * c["bases"][0]["sources"][:1]), "twice"),
        (put("conditions", 0, name="../x"), "cannot be part of a path"),
        (lambda c: c["conditions"].append(dict(c["conditions"][0])), "defined twice"),
        (put(only="size=1K"), "leaves no run"),
        (lambda c: c.pop("bases"), "unknown base"),
        (lambda c: c.pop("experiments"), "neither experiments nor pretrained"),
        (put(study={"name": "fict", "opens": ["filterin"]}), "did you mean 'filtering'"),
        (put("regimens", 0, epochs=3), "either steps or epochs"),
        (put("regimens", 0, steps=0, warmup_steps=0, checkpoints=[]), "steps: 0"),
        (experiment(exclude=[{"condition": "baby-f"}]), "experiments: exp1: exclude"),
        (put("bases", 0, "sources", 0, "words", **{"0.02M": "20K"}), "bases[0].sources: "),
        (put("models", 1, "contrasts", 0, less="baby-f", planted={}), "are both 'baby-f'"),
        (put("audit", conditions=["wiki"]), "no filters"),
        (put("suites", 0, norms="n.csv"), "norms"),
        (put("conditions", 2, refill=True), "refill: "),
        (put("conditions", 2, unfiltered_sizes=["20K"]), "unfiltered_sizes: "),
    ],
)  # fmt: skip
def test_mistakes_are_one_line_that_names_file_and_word(tmp_path, tiny, change, expected):
    change(tiny)
    message = refused(tmp_path, tiny)
    assert expected in message
    assert message.startswith(str(tmp_path / "config.yaml"))
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize(
    ("change", "key", "place"),
    [
        # options of plug-ins
        (put("biases", "dyck", brackets="txt"), "brackets", "biases.dyck.brackets"),
        (put("biases", "dyck", warmup_steps=60), "dyck", "biases.dyck"),
        (put("biases", "tree-planting", heads=[0, "x"]), "x", "biases.tree-planting.heads[1]"),
        (put("biases", recencey={}), "recencey", "biases.recencey"),
        (lambda c: c["learners"][0]["options"].pop("heads"), "options",
         "learners[0].options.heads"),
        (put("sources", 0, "options", words=-5), "words: -5", "sources[0].options.words"),
        (put("sources", 0, "options", regster="x"), "regster", "sources[0].options.regster"),
        # one of several: neither is meant, or one is
        (put("regimens", 1, checkpoint_epochs="evry"), "checkpoint_epochs",
         "regimens[1].checkpoint_epochs"),
        (put("regimens", 1, checkpoint_epochs=[1, "x"]), "x", "regimens[1].checkpoint_epochs[1]"),
        (put("regimens", 1, evaluate_every=2.5), "evaluate_every", "regimens[1].evaluate_every"),
        (put("conditions", 1, "reinsert", 1, rate="naturl"), "naturl",
         "conditions[1].reinsert[1].rate"),
        (experiment(learners=["a/b"]), "a/b", "experiments[0].learners[0]"),
        (experiment(learners=[{"learner": "gpt2-tiny"}]), "learner: gpt2-tiny",
         "experiments[0].learners[0].sizes"),
        (put(pretrained=["gpt2", "a/b..c"]), "b..c", "pretrained[1].name"),
        # regimens that cannot be
        (lambda c: c["regimens"][0].pop("warmup_steps"), "name: packed",
         "regimens[0].warmup_steps"),
        (put("regimens", 1, checkpoint_epochs=[4, 7, 5]), "checkpoint_epochs",
         "regimens[1].checkpoint_epochs"),
        # names that something else has
        (experiment(name="train"), "train", "experiments[0].name"),
        (experiment(seeds=[42, 53, 42]), "seeds", "experiments[0].seeds"),
        (experiment(learners=["gpt2-tiny", {"learner": "gpt2-tiny", "sizes": ["20K"]}]),
         "learners", "experiments[0].learners"),
        (lambda c: c["regimens"].append(c["regimens"][0] | {"name": "Packed"}), "Packed",
         "regimens[2].name"),
        (put(pretrained=["gpt2", "openai/GPT2"]), "GPT2", "pretrained[1].name"),
        # folders that Snakemake or a line cannot hold
        (put(results="a/{condition}"), "results", "results"),
        (put(results=""), "results", "results"),
        (put(results="~/a"), "results", "results"),
        (put(data="a\nb"), "data", "data"),
        (put("sources", 0, path="a\x1bb"), "path", "sources[0].path"),
        (put("suites", 0, path="}"), "path", "suites[0].path"),
        (put("conditions", 0, prebuilt="{"), "prebuilt", "conditions[0].prebuilt"),
        (put(pretrained=[{"name": "a", "model": "{"}]), "model", "pretrained[0].model"),
        (lambda c: c["parsers"].append({"name": "a", "engine": "spacy", "model": "{"}), "model",
         "parsers[2].model"),
        (put("evidence", gold=["toy", "{"]), "{", "evidence.gold[1]"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_at_its_own_place(tmp_path, tiny, change, key, place):
    change(tiny)
    message = refused(tmp_path, tiny)
    path, number, said, reason = message.split(":", 3)
    assert (path, said.strip()) == (str(tmp_path / "config.yaml"), place)
    assert reason.strip() and len(message.splitlines()) == 1
    line = (tmp_path / "config.yaml").read_text(encoding="utf-8").splitlines()[int(number) - 1]
    assert key in line


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
    assert f"{kind}: " in message and first["name"] in message and "twin" in message


def test_what_only_looks_like_a_mistake_is_taken(tiny):
    put(scoring={"masked": ["pseudo-log-likelihood", "holistic"]})(tiny)  # a suite, scored twice
    tiny["conditions"].append(
        {"name": "wiki~binding", "base": "wiki", "filters": ["binding"], "allow": ["void"]}
    )
    configfile.validate(tiny)


@pytest.mark.parametrize("name", ["a b", "$(x)`y`;&|'\"", "Zoë 你好", "-x", "a<b", "~a", "a < b >"])
def test_other_folders_may_be_named_at_will(tiny, name):
    tiny.update(results=name, data=name)
    assert configfile.validate(tiny).config.results == name


@pytest.mark.parametrize(
    "learners",
    [
        ["gpt2-tiny", {"learner": "gpt2-tiny", "sizes": ["9M"]}],  # a size that is not asked for
        [{"learner": "gpt2-tiny", "sizes": ["20K"]}, {"learner": "gpt2-tiny", "sizes": ["60K"]}],
    ],
)
def test_a_learner_that_is_named_for_sizes_of_its_own_is_not_there_twice(tiny, learners):
    once = configfile.validate(tiny).targets["exp1"]
    experiment(learners=learners)(tiny)
    assert configfile.validate(tiny).targets["exp1"] == once


def test_every_rule_of_the_workflow_is_known(root):
    """Snakemake refuses a second rule of one name, in words of the rule, not of the experiment."""
    text = "".join(file.read_text() for file in (root / "workflow/rules").glob("*.smk"))
    assert sorted(re.findall(r"^rule (\w+):", text, re.MULTILINE)) == sorted(STAGES)
    assert RULES | {"untrained"} == set(STAGES)  # the name of a baseline, and so taken


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
    path.write_text(f"{text}learners:\n- {{name: a, architecture: gpt2}}\n")
    again = text.count("\n") + 1
    for read in (configfile.load, lambda file: configfile.validate(tiny, [file])):
        with pytest.raises(PoshgridError, match=rf"^{path}:{again}: .*'learners'"):
            read(path)


def test_a_mistake_is_in_the_file_that_made_it(tmp_path, tiny):
    """Mappings are merged over files, and lists replaced."""
    put("biases", "dyck", lenght=64)(tiny)
    base, over = write(tmp_path, tiny), tmp_path / "over.yaml"
    over.write_text("biases:\n  recency: {decay: 0.5}\n")
    with pytest.raises(PoshgridError, match=rf"^{base}:\d+: biases\.dyck\.lenght: "):
        configfile.load(base, over)
    over.write_text("biases:\n  dyck: {lenght: 128}\n")
    with pytest.raises(PoshgridError, match=rf"^{over}:2: biases\.dyck\.lenght: "):
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
    [(b"", ""), (b"a: [1,\nb: 2", ":2"), (b"a: \xff\xfe", ""), (b"- 1\n", "")],
)
def test_broken_files(tmp_path, content, expected):
    path = tmp_path / "config.yaml"
    path.write_bytes(content)
    with pytest.raises(PoshgridError, match=rf"^{path}{expected}: .+"):
        configfile.load(path)


def test_a_results_folder_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(PoshgridError, match=r"^results: .*/file is not a folder"):
            configfile.check_results(str(path))
    configfile.check_results(str(tmp_path / "new" / "folder"))
    assert not (tmp_path / "new").exists(), "a dry-run must write nothing"
    monkeypatch.setattr("os.access", lambda path, mode: False)  # root may write anywhere
    with pytest.raises(PoshgridError, match=r"^results: .* cannot be written"):
        configfile.check_results(str(tmp_path / "new"))


def test_a_configuration_further_up_is_named(tmp_path, monkeypatch):
    (tmp_path / "config").mkdir()
    (tmp_path / "docs/more").mkdir(parents=True)
    (tmp_path / "config/mine.yaml").write_text("{}")
    monkeypatch.chdir(tmp_path / "docs/more")
    with pytest.raises(PoshgridError, match=rf"^config/mine\.yaml: .*go to {tmp_path}$"):
        configfile.load("config/mine.yaml")


@given(st.integers(1, 10**6), st.sampled_from("KM"))
def test_sizes_read_as_written(amount, unit):
    assert words(f"{amount}{unit}") == amount * {"K": 1000, "M": 1_000_000}[unit]


@pytest.mark.parametrize("size", ["", "10", "10m", "-1M", "1.2345K", "M", "1e3M", "0K", "10M "])
def test_impossible_sizes(size):
    with pytest.raises(ValueError, match="impossible size"):
        words(size)
