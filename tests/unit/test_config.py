"""The configuration: what is refused, how it is said, and what the schema promises."""

from __future__ import annotations

import json

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from poshgrid import configfile
from poshgrid.config import words
from poshgrid.errors import PoshgridError


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
        (lambda c: c["conditions"][0].update(name="../x"), "cannot be part of a path"),
        (lambda c: c["conditions"].append(dict(c["conditions"][0])), "defined twice"),
        (lambda c: c.update(only="size=1K"), "leaves no run"),
        (lambda c: c.update(only="siz=20K"), "did you mean 'size'"),
        (lambda c: c.pop("bases"), "bases: missing"),
        (lambda c: c["regimens"][0].update(epochs=3), "either steps or epochs"),
    ],
)
def test_mistakes_are_named_with_a_remedy(tmp_path, tiny, change, expected):
    change(tiny)
    message = refused(tmp_path, tiny)
    assert expected in message
    assert message.startswith(str(tmp_path / "config.yaml"))
    assert len(message.splitlines()) == 1


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
    with pytest.raises(PoshgridError, match=r"file is not a folder; .*--config results=FOLDER"):
        configfile.check_results(str(tmp_path / "file" / "below"))
    configfile.check_results(str(tmp_path / "new" / "folder"))
    assert not (tmp_path / "new").exists(), "a dry-run must write nothing"
    monkeypatch.setattr("os.access", lambda path, mode: False)  # root may write anywhere
    with pytest.raises(PoshgridError, match="cannot be written; change its permissions"):
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
    theirs = configfile.load(root / "config/config.yaml", root / "config/reference.yaml")
    a, b = (each.model_dump(mode="json") for each in (ours, theirs))
    assert {key for key in a if a[key] != b[key]} == {
        "results", "learners", "regimens", "biases", "experiments", "scoring"
    }  # fmt: skip
    assert a["biases"]["tree-planting"] == b["biases"]["tree-planting"]
    recency = next(r for r in theirs.regimens if r.name == "sentence-recency")
    assert (recency.learning_rate, recency.patience_steps) == (5e-6, 1)
    assert recency.padding_in_loss
    assert theirs.regimens[0].warmup_steps == 40_000
    assert not theirs.scoring.bos
