# Two-layer generalization analysis: the experiments of the paper twolayer.
EVIDENCE["twolayer"] += []
TABLES["twolayer"] += []


localrules:
    twolayer,


rule twolayer:
    """Two-layer generalization analysis."""
    input:
        expand(EVIDENCE["twolayer"], study=STUDY.name),
