"""What would make results on a data set worthless, and by how much?"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib import statistics
from pipeline_lib.core import checks, seeds
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Natural, checked
from pipeline_lib.core.errors import ArgumentError, DataError
from pipeline_lib.core.files import expanded
from pipeline_lib.core.markup import count
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.stored_data import Missing
from pipeline_lib.evaluation import column_checks, part_checks, samples, simple_rankers
from pipeline_lib.evaluation.part_checks import Twins
from pipeline_lib.evaluation.samples import Part, Sample
from pipeline_lib.learners.lambdamart import LONGEST_LIST
from pipeline_lib.sources import pitfalls
from pipeline_lib.sources.own_settings import roles_in
from pipeline_lib.sources.pitfalls import CUTOFF, FALSE_ALARMS, Finding
from pipeline_lib.sources.tables import is_table

__all__ = ["CHECKS", "Finding", "Findings", "doctor"]

NUMBER_OF_QUERIES = "number of queries"
CHECKS = (
    "order of rows",
    "label among the features",
    "position among the features",
    "constant features",
    "queries in two parts",
    "near-duplicate documents",
    "lists of one document",
    "lists without a relevant document",
    "lists of one label",
    "scale of labels",
    "gaps of the scale",
    "missing values",
    "extreme values",
    "units of a feature",
    "features of one file",
    "limits of learners",
    NUMBER_OF_QUERIES,
)
"""What is looked for."""
TESTS = 10
"""So many of the checks are tests, each with the level :data:`pipeline_lib.sources.pitfalls.FALSE_ALARMS`."""
DRAWS = 999
"""So many random signs give the difference that can be detected."""


@dataclass(frozen=True, repr=False)
class Findings:
    """What the doctor found in a data set, the largest effects first.

    Attributes
    ----------
    found : tuple of Finding
    queries, documents, features : int
        Of all files.
    share : float
        The share of the queries that was looked at; what needs all names was told by all.
    equal : float
        NDCG@10 of equal scores, the mean over all orders.
    best_feature : str
        The feature that ranks best alone, with its NDCG@10 ``best``.
    trained : float or None
        NDCG@10 of least squares on queries that it did not see; None where there are too few.
    detectable : float or None
        The difference of NDCG@10 between two such rankers that would be significant (5 %) with probability 0.8.
    notes : tuple of str
    checks : tuple of str
        What was looked for: too few queries only where a difference was given.
    """

    found: tuple[Finding, ...]
    queries: int
    documents: int
    features: int
    share: float
    equal: float
    best_feature: str
    best: float
    trained: float | None
    detectable: float | None
    notes: tuple[str, ...] = ()
    checks: tuple[str, ...] = CHECKS

    def __len__(self) -> int:
        return len(self.found)

    def __repr__(self) -> str:
        queries = count(self.queries, "query", "queries")
        return f"Findings({len(self.found)} in {queries}: {', '.join(one.check for one in self.found)})"

    def __str__(self) -> str:
        return "\n".join([*self.about(), *(_text(i, one) for i, one in enumerate(self.found, start=1))])

    def about(self) -> list[str]:
        """What was looked at, what simple rankers reach on it, and which difference can be seen: a sentence each."""
        documents, features = count(self.documents, "document"), count(self.features, "feature")
        lines = [f"{count(self.queries, 'query', 'queries')}, {documents}, {features}"]
        if self.share < 1.0:
            lines[0] += f"; {self.share:.3g} of the queries were looked at"
        trained = "" if self.trained is None else f", least squares {self.trained:.4f}"
        lines.append(
            f"NDCG@{CUTOFF}: equal scores {self.equal:.4f}, best feature ({self.best_feature}) {self.best:.4f}{trained}"
        )
        if self.detectable is not None:
            lines.append(
                f"a difference of {self.detectable:.4f} between two such rankers is significant with probability "
                f"{statistics.POWER:g}"
            )
        lines += self.notes
        if any("`" in one.remedy for one in self.found):
            lines.append("what stands in backquotes is a line of the data set's entry under `datasets:` of a study")
        if not self.found:
            lines.append(f"nothing found; looked for: {', '.join(self.checks)}")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """All of it in plain types, for JSON."""
        plain = asdict(self)
        found = [{name: _plain(value) for name, value in one.items()} for one in plain.pop("found")]
        return {
            **plain,
            "notes": list(self.notes),
            "says": self.about(),
            "found": found,
            "checks": list(self.checks),
            "level": TESTS * FALSE_ALARMS,
        }

    def to_pandas(self) -> Any:
        """A row a finding, as a data frame of pandas."""
        import pandas as pd

        columns = ["check", "text", "effect", "as_is", "mended", "remedy", "columns", "where"]
        return pd.DataFrame([[getattr(one, name) for name in columns] for one in self.found], columns=columns)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _text(number: int, one: Finding) -> str:
    size = "" if one.as_is is None or one.mended is None else f" ({one.as_is:.4f}; {one.mended:.4f} without it)"
    lines = [f"\n{number}. {one.check}{size}", f"   {one.text}", f"   effect: {one.effect}", f"   remedy: {one.remedy}"]
    return "\n".join([*lines, *([f"   see: {'; '.join(one.where)}"] if one.where else [])])


@checked
def doctor(
    data: Any,
    *,
    label: str | None = None,
    query: str | None = None,
    ignore: Sequence[str] = (),
    one_hot: Sequence[str] = (),
    missing: Missing | None = None,
    relevant_from: int | None = None,
    difference: float | None = None,
    seed: Natural = 0,
) -> Findings:
    """Look for what makes results on a data set mislead, with the size of each effect on NDCG@10.

    Effects are computed: NDCG@10, with gains 2^y - 1 and equal scores counted by the mean over all orders, of equal
    scores, of one feature, of least squares, or of the labels of copies, as the data are and without what was found.
    Checks that are tests say something of data on which their null hypothesis is true with a probability of at most
    1 % for all of them together; the others state what is there. Queries are exchangeable, not documents.

    Parameters
    ----------
    data : path, sequence of paths, mapping, RankingData or data frame
        Files of any form that a study reads, the folder of them, or a file that a run has stored; an entry of
        ``datasets`` as a mapping, such as ``{"train": "a.csv", "test": "b.csv"}``; or data in memory, which a mapping
        may give by part. Files whose names say train and test are taken for these parts.
    label, query, ignore, one_hot, missing, relevant_from
        As in an entry. Missing values are a finding unless ``missing`` says what is taken for them.
    difference : float, optional
        The difference in NDCG@10 that one hopes to see: too few queries for it are a finding.
    seed : int
        Of the random signs that say which difference can be seen.

    Returns
    -------
    Findings

    Raises
    ------
    ConfigurationError, DataError
        When the entry is none, or a file breaks its format.

    Example
    -------
    >>> data = RankingData.from_arrays(
    ...     [[3.0], [2.0], [1.0]] * 40, [2, 1, 0] * 40, np.repeat(np.arange(40), 3), feature_names=["clicks"]
    ... )
    >>> [(one.check, round(one.as_is, 4)) for one in doctor(data).found][:2]
    [('label among the features', 1.0), ('order of rows', 1.0)]
    """
    lists = {"ignore": tuple(ignore), "one_hot": tuple(one_hot)}
    given = {"label": label, "query": query, **lists, "missing": missing, "relevant_from": relevant_from}
    given = {name: value for name, value in given.items() if value not in (None, ())}
    sample, from_label, yaml = _sample(data, given)
    return _examined(sample, from_label, yaml, difference, seed)


def _sample(data: Any, given: dict[str, Any]) -> tuple[Sample, int, tuple[str, ...]]:
    """The parts, the smallest label of a relevant document, and what is already said of missing and extreme values."""
    if isinstance(data, RankingData):
        return samples.of_data({"data": data}), int(given.get("relevant_from", data.relevant_from)), ()
    if isinstance(data, Mapping) and data and all(isinstance(one, RankingData) for one in data.values()):
        first = next(iter(data.values()))
        return samples.of_data(dict(data)), int(given.get("relevant_from", first.relevant_from)), ()
    if isinstance(data, Mapping):
        entry = dict(data)
    elif isinstance(data, str | os.PathLike):
        entry = _entry([os.fspath(data)])
    elif isinstance(data, Sequence) and data and all(isinstance(one, str | os.PathLike) for one in data):
        entry = _entry(list(map(os.fspath, data)))
    elif not hasattr(data, "columns") and not hasattr(data, "__arrow_c_stream__"):
        expected = "files, an entry of `datasets`, RankingData or a data frame"
        raise ArgumentError(f"data: expected {expected}, found {checks.shown(data)}")
    else:
        relevant_from = int(given.pop("relevant_from", 1))
        said = () if given.get("missing", "refuse") == "refuse" else ("missing",)
        return samples.of_frame(data, given), relevant_from, said
    sample, settings = samples.of_entry(entry | given)
    policies = ("missing", "extreme")
    return sample, settings.relevant_from, tuple(name for name in policies if getattr(settings, name) != "refuse")


def _entry(names: Sequence[str]) -> dict[str, Any]:
    """The entry of some files, which have the roles that their names say if every one says another."""
    if len(names) == 1 and (folder := expanded(names[0])).is_dir():
        return {"folder": str(folder)}
    roles = [roles_in(expanded(name)) for name in names]
    by_role = {role: name for name, found in zip(names, roles, strict=True) for role in found}
    if {"train", "test"} <= by_role.keys() and len(by_role) == len(names) and all(len(one) == 1 for one in roles):
        return dict(by_role)
    return {"files": list(names)}


def _examined(sample: Sample, relevant_from: int, said: Sequence[str], difference: float | None, seed: int) -> Findings:
    data, part = part_checks.joined(sample.parts)
    names = list(pitfalls.names_of(data.feature_names, data.n_features))
    differ = column_checks.differ(data)
    equal = simple_rankers.ndcg(np.zeros(data.n_documents), data)
    mean = float(equal.mean())
    label = data.y.astype(np.uint8)
    found = pitfalls.found(label, data.offsets, differ, data.feature_names, relevant_from)
    found += column_checks.labels(data, names, mean)
    found += column_checks.position(data, names, mean)
    if "missing" not in said:
        text = any(one.path is not None and not is_table(one.path) for one in sample.parts)
        found += column_checks.missing(data, names, _masks(sample.parts), mean, text)
    if "extreme" not in said:
        found += column_checks.extreme(data, names)
    twins = Twins(data, differ)
    found += part_checks.shared_names(sample.parts, data, part, twins, equal)
    found += part_checks.twins(sample.parts, data, part, twins, equal)
    found += part_checks.features(sample.parts, data, part, names)
    found += _lacking(sample)
    found += _limits(data)
    best, by_feature = simple_rankers.best_feature(data)
    values, others = _measured(sample.parts, data, part, by_feature)
    detectable = _detectable(values, others, sample.share, seed)
    found += _power(detectable, difference, round(len(values) / sample.share))
    found.sort(key=lambda one: -one.size)
    return Findings(
        tuple(_placed(one, sample.parts, part) for one in found),
        sum(len(one.names) for one in sample.parts),
        sum(one.documents for one in sample.parts),
        data.n_features,
        sample.share,
        mean,
        names[best],
        float(by_feature.mean()),
        float(values.mean()) if len(values) else None,
        detectable,
        (*([sample.note] if sample.note else []), *column_checks.few_lists(data, names)),
        tuple(one for one in CHECKS if difference is not None or one != NUMBER_OF_QUERIES),
    )


def _placed(one: Finding, parts: Sequence[Part], part: NDArray[np.int64]) -> Finding:
    """The finding with the places of its queries."""
    starts = np.searchsorted(part, np.arange(len(parts)))
    places = tuple(parts[part[q]].where(int(q - starts[part[q]])) for q in one.queries[:3])
    return replace(one, where=one.where or places)


def _masks(parts: Sequence[Part]) -> dict[int, NDArray[np.bool_]]:
    """Where values are missing, by feature, in all parts."""
    features = sorted({j for one in parts for j in one.missing})
    none = [np.zeros(one.data.n_documents, np.bool_) for one in parts]
    return {
        j: np.concatenate([one.missing.get(j, empty) for one, empty in zip(parts, none, strict=True)]) for j in features
    }


def _lacking(sample: Sample) -> list[Finding]:
    """Features that some tables have and others have not."""
    return [
        Finding(
            "features of one file",
            f"{path} has no column {pitfalls.first_of(columns)}, which another file has",
            "a study refuses these files, so that nothing is measured; they were looked at without these columns",
            None,
            None,
            "write what is missing into this file, or remove from the others what no ranker needs",
            columns=columns,
            where=(path,),
        )
        for path, columns in sample.lacking.items()
        if columns
    ]


def _limits(data: RankingData) -> list[Finding]:
    """Lists that a learner refuses."""
    long = np.flatnonzero(data.documents_per_query > LONGEST_LIST)
    if not len(long):
        return []
    return [
        Finding(
            "limits of learners",
            f"{count(len(long), 'list')} of more than {LONGEST_LIST:,} documents, up to "
            f"{data.documents_per_query.max():,}",
            "LambdaMART trains on no such list, so that it has no NDCG at all",
            None,
            None,
            "leave documents out, or name other `models:`",
            queries=tuple(long[: pitfalls.NAMED].tolist()),
        )
    ]


def _measured(
    parts: Sequence[Part], data: RankingData, part: NDArray[np.int64], by_feature: Floats
) -> tuple[Floats, Floats]:
    """NDCG@10 of least squares on the queries that are measured, and that of the best feature on the same queries."""
    test = part_checks.tested(parts, part)
    if test is None:
        halves = simple_rankers.halves(data)
        return simple_rankers.least_squares(halves), np.r_[
            by_feature[1::2], by_feature[0::2]
        ] if halves else by_feature[:0]
    train = np.array([one.role == "train" for one in parts])[part]
    taught = (data.take(np.flatnonzero(train)), data.take(np.flatnonzero(test)))
    return simple_rankers.least_squares([taught]), by_feature[test]


def _detectable(values: Floats, others: Floats, share: float, seed: int) -> float | None:
    """The difference that all queries can show, of which these are a share."""
    if len(values) < 2:
        return None
    rng = seeds.generator(seed, "doctor", "detectable")
    found = float(statistics.compare_runs([values, others], resamples=DRAWS, rng=rng).detectable[0])
    return found * share**0.5 if np.isfinite(found) else None


def _power(detectable: float | None, difference: float | None, n: int) -> list[Finding]:
    """Too few queries for a difference: the one that can be detected falls like 1 / sqrt(n)."""
    if difference is None or (detectable is not None and detectable <= difference):
        return []
    if not difference > 0.0:
        raise DataError(f"difference: expected a number above 0, found {difference:g}")
    needed = "" if detectable is None else f"; about {int(np.ceil(n * (detectable / difference) ** 2)):,} would do"
    seen = "no difference could be significant" if detectable is None else f"they show one of {detectable:.4f}"
    return [
        Finding(
            NUMBER_OF_QUERIES,
            f"{n:,} queries that are measured are too few for a difference of {difference:g}",
            f"with probability {statistics.POWER:g}, {seen}",
            None,
            None,
            f"judge more queries{needed}",
        )
    ]
