"""The grid of the paper lists

Risks of 40 linear rankers on 2,000 queries of 50 documents, 10 features, ListNet: all at once by blocks of queries, as
the grid does (one block is in memory at a time), compared with one ranker at a time. The second table is for a whole
slice of the grid (two samples, all learners, the search for the worst gap, and a held-out sample of the same size) for
one m. It gives processor time per document, so that equal numbers in a row mean that the cost grows linearly in m, and
equal rows that it grows linearly in n.
"""

import time

from benchmarks.timing import Scaling, Timing, compare
from pipeline_lib import surrogates
from pipeline_lib.core.seeds import generator
from pipeline_lib.experiment import Job
from pipeline_lib.papers.lists import held_out
from pipeline_lib.papers.lists.grid import experiment as grid
from pipeline_lib.papers.lists.grid.settings import GridSettings
from pipeline_lib.sources.population import Population, PopulationSettings

RANKERS, QUERIES, DOCUMENTS, FEATURES = 40, 2_000, 50, 10
LENGTHS = (40, 80, 160, 320, 640)
SAMPLES = (400, 1600)


def measure() -> list[Timing]:
    """Risks of many rankers at once, compared with one after the other."""
    population = Population(PopulationSettings(features=FEATURES, documents=DOCUMENTS))
    rng = generator(20263, "benchmarks", "lists", role="test")
    data, W = population.draw(QUERIES, rng), rng.normal(size=(FEATURES, RANKERS))
    loss = surrogates.create("listnet")

    def together() -> None:
        held_out.risks(loss, data, W, W[:, 0])

    def one_by_one() -> None:
        at_first = held_out.losses(loss, data, W[:, 0])
        for w in W.T:
            values = held_out.losses(loss, data, w)
            values.std(ddof=1)
            (values - at_first).std(ddof=1)

    ours = {"pipeline_lib, by blocks": together, "one ranker at a time": one_by_one}
    return compare("risks of 40 rankers", ours, unit="documents", unit_count=RANKERS * QUERIES * DOCUMENTS)


def scaling() -> list[Scaling]:
    """Processor seconds per query of a slice of the grid, against m, for two n."""
    timings = []
    for n in SAMPLES:
        seconds = []
        for m in LENGTHS:
            job = Job(_slice(n, m), 0, {"loss": "listnet", "part": "0"})
            list(grid.measure(job))
            start = time.process_time()
            list(grid.measure(job))
            seconds.append((time.process_time() - start) / n)
        timings.append(Scaling(f"a slice of the grid, n = {n}", LENGTHS, tuple(seconds), LENGTHS[1]))
    return timings


def _slice(n: int, m: int) -> GridSettings:
    return GridSettings.parse(
        {
            "queries": [n],
            "lengths": [m],
            "documents_at_most": n * m,
            "repetitions": 2,
            "rate_repetitions": 2,
            "held_out_documents": n * m,
            "held_out_queries_at_least": 2,
            "best_ranker_documents": n * m,
            "radius": 2.5,
            "tol": 1e-4,
            "ascent_steps": 10,
            "delta": 0.05,
            "populations": {"noisy": {"features": FEATURES}, "realisable": {"features": FEATURES}},
            "realisable_lengths": [m],
            "realisable_losses": [],
            "losses": [{"name": "listnet", "surrogate": "listnet", "options": {}}],
        }
    )
