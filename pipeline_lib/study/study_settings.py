"""What may a study's configuration contain? One class with every section, default, range and description.

The sections of simulated data sets are those of the catalogue, and the sections of learners and experiments those of
their declarations: a new data set, learner or paper has its section without a change here. ``config.yaml`` and the
JSON Schema are generated from this class.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple

from annotated_types import Ge
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    create_model,
    field_validator,
)

from pipeline_lib import learners, papers
from pipeline_lib.core.errors import hint
from pipeline_lib.core.settings import Names, NotNegative, Probability, Settings, Slug, Text, Whole, Wholes, different
from pipeline_lib.learners.learner import MeasureName
from pipeline_lib.sources import catalog
from pipeline_lib.sources.catalog import DataSet, Simulation
from pipeline_lib.sources.own_settings import OwnDataSettings
from pipeline_lib.statistics import ENUMERATED_QUERIES, LEVEL, smallest_p_value


class ModelSettings(Settings):
    """One model that is trained on data sets and folds; other keys override settings of its algorithm."""

    model_config = ConfigDict(extra="allow")

    name: Slug = Field(description="name of the model and of its folder")
    title: Text | None = Field(None, description="label of the model in the report")
    algorithm: Text = Field(description="a learner of pipeline_lib.learners")
    surrogate: Text | None = Field(None, description="a surrogate of pipeline_lib.surrogates")
    options: dict[str, Any] = Field({}, description="options of the surrogate")
    datasets: Names | None = Field(None, description="restricts the model to these data sets")
    published: Text | None = Field(None, description="row of workflow/published/ that the model reproduces")


OF_OWN_DATA = ("ndcg@10", "map", "ndcg@1", "ndcg@3", "ndcg@5", "p@10", "recall@10", "rr", "err")
"""What is measured by default on data of one's own; the first is the headline."""


def of_own_data(measure: str) -> str:
    """What speaks for data of one's own where ``measure`` does for the public data sets of the same study.

    Example
    -------
    >>> of_own_data("letor4_mean_ndcg"), of_own_data("map")
    ('ndcg@10', 'map')
    """
    return OF_OWN_DATA[0] if measure.startswith("letor4_") else measure


class EvaluationSettings(Settings):
    """What is measured on the test queries; of data of your own, no measure is one of LETOR 4.0."""

    measures: Annotated[tuple[MeasureName, ...], Field(min_length=1), AfterValidator(different)] = Field(
        (
            *("letor4_mean_ndcg", "map", "letor4_ndcg@1", "letor4_ndcg@3", "letor4_ndcg@5", "letor4_ndcg@10"),
            *("p@10", "ndcg@10", "err"),
        ),
        description="measures computed for every test query, besides the headline and those compared; for data of your "
        f"own, {', '.join(OF_OWN_DATA)}",
    )
    headline: MeasureName = Field(
        "letor4_mean_ndcg",
        description="measure by which settings are chosen, unless `selection` of a learner says otherwise, and by "
        f"which models are ranked and marked as significantly worse; for data of your own, {OF_OWN_DATA[0]}",
    )
    compared: tuple[MeasureName, ...] = Field(
        ("letor4_mean_ndcg", "map"),
        description="measures for which every pair of models is tested; by default the headline and map",
    )

    def completed(self, own_data: Iterable[bool]) -> "EvaluationSettings":
        """The same with what was not given following from the headline, and from which data sets are one's own."""
        given, kinds = self.model_fields_set, set(own_data)
        headline = OF_OWN_DATA[0] if kinds == {True} and "headline" not in given else self.headline
        headlines = (headline, of_own_data(headline)) if len(kinds) > 1 else (headline,)
        compared = self.compared if "compared" in given else tuple(dict.fromkeys((*headlines, "map")))
        measures = self.measures
        if True in kinds and "measures" not in given:
            measures = (*(measures if len(kinds) > 1 else ()), *OF_OWN_DATA)
        every = tuple(dict.fromkeys((*measures, *headlines, *compared)))
        return self.model_copy(update={"headline": headline, "measures": every, "compared": compared})


class StatisticsSettings(Settings):
    """Confidence intervals and tests."""

    level: Probability = Field(
        0.95,
        description="level of every confidence interval; a difference of models is significant where the adjusted "
        "p-value is at most 1 - level",
    )
    resamples: Annotated[Whole, Ge(100)] = Field(
        10000,
        validate_default=True,
        description="bootstrap draws, and random sign flips, of which there must be 1/(1 - level) - 1 or more",
    )

    @field_validator("resamples")
    @classmethod
    def _can_be_significant(cls, resamples: int, given: ValidationInfo) -> int:
        """Refuse so few sign flips that no difference could be significant: the least p-value is 1/(1 + resamples)."""
        significance = round(1.0 - given.data.get("level", LEVEL), 12)
        if smallest_p_value(ENUMERATED_QUERIES + 1, resamples) > significance:
            needed = math.ceil(round(1.0 / significance, 6)) - 1
            raise ValueError(
                f"expected {needed:,} or more, because with fewer sign flips no difference of models can be "
                f"significant at level {given.data['level']:g}, found {resamples:,}"
            )
        return resamples


def _model(name: str, title: str, algorithm: str, surrogate: str | None = None, **own: Any) -> dict[str, Any]:
    of_surrogate = {} if surrogate is None else {"surrogate": surrogate}
    return {"name": name, "title": title, "algorithm": algorithm, **of_surrogate, **own}


_KERNEL = {"kernel": "gaussian", "components": 300, "bandwidth": "median"}
MODELS: tuple[dict[str, Any], ...] = (
    _model("random", "Random order", "random"),
    _model("file-order", "Order of the file", "file-order"),
    _model("best-feature", "Best single feature", "best-feature"),
    _model("ideal", "Ideal order", "ideal"),
    _model("squared", "Least squares", "erm", "squared"),
    _model("listnet", "ListNet", "erm", "listnet"),
    _model("listmle", "ListMLE", "erm", "listmle"),
    _model("ranknet", "RankNet", "erm", "ranknet", options={"normalisation": "mean"}),
    _model("ranksvm", "RankSVM", "erm", "ranksvm", options={"normalisation": "mean"}),
    _model("svm-map", "SVM-MAP", "erm", "svm-map"),
    _model("slam-ndcg", "SLAM-NDCG", "erm", "slam-ndcg"),
    _model("slam-perceptron", "SLAM perceptron", "perceptron", average=False),
    _model("slam-perceptron-averaged", "SLAM perceptron, averaged", "perceptron"),
    _model(
        "slam-perceptron-misordered", "SLAM perceptron, averaged, misordered only", "perceptron", active="misordered"
    ),
    _model("slam-perceptron-kernel", "SLAM perceptron, averaged, Gaussian kernel", "perceptron", features=_KERNEL),
    _model("smooth-dcg", "SmoothDCG", "erm", "smooth-dcg"),
    _model("online-listnet", "ListNet, online", "ogd", "listnet"),
    _model("top-1-kl", "KL, top label only", "top-k-feedback", "kl", k=1),
    _model("cone-sg", "ConeRank-SG", "cone", passes=60, restarts=1),
    _model("adarank-map", "AdaRank-MAP", "adarank"),
    _model("rankboost", "RankBoost", "rankboost"),
    _model("lambdamart", "LambdaMART (LightGBM)", "lambdamart"),
)
"""The models of the default study."""


def _of_default_study(model: Any) -> Any:
    """What the name of a model of the default study stands for; anything else as it is."""
    known = {one["name"]: one for one in MODELS}
    if isinstance(model, str) and model not in known:
        raise ValueError(f"unknown model {model!r} of the default study; {hint(model, known)}")
    return known[model] if isinstance(model, str) else model


NamedModel = Annotated[ModelSettings, BeforeValidator(_of_default_study, json_schema_input_type=Text | ModelSettings)]
"""A model, or the name of one of the default study."""


DEFAULT_STUDY = "default"
"""The name of a study that has none; its report is the reproduction of the papers."""


class _Plain(Settings):
    """The keys before the sections."""

    study: Slug = Field(
        DEFAULT_STUDY,
        description="Name of the study and of the folders results/STUDY and reports/STUDY: lower-case letters, digits "
        'and "-". A study of data of your own needs a name.',
    )
    title: Text | None = Field(
        None,
        description="Heading of the report; by default it says what was studied. A new title changes nothing else.",
    )
    seed: NotNegative = Field(
        2026,
        description="Seed from which every random number is derived, by hashing it with the data set, fold, "
        "repetition, and so on.",
    )
    threads: Whole = Field(
        4,
        description="Threads of a training job on large data, of more than 33 million feature values; other jobs take "
        "one. They change how long a job takes, and nothing else.",
    )
    mirrors: tuple[Text, ...] = Field(
        (),
        description="Folders or base addresses where data files are available by name, tried in order after those of "
        'the variable LTR_MIRROR. Every run uses the folders; only the target "download" uses the addresses.',
    )
    datasets: Annotated[tuple[Text | OwnDataSettings, ...], Field(min_length=1), AfterValidator(different)] = Field(
        ("letor-sim",),
        description="Names from data/catalog.yaml, and data sets of your own, such as {name: clicks, files: [my.txt], "
        "folds: 5}, {name: clicks, train: a.txt, validation: b.txt, test: c.txt} or {name: clicks, folder: my-data}, "
        "a folder of Fold1, Fold2 and so on; or the name of a table with one data set a row, such as my-sets.tsv. "
        "Public data sets that are neither in data/raw/ nor in a mirror folder are "
        "listed in the report as not run, with instructions for obtaining them; nothing depends on them.",
    )
    folds: Literal["all"] | Wholes = Field("all", description='The folds to use: "all", or a list such as [1, 2].')
    experiment_queries: Annotated[Whole, Ge(20)] | None = Field(
        None,
        description="The largest number of queries of a data set that experiments read, a random sample of larger "
        "ones; null means all queries. Models are trained and evaluated on all queries.",
    )


def completed(checked: Any) -> Any:
    """A configuration in which measures that were not given follow from the headline: those that select settings, too.

    Example
    -------
    >>> study = completed(study_settings().parse({"evaluation": {"headline": "ndcg@5"}}))
    >>> study.evaluation.compared, study.evaluation.measures[-1], study.erm.selection
    (('ndcg@5', 'map'), 'ndcg@5', 'ndcg@5')
    """
    evaluation = checked.evaluation.completed(isinstance(entry, OwnDataSettings) for entry in checked.datasets)
    sections = {name: getattr(checked, name, None) for name in map(section, learners.NAMES)}
    selecting = {
        name: one.model_copy(update={"selection": evaluation.headline})
        for name, one in sections.items()
        if one is not None and "selection" in type(one).model_fields and "selection" not in one.model_fields_set
    }
    return checked.model_copy(update={"evaluation": evaluation, **selecting})


def section(name: str) -> str:
    """The key of the section of a learner, or of a simulated data set.

    Example
    -------
    >>> section("top-k-feedback")
    'top_k_feedback'
    """
    return name.replace("-", "_")


def simulation_settings(data_set: DataSet, simulation: Simulation) -> type[Settings]:
    """The class of the section of a simulated data set, whose population is checked with the catalogue's overrides."""
    queries = Field(simulation.queries, description=f"number of queries, in {len(data_set.parts)} parts of equal size")
    population: Any = Field({}, description="overrides of the catalogue's population, such as {noise: 0.5}")
    return create_model(
        f"{data_set.name.title().replace('-', '')}Settings",
        __base__=Settings,
        __doc__=f"{data_set.title}. Queries are independent, and documents are independent given their query; "
        "docs/population.md has the formulas.",
        queries=(Annotated[Whole, Ge(len(data_set.parts))], queries),
        population=(Annotated[dict[str, Any], AfterValidator(simulation.fitting)], population),
    )


@cache
def study_settings() -> type[Settings]:
    """The class of a whole configuration, composed of the simulated data sets, all learners and papers."""
    sections: dict[str, Any] = {}
    for name, data_set in catalog.load().items():
        if data_set.simulation is not None:
            drawn = simulation_settings(data_set, data_set.simulation)
            sections[section(name)] = (drawn, Field(drawn.parse({})))
    models = Field(
        tuple(ModelSettings.parse(model) for model in MODELS),
        description="The models that are trained on every data set and fold: names of those below, such as [listnet, "
        "rankboost], or models of your own. `name` is the name of the folder and "
        "`title` the label in the report; `algorithm` names a learner and `surrogate` a loss; `options` are passed to "
        "the surrogate; any key of the algorithm's section below may be overridden here; `datasets` restricts a model "
        "to some data sets. For published settings, `l2` may also map a data set to one value per fold, and "
        "`published` names the row of workflow/published/ that the model reproduces.",
    )
    sections["models"] = (Annotated[tuple[NamedModel, ...], Field(min_length=1)], models)
    for name in learners.NAMES:
        kind = learners.get(name).settings
        if kind.model_fields:
            sections[section(name)] = (kind, Field(kind.parse({})))
    sections["evaluation"] = (EvaluationSettings, Field(EvaluationSettings.parse({})))
    sections["statistics"] = (StatisticsSettings, Field(StatisticsSettings.parse({})))
    chosen = Literal["all"] | tuple[Text, ...]
    sections["papers"] = (
        chosen,
        Field(
            "all",
            description='Papers whose experiments are run: "all", or a list such as [slam, lists]. The claims of '
            "the other papers are listed as not run.",
        ),
    )
    experiments = experiments_settings()
    sections["experiments"] = (experiments, Field(experiments.parse({})))
    return create_model("StudySettings", __base__=_Plain, __doc__="The configuration of a study.", **sections)


class Change(NamedTuple):
    """A setting that is not at its default; ``setting`` is its place, with dots between the keys."""

    setting: str
    default: Any
    value: Any
    description: str


def changes(config: Mapping[str, Any]) -> list[Change]:
    """What a configuration sets otherwise than the default study, in the order of ``config.yaml``.

    ``config`` are plain values; keys that are missing have their defaults. The name and the title of the study and the
    number of threads do not count: they change no result. Neither do measures that follow from the data sets and the
    headline. Of models, the names are given.

    Example
    -------
    >>> [tuple(one)[:3] for one in changes({"seed": 7, "statistics": {"level": 0.9, "resamples": 10000}})]
    [('seed', 2026, 7), ('statistics.level', 0.95, 0.9)]
    """
    left_out = ("study", "title", "threads")
    own_data = [isinstance(entry, Mapping) for entry in config.get("datasets", ("",))]
    usual = EvaluationSettings.parse({}).completed(own_data).headline
    headline = config.get("evaluation", {}).get("headline", usual)
    follows = EvaluationSettings.parse({"headline": headline}).completed(own_data).plain()
    implied = {f"evaluation.{key}": value for key, value in {**follows, "headline": usual}.items()}
    implied |= {f"{section(name)}.selection": headline for name in learners.NAMES}
    found = [one for one in _changes(study_settings().parse({}), config, "") if one.setting not in left_out]
    return [one for one in found if implied.get(one.setting) != one.value]


def _changes(defaults: BaseModel, given: Mapping[str, Any], place: str) -> Iterator[Change]:
    plain = defaults.model_dump(mode="json")
    for name, field in type(defaults).model_fields.items():
        default, where = getattr(defaults, name), f"{place}{name}"
        if isinstance(default, BaseModel):
            yield from _changes(default, given.get(name, {}), f"{where}.")
        elif name == "models":
            # Their settings are compared by those of the learners; the entries only say what was given.
            known = [model.model_dump(mode="json", exclude_unset=True) for model in default]
            if given.get(name, known) != known:
                yield Change(where, [_name(one) for one in known], [_name(one) for one in given[name]], MODELS_CHANGED)
        elif given.get(name, plain[name]) != plain[name]:
            value = [_name(one) for one in given[name]] if name == "datasets" else given[name]
            yield Change(where, plain[name], value, field.description or "")


MODELS_CHANGED = "names of the models that are trained; an entry may also override settings of its learner"


def _name(entry: Any) -> Any:
    """The name of a model, or of a data set that is described where it is named."""
    return entry["name"] if isinstance(entry, Mapping) else entry


@cache
def experiments_settings() -> type[Settings]:
    """The class of the section ``experiments``: paper -> experiment -> settings."""
    by_paper: dict[str, Any] = {}
    for paper in papers.every():
        kinds = {name: declared.settings for name, declared in papers.experiments(paper.name).items()}
        fields: dict[str, Any] = {
            name: (kind, Field(kind.parse({}))) for name, kind in kinds.items() if kind.model_fields
        }
        made: type[Settings] = create_model(paper.name, __base__=Settings, __doc__=paper.title, **fields)
        by_paper[paper.name] = (made, Field(made.parse({})))
    return create_model(
        "Experiments", __base__=Settings, __doc__="The settings of every paper's experiments.", **by_paper
    )
