"""What is said to contributors and to their machines is so."""

import re
import shlex
from pathlib import Path

import pytest
import srsly

import spacy_pointparse

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf8")


def read_test_command():
    readme = (ROOT / "README.md").read_text(encoding="utf8")
    part = readme.split("<!-- tests -->")[1].split("<!-- /tests -->")[0]
    [command] = re.findall("```bash\n(.*?)\n```", part, re.DOTALL)
    return command


def list_steps(workflow):
    jobs = srsly.read_yaml(ROOT / ".github" / "workflows" / f"{workflow}.yml")["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


def list_commands(workflow):
    return [step["run"] for step in list_steps(workflow) if "run" in step]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflow_is_well_formed(path):
    workflow = srsly.read_yaml(path)
    assert {"name", "on", "jobs"} <= workflow.keys()
    for job in workflow["jobs"].values():
        assert job["runs-on"]
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            assert "uses" not in step or re.search(r"@v\d+$", step["uses"])
        for name in re.findall(r"matrix\.([\w-]+)", str(job["steps"])):
            assert job["strategy"]["matrix"][name]


def test_tests_are_run_by_the_command_of_the_readme():
    command = read_test_command()
    assert list_commands("test")[-1] == command
    assert f"\n{command}\n" in GUIDE


def test_tests_are_run_on_every_python_that_is_named():
    job = srsly.read_yaml(ROOT / ".github" / "workflows" / "test.yml")["jobs"]["test"]
    tested = set(job["strategy"]["matrix"]["python-version"])
    setup = (ROOT / "setup.cfg").read_text(encoding="utf8")
    assert tested >= set(re.findall(r"Python :: (3\.\d+)", setup))
    assert f"python_requires = >={min(tested, key=lambda v: int(v[2:]))}\n" in setup


def test_wheel_is_tried_with_a_command_that_makes_a_parser(capsys):
    [command] = [line for line in list_commands("wheel") if "add_pipe" in line]
    python, option, code = shlex.split(command)
    assert (python, option) == ("python", "-c")
    exec(code)
    assert capsys.readouterr().out == "()\n"


def test_version_is_one():
    setup = (ROOT / "setup.cfg").read_text(encoding="utf8")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf8")
    version = spacy_pointparse.__version__
    assert f"\nversion = {version}\n" in setup
    assert srsly.read_yaml(ROOT / "CITATION.cff")["version"] == version
    assert re.findall(r"^## (\S+)", changes, re.MULTILINE)[0] == version


def test_guide_names_files_that_are_there():
    names = re.findall(r"`([\w.]+/[\w./]*)`", GUIDE)
    names += re.findall(r"`(\w+\.(?:md|cfg|yml))`", GUIDE)
    assert len(names) > 12
    for name in names:
        assert (ROOT / name).exists(), name
