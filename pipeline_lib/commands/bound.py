"""Evaluate a bound of the paper `lists`: its value, whether it is vacuous, and from which n it is not."""

from __future__ import annotations

import argparse
import json
from typing import Any

from pipeline_lib import surrogates
from pipeline_lib.errors import ConfigurationError
from pipeline_lib.theory import list_bounds

# Constants that may be given on the command line, and then replace those of the surrogate.
NUMBERS = ("lipschitz", "lipschitz_l2", "smoothness", "loss_bound", "delta", "optimal_risk", "empirical_risk")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--name", required=True, help=f"name of the bound: {', '.join(list_bounds.NAMES)}")
    parser.add_argument("--surrogate", help="surrogate that supplies the constants not given here")
    parser.add_argument("--options", type=json.loads, default={}, help="options of the surrogate, as JSON")
    parser.add_argument("--y-max", type=int, default=2, help="the largest label")
    parser.add_argument("--n", required=True, type=float, help="number of queries")
    parser.add_argument("--m", required=True, type=int, help="number of documents per query")
    parser.add_argument("--radius", type=float, default=1.0, help="radius of the class: W2, or W1 for erm-l1")
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
    """Print the bound."""
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
    given = {"m": arguments.m, "radius": arguments.radius, "feature_norm": arguments.feature_norm}
    supplied: dict[str, Any] = {}
    if arguments.surrogate is not None:
        if not isinstance(arguments.options, dict):
            raise ConfigurationError(f"options: expected a JSON object, found {json.dumps(arguments.options)}")
        loss = surrogates.create(arguments.surrogate, **arguments.options)
        supplied = list_bounds.of_surrogate(arguments.name, loss, y_max=arguments.y_max, **given)
    stated = {name: getattr(arguments, name) for name in (*NUMBERS, "d", "entropy")}
    supplied |= {name: value for name, value in stated.items() if value is not None}
    return {"delta": 0.05, **given, **supplied}
