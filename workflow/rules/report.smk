# From per-query values to tables, judged claims and one page.
PUBLISHED = sorted(str(path) for path in Path("workflow/published").glob("*.csv"))
LEDGER = sorted(os.path.relpath(paper.folder / "claims.yaml") for paper in papers.every())
TEMPLATES = sorted(os.path.relpath(path) for path in (ROOT / "pipeline_lib/reporting/templates").glob("*"))
# Whose formulas the report shows.
CHOSEN_LEARNERS = [
    *sorted({learners.target_of(model.algorithm) for model in STUDY.models}),
    *surrogate_code(*(model.surrogate for model in STUDY.models if model.surrogate)),
]
PAGES = [page for page in map(papers.page_of, STUDY.papers) if page]


rule describe_data:
    """Say what a data set holds, beside what its catalogue entry expects."""
    input:
        summary="data/parquet/{dataset}/summary.json",
        documents="data/parquet/{dataset}/documents.parquet",
    output:
        report(
            "results/{study}/data/{dataset}.json",
            caption="../captions/data.rst",
            category="Data sets",
            subcategory="{dataset}",
            labels={"description": "{dataset}"},
        ),
    log:
        "results/{study}/logs/describe_data/{dataset}.log",
    benchmark:
        "results/{study}/benchmarks/describe_data/{dataset}.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("describe_data"),
        runtime=runtime("describe_data"),
    params:
        code=code("describe_data"),
        entry=entry("describe_data"),
    shell:
        "python -m pipeline_lib describe-data --dataset {wildcards.dataset} --summary {input.summary} "
        "--documents {input.documents} --output {output} > {log} 2>&1"


rule summarise_results:
    """Means over folds with intervals, training records, and published numbers beside ours."""
    input:
        evaluations=EVALUATIONS,
        models=TRAINED,
        published=PUBLISHED,
    output:
        measures=report(
            "results/{study}/tables/measures.parquet",
            caption="../captions/measures.rst",
            category="Models",
            labels={"table": "measures by fold"},
        ),
        summary="results/{study}/tables/summary.parquet",
        training="results/{study}/tables/training.parquet",
        published="results/{study}/tables/published.parquet",
        validation="results/{study}/tables/validation.parquet",
    log:
        "results/{study}/logs/summarise_results.log",
    benchmark:
        "results/{study}/benchmarks/summarise_results.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("summarise_results"),
        runtime=runtime("summarise_results"),
    params:
        code=code("summarise_results"),
        reproduces=compact({entry.name: entry.published for entry in STUDY.models if entry.published}),
        level=STUDY.config["statistics"]["level"],
        resamples=STUDY.config["statistics"]["resamples"],
        seed=STUDY.config["seed"],
        folder=lambda wildcards, output: str(Path(output.measures).parent),
    shell:
        "python -m pipeline_lib summarise-results --evaluations {input.evaluations} --models {input.models} "
        "--published {input.published} --reproduces {params.reproduces:q} --level {params.level} "
        "--resamples {params.resamples} --seed {params.seed} --output {params.folder} > {log} 2>&1"


rule compare_models:
    """Paired randomisation tests between all models of a data set, with Holm's correction."""
    input:
        evaluations=EVALUATIONS,
    output:
        report(
            "results/{study}/tables/comparisons.parquet",
            caption="../captions/comparisons.rst",
            category="Models",
            labels={"table": "paired tests"},
        ),
    log:
        "results/{study}/logs/compare_models.log",
    benchmark:
        "results/{study}/benchmarks/compare_models.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("compare_models"),
        runtime=runtime("compare_models"),
    params:
        code=code("compare_models"),
        measures=STUDY.config["evaluation"]["compared"],
        level=STUDY.config["statistics"]["level"],
        resamples=STUDY.config["statistics"]["resamples"],
        seed=STUDY.config["seed"],
    shell:
        "python -m pipeline_lib compare-models --evaluations {input.evaluations} --measures {params.measures} "
        "--level {params.level} --resamples {params.resamples} --seed {params.seed} --output {output} > {log} 2>&1"


rule record_study:
    """Write down what was asked for and which data sets were there."""
    output:
        configuration="results/{study}/configuration.yaml",
        availability="results/{study}/availability.json",
        models="results/{study}/models.json",
    log:
        "results/{study}/logs/record_study.log",
    benchmark:
        "results/{study}/benchmarks/record_study.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("record_study"),
        runtime=runtime("record_study"),
    params:
        code=code("record_study"),
        configuration=compact(STUDY.config),
        availability=compact(availability_record()),
    shell:
        "python -m pipeline_lib record-study --configuration {params.configuration:q} "
        "--availability {params.availability:q} --output-configuration {output.configuration} "
        "--output-availability {output.availability} --output-models {output.models} > {log} 2>&1"


rule judge_claims:
    """Turn the evidence of the experiments into a status for every claim."""
    input:
        ledger=LEDGER,
        evidence=EVIDENCE,
        tables=SHOWN_TABLES,
        availability="results/{study}/availability.json",
    output:
        report(
            "reports/{study}/claims.json",
            caption="../captions/claims.rst",
            category="Claims",
            labels={"table": "all claims"},
        ),
    log:
        "results/{study}/logs/judge_claims.log",
    benchmark:
        "results/{study}/benchmarks/judge_claims.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("judge_claims"),
        runtime=runtime("judge_claims"),
    params:
        code=code("judge_claims"),
    shell:
        "python -m pipeline_lib judge-claims --study {wildcards.study} "
        "--evidence {input.evidence} --availability {input.availability} --output {output} > {log} 2>&1"


rule render_report:
    """Write the page, every table as CSV and LaTeX, and every figure as SVG and PNG."""
    input:
        templates=TEMPLATES,
        data=per_dataset("results/{study}/data/{dataset}.json"),
        measures="results/{study}/tables/measures.parquet",
        summary="results/{study}/tables/summary.parquet",
        training="results/{study}/tables/training.parquet",
        published="results/{study}/tables/published.parquet",
        comparisons="results/{study}/tables/comparisons.parquet",
        configuration="results/{study}/configuration.yaml",
        availability="results/{study}/availability.json",
        models="results/{study}/models.json",
        validation="results/{study}/tables/validation.parquet",
        ledger=LEDGER,
        claims="reports/{study}/claims.json",
        evidence=EVIDENCE,
        tables=SHOWN_TABLES,
    output:
        page="reports/{study}/index.html",
        tables=directory("reports/{study}/tables"),
        figures=report(
            directory("reports/{study}/figures"),
            patterns=["{figure}.svg"],
            caption="../captions/figures.rst",
            category="Figures",
            labels={"figure": "{figure}"},
        ),
    log:
        "results/{study}/logs/render_report.log",
    benchmark:
        "results/{study}/benchmarks/render_report.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=mem_mb("render_report"),
        runtime=runtime("render_report"),
    params:
        code=code("render_report", *PAGES, *CHOSEN_LEARNERS),
        papers=STUDY.papers,
    shell:
        "python -m pipeline_lib render-report --results results/{wildcards.study} "
        "--evidence {input.evidence} --papers {params.papers} --report reports/{wildcards.study} > {log} 2>&1"
