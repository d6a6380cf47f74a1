"""Is every title of a study's figures that states a finding warranted by what its figure shows?

    python tools/check_titles.py results/default reports/default/claims.json

prints how many titles state findings, and what is wrong: a rule that does not hold, a wrong neighbour of a rule that
holds as well (:mod:`pipeline_lib.report.titles`), or a finding of a page that stands over no figure of the study. The
exit status is 1 if something is.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from jinja2 import nodes

from pipeline_lib import papers
from pipeline_lib.claims import judged
from pipeline_lib.report.blocks import walk
from pipeline_lib.report.figures import Figure
from pipeline_lib.report.page import PaperPages, environment
from pipeline_lib.report.results import ResultsFolder


def stated(pages: PaperPages) -> Iterator[Figure]:
    """The figures of all papers whose titles may state findings."""
    for name in papers.names():
        if (story := pages.story(name)) is not None:
            yield from (one for one in walk(story.blocks) if isinstance(one, Figure) and one.finding is not None)


def declared() -> Iterator[tuple[Path, str]]:
    """The findings of all pages of papers: the file, and the words or those with which they begin."""
    for name in papers.names():
        for path in sorted(papers.get(name).folder.rglob("*.md")):
            tree = environment(path.parent).parse(path.read_text(encoding="utf-8"))
            for call in tree.find_all(nodes.Call):
                if isinstance(call.node, nodes.Name) and call.node.name == "finding":
                    words = call.args[0]
                    first = words if isinstance(words, nodes.Const) else next(words.find_all(nodes.Const))
                    yield path, str(first.value)


def problems(figures: list[Figure]) -> list[str]:
    """What is wrong, one sentence each."""
    judged_on = [(one.name, one.finding, one.drawn) for one in figures if one.finding and one.drawn]
    found = [f"{name}: {words}" for name, finding, drawn in judged_on for words in finding.problems(drawn)]
    said = [finding.says for _, finding, _ in judged_on]
    found += [
        f"{path}: {words!r}: expected a figure of the study under it, found none"
        for path, words in declared()
        if not any(one.startswith(words) for one in said)
    ]
    return found


def main(arguments: list[str] | None = None) -> int:
    """Print the number of findings and the problems."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("results", type=Path, help="folder of the results of a study")
    parser.add_argument("claims", type=Path, help="claims.json of the study")
    given = parser.parse_args(arguments)
    figures = list(stated(PaperPages(ResultsFolder.at(given.results), judged.read(given.claims))))
    print(f"{len(figures)} titles state findings")
    wrong = problems(figures)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
