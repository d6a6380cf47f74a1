# Perceptron-like algorithms and generalization bounds: the experiments of the paper slam.
rule slam_losses:
    """Bounds, convexity, weights and constants of SLAM's losses, on random and adversarial lists and the data sets."""
    input:
        code=code(
            "slam_losses",
            *modules_of("ranksvm", "structured-ndcg", "svm-map", "listnet", "slam-ndcg", "slam-map", "slam-ndcg@k"),
        ),
        documents=per_dataset("data/parquet/{dataset}/documents.parquet"),
    output:
        tables=[
            table("slam-losses"),
            table("slam-constants"),
            table("slam-growth"),
            table("slam-weights"),
        ],
        evidence=evidence(
            "slam-eq3-eq5",
            "slam-lemma1",
            "slam-thm2",
            "slam-thm2-tight",
            "slam-thm3",
            "slam-cor7-weights",
            "slam-weight-sums",
            "slam-grad-l1",
            "slam-cor9-table",
            "slam-thm10",
        ),
    log:
        "results/{study}/logs/slam_losses.log",
    benchmark:
        "results/{study}/benchmarks/slam_losses.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("slam_losses"),
        runtime=runtime("slam_losses"),
    params:
        settings=compact(config["experiments"]["slam"]["losses"]),
        seed=config["seed"],
    shell:
        "python -m pipeline_lib slam-losses --settings {params.settings:q} --seed {params.seed} "
        "--documents {input.documents} --tables {output.tables} --evidence {output.evidence} > {log} 2>&1"


EVIDENCE["slam"] += rules.slam_losses.output.evidence
TABLES["slam"] += rules.slam_losses.output.tables


localrules:
    slam,


rule slam:
    """Perceptron-like algorithms and generalization bounds."""
    input:
        expand(EVIDENCE["slam"], study=STUDY.name),
