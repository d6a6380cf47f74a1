# Generalization bounds and the length of lists: the experiments of the paper lists.
rule lists_constants:
    """Constants of every surrogate, stated beside searched, and the lemmas that the bounds rest on."""
    input:
        code=code("lists_constants", *modules_of(*surrogates.NAMES)),
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
        settings=compact(config["experiments"]["lists"]["constants"]),
        seed=config["seed"],
    shell:
        "python -m pipeline_lib lists-constants --settings {params.settings:q} --seed {params.seed} "
        "--tables {output.tables} --evidence {output.evidence} > {log} 2>&1"


EVIDENCE["lists"] += rules.lists_constants.output.evidence
TABLES["lists"] += rules.lists_constants.output.tables


localrules:
    lists,


rule lists:
    """Generalization bounds and the length of lists."""
    input:
        expand(EVIDENCE["lists"], study=STUDY.name),
