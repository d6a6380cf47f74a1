"""What do the experiments on chains of the papers have in common: their settings, and the rows of their tables?"""

from pipeline_lib.core.settings import Probability, Settings, Whole
from pipeline_lib.data.rows import Count, Field, FromZero, Interval, OnlyInterval, Row


class ChainSettings(Settings):
    """What every experiment on chains needs, whatever its bounds."""

    repetitions: Whole = Field(10, ge=2, description="samples in the mean of every measured link")
    delta: Probability = Field(0.05, description="bounds hold with probability 1 - delta")


class ChainLink(
    Row,
    key=("dataset", "loss", "n", "bound", "position"),
    always=(
        "previous = LAG(value) OVER (PARTITION BY dataset, loss, n, bound ORDER BY position)",
        "value = factor * previous",
        "factor_low <= factor <= factor_high",
        "leads <= costliest",
        "trivial = MIN(trivial) OVER (PARTITION BY dataset, loss, n, bound)",
    ),
):
    """One link of a chain from a measured quantity to a stated bound.

    Every paper has a class of its own with the name of its table; the links of a
    :class:`pipeline_lib.theory.chains.Chain` are ``map(Class.of, chain.rows(dataset=..., loss=..., n=...))``.
    """

    dataset: str = Field(description="data set whose queries are the population")
    loss: str = Field(description="loss of the training")
    n: Count = Field(description="size of a sample: queries, or what else the bound counts")
    bound: str = Field(description="name of the statement at the end of the chain")
    place: str = Field(description="where the paper has it")
    setting: str = Field(description="what the bound is applied to, in words")
    trivial: FromZero = Field(description="what holds without any theorem, such as the largest loss")
    position: Count = Field(description="place of the link in its chain, from 0")
    link: str = Field(description="name of the link, unique in its chain")
    label: str = Field(description="name of the link on a figure")
    says: str = Field(description="step of the proof that leads to the link, in a sentence")
    value: OnlyInterval = Field(
        description="what the proof has after this step: a mean over samples with its 95 % interval, or an exact number"
    )
    previous: Interval | None = Field(description="value of the link before; missing for the first link")
    proved: bool = Field(description="whether the proof makes the value at least that of the link before")
    added: bool = Field(description="whether the step adds a term that does not depend on the link before")
    factor: float | None = Field(description="value over that of the link before; missing where that is 0 or below")
    factor_low: float | None = Field(description="lower end of the factor, from the intervals of both links")
    factor_high: float | None = Field(description="upper end; missing where the link before may be 0 or below")
    without: float | None = Field(description="stated number if only this step cost nothing; missing for the first")
    costliest: bool = Field(description="whether no step of the chain has a larger factor")
    leads: bool = Field(description="whether the interval of its factor lies above those of all other steps")
