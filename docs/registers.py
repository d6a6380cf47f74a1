"""Which pages are made from registers: surrogates, learners, measures and bounds by name, the records, the commands?

`python docs/registers.py` writes the page of what is new, which is kept with the others, below its introduction, and
the rows of published baselines.
"""

from __future__ import annotations

import csv
import inspect
import io
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from pipeline_lib import cli, learners, metrics, papers, surrogates
from pipeline_lib.claims import errata, novelty
from pipeline_lib.study import recorded
from pipeline_lib.study.recorded import Published, Record
from pipeline_lib.theory.list_bounds import MEANINGS, STATEMENTS

DOCS = Path(__file__).parent
WIDTH = 120
PUBLISHED = DOCS / "data" / "published-baselines.csv"
"""The file of published baselines."""

BASELINES = (
    "[Rows](data/published-baselines.csv): numbers that "
    "were published with the LETOR collections and in ConeRank's Table 1, beside those of the models that "
    "reproduce a row, in the studies above. Of the five-fold means of LETOR 4.0, those of AdaRank-MAP and ListNet are "
    "compared; its own results for every fold were not at hand, except for RankSVM-Struct on fold 1. P@1 to P@9 of "
    "LETOR 3.0 are left out. The standard error is that of our mean over the test queries; both rankers are measured "
    "on the same queries, so that a difference says more of the rankers than its size in standard errors suggests.\n\n"
    "On MQ2008 our AdaRank-MAP and ListNet stay below the published means. Three choices that the publications leave "
    "open were tried, and do not explain it: `listnet-raw` differs from `listnet` in the scale of the features and the "
    "measure by which a model is chosen, `adarank-map-repeats` from `adarank-map` in how often a feature is chosen. "
    "ListNet's loss is convex and is minimised to a certified gap here; how the published rankers were trained in "
    "detail, and when they stopped, is not known."
)


def pages(root: Path) -> dict[str, str]:
    """The name of a page -> its Markdown; ``root`` is the project's folder, whose Makefile and rules are read."""
    registers = (
        "# Registers",
        "What a configuration, a command or a script may name. In formulas, s are the scores of the m documents of a "
        "query, y their labels, G the gain and D the discount ([glossary](glossary.md)).",
        "## Surrogates",
        *_surrogates(),
        "## Learners",
        *_learners(),
        "## Measures",
        *_measures(),
        "## Bounds",
        *_bounds(),
        "## Errata",
        "Statements of the papers, and descriptions of data, that are wrong, loose, or in need of a second reading. "
        "The page “Errata” of the report has each with its evidence, as `pipeline_lib/papers/PAPER/errata.yaml` does.",
        _table(("letter", "place", "subject", "kind"), _errata()),
    )
    records = (
        "# Records",
        "What the records in `workflow/recorded/` say of studies that were run whole ([how to compare a run with "
        "them](where-results-may-differ.md)). Times are sums over all jobs on a machine that did other work as well. "
        "The claims themselves, and every paper section by section, are in the report of a study.",
        *_records(),
    )
    commands = (
        "# Commands",
        "`python -m pipeline_lib COMMAND` runs a command. The jobs of the workflow call the same commands. Where the "
        "package is installed, `pipeline-lib COMMAND` does the same.",
        *(text for name in cli.FOR_PEOPLE for text in _command(name)),
        "## Commands of the workflow's jobs",
        "`python -m pipeline_lib COMMAND --help` has their options.",
        _table(("command", "what it does"), ((f"`{name}`", cli.summary(name)) for name in cli.for_jobs())),
        "## make",
        _table(("command", "what it does"), _of_make(root)),
        "## Rules of the workflow",
        "`snakemake --cores N RULE` runs a rule without wildcards and what it needs; the other rules are reached "
        "through the files that they make. The name of a paper is a rule as well: it runs the paper's experiments.",
        _table(("rule", "what it does"), _rules(root)),
    )
    made = {"registers": registers, "records": records, "commands": commands}
    return {name: "\n\n".join(filter(None, lines)) + "\n" for name, lines in made.items()}


def _surrogates() -> Iterator[str]:
    yield (
        "The losses that replace a ranking measure in training: `surrogate: NAME` of a model, or "
        "`surrogates.create(NAME, ...)`."
    )
    for name in surrogates.NAMES:
        made = surrogates.create(name.replace("@k", "@10"))
        traits = [word for word, holds in (("convex", made.convex), ("smooth", made.smooth)) if holds]
        yield f"### `{name}`"
        yield f"$${made.formula}$$"
        known = ", ".join(traits).capitalize() or "Neither convex nor smooth"
        kind = type(made)
        yield f"{known}. {{py:class}}`{kind.__module__}.{kind.__name__}`."


def _learners() -> Iterator[str]:
    yield "`algorithm: NAME` of a model, or `learners.create(NAME, ...)`."
    for name in learners.NAMES:
        learner = learners.get(name)
        yield f"### `{name}`"
        yield " ".join((inspect.getdoc(learner.settings) or "").split())
        yield f"$${learner.formula}$$"
        facts = ["a control, with which learners are compared"] if learner.control else []
        facts += ["minimises a `surrogate`"] if learner.with_surrogate else []
        facts += [f"needs the extra `{learner.requires}`"] if learner.requires else []
        if learner.settings.model_fields:
            facts.append("its [settings](settings.md)")
        if facts:
            yield "; ".join(facts)[0].upper() + "; ".join(facts)[1:] + "."


def _measures() -> Iterator[str]:
    yield "Names in `evaluation.measures`, `headline` and `compared`; K stands for a rank."
    for name in metrics.NAMES:
        yield f"### `{name}`"
        yield f"$${metrics.get(name.replace('@K', '@10')).formula}$$"


def _bounds() -> Iterator[str]:
    yield (
        "`theory.list_bounds.evaluate(NAME, ...)`: what a bound of `lists` adds to a risk. All need n, m, the "
        "radius and the norm of the features."
    )
    rows = []
    for name, one in STATEMENTS.items():
        needs = "; ".join(MEANINGS[need] for need in one.needs)
        losses = [word for word, holds in _losses(one.convex, one.non_negative, one.unit_losses) if holds]
        holds = f"all rankers of an {one.ball} ball" if one.ball else "the ranker of the learner"
        rows.append((f"`{name}`", one.place, needs, ", ".join(losses) or "any", holds))
    yield _table(("name", "place", "it also needs", "losses", "holds for"), rows)


def _errata() -> Iterator[tuple[str, ...]]:
    for one in errata.load():
        yield one.letter, one.place or "a description of data", one.subject, one.kind


def _losses(convex: bool, non_negative: bool, unit: bool) -> tuple[tuple[str, bool], ...]:
    return (("convex", convex), ("not negative", non_negative), ("in [0, 1]", unit))


def _records() -> Iterator[str]:
    """Every study of which there is a record, and each of its claims whose status is not that of the default study."""
    default = recorded.read("default")
    records = [default, *(recorded.read(name) for name in recorded.names() if name != "default")]
    head = ("study", "date", "code", "minutes of all jobs", "cores", "tables", "claims by status")
    yield _table(head, map(_of_record, records))
    for record in records[1:]:
        moved = [
            (f"`{name}`", default.claims[name].status, claim.status, claim.why)
            for name, claim in record.claims.items()
            if claim.status not in ("not-run", default.claims[name].status)
        ]
        if moved:
            yield f"In the study `{record.study}`, these claims have another status than in the default study:"
            yield _table(("claim", "default study", record.study, "why"), moved)
    yield "## Time and memory"
    yield (
        "Of the jobs of each paper, in the default study and at full scale: the sum of their times, the time of the "
        "longest, and the memory of the largest."
    )
    full = {paper.name: f"{paper.name}-paper-scale" for paper in papers.every()}
    yield _table(
        ("paper", "default study", "longest job", "memory", "full scale", "longest job", "memory"),
        [
            (f"`{name}`", *_of_costs(default, name), *_of_costs(recorded.read(study), name))
            for name, study in full.items()
            if study in recorded.names()
        ],
    )
    yield "## Published baselines, and ours"
    yield BASELINES


def baselines() -> str:
    """The published baselines beside ours, as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ("data set", "model", "measure", "folds", "published", "ours", "difference", "in standard errors", "source")
    )
    studies = ("default", *(name for name in recorded.names() if name != "default"))
    writer.writerows(_of_published(one) for name in studies for one in recorded.read(name).published)
    return text.getvalue()


def _of_costs(record: Record, paper: str) -> tuple[str, ...]:
    cost = record.costs[paper]
    return f"{cost.seconds:,.0f} s", f"{cost.longest:,.0f} s", f"{cost.megabytes:,.0f} MB"


def _of_published(one: Published) -> tuple[str, ...]:
    difference = one.measured - one.published
    errors = "" if one.in_standard_errors is None else f"{one.in_standard_errors:+.1f}"
    numbers = (f"{one.published:.4f}", f"{one.measured:.4f}", f"{difference:+.4f}", errors)
    return one.dataset, one.model, one.measure, one.folds.replace("-", " to "), *numbers, one.source


def _of_record(record: Record) -> tuple[str, ...]:
    counts = Counter(claim.status for claim in record.claims.values())
    del counts["not-run"]
    return (
        f"`{record.study}`",
        record.made_with["time"][:10],
        record.made_with["code"],
        f"{sum(cost.seconds for cost in record.costs.values()) / 60:.0f}",
        str(record.made_with["cores"]),
        str(len(record.tables)),
        ", ".join(f"{status} {number}" for status, number in counts.most_common()),
    )


def _command(name: str) -> Iterator[str]:
    yield f"## {name}"
    yield f"```text\n{cli.parser(name).format_help().strip()}\n```"


def _of_make(root: Path) -> Iterator[tuple[str, str]]:
    """What the comment at the head of the Makefile says of its targets."""
    for line in (root / "Makefile").read_text(encoding="utf-8").splitlines():
        found = re.match(r"# (make(?: [a-z-]+)?) {2,}(.+)", line)
        if found is None:
            return
        yield f"`{found[1]}`", found[2]


def _rules(root: Path) -> Iterator[tuple[str, str]]:
    """The rules of the workflow with the first sentences of their docstrings."""
    for path in (root / "workflow/Snakefile", *sorted((root / "workflow/rules").glob("*.smk"))):
        text = path.read_text(encoding="utf-8")
        for name, words in re.findall(
            r'^ *(?:rule|use rule \w+ as) (\w+)[^\n]*:\n *"""(.+?)"""', text, re.MULTILINE | re.DOTALL
        ):
            yield f"`{name}`", " ".join(words.split("\n\n")[0].split())


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    cells = (head, ("---",) * len(head), *((text.replace("|", "\\|") for text in row) for row in rows))
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def with_novelty(page: str) -> str:
    """The page of what is new: its introduction as it is, then every result with its nearest works and its verdict."""
    parts = [page.partition("\n## ")[0].rstrip()]
    for one in novelty.load():
        claims = "".join(f", `{name}`" for name in one.claims)
        near = "; ".join(f"[{name}](references.md#{_anchor(name)})" for name in one.neighbours)
        about = f"[Proof]({one.page}.md){claims}. Nearest in print: {near}."
        parts += [f"## {one.title}: {one.verdict}", *map(_filled, (one.says, one.sentence, about))]
    return "\n\n".join(parts) + "\n"


def _anchor(title: str) -> str:
    """The address of a title on a page of the documentation."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def _filled(paragraph: str) -> str:
    return textwrap.fill(paragraph, WIDTH, break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    new = DOCS / "what-is-new.md"
    new.write_text(with_novelty(new.read_text(encoding="utf-8")), encoding="utf-8")
    PUBLISHED.write_text(baselines(), encoding="utf-8")
