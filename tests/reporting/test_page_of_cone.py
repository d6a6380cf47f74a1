"""Does the page of cone say what its tables hold, and nothing without them?"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.papers.cone import page as cone
from pipeline_lib.papers.cone.computations.descent import summary
from pipeline_lib.reporting.blocks import Paragraph, Subsection
from pipeline_lib.reporting.figures import Figure
from pipeline_lib.reporting.results import ResultsFolder
from pipeline_lib.reporting.tables import Table, to_csv


def words(blocks: tuple[object, ...]) -> str:
    [part] = blocks
    assert isinstance(part, Subsection)
    return " ".join(block.text for block in part.blocks if isinstance(block, Paragraph))


def test_no_tables_no_page(tmp_path: Path) -> None:
    assert cone.build(ResultsFolder.at(tmp_path)) is None


def test_table_1_is_written_under_its_name_with_its_columns(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    row = {
        "dataset": "MQ2008",
        "method": "ListNet",
        "model": "listnet",
        "measure": "MAP",
        "published": 0.450,
        "fold1": 0.448,
        "fold1_low": 0.40,
        "fold1_high": 0.50,
        "five_fold_mean": 0.475,
        "five_fold_sd": 0.05,
        "delta": -0.002,
        "status": "verified",
    }
    storage.write_table(tmp_path / cone.TABLE_1, pl.DataFrame([row]))
    own = {"dataset": "MQ2008", "model": "listnet", "fold": 1, "measure": "map", "published": 0.4502, "measured": 0.448}
    storage.write_table(
        tmp_path / cone.PUBLISHED, pl.DataFrame([own | {"delta": -0.0022, "source": "LETOR 4.0 baselines (fold 1)"}])
    )
    blocks = cone.table_1(ResultsFolder.at(tmp_path))
    said = words(blocks)
    assert "1 of 1 numbers of fold 1 lie within .015" in said
    assert "1 of 1 lie closer to our fold 1" in said
    assert "1 of 1 of its numbers of fold 1 that are transcribed here (0.4502) round to the printed ones" in said
    [part] = blocks
    assert isinstance(part, Subsection)
    [table] = [block for block in part.blocks if isinstance(block, Table)]
    assert table.name == "cone-table1-mq2008"
    header, line = to_csv(table).splitlines()[:2]
    assert header == "method,measure,published,fold1,five_fold_mean,five_fold_sd,delta,status"
    assert line.startswith("ListNet,MAP,0.45,0.448,")


def test_what_adarank_depends_on_is_said_for_any_outcome(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    stops = {"validation": 0.44, "training": 0.43, "no gain": 0.42, "last": 0.41, "best on test": 0.46}
    storage.write_table(
        tmp_path / cone.ADARANK,
        pl.DataFrame(
            [
                {"dataset": "MQ2008", "fold": 1, "measure": "map", "repeats": repeats, "stop": stop, "rounds": 9}
                | {"features": 2, "map": value, "map_low": 0.4, "map_high": 0.45}
                | {"ndcg": value, "ndcg_low": 0.4, "ndcg_high": 0.45}
                for repeats in (None, 1)
                for stop, value in stops.items()
            ]
        ),
    )
    for status, said in (("verified", "0 of 2"), ("deviates", "2 of 2")):
        cell = {"dataset": "MQ2008", "method": "AdaRank-MAP", "model": "a", "published": 0.463, "fold1": 0.44}
        cell |= {"fold1_low": 0.4, "fold1_high": 0.5, "five_fold_mean": None, "five_fold_sd": None, "delta": -0.02}
        storage.write_table(
            tmp_path / cone.TABLE_1,
            pl.DataFrame([cell | {"status": status, "measure": measure} for measure in ("MAP", "NDCG")]),
        )
        text = words(cone.table_1(ResultsFolder.at(tmp_path)))
        assert f"{said} of AdaRank's numbers deviate" in text
        assert "MAP is 0.440 with the best stop on the validation part, 0.400 to 0.450 when its" in text
        assert "0.410 to 0.440 over the rules that do not know the test part, and 0.460" in text
        assert "published are 0.463" in text
        assert "in 9 rounds AdaRank chooses 2 of all features" in text


def test_whether_the_lowest_objective_ranks_best_is_said_for_any_outcome(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    for exact, said in (
        (0.3, "lowest is 1.0, exact blocks, with MAP 0.300; the best MAP, 0.400, is that of EG, with 2.0."),
        (0.5, "lowest is 1.0, exact blocks, with MAP 0.500; the best MAP, 0.500, is that of exact blocks, with 1.0."),
    ):
        rows = [
            {"dataset": "sim", "fold": 1, "part": "method", "level": None, "method": method, "K": 2, "start": 0}
            | {"fold_in": fold_in, "objective": objective, "map": value, "ndcg": value}
            for method, objective, value in (("eg", 2.0, 0.4), ("exact", 1.0, exact))
            for fold_in in ("gradient", "least-squares")
        ]
        for kept in (rows, rows[2:]):
            storage.write_table(tmp_path / cone.BASES, pl.DataFrame(kept, schema_overrides={"level": pl.Float64}))
            text = words(cone.bases(ResultsFolder.at(tmp_path)))
            assert "nan" not in text
            # One method alone is not the lowest of several.
            assert (said in text) == ("The lowest is" in text) == (kept is rows)


def test_one_basis_vector_beside_ranksvm_is_said_for_any_outcome(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()

    def row(fold: int, part: str, K: int | None, value: float) -> dict[str, object]:
        about = {"dataset": "sim", "fold": fold, "part": part, "level": None, "method": "sg", "K": K, "start": 0}
        return about | {"fold_in": K and "gradient", "objective": None, "map": value, "ndcg": value}

    for lift, said in (
        ((0.02, 0.02), "by +0.020, with a 95 % interval over folds from +0.020 to +0.020: a difference is shown."),
        ((0.02, -0.01), "by +0.005, with a 95 % interval over folds from −0.186 to +0.196: no difference is shown."),
        ((0.02,), "RankSVM has MAP 0.400, ConeRank with K = 1, a halfspace, 0.420."),
    ):
        rows = []
        for fold, more in enumerate(lift, 1):
            rows += [row(fold, "ranksvm", None, 0.3 + 0.1 * fold), row(fold, "basis", 1, 0.3 + 0.1 * fold + more)]
            rows += [{**rows[-1], "fold_in": "least-squares"}]
        storage.write_table(
            tmp_path / cone.BASES, pl.DataFrame(rows, schema_overrides={"level": pl.Float64, "objective": pl.Float64})
        )
        blocks = cone.bases(ResultsFolder.at(tmp_path))
        assert said in words(blocks)
        captions = [block.caption for block in blocks[0].blocks if isinstance(block, Figure)]  # type: ignore[attr-defined]
        assert [("over folds" in caption) for caption in captions] == [len(lift) > 1] * 2


def test_a_projection_that_is_not_zero_is_said(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    names = ("largest_difference_inside", "largest_norm_on_the_negative", "largest_difference_to_nnls")
    for left, said in ((0.7, "in general, no: up to 70 %"), (0.0, "no other cone among those drawn")):
        rows = [
            {"claim": "cone-project", "case": f"{kind}: {name}", "d": 3, "K": 2, "value": value}
            for kind in ("acute", "any")
            for name in names
            for value in [left if (kind, name) == ("any", names[1]) else 0.0]
        ]
        storage.write_table(tmp_path / cone.IDENTITIES, pl.DataFrame(rows))
        assert said in words(cone.identities(ResultsFolder.at(tmp_path)))


def trace(
    dataset: str, method: str, updates: str, fold_steps: int | None, values: list[float]
) -> list[dict[str, object]]:
    """Rows of a trace whose coefficients miss the best objective by a tenth."""
    last = len(values) - 1
    return [
        {"dataset": dataset, "method": method, "updates": updates, "fold_steps": fold_steps, "pass": t}
        | {"step": 0.02, "objective": value, "met": None if t == 0 else 1.1 * values[t - 1]}
        | {"gap": 0.25 if t == last else None}
        for t, value in enumerate(values)
    ]


def written(traces: list[list[dict[str, object]]], folder: Path) -> None:
    rows = [row for trace in traces for row in trace]
    types = {"met": pl.Float64, "gap": pl.Float64, "largest_fold_excess": pl.Float64}
    for name, table in ((cone.DESCENT, rows), (cone.SUMMARY, [summary(trace) for trace in traces])):
        storage.write_table(folder / name, pl.DataFrame(table, schema_overrides=types))


def test_a_pass_that_rises_is_said(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    for last, said in ((1.5, "in the first 2 passes: in every pass of every method"), (2.5, "not with EG (query)")):
        written([trace("sim", "eg", "query", 10, [3.0, 2.0, last])], tmp_path)
        text = words(cone.descent(ResultsFolder.at(tmp_path)))
        assert said in text
        assert "smallest 0.25 with EG (query), largest 0.25 with EG (query)." in text


def test_what_happens_on_the_whole_way_down_is_said_for_any_outcome(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    for risen, cut, solved in (
        (2.2, "passes rise with EG (by at most 0.1), and the last gap is 0.25 of the objective", "no pass rises"),
        (1.8, "no pass rises, and the last gap is 0.25", "no pass rises"),
    ):
        rows = [
            trace(cone.SMALL, "eg", "whole", 10, [3.0, 2.0, risen, 1.0]),
            trace(cone.SMALL, "eg", "whole", 20_000, [3.0, 2.0, 1.0]),
            trace(cone.SMALL, "exact", "whole", None, [3.0, 2.0, 1.0]),
        ]
        written(rows, tmp_path)
        blocks = cone.descent(ResultsFolder.at(tmp_path))
        text = words(blocks)
        assert "with mu = 0.02" in text
        assert f"One basis step per pass, at most 10 fold steps: {cut}" in text
        assert f"at most 20,000 fold steps: {solved}, and" in text
        [part] = blocks
        assert isinstance(part, Subsection)
        [table] = [block for block in part.blocks if isinstance(block, Table)]
        first = to_csv(table).splitlines()[1]
        assert first.startswith(f"{cone.METHODS['eg']},one a pass,10,3.0,1.0,0.25,0.1")


def test_the_power_of_s_max_is_said(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    values = dict.fromkeys(("s_mean", "beta", "beta_bound", "gamma", "empirical_risk", "test_risk", "bound"), 1.0)
    rows = [
        {"P": P, "method": "eg", "repetition": 0, "s_max": 1.0 / P, "largest_ratio": 0.5, **values}
        | {"bound_by_theorem_2": 5.0, "largest_possible_risk": 4.0}
        for P in (10, 20, 40)
    ]
    storage.write_table(tmp_path / cone.STABILITY, pl.DataFrame(rows))
    for high, said in ((-0.9, "so for EG"), (-0.4, "nowhere here")):
        fit = {"method": "eg", "statistic": "s_max", "slope": -1.0, "low": -1.1, "high": high}
        storage.write_table(tmp_path / cone.EXPONENTS, pl.DataFrame([fit]))
        text = words(cone.stability(ResultsFolder.at(tmp_path)))
        assert said in text
        assert "at most 50 %" in text
        assert "in 3 of them" in text
