"""Do waterfalls show the factors of the steps, and does the overview name the costliest step of every bound?"""

from pathlib import Path
from typing import Any

import polars as pl
from page_of_paper import builder, figures, raw

from pipeline_lib.core import storage
from pipeline_lib.data.rows import schema
from pipeline_lib.papers.chains import ChainLink
from pipeline_lib.report import chains_section, waterfalls
from pipeline_lib.report.figures import save
from pipeline_lib.report.queries import Rows
from pipeline_lib.report.results import ResultsFolder
from pipeline_lib.report.study import CERTIFICATES, Study
from pipeline_lib.theory import chains


def rows(n: int, stated: float, dataset: str = "made", bound: str = "erm") -> list[dict[str, Any]]:
    """A chain from .5 to twice that, to ``stated``, and 1 more."""
    links = [
        chains.estimated("worst", "worst gap", "It is measured.", [0.49, 0.51]),
        chains.exact("symmetrised", "symmetrisation", "Signs.", 1.0),
        chains.exact("covered", "covering", "Covers.", stated),
        chains.added("probable", "McDiarmid", "A term.", 1.0),
    ]
    return chains.of(bound, "Theorem 9", f"n = {n}", 7.0, links).rows(dataset=dataset, loss="listnet", n=n)


def test_a_bar_reaches_from_link_to_link(tmp_path: Path) -> None:
    figure = waterfalls.waterfall(Rows(rows(10, 50.0), ("lists-chain",)))
    drawing = figure.draw()
    bars = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in drawing.axes[0].patches]
    assert bars == [(0.5, 1.0), (1.0, 50.0), (50.0, 51.0)]
    texts = [text.get_text() for text in drawing.axes[0].texts]
    assert [words for words in texts if "×50" in words]
    assert [bar.get_hatch() is not None for bar in drawing.axes[0].patches] == [False, False, True]
    dark = [bar.get_facecolor() for bar in drawing.axes[0].patches]
    assert dark[1] != dark[0] == dark[2]
    assert "covering" in figure.description
    assert "<svg" in save(figure, tmp_path)


def test_links_at_zero_have_no_place_on_the_axis() -> None:
    below = rows(10, 50.0)
    below[0] |= {"value": -0.1, "low": -0.2, "high": 0.0}
    drawing = waterfalls.waterfall(Rows(below, ("lists-chain",))).draw()
    assert len(drawing.axes[0].patches) == 2


def test_the_largest_n_of_the_first_data_set_is_drawn_and_all_are_listed() -> None:
    table = Rows(rows(10, 50.0) + rows(100, 5.0) + rows(100, 6.0, "other"), ("lists-chain",))
    assert [one[0].n for one in waterfalls.chains(table)] == [10, 100, 100]
    assert [(one[0].n, one[0].dataset) for one in waterfalls.largest(table)] == [(100, "made")]
    found = waterfalls.summary("x", "X", waterfalls.chains(table))
    values = {column.key: [row[i].raw for row in found.rows()] for i, column in enumerate(found.columns)}
    assert values["stated"] == [51.0, 6.0, 7.0]
    assert values["step"] == ["covering"] * 3
    assert values["without"] == [2.0, 2.0, 2.0]
    assert values["factor"] == [50.0, 5.0, 6.0]
    assert not any("(?)" in note for note in found.notes)
    # The factor of symmetrisation is 2, which is not surely more than 1.9.
    unsure = waterfalls.summary("x", "X", waterfalls.chains(Rows(rows(10, 1.9), ("lists-chain",))))
    assert unsure.rows()[0][[column.key for column in unsure.columns].index("step")].raw == "symmetrisation (?)"
    assert any("(?)" in note for note in unsure.notes)


def test_the_page_shows_the_chain(tmp_path: Path) -> None:
    section = builder(tmp_path, "lists")({"lists-chain": rows(10, 50.0)})
    assert [figure.name for figure in figures(section)] == ["chain-lists-erm-made-listnet"]
    assert raw(section, "lists-chain")[0][:4] == ["Theorem 9", "n = 10", 0.5, 51.0]


def test_the_overview_follows_one_chain_for_each_bound(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    table = pl.DataFrame(rows(10, 50.0), schema=schema(ChainLink))
    storage.write_table(tmp_path / "tables" / "lists-chain.parquet", table)
    study = Study(ResultsFolder.at(tmp_path))
    assert [len(chain) for chain in chains_section.chains(study, ["slam", "lists"])] == [4]
    assert chains_section.chains(study, ["slam"]) == []
    assert chains_section.certified(study) is None


def test_the_overview_credits_every_bound_with_the_rankers_of_which_it_tells_something(tmp_path: Path) -> None:
    models = [
        {"model": name, "title": name, "algorithm": "erm", "surrogate": "listnet", "control": False, "settings": {}}
        for name in "ab"
    ]
    storage.write_json(tmp_path / "models.json", {"models": models})
    told = {"contraction": "ab", "chapelle-wu": "b", "erm": "", "optimistic": "", "held-out": "ab"}
    places = {"chapelle-wu": "Earlier", "erm": "Theorem 9", "optimistic": "Theorem 17"}
    rows = [
        {"dataset": "made", "model": name, "fold": fold, "bound": bound, "place": places.get(bound, ""), "risk": 3.0}
        # That of the earlier bound for the first ranker tells something in one fold only.
        | {"informative": name in informed or (bound == "chapelle-wu" and fold == 1)}
        for bound, informed in told.items()
        for name in "ab"
        for fold in (1, 2)
    ]
    (tmp_path / "tables").mkdir()
    storage.write_table(tmp_path / CERTIFICATES, pl.DataFrame(rows))
    said = chains_section.certified(Study(ResultsFolder.at(tmp_path)))
    assert said is not None
    assert (said["informative"], said["rankers"], said["datasets"]) == (2, 2, ["made"])
    assert said["others"] == ["for 1 of them (Earlier)", "for none of them (Theorem 9 and Theorem 17)"]
