"""What happens to jobs in the tests of failures.

A copy of this file, named ``sitecustomize.py``, is in a folder of PYTHONPATH, so that Python imports it at its start.
The folder that TEST_ACCIDENTS names contains a file for every model whose first training has an accident; the content
says which one. The file is renamed, so that the next attempt has none, and ``MODEL.happened`` then contains the number
of the submission.
"""

import os
import sys
import time
from pathlib import Path


def _meet(model: str) -> None:
    folder = Path(os.environ["TEST_ACCIDENTS"])
    try:
        taken = (folder / model).rename(folder / f"{model}.taken")
    except FileNotFoundError:
        return
    accident = taken.read_text()
    taken.write_text(os.environ["SLURM_JOB_ID"])
    taken.rename(folder / f"{model}.happened")
    print(f"accident: {accident}", file=sys.stderr, flush=True)
    if accident == "fail":
        raise SystemExit(3)
    if accident == "allocate":
        held = []
        while True:
            held.append(b"\1" * 50_000_000)
            time.sleep(0.05)
    while not (folder / f"{model}.go").exists():
        time.sleep(0.1)


if "train-model" in sys.orig_argv and "TEST_ACCIDENTS" in os.environ:
    _meet(sys.orig_argv[sys.orig_argv.index("--model") + 1])
