# Shared by all other files here: the checked configuration, the catalogue, and what is asked of them.
import os
import sys
from functools import cache
from operator import attrgetter as wildcard
from pathlib import Path

# The folder of this project. Another workflow may import this one and run it in a folder of its own: paths of data and
# results are relative to the working directory, and those of the project's own files begin here.
ROOT = Path(workflow.current_basedir).parents[1]
IMPORTED = Path(workflow.basedir) != ROOT
sys.path.insert(0, str(ROOT))
# Jobs say `python -m pipeline_lib`: it must be the interpreter that runs this workflow, whether or not its environment
# is activated, and the package of this folder, wherever the jobs run.
os.environ.update(
    PATH=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
    PYTHONPATH=os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
)

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from pipeline_lib import (
    configuration,
    console,
    import_closure,
    learners,
    measures,
    papers,
    planning,
    run_lock,
    steps,
    surrogates,
)
from pipeline_lib.errors import PipelineError
from pipeline_lib.job_command import compact, files, options
from pipeline_lib.sources import catalog, mirrors, own_data, raw_files

ENVIRONMENT = str(ROOT / "environment.yml")
RAW = Path("data/raw")


def checked(call, *arguments, **keywords):
    """Call a library function; what a person can mend stops the workflow with its message alone."""
    try:
        return call(*arguments, **keywords)
    except PipelineError as error:
        raise WorkflowError(str(error)) from None


PUBLIC = checked(catalog.load)
STUDY = checked(configuration.check, config, {name: dataset.n_folds for name, dataset in PUBLIC.items()})
OWN = {name: checked(own_data.data_set, entry) for name, entry in STUDY.own_data.items()}
CATALOG = {**PUBLIC, **OWN}
MIRRORS = checked(mirrors.configured_mirrors, STUDY.config["mirrors"])
# Jobs find the mirrors in their environment: where a file was found is no reason to make it again.
os.environ[mirrors.VARIABLE] = MIRRORS.spelled
AVAILABILITY = {name: mirrors.availability(CATALOG[name], MIRRORS, RAW) for name in STUDY.datasets}
DATASETS = [name for name in STUDY.datasets if AVAILABILITY[name].status != "missing"]
MISSING = [name for name in STUDY.datasets if AVAILABILITY[name].status == "missing"]


wildcard_constraints:
    study=STUDY.name,
    dataset="|".join(CATALOG),
    model="|".join(entry.name for entry in STUDY.models),
    fold=r"\d+",


STEPS = checked(
    steps.of_study,
    steps.StudyView(
        settings=STUDY.experiments,
        folds={name: STUDY.folds(name) for name in DATASETS},
        models={name: STUDY.model_names(name) for name in DATASETS},
        published={entry.name: entry.published for entry in STUDY.models if entry.published},
        facts={
            "folds": {name: STUDY.folds(name) for name in DATASETS},
            "how_to_get": {name: mirrors.how_to_get(entry, RAW) for name, entry in PUBLIC.items()},
            "reproduces": {entry.name: entry.published for entry in STUDY.models if entry.published},
            "statistics": STUDY.config["statistics"],
        },
    ),
    papers.names(),
)
STEP_OF = {step.rule: step for step in STEPS}


def code(command, *targets):
    """A function of any job: the digest of the code that a command runs, with what only its arguments name."""
    return lambda wildcards: code_digest(command, *targets)


@cache
def code_digest(command, *targets):
    """The digest of a command's code; what Snakemake compares to see whether a job must run again."""
    entry = ["pipeline_lib.__main__", f"pipeline_lib.commands.{command}"]
    return checked(import_closure.digest, (*entry, *targets), ROOT)


def surrogate_code(*names):
    """The classes of surrogates, which a job's settings name and its command does not import by itself."""
    return sorted({surrogates.target_of(name) for name in names})


def code_of_training(wildcards):
    """The digest of one training job's code: the command, its learner, its surrogate, and the measure by which it chooses."""
    entry = STUDY.model(wildcards.model)
    chosen = [learners.target_of(entry.algorithm)]
    if entry.surrogate is not None:
        chosen.append(surrogates.target_of(entry.surrogate))
    selection = STUDY.settings(wildcards.model, wildcards.dataset, int(wildcards.fold)).get("selection")
    if selection is not None:
        chosen.append(measures.target_of(selection))
    return code_digest("train_model", *chosen)


def training_settings(wildcards):
    """The settings of one training job."""
    return STUDY.settings(wildcards.model, wildcards.dataset, int(wildcards.fold))


def algorithm(wildcards):
    """The learner of a job's model."""
    return STUDY.model(wildcards.model).algorithm


def cells(wildcards):
    """Feature values in the data set of a job, as far as the catalogue knows them."""
    return CATALOG[wildcards.dataset].n_cells if "dataset" in wildcards.keys() else 0


def training_seconds(wildcards, fold):
    """What the settings of a model ask for in one training, in seconds."""
    settings = STUDY.learner_settings(wildcards.model, wildcards.dataset, int(fold))
    return learners.get(algorithm(wildcards)).seconds(settings) * cells(wildcards) / 1e6


def asked_seconds(name, wildcards):
    """What the settings of a job of that rule ask for, in seconds."""
    if name == "train_model":
        return training_seconds(wildcards, wildcards.fold)
    return STEP_OF[name].seconds(wildcards, cells(wildcards)) if name in STEP_OF else 0.0


def cost(name):
    """What a job of that rule costs whatever its settings."""
    return STEP_OF[name].step.cost if name in STEP_OF else planning.cost(name)


def own_name(rulename):
    """The name that a rule has here; a workflow that imports this one may give it another (see job.smk)."""
    return rulename.removeprefix(BEFORE_NAMES).removesuffix(AFTER_NAMES)


def mem_mb(wildcards, attempt, rulename):
    """Memory of a job; a retry gets twice as much."""
    name = own_name(rulename)
    asked = STEP_OF[name].megabytes() if name in STEP_OF else 0.0
    return planning.memory_mb(cost(name), cells(wildcards), attempt, asked)


def runtime(wildcards, attempt, rulename):
    """Minutes a cluster should allow a job; a retry gets twice as much."""
    name = own_name(rulename)
    return planning.runtime_minutes(cost(name), cells(wildcards), attempt, asked_seconds(name, wildcards))


def trained_together(wildcards):
    """The submission that a model's trainings on a data set share with its evaluation; None where they are long."""
    asked = (training_seconds(wildcards, fold) for fold in STUDY.folds(wildcards.dataset))
    longest = planning.seconds(cost("train_model"), cells(wildcards), max(asked))
    return f"{wildcards.dataset}-{wildcards.model}" if planning.is_short(longest) else None


def of_project(path):
    """A file of the project's folder, as seen from the working directory."""
    return os.path.relpath(ROOT / path)


def own_name(name):
    """What a rule is called here; a workflow that imports this one may have put something before or behind its name."""
    before, after = rules.simulate_data.rule.name.split("simulate_data")
    return name.removeprefix(before).removesuffix(after)


def own_rules():
    """The rules of this workflow by the names they have here."""
    named = ((own_name(rule.name), rule) for rule in workflow.rules)
    return {name: rule for name, rule in named if rules.has(name) and getattr(rules, name).rule.name == rule.name}


def stays_here(name, rule):
    """Whether the jobs of a rule, one for the study or for a data set, are so light that no cluster needs to run them."""
    if not rule.wildcard_names <= {"study", "dataset"}:
        return False
    sizes = [CATALOG[name].n_cells for name in DATASETS] if "dataset" in rule.wildcard_names else []
    largest = max(sizes, default=0)
    step = STEP_OF.get(name)
    asked = (step.seconds({}, largest), step.megabytes()) if step else (0.0, 0.0)
    return planning.is_light(cost(name), largest, *asked)


def entry(command, dataset=None):
    """A function of a data set's job: the digest of what its command reads of the catalogue's entry."""
    return lambda wildcards: CATALOG[dataset or wildcards.dataset].digest(command)


def own(command):
    """A function of a data set's job: what its command must know of an entry of the configuration; None for others."""
    entries = {name: own_data.plain_entry(entry, command) for name, entry in STUDY.own_data.items()}
    return lambda wildcards: entries.get(wildcards.dataset)


def own_state(wildcards):
    """Changes whenever the content of the files of an own data set does."""
    record = raw_files.record_path(wildcards.dataset)
    return own_data.state_for_planning(CATALOG[wildcards.dataset], record)


def raw_state(wildcards):
    """Changes whenever sizes or times of a data set's raw files are no longer those of the last check."""
    record = raw_files.record_path(wildcards.dataset)
    return raw_files.state_for_planning(CATALOG[wildcards.dataset], RAW, record)


def per_dataset(pattern):
    """The pattern for every data set at hand."""
    return expand(pattern, study=STUDY.name, dataset=DATASETS)


def per_model(pattern):
    """The pattern for every model of every data set at hand."""
    return [
        pattern.format(study=STUDY.name, dataset=dataset, model=model)
        for dataset in DATASETS
        for model in STUDY.model_names(dataset)
    ]


def per_fold(pattern):
    """A function that gives the pattern for every fold of a job's data set and model."""
    return lambda wildcards: [
        pattern.format(
            study=wildcards.study,
            dataset=wildcards.dataset,
            model=wildcards.model,
            fold=fold,
        )
        for fold in STUDY.folds(wildcards.dataset)
    ]


def per_trained_fold(pattern):
    """The pattern for every fold of every model of every data set at hand."""
    return [
        pattern.format(study=STUDY.name, dataset=dataset, model=model, fold=fold)
        for dataset in DATASETS
        for model in STUDY.model_names(dataset)
        for fold in STUDY.folds(dataset)
    ]


def read_by(*names):
    """The files of fixed names below results/ that rules read whose names begin so, for a target to ask for.

    Snakemake makes a missing file again only for a job that runs or a target that asks. A job that failed, or was
    killed, leaves its files missing while what was made from them before still stands.
    """
    named = ((name, rule) for name, rule in own_rules().items() if name.startswith(names))
    chosen = [rule for name, rule in named if rule.wildcard_names <= {"study"}]
    read = {str(path) for rule in chosen for path in rule.input if not callable(path)}
    paths = {path.replace("{study}", STUDY.name) for path in read}
    return sorted(path for path in paths if path.startswith("results/"))


def planned_job(job):
    """What the plan needs to know of a job that will run."""
    benchmark = Path(str(job.benchmark)) if job.benchmark else None
    name = own_name(job.rule.name)
    asked = asked_seconds(name, job.wildcards)
    return planning.PlannedJob(job.rule.name, planning.seconds(cost(name), cells(job.wildcards), asked), benchmark)


def plan():
    """What will run, what is missing and how to get it, and how long it may take."""
    order = {rule.name: position for position, rule in enumerate(workflow.rules)}
    needed = sorted(workflow.dag.needrun_jobs(), key=lambda job: order[job.rule.name])
    jobs = {job.jobid: planned_job(job) for job in needed if not job.rule.norun}
    missing = {name: AVAILABILITY[name].how_to_get for name in MISSING}
    # A cluster runs as many jobs at once as its profile allows (perhaps without limit); one machine, as it has cores.
    allowed = workflow.resource_settings
    slots = min(allowed.nodes, len(jobs)) if allowed.nodes else allowed.cores or 1
    text = planning.describe(STUDY.name, list(jobs.values()), slots, DATASETS, missing)
    return console.Plan(text, jobs, slots)


def files_of_job(wildcards, input, output):
    """The named input and output files of a job as options of its command."""
    return files(input, output)


# Jobs on cluster nodes read this file as well: they work for the run that holds the lock.
if workflow.is_main_process:
    if not IMPORTED:
        console.attach(logger, workflow.output_settings, plan)
    if not run_lock.only_reads(sys.argv[1:]):
        checked(run_lock.hold, Path("results/run.lock"), STUDY.name)
