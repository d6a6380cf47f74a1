# What all files of the study share: the checked configuration, and objects of pipeline_lib/study that know its jobs.
# Braces in a directive stand for wildcards, unless they are doubled.
ENVIRONMENT = str(ROOT / "environment.yml").replace("{", "{{").replace("}", "}}")

with run.stopping_the_workflow():
    PUBLIC = catalog.load()
    N_FOLDS = {name: dataset.n_folds for name, dataset in PUBLIC.items()}
    STUDY = run.checked_configuration(workflow, config, N_FOLDS, imported=IMPORTED)
    DATA = DataSets(STUDY, PUBLIC)
    STEPS = step_rules.of_study(STUDY, DATA.present)
# Jobs find the mirrors in their environment, because another place of the same file is no reason to make it again.
os.environ[mirrors.VARIABLE] = DATA.mirrors.as_text
# The C library of Linux would give large arrays back to the system as soon as they are freed, and every page of the
# next one would have to be cleared anew.
os.environ.setdefault("MALLOC_TRIM_THRESHOLD_", str(256 * 2**20))
os.environ.setdefault("MALLOC_MMAP_THRESHOLD_", str(32 * 2**20))
TRAININGS = Trainings(STUDY, DATA)
COSTS = Costs(STUDY, DATA, TRAININGS, STEPS, lambda rulename: own_name(rulename))
gc.freeze()
gc.enable()


import_closure.remember(Path(".snakemake/sources.json"))


wildcard_constraints:
    study=STUDY.name,
    dataset="|".join(DATA.catalog),
    model="|".join(entry.name for entry in STUDY.models),
    fold=r"\d+",


def code(command, *targets, reads=()):
    """A function of a job: the digest of the code that a command runs, with the modules that its arguments name.

    So do the files count that it ``reads`` from the project: times alone would miss one that is edited during a run,
    which works from a copy.
    """
    files = tuple(os.path.relpath(path, ROOT) for path in reads)
    return lambda wildcards: import_closure.digest_of_command(command, *targets, reads=files)


def own_name(rulename):
    """The name that a rule has in these files; a workflow that imports them may have put something around it."""
    return rulename.removeprefix(BEFORE_NAMES).removesuffix(AFTER_NAMES)


def of_project(path):
    """A file of the project's folder, given by its path there or in the copy, as seen from the working directory."""
    return os.path.relpath(ROOT / os.path.relpath(CODE / path, CODE))


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


def files_of_job(wildcards, input, output):
    """The named input and output files of a job as options of its command."""
    return files(input, output)


if snakemake_internals.is_main_process(workflow) and not IMPORTED:
    console.attach(
        *snakemake_internals.logger_and_output(workflow),
        lambda: run.plan(workflow, STUDY, DATA, COSTS),
        lambda rule, wildcards: DATA.warning_after(rule, wildcards) or TRAININGS.warning_after(rule, wildcards),
    )
with run.stopping_the_workflow():
    run.begin(workflow, STUDY, config, CODE, ROOT, imported=IMPORTED)
