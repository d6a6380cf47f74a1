"""Plan a labelling budget: the numbers of queries and of documents per query that minimise a bound of `twolayer`.

``--bound printed`` takes the bound of Theorem 1. ``--bound corrected`` takes the one with the true rates in both
numbers (`pipeline_lib.theory.two_layer_rates`), which needs to know how much of the variance of the loss is due to
queries, to documents and to pairs; without ``--variances`` it presumes the worst case.
"""

import math
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from matplotlib.figure import Figure

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.errors import ConfigurationError
from pipeline_lib.core.files import replacing
from pipeline_lib.theory import two_layer, two_layer_rates
from pipeline_lib.theory.two_layer_rates import Variances

WIDTH, HEIGHT = 64, 14
AROUND = (0.25, 0.5, 1.0, 2.0, 4.0)
PICTURES = (".svg", ".png", ".pdf")


def run(
    *,
    documents: Annotated[int, "the budget: total number of documents to judge"],
    features: Annotated[int, "V, the number of features of a linear ranker"],
    delta: Annotated[float, "largest probability with which the bound may fail"] = 0.05,
    c1: Annotated[float, "the constant in D(k) = c1 sqrt(V/k), which the paper leaves open"] = 1.0,
    bound: Annotated[
        Literal["printed", "corrected"], "the bound to minimise: Theorem 1 as printed, or the one with the true rates"
    ] = "printed",
    variances: Annotated[
        tuple[float, float, float] | None,
        "with --bound corrected: the variances of the loss between queries, of the shares of documents, and of "
        "pairs within a query (default: the worst case, in which all pairs of a query have the same loss)",
        {"metavar": ("V", "S1", "S2")},
    ] = None,
    figure: Annotated[Path | None, "file for a figure of the curve (.svg, .png or .pdf)"] = None,
) -> None:
    """Print the plan, the bound there and around it, and the curve."""
    if figure and figure.suffix.lower() not in PICTURES:
        raise ConfigurationError(f"figure: expected a file .svg, .png or .pdf, found {figure}")
    if variances and bound != "corrected":
        raise ConfigurationError("variances: expected --bound corrected with them, found printed")
    if bound == "corrected":
        queries, totals, best = _corrected(documents, features, delta, variances)
    else:
        queries, totals, best = _printed(documents, features, delta, c1)
    if figure:
        _draw(figure, queries, totals, best, documents)


def _printed(documents: int, features: int, delta: float, c1: float) -> tuple[Floats, Floats, float]:
    """Print the plan of Theorem 1; the curve of the bound over the number of queries, and its lowest point."""
    budget = (documents, features, delta, c1)
    plan = two_layer.budget(*budget)
    lengths, whole = two_layer.whole_budget(*budget)
    print(
        f"{_heading(documents, features, delta)}, c1 = {c1:g}\n\n"
        f"  best by the bound    {plan.queries:,.1f} queries with {plan.documents_per_query:,.1f} documents each\n"
        f"  in whole documents   {_described(lengths)}; bound {whole.total:.4f}\n"
    )
    print(_table(plan, budget))
    # From a single query on the left to two documents per query on the right.
    queries = np.geomspace(1.0, documents / 2.0, 4 * WIDTH)
    totals = np.array([two_layer.even_bound(float(n), *budget).total for n in queries])
    print(_text_plot(queries, totals, plan.queries))
    print(
        "The bound limits the difference between the expected and the empirical pairwise 0-1 risk. Its constants are "
        "large, so\nuse the plan rather than the value. Unlike measured errors, its document layer does not shrink as "
        "queries are added.\nIt therefore recommends deeper judging than measured errors do, and more so for larger "
        "budgets (docs/errata.md, R);\n--bound corrected takes a bound that has their rates."
    )
    return queries, totals, plan.queries


def _corrected(
    documents: int, features: int, delta: float, given: tuple[float, float, float] | None
) -> tuple[Floats, Floats, float]:
    """The same for the bound with the true rates."""
    variances = Variances(*given) if given else two_layer_rates.worst_case()
    # As for weights of two values each.
    known = [variances], features * math.log(2.0), delta
    lengths, whole = two_layer_rates.budget(documents, *known)
    depth = two_layer_rates.best_depth(variances)
    each = "as many documents as possible" if math.isinf(depth) else f"{depth:,.1f} documents"
    print(
        f"{_heading(documents, features, delta)}, bound with the true rates\n\n"
        f"  best in the limit    {each} per query, for every large budget\n"
        f"  in whole documents   {_described(lengths)}; bound {whole.total:.4f} = deviation {whole.deviation:.4f} + "
        f"remainder {whole.remainder:.4f}\n"
    )
    queries = np.unique(np.geomspace(1, documents // 2, 4 * WIDTH).astype(np.int64))
    totals = np.array([two_layer_rates.of_even_lists(int(n), documents, *known).total for n in queries])
    print(_text_plot(queries.astype(np.float64), totals, float(len(lengths))))
    print(
        f"The bound limits the difference between the expected and the empirical pairwise 0-1 risk for 2^"
        f"{features} rankers, such as\nthose of {features} weights with two values each. Its plan "
        "depends on the variances of the loss: between queries (V), of\nthe shares of documents (S1), and of pairs "
        "within a query (S2), as docs/the-two-layer-gap.md defines them."
    )
    if not given:
        print("Without --variances it presumes the worst case, in which further documents of a query are of no use.")
    return queries.astype(np.float64), totals, float(len(lengths))


def _heading(documents: int, features: int, delta: float) -> str:
    return f"{documents:,} documents, {features} features, confidence {1 - delta:g}"


def _described(lengths: np.ndarray) -> str:
    sizes, counts = np.unique(lengths, return_counts=True)
    parts = [f"{count:,} with {size:,}" for size, count in zip(sizes[::-1], counts[::-1], strict=True)]
    return f"{len(lengths):,} quer{'y' if len(lengths) == 1 else 'ies'} ({', '.join(parts)} documents)"


def _table(plan: two_layer.Budget, budget: tuple[int, int, float, float]) -> str:
    documents = budget[0]
    heads = ("queries", "documents each", "bound", "= query layer:", "complexity", "concentr.", "+ document layer:")
    lines = ["  {:>10}  {:>14}  {:>8}  {}  {:>10}  {:>9}  {}  {:>10}  {:>9}".format(*heads, "complexity", "concentr.")]
    for factor in AROUND:
        n = plan.queries * factor
        if not 1.0 <= n <= documents / 2.0:
            continue
        terms = two_layer.even_bound(n, *budget)
        mark = "*" if factor == 1.0 else " "
        lines.append(
            f"{mark} {n:>10,.1f}  {documents / n:>14,.1f}  {terms.total:>8.4f}  {'':14}  "
            f"{terms.query_complexity:>10.4f}  {terms.query_concentration:>9.4f}  {'':17}  "
            f"{terms.document_complexity:>10.4f}  {terms.document_concentration:>9.4f}"
        )
    return "\n".join([*lines, ""])


def _text_plot(queries: np.ndarray, totals: np.ndarray, best: float) -> str:
    """The bound against the number of queries, with both axes logarithmic, as text; * marks the best division."""
    if len(np.unique(queries)) == 1:
        return ""
    columns = _places(np.log(queries), WIDTH)
    low, high = math.log(totals.min()), math.log(totals.max())
    rows = _places(np.append(np.log(totals), [low, high]), HEIGHT)[:-2]
    grid = [[" "] * WIDTH for _ in range(HEIGHT)]
    for column, row in zip(columns, rows, strict=True):
        grid[HEIGHT - 1 - row][column] = "."
    at = int(np.argmin(np.abs(np.log(queries / best))))
    grid[HEIGHT - 1 - rows[at]][columns[at]] = "*"
    labels = [f"{math.exp(high):8.3g}", *[" " * 8] * (HEIGHT - 2), f"{math.exp(low):8.3g}"]
    lines = [f"{label} |{''.join(line)}" for label, line in zip(labels, grid, strict=True)]
    ends = f"{queries[0]:,.0f} query", f"{queries[-1]:,.0f} queries"
    gap = WIDTH - len(ends[0]) - len(ends[1])
    return "\n".join(["   bound", *lines, f"{'':9}+{'-' * WIDTH}", f"{'':10}{ends[0]}{' ' * gap}{ends[1]}", ""])


def _places(values: np.ndarray, n: int) -> np.ndarray:
    spread = float(values.max() - values.min())
    return np.minimum(((values - values.min()) / (spread or 1.0) * n).astype(int), n - 1)


def _draw(path: Path, queries: np.ndarray, totals: np.ndarray, best: float, documents: int) -> None:
    figure = Figure(figsize=(7.2, 3.4), layout="constrained")
    axis = figure.subplots()
    axis.loglog(queries, totals, color="#0072b2")
    axis.axvline(best, color="#4d4d4d", linestyle="--", label=f"n* = {best:,.0f}, m* = {documents / best:,.0f}")
    axis.set(xlabel="queries, n", ylabel="bound", title=f"{documents:,} documents distributed over n queries")
    axis.grid(color="#d9d9d9")
    axis.legend(frameon=False)
    with replacing(path) as partial:
        figure.savefig(partial, format=path.suffix.lstrip("."), dpi=160)
