"""What does a finished study say of the claims, with the code as it is here?

    python -m tools.mutation.rejudged results/default

prints, as JSON, the status of every claim; how many trials it has, how many of them could have failed, and its margin,
which the record of evidence keeps; and which numbers of its card the recomputation does not find in the tables.
:mod:`tools.mutation.slips` runs it with slips in the code.
"""

import json
import math
import sys
import tempfile
from pathlib import Path
from typing import Any

from pipeline_lib.claims import curves, judged, ledger
from pipeline_lib.recompute import cards
from pipeline_lib.recompute.comparison import Comparison
from pipeline_lib.recompute.study import Study
from pipeline_lib.report.results import ResultsFolder
from tools.mutation.evidence import Stored


def found(results: Path) -> dict[str, Any]:
    """What is judged, recorded and recomputed of the claims of a study."""
    curves.of_claim = lambda *_: ()  # type: ignore[assignment]  # they take most of the time, and change no status
    folder = ResultsFolder.at(results)
    context = Stored.at(folder)
    settings = context.settings
    judgements = ledger.with_proofs(ledger.judge(ledger.load(), context), settings)
    with tempfile.TemporaryDirectory() as report:
        ledger.write(Path(report) / "claims.json", judgements, context)
        again, compared = judged.read(Path(report) / "claims.json"), Comparison()
        cards.compare(Study(results, Path(report)), compared)
    return {
        "statuses": {one.id: one.status for one in again.claims},
        "record": {one.id: _recorded(one) for one in again.claims if one.severity is not None},
        "recomputed": sorted(compared.differences),
    }


def _recorded(claim: judged.JudgedClaim) -> dict[str, Any]:
    severity = claim.severity
    assert severity is not None
    factor = severity.slack_factor
    return {
        "trials": severity.trials,
        "could have failed": severity.informative,
        "margin": None if factor is None or math.isinf(factor) else float(f"{factor:.4g}"),
    }


if __name__ == "__main__":
    json.dump(found(Path(sys.argv[1]).resolve()), sys.stdout)
