"""The configuration: what is refused, at which place, and what the schema promises."""

from __future__ import annotations

import json
import re

import jsonschema
import pytest
import yaml

from poshgrid.config.names import rules
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
    for recipe in data["recipes"]:  # YAML 1.1 reads 1e-4 as text; editors read it as a number
        if "learning_rate" in recipe:
            recipe["learning_rate"] = float(recipe["learning_rate"])
    jsonschema.validate(data, schema)


def test_schema_file_is_up_to_date(root):
    path = root / "workflow/schemas/config.schema.json"
    assert path.read_text(encoding="utf-8") == configfile.schema(), "run: python docs/generate.py"


def test_defaults_are_the_papers(root):
    paper = configfile.load(root / "config/config.yaml")
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


def test_the_reference_preset_lies_over_the_papers_configuration(root):
    """Only what was published otherwise differs: corpora, conditions and suites are the same."""
    file = root / "config/config.yaml"
    ours = configfile.load(file)
    theirs = configfile.load(file, root / "studies/posh-bench/reference.yaml")
    a, b = (each.model_dump(mode="json") for each in (ours, theirs))
    assert {key for key in a if a[key] != b[key]} == {
        "results", "models", "recipes", "biases", "experiments", "scoring"
    }  # fmt: skip


def test_the_smallest_study_of_the_docs_is_a_configuration(root):
    """A given model and pairs; the default model of the counts has nothing to fit."""
    page = (root / "docs/configuration.md").read_text(encoding="utf-8")
    text = re.search(r"The smallest study .*?```yaml\n(.*?)```", page, re.S)[1]
    grid = configfile.validate(yaml.safe_load(text), [])
    assert [given.name for given in grid.config.pretrained] == ["gpt2"]
    assert not grid.fitted("all")


def test_all_errors_at_once_with_file_line_and_place(tmp_path, tiny):
    put("biases", "dyck", lenght=64, k=0)(tiny)
    put("biases", "recency", decay=2)(tiny)
    put("biases", trees={})(tiny)
    put("recipes", 0, warmup_steps=600, padding_in_loss=True)(tiny)
    put("recipes", 1, learnig_rate=1)(tiny)
    put("tokenizer", vocabulary_size=-5)(tiny)
    put("corpora", 0, "sources", 0, words={"10Q": "10M"})(tiny)
    lines = refused(tmp_path, tiny).splitlines()
    text = (tmp_path / "config.yaml").read_text(encoding="utf-8").splitlines()
    found = {}
    for line in lines:
        _, number, place, _ = line.split(":", 3)
        found[place.strip()] = text[int(number) - 1]
    # The line that is named is that of the key
    assert {place: line.split(":")[0].strip(" -") for place, line in found.items()} == {
        "biases.dyck.k": "k", "biases.dyck.lenght": "lenght", "biases.recency.decay": "decay",
        "biases.trees": "trees", "recipes[0].padding_in_loss": "padding_in_loss",
        "recipes[0].warmup_steps": "warmup_steps", "recipes[1].learnig_rate": "learnig_rate",
        "tokenizer.vocabulary_size": "vocabulary_size", "corpora[0].sources[0].words.10Q": "10Q",
    }  # fmt: skip


def experiment(**changes):
    """Return a change of the first experiment."""
    return put("experiments", 0, **changes)


def add(section, **changes):
    """Return a change that adds to a section its first entry, changed."""
    return lambda c: c[section].append(c[section][0] | changes)


def sized(**words):
    """Return a change of the words of the first corpus."""
    return put("corpora", 0, "sources", 0, "words", **words)


def sampled_and_published(configuration):
    """Sample a source whose own dev and test are used."""
    put("sources", 0, sample=1, words="90K")(configuration)
    put("corpora", 0, splits="published")(configuration)


def fitted(**changes):
    """Return a change of the first model of the counts."""
    return put("regressions", 0, **changes)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        # words that nothing has
        (put("conditions", 0, filters=["bindin"]), "did you mean 'binding'"),
        (experiment(conditions=["babe"]), "did you mean 'baby'"),
        (experiment(biases=["recencie"]), "unknown bias 'recencie'"),
        (experiment(sizes=["50K"]), "size '50K'"),
        (put(study={"name": "fict", "opens": ["filterin"]}), "did you mean 'filtering'"),
        # names that something else has
        (experiment(name="All"), "'all'"),
        (experiment(name="Counted"), "'Counted'"),
        (put("suites", 0, name="a.Tokens"), "a.Tokens"),
        (add("conditions"), "there twice"),
        (add("conditions", name="Baby-F"), "there twice"),
        (experiment(biases=["dyck+recency", "recency+dyck"]), "biases[1]: 'recency+dyck'"),
        (experiment(biases=["none", "none+dyck"]), "write dyck"),
        (lambda c: c["corpora"][0].update(sources=2 * c["corpora"][0]["sources"][:1]), "twice"),
        (add("parsers", name="twin"), "under two names"),
        (add("suites", name="twin"), "under two names"),
        # what says nothing, or cannot be
        (put(only="size=1K"), "leaves no run"),
        (lambda c: c.pop("experiments"), "nothing to score"),
        (put("recipes", 0, epochs=3), "either steps or epochs"),
        (put("recipes", 0, steps=0, warmup_steps=0, checkpoints=[]), "steps: 0"),
        (experiment(exclude=[{"condition": "baby-f"}]), "experiments[0].exclude"),
        (experiment(exclude=[{"size": "60K"}, {"seed": 7}]), "experiments[0].exclude[1]"),
        (experiment(exclude=[{}]), "names no axis"),
        (put("suites", 0, norms="n.csv"), "norms"),
        (put("conditions", 2, refill=True), "refill: "),
        (put("conditions", 2, unfiltered_sizes=["20K"]), "unfiltered_sizes: "),
        (put("conditions", 0, unfiltered_sizes=["60K", "70K"]), "did you mean '60K'"),
        (put("tokenizer", file="words.csv", sweep=[]), "no .json"),
        (put("tokenizer", kind="words"), "sweep"),
        # 100,000 words of toy text, of which dev and test take 3,000 each
        (sized(**{"60K": "95K"}), "'toy-baby' is too small: needs 101,000 words"),
        (sampled_and_published, "corpora[0].splits: a sample of source 'toy-baby'"),
        (put("sources", 0, words="50K"), "66,000 words (60K, dev and test), and stops at 50,000"),
        (sized(**{"20K": "40K"}), "size 20K has 40,000 words"),
        (sized(**{"60K": "61K"}), "60,000 and 61,000 words"),
        (sized(**{"20K": "70K"}), "60K has 60,000 words, fewer than 20K with 70,000"),
        (sized(**{"20K": 0}), "size 20K has no words"),
        (sized(**{"0.02M": "20K"}), "corpora[0].sources: "),
        # models of the counts
        (fitted(only="recipe=pakced"), "regressions[0].only: unknown recipe 'pakced'"),
        (fitted(only="size=20K,size=30K"), "did you mean '60K'"),
        (fitted(only="recipe=sentence,size=60K"), "matches no run"),
        (fitted(suite="pohs"), "'pohs'"),
        (fitted(contrasts=[{"factor": "conditions", "less": "baby"}]), "'conditions'"),
        (
            fitted(contrasts=[{"factor": "condition", "first": "baby", "less": "baby"}]),
            "nothing is compared",
        ),
        (fitted(contrasts=[{"factor": "condition", "less": "babby"}]), "'babby'"),
        (fitted(contrasts=[{"factor": "condition", "less": "baby", "by": ["categori"]}]),
         "'categori'"),
    ],
)  # fmt: skip
def test_parts_that_disagree_are_one_line_that_names_file_and_word(tmp_path, tiny, change, word):
    change(tiny)
    message = refused(tmp_path, tiny)
    assert word in message
    assert message.startswith(str(tmp_path / "config.yaml"))
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize(
    ("change", "key", "place"),
    [
        # options of plug-ins
        (put("biases", "dyck", warmup_steps=60), "dyck", "biases.dyck"),
        (put("biases", "tree-planting", weight="x"), "x", "biases.tree-planting.weight"),
        (put("biases", recencey={}), "recencey", "biases.recencey"),
        (lambda c: c["models"][0]["options"].pop("heads"), "options",
         "models[0].options.heads"),
        (put("sources", 0, "options", words=-5), "words: -5", "sources[0].options.words"),
        (put("sources", 0, "options", regster="x"), "regster", "sources[0].options.regster"),
        # one of several: neither is meant, or one is
        (put("recipes", 1, checkpoint_epochs="evry"), "checkpoint_epochs",
         "recipes[1].checkpoint_epochs"),
        (put("recipes", 1, checkpoint_epochs=[1, "x"]), "x", "recipes[1].checkpoint_epochs[1]"),
        (put("conditions", 1, "reinsert", 1, rate="naturl"), "naturl",
         "conditions[1].reinsert[1].rate"),
        (experiment(models=["a/b"]), "a/b", "experiments[0].models[0]"),
        (experiment(models=[{"model": "gpt2-tiny"}]), "model: gpt2-tiny",
         "experiments[0].models[0].sizes"),
        (put(pretrained=["gpt2", "a/b..c"]), "b..c", "pretrained[1]"),
        # what one key says of another, and names that something else has
        (lambda c: c["recipes"][0].pop("warmup_steps"), "name: packed",
         "recipes[0].warmup_steps"),
        (put("recipes", 1, checkpoint_epochs=[4, 7, 5]), "checkpoint_epochs",
         "recipes[1].checkpoint_epochs"),
        (experiment(name="train"), "train", "experiments[0].name"),
        (experiment(seeds=[42, 53, 42]), "seeds", "experiments[0].seeds"),
        (experiment(models=["gpt2-tiny", {"model": "gpt2-tiny", "sizes": ["20K"]}]),
         "models", "experiments[0].models"),
        # folders that Snakemake or a line cannot hold
        (put(results="a/{condition}"), "results", "results"),
        (put(results="~/a"), "results", "results"),
        (put(data="a\nb"), "data", "data"),
        (put("conditions", 0, prebuilt="{"), "prebuilt", "conditions[0].prebuilt"),
        (put("evidence", gold=["toy", "{"]), "{", "evidence.gold[1]"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_at_its_own_place(tmp_path, tiny, change, key, place):
    change(tiny)
    message = refused(tmp_path, tiny)
    path, number, shown, reason = message.split(":", 3)
    assert (path, shown.strip()) == (str(tmp_path / "config.yaml"), place)
    assert reason.strip() and len(message.splitlines()) == 1
    line = (tmp_path / "config.yaml").read_text(encoding="utf-8").splitlines()[int(number) - 1]
    assert key in line


def test_unknown_names_and_wrong_values_are_reported_at_once(tmp_path, tiny):
    changes = {
        "sources[0].reader": put("sources", 0, reader="toi"),
        "corpora[0].sources[0].source": put("corpora", 0, "sources", 0, source="toy-bady"),
        "conditions[0].corpus": put("conditions", 0, corpus="babi"),
        "conditions[0].filters[0]": put("conditions", 0, filters=["bindin"]),
        "evidence.compare[0]": put("evidence", compare=["spaci"]),
        "audit.conditions[0]": put("audit", conditions=["babe"]),
        "tokenizer.trained_on[0]": put("tokenizer", trained_on=["babe"], sweep=[]),
        "models[0].architecture": put("models", 0, architecture="gpt3"),
        "recipes[0].learnig_rate": put("recipes", 0, learnig_rate=1),
        "biases.tree-planting.parser": put("biases", "tree-planting", parser="spaci"),
        "experiments[0].conditions[0]": experiment(conditions=["babe"]),
        "experiments[0].sizes[0]": experiment(sizes=["30K"]),
        "experiments[0].models[0]": experiment(models=["gpt"]),
        "experiments[0].recipe": experiment(recipe="paked"),
        "experiments[0].biases[0]": experiment(biases=["recencie"]),
        "experiments[0].seeds": experiment(seeds=42),
        "experiments[1].conditions[1]": put("experiments", 1, conditions=["baby", "wiki~passiv"]),
        "regressions[0].suite": fitted(suite="pohs"),
        "regressions[0].only": fitted(only="model=gpt2-tinny"),
        "regressions[0].contrasts[0].less": fitted(
            contrasts=[{"factor": "condition", "less": "babby"}]
        ),
    }
    for change in changes.values():
        change(tiny)
    lines = refused(tmp_path, tiny).splitlines()
    text = (tmp_path / "config.yaml").read_text(encoding="utf-8").splitlines()
    found = {}
    for line in lines:
        _, number, place, reason = line.split(":", 3)
        found[place.strip()] = text[int(number) - 1], reason
    assert found.keys() == changes.keys()
    for place, (line, reason) in found.items():
        key = re.sub(r"\[\d+\]$", "", place).rpartition(".")[2]
        assert line.split(":")[0].strip(" -") == key or line.strip().startswith("- ")
        assert re.search("did you mean|known|write", reason), place


def replaced(*place):
    """Return what writes the advice in place of a value."""
    return lambda data, advice: put(*place[:-1], **{place[-1]: advice})(data)


def renamed(section, old):
    """Return what calls a key of a configuration as advised."""

    def follow(data, advice):
        for entry in section(data):
            if old in entry:
                entry[advice] = entry.pop(old)

    return follow


def second_source(data):
    """Let a second source say its words for the smaller size alone."""
    data["corpora"][0]["sources"].append({"source": "toy-wiki", "words": {"20K": 0}})


def without_parsers(data):
    data["parsers"] = []
    data["biases"].pop("tree-planting")
    put("evidence", compare=[], gold=[])(data)
    put("experiments", 2, biases=["none"])(data)
    data["regressions"] = []


def only_stanza(data):
    data["parsers"].pop()
    put("evidence", compare=[])(data)
    data["biases"]["tree-planting"].pop("parser", None)


@pytest.mark.parametrize(
    ("change", "advice", "follow"),
    [
        (experiment(conditions=["babby"]), "did you mean '(baby)'",
         lambda c, word: experiment(conditions=[word])(c)),
        (put("recipes", 0, learnig_rate=1e-3), "did you mean '(learning_rate)'",
         renamed(lambda c: c["recipes"], "learnig_rate")),
        (experiment(sizes=[20000]), "write (20K)", lambda c, size: experiment(sizes=[size])(c)),
        (experiment(sizes=["60k"]), r"e\.g\. (60K)", lambda c, size: experiment(sizes=[size])(c)),
        (experiment(sizes=["50K"]), "did you mean '(20K|60K)'",
         lambda c, size: experiment(sizes=[size])(c)),
        (experiment(seeds=42), r"write \[(42)\]", lambda c, seed: experiment(seeds=[int(seed)])(c)),
        (experiment(models="gpt2-tiny"), r"write \[(gpt2-tiny)\]",
         lambda c, name: experiment(models=[name])(c)),
        (second_source, "add 60K: (0)",
         lambda c, n: c["corpora"][0]["sources"][1]["words"].update({"60K": int(n)})),
        (sized(**{"60K": "61K"}), r"allow: \[(words)\]",
         lambda c, word: put("corpora", 0, allow=[word])(c)),
        (lambda c: c.update(learners=c.pop("models")), "called '(models)' now",
         renamed(lambda c: [c], "learners")),
        (lambda c: [entry.update(base=entry.pop("corpus")) for entry in c["conditions"]],
         "called '(corpus)' now", renamed(lambda c: c["conditions"], "base")),
        (put("models", 0, architecture="gpt"), "did you mean '(gpt2)'",
         replaced("models", 0, "architecture")),
        (put("conditions", 0, filters=["questionformation"]), "did you mean '(.*)'",
         lambda c, word: put("conditions", 0, filters=[word, "binding"])(c)),
        (lambda c: c["biases"].pop("recency"), "write (recency): {} under biases",
         lambda c, bias: c["biases"].update({bias: {}})),
        (without_parsers, "add one: ({.*})",
         lambda c, entry: c["parsers"].append(yaml.safe_load(entry))),
        (only_stanza, "write parser: NAME there; known: (.*)",
         lambda c, name: c["biases"]["tree-planting"].update(parser=name)),
        (put("study", title=2026), "in quotes: ('2026')",
         lambda c, text: put("study", title=yaml.safe_load(text))(c)),
        (put(results=None), r"write a value .*, or take the (key) away",
         lambda c, _: c.pop("results")),
    ],
)  # fmt: skip
def test_the_advice_for_a_likely_mistake_works(tmp_path, tiny, change, advice, follow):
    change(tiny)
    message = refused(tmp_path, tiny)
    found = re.search(advice, message)
    assert found, message
    follow(tiny, found[1])
    configfile.load(write(tmp_path, tiny))


def test_what_only_looks_like_a_mistake_is_taken(tiny):
    once = configfile.validate(tiny).targets["exp1"]
    put(results="~a $(x)`y`;&|'\" < b >", data="-x Zoë 你好")(tiny)
    put(scoring={"masked": ["pseudo-log-likelihood", "holistic"]})(tiny)  # a suite, scored twice
    tiny["conditions"].append(
        {"name": "wiki~binding", "corpus": "wiki", "filters": ["binding"], "allow": ["void"]}
    )
    # one exclusion covers another; a size that is not asked for; a source that just suffices
    put("experiments", 1, exclude=[{"size": "60K"}, {"size": "60K", "seed": 42}])(tiny)
    experiment(models=["gpt2-tiny", {"model": "gpt2-tiny", "sizes": ["9M"]}])(tiny)
    sized(**{"60K": "94K"})(tiny)
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
    text = path.read_text()
    path.write_text(f"{text}models:\n- {{name: a, architecture: gpt2}}\n")
    again = text.count("\n") + 1
    for read in (configfile.load, lambda file: configfile.validate(tiny, [file])):
        with pytest.raises(PoshgridError, match=rf"^{path}:{again}: .*'models'"):
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
    [(b"", ""), (b"a: [1,\nb: 2", ":2"), (b"a: \xff\xfe", ""), (b"- 1\n", "")],
)
def test_broken_files(tmp_path, content, expected):
    path = tmp_path / "config.yaml"
    path.write_bytes(content)
    with pytest.raises(PoshgridError, match=rf"^{path}{expected}: .+"):
        configfile.load(path)


@pytest.mark.parametrize(
    ("size", "number"), [("10M", 10**7), ("0.3M", 300_000), ("1K", 1_000), ("1.5K", 1_500)]
)
def test_sizes_read_as_written(size, number):
    assert words(size) == number


@pytest.mark.parametrize("size", ["", "10", "10m", "-1M", "1.2345K", "1e3M", "0K", "10M "])
def test_impossible_sizes(size):
    with pytest.raises(ValueError, match="impossible size"):
        words(size)
