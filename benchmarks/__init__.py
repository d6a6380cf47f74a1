"""How fast are we beside our peers? Run with ``python -m benchmarks``."""
