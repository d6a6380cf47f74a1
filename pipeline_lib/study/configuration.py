"""What does a study's configuration request, and is it valid?

The classes of :mod:`pipeline_lib.study.study_settings` state which keys, types and ranges there are. This module adds
the checks that concern several sections: names that must exist, and settings of models that depend on their learner. It
imports no large library, because it is executed at every start of the workflow.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pipeline_lib import learners, metrics, papers, surrogates
from pipeline_lib.core import schemas
from pipeline_lib.core.errors import ConfigurationError, hint
from pipeline_lib.core.settings import Settings, place_words, problems
from pipeline_lib.sources import own_settings
from pipeline_lib.sources.own_settings import OwnDataSettings
from pipeline_lib.study.study_settings import ModelSettings, completed, section, study_settings


@dataclass(frozen=True)
class Configuration:
    """A configuration that passed every check, with the properties that rules need.

    ``config`` are its settings as plain values, defaults included.
    """

    checked: Any
    n_folds: Mapping[str, int]

    @cached_property
    def own_data(self) -> dict[str, OwnDataSettings]:
        """The data sets that the configuration itself describes, by name."""
        return {entry.name: entry for entry in self.checked.datasets if isinstance(entry, OwnDataSettings)}

    @cached_property
    def config(self) -> dict[str, Any]:
        """All settings as plain values, defaults included."""
        plain: dict[str, Any] = self.checked.plain()
        plain["models"] = [model.model_dump(mode="json", exclude_unset=True) for model in self.models]
        plain["datasets"] = [
            entry if isinstance(entry, str) else entry.model_dump(mode="json", exclude_unset=True)
            for entry in self.checked.datasets
        ]
        return plain

    @property
    def name(self) -> str:
        """The study's name, which names its folders."""
        return str(self.checked.study)

    @property
    def datasets(self) -> tuple[str, ...]:
        """The data sets of the configuration, present or not."""
        return _names_of(self.checked)

    @property
    def papers(self) -> tuple[str, ...]:
        """The papers whose experiments run, in the order of the report."""
        chosen = self.checked.papers
        return tuple(name for name in papers.names() if chosen == "all" or name in chosen)

    @property
    def models(self) -> tuple[ModelSettings, ...]:
        """The models of the configuration, in its order."""
        return tuple(self.checked.models)

    @cached_property
    def untrained(self) -> dict[str, str]:
        """The models that cannot be trained here, with the reasons: what their learners need cannot be used."""
        found = {model.name: learners.get(model.algorithm).unusable for model in self.models}
        return {name: reason for name, reason in found.items() if reason is not None}

    @cached_property
    def reproduces(self) -> dict[str, str]:
        """The row of ``workflow/published/`` that a model reproduces, for the models that reproduce one."""
        return {
            model.name: model.published for model in self.models if model.published and model.name not in self.untrained
        }

    @cached_property
    def experiments(self) -> dict[tuple[str, str], Settings]:
        """The settings of all experiments, by paper and experiment."""
        return {
            (paper, name): getattr(getattr(self.checked.experiments, paper), name, None) or declared.settings.parse({})
            for paper in papers.names()
            for name, declared in papers.experiments(paper).items()
        }

    def folds(self, dataset: str) -> list[int]:
        """The folds of a data set that this study runs, from 1."""
        return self.folds_among(self.n_folds[dataset])

    def folds_among(self, count: int) -> list[int]:
        """The folds that this study runs of a data set that has so many, from 1."""
        every = range(1, count + 1)
        chosen = self.checked.folds
        return list(every) if chosen == "all" else [fold for fold in every if fold in chosen]

    def model_names(self, dataset: str) -> list[str]:
        """The models trained on a data set, in the configuration's order."""
        trained = (model for model in self.models if model.name not in self.untrained)
        return [model.name for model in trained if model.datasets is None or dataset in model.datasets]

    def model(self, name: str) -> ModelSettings:
        """The entry of a model."""
        return next(model for model in self.models if model.name == name)

    def settings(self, name: str, dataset: str, fold: int) -> dict[str, Any]:
        """Everything that decides how a model is trained on one fold, as plain values in a fixed order."""
        model = self.model(name)
        settings = _merged(self.checked, model, dataset, fold).plain()
        if model.surrogate is not None:
            settings |= {"surrogate": model.surrogate, "options": dict(model.options)}
        return dict(sorted(settings.items()))


def check_file(path: Path) -> None:
    """Refuse a file of a configuration that YAML reads otherwise than it looks: Snakemake has read it before.

    Raises
    ------
    ConfigurationError
        When a key is given twice, or a value is no plain one.
    """
    schemas.load(path, "a configuration")


def check(config: Mapping[str, Any], n_folds: Mapping[str, int], origin: str = "") -> Configuration:
    """Check a configuration and return what it requests.

    Parameters
    ----------
    config : mapping
        The merged configuration; keys that are missing have their defaults.
    n_folds : mapping of str to int
        Every data set of the catalogue with its number of folds.
    origin : str, optional
        Where the configuration is from, for errors.

    Raises
    ------
    ConfigurationError
        With a list of problems, one per line, each with the key, what was expected, and the nearest valid name: those
        of single values, or if there are none, those across sections.
    """
    where = f"{origin}: " if origin else ""
    found = list(_problems_of_files(config))
    try:
        checked: Any = study_settings().model_validate(config)
    except ValidationError as error:
        found += problems(study_settings(), error, config)
    _refuse(found, where)
    own = Configuration(checked, {}).own_data
    study = Configuration(completed(checked), {**n_folds, **{name: entry.n_folds for name, entry in own.items()}})
    _refuse(_problems_across_sections(checked, config, study.n_folds, n_folds), where)
    if len(study.untrained) == len(study.models):
        reasons = "\n".join(f"  - models ({name}): {reason}" for name, reason in study.untrained.items())
        raise ConfigurationError(f"{where}no model of the configuration can be trained here:\n{reasons}")
    return study


def _refuse(found: Iterable[str], where: str) -> None:
    lines = [f"  - {text}" for text in dict.fromkeys(found)]
    if lines:
        raise ConfigurationError("\n".join([f"{where}the configuration cannot be used:", *lines]))


def _names_of(checked: Any) -> tuple[str, ...]:
    return tuple(entry if isinstance(entry, str) else entry.name for entry in checked.datasets)


def _problems_of_files(config: Mapping[str, Any]) -> Iterator[str]:
    """What does not fit of the files of the data sets that the configuration itself describes."""
    entries = config.get("datasets")
    for index, entry in enumerate(entries if isinstance(entries, list | tuple) else ()):
        for key, text in own_settings.problems(entry) if isinstance(entry, Mapping) else ():
            yield place_words(("datasets", index, *([key] if key else []))) + text


def _overrides(model: ModelSettings) -> dict[str, Any]:
    """The keys of a model's entry that override settings of its learner."""
    return dict(model.model_extra or {})


def _merged(checked: Any, model: ModelSettings, dataset: str | None = None, fold: int = 1) -> Settings:
    """The settings of a model's learner: its section, overridden by the model's entry."""
    kind = learners.get(model.algorithm).settings
    in_section = getattr(checked, section(model.algorithm), None)
    merged = {**(in_section.plain() if in_section is not None else {}), **_overrides(model)}
    if isinstance(merged.get("l2"), Mapping):
        # One value for each fold of a data set.
        values = next(iter(merged["l2"].values())) if dataset is None else merged["l2"][dataset]
        merged["l2"] = [values[fold - 1]]
    return kind.parse(merged)


def _leaves(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every value of a configuration with its place, those that hold others before what they hold."""
    yield place, value
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, (*place, str(key)))
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _leaves(inner, (*place, index))


def _problems_across_sections(
    checked: Any, config: Mapping[str, Any], n_folds: Mapping[str, int], catalogued: Collection[str]
) -> Iterator[str]:
    names = _names_of(checked)
    for index, (name, entry) in enumerate(zip(names, checked.datasets, strict=True)):
        if isinstance(entry, OwnDataSettings) and name in catalogued:
            yield f"datasets[{index}].name: {name!r} is a data set of the catalogue; choose another name"
        elif name in names[:index]:
            yield f"datasets[{index}].name: the name {name!r} is given twice; choose another name"
        if name not in n_folds:
            yield f"datasets[{index}]: unknown data set {name!r}; {hint(name, n_folds)}"
        elif checked.folds != "all" and min(checked.folds) > n_folds[name]:
            yield f"folds: {name} has the folds 1 to {n_folds[name]}, none of which is in {list(checked.folds)}"
    for index, name in enumerate(checked.papers) if checked.papers != "all" else ():
        if name not in papers.names():
            yield f"papers[{index}]: unknown paper {name!r}; {hint(name, papers.names())}"
    models = Counter(model.name for model in checked.models)
    for name in sorted(name for name in models if models[name] > 1):
        yield f"models: the name {name!r} is given {models[name]} times; results would overwrite each other"
    for index, model in enumerate(checked.models):
        for text in _model_problems(model, checked, n_folds):
            yield f"models[{index}] ({model.name}): {text}"
    yield from _measure_problems(checked)
    yield from _surrogate_problems(config)


def _model_problems(model: ModelSettings, checked: Any, n_folds: Mapping[str, int]) -> Iterator[str]:
    if model.algorithm not in learners.NAMES:
        yield f"unknown algorithm {model.algorithm!r}; {hint(model.algorithm, learners.NAMES)}"
        return
    with_surrogate = learners.get(model.algorithm).with_surrogate
    if with_surrogate and model.surrogate is None:
        yield f"{model.algorithm} needs the key 'surrogate': one of {', '.join(surrogates.NAMES)}"
    if not with_surrogate and model.surrogate is not None:
        yield f"the algorithm {model.algorithm!r} takes no surrogate"
    for name in model.datasets or ():
        if name not in n_folds:
            yield f"unknown data set {name!r}; {hint(name, n_folds)}"
    wrong = list(_override_problems(model, checked, n_folds))
    yield from wrong
    if wrong:
        return
    try:
        _merged(checked, model)
    except ConfigurationError as error:
        yield from str(error).splitlines()


def _override_problems(model: ModelSettings, checked: Any, n_folds: Mapping[str, int]) -> Iterator[str]:
    """Check that the other keys of a model's entry are settings of its learner, and that lists fit the folds."""
    own, of_learner = ModelSettings.model_fields, learners.get(model.algorithm).settings.model_fields
    for key in _overrides(model):
        if key not in of_learner:
            yield f"unknown key {key!r}, no setting of {model.algorithm!r}; {hint(key, [*own, *of_learner])}"
    l2 = _overrides(model).get("l2")
    if not isinstance(l2, Mapping):
        return
    for name, values in l2.items():
        if not isinstance(values, list):
            yield f"l2.{name}: expected a list with one value for each fold, found {values!r}"
        elif name in n_folds and len(values) != n_folds[name]:
            yield f"l2.{name}: expected one value for each fold ({n_folds[name]}), found {len(values)}"
        else:
            try:
                learners.get(model.algorithm).settings.parse({"l2": values})
            except ConfigurationError as error:
                yield from (f"l2.{name}{text.removeprefix('l2')}" for text in str(error).splitlines())
    for name in model.datasets or _names_of(checked):
        if name not in l2:
            yield f"l2: expected values for {name}, on which it is trained; restrict it with 'datasets'"


def _surrogate_problems(config: Mapping[str, Any]) -> Iterator[str]:
    """Check that every surrogate that models and experiments name exists and takes the given options."""
    for place, value in _leaves(config):
        if not (isinstance(value, Mapping) and isinstance(value.get("surrogate"), str)):
            continue
        name, options = value["surrogate"], value.get("options", {})
        if not isinstance(options, Mapping):
            yield f"{place_words((*place, 'options'))}expected a mapping, found {options!r}"
            continue
        key = "surrogate"
        try:
            surrogates.get(name)
            key = "options"
            surrogates.create(name, **{str(option): chosen for option, chosen in options.items()})
        except ConfigurationError as error:
            yield f"{place_words((*place, key))}{error}"


def _measure_problems(checked: Any) -> Iterator[str]:
    evaluation = checked.evaluation
    named = [(f"evaluation.measures[{index}]", name) for index, name in enumerate(evaluation.measures)]
    named += [("evaluation.headline", evaluation.headline)]
    named += [(f"evaluation.compared[{index}]", name) for index, name in enumerate(evaluation.compared)]
    # A learner without settings has no section, and one without a choice of settings has no key `selection`.
    sections = ((name, getattr(checked, name, None)) for name in map(section, learners.NAMES))
    chosen = ((f"{name}.selection", getattr(one, "selection", None)) for name, one in sections)
    named += [(name, selection) for name, selection in chosen if selection is not None]
    for index, model in enumerate(checked.models):
        if isinstance(selection := _overrides(model).get("selection"), str):
            named.append((f"models[{index}].selection", selection))
    for where, name in named:
        try:
            metrics.parse(name)
        except ConfigurationError as error:
            yield f"{where}: {error}"
