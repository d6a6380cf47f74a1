"""What did a study measure? The sections of the main page share this index of its tables."""

import json
from collections.abc import Mapping
from typing import Any

from pipeline_lib.core.markup import listed
from pipeline_lib.report.results import ResultsFolder, Row
from pipeline_lib.statistics import LEVEL, RESAMPLES, smallest_p_value

SUMMARY, MEASURES, COMPARISONS = "tables/summary.parquet", "tables/measures.parquet", "tables/comparisons.parquet"
TRAINING, PUBLISHED, VALIDATION = "tables/training.parquet", "tables/published.parquet", "tables/validation.parquet"
CERTIFICATES, WEIGHTS, TIES = "tables/certificates.parquet", "tables/weights.parquet", "tables/ties.parquet"
LIMITS, PLANS = "tables/limits.parquet", "tables/plans.parquet"
TABLES = (SUMMARY, MEASURES, COMPARISONS, TRAINING, PUBLISHED, VALIDATION, CERTIFICATES, WEIGHTS, TIES)
HEADLINES = ("ndcg@10", "letor4_mean_ndcg", "map", "err")
"""Measures by which learners are compared first when the configuration does not say."""
MOSTLY_TIED = 0.5
"""A model is marked that gives all documents the same score on more than this share of lists with several labels."""
TIED = "="
"""The mark of such a model."""
IDEAL = "ideal"
"""The algorithm of the control that sees the labels: an upper limit, not a competitor."""


class Study:
    """The tables of a study, indexed as the sections use them."""

    def __init__(self, results: ResultsFolder) -> None:
        self.results = results
        self.name = results.study
        self.availability = results.listed("availability")
        self.data = results.datasets()
        self.models = {entry["model"]: entry for entry in results.listed("models")}
        self.summary = results.rows(SUMMARY)
        self.measures = results.rows(MEASURES)
        self.comparisons = results.rows(COMPARISONS)
        self.training = results.rows(TRAINING)
        self.published = results.rows(PUBLISHED)
        self.validation = results.rows(VALIDATION)
        self.certificates = results.rows(CERTIFICATES)
        self.weights = results.rows(WEIGHTS)
        self.limits = results.rows(LIMITS)
        self.plans = results.rows(PLANS)
        self.findings = {
            entry["dataset"]: found for entry in self.data if (found := results.findings(entry["dataset"]))
        }
        self._ties = {(row["dataset"], row["model"], row["measure"]): row for row in results.rows(TIES)}
        averaged = {dataset for dataset, _, _ in self._ties}
        self._mixed = bool(averaged) and {row["dataset"] for row in self.summary} > averaged
        self._ranking: dict[tuple[str, str], list[str]] = {}
        for row in sorted(self.summary, key=lambda row: (-row["mean"], row["model"])):
            self._ranking.setdefault((row["dataset"], row["measure"]), []).append(row["model"])
        self._means = {(row["dataset"], row["model"], row["measure"]): row for row in self.summary}
        self._tests = {
            (row["dataset"], row["measure"], frozenset((row["model_a"], row["model_b"]))): row
            for row in self.comparisons
        }

    def of_one_fold(self, dataset: str) -> bool:
        """Whether a single fold of a data set was studied, so that nothing is known of how folds differ."""
        return {row["n_folds"] for row in self.summary if row["dataset"] == dataset} == {1}

    def is_weighted(self, dataset: str) -> bool:
        """Whether the queries of a data set have weights, for which there are neither intervals nor tests."""
        return any(entry["dataset"] == dataset and entry.get("weight") for entry in self.data)

    def tested_queries(self, dataset: str) -> int:
        """Test queries of a data set, all folds together."""
        return max((row["n_queries"] for row in self.summary if row["dataset"] == dataset), default=0)

    @property
    def significance(self) -> float:
        """The largest adjusted p-value that is significant, which the intervals of paired tests belong to."""
        return round(1.0 - float(self.results.setting("statistics", "level") or LEVEL), 12)

    def is_significant(self, test: Row) -> bool:
        """Whether a paired test found a difference, of all that were looked for in its family."""
        return test["p_adjusted"] is not None and bool(test["p_adjusted"] <= self.significance)

    def is_better(self, dataset: str, measure: str, model: str, other: str) -> bool:
        """Whether the paired test says that ``model`` is above ``other``."""
        test = self.test(dataset, measure, model, other)
        sign = 1 if test is None or test["model_a"] == model else -1
        return test is not None and sign * test["difference"] > 0 and self.is_significant(test)

    def least_p(self, dataset: str) -> float:
        """The least p-value that a paired test can have, by the numbers of queries and of random patterns of signs."""
        resamples = self.results.setting("statistics", "resamples") or RESAMPLES
        return smallest_p_value(self.tested_queries(dataset), int(resamples))

    def can_differ(self, dataset: str) -> bool:
        """Whether any difference can be significant."""
        return self.least_p(dataset) <= self.significance

    def datasets(self) -> list[str]:
        """Data sets with results, in the order of the study."""
        order = [entry["dataset"] for entry in self.data]
        measured = dict.fromkeys(row["dataset"] for row in self.summary)
        return sorted(measured, key=lambda name: (order.index(name) if name in order else len(order), name))

    def model_title(self, model: str) -> str:
        """A model's title, else its slug."""
        return str(self.models[model]["title"]) if model in self.models else model

    def untrained(self, dataset: str | None = None) -> list[str]:
        """Models that could not be trained, each with the reason; those on all data sets, or on a given one."""
        left_out = (entry for entry in self.models.values() if entry.get("untrained"))
        everywhere = [f"{entry['title']}: {entry['untrained']}" for entry in left_out]
        here = [row for row in self.results.listed("untrained") if dataset in (None, row["dataset"])]
        return everywhere + [
            f"{self.model_title(row['model'])} on {row['dataset']} (fold {listed(list(map(str, row['folds'])))}): "
            f"{row['reason']}"
            for row in here
        ]

    def is_control(self, model: str) -> bool:
        """Whether a model is a control rather than a learner."""
        return bool(self.models.get(model, {}).get("control", False))

    def measured(self, dataset: str) -> list[str]:
        """Measures of a data set, in the order of the table; where others are public, those of LETOR are theirs."""
        found = dict.fromkeys(row["measure"] for row in self.summary if row["dataset"] == dataset)
        others = self._mixed and self.ties_are_averaged(dataset)
        return [measure for measure in found if not (others and measure.startswith("letor4_"))]

    def is_ideal(self, model: str) -> bool:
        """Whether a model is the control that sees the labels."""
        return bool(self.models.get(model, {}).get("algorithm", model) == IDEAL)

    def headlines(self, dataset: str) -> list[str]:
        """The one or two measures that speak for a data set: the configuration's, else the first of HEADLINES."""
        measured = self.measured(dataset)
        preferred = [self.results.setting("evaluation", "headline")]
        preferred += self.results.setting("evaluation", "compared") or []
        headlines = [name for name in dict.fromkeys([*preferred, *HEADLINES]) if name in measured]
        return (headlines or measured)[:2]

    def unstudied(self) -> list[Row]:
        """Data sets that the configuration names and of which there is nothing."""
        known = {entry["dataset"] for entry in self.data} | {row["dataset"] for row in self.summary}
        return [entry for entry in self.availability if entry["dataset"] not in known]

    def interval(self) -> str:
        """How the intervals are called, by their level."""
        level = self.results.setting("statistics", "level")
        return f"{100 * level:g} % interval" if isinstance(level, float) else "interval"

    def mean(self, dataset: str, model: str, measure: str) -> Row | None:
        """The row of the summary, if there is one."""
        return self._means.get((dataset, model, measure))

    def ties(self, dataset: str, model: str, measure: str) -> Row | None:
        """The range of a measure over the orders of equal scores; None where these keep the order of the file."""
        return self._ties.get((dataset, model, measure))

    def ties_are_averaged(self, dataset: str) -> bool:
        """Whether measures of a data set are means over the orders of equal scores."""
        return any(known == dataset for known, _, _ in self._ties)

    def tied(self, dataset: str, model: str) -> float | None:
        """On which share of the lists a model gives all documents the same score, where these are most of them."""
        row = next((row for (known, one, _), row in self._ties.items() if (known, one) == (dataset, model)), None)
        share = row["tied_lists"] / row["lists"] if row is not None and row["lists"] else 0.0
        return share if share > MOSTLY_TIED else None

    def ranked(self, dataset: str, measure: str, *, control: bool) -> list[str]:
        """Learners (or controls) of a data set, best first."""
        return [model for model in self._ranking.get((dataset, measure), []) if self.is_control(model) == control]

    def rankers(self, dataset: str, measure: str) -> list[str]:
        """All models of a data set, best first, save the control that sees the labels, which nobody can choose."""
        return [model for model in self._ranking.get((dataset, measure), []) if not self.is_ideal(model)]

    def best_control(self, dataset: str, measure: str) -> str | None:
        """The best control that does not see the labels."""
        controls = [model for model in self.ranked(dataset, measure, control=True) if not self.is_ideal(model)]
        return controls[0] if controls else None

    def test(self, dataset: str, measure: str, model_a: str, model_b: str) -> Row | None:
        """The paired comparison of two models, whichever comes first in the table."""
        return self._tests.get((dataset, measure, frozenset((model_a, model_b))))


def measure_title(measure: str) -> str:
    """A measure's name as it is printed.

    Example
    -------
    >>> measure_title("ndcg@10"), measure_title("map"), measure_title("letor4_mean_ndcg")
    ('NDCG@10', 'MAP', 'LETOR mean NDCG')
    """
    for prefix, word in (("letor4_", "LETOR"), ("linear_", "linear")):
        if measure.startswith(prefix):
            return f"{word} {measure_title(measure.removeprefix(prefix))}"
    if measure.startswith("recall"):
        return measure
    return "mean NDCG" if measure == "mean_ndcg" else measure.upper()


def slug(measure: str) -> str:
    """A measure's name as part of a file name.

    Example
    -------
    >>> slug("letor4_ndcg@10")
    'letor4-ndcg-at-10'
    """
    return measure.replace("@", "-at-").replace("_", "-")


def flat(values: Mapping[str, Any], separator: str, place: str = "") -> dict[str, str]:
    """The values of nested mappings as they are printed, each by its place.

    Example
    -------
    >>> flat({"study": "made", "models": {"l2": [0.1]}}, ".")
    {'study': 'made', 'models.l2': '[0.1]'}
    """
    found: dict[str, str] = {}
    for name, value in values.items():
        inner = isinstance(value, Mapping) and value
        here = f"{place}{name}"
        found |= flat(value, separator, f"{here}{separator}") if inner else {here: as_text(value)}
    return found


def as_text(value: Any) -> str:
    """A setting as it is printed.

    Example
    -------
    >>> as_text("mean"), as_text([0.1, None])
    ('mean', '[0.1, null]')
    """
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
