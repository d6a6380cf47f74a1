"""Is enough of a study's ledger decided, and was everything caught that was planted?

    python tools/check_ledger.py reports/default/claims.json --decided 55 --findings README.md

prints the claims by status, and what is wrong; the exit status is 1 if something is. With ``--findings``, the claims on
these pages must have the statuses that they state, as in "`slam-eta-free` refuted". With ``--recorded``, no claim may
be tested less severely than in the record of the study (:mod:`pipeline_lib.study.evidence`), unless CHANGELOG.md names
it.
"""

import argparse
import re
import sys
from pathlib import Path

from pipeline_lib.claims import judged
from pipeline_lib.claims.reading import NO_NOTE
from pipeline_lib.claims.words import BY_PROOF, STATUSES
from pipeline_lib.study import evidence

MEASURED = ("verified", "refuted", "answered")
DECIDED = (*BY_PROOF.values(), *MEASURED)


def problems(study: judged.JudgedStudy, decided: int) -> list[str]:
    """What a reviewer would object to, one sentence each."""
    found = []
    number = sum(claim.status in DECIDED for claim in study.claims)
    if number < decided:
        found.append(f"expected at least {decided} decided claims, found {number}")
    for claim in study.claims:
        if NO_NOTE in claim.notes:
            found.append(f"{claim.id}: its note has no value")
        severity = claim.severity
        if severity is None:
            continue
        if not severity.planted:
            found.append(f"{claim.id}: {claim.status}, and nothing is planted")
        # the wrong statements that a proof must tell apart are in its certificate, and its checker refuses them
        if claim.status in MEASURED:
            found += [f"{claim.id}: {claim.status}, but {plant.name} is not told apart" for plant in severity.missed]
    return found


def stated(page: str) -> list[tuple[str, str]]:
    """The claims on a page with the statuses that it states, such as "proved for sizes"; the longest name counts."""
    words = "|".join(one.replace("-", "[ -]") for one in sorted(STATUSES, key=len, reverse=True))
    found: list[tuple[str, str]] = re.findall(rf"`([\w-]+)`\s+({words})\b", page)
    return [(name, status.replace(" ", "-")) for name, status in found]


def wrongly_stated(study: judged.JudgedStudy, page: str) -> list[str]:
    """The claims on a page that have another status, or that do not exist."""
    status = {claim.id: claim.status for claim in study.claims}
    return [
        f"{name}: a page says {words}, the study {status.get(name, 'knows no such claim')}"
        for name, words in stated(page)
        if status.get(name) != words
    ]


def main(arguments: list[str] | None = None) -> int:
    """Print the counts and the problems."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("claims", type=Path, help="claims.json of a study")
    parser.add_argument("--decided", type=int, default=0, help="how many claims must be decided")
    parser.add_argument(
        "--findings", type=Path, nargs="*", default=[], help="pages that state claims with their statuses"
    )
    parser.add_argument("--recorded", action="store_true", help="compare with what claims were tested on when recorded")
    given = parser.parse_args(arguments)
    study = judged.read(given.claims)
    print(", ".join(f"{study.counts()['all'][status]} {status}" for status in STATUSES))
    wrong = problems(study, given.decided)
    for page in given.findings:
        wrong += wrongly_stated(study, page.read_text(encoding="utf-8"))
    if given.recorded:
        wrong += evidence.weakened(study)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
