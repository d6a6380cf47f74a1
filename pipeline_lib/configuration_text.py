"""How are settings written as YAML with a comment for every key?

``python -m pipeline_lib default-configuration`` writes ``config.yaml`` with this, and the JSON Schema beside it; a test
keeps the committed files in step with the classes.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from pipeline_lib.settings import Settings

WIDTH = 118
COMMENT_COLUMN = 44

HEADER = """\
# The default study. Every key is listed here with its default; a study file (workflow/studies/) or
# `snakemake --configfile FILE` overrides what it names, lists as a whole. Numbers such as 1e-4 need a point
# (1.0e-4): YAML reads the former as text. This file is written by `make config` from the classes of the settings.
"""


def document(settings: Settings) -> str:
    """The YAML text of a whole configuration: each key with its value, and its description as a comment.

    Example
    -------
    >>> from pipeline_lib.study_settings import StatisticsSettings
    >>> print("\\n".join(_lines(StatisticsSettings.parse({"level": 0.9}), 0)))
    level: 0.9                                  # of every interval
    resamples: 10000                            # bootstrap draws and random sign flips
    """
    return HEADER + "\n".join(_lines(settings, 0, spaced=True)) + "\n"


def _lines(settings: BaseModel, indent: int, spaced: bool = False) -> Iterator[str]:
    for name, field in type(settings).model_fields.items() if spaced else _ordered(type(settings)):
        value = getattr(settings, name)
        if spaced:
            yield ""
        if isinstance(value, BaseModel):
            yield from _section(name, value, field, indent)
        elif isinstance(value, tuple) and value and isinstance(value[0], BaseModel):
            yield from _list_of_sections(name, value, field, indent)
        elif spaced:
            yield from _comment(field.description or "", indent)
            yield f"{name}: {written(_plain(value))}"
        else:
            yield from _line(f"{' ' * indent}{name}: {written(_plain(value))}", field.description or "", indent)


def _ordered(kind: type[BaseModel]) -> list[tuple[str, FieldInfo]]:
    """The fields of a class, its own before those that it shares with others."""
    own = inspect.get_annotations(kind)
    return sorted(kind.model_fields.items(), key=lambda pair: pair[0] not in own)


def _section(name: str, value: BaseModel, field: FieldInfo, indent: int) -> Iterator[str]:
    yield from _comment(field.description or " ".join((type(value).__doc__ or "").split()), indent)
    if not type(value).model_fields:
        yield f"{' ' * indent}{name}: {{}}"
        return
    yield f"{' ' * indent}{name}:"
    yield from _lines(value, indent + 2)


def _list_of_sections(name: str, values: tuple[Any, ...], field: FieldInfo, indent: int) -> Iterator[str]:
    yield from _comment(field.description or "", indent)
    yield f"{' ' * indent}{name}:"
    for value in values:
        # Only what differs from the defaults: an entry is a line that people write by hand.
        given = value.model_dump(mode="json", exclude_unset=True)
        line = f"{' ' * indent}  - {written(given)}"
        if len(line) <= WIDTH + 2:
            yield line
        else:
            lines = [f"{key}: {written(one)}" for key, one in given.items()]
            yield from (f"{' ' * indent}  {'-' if i == 0 else ' '} {text}" for i, text in enumerate(lines))


def _line(text: str, description: str, indent: int) -> Iterator[str]:
    if not description:
        yield text
        return
    padded = f"{text:<{COMMENT_COLUMN - 2}}  # {description}"
    if len(padded) <= WIDTH + 2:
        yield padded
    else:
        yield from _comment(description, indent)
        yield text


def _comment(text: str, indent: int) -> Iterator[str]:
    for line in textwrap.wrap(text, WIDTH - indent - 2, break_long_words=False, break_on_hyphens=False):
        yield f"{' ' * indent}# {line}"


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value


def written(value: Any) -> str:
    """A plain value as YAML on one line.

    Example
    -------
    >>> written({"l2": [1e-4, 1.0], "title": "KL, top label only"}), written(None), written("all")
    ("{l2: [0.0001, 1.0], title: 'KL, top label only'}", 'null', 'all')
    """
    import yaml

    text = yaml.safe_dump(value, default_flow_style=True, width=10**6, sort_keys=False, allow_unicode=True)
    return text.removesuffix("...\n").strip()
