"""What does a study's configuration request, and is it valid?

The classes of :mod:`pipeline_lib.study.study_settings` state which keys, types and ranges there are. This module adds
the checks that concern several sections: names that must exist, and settings of models that depend on their learner. It
imports no large library, because it is executed at every start of the workflow.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pipeline_lib import learners, metrics, papers, surrogates
from pipeline_lib.core import schemas
from pipeline_lib.core.errors import ConfigurationError, hint
from pipeline_lib.core.settings import Place, Problem, Settings, place_words, problems
from pipeline_lib.sources import own_settings
from pipeline_lib.sources.own_settings import OwnDataSettings
from pipeline_lib.study import sample_sheet
from pipeline_lib.study.study_settings import (
    DEFAULT_STUDY,
    ModelSettings,
    completed,
    of_own_data,
    section,
    study_settings,
)


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
        return tuple(entry if isinstance(entry, str) else entry.name for entry in self.checked.datasets)

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
        kind = learners.get(model.algorithm).settings
        settings = kind.parse(_merged(self.checked, model, dataset, fold)).plain()
        if dataset in self.own_data and len(self.own_data) < len(self.checked.datasets) and "selection" in settings:
            settings["selection"] = of_own_data(settings["selection"])
        if model.surrogate is not None:
            settings |= {"surrogate": model.surrogate, "options": dict(model.options)}
        return dict(sorted(settings.items()))


EXECUTED = ("__use_yte__", "__definitions__", "__variables__")
"""The keys by which a configuration is a template of YTE, whose expressions Snakemake evaluates."""


def check_file(path: Path) -> None:
    """Refuse a file of a configuration that YAML, or Snakemake, reads otherwise than it looks.

    Of the files of ``--configfile``, Snakemake has executed what it executes before: refusing them keeps what came out
    from being used.

    Raises
    ------
    ConfigurationError
        When a key is given twice, a value is no plain one, or a key lets Snakemake execute values as Python.
    """
    content = schemas.load(path, "a configuration")
    for key in content if isinstance(content, Mapping) else ():
        if key in EXECUTED:
            raise ConfigurationError(
                f"{path}: the key {key!r} lets Snakemake execute Python that stands in the file; remove it, and write "
                "values"
            )


def check(
    config: Mapping[str, Any],
    n_folds: Mapping[str, int],
    files: Sequence[Path] = (),
    options: Mapping[str, Any] | None = None,
) -> Configuration:
    """Check a configuration and return what it requests.

    Parameters
    ----------
    config : mapping
        The merged configuration; keys that are missing have their defaults.
    n_folds : mapping of str to int
        Every data set of the catalogue with its number of folds.
    files : sequence of paths, optional
        The files that were merged, the last of which counts most, for the lines that errors name.
    options : mapping, optional
        What ``--config`` sets in addition.

    Raises
    ------
    ConfigurationError
        With a list of all problems, one per line, each with its file and line, the key, what was expected, and the
        nearest valid name.
    """
    schemas.check_size(config, "a configuration")
    sheet = sample_sheet.named(config)
    config = config if sheet is None else {**config, "datasets": list(sheet.entries)}
    checked, found, out = _validated(config)
    found += _problems_of_files(config)
    if checked is not None:
        found += _problems_across_sections(checked, config, n_folds, out, {problem.place for problem in found})
    if found:
        raise ConfigurationError(
            "\n".join(["the configuration cannot be used:", *_listed(found, files, options, sheet)])
        )
    own = Configuration(checked, {}).own_data
    study = Configuration(completed(checked), {**n_folds, **{name: entry.n_folds for name, entry in own.items()}})
    if len(study.untrained) == len(study.models):
        reasons = "\n".join(f"  - models ({name}): {reason}" for name, reason in study.untrained.items())
        raise ConfigurationError(f"no model of the configuration can be trained here:\n{reasons}")
    return study


def _listed(
    found: list[Problem], files: Sequence[Path], options: Mapping[str, Any] | None, sheet: sample_sheet.Sheet | None
) -> list[str]:
    """The problems as they are printed, in the order of files and lines."""
    merged = [schemas.nodes(schemas.text(path)) for path in files]
    merged += [schemas.nodes(json.dumps(options))] if options else []
    lines = []
    of_sheet = [one for one in found if sheet is not None and one.place[:1] == ("datasets",) and len(one.place) > 1]
    rest = [one for one in found if one not in of_sheet]
    for (index, line), text in sorted(((_origin(one.place, merged), one.text) for one in rest), key=itemgetter(0)):
        of_file = f"{files[index - 1]}, line {line}: " if 0 < index <= len(files) else ""
        lines.append(f"  - {of_file or '--config: ' * (index > 0)}{text}")
    if sheet is not None:
        lines += [f"  - {sheet.path}, line {sheet.lines[int(one.place[1])]}: {one.text}" for one in of_sheet]
    return list(dict.fromkeys(lines))


def _origin(place: Place, merged: Sequence[Any]) -> tuple[int, int]:
    """Which of the documents that were merged gives a value, or what is nearest above it, from 1, and in which line.

    A later document counts more; its lists replace those before, and its mappings are joined with them.
    """
    best, origin = 0, (0, 0)
    for index in range(len(merged), 0, -1):
        depth, line, whole = schemas.line_of(merged[index - 1], place)
        if depth > best:
            best, origin = depth, (index, line)
        if whole:
            break
    return origin


_MOST_ROUNDS = 10


def _validated(config: Mapping[str, Any]) -> tuple[Any, list[Problem], set[Place]]:
    """The settings as far as they are right, what is wrong with others, and the places that were therefore left out.

    What is wrong is left out until the rest is right; then names can be looked up as well. Nothing, in place of the
    settings, if that takes too long.
    """
    found: list[Problem] = []
    out: set[Place] = set()
    for _ in range(_MOST_ROUNDS):
        kept: dict[Place, list[int]] = {}
        rest = _without(config, out, kept)
        try:
            return study_settings().model_validate(rest), found, out
        except ValidationError as error:
            wrong = list(problems(study_settings(), error, rest))
        found = found or wrong
        out |= {_given_place(problem.place, kept) for problem in wrong}
    return None, found, out


def _without(value: Any, out: Collection[Place], kept: dict[Place, list[int]], place: Place = ()) -> Any:
    """A value without some places; ``kept`` gets the indices of what remains of lists. A wrong name is replaced."""
    if isinstance(value, Mapping):
        inner = {key: _without(one, out, kept, (*place, key)) for key, one in value.items() if (*place, key) not in out}
        return {**inner, "name": _stand_in(place)} if _stand_in(place) and (*place, "name") in out else inner
    if isinstance(value, list | tuple):
        indices = [index for index in range(len(value)) if (*place, index) not in out]
        if len(indices) < len(value):
            kept[place] = indices
        return [_without(value[index], out, kept, (*place, index)) for index in indices]
    return value


def _stand_in(place: Place) -> str:
    """A name for a model or a data set whose own is wrong."""
    return f"unnamed-{place[1]}" if len(place) == 2 and place[0] in ("datasets", "models") else ""


def _given_place(place: Place, kept: Mapping[Place, list[int]]) -> Place:
    """A place of the configuration, for one of what remains of it."""
    given: Place = ()
    for part in place:
        given = (*given, kept[given][part] if isinstance(part, int) and given in kept else part)
    return given


def _problems_of_files(config: Mapping[str, Any]) -> Iterator[Problem]:
    """What does not fit of the files of the data sets that the configuration itself describes."""
    entries = config.get("datasets")
    for index, entry in enumerate(entries if isinstance(entries, list | tuple) else ()):
        for key, text in own_settings.problems(entry) if isinstance(entry, Mapping) else ():
            yield _problem(("datasets", index, *([key] if key else [])), text)


def _problem(place: Place, text: str) -> Problem:
    return Problem(place, place_words(place) + text)


def _overrides(model: ModelSettings) -> dict[str, Any]:
    """The keys of a model's entry that override settings of its learner."""
    return dict(model.model_extra or {})


def _merged(checked: Any, model: ModelSettings, dataset: str | None = None, fold: int = 1) -> dict[str, Any]:
    """The settings of a model's learner: its section, overridden by the model's entry."""
    in_section = getattr(checked, section(model.algorithm), None)
    merged = {**(in_section.plain() if in_section is not None else {}), **_overrides(model)}
    if isinstance(merged.get("l2"), Mapping):
        # One value for each fold of a data set.
        values = next(iter(merged["l2"].values())) if dataset is None else merged["l2"][dataset]
        merged["l2"] = [values[fold - 1]]
    return merged


def _leaves(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every value of a configuration with its place, those that hold others before what they hold."""
    yield place, value
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, (*place, str(key)))
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _leaves(inner, (*place, index))


def _problems_across_sections(
    checked: Any,
    config: Mapping[str, Any],
    catalogued: Mapping[str, int],
    out: Collection[Place],
    wrong: Collection[Place],
) -> Iterator[Problem]:
    """What does not fit together of the settings that are right.

    Places that were left ``out`` have defaults here, and what follows from a ``wrong`` value is no other problem.
    """
    named = list(zip(_kept(config, "datasets", checked.datasets, out), checked.datasets, strict=True))
    n_folds: dict[str, int | None] = {**catalogued}
    for index, entry in named:
        if isinstance(entry, OwnDataSettings):
            right = not any(place[:2] == ("datasets", index) for place in wrong)
            n_folds.setdefault(entry.name, entry.n_folds if right else None)
    for entry in _entries(config, "datasets"):
        if isinstance(entry, Mapping) and isinstance(entry.get("name"), str):
            n_folds.setdefault(entry["name"], None)
    own = [entry.name for _, entry in named if isinstance(entry, OwnDataSettings)]
    if checked.study == DEFAULT_STUDY and own and ("study",) not in out:
        yield _problem(
            ("study",),
            "expected a name for a study of data of your own, such as 'study: my-data'; without one, it would replace "
            "the results and the report of the default study",
        )
    met: set[str] = set()
    for index, entry in named:
        name = entry if isinstance(entry, str) else entry.name
        if isinstance(entry, OwnDataSettings) and name in catalogued:
            yield _problem(("datasets", index, "name"), f"{name!r} is a data set of the catalogue; choose another name")
        elif name in met:
            yield _problem(("datasets", index, "name"), f"the name {name!r} is given twice; choose another name")
        met.add(name)
        if name not in n_folds:
            yield _problem(("datasets", index), f"unknown data set {name!r}; {hint(name, n_folds)}")
        elif checked.folds != "all" and (count := n_folds[name]) and min(checked.folds) > count:
            text = f"{name} has the folds 1 to {count}, none of which is in {list(checked.folds)}"
            yield _problem(("folds",), text)
    for index, name in enumerate(_entries(config, "papers")):
        if isinstance(name, str) and name not in papers.names():
            yield _problem(("papers", index), f"unknown paper {name!r}; {hint(name, papers.names())}")
    trained_on = () if any(place[0] == "datasets" for place in wrong if place) else tuple(met)
    for index, model in zip(_kept(config, "models", checked.models, out), checked.models, strict=True):
        here = ("models", index)
        called = "" if model.name == _stand_in(here) else f" ({model.name})"
        inside = {one[2:] for one in wrong if one[:2] == here}
        for place, text in _model_problems(model, checked, n_folds, trained_on, inside):
            yield Problem((*here, *place), f"models[{index}]{called}: {text}")
    models = Counter(model.name for model in checked.models)
    for name in sorted(name for name in models if models[name] > 1):
        text = f"the name {name!r} is given {models[name]} times; results would overwrite each other"
        yield _problem(("models",), text)
    yield from _measure_problems(checked, config)
    yield from _surrogate_problems(config)


def _entries(config: Mapping[str, Any], key: str) -> Sequence[Any]:
    """The list that was given under a key, if there is one."""
    given = config.get(key)
    return given if isinstance(given, list | tuple) else ()


def _kept(config: Mapping[str, Any], key: str, checked: Sequence[Any], out: Collection[Place]) -> Sequence[int]:
    """Where the checked entries of a list stand in what was given."""
    if key not in config or (key,) in out:
        return range(len(checked))
    return [index for index in range(len(_entries(config, key))) if (key, index) not in out]


def _model_problems(
    model: ModelSettings,
    checked: Any,
    n_folds: Mapping[str, int | None],
    trained_on: Collection[str],
    wrong: Collection[Place],
) -> Iterator[Problem]:
    """What does not fit of a model, at places inside its entry."""
    if model.algorithm not in learners.NAMES:
        yield Problem(("algorithm",), f"unknown algorithm {model.algorithm!r}; {learners.advice(model.algorithm)}")
        return
    with_surrogate = learners.get(model.algorithm).with_surrogate
    if with_surrogate and model.surrogate is None and ("surrogate",) not in wrong:
        known = ", ".join(surrogates.NAMES)
        yield Problem(("algorithm",), f"{model.algorithm} needs the key 'surrogate': one of {known}")
    if not with_surrogate and model.surrogate is not None:
        yield Problem(("surrogate",), f"the algorithm {model.algorithm!r} takes no surrogate")
    for index, name in enumerate(model.datasets or ()):
        if name not in n_folds:
            yield Problem(("datasets", index), f"unknown data set {name!r}; {hint(name, n_folds)}")
    found = list(_override_problems(model, n_folds, trained_on))
    yield from found
    if found:
        return
    kind, merged = learners.get(model.algorithm).settings, _merged(checked, model)
    try:
        kind.model_validate(merged)
    except ValidationError as error:
        yield from problems(kind, error, merged)


def _override_problems(
    model: ModelSettings, n_folds: Mapping[str, int | None], trained_on: Collection[str]
) -> Iterator[Problem]:
    """Check that the other keys of a model's entry are settings of its learner, and that lists fit the folds."""
    own, of_learner = ModelSettings.model_fields, learners.get(model.algorithm).settings.model_fields
    for key in _overrides(model):
        if key not in of_learner:
            text = f"unknown key {key!r}, no setting of {model.algorithm!r}; {hint(key, [*own, *of_learner])}"
            yield Problem((key,), text)
    if isinstance(selection := _overrides(model).get("selection"), str):
        yield from (Problem(("selection",), f"selection: {text}") for text in _measure_problem(selection))
    l2 = _overrides(model).get("l2")
    if not isinstance(l2, Mapping):
        return
    for name, values in l2.items():
        place = ("l2", str(name))
        if not isinstance(values, list):
            yield Problem(place, f"l2.{name}: expected a list with one value for each fold, found {values!r}")
        elif (count := n_folds.get(name)) and len(values) != count:
            yield Problem(place, f"l2.{name}: expected one value for each fold ({count}), found {len(values)}")
        else:
            try:
                learners.get(model.algorithm).settings.parse({"l2": values})
            except ConfigurationError as error:
                for text in str(error).splitlines():
                    yield Problem(place, f"l2.{name}{text.removeprefix('l2')}")
    for name in model.datasets or trained_on:
        if name in n_folds and name not in l2:
            yield Problem(
                ("l2",), f"l2: expected values for {name}, on which it is trained; restrict it with 'datasets'"
            )


def _surrogate_problems(config: Mapping[str, Any]) -> Iterator[Problem]:
    """Check that every surrogate that models and experiments name exists and takes the given options."""
    for place, value in _leaves(config):
        if not (isinstance(value, Mapping) and isinstance(value.get("surrogate"), str)):
            continue
        name, options = value["surrogate"], value.get("options", {})
        if not isinstance(options, Mapping):
            yield _problem((*place, "options"), f"expected a mapping, found {options!r}")
            continue
        key = "surrogate"
        try:
            surrogates.get(name)
            key = "options"
            surrogates.create(name, **{str(option): chosen for option, chosen in options.items()})
        except ConfigurationError as error:
            yield _problem((*place, key), str(error))


def _measure_problems(checked: Any, config: Mapping[str, Any]) -> Iterator[Problem]:
    given = config.get("evaluation")
    evaluation = given if isinstance(given, Mapping) else {}
    named: list[tuple[Place, Any]] = [(("evaluation", "headline"), evaluation.get("headline"))]
    for key in ("measures", "compared"):
        named += [(("evaluation", key, index), name) for index, name in enumerate(_entries(evaluation, key))]
    for name in map(section, learners.NAMES):
        # A learner without settings has no section, and one without a choice of settings has no key `selection`.
        named.append(((name, "selection"), getattr(getattr(checked, name, None), "selection", None)))
    for place, name in named:
        if isinstance(name, str):
            yield from (_problem(place, text) for text in _measure_problem(name))


def _measure_problem(name: str) -> Iterator[str]:
    try:
        metrics.parse(name)
    except ConfigurationError as error:
        yield str(error)
