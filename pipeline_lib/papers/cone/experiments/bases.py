"""Figure 3 and the effects of all constants of ConeRank, on every fold of every data set."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import Cell, Experiment, Job, Outcome, Step
from pipeline_lib.settings import Names, Positive, Positives, Rising, Settings, Text, Whole

MEASURED, VOTES, COMPARED, SHARES = (
    f"slices/cone-{name}/{{dataset}}/fold-{{fold}}" for name in ("bases", "votes", "practice", "shares")
)
Method = Literal["sg", "sg-printed", "eg", "eg-linear", "exact"]
Methods = Annotated[tuple[Method, ...], *Names.__metadata__]
"""Methods of folding in, by their names in pipeline_lib.learners.cone."""


def _from_one(values: tuple[float, ...]) -> tuple[float, ...]:
    if any(value < 1 for value in values):
        raise ValueError(f"expected numbers >= 1, found {list(values)}")
    return values


class BasesSettings(Settings):
    """Figure 3 and the effects of all constants, on every fold of every data set."""

    datasets: Literal["all"] | tuple[Text, ...] = Field("all", description="all, or a list of data sets of the study")
    bases: Rising = Field(
        (1, 2, 5, 10, 20), description="values of K in Figure 3; those above the number of features are left out"
    )
    basis: Whole = Field(10, description="K in all other comparisons")
    starts: Whole = Field(1, description="number of random starts")
    passes: Whole = Field(40, description="largest number of passes; the best number is chosen on the validation part")
    methods: Methods = Field(
        ("eg", "sg"),
        description="methods of folding in; the first is used for Figure 3 and the effects of the constants",
    )
    alphas: tuple[Positive, ...] = Field((0.1,), description="values of alpha tried in addition to the published 1")
    rhos: tuple[Positive, ...] = Field(
        (0.5,), description="values of rho tried in addition to the published 1, in units of sqrt(features)"
    )
    cs: tuple[Positive, ...] = Field(
        (1.0,), description="values of c tried in addition to the published 2, in units of rho"
    )
    largest_sums: Annotated[tuple[Positive, ...], AfterValidator(_from_one)] = Field(
        (2.0,), description="values of lambda_u in form (9)"
    )
    ranksvm_l2: Positives = Field(
        (1e-3, 1e-1, 10.0), description="values of l2 for RankSVM, of which the best is chosen on the validation part"
    )
    converged: Rising = Field(
        (1, 2, 5), description="values of K that are trained by exact blocks until they have converged"
    )
    converged_passes: Whole = Field(30, description="largest number of passes of these")
    components: Rising = Field(
        (1, 2, 3, 5, 10), description="numbers of principal components, next to that of the features"
    )
    factors: Rising = Field((2, 5, 10), description="values of K for semi-NMF")
    factor_pairs: Whole = Field(4000, description="largest number of pairs for components and semi-NMF")
    factor_rounds: Whole = Field(100, description="number of updates of semi-NMF")


def _train(job: Job) -> Outcome:
    from pipeline_lib.papers.cone.computations import bases

    dataset, fold = job.cell["dataset"], int(job.cell["fold"])
    parts = job.parts(dataset, fold, ("train", "validation", "test"))
    return Outcome(bases.run_fold(job.settings, dataset, fold, parts, job.seed))


def _join(job: Job) -> Outcome:
    from pipeline_lib.papers.cone.computations import bases, practice

    measured, votes = job.rows(MEASURED), job.rows(VOTES)
    compared, shares = practice.summary(job.rows(COMPARED)), practice.shares(job.rows(SHARES), measured)
    return Outcome([measured, votes, bases.figure_3_means(measured), compared, shares], bases.evidence(measured))


def _seconds(settings: BasesSettings, cell: Cell) -> float:
    # The number of basis vectors, each of which takes so many passes over the data.
    varied = (settings.methods, settings.alphas, settings.rhos, settings.cs, settings.largest_sums)
    vectors = sum(settings.bases) + settings.basis * sum(map(len, varied))
    # Exact blocks take longer, and for more vectors more passes.
    exact = 0.1 * settings.converged_passes * sum(settings.converged)
    return 0.015 * settings.starts * settings.passes * vectors + exact


_MEASURED = {
    "dataset": str,
    "fold": int,
    "part": str,
    "level": float,
    "method": str,
    **dict.fromkeys(("K", "start"), int),
    "fold_in": str,
    "objective": float,
    "passes": int,
    **dict.fromkeys(("validation", "map", "ndcg"), float),
}
_VOTES = {
    "dataset": str,
    "fold": int,
    **dict.fromkeys(("method", "fold_in"), str),
    **dict.fromkeys(
        (
            *("queries", "in_another_order", "printed_in_another_order"),
            *("reversed_in_another_order", "other_in_another_order"),
        ),
        int,
    ),
}
_FIGURE_3 = {
    **dict.fromkeys(("dataset", "fold_in", "measure"), str),
    **dict.fromkeys(("K", "folds"), int),
    **dict.fromkeys(("mean", "low", "high"), float),
}
_COMPARED = {
    "dataset": str,
    "fold": int,
    "family": str,
    "size": int,
    **dict.fromkeys(("validation", "map", "ndcg"), float),
    "chosen": bool,
}
_SHARES = {"dataset": str, "fold": int, "what": str, "value": float}


def _intervals(*names: str) -> dict[str, type]:
    return {f"{name}{end}": float for name in names for end in ("", "_low", "_high")}


EXPERIMENT = Experiment(
    BasesSettings,
    (
        Step(
            "bases_fold",
            _train,
            documents=lambda settings: settings.datasets,
            tables={MEASURED: _MEASURED, VOTES: _VOTES, COMPARED: _COMPARED, SHARES: _SHARES},
            surrogates=("ranksvm",),
            cost=Cost(3.0, 0.0, 600.0, 20.0),
            seconds=_seconds,
            seconds_grow_with_data=True,
        ),
        Step(
            "bases",
            _join,
            reads=[MEASURED, VOTES, COMPARED, SHARES],
            tables={
                "tables/cone-bases": _MEASURED,
                "tables/cone-votes": _VOTES,
                "tables/cone-figure3": _FIGURE_3,
                "tables/cone-practice": {
                    **dict.fromkeys(("dataset", "family"), str),
                    **dict.fromkeys(("size", "folds"), int),
                    **dict.fromkeys(("mean_size", "mean_validation"), float),
                    **_intervals("map", "more_map", "ndcg", "more_ndcg"),
                },
                "tables/cone-shares": {"dataset": str, "what": str, "folds": int, **_intervals("share")},
            },
            claims=("cone-fig3",),
        ),
    ),
    selectors=("datasets",),
)
