"""The paper `slam`: its claims, experiments and page; see ``paper.toml``."""
