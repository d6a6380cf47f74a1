# Two-layer generalization analysis: the experiments of the paper twolayer.
rule twolayer_statements:
    """Definition 3, equation 6 and the formula for a budget, beside plain computations."""
    output:
        tables=[table("twolayer-identities"), table("twolayer-plans")],
        evidence=evidence("two-def3", "two-eq6", "two-budget", "two-capacity"),
    log:
        "results/{study}/logs/twolayer_statements.log",
    benchmark:
        "results/{study}/benchmarks/twolayer_statements.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("twolayer_statements"),
        runtime=runtime("twolayer_statements"),
    params:
        code=code("twolayer_statements", *surrogate_code("ranksvm", "ranknet", "rankboost")),
        settings=compact(config["experiments"]["twolayer"]["statements"]),
        seed=config["seed"],
    shell:
        "python -m pipeline_lib twolayer-statements --settings {params.settings:q} --seed {params.seed} "
        "--tables {output.tables} --evidence {output.evidence} > {log} 2>&1"


rule twolayer_gaps_slice:
    """Some repetitions of the gaps over the grid of queries and documents."""
    output:
        rows="results/{study}/twolayer/gaps-{slice}.parquet",
    log:
        "results/{study}/logs/twolayer_gaps_slice/{slice}.log",
    benchmark:
        "results/{study}/benchmarks/twolayer_gaps_slice/{slice}.tsv"
    wildcard_constraints:
        slice=r"\d+",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("twolayer_gaps_slice"),
        runtime=runtime("twolayer_gaps_slice"),
    params:
        code=code("twolayer_gaps_slice", *surrogate_code("ranksvm", "ranknet", "rankboost")),
        settings=compact(config["experiments"]["twolayer"]["gaps"]),
        seed=config["seed"],
    shell:
        "python -m pipeline_lib twolayer-gaps-slice --settings {params.settings:q} --seed {params.seed} "
        "--slice {wildcards.slice} --output {output.rows} > {log} 2>&1"


rule twolayer_gaps:
    """The gaps of all slices beside the bounds, their limits, and the bounds that stood before."""
    input:
        slices=expand(
            "results/{{study}}/twolayer/gaps-{slice}.parquet",
            slice=range(config["experiments"]["twolayer"]["gaps"]["slices"]),
        ),
    output:
        tables=[
            table("twolayer-gaps"),
            table("twolayer-limits"),
            table("twolayer-older-bounds"),
        ],
        evidence=evidence("two-thm1", "two-thm2", "two-thm3", "two-both", "two-vs-old"),
    log:
        "results/{study}/logs/twolayer_gaps.log",
    benchmark:
        "results/{study}/benchmarks/twolayer_gaps.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("twolayer_gaps"),
        runtime=runtime("twolayer_gaps"),
    params:
        code=code("twolayer_gaps", *surrogate_code("ranksvm", "ranknet", "rankboost")),
        settings=compact(config["experiments"]["twolayer"]["gaps"]),
        seed=config["seed"],
    shell:
        "python -m pipeline_lib twolayer-gaps --settings {params.settings:q} --seed {params.seed} "
        "--slices {input.slices} --tables {output.tables} --evidence {output.evidence} > {log} 2>&1"


rule twolayer_samplings:
    """Gaps under two-layer sampling and under (n, m)-sampling."""
    output:
        table=table("twolayer-samplings"),
        evidence=evidence("two-nm-sampling"),
    log:
        "results/{study}/logs/twolayer_samplings.log",
    benchmark:
        "results/{study}/benchmarks/twolayer_samplings.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("twolayer_samplings"),
        runtime=runtime("twolayer_samplings"),
    params:
        code=code("twolayer_samplings", *surrogate_code("ranksvm", "ranknet", "rankboost")),
        settings=compact(config["experiments"]["twolayer"]["samplings"]),
        seed=config["seed"],
    shell:
        "python -m pipeline_lib twolayer-samplings --settings {params.settings:q} --seed {params.seed} "
        "--table {output.table} --evidence {output.evidence} > {log} 2>&1"


rule twolayer_tradeoff_slice:
    """Some repetitions of deep against shallow judging, on the population and the data sets."""
    input:
        documents=per_dataset("data/parquet/{dataset}/documents.parquet"),
        folds=per_dataset("data/parquet/{dataset}/folds.parquet"),
    output:
        rows="results/{study}/twolayer/tradeoff-{slice}.parquet",
    log:
        "results/{study}/logs/twolayer_tradeoff_slice/{slice}.log",
    benchmark:
        "results/{study}/benchmarks/twolayer_tradeoff_slice/{slice}.tsv"
    wildcard_constraints:
        slice=r"\d+",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("twolayer_tradeoff_slice"),
        runtime=runtime("twolayer_tradeoff_slice"),
    params:
        code=code("twolayer_tradeoff_slice", *surrogate_code("ranksvm", "ranknet", "rankboost")),
        settings=compact(config["experiments"]["twolayer"]["tradeoff"]),
        seed=config["seed"],
        folds=compact({name: STUDY.folds(name) for name in DATASETS}),
    shell:
        "python -m pipeline_lib twolayer-tradeoff-slice --settings {params.settings:q} --seed {params.seed} "
        "--slice {wildcards.slice} --documents {input.documents} --folds {params.folds:q} "
        "--output {output.rows} > {log} 2>&1"


rule twolayer_tradeoff:
    """Errors at a fixed budget over all splits, the best split, and n*."""
    input:
        slices=expand(
            "results/{{study}}/twolayer/tradeoff-{slice}.parquet",
            slice=range(config["experiments"]["twolayer"]["tradeoff"]["slices"]),
        ),
    output:
        tables=[table("twolayer-tradeoff"), table("twolayer-best-splits")],
        evidence=evidence("two-tradeoff"),
    log:
        "results/{study}/logs/twolayer_tradeoff.log",
    benchmark:
        "results/{study}/benchmarks/twolayer_tradeoff.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("twolayer_tradeoff"),
        runtime=runtime("twolayer_tradeoff"),
    params:
        code=code("twolayer_tradeoff", *surrogate_code("ranksvm", "ranknet", "rankboost")),
        settings=compact(config["experiments"]["twolayer"]["tradeoff"]),
        seed=config["seed"],
    shell:
        "python -m pipeline_lib twolayer-tradeoff --settings {params.settings:q} --seed {params.seed} "
        "--slices {input.slices} --tables {output.tables} --evidence {output.evidence} > {log} 2>&1"


EVIDENCE["twolayer"] += [
    *rules.twolayer_statements.output.evidence,
    *rules.twolayer_gaps.output.evidence,
    *rules.twolayer_samplings.output.evidence,
    *rules.twolayer_tradeoff.output.evidence,
]
TABLES["twolayer"] += [
    *rules.twolayer_statements.output.tables,
    *rules.twolayer_gaps.output.tables,
    rules.twolayer_samplings.output.table,
    *rules.twolayer_tradeoff.output.tables,
]


localrules:
    twolayer,


rule twolayer:
    """Two-layer generalization analysis."""
    input:
        expand(EVIDENCE["twolayer"], study=STUDY.name),
        CHECKED,
        read_by("twolayer_"),
