"""The paper `topk`: its claims, experiments and page; see ``paper.toml``."""
