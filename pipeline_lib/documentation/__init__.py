"""How do the pages of ``docs/`` and what the code says of itself become one site that opens from disk?"""
