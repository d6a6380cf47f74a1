"""Turn the tables of a study, and the certificates of proofs, into a status for every claim of the ledger."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pipeline_lib.claims import ledger
from pipeline_lib.core import storage
from pipeline_lib.core.files import Output


def run(
    *,
    study: Annotated[str, "name of the study"],
    availability: Annotated[Path, "availability of the data sets, as JSON"],
    output: Annotated[Output, "output file for the judgements, as JSON"],
    tables: Annotated[Sequence[Path], "tables of the study, from which claims are read"] = (),
    settings: Annotated[
        Mapping[str, Any], "settings as JSON: the papers of the study, their experiments, and the settings of each"
    ] = {},
) -> None:
    """Judge every claim and write claims.json."""
    found = storage.read_json(availability)["datasets"]
    context = ledger.Context.of(study, found, tables=tables, settings=settings)
    judgements = ledger.with_proofs(ledger.judge(ledger.load(), context), settings)
    ledger.write(output, judgements, context)
