# Training jobs, one for a model on all folds where trainings are short, and else one for each fold; one evaluation per
# data set and model, with the risks on test parts.
EVALUATIONS = per_model("results/{study}/evaluation/{dataset}/{model}.parquet")
HELD_OUT = per_model("results/{study}/evaluation/{dataset}/{model}.held-out.json")
TRAINED = per_trained_fold("results/{study}/models/{dataset}/{model}/fold-{fold}.json")


use rule job as train_model with:
    """Train one model on all folds, one after the other, with settings chosen on the validation parts."""
    input:
        documents="data/parquet/{dataset}/documents.parquet",
        folds="data/parquet/{dataset}/folds.parquet",
    output:
        output=[f"results/{{study}}/models/{{dataset}}/{{model}}/fold-{fold}.json" for fold in USUAL_FOLDS],
    pathvars:
        job="train_model/{dataset}/{model}",
    wildcard_constraints:
        dataset=of_short_trainings(True),
    group:
        batch("train_model")
    threads: threads_of_training
    params:
        command="train-model",
        code=code_of_training,
        options=options(
            dataset=wildcard("dataset"),
            model=wildcard("model"),
            algorithm=algorithm,
            settings=training_settings,
            fold=folds_of_job,
            seed=STUDY.config["seed"],
        ),


use rule train_model as train_fold with:
    """Train one model on one fold, with settings chosen on the validation part."""
    output:
        output="results/{study}/models/{dataset}/{model}/fold-{fold}.json",
    pathvars:
        job="train_fold/{dataset}/{model}/fold-{fold}",
    wildcard_constraints:
        dataset=of_short_trainings(False),


use rule job as evaluate_model with:
    """Evaluate one model on every test query of every fold, and record its risk on each test part."""
    input:
        documents="data/parquet/{dataset}/documents.parquet",
        folds="data/parquet/{dataset}/folds.parquet",
        summary="data/parquet/{dataset}/summary.json",
        models=per_fold("results/{study}/models/{dataset}/{model}/fold-{fold}.json"),
    output:
        output="results/{study}/evaluation/{dataset}/{model}.parquet",
        held_out="results/{study}/evaluation/{dataset}/{model}.held-out.json",
    pathvars:
        job="evaluate_model/{dataset}/{model}",
    group:
        batch("evaluate_model")
    params:
        command="evaluate-model",
        code=code_of_evaluation,
        options=options(measures=STUDY.config["evaluation"]["measures"]),
