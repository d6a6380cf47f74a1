"""How do the statements of a rule become the command line of its jobs?

A rule names files and options; a job's command line is ``python -m pipeline_lib COMMAND OPTIONS FILES``. Options are
the values that Snakemake compares to decide whether a job must run again; files are compared separately.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')


class NamedFiles(Protocol):
    """The input or the output of a job: files, some of which have names."""

    def items(self) -> Iterable[tuple[str, str | Iterable[str]]]:
        """Every name with its file or files."""


def compact(value: Any) -> str:
    """Plain values as one line of JSON in a fixed order.

    Braces in texts are escaped as JSON allows, because Snakemake would interpret their content as a wildcard.

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
    >>> words = options(seed=3, measures=["map", "ndcg@10"], fold=lambda wildcards: wildcards["fold"])
    >>> words({"fold": "2"})
    ['--seed', '3', '--measures', 'map', 'ndcg@10', '--fold', '2']
    """

    def words(wildcards: Any) -> list[str]:
        resolved = {name: value(wildcards) if callable(value) else value for name, value in values.items()}
        given = {name: value for name, value in resolved.items() if value is not None}
        return [word for name, value in given.items() for word in (_option(name), *_words(value))]

    return words


def files(*named: NamedFiles) -> list[str]:
    """The words of a command line for the input and the output of a job: an option of each name with its files.

    Files without a name are left out: a job may depend on files that its command locates without being given their
    paths.

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
