"""How fast is the library compared with other software? Run with ``python -m benchmarks``."""
