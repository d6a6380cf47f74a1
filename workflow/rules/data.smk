# From an archive, a mirror or the population to one Parquet file and one table of folds per data set.
ruleorder: simulate_data > obtain_data


# What is made for people asks for these. Nothing is made from them, because a touched file is no reason to train again;
# a conversion compares what it reads itself. A check that failed leaves no record, and the next run checks again.
CHECKED = per_dataset(str(raw_files.record_path("{dataset}")))


rule simulate_data:
    """Draw letor-sim from its population and write it as LETOR text."""
    output:
        manifest="data/raw/letor-sim/manifest.json",
    log:
        "data/logs/simulate_data.log",
    benchmark:
        "data/logs/simulate_data.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("simulate_data"),
        runtime=runtime("simulate_data"),
    params:
        code=code("simulate_data"),
        entry=entry("simulate_data", "letor-sim"),
        queries=STUDY.config["letor_sim"]["queries"],
        population=compact(STUDY.config["letor_sim"]["population"]),
        seed=STUDY.config["seed"],
    shell:
        "python -m pipeline_lib simulate-data --queries {params.queries} --population {params.population:q} "
        "--seed {params.seed} --manifest {output.manifest} > {log} 2>&1"


rule obtain_data:
    """Obtain the archive of a data set from data/raw, a mirror or the network; unpack and verify its parts."""
    output:
        manifest="data/raw/{dataset}/manifest.json",
    log:
        "data/logs/obtain_data-{dataset}.log",
    benchmark:
        "data/logs/obtain_data-{dataset}.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("obtain_data"),
        runtime=runtime("obtain_data"),
    params:
        code=code("obtain_data"),
        entry=entry("obtain_data"),
    shell:
        "python -m pipeline_lib obtain-data --dataset {wildcards.dataset} " "--manifest {output.manifest} > {log} 2>&1"


rule check_raw:
    """Compare the raw text with the manifest, whenever the size or the time of a file has changed."""
    input:
        manifest="data/raw/{dataset}/manifest.json",
    output:
        record=str(raw_files.record_path("{dataset}")),
    log:
        "data/logs/check_raw-{dataset}.log",
    benchmark:
        "data/logs/check_raw-{dataset}.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("check_raw"),
        runtime=runtime("check_raw"),
    params:
        code=code("check_raw"),
        entry=entry("check_raw"),
        state=raw_state,
    shell:
        "python -m pipeline_lib check-raw --dataset {wildcards.dataset} --manifest {input.manifest} "
        "--planned-with {params.state:q} --record {output.record} > {log} 2>&1"


rule convert_data:
    """Convert LETOR text to Parquet in bounded memory."""
    input:
        manifest="data/raw/{dataset}/manifest.json",
    output:
        documents="data/parquet/{dataset}/documents.parquet",
        summary="data/parquet/{dataset}/summary.json",
    log:
        "data/logs/convert_data-{dataset}.log",
    benchmark:
        "data/logs/convert_data-{dataset}.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("convert_data"),
        runtime=runtime("convert_data"),
    params:
        code=code("convert_data"),
        entry=entry("convert_data"),
    shell:
        "python -m pipeline_lib convert-data --dataset {wildcards.dataset} --manifest {input.manifest} "
        "--documents {output.documents} --summary {output.summary} > {log} 2>&1"


rule split_folds:
    """Assign the queries to the training, validation and test part of every fold."""
    input:
        documents="data/parquet/{dataset}/documents.parquet",
    output:
        folds="data/parquet/{dataset}/folds.parquet",
    log:
        "data/logs/split_folds-{dataset}.log",
    benchmark:
        "data/logs/split_folds-{dataset}.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("split_folds"),
        runtime=runtime("split_folds"),
    params:
        code=code("split_folds"),
        entry=entry("split_folds"),
    shell:
        "python -m pipeline_lib split-folds --dataset {wildcards.dataset} --documents {input.documents} "
        "--folds {output.folds} > {log} 2>&1"


rule download:
    """Download the missing data sets of the study; the only target that uses the network."""
    input:
        expand(str(raw_files.record_path("{dataset}")), dataset=STUDY.datasets),
