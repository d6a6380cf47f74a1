"""A wrong configuration gives every problem with the key and the nearest right name, before any work."""

import copy
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline_lib import RankingData, cli
from pipeline_lib.core.errors import ConfigurationError
from pipeline_lib.learners.selection import mean_measure
from pipeline_lib.sources import catalog
from pipeline_lib.study import configuration, study_settings

ROOT = Path(__file__).parents[2]
FOLDS = {"letor-sim": 5, "MQ2008": 5, "Istella-S": 1}


def check(config: dict[str, Any]) -> configuration.Configuration:
    return configuration.check(config, FOLDS)


DEFAULT = check({}).config
NAMES = [model["name"] for model in DEFAULT["models"]]
SQUARED, LISTNET = NAMES.index("squared"), NAMES.index("listnet")
RANKNET_OPTIONS = f"models/{NAMES.index('ranknet')}/options"


def changed(path: str, value: Any) -> dict[str, Any]:
    config = copy.deepcopy(DEFAULT)
    place, keys = config, path.split("/")
    for key in keys[:-1]:
        place = place[int(key)] if isinstance(place, list) else place[key]
    last: Any = int(keys[-1]) if isinstance(place, list) else keys[-1]
    place[last] = value
    return config


def test_the_default_configuration_is_sound() -> None:
    study = check(DEFAULT)
    assert study.name == "default"
    assert study.folds("letor-sim") == [1, 2, 3, 4, 5]
    assert [*study.model_names("letor-sim"), *study.untrained] == [model["name"] for model in DEFAULT["models"]]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("dataset", [], "unknown key 'dataset'; did you mean 'datasets'?"),
        ("erm/l_2", 1, "erm: unknown key 'l_2'; did you mean 'l2'?"),
        (
            f"models/{SQUARED}/surogate",
            "listnet",
            f"models[{SQUARED}] (squared): unknown key 'surogate', no setting of 'erm'; did you mean 'surrogate'?",
        ),
        ("evaluation/headline", "recip_rank", "evaluation.headline: unknown measure 'recip_rank'; did you mean 'rr'?"),
        ("erm/selection", "mean_ndcg", "erm.selection: unknown measure 'mean_ndcg'"),
        ("folds", [6], "letor-sim has the folds 1 to 5, none of which is in"),
        ("models/1/name", "random", "the name 'random' is given 2 times"),
        ("models/0/surrogate", "listnet", "the algorithm 'random' takes no surrogate"),
        ("erm/tol", "1e-6", "write a point, such as 1.0e-6"),
        ("seed", -1, "seed: expected a number greater than or equal to 0, found -1"),
        (f"models/{SQUARED}/l2", {"letor-sim": [1.0]}, "l2.letor-sim: expected one value for each fold (5), found 1"),
        ("erm/tol", float("nan"), "erm.tol: expected a finite number, found nan"),
        ("letor_sim/population", {"noise": float("nan")}, "letor_sim.population: noise: expected a finite number"),
        ("seed", 1.0, "seed: expected a valid integer, found 1.0"),
        (
            "study",
            "default\n",
            r"study: expected lower-case letters, digits and single hyphens between them, found 'default\n'",
        ),
        ("models/0/title", "\x1b[2J", "models[0].title: expected one line of text without control characters"),
        (f"models/{LISTNET}/options", {"k": 3}, f"models[{LISTNET}].options: unknown option of surrogate listnet 'k'"),
        (RANKNET_OPTIONS, {"normalisation": "meen"}, "found 'meen'; did you mean 'mean'?"),
        (
            f"models/{NAMES.index('ranksvm')}/options",
            {"margin": -1.0},
            ".options: surrogate ranksvm: margin: expected a finite number > 0, found -1.0",
        ),
        (
            "experiments/lists/grid/losses/0/options",
            {"sigma": 1.0},
            "experiments.lists.grid.losses[0].options: unknown option of surrogate listnet 'sigma'",
        ),
        (f"models/{SQUARED}/l2", {"MQ2008": [1.0] * 5}, "l2: expected values for letor-sim"),
    ],
)
def test_a_wrong_key_or_value_is_named(path: str, value: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(message)):
        check(changed(path, value))


@pytest.mark.parametrize(
    ("level", "resamples", "needed"), [(0.999, 998, "999"), (0.9999, 5000, "9,999"), (0.95, 99, "")]
)
def test_so_few_sign_flips_that_nothing_could_be_significant_are_refused(
    level: float, resamples: int, needed: str
) -> None:
    config = copy.deepcopy(DEFAULT)
    config["statistics"] = {"level": level, "resamples": resamples}
    message = (
        f"statistics.resamples: expected {needed} or more, because" if needed else "statistics.resamples: expected"
    )
    with pytest.raises(ConfigurationError, match=re.escape(message)):
        check(config)
    config["statistics"]["resamples"] = int(needed.replace(",", "") or 100)
    check(config)


def test_a_key_that_is_missing_has_its_default() -> None:
    config = copy.deepcopy(DEFAULT)
    del config["erm"]["tol"], config["statistics"], config["experiments"]["slam"]
    assert check(config).config == check(DEFAULT).config
    assert check({}).config == check(DEFAULT).config


def numbers(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """Every number of a configuration with its place."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers(inner, f"{path}/{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from numbers(inner, f"{path}/{index}")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path.removeprefix("/"), value


def test_a_number_written_as_text_is_refused_everywhere() -> None:
    for path, number in numbers(DEFAULT):
        if "/population" in path:
            continue  # These are checked when the population is made.
        place = re.sub(r"/(\d+)", r"[\1]", path).replace("/", ".")
        section, _, key = place.partition(".")
        # What a model overrides is named after the model.
        where = rf"{re.escape(section)} \(.*\): {re.escape(key)}" if section.startswith("models") else re.escape(place)
        with pytest.raises(ConfigurationError, match=f"  - {where}: expected .*, found '{number}' "):
            check(changed(path, str(number)))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("folds", "al", "folds: expected 'all' or a list, found 'al'"),
        ("folds", [1, 1], "folds: expected different values, found [1, 1]"),
        ("erm/features", "row", "erm.features: expected 'standardised' or 'raw' or a mapping, found 'row'"),
        ("erm/features", {"componets": 3}, "erm.features: unknown key 'componets'; did you mean 'components'?"),
    ],
)
def test_a_wrong_alternative_is_one_problem_at_one_place(path: str, value: Any, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        check(changed(path, value))
    [_, line] = str(caught.value).splitlines()
    assert line == f"  - {message}"


def test_the_page_of_settings_is_that_of_the_classes(tmp_path: Path) -> None:
    written = tmp_path / "settings.md"
    cli.main(["default-configuration", "--page", str(written)])
    assert written.read_text() == (ROOT / "docs" / "settings.md").read_text(), "run `make config`"


def test_what_the_page_of_settings_shows_is_a_configuration_and_changes_nothing() -> None:
    shown = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "settings.md").read_text(), re.DOTALL)
    found: dict[str, Any] = {}
    for part in map(yaml.safe_load, shown):
        found |= {"experiments": {**found["experiments"], **part["experiments"]}} if found.keys() & part else part
    assert check(found).config == DEFAULT


@pytest.mark.parametrize("path", sorted((ROOT / "workflow/studies").iterdir()), ids=lambda path: path.stem)
def test_a_study_that_is_handed_out_can_be_run(path: Path) -> None:
    folds = {name: entry.n_folds for name, entry in catalog.load().items()}
    study = configuration.check(yaml.safe_load(path.read_text()), folds)
    assert study.name == path.stem


def test_the_file_for_people_to_edit_states_the_defaults() -> None:
    assert check(yaml.safe_load((ROOT / "config.yaml").read_text())).config == DEFAULT


OWN = {"study": "mine", "datasets": [{"name": "mine", "files": "config.yaml"}], "models": ["listnet", "best-feature"]}


@pytest.mark.parametrize(
    ("given", "headline", "compared"),
    [
        ({}, "letor4_mean_ndcg", ["letor4_mean_ndcg", "map"]),
        ({"evaluation": {"headline": "rr@5"}}, "rr@5", ["rr@5", "map"]),
        ({"evaluation": {"headline": "map"}}, "map", ["map"]),
        ({"evaluation": {"headline": "nDCG@5", "compared": ["AP", "nDCG@5"]}}, "ndcg@5", ["map", "ndcg@5"]),
        ({"evaluation": {"compared": ["p@10"]}}, "letor4_mean_ndcg", ["p@10"]),
        (OWN, "ndcg@10", ["ndcg@10", "map"]),
        ({**OWN, "datasets": ["MQ2008", *OWN["datasets"]]}, "letor4_mean_ndcg", ["letor4_mean_ndcg", "ndcg@10", "map"]),
        ({**OWN, "datasets": ["MQ2008", *OWN["datasets"]], "evaluation": {"headline": "rr"}}, "rr", ["rr", "map"]),
        ({**OWN, "evaluation": {"headline": "rr", "measures": ["map"]}}, "rr", ["rr", "map"]),
    ],
)
def test_the_headline_selects_settings_and_is_measured_and_compared(
    given: dict[str, Any], headline: str, compared: list[str]
) -> None:
    study = check(given)
    evaluation = study.config["evaluation"]
    assert (evaluation["headline"], evaluation["compared"]) == (headline, compared)
    assert {headline, *compared} <= set(evaluation["measures"])
    assert len(set(evaluation["measures"])) == len(evaluation["measures"])
    own = given.get("datasets") == OWN["datasets"]
    assert any(name.startswith("letor4_") for name in evaluation["measures"]) != own
    for model in ("listnet", "best-feature"):
        for dataset in study.datasets:
            of_own = {"letor4_mean_ndcg": "ndcg@10"}.get(headline, headline) if dataset == "mine" else headline
            assert study.settings(model, dataset, 1)["selection"] == of_own
            assert of_own in evaluation["measures"]
    changed = [one.setting for one in study_settings.changes(study.config)]
    assert not [setting for setting in changed if setting.endswith("selection")]
    assert set(changed) - {"study", "datasets", "models"} == {
        f"evaluation.{key}"
        for key in given.get("evaluation", {})
        if key != "headline" or headline != "letor4_mean_ndcg"
    }
    assert check(study.config).config == study.config


def test_a_learner_may_select_by_another_measure_than_the_headline() -> None:
    models = ["listnet", {"name": "boosted", "algorithm": "rankboost", "selection": "p@5"}, "best-feature"]
    study = check({"evaluation": {"headline": "ndcg@5"}, "erm": {"selection": "map"}, "models": models})
    found = [study.settings(name, "letor-sim", 1)["selection"] for name in study.model_names("letor-sim")]
    assert found == ["map", "p@5", "ndcg@5"]


def test_err_selects_by_the_largest_label_of_the_validation_part() -> None:
    data = RankingData.from_arrays([[1.0], [0.0]], [0, 2], [1, 1])
    assert mean_measure([0.0, 1.0], data, "err") == pytest.approx(3 / 4)


@pytest.mark.parametrize("name", ["slam-ndcg@0", "slam-ndcg@03", "slam-ndcg@ten", "slam-ndgc@10", "listnet@10"])
def test_a_wrong_cut_off_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"unknown surrogate '{name}'"):
        check(changed(f"models/{LISTNET}/surrogate", name))


def test_erm_without_a_surrogate_lists_them() -> None:
    config = copy.deepcopy(DEFAULT)
    del config["models"][SQUARED]["surrogate"]
    with pytest.raises(ConfigurationError, match="erm needs the key 'surrogate': one of kl, listmle"):
        check(config)


WRONG = """\
study: mine
experiments: {slm: {}}
erm:
  tol: 1e-6
datasets:
  - 7
  - mq2008
  - {name: my data, files: nowhere.txt}
  - {name: mine, files: config.yaml, folds: many}
models:
  - rankvsm
  - {name: 5, algorithm: emr}
  - name: pairs
    algorithm: erm
    surrogate: lisnet
    datasets: [my data, mine, Istela-S]
    l2: {my data: [1.0], mine: [1.0, 2.0]}
  - {name: trees, algorithm: rankboost, round: 3}
  - {name: half, algorithm: erm, surrogate: 1}
  - {name: none, surrogate: kl}
papers: [1, slamm]
folds: [6]
evaluation:
  measures: [3, ndgc@10]
  headline: ndgc@3
  compared: [3, err, mpa]
"""
NAMED_AT_ONCE = """\
2: experiments: unknown key 'slm'; did you mean 'slam'?
4: erm.tol: expected a valid number, found '1e-6'
6: datasets[0]: expected text or a mapping, found 7
7: datasets[1]: unknown data set 'mq2008'; did you mean 'MQ2008'?
8: datasets[2].name: expected a letter, then
8: datasets[2].files: expected a file, found no 'nowhere.txt'
9: datasets[3].folds: expected a valid integer, found 'many'
11: models[0]: unknown model 'rankvsm' of the default study; did you mean 'ranksvm'?
12: models[1].name: expected text, found 5
12: models[1]: unknown algorithm 'emr'; did you mean 'erm'?
15: models[2].surrogate: unknown surrogate 'lisnet'; did you mean 'listnet'?
16: models[2] (pairs): unknown data set 'Istela-S'; did you mean 'Istella-S'?
18: models[3] (trees): unknown key 'round', no setting of 'rankboost'; did you mean 'rounds'?
19: models[4].surrogate: expected text, found 1
20: models[5]: expected the key 'algorithm', found name
21: papers[0]: expected text, found 1
21: papers[1]: unknown paper 'slamm'; did you mean 'slam'?
24: evaluation.measures[0]: expected text, found 3
24: evaluation.measures[1]: unknown measure 'ndgc@10'; did you mean 'ndcg@10'?
25: evaluation.headline: unknown measure 'ndgc@3'; did you mean 'ndcg@3'?
26: evaluation.compared[0]: expected text, found 3
26: evaluation.compared[2]: unknown measure 'mpa'; did you mean 'map'?
"""


def refused(*files: Path, options: dict[str, Any] | None = None) -> list[str]:
    """The problems of a configuration that files give together, as Snakemake merges those of these tests."""
    merged: dict[str, Any] = {}
    for path in files:
        for key, value in (yaml.safe_load(path.read_text()) or {}).items():
            both = isinstance(value, dict) and isinstance(merged.get(key), dict)
            merged[key] = {**merged[key], **value} if both else value
    with pytest.raises(ConfigurationError, match=r"^the configuration cannot be used:\n") as caught:
        configuration.check({**merged, **(options or {})}, FOLDS, files, options)
    return [line.removeprefix("  - ") for line in str(caught.value).splitlines()[1:]]


def test_all_problems_are_named_at_once_with_their_lines_and_nothing_that_only_follows_from_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    path = tmp_path / "mine.yaml"
    path.write_text(WRONG)
    found, expected = refused(path), NAMED_AT_ONCE.splitlines()
    assert len(found) == len(expected), "\n".join(found)
    for line, problem in zip(found, expected, strict=True):
        assert line.startswith(f"{path}, line {problem}")


def test_of_files_that_are_merged_the_one_that_counts_is_named(tmp_path: Path) -> None:
    first, second = tmp_path / "first.yaml", tmp_path / "second.yaml"
    first.write_text("seed: -1\nerm: {tol: 0}\nmodels: [{name: a}, {name: b, rounds: 1}]\nthreads: 0\n")
    second.write_text("erm:\n  radius: -1\nmodels:\n- name: a\n  algorithm: emr\n")
    found = refused(first, second, options={"threads": -1, "seeds": 1})
    assert [line.split(": expected")[0].split(": unknown")[0] for line in found] == [
        f"{first}, line 1: seed",
        f"{first}, line 2: erm.tol",
        f"{second}, line 2: erm.radius",
        f"{second}, line 5: models[0] (a)",
        "--config: threads",
        "--config",
    ]


def test_a_study_of_own_data_needs_a_name(tmp_path: Path) -> None:
    """It would replace the report that reproduces the papers."""
    path = tmp_path / "mine.yaml"
    path.write_text(f"study: default\ndatasets: [letor-sim, {{name: mine, files: {ROOT / 'config.yaml'}}}]\n")
    [found] = refused(path)
    assert found.startswith(f"{path}, line 1: study: expected a name for a study of data of your own, such as ")
    path.write_text(path.read_text().replace("study: default\n", ""))
    assert refused(path) == [found.removeprefix(f"{path}, line 1: ")]
    assert check({**yaml.safe_load(path.read_text()), "study": "mine"}).name == "mine"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("study", "a" * 300, "study: expected at most 100 characters, found 'aaa"),
        ("datasets", [{"name": "a" * 101, "files": "config.yaml"}], "datasets[0].name: expected at most 100 charac"),
        (
            "experiments/twolayer/gaps/slices",
            100_000,
            "twolayer.gaps.slices: expected a number less than or equal to 1000",
        ),
    ],
)
def test_what_no_run_could_plan_or_store_is_refused(path: str, value: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(message)) as caught:
        check(changed(path, value))
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seed: 1\nerm:\n  tol: 0.1\n  tol: 0.2\n", ", line 4: .*the key 'tol' is given twice"),
        ('{\n\t"seed": 1,\n\t"seed": 2}', ", line 3: .*the key 'seed' is given twice"),
        ("seed: 1\ntitle: !!python/name:os.system\n", ", line 2: .*python/name:os.system"),
        ("a: [\n", ", line 2: "),
        ("title: 2024-13-45\n", ": .*month must be in 1..12"),
        ("1: 2\n", ", line 1: .*expected text as a key, found 1"),
    ],
)
def test_a_file_that_is_not_what_it_looks_like_is_refused_with_its_line(
    text: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=f"^{re.escape(str(path))}{message}") as caught:
        configuration.check_file(path)
    assert "\n" not in str(caught.value)


def test_files_that_look_like_what_they_are_pass(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    for text in ("", '{\n\t"seed": 1\n}', "a: &a {x: 1}\nb: {<<: *a, x: 2}\n", (ROOT / "config.yaml").read_text()):
        path.write_text(text)
        configuration.check_file(path)
    for study in (ROOT / "workflow/studies").glob("*.yaml"):
        configuration.check_file(study)


def test_settings_of_a_job_merge_defaults_and_overrides() -> None:
    config = changed(f"models/{SQUARED}/features", "raw")
    settings = check(config).settings(config["models"][SQUARED]["name"], "letor-sim", 1)
    assert settings["features"] == "raw"
    assert settings["tol"] == DEFAULT["erm"]["tol"]
    assert list(settings) == sorted(settings)


def test_published_values_per_fold_become_the_fold_s_value() -> None:
    config = changed(f"models/{SQUARED}/l2", {"letor-sim": [1.0, 2.0, 3.0, 4.0, 5.0]})
    assert check(config).settings(config["models"][SQUARED]["name"], "letor-sim", 4)["l2"] == [4.0]


def test_a_model_can_be_restricted_to_data_sets() -> None:
    config = changed(f"models/{SQUARED}/datasets", ["MQ2008"])
    config["datasets"] = ["letor-sim", "MQ2008"]
    study = check(config)
    restricted = config["models"][SQUARED]["name"]
    assert restricted in study.model_names("MQ2008")
    assert restricted not in study.model_names("letor-sim")


def test_folds_can_be_chosen() -> None:
    config = changed("folds", [2, 1])
    config["datasets"] = ["letor-sim", "Istella-S"]
    study = check(config)
    assert (study.folds("letor-sim"), study.folds("Istella-S")) == ([1, 2], [1])


KNOWN = ("ndcg", "ndcg@1", "ndcg@10", "map", "err", "p@10", "letor4_ndcg@7", "letor4_mean_ndcg")
UNKNOWN = (
    "p",
    "map@3",
    "ndcg@0",
    "ndcg@03",
    "ndcg@\u0663",
    "ndcg@3\n",
    "ndcg@x",
    "letor4_mean_ndcg@3",
    "err@2",
    "",
    "@3",
)


@pytest.mark.parametrize("name", [*KNOWN, *UNKNOWN])
def test_the_configuration_knows_the_same_measures_as_the_library(name: str) -> None:
    from pipeline_lib import metrics

    known = changed("erm/selection", name)
    try:
        metrics.per_query([name], [0.0], [1], [0, 1], y_max=1)
    except ConfigurationError:
        with pytest.raises(ConfigurationError, match=r"erm\.selection: "):
            check(known)
    else:
        check(known)


def test_models_of_the_default_study_go_by_their_names() -> None:
    own = {"name": "mine", "algorithm": "rankboost", "rounds": 7}
    study = configuration.check({"models": ["listnet", own]}, {"letor-sim": 5})
    default = configuration.check({}, {"letor-sim": 5})
    assert [model.name for model in study.models] == ["listnet", "mine"]
    assert study.model("listnet") == default.model("listnet")
    assert configuration.check(study.config, {"letor-sim": 5}).config == study.config
    with pytest.raises(ConfigurationError, match=r"models\[1\]: .*'listnett'.*'listnet'"):
        configuration.check({"models": ["ranksvm", "listnett"]}, {"letor-sim": 5})


def test_a_study_lists_what_it_sets_otherwise_than_the_default_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "clicks.txt"
    file.write_text("1 qid:1 1:0.5\n")
    assert study_settings.changes(check({}).config) == []
    given = {
        "study": "mine",
        "seed": 7,
        "models": ["listnet", {"name": "mine", "algorithm": "random"}],
        "datasets": [{"name": "clicks", "files": [str(file)]}],
        "experiments": {"lists": {"averages": {"candidates": 60}}},
    }
    found = {one.setting: one for one in study_settings.changes(check(given).config)}
    assert list(found) == ["seed", "datasets", "models", "experiments.lists.averages.candidates"]
    assert found["datasets"].value == ["clicks"]
    assert found["models"].value == ["listnet", "mine"]
    drawn = found["experiments.lists.averages.candidates"]
    assert (drawn.default, drawn.value) == (
        study_settings.study_settings().parse({}).experiments.lists.averages.candidates,
        60,
    )
    assert drawn.description
