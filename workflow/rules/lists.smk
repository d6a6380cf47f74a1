# Generalization bounds and the length of lists: the experiments of the paper lists.
EVIDENCE["lists"] += []
TABLES["lists"] += []


localrules:
    lists,


rule lists:
    """Generalization bounds and the length of lists."""
    input:
        expand(EVIDENCE["lists"], study=STUDY.name),
