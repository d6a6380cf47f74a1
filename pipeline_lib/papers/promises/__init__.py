"""What the commands for a person's own runs and data promise: claims, experiments and page; see ``paper.toml``."""
