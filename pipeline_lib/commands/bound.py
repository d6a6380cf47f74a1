"""Evaluate a bound of the paper lists: the number, whether it is vacuous, and the n from which it is not."""

from __future__ import annotations

import argparse
import json
from typing import Any

from pipeline_lib import surrogates
from pipeline_lib.errors import ConfigurationError
from pipeline_lib.theory import list_bounds

# What may be given by hand, and then takes the place of what the surrogate supplies.
NUMBERS = ("lipschitz", "lipschitz_l2", "smoothness", "loss_bound", "delta", "optimal_risk", "empirical_risk")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--name", required=True, help=f"the bound: {', '.join(list_bounds.NAMES)}")
    parser.add_argument("--surrogate", help="supplies the constants that are not given by hand")
    parser.add_argument("--options", type=json.loads, default={}, help="options of the surrogate, as JSON")
    parser.add_argument("--y-max", type=int, default=2, help="the largest label")
    parser.add_argument("--n", required=True, type=float, help="queries")
    parser.add_argument("--m", required=True, type=int, help="documents of each")
    parser.add_argument("--radius", type=float, default=1.0, help="W2, or W1 for erm-l1")
    parser.add_argument("--feature-norm", type=float, default=1.0, help="R_X, or the largest feature for erm-l1")
    parser.add_argument("--d", type=int, help="features, for erm-l1")
    for name in NUMBERS:
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, help=list_bounds.MEANINGS[name])
    parser.add_argument("--entropy", choices=("closed-form", "integral"), help="how Rademacher averages are bounded")


def run(arguments: argparse.Namespace) -> None:
    """Print the bound."""
    constants = _constants(arguments)
    if constants.get("loss_bound") is None:
        raise ConfigurationError("bound: expected --loss-bound, or --surrogate that knows it, to say what is vacuous")
    found = list_bounds.assess(arguments.name, n=arguments.n, **constants)
    first = found.not_vacuous_from
    print(
        f"{arguments.name} ({list_bounds.place(arguments.name)}), n = {arguments.n:,.0f}, m = {arguments.m:,}\n\n"
        f"  bound                {found.value:.6g}\n"
        f"  largest loss         {found.loss_bound:.6g}\n"
        f"  vacuous              {'yes: it is not below the largest loss' if found.vacuous else 'no'}\n"
        f"  not vacuous from     {'no n up to 10^15' if first is None else f'n = {first:,}'}"
    )
    if arguments.name == "chapelle-wu" and found.loss_bound > 1.0:
        print("\nThe statement is for losses in [0, 1]; this one is larger, so that its second term is too small.")


def _constants(arguments: argparse.Namespace) -> dict[str, Any]:
    given = {"m": arguments.m, "radius": arguments.radius, "feature_norm": arguments.feature_norm}
    supplied: dict[str, Any] = {}
    if arguments.surrogate is not None:
        if not isinstance(arguments.options, dict):
            raise ConfigurationError(f"options: expected a JSON object, found {json.dumps(arguments.options)}")
        loss = surrogates.create(arguments.surrogate, **arguments.options)
        supplied = list_bounds.of_surrogate(arguments.name, loss, y_max=arguments.y_max, **given)
    by_hand = {name: getattr(arguments, name) for name in (*NUMBERS, "d", "entropy")}
    supplied |= {name: value for name, value in by_hand.items() if value is not None}
    return {"delta": 0.05, **given, **supplied}
