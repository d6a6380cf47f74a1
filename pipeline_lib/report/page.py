r"""How does a template become a section of the report?

``pipeline_lib/papers/<paper>/page.md``, a paper's page, is a Jinja template in Markdown: prose with numbers in it. It
may include parts, ``{% include "page/regret.md" %}``, and it can use

    has("topk-regret")                      whether the study has this table
    matching("lists-*")                     the names of the tables that match a pattern
    rows("topk-regret", surrogate="kl")     its rows (pipeline_lib.report.queries)
    {% set last | sql %}                    the answer to a query, by name
      SELECT ... FROM "topk-regret"
    {% endset %}
    claims("topk-thm41", "topk-thm42")      shows claims with their verdicts; every claim stands on its page once
    verdict("topk-thm41")                   the sign and name of a claim's status, with a link, for running text
    trials("topk-thm41", "regret_exponent")  rows of its trials that have these values: settings and values; x_low
                                            and x_high are the ends of the interval of x, or x itself
    model_title("erm-listnet")              what a model of the study is called
    measure_title("ndcg@10")                what a measure is called
    table(...), col(...)                    a table (pipeline_lib.report.tables)
    lines(...), heat(...), against(...), curves(...), power(...)
                                            figures (pipeline_lib.report.declared_figures)
    finding("...", falls("gap"), otherwise="...")
                                            their titles, where they state what came out (pipeline_lib.report.titles)
    chain_figure(...), chain_overview(...), chain_summary(...), chain_steps(...), chains(...), largest_chains(...)
                                            from measurements to bounds (pipeline_lib.report.chains)
    count(3, "query", "queries")            a number with its noun
    definitions(pairs), listing(text)       terms with their meanings, text as it stands
    interactive("stream")                   what explore.js draws for numbers that the reader moves

and the filters ``listed`` and ``code``. What a template inserts is
text, never markup, unless the filter ``markdown`` says that it is.

The page of a paper is an argument in fixed prose, in which claims, tables and figures are placed. It does not compute,
compare or choose words: ``{% if %}`` asks only whether there are rows, and what came out is said by the claims. A
number in a sentence is a cell of a table or a value of a claim, and comes with its words:

    {{ rows("lists-constants") | at_most("searched", 3) }}    "at most 2.01": the largest, rounded up
    {{ trials("lists-thm9", "x") | at_least("x", 2) }}        "at least 1.53": the smallest, rounded down
    {{ rows("lists-ranksvm") | stated("exponent", 2) }}       "2.00 [1.99, 2.01]": one value, with its interval

Limits are those of the intervals where there are any. Rows that say nothing (``vacuous``, or not ``informative``) are
left out, and a number that a query computed is refused. A shape that cannot be declared
is a function of the paper's ``page.py``, which hands it in: ``FUNCTIONS = {"ladder": ladder}``. What the front page
says of the paper, a few findings with their decisive figures, is ``findings.md``: a template of the same kind, without
a heading. The sections that every report has are templates as well, in ``report/templates``, to which the modules of
their names hand what they show; there, a table may also be made of mappings, with its source by name.
"""

import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateError, TemplateSyntaxError, pass_context
from markupsafe import Markup

from pipeline_lib import papers
from pipeline_lib.claims.judged import JudgedClaim, JudgedStudy
from pipeline_lib.claims.trials import Trial
from pipeline_lib.core.errors import DataError, hint
from pipeline_lib.core.markup import Direction, count, listed, rounded
from pipeline_lib.report import chains, declared_figures, markdown, proofs_section, tables, titles
from pipeline_lib.report.blocks import TEMPLATES, Block, Definitions, Interactive, Listing, Section
from pipeline_lib.report.claims_section import ClaimList, linked
from pipeline_lib.report.queries import Rows, Tables
from pipeline_lib.report.results import ResultsFolder
from pipeline_lib.report.study import measure_title
from pipeline_lib.report.tables import whole
from pipeline_lib.statistics import Interval

FILTERS: Mapping[str, Callable[..., str]] = {
    "whole": lambda value: whole(round(value)).text,
    "stated": lambda rows, column, digits=None, form=None: _stated(rows, column, digits, form),
    "at_least": lambda rows, column, digits=None, form=None: _limit(rows, column, digits, form, "down"),
    "at_most": lambda rows, column, digits=None, form=None: _limit(rows, column, digits, form, "up"),
    "code": lambda words: Markup(f"`{words}`") if "`" not in words else words,
    "listed": lambda values: listed([str(value) for value in values]),
}


UNINFORMATIVE = "(no informative value)"
"""Stands for the number of a sentence whose rows say nothing."""
OF_ALL: Mapping[str, Any] = {
    **{name: getattr(tables, name) for name in ("table", "col")},
    **{name: getattr(declared_figures, name) for name in ("curves", "power", "lines", "heat", "against")},
    "finding": titles.finding,
    **{rule.__name__: rule for rule in titles.RULES},
    "chain_figure": chains.figure,
    "chains": chains.chains,
    "largest_chains": chains.largest,
    "chain_overview": chains.overview,
    "chain_summary": chains.summary,
    "chain_steps": chains.steps,
    "measure_title": measure_title,
    "count": count,
    "definitions": lambda entries: Definitions(tuple(entries)),
    "listing": Listing,
    "interactive": Interactive,
}
"""What a template can use without a study."""


class PaperPages:
    """The templates of all papers and of the report, with the results and judgements of one study.

    All methods raise a :class:`DataError` that names file and line when a template is wrong or needs a table or column
    that is not there.
    """

    def __init__(self, results: ResultsFolder, claims: JudgedStudy) -> None:
        self._functions = _functions(results, claims)

    def story(self, paper: str) -> Section | None:
        """The section of one paper; None where it has no page, or where nothing of it has run.

        A topic that ``paper.toml`` does not name was added as a folder: its page stands at the end.
        """
        return markdown.section(*self._of_paper(paper, "page.md", *papers.get(paper).added("page.md")), paper)

    def findings(self, paper: str) -> list[Block]:
        """What the front page says of a paper: its template ``findings.md``, which has no heading."""
        return markdown.blocks(*self._of_paper(paper, "findings.md"))

    def section(self, name: str, place: str, **given: Any) -> Section | None:
        """A section that every report has, from its template and what that is given; None where it is empty."""
        return markdown.section(*_rendered(TEMPLATES, (f"{name}.md",), {**self._functions, **given}), place)

    def _of_paper(self, paper: str, name: str, *added: str) -> tuple[str, list[Block]]:
        folder = papers.get(paper).folder
        if not (folder / name).is_file():
            return "", []
        return _rendered(folder, (name, *added), {**self._functions, **papers.page_functions(paper)})


def _rendered(folder: Path, names: Sequence[str], given: Mapping[str, Any]) -> tuple[str, list[Block]]:
    """The text of templates, one after the other, and the blocks of their placeholders."""
    held: list[Block] = []
    try:
        texts = [environment(folder).get_template(name).render(given, _held=held) for name in names]
    except (TemplateError, DataError) as error:
        raise DataError(f"{_place(error, folder, names[0])}: {error}") from error
    return proofs_section.linked("\n\n".join(texts)), held


@cache
def environment(folder: Path) -> Environment:
    """The templates of one folder, each compiled once; what they insert is text, or the placeholder of a block."""

    @pass_context
    def shown(context: Mapping[str, Any], value: Any) -> Any:
        if hasattr(type(value), "block"):
            context["_held"].append(value)
            return Markup(markdown.placeholder(len(context["_held"]) - 1))
        if isinstance(value, int | float) and folder != TEMPLATES:
            raise DataError(f"expected text, found the number {value}; at_least, at_most and stated show numbers")
        return value if isinstance(value, Markup) else Markup(markdown.escaped(str(value)))

    made = Environment(
        loader=FileSystemLoader(folder),
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.do"],
        comment_start_string="<!--",  # {#place} is the address of a part
        comment_end_string="-->",
    )
    made.filters |= {**FILTERS, "markdown": Markup, "sql": pass_context(lambda context, query: context["sql"](query))}
    return made


def _functions(results: ResultsFolder, claims: JudgedStudy) -> dict[str, Any]:
    tables = Tables(results)
    by_id = {claim.id: claim for claim in claims.claims}
    model_titles = {entry["model"]: entry["title"] for entry in results.listed("models")}

    def claim(name: str) -> JudgedClaim:
        if name not in by_id:
            raise DataError(f"unknown claim {name!r}; {hint(name, by_id)}")
        return by_id[name]

    def trials(name: str, *needed: str) -> Rows:
        found = (_row(trial) for trial in claim(name).trials if all(value in trial.values for value in needed))
        return Rows(found, tuple(PurePosixPath(table).stem for table in claim(name).tables))

    return {
        **OF_ALL,
        "has": tables.has,
        "matching": tables.matching,
        "rows": tables.rows,
        "sql": tables.sql,
        "claims": lambda *names: ClaimList(tuple(claim(name) for name in names)),
        "verdict": lambda *names: Markup(", ".join(linked(name, claim(name).status) for name in names)),
        "trials": trials,
        "holds": lambda name: titles.claim(claim(name), *titles.HOLDS),
        "refuted": lambda name: titles.claim(claim(name), "refuted"),
        "model_title": lambda name: model_titles.get(name, name),
    }


def _row(trial: Trial) -> dict[str, Any]:
    """Setting and values of a trial as one row."""
    row = dict(trial.setting)
    for name, value in trial.values.items():
        ends = value if isinstance(value, Interval) else Interval(value, value, value)
        row |= {name: ends.value, f"{name}_low": ends.low, f"{name}_high": ends.high}
    return row


def _stated(rows: Rows, column: str, digits: int | None, form: tables.Form | None) -> str:
    """The value of a column that all rows share, with its interval, whose ends are rounded outwards."""
    found = set(rows.intervals(column))
    if len(found) > 1:
        raise DataError(f"{rows.source}: expected one value of {column}, found {len(found)}")
    for value, low, high in found:
        ends = f"{_rounded(low, digits, form, 'down')}, {_rounded(high, digits, form, 'up')}"
        return tables.shown_as(value, form, digits).text + (f" [{ends}]" if low < high else "")
    return UNINFORMATIVE


def _limit(rows: Rows, column: str, digits: int | None, form: tables.Form | None, direction: Direction) -> str:
    """The limit of the values of a column: their smallest with "at least", or their largest with "at most"."""
    found = rows.intervals(column)
    if not found:
        return UNINFORMATIVE
    if direction == "down":
        return f"at least {_rounded(min(low for _, low, _ in found), digits, form, direction)}"
    return f"at most {_rounded(max(high for *_, high in found), digits, form, direction)}"


def _rounded(value: float, digits: int | None, form: tables.Form | None, direction: Direction) -> str:
    """A number rounded in one direction, to so many decimals (of per cent), or else to three significant digits."""
    if digits is not None:
        shown = rounded(value, direction, decimals=digits + (2 if form == "percent" else 0))
    elif 1e3 <= abs(value) < 1e7:  # such numbers are shown whole
        shown = rounded(value, direction, decimals=0)
    else:
        shown = rounded(value, direction, digits=3)
    return tables.shown_as(shown, form, digits).text


def _place(error: Exception, folder: Path, name: str) -> str:
    """File and line of the template that an error comes from."""
    if isinstance(error, TemplateSyntaxError):
        return f"{error.filename or error.name}:{error.lineno}"
    lines = [one for one in traceback.extract_tb(error.__traceback__) if one.filename.startswith(str(folder))]
    return f"{lines[-1].filename}:{lines[-1].lineno}" if lines else str(folder / name)
