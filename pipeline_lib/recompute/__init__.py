"""Is every published number what separate code makes of the rawest rows that a study stores?

A verdict certifies on which side of a limit a number lies, not the number. Here the numbers of cards, and the cells of
tables that follow from other stored rows, are computed again by code that shares nothing with the code that published
them: plain NumPy, and SQL in SQLite in place of Polars. Of the project nothing is imported but the reader of tables,
which a contract of the imports in ``pyproject.toml`` states.
"""
