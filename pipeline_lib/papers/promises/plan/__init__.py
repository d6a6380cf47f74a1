"""Are widths that `plan-labels` promises kept as often as it says?"""
