"""The paper `lists`: its claims, experiments and page; see ``paper.toml``."""
