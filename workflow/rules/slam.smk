# Perceptron-like algorithms and generalization bounds: the experiments of the paper slam.
rule slam_losses:
    """Bounds, convexity, weights and constants of SLAM's losses, on random and adversarial lists and the data sets."""
    input:
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
        code=code(
            "slam_losses",
            *surrogate_code(
                "ranksvm", "structured-ndcg", "svm-map", "listnet", "slam-ndcg", "slam-map", "slam-ndcg@k"
            ),
        ),
        settings=compact(config["experiments"]["slam"]["losses"]),
        seed=config["seed"],
    shell:
        "python -m pipeline_lib slam-losses --settings {params.settings:q} --seed {params.seed} "
        "--documents {input.documents} --tables {output.tables} --evidence {output.evidence} > {log} 2>&1"


rule slam_perceptron:
    """The perceptron's cumulative loss beside its bounds, over streams from populations, an adversary and data sets."""
    input:
        documents=per_dataset("data/parquet/{dataset}/documents.parquet"),
    output:
        tables=[
            table("slam-perceptron"),
            table("slam-eta"),
            table("slam-vmax"),
        ],
        evidence=evidence(
            "slam-prop4",
            "slam-thm5",
            "slam-cor7",
            "slam-eta-free",
            "slam-vmax",
            "slam-cor6",
        ),
    log:
        "results/{study}/logs/slam_perceptron.log",
    benchmark:
        "results/{study}/benchmarks/slam_perceptron.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("slam_perceptron"),
        runtime=runtime("slam_perceptron"),
    params:
        code=code("slam_perceptron", *surrogate_code("slam-ndcg", "slam-map", "slam-ndcg@k")),
        settings=compact(config["experiments"]["slam"]["perceptron"]),
        seed=config["seed"],
    shell:
        "python -m pipeline_lib slam-perceptron --settings {params.settings:q} --seed {params.seed} "
        "--documents {input.documents} --tables {output.tables} --evidence {output.evidence} > {log} 2>&1"


rule slam_risk:
    """Excess risk of regularised risk minimisation: one surrogate, a share of the repetitions."""
    output:
        "results/{study}/tables/slam-risk/{surrogate}-{part}.parquet",
    log:
        "results/{study}/logs/slam_risk/{surrogate}-{part}.log",
    benchmark:
        "results/{study}/benchmarks/slam_risk/{surrogate}-{part}.tsv"
    wildcard_constraints:
        surrogate="slam-ndcg|slam-map|listnet",
        part=r"\d+",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("slam_risk"),
        runtime=runtime("slam_risk"),
    params:
        code=code("slam_risk", *surrogate_code("slam-ndcg", "slam-map", "listnet")),
        settings=compact(config["experiments"]["slam"]["risk"]),
        seed=config["seed"],
    shell:
        "python -m pipeline_lib slam-risk --settings {params.settings:q} --surrogate {wildcards.surrogate} "
        "--part {wildcards.part} --seed {params.seed} --output {output} > {log} 2>&1"


rule slam_rates:
    """Excess risks beside Theorem 8, and how they fall with the number of queries."""
    input:
        risks=expand(
            "results/{{study}}/tables/slam-risk/{surrogate}-{part}.parquet",
            surrogate=["slam-ndcg", "slam-map", "listnet"],
            part=range(config["experiments"]["slam"]["risk"]["parts"]),
        ),
    output:
        tables=[
            table("slam-risk"),
            table("slam-rates"),
        ],
        evidence=evidence("slam-thm8"),
    log:
        "results/{study}/logs/slam_rates.log",
    benchmark:
        "results/{study}/benchmarks/slam_rates.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("slam_rates"),
        runtime=runtime("slam_rates"),
    params:
        code=code("slam_rates"),
        level=config["statistics"]["level"],
    shell:
        "python -m pipeline_lib slam-rates --risks {input.risks} --level {params.level} --tables {output.tables} "
        "--evidence {output.evidence} > {log} 2>&1"


rule slam_practice:
    """SLAM's learners beside all others, and perceptrons with and without a kernel, on every data set."""
    input:
        evaluations=EVALUATIONS,
        models="results/{study}/models.json",
    output:
        table=table("slam-practice"),
        evidence=evidence("slam-practice", "slam-kernel"),
    log:
        "results/{study}/logs/slam_practice.log",
    benchmark:
        "results/{study}/benchmarks/slam_practice.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("slam_practice"),
        runtime=runtime("slam_practice"),
    params:
        code=code("slam_practice"),
        level=config["statistics"]["level"],
        resamples=config["statistics"]["resamples"],
        seed=config["seed"],
    shell:
        "python -m pipeline_lib slam-practice --models {input.models} --evaluations {input.evaluations} "
        "--level {params.level} --resamples {params.resamples} --seed {params.seed} --table {output.table} "
        "--evidence {output.evidence} > {log} 2>&1"


for finished in (rules.slam_losses, rules.slam_perceptron, rules.slam_rates):
    EVIDENCE["slam"] += finished.output.evidence
    TABLES["slam"] += finished.output.tables
EVIDENCE["slam"] += rules.slam_practice.output.evidence
TABLES["slam"] += [rules.slam_practice.output.table]


localrules:
    slam,


rule slam:
    """Perceptron-like algorithms and generalization bounds."""
    input:
        expand(EVIDENCE["slam"], study=STUDY.name),
        CHECKED,
        read_by("slam_"),
