"""Do figures of chains show the factors of the steps, and does a table name the costliest step of every bound?"""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from page_of_paper import builder, figures, raw

from pipeline_lib.claims.words import rounded_down
from pipeline_lib.core import storage
from pipeline_lib.data.rows import schema
from pipeline_lib.papers.chains import ChainLink
from pipeline_lib.report import chains
from pipeline_lib.report.figures import save
from pipeline_lib.report.queries import Rows
from pipeline_lib.report.results import ResultsFolder
from pipeline_lib.theory import chains as proofs


def rows(n: int, stated: float, dataset: str = "made", bound: str = "erm") -> list[dict[str, Any]]:
    """A chain from .5 to twice that, to ``stated``, and 1 more."""
    links = [
        proofs.estimated("worst", "worst gap", "It is measured.", [0.49, 0.51]),
        proofs.exact("symmetrised", "symmetrisation", "Signs.", 1.0),
        proofs.exact("covered", "covering", "Covers.", stated),
        proofs.added("probable", "McDiarmid", "A term.", 1.0),
    ]
    return proofs.of(bound, "Theorem 9", f"n = {n}", 7.0, links).rows(dataset=dataset, loss="listnet", n=n)


def test_every_link_has_a_row_with_the_factor_of_its_step(tmp_path: Path) -> None:
    figure = chains.figure(Rows(rows(10, 50.0), ("lists-chain",)))
    axis = figure.draw().axes[0]
    assert [container.lines[0].get_xdata().tolist() for container in axis.containers] == [[0.5, 1.0, 50.0, 51.0], [7.0]]
    assert [label.get_text() for label in axis.get_yticklabels()][2] == "covering ×50"
    assert "covering ×50: value 50" in figure.description
    assert "“covering”" in figure.title
    assert f"above {rounded_down(rows(10, 50.0)[2]['factor_low'])}" in figure.title
    # A step that is not surely the costliest is not named.
    assert "“" not in chains.figure(Rows(rows(10, 1.9), ("lists-chain",))).title
    assert "<svg" in save(figure, tmp_path)


def test_all_chains_in_one_figure_show_their_ends() -> None:
    below = rows(100, 5.0)
    below[0] |= {"value": -0.1, "low": -0.2, "high": 0.0}
    found = [Rows(one, ("lists-chain",)) for one in (rows(10, 50.0), below)]
    figure = chains.overview("b", "B", "C", found)
    shown = [[(name, one.value) for name, one in row[1].items()] for row in figure.rows[""]]
    assert shown[0] == [("measured", 0.5), ("stated", 51.0), (chains.LARGEST, 7.0)]
    assert [name for name, _ in shown[1]] == ["stated", chains.LARGEST]


def test_rows_are_shaded_where_a_bound_says_nothing() -> None:
    found = Rows(rows(10, 50.0), ("lists-chain",))
    [axis] = chains.overview("x", "X", "", [found]).draw().axes
    [bar] = axis.patches
    assert bar.get_x() == pytest.approx(found[0].trivial)
    assert bar.get_x() + bar.get_width() == pytest.approx(axis.get_xlim()[1])


def test_links_at_zero_have_no_place_on_the_axis() -> None:
    below = rows(10, 50.0)
    below[0] |= {"value": -0.1, "low": -0.2, "high": 0.0}
    axis = chains.figure(Rows(below, ("lists-chain",))).draw().axes[0]
    assert len(axis.get_yticklabels()) == 3


def test_the_largest_n_of_the_first_data_set_is_drawn_and_all_are_listed() -> None:
    table = Rows(rows(10, 50.0) + rows(100, 5.0) + rows(100, 6.0, "other"), ("lists-chain",))
    assert [one[0].n for one in chains.chains(table)] == [10, 100, 100]
    assert [(one[0].n, one[0].dataset) for one in chains.largest(table)] == [(100, "made")]
    found = chains.summary("x", "X", chains.chains(table))
    values = {column.key: [row[i].raw for row in found.rows()] for i, column in enumerate(found.columns)}
    assert values["stated"] == [51.0, 6.0, 7.0]
    assert values["step"] == ["covering"] * 3
    assert values["without"] == [2.0, 2.0, 2.0]
    assert values["factor"] == [50.0, 5.0, 6.0]
    assert not any("(?)" in note for note in found.notes)
    # The factor of symmetrisation is 2, which is not surely more than 1.9.
    unsure = chains.summary("x", "X", chains.chains(Rows(rows(10, 1.9), ("lists-chain",))))
    assert unsure.rows()[0][[column.key for column in unsure.columns].index("step")].raw == "symmetrisation (?)"
    assert any("(?)" in note for note in unsure.notes)


def test_every_bound_is_drawn_at_its_own_largest_n() -> None:
    table = Rows([*rows(10, 5.0), *rows(100, 5.0), *rows(20, 5.0, bound="ogd"), *rows(5, 5.0, bound="ogd")], ("made",))
    assert {(one[0].bound, one[0].n) for one in chains.largest(table)} == {("erm", 100), ("ogd", 20)}


def test_a_factor_that_is_said_to_be_exceeded_is_the_low_end_of_its_interval() -> None:
    links = [
        proofs.estimated("worst", "worst gap", "It is measured.", [0.4, 0.6, 0.5]),
        proofs.exact("symmetrised", "symmetrisation", "Signs.", 50.0),
        proofs.exact("covered", "covering", "Covers.", 60.0),
    ]
    made = proofs.of("erm", "Theorem 9", "n = 10", 7.0, links).rows(dataset="made", loss="listnet", n=10)
    [step] = [row for row in made if row["costliest"]]
    assert step["factor_low"] < 0.9 * step["factor"]
    title = chains.figure(Rows(made, ("lists-chain",))).title
    assert float(title.rpartition(" ")[2]) <= step["factor_low"]


def test_the_page_shows_the_chain(tmp_path: Path) -> None:
    section = builder(tmp_path, "lists")({"lists-chain": rows(10, 50.0)})
    assert [figure.name for figure in figures(section)] == ["chain-lists-erm-made-listnet"]
    assert raw(section, "lists-chain")[0][:4] == ["Theorem 9", "n = 10", 0.5, 51.0]


def test_the_overview_follows_one_chain_for_each_bound(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    table = pl.DataFrame(rows(10, 50.0), schema=schema(ChainLink))
    storage.write_table(tmp_path / "tables" / "lists-chain.parquet", table)
    results = ResultsFolder.at(tmp_path)
    assert [len(chain) for chain in chains.of_papers(results, ["slam", "lists"])] == [4]
    assert chains.of_papers(results, ["slam"]) == []
