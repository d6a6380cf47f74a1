# Papers on learning to rank: from LETOR text to a report that judges every claim.
#   snakemake --cores N                                      the default study, offline
#   snakemake --cores N --configfile workflow/studies/X.yaml another study
#   snakemake --cores 1 download                             fetch the study's data sets
#   snakemake --cores N slam                                 one paper
from snakemake.utils import min_version

min_version("9.13")


configfile: "config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/job.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/models.smk"
include: "workflow/rules/experiments.smk"
include: "workflow/rules/report.smk"


# A workflow that imports this one may read these files once more, and needs them again.
if not IMPORTED:
    snakemake_internals.hide_rules(workflow, "job", "data_job")


rule all:
    default_target: True
    input:
        f"reports/{STUDY.name}/index.html",
        f"reports/{STUDY.name}/claims.json",
        f"reports/{STUDY.name}/files.json",
        f"results/{STUDY.name}/provenance.json",
        CHECKED,
        MANIFESTS,
        DATA.per_dataset("data/parquet/{dataset}/documents.parquet"),
        DATA.per_dataset("data/parquet/{dataset}/summary.json"),
        DATA.per_dataset("data/parquet/{dataset}/folds.parquet"),
        stored(
            rules.summarise_results.input,
            rules.compare_models.input,
            rules.judge_claims.input,
            rules.render_report.input,
            *read_by_steps(*STUDY.papers),
        ),
    localrule: True


onsuccess:
    from pipeline_lib.report import site

    run.conclude(workflow, ROOT, STUDY, DATA, site.heading(STUDY.name, STUDY.papers, STUDY.config["title"]))


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
