"""What does each paper's experiment compute? One package a paper, one module an experiment, imported by name.

An experiment takes settings (and data) and gives tables and evidence; it reads and writes no files. Nothing is imported
here, so that a job depends on the modules of its own experiment only.
"""
