"""How does what a rule states become the command line of its jobs?

A rule names files and options; a job's command line is ``python -m pipeline_lib COMMAND OPTIONS FILES``. Values that
Snakemake compares to see whether a job must run again are options; files, which it compares by themselves, are not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')


class NamedFiles(Protocol):
    """The input or the output of a job: files, some of them under names."""

    def items(self) -> Iterable[tuple[str, str | Iterable[str]]]:
        """Every name with its file or files."""


def compact(value: Any) -> str:
    """Plain values as one line of JSON in a fixed order.

    Braces in texts are escaped as JSON allows: Snakemake would take what stands in them for a wildcard.

    Example
    -------
    >>> compact({"b": [1, 2.5], "a": "x {y}"})
    '{"a":"x \\\\u007by\\\\u007d","b":[1,2.5]}'
    """
    line = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return TEXT.sub(lambda text: text[0].replace("{", r"\u007b").replace("}", r"\u007d"), line)


def options(**values: Any) -> Callable[[Any], list[str]]:
    """A function of a job's wildcards: the words of a command line, an option of each name with its value.

    A value may be a function of the wildcards; several values of one option are a list or a tuple, mappings become
    JSON by :func:`compact`, and None leaves the option out.

    Example
    -------
    >>> words = options(seed=3, measures=["ap", "ndcg@10"], fold=lambda wildcards: wildcards["fold"])
    >>> words({"fold": "2"})
    ['--seed', '3', '--measures', 'ap', 'ndcg@10', '--fold', '2']
    """

    def words(wildcards: Any) -> list[str]:
        found = {name: value(wildcards) if callable(value) else value for name, value in values.items()}
        return [word for name, value in found.items() if value is not None for word in (_option(name), *_words(value))]

    return words


def files(*named: NamedFiles) -> list[str]:
    """The words of a command line for the input and the output of a job: an option of each name with its files.

    Files without a name are left out: a job may depend on what its command finds by itself.

    Example
    -------
    >>> files({"documents": "a.parquet", "planned_with": []}, {"output": ["b.json", "c.json"]})
    ['--documents', 'a.parquet', '--planned-with', '--output', 'b.json', 'c.json']
    """
    return [word for part in named for name, value in part.items() for word in (_option(name), *_words(value))]


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _words(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [compact(value)]
    return [str(value)] if isinstance(value, str) or not isinstance(value, Iterable) else [str(one) for one in value]
