# What all jobs have in common; after `use rule job as NAME with:` a rule states only what is its own.
RUN = (
    "python -m pipeline_lib {params.command} {params.options:q} {params.files:q} "
    "--threads {threads} --code {params.code} > {log} 2>&1"
)


# Before the first job, not in the processes of jobs.
onstart:
    INTERNALS["leave_interrupts_to_snakemake"]()
    run.write_plan(workflow)
    run.start_jobs(workflow)


# The part of the paths of its log and its benchmark that differs from rule to rule.
pathvars:
    job="job",


# A command of pipeline_lib, whose options are named as the files of the rule.
rule job:
    log:
        "results/{study}/logs/<job>.log",
    benchmark:
        "results/{study}/benchmarks/<job>.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=COSTS.mem_mb,
        runtime=COSTS.runtime,
    params:
        files=files_of_job,
    shell:
        RUN


# What a workflow that imports this one puts around the names of its rules.
BEFORE_NAMES, _, AFTER_NAMES = snakemake_internals.rule_name(rules.job).rpartition("job")
