# Online learning to rank with feedback at the top: the experiments of the paper topk.
EVIDENCE["topk"] += []
TABLES["topk"] += []


localrules:
    topk,


rule topk:
    """Online learning to rank with feedback at the top."""
    input:
        expand(EVIDENCE["topk"], study=STUDY.name),
