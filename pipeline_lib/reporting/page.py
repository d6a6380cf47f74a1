r"""How does a paper's page become a section of the report?

``pipeline_lib/papers/<paper>/page.md`` is a Jinja template in Markdown: prose with numbers in it. It may include parts,
``{% include "page/regret.md" %}``, and it can use

    has("topk-regret")                      whether the study has this table
    matching("lists-real-*")                the names of the tables that match a pattern
    rows("topk-regret", surrogate="kl")     its rows (pipeline_lib.reporting.queries)
    {% set last | sql %}                    the answer to a query, by name
      SELECT ... FROM "topk-regret"
    {% endset %}
    claim("topk-thm41").status              what the evidence says of a claim
    claims("topk-thm41", "topk-thm42")      shows claims with their verdicts; every claim stands on its page once
    trials("topk-thm41", "regret_exponent")  rows of its trials that have these values: settings and values; x_low
                                            and x_high are the ends of the interval of x, or x itself
    setting("topk", "figure")               a value of the configuration
    model_title("erm-listnet")              what a model of the study is called
    measure_title("ndcg@10")                what a measure is called
    table(...), col(...)                    a table (pipeline_lib.reporting.declared_tables)
    lines(...), panels(...), heat(...), against(...), curves(...), power(...), thinned(...)
                                            figures (pipeline_lib.reporting.declared_figures)
    waterfall(...), chains(...), largest_chains(...), chain_summary(...), chain_steps(...)
                                            from measurements to bounds (pipeline_lib.reporting.waterfalls)

and the filters ``number``, ``short`` (three significant digits), ``whole``, ``percent``, ``listed``, ``code`` and
``called`` (the words for a value, from a mapping); ``at_least`` and ``at_most`` round a limit down and up. What a
template inserts is text, never markup, unless the filter ``markdown`` says that it is. A shape that cannot be declared
is a function of the paper's ``page.py``, which hands it in: ``FUNCTIONS = {"ladder": ladder}``. What the front page
says of the paper, a few findings with their decisive figures, is ``findings.md``: a template of the same kind, without
a heading.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from pipeline_lib import papers
from pipeline_lib.claims.evidence import Interval, Trial
from pipeline_lib.claims.judged import JudgedClaim, JudgedStudy
from pipeline_lib.errors import DataError, hint
from pipeline_lib.markup import listed
from pipeline_lib.reporting import declared_figures, declared_tables, markdown, waterfalls
from pipeline_lib.reporting.blocks import Block, Section
from pipeline_lib.reporting.claims_section import ClaimList
from pipeline_lib.reporting.figures import Figure
from pipeline_lib.reporting.queries import Rows, Tables
from pipeline_lib.reporting.results import ResultsFolder
from pipeline_lib.reporting.study import measure_title
from pipeline_lib.reporting.tables import Table, number, scientific, whole

if TYPE_CHECKING:
    from jinja2 import Environment

DECLARING = ("curves", "power", "thinned", "lines", "panels", "heat", "against")
"""What a template uses of :mod:`pipeline_lib.reporting.declared_figures`."""
FILTERS: Mapping[str, Callable[..., str]] = {
    "number": lambda value, digits=4, signed=False: number(value, digits, signed=signed).text,
    "short": lambda value: scientific(value).text,
    "whole": lambda value: whole(round(value)).text,
    "percent": lambda value, digits=0: declared_tables.shown_as(value, "percent", digits).text,
    "at_least": lambda value, digits=None, form=None: _rounded(value, digits, form, ROUND_FLOOR),
    "at_most": lambda value, digits=None, form=None: _rounded(value, digits, form, ROUND_CEILING),
    "called": lambda value, names: str(names.get(value, value)),
    "code": lambda words: _code(words),
    "listed": lambda values: listed([str(value) for value in values]),
}


class PaperPages:
    """The templates of all papers, with the results and judgements of one study.

    Both methods raise a :class:`DataError` that names file and line when a template is wrong or needs a table or column
    that is not there.
    """

    def __init__(self, results: ResultsFolder, claims: JudgedStudy) -> None:
        self._functions = _functions(results, claims)

    def story(self, paper: str) -> Section | None:
        """The section of one paper; None where it has no page, or where nothing of it has run."""
        text, held = self._rendered(paper, "page.md")
        return markdown.section(text, paper, held)

    def findings(self, paper: str) -> list[Block]:
        """What the front page says of a paper: its template ``findings.md``, which has no heading."""
        text, held = self._rendered(paper, "findings.md")
        return markdown.blocks(text, held)

    def _rendered(self, paper: str, name: str) -> tuple[str, list[Block]]:
        """The text of a template, nothing where the paper has none, and the blocks of its placeholders."""
        from jinja2 import TemplateError
        from markupsafe import Markup

        if not (papers.get(paper).folder / name).is_file():
            return "", []
        held: list[Block] = []

        def shown(value: Any) -> Any:
            if isinstance(value, Table | Figure | ClaimList):
                held.append(value)
                return Markup(markdown.placeholder(len(held) - 1))
            if isinstance(value, Markup):
                return value
            return Markup(markdown.escaped(str(value)))

        environment = _environment(papers.get(paper).folder, shown)
        functions = {**self._functions, **papers.page_functions(paper)}
        environment.filters["sql"] = functions["sql"]
        environment.globals |= functions
        try:
            return environment.get_template(name).render(), held
        except (TemplateError, DataError) as error:
            raise DataError(f"{_place(error, paper)}: {error}") from error


def _environment(folder: Path, shown: Callable[[Any], Any]) -> Environment:
    """The templates of one folder; what they insert goes through ``shown``."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(folder),
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.do"],
        comment_start_string="<!--",  # {#place} is the address of a part
        comment_end_string="-->",
    )
    environment.filters |= {**FILTERS, "markdown": Markup}
    return environment


def _functions(results: ResultsFolder, claims: JudgedStudy) -> dict[str, Any]:
    tables = Tables(results)
    by_id = {claim.id: claim for claim in claims.claims}
    titles = {entry["model"]: entry["title"] for entry in results.models()}

    def claim(name: str) -> JudgedClaim:
        if name not in by_id:
            raise DataError(f"unknown claim {name!r}; {hint(name, by_id)}")
        return by_id[name]

    def trials(name: str, *needed: str) -> Rows:
        found = (_row(trial) for trial in claim(name).trials if all(value in trial.values for value in needed))
        return Rows(found, tuple(PurePosixPath(table).stem for table in claim(name).tables))

    return {
        "has": tables.has,
        "matching": tables.matching,
        "rows": tables.rows,
        "sql": tables.sql,
        "claim": claim,
        "claims": lambda *names: ClaimList(tuple(claim(name) for name in names)),
        "trials": trials,
        "setting": results.setting,
        "measure_title": measure_title,
        "model_title": lambda name: titles.get(name, name),
        "table": declared_tables.table,
        "col": declared_tables.col,
        **{name: getattr(declared_figures, name) for name in DECLARING},
        "waterfall": waterfalls.waterfall,
        "chains": waterfalls.chains,
        "largest_chains": waterfalls.largest,
        "chain_summary": waterfalls.summary,
        "chain_steps": waterfalls.steps,
        "max": max,
        "min": min,
        "zip": zip,
    }


def _row(trial: Trial) -> dict[str, Any]:
    """Setting and values of a trial as one row."""
    row = dict(trial.setting)
    for name, value in trial.values.items():
        ends = value if isinstance(value, Interval) else Interval(value, value, value)
        row |= {name: ends.value, f"{name}_low": ends.low, f"{name}_high": ends.high}
    return row


def _rounded(value: float | None, digits: int | None, form: declared_tables.Form | None, direction: str) -> str:
    """A number rounded in one direction, to so many decimals (of per cent), or else to three significant digits."""
    if value is None:
        return declared_tables.shown_as(None).text
    exact = Decimal(f"{value:.9g}")  # what arithmetic adds in the last digits is no reason to round
    if digits is None:
        last = min(0, exact.adjusted() - 2) if exact.adjusted() < 7 else exact.adjusted() - 2
    else:
        last = -digits - (2 if form == "percent" else 0)
    shown = float(exact.quantize(Decimal(1).scaleb(last), rounding=direction))
    return declared_tables.shown_as(shown, form, digits).text


def _code(words: str) -> str:
    from markupsafe import Markup

    return Markup(f"`{words}`") if "`" not in words else words


def _place(error: Exception, paper: str) -> str:
    """File and line of the template that an error comes from."""
    import traceback

    from jinja2 import TemplateSyntaxError

    if isinstance(error, TemplateSyntaxError):
        return f"{error.filename or error.name}:{error.lineno}"
    folder = str(papers.get(paper).folder)
    lines = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(folder)]
    return f"{lines[-1].filename}:{lines[-1].lineno}" if lines else f"{folder}/page.md"
