"""Readers of files against slow readers that follow the documented formats word for word, on damaged input.

    python -m tests.fuzz --inputs 1000000 --seed 0

Each target makes a valid file, damages it, and reads it twice: by the project, and by a plain reader in this folder.
Either both accept it with equal values, or both refuse it; the project's refusal is one of its own errors and names the
file, and the line where the plain reader knows one. Everything else is printed as JSON, a line for each finding.
"""
