"""Certificates of claims, one folder for each paper, and the checker of them."""

from pathlib import Path

FOLDER = Path(__file__).parent
"""Where the certificates stand."""
