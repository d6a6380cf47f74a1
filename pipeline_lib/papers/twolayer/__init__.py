"""The paper `twolayer`: its claims, experiments and page; see ``paper.toml``."""
