"""Do the tables of a study say of its models what the bounds certify?"""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from pipeline_lib import RankingData, learners, surrogates
from pipeline_lib.commands import evaluate_model, summarise_results
from pipeline_lib.core import storage
from pipeline_lib.data.ranking_data import Standardisation
from pipeline_lib.report import results_section
from pipeline_lib.sources import folds
from pipeline_lib.theory import certificates, ranker_facts
from pipeline_lib.theory.constants import constants
from pipeline_lib.theory.ranker_facts import Facts
from tests.samples import drawn


@pytest.fixture
def data() -> RankingData:
    return drawn(30, 4, 3)


def test_the_table_of_a_study_says_what_holds_of_each_model_and_why_of_the_others(data) -> None:
    loss, contents = surrogates.create("ranksvm"), []
    fitted = {
        "ranksvm": learners.create("erm", surrogate="ranksvm", l2=0.1).fit(data),
        "boosted": learners.create("rankboost", rounds=2).fit(data),
    }
    for name, trained in fitted.items():
        of_loss = loss if "surrogate" in trained.about["settings"] else None
        known = ranker_facts.recorded(trained.model, data, of_loss)
        content = {"dataset": "mine", "model": name, "fold": 1, **trained.about, "record": trained.record | known}
        contents.append(json.loads(json.dumps(content)))
    table = summarise_results.certificate_table(contents)
    assert table.schema == pl.Schema(summarise_results.CERTIFICATES)
    found = certificates.certify(ranker_facts.of_model(fitted["ranksvm"].model, data, loss), loss)
    linear = table.filter(pl.col("model") == "ranksvm")
    assert linear.filter(pl.col("reason").is_null())["risk"].to_list() == [one.risk for one in found.holding]
    assert set(linear["bound"]) == set(certificates.UNIFORM)
    [boosted] = table.filter(pl.col("model") == "boosted").to_dicts()
    assert boosted["risk"] is None
    assert "surrogate" in boosted["reason"]


def test_a_test_part_is_certified_by_itself_in_the_same_table(data, tmp_path, monkeypatch) -> None:
    train, test = data.take(np.arange(20)), data.take(np.arange(20, 30))
    trained = learners.create("erm", surrogate="listnet", l2=0.1).fit(train)
    loss, about = surrogates.create("listnet"), {"dataset": "mine", "model": "listnet", "fold": 1}
    record = {**trained.record, **ranker_facts.recorded(trained.model, train, loss)}
    replace(trained, record=record, about={**trained.about, **about}).save(tmp_path / "model.json")
    data.write_parquet(tmp_path / "documents.parquet")
    monkeypatch.setattr(
        folds, "queries", lambda path, fold, part: np.arange(20, 30) if part == "test" else np.arange(20)
    )
    storage.write_json(tmp_path / "summary.json", {"labels": {"2": 1}})
    paths = {name: tmp_path / f"{name}.parquet" for name in ("documents", "folds", "output")}
    evaluate_model.run(
        models=[tmp_path / "model.json"], measures=["map"], summary=tmp_path / "summary.json",
        held_out=tmp_path / "held-out.json", **paths,
    )  # fmt: skip
    [row] = summarise_results.held_out_table([tmp_path / "held-out.json"]).to_dicts()
    losses = loss.value(trained.predict(test), test.y, test.offsets) - loss.least(test.y, test.offsets)
    assert row["empirical_risk"] == pytest.approx(losses.mean())
    assert (row["bound"], row["n"]) == (results_section.HELD_OUT, 10)
    # Documents of the training part may be longer, and scores of new documents with them.
    inside = Standardisation(trained.model.mean, trained.model.scale).apply(data)
    longest = np.linalg.norm(inside.X64, axis=1).max()
    largest = constants("listnet", 4, 2, score_bound=longest * np.linalg.norm(trained.model.w)).excess_bound
    assert row["largest_loss"] == pytest.approx(largest)
    assert row["deviation"] == pytest.approx(largest * np.sqrt(np.log(1 / row["delta"]) / 20))
    assert row["risk"] < certificates.certify(Facts(**record["facts"]), loss).holding[0].risk
