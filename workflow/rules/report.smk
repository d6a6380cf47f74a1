# From per-query values to tables, judged claims and one page.
PUBLISHED = sorted(map(of_project, (CODE / "workflow/published").glob("*.csv")))
LEDGER = sorted(of_project(path) for paper in papers.every() for path in (*paper.ledger, paper.folder / "paper.toml"))
CERTIFICATES = sorted(
    of_project(path) for one in (*STUDY.papers, SHARED) for path in (CODE / "pipeline_lib/proofs" / one).glob("*.toml")
)
TEMPLATES = sorted(map(of_project, (CODE / "pipeline_lib/report/templates").glob("*")))
# The pages of the documentation that the report shows.
SHIPPED = ["glossary", "references", novelty.PAGE, *(name for paper in papers.every() for name in paper.proofs)]
TERMS = [of_project(path) for name in SHIPPED if (path := CODE / f"docs/{name}.md").exists()]
PAGES = sorted(of_project(path) for paper in STUDY.papers for path in papers.page_files(paper))
ERRATA = [of_project(path) for path in errata.files()]
# The classes of the models' surrogates, which the settings of models name.
SURROGATES = sorted({surrogates.target_of(model.surrogate) for model in STUDY.models if model.surrogate})
# Whose formulas the report shows.
CHOSEN = [
    *sorted({learners.target_of(model.algorithm) for model in STUDY.models}),
    *SURROGATES,
    *sorted({metrics.target_of(name) for name in STUDY.config["evaluation"]["measures"]}),
]
FINDINGS = [f"results/{{study}}/findings/{name}.json" for name in DATA.own_present]
# Only features of own data have names.
WEIGHTS = {"weights": "results/{study}/tables/weights.parquet"} if DATA.own else {}
# How good the rankers of own data are at least, and how many queries would tell them apart.
CERTIFIED = [f"results/{{study}}/tables/{name}.parquet" for name in ("limits", "plans") if DATA.own_present]
HEADLINES = list(dict.fromkeys([STUDY.config["evaluation"]["headline"], *STUDY.config["evaluation"]["compared"]]))
# Data of the catalogue are judged by the order of their files where scores are equal.
TIES = {"ties": "results/{study}/tables/ties.parquet"} if DATA.own else {}
PAGE_CODE = [page for page in map(papers.page_of, STUDY.papers) if page]
WITNESS_CODE = [module for paper in STUDY.papers for module in papers.witness_modules(paper)]
# The report says which experiment made a table.
EXPERIMENT_CODE = [papers.module_of(paper, name) for paper in STUDY.papers for name in papers.experiments(paper)]


use rule job as describe_data with:
    """Describe a data set and compare it with its entry in the catalogue."""
    input:
        summary="data/parquet/{dataset}/summary.json",
        documents="data/parquet/{dataset}/documents.parquet",
    output:
        output=report(
            "results/{study}/data/{dataset}.json",
            caption="../captions/data.rst",
            category="Data sets",
            subcategory="{dataset}",
            labels={"description": "{dataset}"},
        ),
    pathvars:
        job="describe_data/{dataset}",
    params:
        command="describe-data",
        code=code("describe_data"),
        entry=DATA.entry("describe_data"),
        options=options(dataset=wildcard("dataset"), own=DATA.own_entry("describe_data")),


use rule job as examine_data with:
    """Look for what makes results on an own data set mislead, and count its lists by their documents."""
    input:
        documents="data/parquet/{dataset}/documents.parquet",
    output:
        output=f"results/{{study}}/findings/{{dataset,{OWN_NAMES}}}.json",
    pathvars:
        job="examine_data/{dataset}",
    params:
        command="examine-data",
        code=code("examine_data"),
        options=options(dataset=wildcard("dataset"), own=DATA.own_entry("examine_data")),


use rule job as summarise_results with:
    """Compute means over folds with intervals, training records, and comparisons with published numbers."""
    input:
        evaluations=EVALUATIONS,
        models=TRAINED,
        held_out=HELD_OUT,
        published=PUBLISHED,
    output:
        report(
            "results/{study}/tables/measures.parquet",
            caption="../captions/measures.rst",
            category="Models",
            labels={"table": "measures by fold"},
        ),
        "results/{study}/tables/summary.parquet",
        "results/{study}/tables/training.parquet",
        "results/{study}/tables/published.parquet",
        "results/{study}/tables/validation.parquet",
        "results/{study}/tables/certificates.parquet",
        **WEIGHTS,
        **TIES,
        untrained="results/{study}/untrained.json",
    pathvars:
        job="summarise_results",
    params:
        command="summarise-results",
        code=code("summarise_results", *SURROGATES, reads=PUBLISHED),
        options=options(
            reproduces=STUDY.reproduces,
            level=STUDY.config["statistics"]["level"],
            resamples=STUDY.config["statistics"]["resamples"],
            seed=STUDY.config["seed"],
            output=f"results/{STUDY.name}/tables",
        ),


use rule job as compare_models with:
    """Test all pairs of models of a data set by randomisation, as one family of comparisons."""
    input:
        evaluations=EVALUATIONS,
    output:
        output=report(
            "results/{study}/tables/comparisons.parquet",
            caption="../captions/comparisons.rst",
            category="Models",
            labels={"table": "paired tests"},
        ),
    pathvars:
        job="compare_models",
    params:
        command="compare-models",
        code=code("compare_models"),
        options=options(
            measures=STUDY.config["evaluation"]["compared"],
            level=STUDY.config["statistics"]["level"],
            resamples=STUDY.config["statistics"]["resamples"],
            seed=STUDY.config["seed"],
        ),


use rule job as certify_models with:
    """Give limits of the means of all models on own data, and the queries that would tell two of them apart."""
    input:
        evaluations=DATA.per_model("results/{study}/evaluation/{dataset}/{model}.parquet", DATA.own_present),
    output:
        limits="results/{study}/tables/limits.parquet",
        plans="results/{study}/tables/plans.parquet",
    pathvars:
        job="certify_models",
    params:
        command="certify-models",
        code=code("certify_models"),
        options=options(
            measures=HEADLINES,
            level=STUDY.config["statistics"]["level"],
        ),


use rule job as record_study with:
    """Record the configuration of the study and which data sets were available."""
    output:
        output_configuration="results/{study}/configuration.yaml",
        output_availability="results/{study}/availability.json",
        output_models="results/{study}/models.json",
        output_changes="results/{study}/changes.json",
    pathvars:
        job="record_study",
    localrule: True
    params:
        command="record-study",
        code=code("record_study"),
        options=options(
            configuration=STUDY.config,
            availability=compact(mirrors.record(DATA.availability, RAW)),
            untrained=STUDY.untrained,
        ),


use rule job as judge_claims with:
    """Turn the tables of the study into a status for every claim."""
    input:
        LEDGER,
        CERTIFICATES,
        tables=SHOWN_TABLES,
        availability="results/{study}/availability.json",
    output:
        output=report(
            "reports/{study}/claims.json",
            caption="../captions/claims.rst",
            category="Claims",
            labels={"table": "all claims"},
        ),
    pathvars:
        job="judge_claims",
    localrule: True
    params:
        command="judge-claims",
        code=code("judge_claims", reads=[*LEDGER, *CERTIFICATES]),
        options=options(
            study=STUDY.name,
            settings={
                paper: {step.experiment: step.arguments for step in CHOSEN_STEPS if step.paper == paper}
                for paper in STUDY.papers
            },
        ),


use rule job as render_report with:
    """Write the pages and the article, every table as CSV and LaTeX, and every figure as SVG, with Typst also as PDF."""
    input:
        TEMPLATES,
        TERMS,
        PAGES,
        ERRATA,
        DATA.per_dataset("results/{study}/data/{dataset}.json"),
        FINDINGS,
        "results/{study}/tables/measures.parquet",
        "results/{study}/tables/summary.parquet",
        "results/{study}/tables/training.parquet",
        "results/{study}/tables/published.parquet",
        "results/{study}/tables/validation.parquet",
        "results/{study}/tables/certificates.parquet",
        WEIGHTS.values(),
        CERTIFIED,
        "results/{study}/tables/comparisons.parquet",
        "results/{study}/configuration.yaml",
        "results/{study}/availability.json",
        "results/{study}/models.json",
        "results/{study}/untrained.json",
        "results/{study}/changes.json",
        SHOWN_TABLES,
        claims="reports/{study}/claims.json",
    output:
        "reports/{study}/index.html",
        "reports/{study}/report.html",
        "reports/{study}/search-index.js",
        "reports/{study}/report.css",
        "reports/{study}/report.js",
        "reports/{study}/article.typ",
        "reports/{study}/article.tex",
        "reports/{study}/files.json",
        "results/{study}/provenance.json",
        directory("reports/{study}/pages"),
        directory("reports/{study}/tables"),
        report(
            directory("reports/{study}/figures"),
            patterns=["{figure}.svg"],
            caption="../captions/figures.rst",
            category="Figures",
            labels={"figure": "{figure}"},
        ),
    pathvars:
        job="render_report",
    params:
        command="render-report",
        code=code(
            "render_report",
            *PAGE_CODE,
            *WITNESS_CODE,
            *EXPERIMENT_CODE,
            *CHOSEN,
            reads=[*TEMPLATES, *TERMS, *PAGES, *ERRATA],
        ),
        options=options(
            papers=STUDY.papers,
            results=f"results/{STUDY.name}",
            report=f"reports/{STUDY.name}",
        ),


onsuccess:
    from pipeline_lib.report import site

    run.conclude(workflow, CODE, STUDY, DATA, site.heading(STUDY.name, STUDY.papers, STUDY.config["title"]))


rule clean_results:
    """Remove the results and the report of the study, and keep the data sets."""
    log:
        "data/logs/clean_results.log",
    localrule: True
    conda:
        ENVIRONMENT
    threads: 1
    params:
        folders=[f"results/{STUDY.name}", f"reports/{STUDY.name}"],
    shell:
        "rm -rf {params.folders} > {log} 2>&1"
