"""Tables that are joined from slices, from the rows of the slices: means, intervals, largest values and shares."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.recompute.arithmetic import interval, normal, power_of_points, power_of_repetitions, ratio
from pipeline_lib.recompute.comparison import Comparison, Remainder, Row
from pipeline_lib.recompute.rows import Columns, alone, grouped, numbers, with_ends
from pipeline_lib.recompute.study import Study

Numbers = NDArray[np.float64]


def compare(study: Study, found: Comparison) -> None:
    """Compare every joined table that the study has."""
    for table, slices, keys, again in JOINS:
        if study.has(table) and (study.results / "slices" / slices).is_dir():
            found.table(table, keys, study.table(table).iter_rows(named=True), again(study))


def _named(keys: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    return dict(zip(keys, values, strict=True))


# topk

GAME = ("data", "player", "surrogate")
RADIUS_OF_TWO_DOCUMENTS = 1 / (2 * 31 / 64)
"""U = 1/||2 x|| for the documents x and -x with the feature 31/64."""


def _games(study: Study) -> Iterator[tuple[dict[str, Any], Row, Columns]]:
    """Every row of ``topk-regret`` with its key, and the games behind it by seed."""
    slices = grouped(study.slices("topk-regret").sort("seed"), *GAME, "T")
    for row in study.table("topk-regret").iter_rows(named=True):
        key = tuple(row[name] for name in (*GAME, "T"))
        if key in slices:
            yield _named((*GAME, "T"), key), row, slices[key]


def _first_seeds(study: Study) -> int:
    return int(study.settings("topk-regret")["seeds"])


def _regrets(study: Study) -> Iterator[Row]:
    """Both sides of equation (4), given the loss of the best fixed ranker."""
    first = _first_seeds(study)
    for key, row, games in _games(study):
        T, best = key["T"], row["best_fixed_loss"]
        loss, own, norms = (numbers(games, name) for name in ("loss", "own_loss", "squared_norm"))
        eta = T ** (-2 / 3)
        radius = study.settings("topk-regret")["radius"] if key["data"] == "population" else RADIUS_OF_TWO_DOCUMENTS
        distance, noise = radius**2 / (2 * eta), eta / 2 * T * norms
        difference = interval(own * T - best * T - distance - noise)
        yield {
            **key,
            **alone("regret", interval((loss[:first] - best) * T)),
            "exploration": float((loss[:first] - own[:first]).mean()) * T,
            "squared_norm": float(norms[:first].mean()),
            "seeds": len(loss),
            **with_ends("expected_loss", interval(own * T)),
            "distance_term": distance,
            "noise_term": float(noise.mean()),
            **with_ends("loss_minus_bound", [Remainder(end, size=distance + best * T) for end in difference]),
        }


def _exploration(study: Study) -> Iterator[Row]:
    for key, _, games in _games(study):
        if key.pop("player") == "algorithm 1":
            extra = (numbers(games, "loss") - numbers(games, "own_loss")) * key["T"]
            yield {**key, "seeds": len(extra), **alone("extra", interval(extra)), "gamma": key["T"] ** (-1 / 3)}


def _exponents(study: Study) -> Iterator[Row]:
    """With the intervals over the first seeds, which every T has."""
    first = _first_seeds(study)
    lines: dict[tuple[Any, ...], dict[int, Numbers]] = {}
    for key, row, games in _games(study):
        T = key.pop("T")
        lines.setdefault(tuple(key.values()), {})[T] = (numbers(games, "loss")[:first] - row["best_fixed_loss"]) * T
    for game, of_T in lines.items():
        rounds, regrets = list(of_T), np.stack(list(of_T.values()), 1)
        differ = (regrets != regrets[0]).any()  # of games without randomness one says all
        slope = power_of_repetitions(rounds, regrets) if differ else power_of_points(rounds, list(regrets[0]))
        yield {**_named(GAME, game), **alone("slope", slope)}


def _bandit(study: Study) -> Iterator[Row]:
    """The lead over Algorithm 1, with both intervals added."""
    others = {
        (row["surrogate"], row["T"]): row
        for row in study.table("topk-regret").iter_rows(named=True)
        if (row["data"], row["player"]) == ("population", "algorithm 1")
    }
    for row in study.table("topk-bandit").iter_rows(named=True):
        other = others[row["surrogate"], row["T"]]
        ends = row["regret"] - other["regret"], row["low"] - other["high"], row["high"] - other["low"]
        yield {"surrogate": row["surrogate"], "T": row["T"], **with_ends("lead", ends)}


# lists

CELL = ("loss", "population", "m", "n")


def _largest(values: Numbers, errors: Numbers) -> tuple[float, float, float]:
    """The largest value with the interval of its own error."""
    at = int(np.argmax(values))
    half = normal() * float(errors[at])
    return float(values[at]), float(values[at]) - half, float(values[at]) + half


def _cells(study: Study) -> Iterator[Row]:
    """The held-out sample is the same for all repetitions: its error is in the interval of every mean."""
    slices = study.slices("lists-grid")
    optimal = {key: max(0.0, min(rows["optimal_risk"])) for key, rows in grouped(slices, *CELL).items()}
    for key, rows in grouped(slices, *CELL, "learner").items():
        risk, errors, excess, excess_errors = (
            numbers(rows, name) for name in ("risk", "risk_error", "excess", "excess_error")
        )
        gaps = risk - numbers(rows, "empirical")
        certified = [one for one in rows["certified_gap"] if one is not None]
        yield {
            **_named((*CELL, "learner"), key),
            "repetitions": len(gaps),
            **with_ends("gap", interval(gaps, float(errors.max()))),
            **with_ends("gap_size", interval(abs(gaps), float(errors.max()))),
            **with_ends("largest_gap", _largest(gaps, errors)),
            **with_ends("excess", interval(excess, float(excess_errors.max()))),
            **with_ends("largest_excess", _largest(excess, excess_errors)),
            "optimal_risk": optimal[key[:-1]],
            "optimal_risk_error": rows["optimal_risk_error"][0],
            "risk_error": float(errors.max()),
            "relative_risk_error": max((e / r for e, r in zip(errors, risk, strict=True) if r > 0), default=None),
            "largest_certified_gap": max(certified, default=None),
        }


POWER = ("axis", "loss", "population", "learner", "statistic", "fixed")


def _powers(study: Study) -> Iterator[Row]:
    """The held-out sample moves all points along n together, and each point along m by itself."""
    cells = grouped(study.slices("lists-grid").sort("repetition"), *CELL, "learner")
    for row in study.table("lists-exponents").iter_rows(named=True):
        if not row["learner"]:  # the term of a bound
            yield _named(POWER, [row[name] for name in POWER])
            continue
        line = {}
        for (loss, population, m, n, learner), rows in cells.items():
            moving, still = (m, n) if row["axis"] == "m" else (n, m)
            if (loss, population, still, learner) == tuple(row[k] for k in ("loss", "population", "fixed", "learner")):
                line[moving] = rows
        points = sorted(line)
        fewest = min(len(rows["risk"]) for rows in line.values())
        measured, moves = [], []
        for point in points:
            values, move = _measured(line[point], row["statistic"], fewest)
            measured.append(values)
            moves.append(move / float(values.mean()))
        slope, low, high = power_of_repetitions(points, np.stack(measured, 1))
        log_x = np.log(points) - np.log(points).mean()
        shifts = log_x / float((log_x**2).sum()) * np.array(moves)
        held_out = abs(float(shifts.sum())) if row["axis"] == "n" else math.sqrt(float((shifts**2).sum()))
        half = math.sqrt(((high - low) / 2) ** 2 + (normal() * held_out) ** 2)
        yield {
            **_named(POWER, [row[name] for name in POWER]),
            "points": ", ".join(f"{point:,}" for point in points),
            **alone("slope", (slope, slope - half, slope + half)),
        }


def _measured(rows: Columns, statistic: str, repetitions: int) -> tuple[Numbers, float]:
    """What a power is fitted to in one cell, and by how much one error of the held-out sample moves its mean."""
    first = slice(repetitions)
    if statistic == "gap":
        gaps = (numbers(rows, "risk") - numbers(rows, "empirical"))[first]
        return abs(gaps), float(np.sign(gaps).mean()) * max(rows["risk_error"][first])
    return numbers(rows, "excess")[first], max(rows["excess_error"][first])


# twolayer

SAMPLE = ("loss", "queries", "documents")


def _errors(rows: Columns) -> dict[str, Numbers]:
    """The errors of both layers, their sum, and the gap less that of the population's best ranker."""
    expected, middle, empirical = (numbers(rows, name) for name in ("expected", "middle", "empirical"))
    return {
        "gap": expected - empirical,
        "query_error": expected - middle,
        "document_error": middle - empirical,
        "centred_gap": expected - empirical - numbers(rows, "best_expected") + numbers(rows, "best_empirical"),
    }


def _samples(study: Study) -> dict[tuple[Any, ...], Columns]:
    return dict(grouped(study.slices("twolayer-gaps").sort("repetition"), *SAMPLE))


def _gaps(study: Study) -> Iterator[Row]:
    for key, rows in _samples(study).items():
        errors = _errors(rows)
        largest = {f"{name}_largest": float(errors[name].max()) for name in ("gap", "query_error", "document_error")}
        means: dict[str, Any] = {}
        for name, values in errors.items():
            means |= with_ends(name, interval(values))
        yield {
            **_named(SAMPLE, key),
            "repetitions": len(rows["repetition"]),
            **means,
            **largest,
            "risk_error": max(rows["expected_error"]),
            "certified": sum(map(bool, rows["certified"])),
        }


def _older(study: Study) -> Iterator[Row]:
    samples = _samples(study)
    for row in study.table("twolayer-older-bounds").iter_rows(named=True):
        key = tuple(row[name] for name in SAMPLE)
        yield {**_named(SAMPLE, key), **with_ends("gap", interval(_errors(samples[key])["centred_gap"]))}


def _remaining(study: Study) -> Iterator[Row]:
    """Shares of what there is at the smallest n and m; bounds are divided as they are published."""
    samples, settings = _samples(study), study.settings("twolayer-gaps")
    layers = grouped(study.table("twolayer-gaps"), *SAMPLE)
    older = grouped(study.table("twolayer-older-bounds"), *SAMPLE)
    few, short = settings["queries"][0], settings["documents"][0]
    lines = {
        "queries": [(n, short) for n in (*settings["queries"], *settings["more_queries"])],
        "documents": [(few, m) for m in (*settings["documents"], *settings["more_documents"])],
    }
    for loss in dict.fromkeys(key[0] for key in samples):
        for growing, places in lines.items():
            gaps = [_errors(samples[loss, *place])["centred_gap"] for place in places]
            if gaps[0].mean() <= 0:
                continue
            x = [place[growing == "documents"] for place in places]
            first, last = (loss, *places[0]), (loss, *places[-1])
            bounds = {"document_layer_bound": layers[last]["document_bound"][0] / layers[first]["document_bound"][0]}
            for name in ("query_level", "document_level", "two_layer"):
                along = growing == "documents"
                bounds[f"{name}_bound"] = older[last][name][0] / older[first][name][0] if along else None
            yield {
                "loss": loss,
                "growing": growing,
                "queries": places[-1][0],
                "documents": places[-1][1],
                **with_ends("gap", ratio(gaps[-1], gaps[0])),
                **with_ends("limit", ratio(_limits(x[-4:], gaps[-4:]), gaps[0])),
                **bounds,
            }


def _limits(x: Sequence[int], y: Sequence[Numbers]) -> Numbers:
    """The limits of y = a + b/x + c/x^2 by least squares, one for every repetition."""
    inverse = 1 / np.array(x, float)
    fitted, *_ = np.linalg.lstsq(np.stack([inverse**0, inverse, inverse**2], 1)[:, : len(x)], np.stack(y), rcond=None)
    return np.asarray(fitted[0])


PLACE = ("dataset", "features", "budget")


def _splits(study: Study) -> Iterator[Row]:
    for key, rows in grouped(study.slices("twolayer-tradeoff"), *PLACE, "queries", "documents").items():
        error = numbers(rows, "error")
        references = [one for one in rows["reference_error"] if one is not None]
        excess = interval(error - np.array(references)) if references else (None, None, None)
        yield {
            **_named((*PLACE, "queries", "documents"), key),
            "repetitions": len(error),
            **alone("error", interval(error)),
            **with_ends("excess", excess),
        }


def _best_splits(study: Study) -> Iterator[Row]:
    """Both extremes beside the best three neighbours inside, chosen on every other repetition."""
    ordered = study.slices("twolayer-tradeoff").sort("fold", "repetition")
    for key, of_place in grouped(ordered, *PLACE).items():
        lines: dict[int, dict[str, list[float]]] = {}
        for m, error, training in zip(
            *(of_place[name] for name in ("documents", "error", "training_error")), strict=True
        ):
            at = lines.setdefault(m, {"error": [], "training_error": []})
            at["error"].append(error)
            at["training_error"].append(training)
        lengths = sorted(lines)
        again: dict[str, Any] = {**_named(PLACE, key), "repetitions": len(lines[lengths[0]]["error"])}
        for name in ("error", "training_error"):
            shallow, *between, deep = (np.array(lines[m][name]) for m in lengths)
            inner = _inner(between)
            level = float(inner.mean())
            again |= with_ends(f"{name}_deepest", [level + end for end in interval(deep - inner)])
            again |= with_ends(f"{name}_shallowest", [level + end for end in interval(shallow - inner)])
            again[f"{name}_inner"] = level
        best = min(lengths, key=lambda m: float(np.mean(lines[m]["error"])))
        yield {**again, "best_queries": float(key[-1] // best)}


def _inner(between: Sequence[Numbers]) -> Numbers:
    """The error of the best three neighbours in every repetition, chosen on the repetitions of the other parity."""
    width = min(3, len(between))
    averages = [np.stack(between[i : i + width]).mean(axis=0) for i in range(len(between) - width + 1)]
    inner = np.empty(len(between[0]))
    for half in (0, 1):
        chosen = min(averages, key=lambda errors: float(errors[half::2].mean()))
        inner[1 - half :: 2] = chosen[1 - half :: 2]
    return inner


LINK = ("dataset", "loss", "n", "bound", "place", "position")


def _links(study: Study) -> Iterator[Row]:
    """What is joined are the rows as they are."""
    return study.slices("twolayer-chain").iter_rows(named=True)


# slam

MINIMISED = ("surrogate", "radius", "n")


def _risks(study: Study) -> Iterator[Row]:
    level = study.configuration["statistics"]["level"]
    for key, rows in grouped(study.slices("slam-risk"), *MINIMISED).items():
        yield {
            **_named(MINIMISED, key),
            **alone("excess_risk", interval(rows["excess"], max(rows["truth_error"]), level)),
            **with_ends("gap", interval(rows["gap"], max(rows["gap_error"]), level)),
            "certified": all(rows["certified"]),
            **{name: rows[name][0] for name in ("bound", "l2", "zero_excess")},
        }


# cone


def _over_folds(values: Sequence[float]) -> Sequence[float | None]:
    return interval(values) if len(values) > 1 else (values[0], None, None)


def _of_folds(rows: Columns, name: str) -> list[float]:
    """The mean of the rows of every fold."""
    folds = sorted(set(rows["fold"]))
    return [
        float(np.mean([one for one, at in zip(rows[name], rows["fold"], strict=True) if at == fold])) for fold in folds
    ]


def _curves(study: Study) -> Iterator[Row]:
    keys = ("dataset", "fold_in", "K")
    for key, rows in grouped(study.slices("cone-bases"), *keys).items():
        for measure in ("map", "ndcg"):
            means = _of_folds(rows, measure)
            ends = dict(zip(("mean", "low", "high"), _over_folds(means), strict=True))
            yield {**_named(keys, key), "measure": measure, "folds": len(means), **ends}


def _shares(study: Study) -> Iterator[Row]:
    for key, rows in grouped(study.slices("cone-shares"), "dataset", "what").items():
        means = _of_folds(rows, "value")
        share, low, high = _over_folds(means)
        ends = share, None if low is None else max(low, 0.0), None if high is None else min(high, 1.0)
        yield {**_named(("dataset", "what"), key), "folds": len(means), **with_ends("share", ends)}


def _compared(study: Study) -> Iterator[Row]:
    """Every family with every size, and with the size that was chosen in each fold."""
    slices = study.slices("cone-practice")
    published = {
        (row["dataset"], row["fold"]): row["ndcg"]
        for row in slices.iter_rows(named=True)
        if row["family"] == "published"
    }
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in slices.iter_rows(named=True):
        for size in (row["size"], *([None] if row["chosen"] else [])):
            groups.setdefault((row["dataset"], row["family"], size), []).append(row)
    for key, rows in groups.items():
        again: dict[str, Any] = {}
        for name in ("map", "ndcg"):
            again |= with_ends(name, _over_folds([row[name] for row in rows]))
        more = [row["ndcg"] - published[row["dataset"], row["fold"]] for row in rows]
        yield {
            **_named(("dataset", "family", "size"), key),
            "folds": len(rows),
            "mean_size": float(np.mean([row["size"] for row in rows])),
            "mean_validation": float(np.mean([row["validation"] for row in rows])),
            **again,
            **with_ends("more_ndcg", _over_folds(more)),
        }


def _votes(study: Study) -> Iterator[Row]:
    """What is joined are the rows as they are."""
    return study.slices("cone-votes").iter_rows(named=True)


Again = Callable[[Study], Iterator[Mapping[str, Any]]]
JOINS: Sequence[tuple[str, str, tuple[str, ...], Again]] = (
    ("topk-regret", "topk-regret", (*GAME, "T"), _regrets),
    ("topk-exploration", "topk-regret", ("data", "surrogate", "T"), _exploration),
    ("topk-exponents", "topk-regret", GAME, _exponents),
    ("topk-bandit", "topk-regret", ("surrogate", "T"), _bandit),
    ("lists-cells", "lists-grid", (*CELL, "learner"), _cells),
    ("lists-exponents", "lists-grid", POWER, _powers),
    ("twolayer-gaps", "twolayer-gaps", SAMPLE, _gaps),
    ("twolayer-older-bounds", "twolayer-gaps", SAMPLE, _older),
    ("twolayer-remaining", "twolayer-gaps", ("loss", "growing"), _remaining),
    ("twolayer-tradeoff", "twolayer-tradeoff", (*PLACE, "queries", "documents"), _splits),
    ("twolayer-best-splits", "twolayer-tradeoff", PLACE, _best_splits),
    ("twolayer-chain", "twolayer-chain", LINK, _links),
    ("slam-risk", "slam-risk", MINIMISED, _risks),
    ("cone-figure3", "cone-bases", ("dataset", "fold_in", "measure", "K"), _curves),
    ("cone-practice", "cone-practice", ("dataset", "family", "size"), _compared),
    ("cone-shares", "cone-shares", ("dataset", "what"), _shares),
    ("cone-votes", "cone-votes", ("dataset", "fold", "method", "fold_in"), _votes),
)
"""Every joined table with its slices, the columns by which its rows are found, and how they are computed again."""
