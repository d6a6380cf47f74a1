"""The experiments of the paper cone."""
