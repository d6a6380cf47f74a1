"""What does a study's configuration ask for, and is it sound?

The schemas (``workflow/schemas/config.schema.yaml``, and ``<paper>.schema.yaml`` beside it for a paper's experiments)
say which keys and types there are; this module adds what a schema cannot say: the nearest right name for a wrong one,
and checks across keys. It imports nothing heavy, because every start of the workflow passes through it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline_lib import measures, schemas
from pipeline_lib.errors import ConfigurationError, hint
from pipeline_lib.surrogates import check_options, registered

# Keys of a model's entry that say what it is; every other key overrides a setting of its algorithm.
IDENTITY = ("name", "title", "algorithm", "surrogate", "options", "datasets", "published")


@dataclass(frozen=True)
class ModelEntry:
    """One line of ``models:``; what to train under which name."""

    name: str
    algorithm: str
    surrogate: str | None
    options: Mapping[str, Any]
    datasets: tuple[str, ...] | None
    published: str | None
    overrides: Mapping[str, Any]


@dataclass(frozen=True)
class Study:
    """A configuration that passed every check, with the questions that rules ask of it."""

    config: Mapping[str, Any]
    models: tuple[ModelEntry, ...]
    n_folds: Mapping[str, int]

    @property
    def name(self) -> str:
        """The study's name, which names its folders."""
        return str(self.config["study"])

    @property
    def datasets(self) -> tuple[str, ...]:
        """The data sets asked for, present or not."""
        return tuple(self.config["datasets"])

    @property
    def papers(self) -> tuple[str, ...]:
        """The papers whose experiments run."""
        return tuple(self.config["papers"])

    def folds(self, dataset: str) -> list[int]:
        """The folds of a data set that this study runs, from 1."""
        every = range(1, self.n_folds[dataset] + 1)
        asked = self.config["folds"]
        return list(every) if asked == "all" else [fold for fold in every if fold in asked]

    def model_names(self, dataset: str) -> list[str]:
        """The models trained on a data set, in the configuration's order."""
        return [entry.name for entry in self.models if entry.datasets is None or dataset in entry.datasets]

    def model(self, name: str) -> ModelEntry:
        """The entry of a model."""
        return next(entry for entry in self.models if entry.name == name)

    def settings(self, name: str, dataset: str, fold: int) -> dict[str, Any]:
        """Everything that decides how a model is trained on one fold, as plain values in a fixed order."""
        entry = self.model(name)
        settings = {**_defaults(self.config, entry.algorithm), **entry.overrides}
        if isinstance(settings.get("l2"), Mapping):
            settings["l2"] = [settings["l2"][dataset][fold - 1]]
        if entry.surrogate is not None:
            settings |= {"surrogate": entry.surrogate, "options": dict(entry.options)}
        return dict(sorted(settings.items()))


def check(
    config: Mapping[str, Any],
    *,
    schema_path: Path,
    n_folds: Mapping[str, int],
    algorithms: Sequence[str],
    with_surrogate: Sequence[str],
    surrogates: Sequence[str],
) -> Study:
    """Check a configuration and return the study it describes.

    Parameters
    ----------
    config : mapping
        The merged configuration.
    schema_path : Path
        The JSON Schema, as YAML; those of the papers' experiments lie beside it.
    n_folds : mapping of str to int
        Every data set of the catalogue with its number of folds.
    algorithms, surrogates : sequences of str
        The names that ``learners`` and ``surrogates`` know; a configuration may write "slam-ndcg@10" for the surrogate
        "slam-ndcg@k" with the option k = 10.
    with_surrogate : sequence of str
        The algorithms that minimise a surrogate and need its name.

    Raises
    ------
    ConfigurationError
        Listing every problem found, one a line, each with the key, what was expected and the nearest right name.
    """
    problems = [*_endless_numbers(config), *_schema_problems(config, schema_path)]
    if not problems:
        problems = list(_cross_field_problems(config, n_folds, algorithms, with_surrogate, surrogates))
    if problems:
        raise ConfigurationError("the configuration cannot be used:\n" + "\n".join(f"  - {text}" for text in problems))
    return Study(config, tuple(_entry(model) for model in config["models"]), dict(n_folds))


def _defaults(config: Mapping[str, Any], algorithm: str) -> dict[str, Any]:
    return dict(config.get(algorithm.replace("-", "_"), {}))


def _entry(model: Mapping[str, Any]) -> ModelEntry:
    return ModelEntry(
        name=model["name"],
        algorithm=model["algorithm"],
        surrogate=model.get("surrogate"),
        options=model.get("options", {}),
        datasets=tuple(model["datasets"]) if "datasets" in model else None,
        published=model.get("published"),
        overrides={key: value for key, value in model.items() if key not in IDENTITY},
    )


def _schema_problems(config: Mapping[str, Any], schema_path: Path) -> Iterator[str]:
    whole = list(_violations(config, schema_path, ()))
    yield from whole
    if not whole:
        for paper, section in config["experiments"].items():
            yield from _violations(section, schema_path.with_name(f"{paper}.schema.yaml"), ("experiments", paper))


def _violations(config: Mapping[str, Any], schema_path: Path, place: tuple[str, ...]) -> Iterator[str]:
    for error in schemas.violations(config, schema_path):
        yield from _schema_problem(error, place)


def _endless_numbers(config: Mapping[str, Any]) -> Iterator[str]:
    for place, value in _leaves(config):
        if isinstance(value, float) and not math.isfinite(value):
            yield f"{_path(place)}expected a finite number, found {value}"


def _leaves(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every value of a configuration with its place, those that hold others before what they hold."""
    yield place, value
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, (*place, str(key)))
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _leaves(inner, (*place, index))


def _schema_problem(error: Any, place: tuple[str, ...]) -> Iterator[str]:
    where = _path((*place, *error.absolute_path))
    if error.validator == "additionalProperties" and isinstance(error.instance, Mapping):
        known = error.schema.get("properties", {})
        for key in error.instance:
            if key not in known:
                yield f"{where}unknown key {key!r}; {hint(str(key), known)}"
    elif error.validator == "required":
        missing = [key for key in error.validator_value if key not in error.instance]
        yield f"{where}expected the key {missing[0]!r}, found {', '.join(map(str, error.instance)) or 'nothing'}"
    elif error.validator == "pattern" and "title" in error.schema:
        yield f"{where}expected {error.schema['title']}, found {error.instance!r}"
    else:
        remark = _number_hint(error.instance) if error.validator in ("type", "oneOf") else ""
        yield f"{where}{error.message}{remark}"


def _path(parts: Iterable[str | int]) -> str:
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f"{'.' if text else ''}{part}"
    return f"{text}: " if text else ""


def _number_hint(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        return f" (where a whole number is meant, write {value:.0f})"
    if isinstance(value, str):
        try:
            float(value)
        except ValueError:
            return ""
        pointed = value if "." in value else value.replace("e", ".0e")
        return f" (YAML reads {value} as text: write a point, such as {pointed})"
    return ""


def _cross_field_problems(
    config: Mapping[str, Any],
    n_folds: Mapping[str, int],
    algorithms: Sequence[str],
    with_surrogate: Sequence[str],
    surrogates: Sequence[str],
) -> Iterator[str]:
    for index, name in enumerate(config["datasets"]):
        if name not in n_folds:
            yield f"datasets[{index}]: unknown data set {name!r}; {hint(name, n_folds)}"
    yield from _fold_problems(config, n_folds)
    yield from _name_problems(config)
    for index, model in enumerate(config["models"]):
        for text in _model_problems(model, config, n_folds, algorithms, with_surrogate, surrogates):
            yield f"models[{index}] ({model['name']}): {text}"
    evaluation = config["evaluation"]
    for key, name in [("headline", evaluation["headline"]), *(("compared", name) for name in evaluation["compared"])]:
        if name not in evaluation["measures"]:
            yield f"evaluation.{key}: expected one of evaluation.measures, found {name!r}"
    for where, name in _measure_names(config, algorithms):
        try:
            measures.parse(name)
        except ConfigurationError as error:
            yield f"{where}: {error}"
    yield from _surrogate_problems(config, surrogates)


def _fold_problems(config: Mapping[str, Any], n_folds: Mapping[str, int]) -> Iterator[str]:
    if config["folds"] == "all":
        return
    for name in config["datasets"]:
        if name in n_folds and not set(config["folds"]) & set(range(1, n_folds[name] + 1)):
            yield f"folds: {name} has the folds 1 to {n_folds[name]}, none of which is in {config['folds']}"


def _name_problems(config: Mapping[str, Any]) -> Iterator[str]:
    names = [model["name"] for model in config["models"]]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"models: the name {name!r} is given {names.count(name)} times; results would overwrite each other"


def _model_problems(
    model: Mapping[str, Any],
    config: Mapping[str, Any],
    n_folds: Mapping[str, int],
    algorithms: Sequence[str],
    with_surrogate: Sequence[str],
    surrogates: Sequence[str],
) -> Iterator[str]:
    algorithm = model["algorithm"]
    if algorithm not in algorithms:
        yield f"unknown algorithm {algorithm!r}; {hint(algorithm, algorithms)}"
        return
    defaults = _defaults(config, algorithm)
    if algorithm in with_surrogate and "surrogate" not in model:
        yield f"{algorithm} needs the key 'surrogate': one of {', '.join(surrogates)}"
    if algorithm not in with_surrogate and "surrogate" in model:
        yield f"the algorithm {algorithm!r} takes no surrogate"
    for key in model:
        if key not in IDENTITY and key not in defaults:
            yield f"{key!r} is not a setting of {algorithm!r}"
    for name in model.get("datasets", ()):
        if name not in n_folds:
            yield f"unknown data set {name!r}; {hint(name, n_folds)}"
    if isinstance(model.get("l2"), Mapping):
        yield from _per_fold_problems(model, config, n_folds)


def _per_fold_problems(
    model: Mapping[str, Any], config: Mapping[str, Any], n_folds: Mapping[str, int]
) -> Iterator[str]:
    trained_on = model.get("datasets", config["datasets"])
    for name, values in model["l2"].items():
        if name in n_folds and len(values) != n_folds[name]:
            yield f"l2.{name}: expected one value per fold ({n_folds[name]}), found {len(values)}"
    for name in trained_on:
        if name not in model["l2"]:
            yield f"l2: expected values for {name}, on which it is trained; restrict it with 'datasets'"


def _surrogate_problems(config: Mapping[str, Any], surrogates: Sequence[str]) -> Iterator[str]:
    """Wherever a surrogate is named, in models or experiments: is there one, and does it take these options?"""
    for place, value in _leaves(config):
        if not (isinstance(value, Mapping) and isinstance(value.get("surrogate"), str)):
            continue
        where, name = _path((*place, "surrogate")), value["surrogate"]
        if registered(name) not in surrogates:
            yield f"{where}unknown surrogate {name!r}; {hint(name, surrogates)}"
            continue
        try:
            check_options(name, value.get("options", {}))
        except ConfigurationError as error:
            yield f"{_path((*place, 'options'))}{error}"


def _measure_names(config: Mapping[str, Any], algorithms: Sequence[str]) -> Iterator[tuple[str, str]]:
    for index, name in enumerate(config["evaluation"]["measures"]):
        yield f"evaluation.measures[{index}]", name
    for algorithm in algorithms:
        defaults = _defaults(config, algorithm)
        if "selection" in defaults:
            yield f"{algorithm.replace('-', '_')}.selection", defaults["selection"]
    for index, model in enumerate(config["models"]):
        if "selection" in model:
            yield f"models[{index}].selection", model["selection"]
