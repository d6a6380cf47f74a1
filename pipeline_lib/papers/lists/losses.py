"""How is a loss of an experiment described in the settings: by its name, a surrogate, and its options?"""

from typing import Annotated, Any

from pydantic import AfterValidator, Field, Strict

from pipeline_lib import surrogates
from pipeline_lib.core.settings import Settings, Slug

LOSS = "listnet"
"""The loss of the experiments that look at a single one."""


def _known(name: str) -> str:
    surrogates.get(name)
    return name


class LossSettings(Settings):
    """One loss."""

    name: Slug = Field(description="the name of the loss in tables and figures")
    surrogate: Annotated[str, Strict(), AfterValidator(_known)] = Field(description="the registered surrogate")
    options: dict[str, Any] = Field({}, description="of the surrogate")


def _named_differently(losses: tuple[LossSettings, ...]) -> tuple[LossSettings, ...]:
    names = [loss.name for loss in losses]
    if len(set(names)) < len(names):
        raise ValueError(f"expected names that differ, found {names}")
    return losses


Losses = Annotated[tuple[LossSettings, ...], Field(min_length=1), AfterValidator(_named_differently)]
"""Losses with different names."""
