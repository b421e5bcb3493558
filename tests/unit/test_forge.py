"""What a public forge and installers read: workflows, citation, and one list of versions."""

import re

import yaml


def read(root, name):
    return (root / name).read_text(encoding="utf-8")


def pins(text):
    """Return name -> version of every line NAME==VERSION."""
    lines = re.findall(r"^([A-Za-z0-9_.-]+)(?:\[.+\])?==([^\s\\;]+)", text, re.M)
    return {name.lower().replace("_", "-"): version for name, version in lines}


def test_the_lock_has_the_versions_that_are_tested(root):
    """What the lock adds to constraints.txt: setuptools, and CUDA, which torch brings on Linux."""
    tested, locked = pins(read(root, "constraints.txt")), pins(read(root, "requirements.lock"))
    assert {n for n in locked if n in tested and locked[n] != tested[n]} == set()
    added = {name for name in locked if name not in tested}
    assert all(re.match(r"nvidia-|cuda-|triton$|setuptools$", name) for name in added), added
    assert "torch" in locked and locked["torch"] == tested["torch"]
    assert read(root, "requirements.lock").count("--hash=sha256:") > len(locked)
    assert "\nsmart-open[http]==" in read(root, "requirements.lock")  # pip asks for weasel's extra


def test_every_way_to_install_has_the_versions_that_are_tested(root):
    """constraints.txt is the one list: others name it, or have its versions."""
    tested = pins(read(root, "constraints.txt"))
    conda = yaml.safe_load(read(root, "environment.yml"))["dependencies"]
    assert conda[-1]["pip"] == ["--constraint constraints.txt", "."]
    apptainer, container = read(root, "apptainer.def"), read(root, "Containerfile")
    for text in (apptainer, container):
        assert "-c constraints.txt ." in text
    (base,) = re.findall(r"^FROM (\S+)", container, re.M)
    assert f"From: {base}" in apptainer
    assert set(re.findall(r"uv==\S+", apptainer)) == set(re.findall(r"uv==\S+", container))
    assert base.startswith(f"python:{conda[0].partition('=')[2]}")
    for path in (root / "workflow/envs").glob("*.yaml"):
        environment = yaml.safe_load(path.read_text(encoding="utf-8"))["dependencies"]
        named = pins("\n".join(environment[-1]["pip"]))
        assert named and named.items() <= tested.items(), path.name
        assert environment[0] == conda[0]
