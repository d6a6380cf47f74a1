# Generalization bounds and the length of lists: the experiments of the paper lists.
rule lists_constants:
    """Constants of every surrogate, stated beside searched, and the lemmas that the bounds rest on."""
    output:
        tables=[
            table("lists-constants"),
            table("lists-identities"),
        ],
        evidence=evidence(
            "lists-prop1",
            "lists-prop2",
            "lists-ranksvm",
            "lists-g-relation",
            "lists-thm3",
            "lists-lemma4",
            "lists-lemma14",
        ),
    log:
        "results/{study}/logs/lists_constants.log",
    benchmark:
        "results/{study}/benchmarks/lists_constants.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("lists_constants"),
        runtime=runtime("lists_constants"),
    params:
        code=code("lists_constants", *surrogate_code(*surrogates.NAMES)),
        settings=compact(config["experiments"]["lists"]["constants"]),
        seed=config["seed"],
    shell:
        "python -m pipeline_lib lists-constants --settings {params.settings:q} --seed {params.seed} "
        "--tables {output.tables} --evidence {output.evidence} > {log} 2>&1"


LISTS_LOSSES = [entry["name"] for entry in config["experiments"]["lists"]["grid"]["losses"]]
LISTS_SURROGATES = [
    entry["surrogate"] for part in ("grid", "real") for entry in config["experiments"]["lists"][part]["losses"]
]


rule lists_grid:
    """Gaps and excess risks of one loss over the grid of queries and documents."""
    output:
        table=table("lists-grid-{loss}"),
    log:
        "results/{study}/logs/lists_grid/{loss}.log",
    benchmark:
        "results/{study}/benchmarks/lists_grid/{loss}.tsv"
    wildcard_constraints:
        loss="|".join(LISTS_LOSSES),
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("lists_grid"),
        runtime=runtime("lists_grid"),
    params:
        code=code("lists_grid", *surrogate_code(*LISTS_SURROGATES)),
        settings=compact(config["experiments"]["lists"]["grid"]),
        seed=config["seed"],
    shell:
        "python -m pipeline_lib lists-grid --settings {params.settings:q} --loss {wildcards.loss} "
        "--seed {params.seed} --table {output.table} > {log} 2>&1"


rule lists_real:
    """Gaps on subsampled queries and documents of one data set."""
    input:
        documents="data/parquet/{dataset}/documents.parquet",
    output:
        table=table("lists-real-{dataset}"),
    log:
        "results/{study}/logs/lists_real/{dataset}.log",
    benchmark:
        "results/{study}/benchmarks/lists_real/{dataset}.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("lists_real"),
        runtime=runtime("lists_real"),
    params:
        code=code("lists_real", *surrogate_code(*LISTS_SURROGATES)),
        settings=compact(config["experiments"]["lists"]["real"]),
        seed=config["seed"],
    shell:
        "python -m pipeline_lib lists-real --settings {params.settings:q} --dataset {wildcards.dataset} "
        "--documents {input.documents} --seed {params.seed} --table {output.table} > {log} 2>&1"


rule lists_sparse:
    """Gap and bound of the l1 class against the number of features."""
    output:
        table=table("lists-sparse"),
        evidence=evidence("lists-thm12"),
    log:
        "results/{study}/logs/lists_sparse.log",
    benchmark:
        "results/{study}/benchmarks/lists_sparse.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("lists_sparse"),
        runtime=runtime("lists_sparse"),
    params:
        code=code("lists_sparse", *surrogate_code("listnet")),
        settings=compact(config["experiments"]["lists"]["sparse"]),
        seed=config["seed"],
    shell:
        "python -m pipeline_lib lists-sparse --settings {params.settings:q} --seed {params.seed} "
        "--table {output.table} --evidence {output.evidence} > {log} 2>&1"


rule lists_averages:
    """Covering numbers, entropy integrals and closed forms beside packings and Monte Carlo estimates."""
    output:
        tables=[
            table("lists-rademacher"),
            table("lists-coverings"),
            table("lists-closed-forms"),
        ],
        evidence=evidence("lists-prop7", "lists-cor8"),
    log:
        "results/{study}/logs/lists_averages.log",
    benchmark:
        "results/{study}/benchmarks/lists_averages.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("lists_averages"),
        runtime=runtime("lists_averages"),
    params:
        code=code("lists_averages", *surrogate_code("listnet")),
        settings=compact(config["experiments"]["lists"]["averages"]),
        seed=config["seed"],
    shell:
        "python -m pipeline_lib lists-averages --settings {params.settings:q} --seed {params.seed} "
        "--tables {output.tables} --evidence {output.evidence} > {log} 2>&1"


rule lists_summary:
    """Means and bounds of every cell, fitted exponents, and the evidence that follows from the measured gaps."""
    input:
        grid=expand(table("lists-grid-{loss}"), study=STUDY.name, loss=LISTS_LOSSES),
        real=per_dataset(table("lists-real-{dataset}")),
    output:
        tables=[
            table("lists-cells"),
            table("lists-bounds"),
            table("lists-exponents"),
        ],
        evidence=evidence(
            "lists-thm5",
            "lists-thm6",
            "lists-thm9",
            "lists-eq8",
            "lists-thm17",
            "lists-m-free",
            "lists-n-rate",
            "lists-table1",
        ),
    log:
        "results/{study}/logs/lists_summary.log",
    benchmark:
        "results/{study}/benchmarks/lists_summary.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("lists_summary"),
        runtime=runtime("lists_summary"),
    params:
        code=code("lists_summary", *surrogate_code(*LISTS_SURROGATES)),
        settings=compact(config["experiments"]["lists"]["grid"]),
    shell:
        "python -m pipeline_lib lists-summary --settings {params.settings:q} --grid {input.grid} "
        "--real {input.real} --tables {output.tables} --evidence {output.evidence} > {log} 2>&1"


for made in (
    rules.lists_constants,
    rules.lists_sparse,
    rules.lists_averages,
    rules.lists_summary,
):
    EVIDENCE["lists"] += made.output.evidence
TABLES["lists"] += rules.lists_constants.output.tables
TABLES["lists"] += [rules.lists_sparse.output.table]
TABLES["lists"] += rules.lists_averages.output.tables
TABLES["lists"] += rules.lists_summary.output.tables
TABLES["lists"] += per_dataset(table("lists-real-{dataset}"))


localrules:
    lists,


rule lists:
    """Generalization bounds and the length of lists."""
    input:
        expand(EVIDENCE["lists"], study=STUDY.name),
        CHECKED,
        read_by("lists_"),
