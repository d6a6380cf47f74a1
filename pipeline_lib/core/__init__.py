"""What every other part of the package uses, and what knows nothing of them."""
