# Where is the project, and are the libraries there that a plan needs?
import gc
import json
import os
import runpy
import sys
from operator import attrgetter as wildcard
from pathlib import Path

from snakemake.logging import logger

# The folder of this project, or the copy of it from which a run works. Another workflow may import this one and run it
# in a folder of its own. Where the rules are read from a Git repository, the project is checked out first.
RULES = workflow.current_basedir
if isinstance(RULES, os.PathLike):
    HERE = Path(RULES).parents[1]
else:
    internals = workflow.source_path("../../pipeline_lib/study/snakemake_internals.py")
    HERE = runpy.run_path(internals)["checked_out"](RULES)
# Nothing that somebody does to the project's files may reach a run that has begun: it works from the copy CODE. Paths
# of data and results are relative to the working directory, and those of the project's own files, as Snakemake knows
# them, begin at ROOT.
INTERNALS = runpy.run_path(str(HERE / "pipeline_lib/study/snakemake_internals.py"))
INTERNALS["name_the_user"]()
IMPORTED = INTERNALS["main_file"](workflow) not in (HERE / "Snakefile", HERE / "workflow/Snakefile")
if not IMPORTED:
    INTERNALS["end_when_interrupted"](workflow)
FROZEN = runpy.run_path(str(HERE / "pipeline_lib/study/frozen.py"))
CODE, ROOT = FROZEN["of_process"](HERE, INTERNALS["configuration_of_job"](workflow))
if INTERNALS["is_main_process"](workflow):
    CODE = FROZEN["copy_of"](ROOT)
sys.path.insert(0, str(CODE))

# These modules need no library.
from pipeline_lib.core.errors import MORE_MEMORY, is_refused_memory
from pipeline_lib.study import snakemake_internals

# The command of every job is `python -m pipeline_lib`. It must find the interpreter that runs this workflow, whether or
# not its environment is activated, and the package in the copy, wherever the job runs: Python must not look into the
# working directory first. Machine code is kept for all copies together.
os.environ.update(
    PATH=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
    PYTHONPATH=os.pathsep.join(filter(None, [str(CODE), os.environ.get("PYTHONPATH")])),
    PYTHONSAFEPATH="1",
)
os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT))

# Nothing that is made from here to the end of common.smk is garbage, and 30 % of the time of a plan that finds nothing
# to do would go into looking for it.
gc.disable()

# A plan needs the libraries of the jobs: it takes what an experiment reads and costs from where it is computed.
NOT_INSTALLED = None
try:
    from pipeline_lib import learners, metrics, papers, surrogates
    from pipeline_lib.claims import errata, novelty
    from pipeline_lib.proofs import SHARED
    from pipeline_lib.sources import catalog, mirrors, raw_files
    from pipeline_lib.study import console, import_closure, planning, run, step_rules
    from pipeline_lib.study.costs import Costs
    from pipeline_lib.study.data_sets import RAW, DataSets
    from pipeline_lib.study.job_command import compact, files, options
    from pipeline_lib.study.training import Trainings
except ModuleNotFoundError as error:
    NOT_INSTALLED = error.name
except (ImportError, MemoryError, OSError) as error:
    if not is_refused_memory(error):
        raise
    raise WorkflowError(f"the libraries of the jobs were refused memory; {MORE_MEMORY}") from None

# Without them, Snakemake can have conda install them for jobs: the whole study is then one of these.
if NOT_INSTALLED:
    missing = f"{NOT_INSTALLED} is not installed for {sys.executable}"
    if IMPORTED or not snakemake_internals.lints_or_has_conda(sys.argv[1:]):
        raise WorkflowError(
            f"{missing}. A plan needs the libraries of the jobs: run `make setup` and `. .venv/bin/activate` in the folder "
            f"of the project, or `conda env create --file {os.path.relpath(ROOT / 'environment.yml')}` and `conda activate "
            "pipeline_lib`; `snakemake --sdm conda`, without a target, runs the whole study in this environment"
        )
    logger.warning(
        f"{missing}: the only job makes an environment by conda and runs the study in it, with a plan of its own"
    )

    def repeated_arguments():
        """What another Snakemake must be told to run the same study."""
        options = snakemake_internals.options_of_configuration(workflow)
        return [
            *("--snakefile", ROOT / "workflow/Snakefile"),
            *("--configfile", *snakemake_internals.files_of_configuration(workflow)),
            *(["--config", *(f"{key}={json.dumps(value)}" for key, value in options.items())] if options else []),
        ]
