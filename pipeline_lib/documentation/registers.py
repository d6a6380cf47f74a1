"""What is registered by name: surrogates, learners, measures, bounds, and the claims of every paper?"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

from pipeline_lib import learners, measures, papers, surrogates
from pipeline_lib.claims import ledger
from pipeline_lib.documentation import docstrings
from pipeline_lib.documentation.contents import Generated
from pipeline_lib.documentation.interface import page_of, signature, table
from pipeline_lib.papers import Paper
from pipeline_lib.study_settings import section
from pipeline_lib.theory.list_statements import MEANINGS, STATEMENTS

TITLE = "Registers"
CLAIMS = "Claims"


def pages() -> list[Generated]:
    """The registers on one page."""
    lines = [
        f"# {TITLE}",
        "What a configuration, a command or a script may name. In formulas, s are the scores of the m documents of a "
        "query, y their labels, G the gain and D the discount ([glossary](glossary.md)).",
        "## Surrogates {#surrogates}",
        *_surrogates(),
        "## Learners {#learners}",
        *_learners(),
        "## Measures {#measures}",
        *_measures(),
        "## Bounds {#bounds}",
        *_bounds(),
    ]
    return [Generated("registers", TITLE, "\n\n".join(filter(None, lines)) + "\n", letters=True)]


def claims() -> list[Generated]:
    """The claims of every paper."""
    lines = [
        f"# {CLAIMS}",
        "Every claim that the ledger judges; [another page](claims.md) explains how. The report of a study states "
        "what came out.",
        *(text for paper in papers.every() for text in _claims(paper)),
    ]
    return [Generated("claims-of-papers", CLAIMS, "\n\n".join(lines) + "\n", letters=True)]


def _surrogates() -> Iterator[str]:
    yield (
        "The losses that replace a ranking measure in training: `surrogate: NAME` of a model, or "
        "`surrogates.create(NAME, ...)`."
    )
    for name in surrogates.NAMES:
        module, _, kind = surrogates.target_of(name).removeprefix("pipeline_lib.").partition(":")
        made = surrogates.create(name.replace("@k", "@10"))
        traits = [word for word, holds in (("convex", made.convex), ("smooth", made.smooth)) if holds]
        yield f"### `{name}` {{#surrogate-{name.replace('@', '-')}}}"
        yield f"$${made.formula}$$"
        yield _beyond_the_formula(docstrings.parsed(type(made).__doc__).summary)
        called = signature(kind, type(made))
        known = ", ".join(traits).capitalize() or "Neither convex nor smooth"
        yield f"{known}. [`{kind}`]({page_of(module)}.md#{kind})"
        if called.partition("(")[2].strip(")"):
            yield f"```python\n{called}\n```"


def _beyond_the_formula(summary: str) -> str:
    """What the summary of a surrogate says besides its formula, which is shown in TeX.

    Example
    -------
    >>> _beyond_the_formula("phi(s, y) = log 2: the loss of ties."), _beyond_the_formula("phi(s, y) = 0.")
    ('The loss of ties.', '')
    """
    words = docstrings.prose(summary, _code)
    beyond = re.sub(r"^phi\(.*?(?:: |$)", "", words)
    return words if beyond == words else beyond[:1].upper() + beyond[1:]


def _learners() -> Iterator[str]:
    yield "`algorithm: NAME` of a model, or `learners.create(NAME, ...)`."
    for name in learners.NAMES:
        learner = learners.get(name)
        yield f"### `{name}` {{#learner-{name}}}"
        yield " ".join((inspect.getdoc(learner.settings) or "").split())
        yield f"$${learner.formula}$$"
        facts = ["a control, with which learners are compared"] if learner.control else []
        facts += ["minimises a `surrogate`"] if learner.with_surrogate else []
        facts += [f"needs the extra `{learner.requires}`"] if learner.requires else []
        if learner.settings.model_fields:
            facts.append(f"[settings](settings.md#{section(name)})")
        if facts:
            yield "; ".join(facts)[0].upper() + "; ".join(facts)[1:] + "."


def _measures() -> Iterator[str]:
    yield "Names in `evaluation.measures`, `headline` and `compared`; K stands for a rank."
    for name in measures.KNOWN_MEASURES:
        yield f"### `{name}` {{#measure-{name.replace('@', '-')}}}"
        yield f"$${measures.load(name.replace('@K', '@10')).formula}$$"


def _bounds() -> Iterator[str]:
    yield (
        "`python -m pipeline_lib bound --name NAME`, or `theory.list_bounds.evaluate(NAME, ...)`: what a bound of "
        "`lists` adds to a risk. All need n, m, the radius and the norm of the features."
    )
    rows = []
    for name, one in STATEMENTS.items():
        needs = "; ".join(MEANINGS[need] for need in one.needs)
        losses = [word for word, holds in _losses(one.convex, one.non_negative, one.unit_losses) if holds]
        holds = f"all rankers of an {one.ball} ball" if one.ball else "the ranker of the learner"
        rows.append((f"`{name}`", one.place, needs, ", ".join(losses) or "any", holds))
    yield table(("name", "place", "it also needs", "losses", "holds for"), rows)


def _losses(convex: bool, non_negative: bool, unit: bool) -> tuple[tuple[str, bool], ...]:
    return (("convex", convex), ("not negative", non_negative), ("in [0, 1]", unit))


def _claims(paper: Paper) -> Iterator[str]:
    yield f"## {paper.name} {{#{paper.name}}}"
    yield f"{paper.authors}: *{paper.title}*. {paper.published}."
    rows = [(f"`{claim.id}`", claim.where, claim.kind, claim.says) for claim in ledger.load([paper])]
    yield table(("claim", "where", "kind", "statement"), rows)


def _code(name: str) -> str:
    return f"`{name}`"
