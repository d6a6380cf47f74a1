"""One module per command of ``python -m pipeline_lib``; see ``pipeline_lib.cli``."""
