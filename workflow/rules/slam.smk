# Perceptron-like algorithms and generalization bounds: the experiments of the paper slam.
EVIDENCE["slam"] += []
TABLES["slam"] += []


localrules:
    slam,


rule slam:
    """Perceptron-like algorithms and generalization bounds."""
    input:
        expand(EVIDENCE["slam"], study=STUDY.name),
