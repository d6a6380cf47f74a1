"""The paper `cone`: its claims, experiments and page; see ``paper.toml``."""
