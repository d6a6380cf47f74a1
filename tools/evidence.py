"""Record what every claim is tested on: workflow/recorded/default-evidence.yaml.

    python -m tools.evidence [reports/default/claims.json]

Rules, negative controls and readings are those of the ledger, and what is measured that of a judged default study;
without one, it stays as it was recorded. A test that became weaker is recorded only if CHANGELOG.md names its claim
(:mod:`pipeline_lib.study.evidence`). `make evidence` runs this with the default study, if it was run here.
"""

import sys
from pathlib import Path

from pipeline_lib import papers
from pipeline_lib.claims import judged, ledger
from pipeline_lib.study import evidence

STUDY = "default"


def main(arguments: list[str]) -> int:
    """Write the record, or say what became weaker."""
    claims, record = ledger.load(), evidence.read(STUDY)
    study = judged.read(arguments[0]) if arguments else None
    if study and (older := [path for path in _sources() if path.stat().st_mtime > Path(arguments[0]).stat().st_mtime]):
        print(f"{arguments[0]}: expected claims judged since {older[0]} was changed; run `make`", file=sys.stderr)
        return 1
    found = evidence.found_in(claims, study and study.claims, record)
    changes = evidence.CHANGES.read_text(encoding="utf-8")
    weaker = evidence.problems(record, found, changes, measured=False)
    for line in weaker:
        print(line, file=sys.stderr)
    if not weaker:
        evidence.write(STUDY, found)
        print(f"{evidence.path_of(STUDY)}: {len(found)} claims")
    return 1 if weaker else 0


def _sources() -> list[Path]:
    return [path for paper in papers.every() for path in paper.ledger]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
