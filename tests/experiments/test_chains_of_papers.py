"""Do the chains of all papers rise where a proof says so, and end at the numbers that the bounds state?"""

import math
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline_lib import RankingData, papers, surrogates
from pipeline_lib.data.rows import schema
from pipeline_lib.papers.chains import ChainLink
from pipeline_lib.papers.lists.chain.experiment import CERTIFICATE
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.theory import list_bounds, stability
from pipeline_lib.theory.known_population import scaled
from tests.papers.jobs import Given
from tests.papers.jobs import tables as tables_of
from tests.readings import judged
from tests.small_settings import small

PAPERS = ("lists", "cone", "twolayer")
Rows = list[dict[str, Any]]


def computed(paper: str, datasets: dict[str, RankingData], changed: dict[str, Any]) -> Rows:
    """The rows of a paper's experiment with small settings."""
    declared = papers.experiment(paper, "chain")
    settings = small(paper, "chain", **changed)
    step, *joined = declared.steps
    cells = [{"loss": loss} for loss in settings.losses] if "loss" in step.divided else [{}]
    rows = [row for cell in cells for row in step.run(Given(settings, 7, cell=cell, data=datasets))]
    for later in joined:
        rows = list(later.run(Given(settings, 7, earlier=rows)))
    return tables_of(rows).get(f"{paper}-chain", [])


@pytest.fixture(scope="module")
def data() -> RankingData:
    described = {"features": 4, "documents": (4, 7), "label_shares": [0.5, 0.3, 0.2]}
    return Population(PopulationSettings.from_mapping(described)).draw(30, np.random.default_rng(4))


@pytest.fixture(scope="module")
def tables(data: RankingData) -> dict[str, Rows]:
    more = {"repetitions": 4}
    return {p: computed(p, {"made": data}, more | ({"queries": [200]} if p == "lists" else {})) for p in PAPERS}


def chains(rows: Rows) -> Iterator[tuple[str, Rows]]:
    for bound, links in groupby(rows, key=lambda row: row["bound"]):
        yield bound, list(links)


@pytest.mark.parametrize("paper", PAPERS)
def test_links_rise_where_a_proof_says_so(tables: dict[str, Rows], paper: str) -> None:
    for _, links in chains(tables[paper]):
        assert [row["position"] for row in links] == list(range(len(links)))
        assert all(set(row) == set(schema(ChainLink)) for row in links)
        assert not links[0]["proved"]
        for row in links:
            assert row["low"] <= row["value"] <= row["high"]
            assert not row["proved"] or row["high"] >= row["previous_low"] * (1.0 - 1e-9)
        assert links[-1]["value"] > 2.0 * links[0]["value"]


def test_the_chains_of_lists_end_at_the_bounds(tables: dict[str, Rows], data: RankingData) -> None:
    inside, loss, n = scaled(data), surrogates.create("listnet"), 200
    longest, found = int(data.documents_per_query.max()), dict(chains(tables["lists"]))
    assert set(found) == {"ogd", "rerm", "erm", "erm-l1", CERTIFICATE}
    for bound in ("ogd", "rerm", "erm", "erm-l1"):
        norm = float(np.abs(inside.X64).max()) if bound == "erm-l1" else 1.0
        given: dict[str, Any] = {"m": longest, "radius": 2.0, "feature_norm": norm}
        given |= list_bounds.of_surrogate(bound, loss, y_max=2, **given) | {"d": 4, "delta": 0.05}
        stated = list_bounds.evaluate(bound, n=n, entropy="closed-form", **given)
        assert found[bound][-1]["value"] == pytest.approx(stated)
        assert found[bound][0]["trivial"] == given["loss_bound"]
    assert found[CERTIFICATE][-1]["value"] < found["erm"][-1]["value"]


def test_the_chain_of_cone_ends_at_theorem_1_with_theorem_2(tables: dict[str, Rows]) -> None:
    found = dict(chains(tables["cone"]))
    P = found["theorem-1"][0]["n"]
    links = {row["link"]: row for row in found["theorem-1"]}
    root = math.sqrt(math.log(1.0 / 0.05) / (2.0 * P))
    gamma = (links["gamma"]["value"] - links["beta"]["value"]) / root
    beta = found["theorem-2"][-1]["value"]
    assert links["theorem-2"]["value"] == pytest.approx(stability.risk_bound(0.0, beta, gamma, P, 0.05))
    assert links["p-beta"]["value"] == pytest.approx(
        stability.risk_bound(0.0, found["theorem-2"][0]["value"], gamma, P, 0.05)
    )


def test_the_terms_of_twolayer_are_those_of_theorem_1(tables: dict[str, Rows]) -> None:
    [links] = [links for bound, links in chains(tables["twolayer"]) if bound == "theorem-1"]
    by_name, n, m, M = {row["link"]: row["value"] for row in links}, 20, 4, 5.0
    added = by_name["doubled"] - by_name["contracted"]
    deviation = 2.0 * M**2 * math.log(4.0 / 0.05)
    assert added == pytest.approx(math.sqrt(deviation / n) + math.sqrt(deviation * n / m) / n)
    assert links[0]["trivial"] == M


@pytest.mark.parametrize("paper", PAPERS)
def test_an_exchange_of_links_is_caught(tables: dict[str, Rows], paper: str, tmp_path: Path) -> None:
    # Few samples do not say which step costs most; without their noise it is known.
    certain = [{**row, "factor_low": row["factor"], "factor_high": row["factor"]} for row in tables[paper]]
    for claim, rows in (("links", tables[paper]), ("loss-of-steps", certain)):
        judgement = judged(f"{paper}-{claim}", {f"{paper}-chain": rows}, {}, tmp_path)
        assert judgement.status != "refuted"
        assert judgement.severity is not None
        assert {plant.name: plant.caught for plant in judgement.severity.planted}["exchanged"]


ENDS = ("", "_low", "_high")


def test_a_falling_link_refutes(tables: dict[str, Rows], tmp_path: Path) -> None:
    wrong: Rows = []
    for row in tables["lists"]:
        fallen = dict.fromkeys(("factor", "factor_low", "factor_high"))
        if row["link"] == "covered":
            row = row | fallen | dict.fromkeys(("value", "low", "high"), 0.5 * row["previous_low"])
        elif wrong and wrong[-1]["link"] == "covered" and row["previous"] is not None:
            last = {f"previous{end}": wrong[-1][name] for name, end in zip(("value", "low", "high"), ENDS, strict=True)}
            row = row | fallen | last
        wrong.append(row)
    assert judged("lists-links", {"lists-chain": wrong}, {}, tmp_path).status == "refuted"


def test_data_that_some_bounds_cannot_be_applied_to_are_left_out() -> None:
    rng = np.random.default_rng(0)
    qids = np.repeat([1, 2, 3], 3)
    one_feature = RankingData.from_arrays(rng.normal(size=(9, 1)), [0, 1, 2, 0, 0, 1, 2, 0, 1], qids)
    bounds = {row["bound"] for row in computed("lists", {"made": one_feature}, {})}
    assert "erm-l1" not in bounds
    assert {"erm", "ogd", CERTIFICATE} <= bounds
    alike = RankingData.from_arrays(rng.normal(size=(9, 2)), [0] * 9, qids)
    assert computed("cone", {"made": alike}, {}) == []
    kinked = {"losses": [{"name": "ranksvm", "surrogate": "ranksvm", "options": {"normalisation": "mean"}}]}
    bounds = {row["bound"] for row in computed("lists", {"made": one_feature}, kinked)}
    assert "optimistic" not in bounds
    assert {"erm", "rerm"} <= bounds
