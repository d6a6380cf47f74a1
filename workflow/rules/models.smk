# Training jobs, one for a model on all folds where trainings are short, and else one for each fold; one evaluation per
# data set and model, with the risks on test parts. With one rule, a job for each fold, the default study would take 9 %
# longer (docs/time-and-memory.md). The wildcard `trained` is a data set and a model, DATASET/MODEL.
EVALUATIONS = DATA.per_model("results/{study}/evaluation/{dataset}/{model}.parquet")
HELD_OUT = DATA.per_model("results/{study}/evaluation/{dataset}/{model}.held-out.json")
TRAINED = DATA.per_fold("results/{study}/models/{dataset}/{model}/fold-{fold}.json")


use rule job as train_model with:
    """Train one model on all folds, one after the other, with settings chosen on the validation parts."""
    input:
        documents=lambda wildcards: f"data/parquet/{TRAININGS.dataset(wildcards)}/documents.parquet",
        folds=lambda wildcards: f"data/parquet/{TRAININGS.dataset(wildcards)}/folds.parquet",
    output:
        output=[f"results/{{study}}/models/{{trained}}/fold-{fold}.json" for fold in TRAININGS.usual_folds],
    pathvars:
        job="train_model/{trained}",
    wildcard_constraints:
        trained=TRAININGS.pattern(together=True),
    threads: TRAININGS.threads
    params:
        command="train-model",
        code=TRAININGS.code,
        options=options(
            dataset=TRAININGS.dataset,
            model=TRAININGS.model,
            algorithm=TRAININGS.algorithm,
            settings=TRAININGS.settings,
            fold=TRAININGS.folds,
            seed=STUDY.config["seed"],
        ),


use rule train_model as train_fold with:
    """Train one model on one fold, with settings chosen on the validation part."""
    output:
        output="results/{study}/models/{trained}/fold-{fold}.json",
    pathvars:
        job="train_fold/{trained}/fold-{fold}",
    wildcard_constraints:
        trained=TRAININGS.pattern(together=False),


use rule job as evaluate_model with:
    """Evaluate one model on every test query of every fold, and record its risk on each test part."""
    input:
        documents="data/parquet/{dataset}/documents.parquet",
        folds="data/parquet/{dataset}/folds.parquet",
        summary="data/parquet/{dataset}/summary.json",
        models=lambda wildcards: [
            f"results/{wildcards.study}/models/{wildcards.dataset}/{wildcards.model}/fold-{fold}.json"
            for fold in STUDY.folds(wildcards.dataset)
        ],
    output:
        output="results/{study}/evaluation/{dataset}/{model}.parquet",
        held_out="results/{study}/evaluation/{dataset}/{model}.held-out.json",
    pathvars:
        job="evaluate_model/{dataset}/{model}",
    params:
        command="evaluate-model",
        code=TRAININGS.code_of_evaluation,
        options=options(measures=STUDY.config["evaluation"]["measures"]),
