"""How are settings written as YAML with a comment for every key?

``python -m pipeline_lib default-configuration`` uses this module to write ``docs/settings.md``; a test checks that the
page agrees with the classes.
"""

import inspect
import textwrap
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from pipeline_lib.core.settings import Settings

WIDTH = 118

INTRODUCTION = """\
# Settings

Every key of a configuration, with its default value. `config.yaml` has those that are changed most often; any other is
written there as well, or in a file of its own for `snakemake --configfile FILE`, which overrides the keys that it
names; a list is replaced as a whole. A key that is not listed is an error. Numbers such as 1e-4 are written with a
decimal point (1.0e-4), because YAML reads the former as text. This page is written by `make config` from the classes
that declare the settings.
"""


def page(settings: Settings) -> str:
    """A page with the YAML of a whole configuration, in which each key has its description as a comment.

    Example
    -------
    >>> from pipeline_lib.study.study_settings import StatisticsSettings
    >>> print("\\n".join(_lines(StatisticsSettings.parse({"level": 0.9}), 0)))  # doctest: +ELLIPSIS
    # level of every confidence interval; a difference of models is significant ...
    # level
    level: 0.9
    # bootstrap draws, and random sign flips, of which there must be ...
    resamples: 10000
    """
    fields = type(settings).model_fields
    study = [name for name in fields if not isinstance(getattr(settings, name), BaseModel)]
    above = (["", *_item(name, getattr(settings, name), fields[name], 0)] for name in study)
    parts = [("The study", [line for lines in above for line in lines])]
    for name in fields:
        value = getattr(settings, name)
        if name == "experiments":
            parts += [
                (f"Experiments of `{paper}`", ["experiments:", *_section(paper, getattr(value, paper), field, 2)])
                for paper, field in type(value).model_fields.items()
            ]
        elif name not in study:
            parts.append((f"`{name}`", list(_section(name, value, fields[name], 0))))
    texts = ("\n".join(lines).strip("\n") for _, lines in parts)
    return INTRODUCTION + "".join(
        f"\n## {title}\n\n```yaml\n{text}\n```\n" for (title, _), text in zip(parts, texts, strict=True)
    )


def _lines(settings: BaseModel, indent: int) -> Iterator[str]:
    own = inspect.get_annotations(type(settings))
    # The fields of a class come before those that it shares with others.
    for name, field in sorted(type(settings).model_fields.items(), key=lambda pair: pair[0] not in own):
        yield from _item(name, getattr(settings, name), field, indent)


def _item(name: str, value: Any, field: FieldInfo, indent: int) -> Iterator[str]:
    """A key with its value, below its description."""
    if isinstance(value, BaseModel):
        yield from _section(name, value, field, indent)
        return
    margin = " " * indent
    yield from _comment(field.description or "", indent)
    if isinstance(value, tuple) and value and isinstance(value[0], BaseModel):
        yield f"{margin}{name}:"
        # Only what differs from the defaults, because people write such an entry by hand, in one line.
        yield from (f"{margin}  - {written(one.model_dump(mode='json', exclude_unset=True))}" for one in value)
    else:
        yield f"{margin}{name}: {written(to_jsonable_python(value))}"


def _section(name: str, value: BaseModel, field: FieldInfo, indent: int) -> Iterator[str]:
    yield from _comment(field.description or " ".join((type(value).__doc__ or "").split()), indent)
    empty = not type(value).model_fields
    yield f"{' ' * indent}{name}:{' {}' if empty else ''}"
    yield from _lines(value, indent + 2)


def _comment(text: str, indent: int) -> Iterator[str]:
    for line in textwrap.wrap(text, WIDTH - indent - 2, break_long_words=False, break_on_hyphens=False):
        yield f"{' ' * indent}# {line}"


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
