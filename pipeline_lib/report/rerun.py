"""How is a table or a figure made again: by which command, from which code, and how long did it take?"""

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from pipeline_lib import papers
from pipeline_lib.core.markup import count, listed
from pipeline_lib.experiment import Step, pattern_of
from pipeline_lib.report.results import ResultsFolder
from pipeline_lib.report.study import COMPARISONS, LIMITS, PLANS, TABLES

STUDIES = Path("workflow/studies")
"""The configurations that belong to the project, each in a file with the name of its study."""
CLAIMS = "claims.json"
"""What a caption calls the judged claims, which stand beside the report."""
_RULES = {
    **dict.fromkeys(TABLES, "summarise_results"),
    COMPARISONS: "compare_models",
    **dict.fromkeys((LIMITS, PLANS), "certify_models"),
    "untrained.json": "summarise_results",
    CLAIMS: "judge_claims",
    **dict.fromkeys(("configuration.yaml", "availability.json", "models.json", "changes.json"), "record_study"),
}
"""The rules of every study by the files that they make."""
_OF_DATA_SETS = {"data": "describe_data", "findings": "examine_data"}
"""Those that make a file for each data set, by its folder."""


@dataclass(frozen=True)
class Rule:
    """A rule of the workflow that makes a file, and the place of its code."""

    name: str
    code: str


@dataclass(frozen=True)
class Again:
    """The command that makes files again, and in a few words the rules, their jobs and times, and the commit."""

    command: str
    says: str


class Rerun:
    """The commands that make the files of a study again, ``papers`` being those whose experiments it ran."""

    def __init__(self, results: ResultsFolder, chosen: Sequence[str]) -> None:
        self._results, self._chosen = results, chosen
        self._found: dict[str, list[Rule]] = {}

    @property
    def study(self) -> str:
        """The name of the study."""
        return self._results.study

    @property
    def provenance(self) -> Mapping[str, Any]:
        """With which software the study was made, from which commit and when."""
        return self._results.provenance()

    @property
    def whole(self) -> Again:
        """What runs the whole study again, as far as something has changed since."""
        return Again(f"snakemake --cores 4{self._configfile}", self._took(None))

    def of(self, files: Iterable[str]) -> Again:
        """What makes some files of the results again, and the report with what it draws of them."""
        names = list(dict.fromkeys(rule.name for file in files for rule in self.rules(file))) or ["render_report"]
        # The target stands first, because the other options take several values.
        command = f"snakemake --cores 4 reports/{self.study}/index.html --forcerun {' '.join(names)}{self._configfile}"
        return Again(command, "; ".join(filter(None, (listed(names), self._took(names), self._commit))))

    def rules(self, file: str) -> list[Rule]:
        """The rule that makes a file, after those that make the parts from which it joins the file.

        Example
        -------
        >>> found = Rerun(ResultsFolder(Path("results/default")), ["topk"]).rules("tables/topk-regret.parquet")
        >>> [rule.name for rule in found]
        ['topk_regret_slice', 'topk_regret']
        """
        if file not in self._found:
            name = _OF_DATA_SETS.get(file.partition("/")[0]) or _RULES.get(file)
            shared = [Rule(name, f"pipeline_lib/commands/{name}.py")] if name else self._of_experiments(file)
            self._found[file] = list(dict.fromkeys(shared))
        return self._found[file]

    def _of_experiments(self, file: str) -> Iterator[Rule]:
        for paper, experiment, step in papers.steps(self._chosen):
            if any(re.search(pattern_of(table), file) for table in step.tables):
                for row in step.reads:
                    if row.table.startswith("slices/"):
                        yield from self._of_experiments(f"{row.table}.parquet")
                yield Rule(f"{paper}_{step.name}", _code(paper, experiment, step))

    @cached_property
    def _configfile(self) -> str:
        if self.study == "default" and not self._results.listed("changes"):
            return ""
        shipped = STUDIES / f"{self.study}.yaml"
        here = Path(__file__).parents[2] / shipped
        return f" --configfile {shipped if here.is_file() else f'results/{self.study}/configuration.yaml'}"

    @cached_property
    def _commit(self) -> str:
        code = self.provenance.get("code")
        return f"commit {code}" if code else ""

    def _took(self, rules: Sequence[str] | None) -> str:
        """How many jobs of the rules, or of all, were run, and the sum of their times."""
        seconds = [job.seconds for job in self._results.costs if rules is None or job.rule in rules]
        minutes = sum(seconds) / 60.0
        time = f"{minutes:.1f} minutes" if minutes >= 0.1 else f"{sum(seconds):.0f} s"
        return f"{count(len(seconds), 'job')}, {time}" if seconds else ""


def _code(paper: str, experiment: str, step: Step) -> str:
    """File and line of the function that does the work of a step."""
    module = PurePosixPath(papers.module_of(paper, experiment).replace(".", "/"))
    return f"{module}.py:{inspect.unwrap(step.run).__code__.co_firstlineno}"
