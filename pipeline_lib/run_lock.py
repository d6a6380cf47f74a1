"""Is another run already working in this folder?

The lock is the kernel's (``flock``): it goes when the process that holds it goes, however that ends, so that a killed
run can simply be started again, which a lock file of Snakemake's own kind does not allow.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import IO

from pipeline_lib.errors import PipelineError


def hold(path: Path) -> IO[str]:
    """Take the lock for the rest of the process's life; the returned file must be kept.

    Raises
    ------
    PipelineError
        When another living process holds it; the message names that process.

    Example
    -------
    >>> import tempfile
    >>> lock = hold(Path(tempfile.mkdtemp()) / "run.lock")
    >>> hold(Path(lock.name))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    pipeline_lib.errors.PipelineError: another run (process ...) is working in this folder; wait for it or stop it
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = path.open("a+", encoding="utf-8")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        handle.seek(0)
        holder = handle.read().strip() or "unknown"
        handle.close()
        raise PipelineError(
            f"another run (process {holder}) is working in this folder; wait for it or stop it"
        ) from None
    except OSError:
        # Some network file systems have no flock: there the person sees to it that one run works at a time.
        return handle
    handle.truncate(0)
    handle.write(f"{os.getpid()}\n")
    handle.flush()
    return handle
