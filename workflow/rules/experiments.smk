# One rule for every step of every experiment that a paper declares (pipeline_lib/experiment.py).
for step in STEPS:

    rule:
        name:
            step.rule
        input:
            documents=step.documents,
            folds=step.folds,
            tables=step.tables,
            evaluations=[path.format(study=STUDY.name) for path in step.evaluations],
            files=[path if path.startswith("results/") else of_project(path) for path in step.files],
        output:
            tables=step.written,
            evidence=step.evidence,
        log:
            f"results/{{study}}/logs/{step.rule}{step.cell_path}.log",
        benchmark:
            f"results/{{study}}/benchmarks/{step.rule}{step.cell_path}.tsv"
        wildcard_constraints:
            **step.constraints,
        conda:
            ENVIRONMENT
        threads: 1
        resources:
            mem_mb=mem_mb(step.rule),
            runtime=runtime(step.rule),
        params:
            code=code("experiment", *step.targets),
            place=f"--paper {step.paper} --experiment {step.experiment} --step {step.step.name}",
            settings=compact(step.arguments),
            cell=cell_of(step),
            facts=compact(step.facts),
            seed=STUDY.config["seed"],
        shell:
            "python -m pipeline_lib experiment {params.place} --settings {params.settings:q} --seed {params.seed} "
            "--cell {params.cell:q} --facts {params.facts:q} --documents {input.documents} --folds {input.folds} "
            "--tables {input.tables} --evaluations {input.evaluations} --files {input.files} "
            "--write {output.tables} --evidence {output.evidence} > {log} 2>&1"


EVIDENCE = [path for step in STEPS for path in step.evidence]
SHOWN_TABLES = [path for step in STEPS for path in step.shown]


for paper in STUDY.papers:

    rule:
        name:
            paper
        input:
            expand([path for step in STEPS if step.paper == paper for path in step.evidence], study=STUDY.name),
            CHECKED,
            read_by(f"{paper}_"),
        localrule: True
