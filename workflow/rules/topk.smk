# Online learning to rank with feedback at the top: the experiments of the paper topk.
rule topk_exactness:
    """Lemmas 1 to 5 and the estimators, by enumeration of everything that may be shown."""
    output:
        tables=[
            table("topk-biases"),
            table("topk-moments"),
            table("topk-identities"),
        ],
        evidence=evidence(
            "topk-lemma1",
            "topk-estimators",
            "topk-p-compact",
            "topk-lemma2",
            "topk-lemma3",
            "topk-kl-min",
            "topk-lemma4",
            "topk-lemma5",
        ),
    log:
        "results/{study}/logs/topk_exactness.log",
    benchmark:
        "results/{study}/benchmarks/topk_exactness.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("topk_exactness"),
        runtime=runtime("topk_exactness"),
    params:
        code=code(
            "topk_exactness",
            *surrogate_code("squared", "kl", "smooth-dcg", "ranksvm", "ranknet", "rankboost", "listnet"),
        ),
        settings=compact(config["experiments"]["topk"]["exactness"]),
        seed=config["seed"],
    shell:
        "python -m pipeline_lib topk-exactness --settings {params.settings:q} --seed {params.seed} "
        "--tables {output.tables} --evidence {output.evidence} > {log} 2>&1"


rule topk_regret_slice:
    """Some seeds of the games with growing numbers of rounds."""
    output:
        rows="results/{study}/topk/regret-{slice}.parquet",
    log:
        "results/{study}/logs/topk_regret_slice/{slice}.log",
    benchmark:
        "results/{study}/benchmarks/topk_regret_slice/{slice}.tsv"
    wildcard_constraints:
        slice=r"\d+",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("topk_regret_slice"),
        runtime=runtime("topk_regret_slice"),
    params:
        code=code("topk_regret_slice", *surrogate_code("squared", "kl", "ranksvm")),
        settings=compact(config["experiments"]["topk"]["regret"]),
        seed=config["seed"],
    shell:
        "python -m pipeline_lib topk-regret-slice --settings {params.settings:q} --seed {params.seed} "
        "--slice {wildcards.slice} --output {output.rows} > {log} 2>&1"


rule topk_regret:
    """Regret against the best fixed ranker, from the games of all slices."""
    input:
        slices=expand(
            "results/{{study}}/topk/regret-{slice}.parquet",
            slice=range(config["experiments"]["topk"]["regret"]["slices"]),
        ),
    output:
        tables=[
            table("topk-regret"),
            table("topk-exponents"),
        ],
        evidence=evidence("topk-eq4", "topk-thm41"),
    log:
        "results/{study}/logs/topk_regret.log",
    benchmark:
        "results/{study}/benchmarks/topk_regret.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("topk_regret"),
        runtime=runtime("topk_regret"),
    params:
        code=code("topk_regret", *surrogate_code("squared", "kl", "ranksvm")),
        settings=compact(config["experiments"]["topk"]["regret"]),
        seed=config["seed"],
    shell:
        "python -m pipeline_lib topk-regret --settings {params.settings:q} --seed {params.seed} "
        "--slices {input.slices} "
        "--tables {output.tables} --evidence {output.evidence} > {log} 2>&1"


rule topk_adversary:
    """Two adversaries that no label of a top document tells apart."""
    output:
        tables=[
            table("topk-table1"),
            table("topk-adversary"),
        ],
        evidence=evidence("topk-table1", "topk-thm52"),
    log:
        "results/{study}/logs/topk_adversary.log",
    benchmark:
        "results/{study}/benchmarks/topk_adversary.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("topk_adversary"),
        runtime=runtime("topk_adversary"),
    params:
        code=code("topk_adversary", *surrogate_code("squared", "kl", "smooth-dcg", "squared-ndcg")),
        settings=compact(config["experiments"]["topk"]["adversary"]),
        seed=config["seed"],
    shell:
        "python -m pipeline_lib topk-adversary --settings {params.settings:q} --seed {params.seed} "
        "--tables {output.tables} --evidence {output.evidence} > {log} 2>&1"


rule topk_repair:
    """Ball and step of the unbiased learner, chosen on the study's first data set at hand."""
    input:
        documents=per_dataset("data/parquet/{dataset}/documents.parquet")[:1],
    output:
        table=table("topk-repair"),
    log:
        "results/{study}/logs/topk_repair.log",
    benchmark:
        "results/{study}/benchmarks/topk_repair.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("topk_repair"),
        runtime=runtime("topk_repair"),
    params:
        code=code("topk_repair", *surrogate_code("squared", "kl", "ranksvm")),
        settings=compact(config["experiments"]["topk"]["figure"]),
        seed=config["seed"],
    shell:
        "python -m pipeline_lib topk-repair --settings {params.settings:q} --seed {params.seed} "
        "--documents {input.documents} --table {output.table} > {log} 2>&1"


rule topk_figure:
    """Figure 1 on one data set."""
    input:
        documents="data/parquet/{dataset}/documents.parquet",
        repair=table("topk-repair"),
    output:
        table="results/{study}/topk/{dataset}/curves.parquet",
    log:
        "results/{study}/logs/topk_figure/{dataset}.log",
    benchmark:
        "results/{study}/benchmarks/topk_figure/{dataset}.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("topk_figure"),
        runtime=runtime("topk_figure"),
    params:
        code=code("topk_figure", *surrogate_code("squared", "kl", "ranksvm", "smooth-dcg", "listnet")),
        settings=compact(config["experiments"]["topk"]["figure"]),
        seed=config["seed"],
    shell:
        "python -m pipeline_lib topk-figure --settings {params.settings:q} --seed {params.seed} "
        "--documents {input.documents} --repair {input.repair} --table {output.table} > {log} 2>&1"


rule topk_order:
    """Figure 1 on all data sets at hand, and the order of the learners at its end."""
    input:
        curves=per_dataset("results/{study}/topk/{dataset}/curves.parquet"),
    output:
        table=table("topk-curves"),
        evidence=evidence("topk-fig1", "topk-fig1-bias", "topk-smoothdcg-sign"),
    log:
        "results/{study}/logs/topk_order.log",
    benchmark:
        "results/{study}/benchmarks/topk_order.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("topk_order"),
        runtime=runtime("topk_order"),
    params:
        code=code("topk_order"),
    shell:
        "python -m pipeline_lib topk-order --curves {input.curves} --table {output.table} "
        "--evidence {output.evidence} > {log} 2>&1"


for experiment in (
    rules.topk_exactness,
    rules.topk_regret,
    rules.topk_adversary,
    rules.topk_order,
):
    EVIDENCE["topk"] += experiment.output.evidence
TABLES["topk"] += [
    *rules.topk_exactness.output.tables,
    *rules.topk_regret.output.tables,
    *rules.topk_adversary.output.tables,
    *([table("topk-repair")] if DATASETS else []),
    rules.topk_order.output.table,
]


localrules:
    topk,


rule topk:
    """Online learning to rank with feedback at the top."""
    input:
        expand(EVIDENCE["topk"], study=STUDY.name),
        CHECKED,
        read_by("topk_"),
