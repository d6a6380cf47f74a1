"""Is the report one self-contained, honest, deterministic page?"""

import csv
import html
import itertools
import json
import re
import shutil
from pathlib import Path

import html5lib
import made_study
import polars as pl
import pytest
import yaml

from pipeline_lib import papers
from pipeline_lib.claims.words import STATUSES
from pipeline_lib.core import storage
from pipeline_lib.core.errors import DamagedFileError, DataError
from pipeline_lib.papers import FOLDER, Paper
from pipeline_lib.report import citation, figures, ledger_section, site
from pipeline_lib.report.results import ResultsFolder
from pipeline_lib.report.tables import Column
from tests import readings
from tests.html_page import Page

UNREAD = r"<style>.*?</style>|<script.*?</script>|<svg\b.*?</svg>|<[^>]+>"
"""What is in a page besides the words that are read."""


@pytest.fixture
def copy(study: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(study, tmp_path / "results" / "made"))


def rendered(results: Path, tmp_path: Path) -> str:
    """The page without its figures: drawing them takes most of the time."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(figures, "save", lambda figure, folder: "")
        made_study.report(results, tmp_path / "report")
    return (tmp_path / "report" / "report.html").read_text(encoding="utf-8")


def test_the_page_is_well_formed_and_loads_nothing(report: Path) -> None:
    text = (report / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.open == []
    assert page.loaded == ["data:,"]
    assert re.findall(r"<script[^>]*>", text) == ["<script>"]
    assert "@import" not in text
    assert not re.search(r"url\((?!#|data:)", text)
    assert not re.search(r'src="(?:https?:)?//|<link[^>]+href="(?:https?:)?//', text)
    assert len(page.ids) == len(set(page.ids))
    assert page.headers_without_scope == 0
    for link in page.links:
        inside = link[1:] in page.ids if link.startswith("#") else (report / link).is_file()
        assert inside or link.startswith("https://"), link  # the papers and other works


def test_the_pages_have_all_places_of_the_single_file_and_load_what_they_share(report: Path) -> None:
    files = [report / "index.html", *sorted((report / "pages").iterdir())]
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in files}
    whole = Page((report / "report.html").read_text(encoding="utf-8"))
    of_every_page = {"main"}
    assert sorted(name for page in pages.values() for name in page.ids if name not in of_every_page) == sorted(
        {*whole.ids} - of_every_page
    )
    for file, page in pages.items():
        assert page.links[0] == "#main"  # over the contents to the text of the same page
        assert page.headings[0] == "h1"
        assert all(int(b[1]) <= int(a[1]) + 1 for a, b in itertools.pairwise(page.headings))
        assert page.open == []
        icon, *shared = page.loaded
        assert icon == "data:,"
        live = [report / "explore.js"] if "data-explore" in file.read_text(encoding="utf-8") else []
        scripts = [report / "report.js", *live]
        assert [(file.parent / name).resolve() for name in shared] == [report / "report.css", *scripts]
        assert len(page.ids) == len(set(page.ids))
    assert not re.search(r"url\((?!#|data:)", (report / "report.css").read_text(encoding="utf-8"))


def test_every_page_counts_its_tables_and_figures_from_1(report: Path) -> None:
    longest = 0
    for file in (report / "index.html", *sorted((report / "pages").iterdir())):
        numbers = re.findall(r'<a class="number"[^>]*>(Table|Figure) (\d+)\.</a>', file.read_text(encoding="utf-8"))
        for kind in ("Table", "Figure"):
            found = [int(number) for name, number in numbers if name == kind]
            assert found == list(range(1, len(found) + 1)), file.name
            longest = max(longest, len(found))
    assert longest > 1


def test_every_page_is_reached_from_the_front_page_and_marks_where_one_is(report: Path) -> None:
    front = (report / "index.html").read_text(encoding="utf-8")
    for file in sorted((report / "pages").iterdir()):
        assert f'href="pages/{file.name}#' in front
        assert file.read_text(encoding="utf-8").count('aria-current="page"') == 1


def test_the_front_page_is_short_and_has_a_cell_for_every_claim(report: Path) -> None:
    front = (report / "index.html").read_text(encoding="utf-8")
    read = front.partition("<main")[2]
    matrix = read.partition('<div class="ledger">')[2].partition("</section>")[0]
    table = read.partition('<figure class="table" id="table-theorems">')[2].partition("</figure>")[0]
    unread = rf"<details.*?</details>|{UNREAD}"
    seen = re.sub(unread, " ", read.replace(matrix, "").replace(table, ""), flags=re.DOTALL)
    assert matrix
    assert table
    assert len(re.findall(r"\S*\w\S*", seen)) <= 900
    cells = re.findall(r'<a class="cell (\S+)" href="pages/(\w+)\.html#claim-([\w-]+)"', front)
    judged = {claim["id"]: claim for claim in json.loads((report / "claims.json").read_text())["claims"]}
    assert sorted(name for *_, name in cells) == sorted(judged)
    assert all((status, paper) == (judged[name]["status"], judged[name]["paper"]) for status, paper, name in cells)


def test_every_page_says_who_made_it_from_which_commit_and_how_it_is_cited(report: Path) -> None:
    entry = citation.bibtex("made", {})
    pages = [report / "index.html", *sorted((report / "pages").iterdir())]
    for text in (file.read_text(encoding="utf-8") for file in pages):
        assert html.escape(entry) in text
        assert citation.made("made", {}) in text
        assert 'provenance.html#cite">How to cite</a>' in text or 'href="#cite">How to cite</a>' in text
    assert 'id="cite"' in (report / "pages/provenance.html").read_text(encoding="utf-8")
    known = yaml.safe_load((Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8"))
    assert ([one["name"] for one in known["authors"]], known["title"]) == ([citation.AUTHORS], citation.TITLE)


def test_every_figure_speaks(report: Path) -> None:
    text = (report / "report.html").read_text(encoding="utf-8")
    drawings = re.findall(r"<svg\b.*?</svg>", text, flags=re.DOTALL)
    assert all('role="img"' in drawing for drawing in drawings)
    figures = [drawing for drawing in drawings if "aria-labelledby=" in drawing]
    assert len(figures) == 4
    for figure in figures:
        assert "<title" in figure
        assert "<desc" in figure
    curves = [drawing for drawing in drawings if drawing not in figures]
    assert curves
    assert all(re.search(r'^<svg[^>]* aria-label="[^"]+"', curve) for curve in curves)


def test_cells_stand_in_the_order_of_print_with_what_decided_their_claims(report: Path) -> None:
    front = (report / "index.html").read_text(encoding="utf-8")
    judged = {claim["id"]: claim for claim in json.loads((report / "claims.json").read_text())["claims"]}
    found = re.findall(
        r'<a class="cell \S+" href="pages/slam\.html#claim-([\w-]+)" data-tip="([^"]*)">([^<]*)</a>', front
    )
    names = [name for name, *_ in found]
    assert names.index("slam-lemma1") < names.index("slam-thm2") < names.index("slam-thm5") < names.index("slam-thm8")
    for name, words, _ in found:
        for part in ("where", "says", "explanation"):
            assert judged[name][part] in html.unescape(words)
    assert {name: label for name, _, label in found}["slam-thm5"] == "Thm 5"


@pytest.mark.parametrize(
    ("where", "label"),
    [
        ("Section 6, before Theorem 10, and its proof", "§ 6"),
        ("Eq. 12 and Theorem 1", "Eq. 12"),
        ("Corollaries 8, 11 and 16, corrected", "Cor 8"),
        ("Appendix M.1", "App M.1"),
        ("Section 4.2, Discussion 2", "Disc 2"),
        ("Abstract, sections 3.1 and 3.2", "§ 3.1"),
        ("Remark after Theorem 1", "Remark after Theorem 1"),
    ],
)
def test_a_place_is_named_by_the_statement_itself_or_by_its_section(where: str, label: str) -> None:
    assert ledger_section.short_place(where) == label


def test_no_cell_is_empty_and_nothing_is_nan(report: Path) -> None:
    text = (report / "report.html").read_text(encoding="utf-8")
    cells = re.findall(r"<t[dh]\b[^>]*>(.*?)</t[dh]>", text, flags=re.DOTALL)
    assert cells
    assert all(cell.strip() for cell in cells)
    words = re.sub(UNREAD, " ", text, flags=re.DOTALL)
    assert not re.search(r"\b(nan|NaN|None|null|inf)\b", words)


def test_every_column_is_headed() -> None:
    with pytest.raises(DataError, match="kind"):
        Column("kind", " ")


def test_print_has_one_size_to_which_all_others_are_relative() -> None:
    style = (site.TEMPLATES / "report.css").read_text(encoding="utf-8")
    absolute = re.findall(r"([^{};]+)\{[^{}]*font(?:-size)?:[^;}]*\b[\d.]+(?:pt|px|cm|mm|in)\b", style)
    assert [selector.strip() for selector in absolute] == ["html"]
    sizes = {
        name: float(found[1])
        for name in ("body", "table", r"table\.wide", "figcaption")
        if (found := re.search(rf"^{name} \{{[^}}]*?(?:font: |font-size: )([\d.]+)rem", style, re.MULTILINE))
    }
    assert len(sizes) == 4
    assert sizes["body"] == max(sizes.values())


def test_contradictions_and_missing_data_come_first(report: Path) -> None:
    text = (report / "report.html").read_text(encoding="utf-8")
    first = text[text.index('id="overview"') : text.index('<section id="data"')]
    assert "MQ2007" in first
    [uncertified] = notes(first, "tables/training.parquet", "SLAM-NDCG", "MQ2008")
    assert re.findall(r"\b\d+\b", uncertified)[:2] == ["1", "30"]  # of 30 convex fits one, as the study is made
    ledger = first[first.index('id="picture"') :]
    assert ledger.index("slam-thm10") < ledger.index("cone-table1-mq2008")
    assert "place it in data/raw" in text
    articles = re.findall(r'<article class="claim (\S+) slam"', text)
    assert articles == sorted(articles, key=STATUSES.index)
    assert len(re.findall(r'<article class="claim', text)) == len(readings.ledger_of_claims())


def test_numbers_of_the_tables_are_the_numbers_of_the_study(study: Path, report: Path) -> None:
    summary = pl.read_parquet(study / "tables" / "summary.parquet")
    with (report / "tables" / "results-MQ2008.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["model"] for row in rows][-1] == "random"
    for row in rows:
        for measure in ("ndcg@10", "map"):
            [one] = summary.filter(
                (pl.col("dataset") == "MQ2008") & (pl.col("model") == row["model"]) & (pl.col("measure") == measure)
            ).iter_rows(named=True)
            assert (float(row[measure]), float(row[f"{measure}_sd"])) == (one["mean"], one["sd"])


def test_marks_follow_the_paired_tests(study: Path, tmp_path: Path, copy: Path) -> None:
    path = copy / "tables" / "comparisons.parquet"
    frame = pl.read_parquet(path)
    storage.write_table(path, frame.with_columns(p_adjusted=pl.lit(1.0)))
    none = rendered(copy, tmp_path)
    assert "<sup>†" not in none
    storage.write_table(path, frame.with_columns(p_adjusted=pl.lit(0.0)))
    every = rendered(copy, tmp_path)
    assert "‡</sup>" not in every
    with (tmp_path / "report" / "tables" / "results-MQ2008.csv").open() as file:
        models = len(list(csv.DictReader(file)))
    table = every[every.index('id="table-results-MQ2008"') :]
    # All but the best learner and the control that sees the labels.
    assert table[: table.index("</table>")].count("<sup>†</sup>") == 2 * (models - 2)


def test_latex_is_escaped_and_complete(report: Path) -> None:
    for path in sorted((report / "tables").glob("*.tex")):
        text = path.read_text(encoding="utf-8")
        assert text.count("{") - text.count("\\{") == text.count("}") - text.count("\\}")
        body = text[text.index("\\toprule") : text.index("\\bottomrule")]
        columns = len(re.search(r"\\begin\{tabular\}\{([lr]+)\}", text)[1])  # type: ignore[index]
        for line in body.splitlines():
            if line.endswith("\\\\") and "multicolumn" not in line:
                assert len(re.findall(r"(?<!\\)&", line)) == columns - 1
                assert not re.search(r"(?<!\\)[%#_]", line)


def test_the_same_results_give_the_same_bytes(study: Path, report: Path, tmp_path: Path) -> None:
    made_study.report(study, tmp_path / "again")
    first = {path.relative_to(report): path.read_bytes() for path in report.rglob("*") if path.is_file()}
    again = tmp_path / "again"
    second = {path.relative_to(again): path.read_bytes() for path in again.rglob("*") if path.is_file()}
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []


def notes(text: str, *words: str) -> set[str]:
    """The paragraphs and items of a page that hold all of these words."""
    written = {
        re.sub(r"<[^>]+>", "", found) for found in re.findall(r"<(?:p|li)\b.*?</(?:p|li)>", text, flags=re.DOTALL)
    }
    return {note for note in written if all(word in note for word in words)}


@pytest.mark.parametrize(
    ("absent", "without", "named"),
    [
        ("tables/comparisons.parquet", "table-tests-MQ2008-map", True),
        ("tables/training.parquet", "table-training-MQ2008", True),
        ("tables/published.parquet", "table-published", True),
        ("tables/measures.parquet", "", False),
        ("tables/validation.parquet", "figure-validation-MQ2008", False),
        ("tables/summary.parquet", "results-MQ2008", True),
        ("models.json", "method-erm-listnet", True),
        ("provenance.json", "", True),
        ("configuration.yaml", "table-tests-MQ2008-map", True),
        ("availability.json", "not-studied", False),
        ("data/", "data-MQ2008", True),
    ],
)
def test_the_page_names_what_is_absent_and_does_without(
    copy: Path, report: Path, tmp_path: Path, absent: str, without: str, named: bool
) -> None:
    path = copy / absent
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    before, text = (report / "report.html").read_text(encoding="utf-8"), rendered(copy, tmp_path)
    assert bool(notes(text, absent) - notes(before)) == named
    page = Page(text)
    assert page.open == []
    assert not without or without in set(Page(before).ids) - set(page.ids)


def test_text_that_the_catalogue_does_not_know_is_not_vouched_for(copy: Path, tmp_path: Path) -> None:
    path = copy / "data/MQ2008.json"
    description = storage.read_json(path)
    description["parts"][1]["verified"] = False
    storage.write_json(path, description)
    rendered(copy, tmp_path)
    with (tmp_path / "report/tables/parts-MQ2008.csv").open(newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    assert [row["verified"] == "as in the catalogue" for row in rows] == [True, False, True, True, True]
    assert rows[1]["sha256"] == description["parts"][1]["sha256"]


def test_an_empty_study_still_gives_a_page(tmp_path: Path) -> None:
    (tmp_path / "results" / "empty").mkdir(parents=True)
    text = rendered(tmp_path / "results" / "empty", tmp_path)
    assert set(re.findall(r'<article class="claim ([\w-]+)', text)) == {"not-run"}
    assert Page(text).open == []
    document = json.loads((tmp_path / "report" / "claims.json").read_text())
    assert document["counts"]["all"]["not-run"] == len(readings.ledger_of_claims())


def test_malformed_tables_are_errors(copy: Path, tmp_path: Path) -> None:
    path = copy / "tables" / "summary.parquet"
    frame = pl.read_parquet(path)
    storage.write_table(path, frame.with_columns(mean=pl.lit(float("nan"))))
    with pytest.raises(DataError, match=r"summary\.parquet: row 0, column mean: expected a finite number, found nan"):
        rendered(copy, tmp_path)
    path.write_text("text")
    with pytest.raises(DamagedFileError, match=r"summary\.parquet"):
        rendered(copy, tmp_path)
    with pytest.raises(DataError, match="run the study first"):
        ResultsFolder.at(tmp_path / "nowhere")


def test_a_model_that_is_not_trained_is_named_in_every_results_table(copy: Path, tmp_path: Path) -> None:
    models = storage.read_json(copy / "models.json")
    assert "Not trained" not in rendered(copy, tmp_path)
    left_out = {**models["models"][-1], "model": "trees", "title": "Boosted <trees>", "control": False}
    left_out["untrained"] = "lightgbm is not installed (pip install lightgbm)"
    storage.write_json(copy / "models.json", {"models": [*models["models"], left_out]})
    text = rendered(copy, tmp_path)
    words = "Not trained: Boosted &lt;trees&gt;: lightgbm is not installed (pip install lightgbm)."
    tables = len(list((tmp_path / "report" / "tables").glob("results-*.csv")))
    assert text.count(words) == 1 + tables > 1  # the overview, and every table


def test_a_paper_adds_a_page_by_its_name(study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "cone"
    shutil.copytree(FOLDER / "cone", folder)
    (folder / "page.md").write_text("# Cones\n\nOf {{ 'all kinds' }}.\n", encoding="utf-8")
    monkeypatch.setattr(Paper, "folder", property(lambda self: folder if self.name == "cone" else FOLDER / self.name))
    monkeypatch.setattr(papers, "page_of", lambda paper: None)
    text = rendered(study, tmp_path)
    headings = re.findall(r"<h2[^>]*>([^<]+?) *<", text)
    assert "<p>Of all kinds.</p>" in text
    assert headings.index("MQ2008") < headings.index("Cones") < headings.index("The table of claims")


def test_a_learner_that_ends_at_zero_is_named(copy: Path, tmp_path: Path) -> None:
    path = copy / "tables/training.parquet"
    training = pl.read_parquet(path)
    still = (pl.col("model") == "erm-slam-ndcg") & (pl.col("dataset") == "MQ2008") & (pl.col("fold") < 4)
    norm = pl.when(still).then(0.0).when(pl.col("algorithm") == "erm").then(1.5).alias("norm")
    storage.write_table(path, training.with_columns(norm))
    [note] = notes(rendered(copy, tmp_path), "w = 0", "SLAM-NDCG")
    assert re.findall(r"\d+", note.partition("SLAM-NDCG")[2]) == ["3", "5"]


HOSTILE = (
    *("[x](javascript:alert(1))", "[y](#claims)", "`code` \\`", "{study} {{z}}", "$a_{b$"),
    *("<script>alert(1)</script>", "5 % \\[ \"q\" 'p' & \\"),
)


def words_of(text: str) -> str:
    """All text of a page, without its tags."""
    return "".join(html5lib.parse(text, namespaceHTMLElements=False).itertext())


def test_titles_are_text_wherever_they_are_shown(copy: Path, report: Path, tmp_path: Path) -> None:
    models = storage.read_json(copy / "models.json")
    for title, entry in zip(HOSTILE, models["models"], strict=True):
        entry["title"] = title
    storage.write_json(copy / "models.json", models)
    for path in (copy / "data").glob("*.json"):
        storage.write_json(path, {**storage.read_json(path), "title": " ".join(HOSTILE)})
    with (copy / "configuration.yaml").open("a", encoding="utf-8") as file:
        yaml.safe_dump({"title": " ".join(HOSTILE)}, file)
    made_study.report(copy, tmp_path / "report")
    text, before = (folder.joinpath("report.html").read_text() for folder in (tmp_path / "report", report))
    assert sorted(set(Page(text).links)) == sorted(set(Page(before).links))
    assert Page(text).loaded == Page(before).loaded
    assert text.count("<script") == before.count("<script")
    assert text.count("<code>") == before.count("<code>")
    words = words_of(text)
    for title in HOSTILE:
        assert title in words
    [heading] = re.findall(r"<h1>(.*?)</h1>", text, re.DOTALL)
    assert words_of(heading) == " ".join(HOSTILE)
    latex = "".join(path.read_text() for path in (tmp_path / "report/tables").glob("*.tex"))
    assert "\\$a\\_\\{b\\$" in latex
    assert not re.search(r"^ +[\[*]", latex, re.MULTILINE)
    assert not re.search(r"(?<!\\)%(?! needs)", latex)


def test_labels_of_figures_are_no_formulas(tmp_path: Path) -> None:
    def found(label: str) -> str:
        def draw() -> figures.Drawing:
            points = [(1.0, 1.0, 0.5, 1.5), (10.0, 2.0, 1.5, 2.5)]
            return figures.line_plot({"": {label: points}}, xlabel=label, ylabel=label, log="xy")

        figure = figures.Figure("f", label, label, "s", label, draw)
        figures.save(figure, tmp_path)
        return (tmp_path / "f.svg").read_text()

    for label in ("a $x", "$x$", "$a_{b$", "\\frac{$", "_hidden"):
        # Title, two axes and legend; title and description of the SVG are not among the texts that are drawn.
        assert [text.strip() for text in re.findall(r"<text [^>]*>([^<]*)</text>", found(label))].count(label) == 4


@pytest.mark.parametrize("control", [False, True])
def test_a_legend_explains_only_what_is_drawn(control: bool) -> None:
    means = figures.Measured(0.5, 0.4, 0.6)
    rows = [("a", {"learner": means}), ("b", {"control" if control else "learner": means})]
    [legend] = figures.row_plot({"ndcg": rows}, xlabel="mean").legends
    assert len(legend.get_texts()) == 1 + control
