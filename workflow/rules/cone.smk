# ConeRank: the experiments of the paper cone.
TABLE_1_DATASETS = ("MQ2008", "MQ2007")
BASES = config["experiments"]["cone"]["bases"]


rule cone_cones:
    """Projections onto cones, norms and spectrum of pair differences, and the descent of the alternating steps."""
    input:
        documents=per_dataset("data/parquet/{dataset}/documents.parquet"),
    output:
        tables=[
            table("cone-identities"),
            table("cone-spectrum"),
            table("cone-descent"),
        ],
        evidence=evidence("cone-project", "cone-norm", "cone-descent", "cone-fig4"),
    log:
        "results/{study}/logs/cone_cones.log",
    benchmark:
        "results/{study}/benchmarks/cone_cones.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("cone_cones"),
        runtime=runtime("cone_cones"),
    params:
        code=code("cone_cones"),
        settings=compact(config["experiments"]["cone"]["cones"]),
        seed=config["seed"],
    shell:
        "python -m pipeline_lib cone-cones --settings {params.settings:q} --seed {params.seed} "
        "--documents {input.documents} --tables {output.tables} --evidence {output.evidence} > {log} 2>&1"


rule cone_bases_fold:
    """ConeRank with different bases, constants and updates on one fold."""
    input:
        documents="data/parquet/{dataset}/documents.parquet",
        folds="data/parquet/{dataset}/folds.parquet",
    output:
        tables=[
            "results/{study}/slices/cone-bases/{dataset}/fold-{fold}.parquet",
            "results/{study}/slices/cone-votes/{dataset}/fold-{fold}.parquet",
        ],
    log:
        "results/{study}/logs/cone_bases_fold/{dataset}/fold-{fold}.log",
    benchmark:
        "results/{study}/benchmarks/cone_bases_fold/{dataset}/fold-{fold}.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("cone_bases_fold"),
        runtime=runtime("cone_bases_fold"),
    params:
        code=code("cone_bases_fold", *surrogate_code("ranksvm")),
        settings=compact({key: value for key, value in BASES.items() if key != "datasets"}),
        seed=config["seed"],
    shell:
        "python -m pipeline_lib cone-bases-fold --settings {params.settings:q} --seed {params.seed} "
        "--dataset {wildcards.dataset} --fold {wildcards.fold} --documents {input.documents} --folds {input.folds} "
        "--tables {output.tables} > {log} 2>&1"


rule cone_bases:
    """All folds of the comparison of bases: Figure 3, K = 1 beside RankSVM, and the votes of Algorithm 2."""
    input:
        measured=per_dataset_fold("results/{study}/slices/cone-bases/{dataset}/fold-{fold}.parquet", BASES["datasets"]),
        votes=per_dataset_fold("results/{study}/slices/cone-votes/{dataset}/fold-{fold}.parquet", BASES["datasets"]),
    output:
        tables=[
            table("cone-bases"),
            table("cone-votes"),
        ],
        evidence=evidence("cone-fig3", "cone-k1", "cone-alg2-linear"),
    log:
        "results/{study}/logs/cone_bases.log",
    benchmark:
        "results/{study}/benchmarks/cone_bases.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("cone_bases"),
        runtime=runtime("cone_bases"),
    params:
        code=code("cone_bases"),
    shell:
        "python -m pipeline_lib cone-bases --measured {input.measured} --votes {input.votes} "
        "--tables {output.tables} --evidence {output.evidence} > {log} 2>&1"


rule cone_stability_slice:
    """ConeRank retrained without each query, for one number of queries."""
    output:
        "results/{study}/slices/cone-stability/queries-{queries}.parquet",
    log:
        "results/{study}/logs/cone_stability_slice/queries-{queries}.log",
    benchmark:
        "results/{study}/benchmarks/cone_stability_slice/queries-{queries}.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("cone_stability_slice"),
        runtime=runtime("cone_stability_slice"),
    params:
        code=code("cone_stability_slice"),
        settings=compact(config["experiments"]["cone"]["stability"]),
        seed=config["seed"],
    shell:
        "python -m pipeline_lib cone-stability-slice --settings {params.settings:q} --seed {params.seed} "
        "--queries {wildcards.queries} --output {output} > {log} 2>&1"


rule cone_stability:
    """Stability against the number of queries: exponents, and Theorems 1 and 2."""
    input:
        slices=expand(
            "results/{{study}}/slices/cone-stability/queries-{queries}.parquet",
            queries=config["experiments"]["cone"]["stability"]["queries"],
        ),
    output:
        tables=[
            table("cone-stability"),
            table("cone-stability-exponents"),
        ],
        evidence=evidence("cone-thm1", "cone-thm2", "cone-smax"),
    log:
        "results/{study}/logs/cone_stability.log",
    benchmark:
        "results/{study}/benchmarks/cone_stability.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("cone_stability"),
        runtime=runtime("cone_stability"),
    params:
        code=code("cone_stability"),
    shell:
        "python -m pipeline_lib cone-stability --slices {input.slices} --tables {output.tables} "
        "--evidence {output.evidence} > {log} 2>&1"


rule cone_table1:
    """Table 1: the seven methods on fold 1 and on all folds, beside what was published."""
    input:
        evaluations=per_published_model("results/{study}/evaluation/{dataset}/{model}.parquet", TABLE_1_DATASETS),
        published="workflow/published/cone-table1.csv",
    output:
        tables=[table("cone-table1")],
        evidence=evidence("cone-table1-mq2008", "cone-table1-mq2007"),
    log:
        "results/{study}/logs/cone_table1.log",
    benchmark:
        "results/{study}/benchmarks/cone_table1.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("cone_table1"),
        runtime=runtime("cone_table1"),
    params:
        code=code("cone_table1"),
        reproduces=compact({model.name: model.published for model in STUDY.models if model.published}),
        how_to_get=compact({name: mirrors.how_to_get(CATALOG[name], RAW) for name in TABLE_1_DATASETS}),
        resamples=config["statistics"]["resamples"],
        seed=config["seed"],
    shell:
        "python -m pipeline_lib cone-table1 --evaluations {input.evaluations} --published {input.published} "
        "--reproduces {params.reproduces:q} --how-to-get {params.how_to_get:q} --resamples {params.resamples} "
        "--seed {params.seed} --tables {output.tables} --evidence {output.evidence} > {log} 2>&1"


rule cone_adarank:
    """AdaRank on the data sets of Table 1 with five rules for stopping: what its rows depend on."""
    input:
        documents=[f"data/parquet/{name}/documents.parquet" for name in TABLE_1_DATASETS if name in DATASETS],
        folds=[f"data/parquet/{name}/folds.parquet" for name in TABLE_1_DATASETS if name in DATASETS],
    output:
        tables=[table("cone-adarank")],
    log:
        "results/{study}/logs/cone_adarank.log",
    benchmark:
        "results/{study}/benchmarks/cone_adarank.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("cone_adarank"),
        runtime=runtime("cone_adarank"),
    params:
        code=code("cone_adarank"),
        resamples=config["statistics"]["resamples"],
        seed=config["seed"],
    shell:
        "python -m pipeline_lib cone-adarank --documents {input.documents} --folds {input.folds} "
        "--fold-numbers 1 2 3 4 5 --resamples {params.resamples} --seed {params.seed} --tables {output.tables} "
        "> {log} 2>&1"


TABLES["cone"] += rules.cone_adarank.output.tables
for made in (rules.cone_cones, rules.cone_bases, rules.cone_stability, rules.cone_table1):
    EVIDENCE["cone"] += made.output.evidence
    TABLES["cone"] += made.output.tables


localrules:
    cone,


rule cone:
    """ConeRank."""
    input:
        expand(EVIDENCE["cone"], study=STUDY.name),
        CHECKED,
        read_by("cone_"),
