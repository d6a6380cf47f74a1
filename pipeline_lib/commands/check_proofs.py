"""Check the certificates of claims: print what each proves, with the digest of its file, or why it is refused.

The exit status is 1 if one is refused. No solver is needed; docs/proofs.md says what a certificate is.
"""

import time
from pathlib import Path
from typing import Annotated

from pipeline_lib.claims import ledger
from pipeline_lib.core.errors import DataError
from pipeline_lib.proofs import FOLDER, checker


def run(folder: Annotated[Path, "the folder with the certificates, or one of them"] = FOLDER) -> None:
    """Check all certificates below a folder, or one; DataError if one is refused, or there is none."""
    refused = []
    claims = {claim.id: claim for claim in ledger.load()}
    paths = [folder] if folder.is_file() else sorted(folder.rglob("*.toml"))
    if not paths:
        raise DataError(f"{folder}: expected a certificate, or a folder with files .toml below it, found none")
    for path in paths:
        began = time.monotonic()
        try:
            proof = ledger.certified(path, claims)
        except checker.Refused as reason:
            refused.append(path.name)
            print(f"{path.stem:34} REFUSED: {reason}", flush=True)
            continue
        took = f"{time.monotonic() - began:5.2f} s"
        cases = f"{proof.cases:6} {'case ' if proof.cases == 1 else 'cases'}"
        words = f"{', '.join(proof.claims):34} {proof.kind:11} {proof.digest[:12]} {cases} {took}"
        print(f"{words}  {proof.sizes}", flush=True)
    if refused:
        raise DataError(
            f"check-proofs: expected certificates that prove their statements, refused {', '.join(refused)}"
        )
