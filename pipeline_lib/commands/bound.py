"""Evaluate a bound of the paper `lists`, or all that hold for a ranker and a file of documents.

With --name, --n and --m: the bound's value, whether it is vacuous, and from which n it is not. With --data and
--surrogate: what the bounds certify of a ranker, which is that of --model, or else trained on the file with the default
settings; with --radius, what they say of all linear rankers of the ball, with standardised features. With --held-out,
what queries certify on which the ranker was not trained.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pipeline_lib import learners, surrogates
from pipeline_lib.errors import ConfigurationError, DataError
from pipeline_lib.ranking_data import Standardisation
from pipeline_lib.sources import query_stream
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.theory import certificates, held_out, list_bounds, ranker_facts

# Constants that may be given on the command line, and then replace those of the surrogate.
NUMBERS = (
    "lipschitz",
    "lipschitz_l2",
    "smoothness",
    "average",
    "loss_bound",
    "delta",
    "optimal_risk",
    "empirical_risk",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--data", type=Path, help="documents with labels: LETOR text, CSV, TSV or Parquet")
    parser.add_argument("--model", type=Path, help="with --data: trained linear ranker, as `save` or a study stored it")
    parser.add_argument(
        "--held-out",
        type=int,
        nargs="?",
        const=1,
        metavar="K",
        help="with --model: it was not trained on these queries, and K rankers were compared on them (default: 1)",
    )
    parser.add_argument("--name", help=f"name of the bound: {', '.join(list_bounds.NAMES)}")
    parser.add_argument(
        "--surrogate",
        help="surrogate that supplies the constants not given here (with --model, by default that of its training)",
    )
    parser.add_argument("--options", type=json.loads, default={}, help="options of the surrogate, as JSON")
    parser.add_argument("--y-max", type=int, default=2, help="the largest label")
    parser.add_argument("--n", type=float, help="number of queries")
    parser.add_argument("--m", type=int, help="number of documents per query")
    parser.add_argument("--radius", type=float, help="radius of the class: W2, or W1 for erm-l1; 1 without --data")
    parser.add_argument(
        "--feature-norm",
        type=float,
        default=1.0,
        help="largest norm of a document, R_X; for erm-l1, its largest feature",
    )
    parser.add_argument("--d", type=int, help="number of features, required for erm-l1")
    for name in NUMBERS:
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, help=list_bounds.MEANINGS[name])
    parser.add_argument("--entropy", choices=("closed-form", "integral"), help="how Rademacher averages are bounded")


def run(arguments: argparse.Namespace) -> None:
    """Print the bound, or the certificates."""
    if arguments.data is not None:
        print("\n".join(_for_data(arguments)))
        return
    missing = [f"--{name}" for name in ("name", "n", "m") if getattr(arguments, name) is None]
    if missing:
        raise ConfigurationError(f"bound: expected {', '.join(missing)}, or --data and --surrogate, found neither")
    constants = _constants(arguments)
    if constants.get("loss_bound") is None:
        raise ConfigurationError("bound: expected --loss-bound, or a --surrogate that implies it")
    assessed = list_bounds.assess(arguments.name, n=arguments.n, **constants)
    first = assessed.not_vacuous_from
    print(
        f"{arguments.name} ({list_bounds.place(arguments.name)}), n = {arguments.n:,.0f}, m = {arguments.m:,}\n\n"
        f"  bound                {assessed.value:.6g}\n"
        f"  largest loss         {assessed.loss_bound:.6g}\n"
        f"  vacuous              {'yes: it is not below the largest loss' if assessed.vacuous else 'no'}\n"
        f"  not vacuous from     {'no n up to 10^15' if first is None else f'n = {first:,}'}"
    )
    if arguments.name == "chapelle-wu" and assessed.loss_bound > 1.0:
        print("\nThe statement requires losses in [0, 1]. This loss is larger, so the second term is too small.")


def _constants(arguments: argparse.Namespace) -> dict[str, Any]:
    radius = 1.0 if arguments.radius is None else arguments.radius
    given = {"m": arguments.m, "radius": radius, "feature_norm": arguments.feature_norm}
    supplied: dict[str, Any] = {}
    if arguments.surrogate is not None:
        supplied = list_bounds.of_surrogate(arguments.name, _loss(arguments), y_max=arguments.y_max, **given)
    stated = {name: getattr(arguments, name) for name in (*NUMBERS, "d", "entropy")}
    supplied |= {name: value for name, value in stated.items() if value is not None}
    return {"delta": 0.05, **given, **supplied}


def _loss(arguments: argparse.Namespace) -> Surrogate:
    if not isinstance(arguments.options, dict):
        raise ConfigurationError(f"options: expected a JSON object, found {json.dumps(arguments.options)}")
    return surrogates.create(arguments.surrogate, **arguments.options)


def _for_data(arguments: argparse.Namespace) -> Iterator[str]:
    """What the bounds say of a file, line by line."""
    if arguments.surrogate is None and arguments.model is not None:
        trained_with = learners.load(arguments.model).about.get("settings", {})
        arguments.surrogate = trained_with.get("surrogate")
        arguments.options = trained_with.get("options", {})
    if arguments.surrogate is None:
        raise ConfigurationError(
            "bound: expected --surrogate, the loss whose risk is bounded, with --data, or a --model that was trained "
            "with one; found none"
        )
    if arguments.model is not None and arguments.radius is not None:
        raise ConfigurationError("bound: expected --model or --radius, found both")
    if arguments.held_out is not None and arguments.model is None:
        raise ConfigurationError(
            "bound: expected --model, the ranker that was not trained on the file, with --held-out"
        )
    given = [f"--{name}" for name in ("name", "n", "m", "d") if getattr(arguments, name) is not None]
    if given:
        raise ConfigurationError(f"bound: expected no {', '.join(given)} with --data, which says it")
    loss, delta = _loss(arguments), certificates.DELTA if arguments.delta is None else arguments.delta
    who, known = _known(arguments, loss)
    yield (
        f"{arguments.data}: {known.n:,} queries of at most {known.m:,} documents with {known.d:,} features and labels "
        f"up to {known.y_max}"
    )
    yield who
    if arguments.held_out is not None:
        alone = held_out.certify(known, loss, chosen_from=arguments.held_out, delta=delta)
        found = certificates.Certificates((alone,), {})
        yield f"norm {known.l2:.4g} (l2); mean loss on these queries {known.empirical_risk:.6g}"
    elif arguments.radius is None:
        found = certificates.certify(known, loss, delta=delta)
        yield f"norms {known.l2:.4g} (l2) and {known.l1:.4g} (l1); training risk {known.empirical_risk:.6g}"
    else:
        found = certificates.of_class(known, loss, radius=arguments.radius, delta=delta)
    yield ""
    yield from _table(found)
    yield ""
    yield from found.reasons.values()
    if found.holding:
        yield _in_words(found.holding[0], delta, arguments.radius is not None)


def _known(arguments: argparse.Namespace, loss: Surrogate) -> tuple[str, ranker_facts.Facts]:
    """What is certified, in words, and the facts about it."""
    if arguments.model is not None:
        ranker = learners.load(arguments.model)
        data = query_stream.whole(arguments.data, n_features=ranker.model.n_inputs())
        try:
            return f"the ranker of {arguments.model}, {loss.name}", ranker_facts.of_model(ranker.model, data, loss)
        except DataError as error:
            raise DataError(f"{arguments.model}: {error}") from error
    data = query_stream.whole(arguments.data)
    if arguments.radius is not None:
        inside = Standardisation.of(data).apply(data)
        known = replace(ranker_facts.facts(inside, np.zeros(data.n_features), loss), empirical_risk=0.0)
        return f"all linear rankers with a norm of at most {arguments.radius:g}, {loss.name}, at training risk 0", known
    settings = {"surrogate": arguments.surrogate, "options": arguments.options}
    trained = learners.create("erm", **settings).fit(data)
    who = f"the ranker that erm finds with its default settings, {loss.name}, l2 = {trained.record['l2']:g}"
    return who, ranker_facts.of_model(trained.model, data, loss)


def _table(found: certificates.Certificates) -> Iterator[str]:
    yield f"{'bound':<13}{'stated in':<24}{'radius':>10}{'risk at most':>14}{'largest loss':>14}  informative"
    for one in found.holding:
        yield (
            f"{one.bound:<13}{one.place:<24}{one.radius:>10.4g}{one.risk:>14.6g}{one.largest_loss:>14.6g}  "
            f"{'yes' if one.informative else f'no, {_from(one)}'}"
        )


def _from(one: certificates.Certificate) -> str:
    return "nor for any n up to 10^15" if one.informative_from is None else f"but from n = {one.informative_from:,}"


def _in_words(one: certificates.Certificate, delta: float, of_class: bool) -> str:
    what = "exceeds the training risk by" if of_class else "is"
    worth = "This is informative" if one.informative else "This is not informative"
    whose = "this ranker" if one.bound == held_out.NAME else "any ranker of the ball"
    return (
        f"With probability {1.0 - delta:g}, the risk on new queries {what} at most {one.risk:.6g} ({one.bound}). "
        f"{worth}: the largest loss of {whose} is {one.largest_loss:.6g}."
    )
