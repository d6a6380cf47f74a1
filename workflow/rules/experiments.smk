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
            write=step.written,
        log:
            f"results/{{study}}/logs/{step.rule}{step.cell_path}.log",
        benchmark:
            f"results/{{study}}/benchmarks/{step.rule}{step.cell_path}.tsv"
        wildcard_constraints:
            **step.constraints,
        priority: step.priority
        conda:
            ENVIRONMENT
        threads: 1
        resources:
            mem_mb=COSTS.mem_mb,
            runtime=COSTS.runtime,
        params:
            command="experiment",
            code=code(
                "experiment",
                *step.targets,
                reads=[of_project(path) for path in step.files if not path.startswith("results/")],
            ),
            options=options(
                paper=step.paper,
                experiment=step.experiment,
                step=step.step.name,
                settings=step.arguments,
                seed=STUDY.config["seed"],
                cell=step.cell_of,
                facts=step.facts,
                most_queries=STUDY.config["experiment_queries"] if step.documents else None,
            ),
            files=files_of_job,
        shell:
            RUN


CHOSEN_STEPS = [step for step in STEPS if step.paper in STUDY.papers]
SHOWN_TABLES = [path for step in CHOSEN_STEPS for path in step.shown]


# Every paper is a target, whether or not the report of the study is about it.
for paper in papers.names():

    rule:
        """Make the tables of this paper; their report is that of a study with `papers: [PAPER]`."""
        name:
            paper
        input:
            expand(
                [path for step in STEPS if step.paper == paper for path in step.shown],
                study=STUDY.name,
            ),
            CHECKED,
            stored(*read_by_steps(paper)),
        localrule: True
