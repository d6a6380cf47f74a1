"""Check the counterexamples to printed statements in exact arithmetic, and print them.

Each is a small instance on which a statement of a paper fails, with the printed relation, the one that
holds instead, and both sides in rational numbers; square brackets enclose an irrational number. The exit status is 1 if
one of them does not show what it should.
"""

from typing import Annotated

from pipeline_lib import papers
from pipeline_lib.core.errors import ConfigurationError, DataError, hint


def run(
    name: Annotated[str | None, "the counterexample to print; all of them by default"] = None,
    *,
    paper: Annotated[str | None, "the paper whose counterexamples are printed", {"choices": papers.names()}] = None,
) -> None:
    """Print the counterexamples; DataError if one does not check."""
    every = [one for each in ([paper] if paper else papers.names()) for one in papers.witnesses(each)]
    found = [one for one in every if name in (None, one.name)]
    if not found:
        raise ConfigurationError(
            f"counterexamples: unknown name {name!r}; {hint(str(name), [one.name for one in every])}"
        )
    print("\n\n".join(one.text() for one in found))
    wrong = [one.name for one in found if not one.instance().shows]
    if wrong:
        raise DataError(
            f"counterexamples: expected every instance to show what it is printed for, found {', '.join(wrong)}"
        )
