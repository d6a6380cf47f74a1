"""Does a page's template become what it declares, and does a wrong one say where it is wrong?"""

from pathlib import Path
from types import SimpleNamespace

import page_of_paper
import polars as pl
import pytest

from pipeline_lib import papers
from pipeline_lib.claims.judged import JudgedStudy
from pipeline_lib.core import storage
from pipeline_lib.core.errors import DataError
from pipeline_lib.papers import Paper
from pipeline_lib.report import markdown
from pipeline_lib.report.blocks import Details, Prose, Section, Subsection
from pipeline_lib.report.declared_figures import Curves, curves, power
from pipeline_lib.report.figures import Figure
from pipeline_lib.report.page import PaperPages
from pipeline_lib.report.queries import Rows, Tables
from pipeline_lib.report.results import ResultsFolder
from pipeline_lib.report.tables import Table, col

DRAWS = [
    {"loss": "kl", "T": 10, "regret": 2.0, "low": 0.01, "high": 3.0},
    {"loss": "kl", "T": 1000, "regret": 9.0, "low": 8.0, "high": 10.0},
    {"loss": "squared", "T": 10, "regret": 1.5, "low": 1.0, "high": 2.0},
]


@pytest.fixture
def results(tmp_path: Path) -> ResultsFolder:
    (tmp_path / "study" / "tables").mkdir(parents=True)
    storage.write_table(tmp_path / "study" / "tables" / "draws.parquet", pl.DataFrame(DRAWS))
    return ResultsFolder.at(tmp_path / "study")


@pytest.fixture
def build(results: ResultsFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Build the page of a paper whose template is given."""
    # Not the cached function: in that folder are no experiments, and later tests would find none, either.
    monkeypatch.setattr(papers, "experiments", papers.experiments.__wrapped__)

    def built(template: str) -> Section | None:
        folder = tmp_path / "paper"
        folder.mkdir(exist_ok=True)
        (folder / "page.md").write_text(template, encoding="utf-8")
        monkeypatch.setattr(Paper, "folder", property(lambda self: folder))
        monkeypatch.setattr(papers, "page_of", lambda paper: None)
        return PaperPages(results, JudgedStudy("study", (), {})).story(papers.names()[0])

    return built


def prose(section: Section | None) -> str:
    assert section is not None
    return " ".join(block.html for block in section.blocks if isinstance(block, Prose))


def test_prose_tables_and_figures_stand_in_their_order(build) -> None:
    section = build(
        "# Regret\n\nBefore.\n{{ table('t', 'Caption', rows('draws'), [col('loss', 'Loss')]) }}\nBetween.\n"
        "{{ lines('f', 'Title', 'Words', curves(rows('draws'), 'T', 'regret', by='loss'), xlabel='T', ylabel='r') }}"
    )
    assert [type(block) for block in section.blocks] == [Prose, Table, Prose, Figure]
    assert section.title == "Regret"


def test_every_row_and_column_of_a_declared_table_is_shown(build) -> None:
    columns = (
        "[col('loss', 'Loss', names={'kl': 'KL'}), col('T', 'T'), col('regret', 'R', digits=1, spread=('low', 'high'))]"
    )
    [table] = build(f"# R\n\n{{{{ table('t', 'C', rows('draws'), {columns}, group='loss') }}}}").blocks
    assert [[cell.text for cell in row] for row in table.rows()] == [
        ["KL", "10", "2.0"],
        ["KL", "1,000", "9.0"],
        ["squared", "10", "1.5"],
    ]
    assert [group.title for group in table.groups] == ["kl", "squared"]
    assert table.rows()[1][2].spread_raw == 1.0
    assert table.source == "tables/draws.parquet"
    assert [column.align for column in table.columns] == ["left", "right", "right"]


def test_a_value_without_a_spread_is_shown_alone() -> None:
    column = col("x", "X", digits=1, spread=("low", "high"))
    known, unknown = (column.cell(SimpleNamespace(x=1.5, low=1.0, high=high)) for high in (2.0, None))
    assert (known.text, known.spread) == ("1.5", "0.5")
    assert (unknown.text, unknown.spread) == ("1.5", "")


@pytest.mark.parametrize(
    ("value", "asked", "least", "most"),
    [
        (15.88, ", 0", "15", "16"),
        (1.0279, ", 2", "1.02", "1.03"),
        (1.0025, "", "1", "1.01"),
        (-0.0251, ", 2", "−0.03", "−0.02"),
        (0.15, ", 2", "0.15", "0.15"),
        (3 * 0.1, ", 1", "0.3", "0.3"),
        (0.18499, ", 0, 'percent'", "18 %", "19 %"),
        (1.2345e-15, "", "1.23e−15", "1.24e−15"),
        (76543.2, "", "76,543", "76,544"),
        (15211.7, ", 0, 'whole'", "15,211", "15,212"),
        (0.0, "", "0", "0"),
    ],
)
def test_limits_are_rounded_away_from_what_they_limit(build, results, value, asked: str, least: str, most: str) -> None:
    storage.write_table(results.path / "tables" / "one.parquet", pl.DataFrame({"x": [value]}))
    text = f"# R\n\n{{{{ rows('one') | at_least('x'{asked}) }}}};{{{{ rows('one') | at_most('x'{asked}) }}}}"
    assert f"at least {least};at most {most}" in prose(build(text))


QUOTED = {"regret": [2.0, 3.0, 9.0], "regret_low": [1.0, 2.5, 8.0], "regret_high": [3.0, 4.0, 9.5]}
QUOTED |= {"vacuous": [False, False, True], "k": [1, 2, 3]}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("rows('quoted') | at_least('regret', 1)", "at least 1.0"),
        ("rows('quoted') | at_most('regret', 1)", "at most 4.0"),
        ("rows('quoted', k=2) | stated('regret', 1)", "3.0 [2.5, 4.0]"),
        ("rows('quoted', k=2) | stated('k')", "2"),
        ("rows('quoted', k=3) | stated('regret')", "(no informative value)"),
        ("rows('quoted', k=4) | at_most('regret')", "(no informative value)"),
    ],
)
def test_a_number_of_a_sentence_has_its_words_and_its_interval(build, results, asked: str, said: str) -> None:
    storage.write_table(results.path / "tables" / "quoted.parquet", pl.DataFrame(QUOTED))
    assert f"<p>It is {said}.</p>" in prose(build(f"# R\n\nIt is {{{{ {asked} }}}}."))


def test_a_query_is_answered_and_keeps_its_source(build) -> None:
    text = '{% set most | sql %} SELECT loss FROM "draws" GROUP BY loss ORDER BY loss {% endset %}'
    section = build(f"# R\n\n{text}\n{{{{ most.source }}}}: {{% for row in most %}}{{{{ row.loss }}}};{{% endfor %}}")
    assert "tables/draws.parquet: kl;squared;" in prose(section)


def test_tables_are_listed_by_a_pattern(build) -> None:
    assert "draws;" in prose(build("# R\n\n{% for name in matching('dr*') + matching('x*') %}{{ name }};{% endfor %}"))


def test_what_is_inserted_is_text(build) -> None:
    words = "[x](javascript:alert(1)) *b* <script> $x"
    assert "[x](javascript:alert(1)) *b* &lt;script&gt; $x" in prose(build(f"# R\n\n{{{{ {words!r} }}}}"))
    assert "&lt;script&gt;" in prose(build("# R\n\n<script>alert(1)</script>"))


def test_details_and_notes_hold_what_stands_in_them(build) -> None:
    section = build(
        "# R\n\n::: warning\nMind.\n:::\n\n"
        "::: details More\n{{ table('t', 'C', rows('draws'), [col('T', 'T')]) }}\n:::\n"
    )
    note, details = section.blocks
    assert isinstance(note, Prose)
    assert note.tone == "warning"
    assert isinstance(details, Details)
    assert details.summary == "More"
    assert [type(block) for block in details.blocks] == [Table]


def test_a_part_without_content_leaves_no_trace(build) -> None:
    section = build("# R\n\n## One {#one}\n\n## Two {#two}\n\nWords.\n")
    assert [part.id for part in section.subsections()] == ["two"]
    assert isinstance(section.blocks[0], Subsection)
    assert build("# R\n\n{% if has('nothing') %}\n## One {#one}\n\nWords.\n{% endif %}\n") is None


@pytest.mark.parametrize(
    ("template", "named"),
    [
        ("# R\n\n{{ rows('draws')[0].regrets }}", "page.md:3"),
        ("# R\n\n{{ rows('draw') }}", "page.md:3: .*draw.parquet"),
        ("# R\n\n\n{{ 1 + }}", "page.md:4"),
        ("# R\n\n{{ rows('draws').max('regrets') }}", "regrets"),
        ("# R\n\n{{ rows('draws').one(loss='kl').T }}", "one row .* found 2"),
        ("# R\n\n{{ verdict('nothing') }}", "nothing"),
        ("# R\n\n{{ sql('SELECT loss FROM \"draws\" GROUP BY loss') }}", "ORDER BY"),
        ("# R\n\n{{ sql('SELECT lose FROM \"draws\"') }}", "lose"),
        ("# R\n\n{{ table('t', 'C', rows('draws'), [col('los', 'Loss')]) }}", "los"),
        ("# R\n\n{{ rows('draws') | stated('T') }}", "one value of T, found 2"),
        ("# R\n\n{{ sql('SELECT 2 * T AS T FROM \"draws\"') | at_most('T') }}", "answer to a query"),
        ("# R\n\n{{ rows('draws')[0].regret }}", "expected text, found the number 2.0"),
        ("No title", "title"),
        ("# R\n\n## Without an address", "address"),
    ],
)
def test_a_wrong_template_is_a_clear_error(build, template: str, named: str) -> None:
    with pytest.raises(DataError, match=named):
        build(template)


def test_a_number_that_is_not_finite_is_refused(results: ResultsFolder) -> None:
    storage.write_table(results.path / "tables" / "bad.parquet", pl.DataFrame({"x": [1.0, float("nan")]}))
    with pytest.raises(DataError, match=r"bad: row 1, column x"):
        Tables(results).rows("bad")


def test_a_pivot_needs_one_row_per_cell() -> None:
    rows = Rows([{"k": "a", "on": 1, "x": 1.0}, {"k": "a", "on": 1, "x": 2.0}], ("t",))
    with pytest.raises(DataError, match="several"):
        rows.pivot("on", "x", "k")


def test_bands_are_cut_only_where_an_axis_is_logarithmic(build) -> None:
    drawn = "curves(rows('draws'), 'T', 'regret', by='loss', band=('low', 'high'))"
    cut, plain = (
        build(f"# R\n\n{{{{ lines('f', 'T', 'C', {drawn}, xlabel='T', ylabel='r', log='{log}') }}}}").blocks[0].caption
        for log in ("xy", "x")
    )
    assert cut != plain == "C"


def test_values_that_a_logarithmic_axis_has_no_place_for_are_left_out(build, results: ResultsFolder) -> None:
    rows = [{"T": 1, "gap": 0.5}, {"T": 2, "gap": 0.0}, {"T": 3, "gap": -0.5}]
    storage.write_table(results.path / "tables" / "gaps.parquet", pl.DataFrame(rows))
    cut, plain = (
        build(
            "# R\n\n{{ lines('f', 'T', 'C', curves(rows('gaps'), 'T', 'gap', 'gap'), xlabel='T', ylabel='gap', "
            f"log='{log}') }}}}"
        ).blocks[0]
        for log in ("y", "")
    )
    assert cut.caption != plain.caption == "C"
    assert [len(figure.draw().axes[0].lines[0].get_xdata()) for figure in (cut, plain)] == [1, 3]


def test_a_reference_line_starts_where_the_curve_does() -> None:
    drawn = curves(Rows(DRAWS, ("draws",)).where(loss="kl"), "T", "regret")
    [points] = power(drawn, 0.5, "slope 1/2").points.values()
    assert points[0][:2] == (10, 2.0)
    assert points[1][1] == pytest.approx(20.0)
    assert power(Curves({}, ""), 0.5, "x").points == {}


def test_a_section_needs_a_title() -> None:
    assert markdown.section("", (), "topk") is None


@pytest.mark.parametrize("paper", papers.names())
def test_a_study_without_tables_has_no_page_of_a_paper(paper: str, tmp_path: Path) -> None:
    assert page_of_paper.build(tmp_path, paper, {}) is None


def test_rows_that_a_query_computed_stay_so_in_a_pivot(build) -> None:
    computed = "sql('SELECT loss, T, 2 * regret AS x FROM \"draws\" WHERE T = 10')"
    with pytest.raises(DataError, match="answer to a query"):
        build(f"# R\n\n{{{{ {computed}.pivot('T', 'x', 'loss') | at_most('10') }}}}")
