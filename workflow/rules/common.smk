# What all other files here share: the checked configuration, the catalogue, and functions that answer from them.
import gc
import os
import re
import sys
from functools import cache
from operator import attrgetter as wildcard
from pathlib import Path

# Of what Snakemake has imported, nothing will be garbage; looking for it takes a sixth of the time of a plan.
gc.freeze()
gc.set_threshold(100_000, 20, 20)

# The folder of this project. Another workflow may import this one and run it in a folder of its own: paths of data and
# results are relative to the working directory, and those of the project's own files begin here.
ROOT = Path(workflow.current_basedir).parents[1]
IMPORTED = Path(workflow.basedir) != ROOT
sys.path.insert(0, str(ROOT))
# The command of every job is `python -m pipeline_lib`. It must find the interpreter that runs this workflow, whether or
# not its environment is activated, and the package in this folder, wherever the job runs.
os.environ.update(
    PATH=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
    PYTHONPATH=os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
)

from snakemake.exceptions import WorkflowError

from pipeline_lib import (
    configuration,
    console,
    errata,
    import_closure,
    learners,
    measures,
    papers,
    planning,
    run_lock,
    schedulers,
    snakemake_internals,
    steps,
    study_settings,
    surrogates,
)
from pipeline_lib.cost import LARGE_CELLS
from pipeline_lib.errors import PipelineError
from pipeline_lib.files import bring_to_present, remove_abandoned
from pipeline_lib.job_command import compact, files, options
from pipeline_lib.sources import catalog, mirrors, own_data, raw_files, sizes

# Braces in a directive stand for wildcards, unless they are doubled.
ENVIRONMENT = str(ROOT / "environment.yml").replace("{", "{{").replace("}", "}}")
RAW = Path("data/raw")
TRAINING = ("train_model", "train_fold")


def checked(call, *arguments, **keywords):
    """Call a library function; an error that a person can correct stops the workflow with its message alone."""
    try:
        return call(*arguments, **keywords)
    except PipelineError as error:
        raise WorkflowError(str(error)) from None


def checked_study():
    """The study that the configuration describes; another workflow that imports this one answers for its own files."""
    own = snakemake_internals.is_main_process(workflow) and not IMPORTED
    files = snakemake_internals.files_of_configuration(workflow) if own else []
    for path in files:
        checked(configuration.check_file, path)
    origins = [str(path) for path in files]
    if snakemake_internals.configured_by_option(workflow):
        origins.append("--config")
    n_folds = {name: dataset.n_folds for name, dataset in PUBLIC.items()}
    return checked(configuration.check, config, n_folds, ", ".join(origins))


# The commands refer to these folders by name, and would write into those of another study.
if snakemake_internals.changes_paths(workflow, [f"{folder}/x" for folder in ("data", "results", "reports")]):
    raise WorkflowError(
        "expected a module without `prefix` and `replace_prefix`, with which this workflow would write tables of another "
        "study; remove the directive (docs/using-elsewhere.md)"
    )
PUBLIC = checked(catalog.load)
STUDY = checked_study()
OWN = {name: checked(own_data.data_set, entry) for name, entry in STUDY.own_data.items()}
CATALOG = {**PUBLIC, **OWN}
# How every data set is drawn that can be drawn.
SIMULATIONS = {
    name: dataset.simulation.with_settings(STUDY.config[study_settings.section(name)])
    for name, dataset in PUBLIC.items()
    if dataset.simulation
}
MIRRORS = checked(mirrors.configured_mirrors, STUDY.config["mirrors"])
# Jobs find the mirrors in their environment, because another place of the same file is no reason to make it again.
os.environ[mirrors.VARIABLE] = MIRRORS.as_text
AVAILABILITY = {name: mirrors.availability(CATALOG[name], MIRRORS, RAW) for name in STUDY.datasets}
DATASETS = [name for name in STUDY.datasets if AVAILABILITY[name].status != "missing"]
MISSING = [name for name in STUDY.datasets if AVAILABILITY[name].status == "missing"]


wildcard_constraints:
    study=STUDY.name,
    dataset="|".join(CATALOG),
    model="|".join(entry.name for entry in STUDY.models),
    fold=r"\d+",


# The row of workflow/published/ that a model reproduces, for the models that reproduce one.
REPRODUCES = {
    entry.name: entry.published for entry in STUDY.models if entry.published and entry.name not in STUDY.untrained
}
STEPS = checked(
    steps.of_study,
    steps.StudyView(
        settings=STUDY.experiments,
        folds={name: STUDY.folds(name) for name in DATASETS},
        models={name: STUDY.model_names(name) for name in DATASETS},
        facts={
            "folds": {name: STUDY.folds(name) for name in DATASETS},
            "reproduces": REPRODUCES,
            "statistics": STUDY.config["statistics"],
        },
    ),
    papers.names(),
)
STEP_OF = {step.rule: step for step in STEPS}


def code(command, *targets):
    """A function of a job: the digest of the code that a command runs, with the modules that its arguments name."""
    return lambda wildcards: code_digest(command, *targets)


import_closure.remember(Path(".snakemake/sources.json"))


@cache
def code_digest(command, *targets):
    """The digest of a command's code, which Snakemake compares to decide whether a job must run again."""
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
    settings = settings_of_folds(wildcards)
    selections = {selection for one in settings if (selection := one.get("selection")) is not None}
    return code_digest("train_model", *chosen, *sorted(map(measures.target_of, selections)))


def code_of_evaluation(wildcards):
    """The digest of one evaluation's code: the command, the measures, and the surrogate whose risk is recorded."""
    surrogate = STUDY.model(wildcards.model).surrogate
    chosen = map(measures.target_of, STUDY.config["evaluation"]["measures"])
    return code_digest("evaluate_model", *chosen, *surrogate_code(*filter(None, [surrogate])))


def folds_of_job(wildcards):
    """The folds on which a training job trains its model."""
    return [int(wildcards.fold)] if "fold" in wildcards.keys() else USUAL_FOLDS


def settings_of_folds(wildcards):
    """The settings of a training job for each of its folds."""
    return [STUDY.settings(wildcards.model, wildcards.dataset, fold) for fold in folds_of_job(wildcards)]


def training_settings(wildcards):
    """The settings of a training job as words of its command: those of all folds, or those of each."""
    words = [compact(settings) for settings in settings_of_folds(wildcards)]
    return words if len(set(words)) > 1 else words[:1]


def algorithm(wildcards):
    """The learner of a job's model."""
    return STUDY.model(wildcards.model).algorithm


@cache
def size_of(dataset):
    """The size of a data set, as far as it is known or can be estimated before it is read."""
    summary = Path("data/parquet", dataset, "summary.json")
    return sizes.size(CATALOG[dataset], SIMULATIONS.get(dataset), summary)


def cells(wildcards):
    """Feature values in the data set of a job, as far as they are known."""
    return size_of(wildcards["dataset"]).cells if "dataset" in wildcards.keys() else 0.0


def cells_of(name, wildcards):
    """The same for a job of that rule: experiments may read a sample of the queries of a data set."""
    return (
        sampled_cells(wildcards["dataset"]) if name in STEP_OF and "dataset" in wildcards.keys() else cells(wildcards)
    )


def sampled_cells(dataset):
    """Feature values of the queries of a data set that experiments read."""
    size, most = size_of(dataset), STUDY.config["experiment_queries"]
    return size.cells if most is None else size.cells * min(1.0, most / max(size.queries, 1.0))


def training_seconds(dataset, model, fold, size):
    """The seconds that the settings of a model add to one training."""
    return learners.get(STUDY.model(model).algorithm).estimate(STUDY.settings(model, dataset, fold), size)


def seconds_of_training_job(dataset, model, folds):
    """The seconds that its settings add to a training job."""
    size = size_of(dataset)
    seconds = [training_seconds(dataset, model, fold, size) for fold in folds]
    return planning.one_after_another(seconds, learners.declaration.IMPORTS)


# The study's folds of a data set that has five, as most have. A rule states its files before any data set is known to
# it, and what one job trains must not change with the other data sets of the study.
USUAL_FOLDS = STUDY.folds_among(5) or [1]


@cache
def short_trainings():
    """The pairs of a data set and a model that one job trains on all folds.

    If its job became another one, a model would be trained again. What is learned when a data set is read therefore
    decides nothing here: its size is what was known of it before.
    """
    found = set()
    for dataset in DATASETS:
        if STUDY.folds(dataset) == USUAL_FOLDS:
            size = sizes.size(CATALOG[dataset], SIMULATIONS.get(dataset), None)
            for model in STUDY.model_names(dataset):
                extra = max(training_seconds(dataset, model, fold, size) for fold in USUAL_FOLDS)
                if planning.seconds(cost("train_model"), size.cells, extra) <= planning.TRAINING_SECONDS:
                    found.add((dataset, model))
    return found


def training_jobs(dataset, model):
    """The training jobs of a model: the folds of each."""
    if (dataset, model) in short_trainings():
        return [USUAL_FOLDS]
    return [[fold] for fold in STUDY.folds(dataset)]


def of_short_trainings(short):
    """The data sets as a regular expression that fits where a model of :func:`short_trainings` follows, or another."""
    pairs = "|".join(f"{re.escape(dataset)}/{re.escape(model)}" for dataset, model in sorted(short_trainings()))
    ahead = "=" if short else "!"
    return f"(?{ahead}(?:{pairs or '(?!)'})/)(?:{'|'.join(CATALOG)})"


def training_megabytes(dataset, model):
    """The memory that the settings of a model add to one training."""
    settings = STUDY.settings(model, dataset, STUDY.folds(dataset)[0])
    return learners.get(STUDY.model(model).algorithm).memory(settings, size_of(dataset))


def threads_of_training(wildcards):
    """The threads of one training job: those of the study where its data are large, and else one."""
    return STUDY.config["threads"] if cells(wildcards) > LARGE_CELLS else 1


def resampling_seconds(name):
    """The seconds that bootstrap samples take in a job that summarises all models, or compares all pairs of them."""
    measured = STUDY.config["evaluation"]["compared" if name == "compare_models" else "measures"]
    taken = 0.0
    for dataset in DATASETS:
        tested = size_of(dataset).queries * len(STUDY.folds(dataset)) / CATALOG[dataset].n_folds
        models = len(STUDY.model_names(dataset))
        means = models * (models - 1) / 2 if name == "compare_models" else models
        taken += means * len(measured) * tested * STUDY.config["statistics"]["resamples"]
    return planning.SECONDS_PER_RESAMPLED * taken


def extra_seconds(name, wildcards):
    """The seconds that its settings add to a job of that rule."""
    if name in TRAINING:
        return seconds_of_training_job(wildcards.dataset, wildcards.model, folds_of_job(wildcards))
    if name in ("summarise_results", "compare_models"):
        return resampling_seconds(name)
    return STEP_OF[name].seconds(wildcards, cells_of(name, wildcards)) if name in STEP_OF else 0.0


def extra_megabytes(name, wildcards):
    """The memory that its settings add to a job of that rule, and the data sets that it reads at once."""
    if name in TRAINING:
        return training_megabytes(wildcards.dataset, wildcards.model)
    if name not in STEP_OF:
        return 0.0
    step = STEP_OF[name]
    at_once = [] if "dataset" in step.cell or not step.documents else step.datasets
    return step.megabytes(sum(map(sampled_cells, at_once)))


def cost(name):
    """What a job of that rule costs whatever its settings."""
    return STEP_OF[name].step.cost if name in STEP_OF else planning.cost(name)


def own_name(rulename):
    """The name that a rule has in these files; a workflow that imports them may have put something around it."""
    return rulename.removeprefix(BEFORE_NAMES).removesuffix(AFTER_NAMES)


def mem_mb(wildcards, attempt, rulename):
    """Memory of a job; a retry gets twice as much."""
    name = own_name(rulename)
    return planning.memory_mb(cost(name), cells_of(name, wildcards), attempt, extra_megabytes(name, wildcards))


def runtime(wildcards, attempt, rulename):
    """Minutes that a cluster should allow a job; a retry gets twice as many."""
    name = own_name(rulename)
    shared = jobs_of_batch(name, wildcards)
    taken = extra_seconds(name, wildcards)
    return planning.runtime_minutes(cost(name), cells_of(name, wildcards), attempt, taken, shared)


def at_once(wildcards, rulename):
    """How much a job takes of the resource of which profiles for clusters give 1 to a batch: its jobs run in turn."""
    return int(jobs_of_batch(own_name(rulename), wildcards) > 1)


@cache
def batches():
    """The submissions that short jobs share on a cluster: a model of a data set, or a rule with its cell -> the name.

    A model is all its trainings and its evaluation. What a batch contains reads nothing but data sets, the same ones,
    so that it never waits for another batch.
    """
    short = {}
    for dataset in DATASETS:
        size, training = size_of(dataset).cells, cost("train_model")
        for model in STUDY.model_names(dataset):
            taken = [
                planning.seconds(training, size, seconds_of_training_job(dataset, model, folds))
                for folds in training_jobs(dataset, model)
            ]
            if planning.is_short(max(taken), training.mb(size) + training_megabytes(dataset, model)):
                taken.append(planning.seconds(cost("evaluate_model"), size))
                short.setdefault((dataset,), {})[dataset, model] = sum(taken)
    for step in STEPS:
        if step_runs_locally(step) or not step.reads_only_data:
            continue
        for cell in step.cells:
            size = cells_of(step.rule, cell)
            taken = planning.seconds(step.step.cost, size, step.seconds(cell, size))
            if planning.is_short(taken, step.step.cost.mb(size) + extra_megabytes(step.rule, cell)):
                short.setdefault(step.datasets_of(cell), {})[step.rule, *cell.values()] = taken
    found = {}
    for read, jobs in short.items():
        for number, keys in enumerate(planning.batches(jobs), start=1):
            found |= dict.fromkeys(keys, "-".join(["batch", *read, str(number)]))
    snakemake_internals.declare_groups(workflow, "batch", found.values())
    return found


def key_in_batch(name, wildcards):
    """The key of a job in :func:`batches`; None if jobs of its rule have none."""
    if name in STEP_OF:
        return (name, *STEP_OF[name].cell_of(wildcards).values())
    return (wildcards.dataset, wildcards.model) if name in (*TRAINING, "evaluate_model") else None


def batch(name):
    """A function of a job of that rule: the submission that it shares with others; None where it is long or not sent."""
    return lambda wildcards: batches().get(key_in_batch(name, wildcards))


@cache
def sizes_of_batches():
    """The number of jobs in every batch, if all of them run."""
    found = {}
    for key, name in batches().items():
        jobs = 1 if key[0] in STEP_OF else len(training_jobs(*key)) + 1
        found[name] = found.get(name, 0) + jobs
    return found


def jobs_of_batch(name, wildcards):
    """How many jobs share the submission of a job of that rule; 1 where it has its own."""
    return sizes_of_batches().get(batches().get(key_in_batch(name, wildcards)), 1)


def of_project(path):
    """A file of the project's folder, as seen from the working directory."""
    return os.path.relpath(ROOT / path)


def runs_locally(name, per_dataset=False):
    """Whether a rule with one job for the study, or for every data set, is so light that no cluster needs to run it."""
    step = STEP_OF.get(name)
    of_dataset = sampled_cells if step else lambda dataset: size_of(dataset).cells
    largest = max(map(of_dataset, DATASETS), default=0) if per_dataset else 0
    seconds = step.seconds({}, largest) if step else 0.0 if per_dataset else extra_seconds(name, {})
    extra = (seconds, extra_megabytes(name, {}))
    return planning.is_light(cost(name), largest, *extra)


def step_runs_locally(step):
    """Whether a step of an experiment is light, and not divided into several jobs for a data set."""
    return step.cell.keys() <= {"dataset"} and runs_locally(step.rule, per_dataset="dataset" in step.cell)


def entry(command):
    """A function of a data set's job: the digest of the part of the catalogue's entry that its command reads."""
    return lambda wildcards: CATALOG[wildcards.dataset].digest(command)


def simulation(name):
    """A function of a data set's job: how the data set is drawn."""
    return lambda wildcards: SIMULATIONS[wildcards.dataset][name]


def own(command):
    """A function of a data set's job: what its command must know of an entry of the configuration; None for others."""
    entries = {name: own_data.plain_entry(entry, command) for name, entry in STUDY.own_data.items()}
    return lambda wildcards: entries.get(wildcards.dataset)


def own_state(wildcards):
    """Changes whenever the content of the files of an own data set does."""
    record = raw_files.record_path(wildcards.dataset)
    return own_data.state_for_planning(CATALOG[wildcards.dataset], record)


def raw_content(wildcards):
    """Changes whenever the content of the unpacked files of a data set of the catalogue does."""
    record = raw_files.record_path(wildcards.dataset)
    return raw_files.content_for_planning(CATALOG[wildcards.dataset], RAW, record)


def raw_state(wildcards):
    """A value that changes when the size or the time of a raw file is no longer that of the last check."""
    return raw_state_of(wildcards.dataset)


@cache
def raw_state_of(dataset):
    """The same, as it was when the run was planned: a job of the run may draw the text anew before it is checked."""
    return raw_files.state_for_planning(CATALOG[dataset], RAW, raw_files.record_path(dataset))


def per_dataset(pattern):
    """The pattern for every available data set."""
    return expand(pattern, study=STUDY.name, dataset=DATASETS)


def per_model(pattern):
    """The pattern for every model of every available data set."""
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
    """The pattern for every fold of every model of every available data set."""
    return [
        pattern.format(study=STUDY.name, dataset=dataset, model=model, fold=fold)
        for dataset in DATASETS
        for model in STUDY.model_names(dataset)
        for fold in STUDY.folds(dataset)
    ]


def stored(*inputs):
    """The files of fixed names below results/ among the inputs of rules, for a target to request.

    Snakemake makes a missing file again only if a job that runs, or a target, requests it. After a job that failed or
    was killed, its files would stay missing as long as everything that was made from them before still exists.
    """
    paths = {str(path).replace("{study}", STUDY.name) for files in inputs for path in files if not callable(path)}
    return sorted(path for path in paths if path.startswith("results/"))


def read_by_steps(*papers):
    """The inputs of the steps of some papers, for :func:`stored`, without steps that are divided into several jobs."""
    return (step.inputs for step in STEPS if step.paper in papers and not step.cell)


def planned_job(job):
    """What the plan needs to know about a job that will run."""
    name = own_name(job.rule)
    size, extra = cells_of(name, job.wildcards), extra_seconds(name, job.wildcards)
    mb = cost(name).mb(size) + extra_megabytes(name, job.wildcards)
    return planning.PlannedJob(job.rule, planning.seconds(cost(name), size, extra), job.benchmark, mb)


def plan():
    """What will run, what is missing and how to get it, and how long it may take."""
    jobs = {job.id: planned_job(job) for job in snakemake_internals.jobs_to_run(workflow)}
    missing = {name: AVAILABILITY[name].how_to_get for name in MISSING}
    at_once = snakemake_internals.jobs_at_once(workflow)
    sent = snakemake_internals.submissions(workflow)
    text = planning.describe(STUDY.name, list(jobs.values()), at_once, DATASETS, missing, sent, STUDY.untrained)
    return console.Plan(text, jobs, at_once)


def conclude():
    """Describe the results folder for archives and say where the report is, if the targets included the report."""
    from pipeline_lib import run_crate
    from pipeline_lib.reporting import site

    jobs = snakemake_internals.finished_jobs(workflow)
    page = f"reports/{STUDY.name}/index.html"
    if not any(page in job.outputs for job in jobs):
        return
    parts = [ROOT / "Snakefile", *sorted((ROOT / "workflow/rules").glob("*.smk")), ROOT / "requirements.lock"]
    run_crate.write(
        f"results/{STUDY.name}",
        site.heading(STUDY.name, STUDY.papers, STUDY.config["title"]),
        jobs,
        [CATALOG[name] for name in DATASETS],
        [(path, path.relative_to(ROOT).as_posix()) for path in parts if path.is_file()],
    )
    logger.info(f"The report is in {page}")


def files_of_job(wildcards, input, output):
    """The named input and output files of a job as options of its command."""
    return files(input, output)


# Jobs on cluster nodes read this file as well: they work for the run that holds the lock.
if snakemake_internals.is_main_process(workflow):
    snakemake_internals.before_execution(workflow, lambda executor: checked(schedulers.require, executor))
    if not IMPORTED:
        console.attach(*snakemake_internals.logger_and_output(workflow), plan)
    if not run_lock.only_reads(sys.argv[1:]):
        checked(run_lock.hold, Path("results/run.lock"), STUDY.name)
        checked(run_lock.check_records, Path(".snakemake"))
        remove_abandoned("data/parquet", "results", "reports")  # in data/raw, downloads go on
        ahead = checked(bring_to_present, "data", "results", "reports", ROOT / "pipeline_lib", ROOT / "workflow")
        if ahead:
            logger.info(
                f"{ahead} files had times in the future, as after a clock was set back; they were given the present time"
            )
else:
    snakemake_internals.run_batches_in_turn(workflow, "batch", "at_once")
    # The executor plugin removes SLURM_CONF from the environment of srun; the script of this name restores it.
    if configuration_of_slurm := os.environ.get("SLURM_CONF"):
        os.environ.update(
            LTR_SLURM_CONF=configuration_of_slurm,
            PATH=os.pathsep.join([str(ROOT / "profiles/slurm"), os.environ.get("PATH", os.defpath)]),
        )
