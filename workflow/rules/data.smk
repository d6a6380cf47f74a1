# From an archive, a mirror or the population to one Parquet file and one table of folds per data set.
ruleorder: simulate_data > register_data > obtain_data
ruleorder: simulate_documents > convert_data
ruleorder: register_data > check_raw


# The names of data sets that the configuration itself describes; where there are none, nothing matches.
OWN_NAMES = "|".join(DATA.own) or planning.NO_VALUE
# Those that are drawn and written as text, and those that are drawn into the stored form at once.
DRAWN_AS_TEXT = "|".join(name for name in DATA.simulations if DATA.catalog[name].has_text) or planning.NO_VALUE
DRAWN_AS_DOCUMENTS = "|".join(name for name in DATA.simulations if not DATA.catalog[name].has_text) or planning.NO_VALUE


# Targets request these records. Nothing is made from them, because a touched file is no reason to train
# again; a conversion compares what it reads itself. A check that failed leaves no record, and the next run checks again.
CHECKED = [str(raw_files.record_path(name)) for name in DATA.with_text]
MANIFESTS = [f"data/raw/{name}/manifest.json" for name in DATA.with_text]


# What the jobs that prepare data sets have in common: all studies share their files.
use rule job as data_job with:
    log:
        "data/logs/<job>.log",
    benchmark:
        "data/logs/<job>.tsv"


use rule data_job as simulate_data with:
    """Draw a data set from its population and write it as LETOR text."""
    output:
        manifest=f"data/raw/{{dataset,{DRAWN_AS_TEXT}}}/manifest.json",
    pathvars:
        job="simulate_data-{dataset}",
    params:
        command="simulate-data",
        code=code("simulate_data"),
        entry=DATA.entry("simulate_data"),
        options=options(
            dataset=wildcard("dataset"),
            queries=DATA.simulation("queries"),
            population=DATA.simulation("population"),
            seed=STUDY.config["seed"],
        ),


use rule data_job as simulate_documents with:
    """Draw a large data set from its population and store it as Parquet, without a text."""
    output:
        documents=f"data/parquet/{{dataset,{DRAWN_AS_DOCUMENTS}}}/documents.parquet",
        summary=f"data/parquet/{{dataset,{DRAWN_AS_DOCUMENTS}}}/summary.json",
    pathvars:
        job="simulate_documents-{dataset}",
    params:
        command="simulate-data",
        code=code("simulate_data"),
        entry=DATA.entry("simulate_data"),
        options=options(
            dataset=wildcard("dataset"),
            queries=DATA.simulation("queries"),
            population=DATA.simulation("population"),
            seed=STUDY.config["seed"],
        ),


use rule data_job as obtain_data with:
    """Obtain the archive of a data set from data/raw, a mirror or the network; unpack and verify its parts."""
    output:
        manifest="data/raw/{dataset}/manifest.json",
    pathvars:
        job="obtain_data-{dataset}",
    params:
        command="obtain-data",
        code=code("obtain_data"),
        entry=DATA.entry("obtain_data"),
        options=options(dataset=wildcard("dataset")),


use rule data_job as register_data with:
    """Note the sizes and digests of the files of an own data set, whenever their content has changed."""
    output:
        manifest=f"data/raw/{{dataset,{OWN_NAMES}}}/manifest.json",
        record=str(raw_files.record_path(f"{{dataset,{OWN_NAMES}}}")),
    pathvars:
        job="register_data-{dataset}",
    params:
        command="register-data",
        code=code("register_data"),
        entry=DATA.entry("register_data"),
        options=options(dataset=wildcard("dataset"), own=DATA.own_entry("register_data"), planned_with=DATA.raw_state),


use rule data_job as check_raw with:
    """Compare the raw text with the manifest, whenever the size or the time of a file has changed."""
    input:
        manifest="data/raw/{dataset}/manifest.json",
    output:
        record=str(raw_files.record_path("{dataset}")),
    pathvars:
        job="check_raw-{dataset}",
    params:
        command="check-raw",
        code=code("check_raw"),
        entry=DATA.entry("check_raw"),
        options=options(dataset=wildcard("dataset"), planned_with=DATA.raw_state),


use rule data_job as convert_data with:
    """Convert text and tables to Parquet in bounded memory."""
    input:
        manifest="data/raw/{dataset}/manifest.json",
    output:
        documents="data/parquet/{dataset}/documents.parquet",
        summary="data/parquet/{dataset}/summary.json",
    pathvars:
        job="convert_data-{dataset}",
    params:
        command="convert-data",
        code=code("convert_data"),
        entry=DATA.entry("convert_data"),
        options=options(dataset=wildcard("dataset"), own=DATA.own_entry("convert_data")),


use rule data_job as split_folds with:
    """Assign the queries to the training, validation and test part of every fold."""
    input:
        documents="data/parquet/{dataset}/documents.parquet",
    output:
        folds="data/parquet/{dataset}/folds.parquet",
    pathvars:
        job="split_folds-{dataset}",
    localrule: True
    params:
        command="split-folds",
        code=code("split_folds"),
        entry=DATA.entry("split_folds"),
        options=options(dataset=wildcard("dataset"), own=DATA.own_entry("split_folds")),


rule download:
    """Download the missing data sets of the study; only this target and records of raw files use the network."""
    input:
        [str(raw_files.record_path(name)) for name in STUDY.datasets if DATA.catalog[name].has_text],
    localrule: True


# In the environment of the jobs, because a data set is the same wherever it comes from.
if snakemake_internals.is_main_process(workflow):
    wanted = snakemake_internals.targets(sys.argv[1:])
    # A record that is asked for by name is how a raw file is restored.
    records = {str(raw_files.record_path(name)) for name in STUDY.datasets}
    downloading = "download" in map(own_name, wanted) or not records.isdisjoint(wanted)
    os.environ[mirrors.OFFLINE] = "" if downloading else "yes"
