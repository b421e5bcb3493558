"""The configuration: what is refused, at which place, and what the schema promises."""

import json
import re

import jsonschema
import pytest
import yaml

from poshgrid.config import rules
from poshgrid.config.sizes import words
from poshgrid.core.errors import PoshgridError
from poshgrid.grid import configfile
from poshgrid.stages import STAGES
from tests import shipped
from tests.cases import read_cases
from tests.jobs import put

CASES = read_cases(__file__, "config")


@pytest.fixture
def tiny():
    return shipped.toy()


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
    for recipe in data["recipes"]:  # YAML 1.1 reads 1e-4 as text; editors read it as a number
        if "learning_rate" in recipe:
            recipe["learning_rate"] = float(recipe["learning_rate"])
    jsonschema.validate(data, schema)


def test_schema_file_is_up_to_date(root):
    path = root / "workflow/schemas/config.schema.json"
    assert path.read_text(encoding="utf-8") == configfile.schema(), "run: python docs/generate.py"


def test_defaults_are_the_papers(paper):
    recipe = next(r for r in paper.recipes if r.name == "packed")
    # Table 6
    assert (recipe.learning_rate, recipe.batch_size, recipe.context_length) == (1e-4, 32, 512)
    assert (recipe.warmup_steps, recipe.steps, recipe.patience_steps) == (4000, 100_000, 6000)
    assert (recipe.dropout, recipe.weight_decay) == (0.1, 0.1)
    # Table 5
    mini = next(x for x in paper.models if x.name == "gpt2-mini")
    assert mini.options == {"hidden_size": 512, "heads": 8, "layers": 4, "ffn": 2048}
    # Table 2: each column adds up to its size
    baby = next(b for b in paper.corpora if b.name == "baby")
    for size in ("10M", "30M", "50M", "100M"):
        assert sum(portion.words[size] for portion in baby.sources) == words(size)


def test_the_reference_preset_lies_over_the_papers_configuration(root, paper):
    """Only what was published otherwise differs: corpora, conditions and suites are the same."""
    files = root / "config/config.yaml", root / "studies/posh-bench/reference.yaml"
    a, b = (config.model_dump(mode="json") for config in (paper, configfile.load(*files)))
    assert {key for key in a if a[key] != b[key]} == {
        "results", "models", "recipes", "biases", "experiments", "scoring"
    }  # fmt: skip


def test_the_smallest_study_of_the_docs_is_a_configuration(root):
    """A given model and pairs; the default model of the counts has nothing to fit."""
    page = (root / "docs/configuration.md").read_text(encoding="utf-8")
    text = re.search(r"The smallest study .*?```yaml\n(.*?)```", page, re.S)[1]
    grid = configfile.validate(yaml.safe_load(text), [])
    assert [model.name for model in grid.config.pretrained] == ["gpt2"]
    assert not grid.fitted("all")


def experiment(**changes):
    """Return a change of the first experiment."""
    return put("experiments", 0, **changes)


def put_at(keys, changes):
    """Return a change of the mapping that keys lead to, or of a copy of the first of a list."""
    if keys[-1:] == ["+"]:
        return lambda c: c[keys[0]].append(c[keys[0]][0] | changes)
    return put(*keys, **changes)


def sized(**words):
    """Return a change of the words of the first corpus."""
    return put("corpora", 0, "sources", 0, "words", **words)


def shared_and_published(configuration):
    """Take a share of a source whose own dev and test are used."""
    put("sources", 0, share=0.5)(configuration)
    put("corpora", 0, splits="published")(configuration)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        *((put_at(keys, changes), word) for keys, changes, word in CASES["disagree"]),
        (lambda c: c["corpora"][0].update(sources=2 * c["corpora"][0]["sources"][:1]), "twice"),
        (lambda c: c.pop("experiments"), "nothing to score"),
        (shared_and_published, "corpora[0].splits: a share of source 'toy-baby'"),
    ],
)  # fmt: skip
def test_parts_that_disagree_are_one_line_that_names_file_and_word(tmp_path, tiny, change, word):
    change(tiny)
    message = refused(tmp_path, tiny)
    assert word in message
    assert message.startswith(str(tmp_path / "config.yaml"))
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize(
    ("change", "key", "keys"),
    [
        *((put_at(keys, changes), *line) for keys, changes, *line in CASES["own place"]),
        (lambda c: c["models"][0]["options"].pop("heads"), "options",
         "models[0].options.heads"),
        (lambda c: c["recipes"][0].pop("warmup_steps"), "name: packed",
         "recipes[0].warmup_steps"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_at_its_own_place(tmp_path, tiny, change, key, keys):
    change(tiny)
    message = refused(tmp_path, tiny)
    path, number, shown, reason = message.split(":", 3)
    assert (path, shown.strip()) == (str(tmp_path / "config.yaml"), keys)
    assert reason.strip() and len(message.splitlines()) == 1
    line = (tmp_path / "config.yaml").read_text(encoding="utf-8").splitlines()[int(number) - 1]
    assert key in line


def test_trees_are_those_of_sizes_that_are_not_rewritten(tiny):
    tiny["conditions"][0].update(rewrite=["drop-articles"], unfiltered_sizes=["20K"])
    assert configfile.validate(tiny)


def test_unknown_names_and_wrong_values_are_reported_at_once(tmp_path, tiny):
    changes = {where: put_at(*change) for where, change in CASES["at once"].items()}
    for change in changes.values():
        change(tiny)
    lines = refused(tmp_path, tiny).splitlines()
    text = (tmp_path / "config.yaml").read_text(encoding="utf-8").splitlines()
    reported = {}
    for line in lines:
        _, number, keys, reason = line.split(":", 3)
        reported[keys.strip()] = text[int(number) - 1], reason
    assert reported.keys() == changes.keys()
    for keys, (line, reason) in reported.items():
        key = re.sub(r"\[\d+\]$", "", keys).rpartition(".")[2]
        assert line.split(":")[0].strip(" -") == key or line.strip().startswith("- ")
        assert re.search("did you mean|known|write", reason), keys


@pytest.mark.parametrize(
    ("change", "advice", "follow"),
    [
        (experiment(conditions=["babby"]), "did you mean '(baby)'",
         lambda c, word: experiment(conditions=[word])(c)),
        (put("recipes", 0, checkpoints="babyml"), "'babylm' .*; did you mean '(babylm)'",
         lambda c, word: put("recipes", 0, checkpoints=word)(c)),
        (put("recipes", 0, learnig_rate=1e-3), "did you mean '(learning_rate)'",
         lambda c, key: c["recipes"][0].update({key: c["recipes"][0].pop("learnig_rate")})),
        (experiment(sizes=[20000]), "write (20K)", lambda c, size: experiment(sizes=[size])(c)),
        (experiment(sizes=["50K"]), "did you mean '(20K|40K)'",
         lambda c, size: experiment(sizes=[size])(c)),
        (sized(**{"40K": "41K"}), r"allow: \[(words)\]",
         lambda c, word: put("corpora", 0, allow=[word])(c)),
        (put("models", 0, architecture="gpt"), "did you mean '(gpt2)'",
         lambda c, word: put("models", 0, architecture=word)(c)),
        (lambda c: c["biases"].pop("recency"), "write (recency): {} under biases",
         lambda c, bias: c["biases"].update({bias: {}})),
        (lambda c: (c["biases"].pop("recency"), experiment(biases=["recencyy"])(c)),
         "did you mean '(recency)'",
         lambda c, bias: (c["biases"].update({bias: {}}), experiment(biases=[bias])(c))),
        (experiment(seeds=[]), "remove the (key)", lambda c, _: c["experiments"][0].pop("seeds")),
        (put("study", title=2026), "in quotes: ('2026')",
         lambda c, text: put("study", title=yaml.safe_load(text))(c)),
        (put(results=None), r"write a value .*, or remove the (key)",
         lambda c, _: c.pop("results")),
    ],
)  # fmt: skip
def test_the_advice_for_a_likely_mistake_works(tmp_path, tiny, change, advice, follow):
    change(tiny)
    message = refused(tmp_path, tiny)
    advised = re.search(advice, message)
    assert advised, message
    follow(tiny, advised[1])
    configfile.load(write(tmp_path, tiny))


def test_what_only_looks_like_a_mistake_is_taken(tiny):
    once = configfile.validate(tiny).targets["exp1"]
    put(results="~a $(x)`y`;&|'\" < b >", data="-x Zoë 你好")(tiny)
    # a suite, scored twice
    tiny["suites"].append(tiny["suites"][0] | {"name": "again", "masked": "holistic"})
    tiny["conditions"].append(
        {"name": "wiki~binding", "corpus": "wiki", "filters": ["binding"], "allow": ["void"]}
    )
    # one exclusion covers another; a size that is not asked for; a source that just suffices
    exclude = [{"size": "40K"}, {"size": "40K", "seed": 42}]
    put("experiments", 1, sizes=["20K", "40K"], exclude=exclude)(tiny)
    experiment(models=["gpt2-tiny", {"model": "gpt2-tiny", "sizes": ["9M"]}])(tiny)
    sized(**{"40K": "60K"})(tiny)
    put("corpora", 0, allow=["size", "words"])(tiny)
    grid = configfile.validate(tiny)
    assert grid.targets["exp1"] == once
    assert {run.size for run in grid.targets["exp2"]} == {"20K"}


def test_every_stage_has_a_rule():
    """Snakemake refuses a second rule of one name, in words of the rule, not of the experiment."""
    assert rules() == STAGES.keys()


def test_a_key_that_is_there_twice_is_refused(tmp_path, tiny):
    """PyYAML and Snakemake keep the later: a model would be lost without a word."""
    path = write(tmp_path, tiny)
    path.write_text(path.read_text() + "models:\n- {name: a, architecture: gpt2}\n")
    for read in (configfile.load, lambda file: configfile.validate(tiny, [file])):
        with pytest.raises(PoshgridError, match=rf"^{path}:\d+: .*'models'"):
            read(path)


def test_a_mistake_is_in_the_file_that_made_it(tmp_path, tiny):
    """Mappings are merged over files, and lists replaced."""
    put("biases", "dyck", lenght=64)(tiny)
    corpus, over = write(tmp_path, tiny), tmp_path / "over.yaml"
    over.write_text("biases:\n  recency: {decay: 0.5}\n")
    with pytest.raises(PoshgridError, match=rf"^{corpus}:\d+: biases\.dyck\.lenght: "):
        configfile.load(corpus, over)
    over.write_text("biases:\n  dyck: {lenght: 128}\n")
    with pytest.raises(PoshgridError, match=rf"^{over}:2: biases\.dyck\.lenght: "):
        configfile.load(corpus, over)
    del tiny["biases"]["dyck"]["lenght"]
    write(tmp_path, tiny)
    over.write_text("recipes:\n  - name: packed\n    steps: 20\n  - {name: sentence, steps: 9}\n")
    with pytest.raises(PoshgridError) as caught:
        configfile.load(corpus, over)
    places = [line.split(": ")[0] for line in str(caught.value).splitlines()]
    assert places == [f"{over}:2", f"{over}:4"], "4,000 steps of warm-up, which no file has"


@pytest.mark.parametrize(
    ("content", "expected"),
    [(b"a: [1,\nb: 2", ":2"), (b"a: \xff\xfe", ""), (b"- 1\n", "")],
)
def test_broken_files(tmp_path, content, expected):
    path = tmp_path / "config.yaml"
    path.write_bytes(content)
    with pytest.raises(PoshgridError, match=rf"^{path}{expected}: .+"):
        configfile.load(path)


@pytest.mark.parametrize("size", ["", "10", "10m", "-1M", "1.2345K", "1e3M", "0K", "10M "])
def test_impossible_sizes(size):
    assert [words(text) for text in ("10M", "0.3M", "1.5K")] == [10**7, 300_000, 1_500]
    with pytest.raises(ValueError, match="impossible size"):
        words(size)
