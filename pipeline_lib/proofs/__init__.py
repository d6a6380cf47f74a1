"""Certificates of claims, one folder for each paper and one for those of several papers, and the checker of them."""

from pathlib import Path

FOLDER = Path(__file__).parent
"""Where the certificates stand."""
SHARED = "shared"
"""The folder of certificates that prove claims of several papers."""
