"""Which number do libraries call NDCG? The same lists are given to many of them, and the answers are compared.

    python -m tools.conformance [NAME ...] [--page]

asks every library, or those that are named, for the NDCG of every list in ``vectors.py``; it writes the answers to
``record.json``, and from them the page ``docs/conformance.md`` and its rows. With ``--page`` nobody is asked, and the
page and rows are written from the record. ``make conformance`` first installs the libraries in an environment of their
own.
"""
