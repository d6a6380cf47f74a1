"""Which labels may a document have?"""

from __future__ import annotations

MAX_LABEL = 255
"""The largest label of a document: labels are stored in one byte, and 2^label is computed."""
