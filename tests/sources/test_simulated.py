"""Are data sets drawn as the catalogue declares them, always the same, with or without a text?"""

from pathlib import Path

import numpy as np
import pytest

from pipeline_lib.core import seeds
from pipeline_lib.data import stored_data
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.sources import catalog, conversion, length_law, letor, simulated
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.sources.population_settings import LogNormalLengths

SETTINGS = PopulationSettings(features=3)
MSLR = catalog.get("mslr-sim")


def mslr_settings() -> PopulationSettings:
    assert MSLR.simulation is not None
    return PopulationSettings.from_mapping(MSLR.simulation.population)


def drawn(sizes: list[int], seed: int = 1) -> dict[str, RankingData]:
    named = {f"S{number}": size for number, size in enumerate(sizes, 1)}
    return {name: draw() for name, draw in simulated.parts("letor-sim", SETTINGS, named, seed).items()}


def test_parts_depend_on_the_seed_and_not_on_each_other() -> None:
    a, b, c = drawn([6, 7]), drawn([9, 7]), drawn([6, 7], seed=2)
    np.testing.assert_array_equal(a["S2"].X, b["S2"].X)
    assert (a["S2"].qids[0], b["S2"].qids[0]) == (7, 10)
    assert a["S2"].X.shape != c["S2"].X.shape or not np.array_equal(a["S2"].X, c["S2"].X)
    assert not np.array_equal(a["S1"].X[:5], a["S2"].X[:5])


def test_a_part_is_one_sample_of_the_population() -> None:
    rng = seeds.generator(1, "letor-sim", 2, role="alone")
    population = Population(SETTINGS)
    queries = population.draw_queries(7, rng)
    data = population.draw_documents(queries, population.draw_lengths(7, rng), rng, first_qid=7)
    np.testing.assert_array_equal(drawn([6, 7])["S2"].X, data.X)


def test_mslr_sim_has_the_counts_of_mslr_web30k() -> None:
    original, simulation, population = catalog.get("MSLR-WEB30K"), MSLR.simulation, mslr_settings()
    assert original.counts is not None
    assert original.counts.labels is not None
    assert simulation is not None
    law = population.documents
    assert isinstance(law, LogNormalLengths)
    assert (simulation.queries, population.features) == (original.counts.queries, original.n_features)
    assert population.label_shares == pytest.approx(np.array(original.counts.labels) / original.counts.rows, abs=1e-6)
    lengths = length_law.exact(law, length_law.draw(law, simulation.queries, seeds.generator(2026, "any")))
    assert (lengths.sum(), lengths.min(), lengths.max()) == (original.counts.rows, 1, 1251)


def test_a_small_mslr_sim_has_its_number_of_documents_and_about_its_shares(tmp_path: Path) -> None:
    sizes = dict(zip(MSLR.parts, simulated.sizes_of_parts(402, 5), strict=True))
    found = conversion.convert_drawn(simulated.parts(MSLR.name, mslr_settings(), sizes, 1), tmp_path / "d.parquet")
    assert (found.queries, found.rows, found.features) == (402, round(119.60055 * 402), 136)
    assert {part.name: part.queries for part in found.parts} == sizes
    shares = np.array([found.labels[label] for label in range(5)]) / found.rows
    # Documents of a query are alike: the standard error is at most that of 402 independent ones.
    expected = np.array(mslr_settings().label_shares)
    assert (np.abs(shares - expected) < 4.0 * np.sqrt(expected * (1.0 - expected) / 402)).all()


@pytest.fixture(params=[1 << 24, 100 * 12, 7 * 12])
def bytes_per_group(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row groups of several sizes."""
    monkeypatch.setattr(stored_data, "BYTES_PER_GROUP", request.param)


@pytest.mark.usefixtures("bytes_per_group")
def test_documents_are_those_of_the_text_whatever_the_size_of_blocks(tmp_path: Path) -> None:
    parts = simulated.parts("letor-sim", SETTINGS, {"S1": 4, "S2": 3}, 1)
    at_once = conversion.convert_drawn(parts, tmp_path / "drawn.parquet")
    texts = dict(simulated.write_text(parts, tmp_path))
    by_text = conversion.convert(texts, tmp_path / "converted.parquet")
    a, b = (RankingData.read_parquet(tmp_path / f"{name}.parquet") for name in ("drawn", "converted"))
    together = [letor.read(path) for path in texts.values()]
    for data in (a, b):
        np.testing.assert_array_equal(data.X, np.concatenate([part.X for part in together]))
        np.testing.assert_array_equal(data.y, np.concatenate([part.y for part in together]))
        assert data.qids.tolist() == list(range(1, 8))
    assert (at_once.labels, at_once.rows, at_once.queries) == (by_text.labels, by_text.rows, by_text.queries)
    assert {part.sha256 for part in at_once.parts}.isdisjoint(part.sha256 for part in by_text.parts)
