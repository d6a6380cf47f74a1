# ConeRank: the experiments of the paper cone.
EVIDENCE["cone"] += []
TABLES["cone"] += []


localrules:
    cone,


rule cone:
    """ConeRank."""
    input:
        expand(EVIDENCE["cone"], study=STUDY.name),
