"""The benchmarks run for hours; here only what they would run is looked at."""

import importlib.util
import re
from configparser import ConfigParser
from pathlib import Path

import pytest
from hypothesis import strategies as st
from spacy.util import is_package, load_config, load_model_from_config, walk_dict

from spacy_pointparse.cli.config import make_config

ROOT = Path(__file__).parents[2]
SOURCES = {"vectors", "transformer"}  # configs that need a model beside the trees


@pytest.fixture
def benchmark(monkeypatch):
    """Load a benchmark, which may have the name of a module of the tests."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    monkeypatch.syspath_prepend(ROOT / "tests")

    def load(name):
        path = ROOT / "benchmarks" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(f"benchmarks_{name}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


def test_options_of_the_ablation_initialize(benchmark, make_examples):
    ablation = benchmark("ablation")
    for name, option in ablation.OPTIONS.items():
        if option.config in SOURCES:
            continue
        config = make_config(ablation.list_files(option), option.changes)
        nlp = load_model_from_config(config)
        examples = make_examples(nlp)
        nlp.initialize(lambda examples=examples: examples)
        assert nlp(examples[0].x)._.parse_string, name


def test_options_of_the_ablation_change_what_their_configs_have(benchmark):
    ablation = benchmark("ablation")
    configs = {}
    for name, option in ablation.OPTIONS.items():
        if option.config not in configs:
            configs[option.config] = make_config(ablation.list_files(option))
        for place, value in option.changes.items():
            block = configs[option.config]
            for key in place.split("."):
                block = block[key]
            # The factors of the rates are those of transformer.cfg in one option.
            assert block != value or option.config == "transformer", (name, place)


def test_ablation_decides_and_ends_among_what_it_screens(benchmark):
    ablation = benchmark("ablation")
    assert {*ablation.SEEDS, *ablation.FINALISTS} <= ablation.OPTIONS.keys()


def test_measured_row_is_not_measured_again(benchmark, tmp_path, monkeypatch, write):
    compare = benchmark("compare")
    trained = []

    def train_ours(row, data, folder):
        trained.append((row.parser, (data / "dev.mrg").read_text(encoding="utf8")))
        return {"seconds": 7, "dev": 1.0, "test": 2.0}

    monkeypatch.setattr(compare, "train_ours", train_ours)
    treebank = tmp_path / compare.WSJ
    treebank.mkdir()
    for split in ("train", "dev", "test"):
        write("(S (NP-SBJ (-NONE- *)) (VP (VB Go)))", name=f"{treebank}/{split}.mrg")
    for _ in range(2):
        scores = compare.measure("words", tmp_path, tmp_path / "output")
    assert scores == {"seconds": 7, "dev": 1.0, "test": 2.0}
    assert trained == [("base", "(TOP (S (VP (VB Go))))\n")]


def test_rows_of_gum_name_settings_of_their_configs(benchmark):
    for row in benchmark("gum").ROWS.values():
        for names in (row.config, row.resume):
            settings = {
                ".".join(keys)
                for name in ("base", *names.split())
                for keys, _ in walk_dict(load_config(ROOT / "configs" / f"{name}.cfg"))
            }
            if names == row.config and row.pretrained:
                assert f"paths.{row.pretrained}" in settings
            assert {place.removeprefix("--") for place in row.options[::2]} <= settings


def test_rows_of_equal_time_follow_one_of_ours(benchmark):
    compare = benchmark("compare")
    followed = [
        row.budget for row in compare.ROWS.values() if row.budget in compare.ROWS
    ]
    assert followed
    for row in compare.ROWS.values():
        if row.parser == compare.JOINED:
            assert {*row.options} <= compare.ROWS.keys()
        elif row.parser not in compare.REQUIREMENTS:
            assert (ROOT / "configs" / f"{row.parser}.cfg").exists()
            assert isinstance(row.budget, int)
    assert all(
        compare.ROWS[name].parser not in compare.REQUIREMENTS for name in followed
    )


def test_properties_are_counted_with_what_they_fail_on(benchmark):
    properties = benchmark("properties")
    checked = []

    def check(nlp, case):
        checked.append(case)
        assert case != 3, "three"

    prop = properties.Property(st.integers(0, 9), 1, check)
    row = properties.measure(None, prop, 40)
    assert row.cases == len(checked) == 10  # there are no more
    assert row.distinct == 10
    [(case, error)] = row.failures
    assert case == "3" and error.startswith("AssertionError: three")
    wide = properties.Property(st.integers(), 1, check)
    assert properties.measure(None, wide, 1200).cases == 1200


def test_lowest_versions_are_all_given(benchmark):
    """Without a bound, the lowest version would be the first that there ever was."""
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg")
    extras = setup["options.extras_require"].values()
    lines = [setup["options"]["install_requires"], *extras]
    requirements = [line for text in lines for line in text.split("\n") if line]
    assert len(requirements) > 15
    assert [line for line in requirements if ">=" not in line] == []
    names = {re.match(r"[\w-]+", line)[0] for line in requirements}
    assert {*benchmark("versions").SHOWN} - names == {"transformers", "confection"}


@pytest.mark.skipif(not is_package("en_pointparse_sm"), reason="not installed")
def test_memory_is_that_of_whole_trees(benchmark):
    row = benchmark("memory").measure([(2, 20), (1, 1001)])
    assert (row.warnings, row.whole) == (1, True)
    assert 20 < row.longest <= 1000
    assert row.memory > 100
