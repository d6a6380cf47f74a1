"""Is the article whole: its parts, its formulas, its links, and the PDF where Typst is installed?"""

import logging
import re
import sys
from pathlib import Path
from xml.etree.ElementTree import fromstring

import made_study
import pytest

from pipeline_lib import papers
from pipeline_lib.claims import errata, judged
from pipeline_lib.core.errors import DataError
from pipeline_lib.report import article
from pipeline_lib.report.formulas import mathml
from pipeline_lib.report.typesetting import LATEX, TYPST, Dialect

FORMULAS = {
    r"x_i^2": ("attach(x, b: i, t: 2)", "{x}_{i}^{2}"),
    r"\max_{i \le m} s_i": ('attach(op("max", limits: #true), b: i ≤ m) attach(s, b: i)', r"{\max}_{i ≤ m} {s}_{i}"),
    r"\mathrm{NDCG}@k": (r'op("NDCG") op("@") k', r"\mathrm{NDCG} @ k"),
    r"\left(\frac{a}{b}\right]": (r"lr(\( frac(a, b) \])", r"\left( \frac{a}{b} \right]"),
    r"[0, 1)": (r"\[ 0 \, 1 \)", "[ 0 , 1 )"),
    r"\sqrt{x}": ("sqrt(x)", r"\sqrt{x}"),
    r"\bar{x}": ("overline(x)", r"\overline{x}"),
    r"\text{of }x": ('"of\u00a0" x', r"\text{of~} x"),
}


@pytest.mark.parametrize("tex", FORMULAS)
def test_a_formula_is_written_in_both_languages(tex: str) -> None:
    formula = fromstring(mathml(tex))
    assert (TYPST.formula(formula), LATEX.formula(formula)) == FORMULAS[tex]


@pytest.mark.parametrize("dialect", [TYPST, LATEX], ids=["typst", "latex"])
def test_what_cannot_be_shown_is_an_error(dialect: Dialect) -> None:
    with pytest.raises(DataError, match="<video>"):
        dialect.text("<video></video>")
    with pytest.raises(DataError, match="<mfoo>"):
        dialect.text("<math><mfoo></mfoo></math>")
    with pytest.raises(DataError, match="well formed"):
        dialect.text("<p>open")


def test_text_is_shown_as_it_is() -> None:
    assert TYPST.text("<p># 1 * 2 &lt;b&gt; $x$ @y</p>").strip() == r"\# 1 \* 2 \<b\> \$x\$ \@y"
    assert LATEX.text("<p># 1 &amp; 50 % {x}</p>").strip() == r"\# 1 \& 50 \% \{x\}"
    assert LATEX.text("<p>√m, uᵢ ∎</p>").strip() == r"\(√\)m, u\textsubscript{i} \(∎\)"


def test_every_formula_of_the_report_can_be_written(report: Path) -> None:
    found = set(re.findall(r"<math.*?</math>", (report / "report.html").read_text(encoding="utf-8"), re.DOTALL))
    assert found
    for formula in found:
        for dialect in (TYPST, LATEX):
            assert dialect.text(formula)


def test_the_figures_of_the_papers_are_those_of_their_pages() -> None:
    for paper in papers.every():
        said = "\n".join(
            path.read_text(encoding="utf-8") for path in paper.folder.rglob("*") if path.suffix in (".md", ".py")
        )
        # Some names are made of a beginning and a word.
        written = [(f'"{name}"', f'"{name.rpartition("-")[0]}-" ~') for name in paper.figures]
        assert [name for name, begun in written if name not in said and begun not in said] == []


def test_both_sources_have_all_claims_errata_and_works(report: Path) -> None:
    claims = [claim.id for claim in judged.read(report / "claims.json").claims if claim.paper not in papers.ours()]
    letters = [one.letter for one in errata.load() if one.where]
    typst, latex = ((report / f"article.{ending}").read_text(encoding="utf-8") for ending in ("typ", "tex"))
    assert re.findall(r'#claim\("([\w-]+)"\)', typst) == claims
    assert re.findall(r"\\label\{claim-([\w-]+)\}", latex) == claims
    for letter in letters:
        assert typst.count(f'#here("{errata.address(letter)}")') == 1
        assert latex.count(f"\\label{{{errata.address(letter)}}}") == 1
    assert '#entry("ref-novikoff-1962")' in typst
    assert "<proof-the-two-layer-gap>" in typst


def test_no_place_of_the_article_has_two_labels(report: Path) -> None:
    places = re.findall(r"\\label\{([^}]+)\}", (report / "article.tex").read_text(encoding="utf-8"))
    assert len(places) == len(set(places))


def test_braces_and_environments_of_the_latex_source_match(report: Path) -> None:
    text = re.sub(r"\\.", "", (report / "article.tex").read_text(encoding="utf-8").replace(r"\\", ""))
    assert text.count("{") == text.count("}")
    opened: list[str] = []
    for kind, name in re.findall(
        r"\\(begin|end)\{(\w+\*?)\}", (report / "article.tex").read_text(encoding="utf-8").replace(r"\\", " ")
    ):
        if kind == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert opened == []


def test_a_study_without_results_has_an_article(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    made_study.report(tmp_path / "results", tmp_path / "report", papers=())
    assert (tmp_path / "report/article.typ").is_file()


def test_without_typst_one_line_says_how_to_get_the_pdf(
    report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    (tmp_path / "article.typ").write_bytes((report / "article.typ").read_bytes())
    (tmp_path / "article.pdf").write_bytes(b"of an older study")
    with caplog.at_level(logging.WARNING):
        article._compile(tmp_path)
    assert [record.getMessage() for record in caplog.records] == [article.WITHOUT_ENGINE]
    assert [path.name for path in article.files(tmp_path)] == ["article.typ"]


def test_what_typst_refuses_is_no_end_of_the_study(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("typst")
    (tmp_path / "article.typ").write_text("#unknown", encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        article._compile(tmp_path)
    assert "unknown variable" in caplog.text
    assert not (tmp_path / "article.pdf").exists()


def test_the_same_results_give_the_same_pdf(study: Path, report: Path, tmp_path: Path) -> None:
    pytest.importorskip("typst")
    first = (report / "article.pdf").read_bytes()
    assert first.startswith(b"%PDF")
    assert 5 < len(re.findall(rb"/Type\s*/Page\b", first)) <= 40
    made_study.report(study, tmp_path / "made")
    assert (tmp_path / "made/article.pdf").read_bytes() == first
