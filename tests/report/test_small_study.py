"""Does the report of a small study of one's own speak of what that study contains, and of nothing else?"""

import re
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import html5lib
import made_study
import numpy as np
import polars as pl
import pytest

from pipeline_lib import papers as register
from pipeline_lib.claims.words import Status
from pipeline_lib.core import storage
from pipeline_lib.papers import names
from pipeline_lib.report import figures, site, theorems
from pipeline_lib.statistics import compare_runs

PAPERS = names()
LEARNER, CONTROL, IDEAL = "erm-listnet", "random", "ideal"


class Page:
    """The title, sections and warnings of a page, and of its tables the text of every cell, row by row."""

    def __init__(self, text: str) -> None:
        parts = list(html5lib.parse(text, namespaceHTMLElements=False).iter())
        [self.title] = ("".join(one.itertext()) for one in parts if one.tag == "h1")
        self.sections = {str(one.get("id")): "".join(one.itertext()) for one in parts if one.tag == "section"}
        self.tables = {
            str(one.get("id")).removeprefix("table-"): [
                ["".join(cell.itertext()) for cell in row] for row in one.iter("tr")
            ]
            for one in parts
            if one.tag == "figure" and str(one.get("class")).startswith("table")
        }
        self.warnings = ["".join(one.itertext()) for one in parts if "warning" in str(one.get("class"))]
        self.words = " ".join(self.sections.values())


def numbers(text: str) -> list[str]:
    return re.findall(r"\d+(?:\.\d+)?", text)


Small = Callable[..., Page]


@pytest.fixture
def small(study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Small:
    """Shrink the made-up study to one data set, one fold and few models and queries, and render it."""

    # Drawing takes most of the time, and these tests read text.
    monkeypatch.setattr(figures, "save", lambda figure, folder: "")

    def render(
        models: Sequence[str] = (LEARNER, CONTROL, IDEAL),
        queries: int = 5,
        papers: Sequence[str] = (),
        ideal: float = 1.0,
        folds: int = 1,
        weight: str | None = None,
    ) -> Page:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        results = folder / "results" / "own"
        shutil.copytree(study, results)
        (results / "data" / "MQ2008.json").unlink()
        (results / "tables" / "slam-checks.parquet").unlink()
        for path in (results / "tables").glob("*.parquet"):
            frame = pl.read_parquet(path.read_bytes()).filter(pl.col("dataset") == "letor-sim")
            if "model" in frame.columns:
                frame = frame.filter(pl.col("model").is_in(models))
            if "model_a" in frame.columns:
                frame = frame.filter(pl.col("model_a").is_in(models) & pl.col("model_b").is_in(models))
            if "fold" in frame.columns:
                frame = frame.filter(pl.col("fold") <= folds)
            if "n_queries" in frame.columns:
                frame = frame.with_columns(n_queries=pl.lit(queries, pl.Int64))
                means = ("value", "mean")
                here = [name for name in means if name in frame.columns]
                same = pl.when(pl.col("model") == IDEAL).then(ideal)
                frame = frame.with_columns(same.otherwise(pl.col(name)).alias(name) for name in here)
            if "n_folds" in frame.columns:
                sd = pl.col("sd") if folds > 1 else pl.lit(None, pl.Float64)
                frame = frame.with_columns(n_folds=pl.lit(folds, pl.Int64), sd=sd)
            if weight and {"low", "high"} <= set(frame.columns):
                frame = frame.with_columns(low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64))
            if weight and path.stem == "comparisons":
                frame = frame.clear()
            storage.write_table(path, frame)
        if weight:
            described = results / "data" / "letor-sim.json"
            storage.write_json(described, {**storage.read_json(described), "weight": weight})
        known = storage.read_json(results / "models.json")["models"]
        storage.write_json(results / "models.json", {"models": [one for one in known if one["model"] in models]})
        availability = storage.read_json(results / "availability.json")["datasets"]
        storage.write_json(results / "availability.json", {"datasets": availability[:1]})
        made_study.report(results, folder / "report", papers)
        text = (folder / "report" / "report.html").read_text(encoding="utf-8")
        for link in re.findall(r'href="#([^"]+)"', text):
            assert f'id="{link}"' in text, link
        return Page(text)

    return render


def test_the_front_page_says_what_kind_of_data_was_studied(small: Small) -> None:
    [title, *_] = made_study.DATASETS["letor-sim"]
    assert title in small().sections["overview"]


@pytest.mark.parametrize("papers", [(), ("cone",), ("promises",), ("slam", "lists"), PAPERS], ids=",".join)
def test_the_page_speaks_of_the_papers_that_were_chosen(papers: Sequence[str], small: Small) -> None:
    page = small(papers=papers)
    assert page.title == site.heading("own", papers)
    assert [name for name in page.sections if name.startswith("claims-")] == [f"claims-{paper}" for paper in papers]
    assert ("claims" in page.sections) == bool(papers)
    rows = page.tables.get("claims-by-status", [[]])[1:]
    # One group for the papers' claims, one for the project's own, and one for what it promises of its commands; a sum
    # only where there is something to add.
    ours = register.ours() & {*papers}
    number = len(papers) - len(ours)
    assert len(rows) == (2 * (1 + number + (number > 1)) if number else 0) + 2 * len(ours)
    left_out = [paper for paper in PAPERS if paper not in papers]
    assert not papers or all(paper in page.sections["overview"] for paper in left_out)


@pytest.mark.parametrize("status", ["proved", "argued", "inconclusive"])
def test_the_front_page_explains_the_outcomes_of_theorems_that_it_lists(
    status: Status, small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = theorems.given
    monkeypatch.setattr(theorems, "given", lambda claims: given([replace(one, status=status) for one in claims]))
    first = small(papers=("slam",)).sections["overview"]
    [outcomes] = re.findall(r"Of \d+ numbered theorems?, (.*?) \(what this means\)", first)
    explained = re.findall(r"(Argued|Inconclusive) is", first)
    assert explained == [word for word in ("Argued", "Inconclusive") if word.lower() in outcomes]


@pytest.mark.parametrize("folds", [1, 2])
def test_several_folds_have_a_deviation(folds: int, small: Small) -> None:
    assert ("±" in small(folds=folds).words) == (folds > 1)


def test_weights_of_queries_leave_no_intervals_and_no_tests(small: Small) -> None:
    words = small(weight="clicks").words
    assert "weighted by the queries' weights" in words
    assert "there are none where queries have weights" in words
    assert "bootstrap intervals over all test queries" not in words
    assert "No paired tests" not in words
    assert "weighted by the queries' weights" not in small().words


def test_no_section_and_no_table_is_empty(small: Small) -> None:
    page = small()
    assert "published" not in page.sections
    for name, words in page.sections.items():
        assert len(words.split()) > 5, name
    for name, rows in page.tables.items():
        assert len(rows) > 1, name
        assert all(cell.strip() for row in rows for cell in row), name


def test_one_learner_is_not_the_best_of_several(small: Small) -> None:
    one, two = (small(models=models).tables["best-learners"] for models in ((LEARNER,), (LEARNER, "adarank-map")))
    [header, row] = one
    assert "–" not in row
    assert len(header) == len(row) < len(two[0])


def test_controls_alone_have_neither_a_best_learner_nor_certificates(small: Small) -> None:
    page = small(models=(CONTROL, IDEAL))
    assert not {"best-learners", "certificates-letor-sim"} & {*page.tables}
    assert "results-letor-sim" in page.tables


@pytest.mark.parametrize("queries", [1, 5, 6, 7, 16])
@pytest.mark.parametrize("models", [(LEARNER, CONTROL), (LEARNER, CONTROL, IDEAL)], ids=len)
def test_too_few_queries_are_warned_of(queries: int, models: Sequence[str], small: Small) -> None:
    page = small(models=models, queries=queries)
    # The most extreme data there are: every query says the same. The number of models does not matter.
    runs = np.outer(range(len(models)), np.ones(queries))
    least = compare_runs(runs, rng=np.random.default_rng(0)).p_adjusted.max() if queries > 1 else 1.0
    marks = [cell for row in page.tables["results-letor-sim"] for cell in row if "†" in cell or "‡" in cell]
    if least <= 0.05:
        assert not page.warnings
        assert marks
    else:
        [words] = page.warnings
        # Of a single query there is no paired test at all, and the warning says so.
        assert queries == 1 or {str(queries), f"{least:.3g}"} <= set(numbers(words))
        assert not marks


@pytest.mark.parametrize(("queries", "without"), [(10, 2), (10, 1), (5, 4)])
def test_the_ideal_order_says_why_it_stays_below_one(queries: int, without: int, small: Small) -> None:
    below, at_one = (
        Counter(numbers(small(queries=queries, ideal=ideal).sections["results-letor-sim"]))
        for ideal in (1 - without / queries, 1.0)
    )
    assert {str(without), str(queries)} <= set(below - at_one)


def test_what_theory_certifies_is_shown_for_each_learner_or_why_it_is_not(small: Small) -> None:
    page = small(models=(LEARNER, "adarank-map", CONTROL), folds=2)
    [header, row] = page.tables["certificates-letor-sim"]
    assert len(header) == len(row)
    # Of the bounds the tightest one, of the folds the one with the largest value.
    assert "46.4" in row
    # The test queries say the same of the one ranker.
    assert "12.4" in row
    assert made_study.WITHOUT_SURROGATE in page.sections["results-letor-sim"]
    assert CONTROL not in row


def test_every_test_says_of_how_many_queries(small: Small) -> None:
    page = small(queries=77)
    assert "77" in page.tables["best-learners"][1]
    tests = [rows for name, rows in page.tables.items() if name.startswith("tests-")]
    assert tests
    assert all("77" in row for rows in tests for row in rows[1:])
