"""A run that is asked to end does not wait for itself."""

import subprocess
import sys

INTERRUPTED = """
import os, signal, threading
from snakemake.scheduling.job_scheduler import JobScheduler
from pipeline_lib.study import snakemake_internals

snakemake_internals.end_when_asked()
scheduler = JobScheduler.__new__(JobScheduler)
scheduler._lock, scheduler._open_jobs, scheduler._user_kill = threading.Lock(), threading.Semaphore(0), None
signal.signal(signal.SIGTERM, scheduler.exit_gracefully)
with scheduler._lock:
    os.kill(os.getpid(), signal.SIGTERM)
print(scheduler._open_jobs.acquire(timeout=60), scheduler._user_kill)
"""


def test_a_request_to_end_may_come_while_the_main_thread_holds_the_lock_of_the_scheduler() -> None:
    command = [sys.executable, "-c", INTERRUPTED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout, done.stderr) == ("True graceful\n", "")
