# One training job per data set, fold and model; one evaluation per data set and model.
EVALUATIONS = per_model("results/{study}/evaluation/{dataset}/{model}.parquet")
TRAINED = per_trained_fold("results/{study}/models/{dataset}/{model}/fold-{fold}.json")


rule train_model:
    """Train one model on one fold, with settings chosen on the validation part."""
    input:
        documents="data/parquet/{dataset}/documents.parquet",
        folds="data/parquet/{dataset}/folds.parquet",
    output:
        model="results/{study}/models/{dataset}/{model}/fold-{fold}.json",
    log:
        "results/{study}/logs/train_model/{dataset}/{model}/fold-{fold}.log",
    benchmark:
        "results/{study}/benchmarks/train_model/{dataset}/{model}/fold-{fold}.tsv"
    group:
        trained_together
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("train_model"),
        runtime=runtime("train_model"),
    params:
        code=code_of_training,
        algorithm=algorithm,
        settings=training_settings,
        seed=STUDY.config["seed"],
    shell:
        "python -m pipeline_lib train-model --dataset {wildcards.dataset} --model {wildcards.model} "
        "--algorithm {params.algorithm} --settings {params.settings:q} --fold {wildcards.fold} "
        "--seed {params.seed} --documents {input.documents} --folds {input.folds} --output {output.model} "
        "> {log} 2>&1"


rule evaluate_model:
    """Evaluate one model on every test query of every fold."""
    input:
        documents="data/parquet/{dataset}/documents.parquet",
        folds="data/parquet/{dataset}/folds.parquet",
        summary="data/parquet/{dataset}/summary.json",
        models=per_fold("results/{study}/models/{dataset}/{model}/fold-{fold}.json"),
    output:
        queries="results/{study}/evaluation/{dataset}/{model}.parquet",
    log:
        "results/{study}/logs/evaluate_model/{dataset}/{model}.log",
    benchmark:
        "results/{study}/benchmarks/evaluate_model/{dataset}/{model}.tsv"
    group:
        trained_together
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("evaluate_model"),
        runtime=runtime("evaluate_model"),
    params:
        code=code("evaluate_model"),
        measures=STUDY.config["evaluation"]["measures"],
    shell:
        "python -m pipeline_lib evaluate-model --models {input.models} --documents {input.documents} "
        "--folds {input.folds} --summary {input.summary} --measures {params.measures} --output {output.queries} > {log} 2>&1"
