"""Evaluate a bound of the paper `lists`, or all that hold for a ranker and a file of documents.

With --name, --n and --m: the bound's value, whether it is vacuous, and from which n it is not. With --data and
--surrogate: what the bounds certify of a ranker, which is that of --model, or else trained on the file with the default
settings; with --radius, what they say of all linear rankers of the ball, with standardised features. With --held-out,
what queries certify on which the ranker was not trained.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from pipeline_lib import learners, surrogates
from pipeline_lib.core.errors import ConfigurationError, DataError
from pipeline_lib.data.ranking_data import Standardisation
from pipeline_lib.sources import query_stream
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.theory import certificates, held_out, list_bounds, ranker_facts


def run(
    *,
    data: Annotated[Path | None, "documents with labels: LETOR text, CSV, TSV or Parquet"] = None,
    model: Annotated[Path | None, "with --data: trained linear ranker, as `save` or a study stored it"] = None,
    held_out: Annotated[
        int | None,
        "with --model: it was not trained on these queries, and K rankers were compared on them (default: 1)",
        {"nargs": "?", "const": 1, "metavar": "K"},
    ] = None,
    name: Annotated[str | None, f"name of the bound: {', '.join(list_bounds.NAMES)}"] = None,
    surrogate: Annotated[
        str | None,
        "surrogate that supplies the constants not given here (with --model, by default that of its training)",
    ] = None,
    options: Annotated[Mapping[str, Any], "options of the surrogate, as JSON"] = {},
    y_max: Annotated[int, "the largest label"] = 2,
    n: Annotated[float | None, "number of queries"] = None,
    m: Annotated[int | None, "number of documents per query"] = None,
    radius: Annotated[float | None, "radius of the class: W2, or W1 for erm-l1; 1 without --data"] = None,
    feature_norm: Annotated[float, "largest norm of a document, R_X; for erm-l1, its largest feature"] = 1.0,
    d: Annotated[int | None, "number of features, required for erm-l1"] = None,
    lipschitz: Annotated[float | None, list_bounds.MEANINGS["lipschitz"]] = None,
    lipschitz_l2: Annotated[float | None, list_bounds.MEANINGS["lipschitz_l2"]] = None,
    smoothness: Annotated[float | None, list_bounds.MEANINGS["smoothness"]] = None,
    average: Annotated[float | None, list_bounds.MEANINGS["average"]] = None,
    loss_bound: Annotated[float | None, list_bounds.MEANINGS["loss_bound"]] = None,
    delta: Annotated[float | None, list_bounds.MEANINGS["delta"]] = None,
    optimal_risk: Annotated[float | None, list_bounds.MEANINGS["optimal_risk"]] = None,
    empirical_risk: Annotated[float | None, list_bounds.MEANINGS["empirical_risk"]] = None,
    entropy: Annotated[Literal["closed-form", "integral"] | None, "how Rademacher averages are bounded"] = None,
) -> None:
    """Print the bound, or the certificates."""
    if data is not None:
        needless = _options(name=name, n=n, m=m, d=d)
        if needless:
            raise ConfigurationError(f"bound: expected no {needless} with --data, which says it")
        print("\n".join(_for_data(data, surrogate, options, model, radius, held_out, delta)))
        return
    if name is None or n is None or m is None:
        missing = _options(name=name is None, n=n is None, m=m is None)
        raise ConfigurationError(f"bound: expected {missing}, or --data and --surrogate, found neither")
    constants: dict[str, Any] = {"m": m, "radius": 1.0 if radius is None else radius, "feature_norm": feature_norm}
    supplied = {}
    if surrogate is not None:
        supplied = list_bounds.of_surrogate(name, surrogates.create(surrogate, **options), y_max=y_max, **constants)
    stated = {
        "lipschitz": lipschitz,
        "lipschitz_l2": lipschitz_l2,
        "smoothness": smoothness,
        "average": average,
        "loss_bound": loss_bound,
        "delta": delta,
        "optimal_risk": optimal_risk,
        "empirical_risk": empirical_risk,
        "d": d,
        "entropy": entropy,
    }
    known = {key: value for key, value in stated.items() if value is not None}
    constants = {"delta": 0.05, **constants, **supplied, **known}
    if constants.get("loss_bound") is None:
        raise ConfigurationError("bound: expected --loss-bound, or a --surrogate that implies it")
    assessed = list_bounds.assess(name, n=n, **constants)
    first = assessed.not_vacuous_from
    print(
        f"{name} ({list_bounds.place(name)}), n = {n:,.0f}, m = {m:,}\n\n"
        f"  bound                {assessed.value:.6g}\n"
        f"  largest loss         {assessed.loss_bound:.6g}\n"
        f"  vacuous              {'yes: it is not below the largest loss' if assessed.vacuous else 'no'}\n"
        f"  not vacuous from     {'no n up to 10^15' if first is None else f'n = {first:,}'}"
    )
    if name == "chapelle-wu" and assessed.loss_bound > 1.0:
        print("\nThe statement requires losses in [0, 1]. This loss is larger, so the second term is too small.")


def _options(**given: object) -> str:
    """The names of the options that are given."""
    return ", ".join(f"--{name}" for name, value in given.items() if value is not None and value is not False)


def _for_data(
    path: Path,
    surrogate: str | None,
    options: Mapping[str, Any],
    model: Path | None,
    radius: float | None,
    compared: int | None,
    delta: float | None,
) -> Iterator[str]:
    """What the bounds say of a file, line by line."""
    if surrogate is None and model is not None:
        trained_with = learners.load(model).about.get("settings", {})
        surrogate, options = trained_with.get("surrogate"), trained_with.get("options", {})
    if surrogate is None:
        raise ConfigurationError(
            "bound: expected --surrogate, the loss whose risk is bounded, with --data, or a --model that was trained "
            "with one; found none"
        )
    if model is not None and radius is not None:
        raise ConfigurationError("bound: expected --model or --radius, found both")
    if compared is not None and model is None:
        raise ConfigurationError(
            "bound: expected --model, the ranker that was not trained on the file, with --held-out"
        )
    loss, delta = surrogates.create(surrogate, **options), certificates.DELTA if delta is None else delta
    who, known = _known(path, loss, {"surrogate": surrogate, "options": options}, model, radius)
    yield (
        f"{path}: {known.n:,} queries of at most {known.m:,} documents with {known.d:,} features and labels "
        f"up to {known.y_max}"
    )
    yield who
    if compared is not None:
        alone = held_out.certify(known, loss, chosen_from=compared, delta=delta)
        found = certificates.Certificates((alone,), {})
        yield f"norm {known.l2:.4g} (l2); mean loss on these queries {known.empirical_risk:.6g}"
    elif radius is None:
        found = certificates.certify(known, loss, delta=delta)
        yield f"norms {known.l2:.4g} (l2) and {known.l1:.4g} (l1); training risk {known.empirical_risk:.6g}"
    else:
        found = certificates.of_class(known, loss, radius=radius, delta=delta)
    yield ""
    yield from _table(found)
    yield ""
    yield from found.reasons.values()
    if found.holding:
        yield _in_words(found.holding[0], delta, radius is not None)


def _known(
    path: Path, loss: Surrogate, settings: Mapping[str, Any], model: Path | None, radius: float | None
) -> tuple[str, ranker_facts.Facts]:
    """What is certified, in words, and the facts about it."""
    if model is not None:
        ranker = learners.load(model)
        data = query_stream.whole(path, n_features=ranker.model.n_inputs())
        try:
            return f"the ranker of {model}, {loss.name}", ranker_facts.of_model(ranker.model, data, loss)
        except DataError as error:
            raise DataError(f"{model}: {error}") from error
    data = query_stream.whole(path)
    if radius is not None:
        inside = Standardisation.of(data).apply(data)
        known = replace(ranker_facts.facts(inside, np.zeros(data.n_features), loss), empirical_risk=0.0)
        return f"all linear rankers with a norm of at most {radius:g}, {loss.name}, at training risk 0", known
    trained = learners.create("erm", **settings).fit(data)
    who = f"the ranker that erm finds with its default settings, {loss.name}, l2 = {trained.record['l2']:g}"
    return who, ranker_facts.of_model(trained.model, data, loss)


def _table(found: certificates.Certificates) -> Iterator[str]:
    yield f"{'bound':<13}{'stated in':<24}{'radius':>10}{'risk at most':>14}{'largest loss':>14}  informative"
    for one in found.holding:
        first = one.informative_from
        later = "nor for any n up to 10^15" if first is None else f"but from n = {first:,}"
        yield (
            f"{one.bound:<13}{one.place:<24}{one.radius:>10.4g}{one.risk:>14.6g}{one.largest_loss:>14.6g}  "
            f"{'yes' if one.informative else f'no, {later}'}"
        )


def _in_words(one: certificates.Certificate, delta: float, of_class: bool) -> str:
    what = "exceeds the training risk by" if of_class else "is"
    worth = "This is informative" if one.informative else "This is not informative"
    whose = "this ranker" if one.bound == held_out.NAME else "any ranker of the ball"
    return (
        f"With probability {1.0 - delta:g}, the risk on new queries {what} at most {one.risk:.6g} ({one.bound}). "
        f"{worth}: the largest loss of {whose} is {one.largest_loss:.6g}."
    )
