# One target per paper: everything its claims need.
localrules:
    slam,
    topk,
    cone,
    lists,
    twolayer,


rule slam:
    """Perceptron-like algorithms and generalization bounds."""
    input:
        [],


rule topk:
    """Online learning to rank with feedback at the top."""
    input:
        [],


rule cone:
    """ConeRank."""
    input:
        [],


rule lists:
    """Generalization bounds and the length of lists."""
    input:
        [],


rule twolayer:
    """Two-layer generalization analysis."""
    input:
        [],
