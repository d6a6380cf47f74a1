"""How do settings, written as plain values in YAML, become checked objects?

Every section of the configuration is one class derived from :class:`Settings`, with a type, a range, a default and a
description for each key. The JSON Schema, ``config.yaml`` with its comments, and every error come from these classes.

Example
-------
>>> class Grid(Settings):
...     '''The sizes that are tried.'''
...
...     lengths: Rising = Field((5, 10), description="documents per query")
...     radius: Positive = Field(1.0, description="of the ball ||w|| <= W")
>>> Grid.parse({"lengths": [2, 4]}).radius
1.0
>>> Grid.parse({"length": [2, 4]}, "lists.grid")
Traceback (most recent call last):
...
pipeline_lib.core.errors.ConfigurationError: lists.grid: unknown key 'length'; did you mean 'lengths'?
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, Self, get_args

from annotated_types import Ge
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict, ValidationError, model_validator

from pipeline_lib.core import checks
from pipeline_lib.core.errors import ConfigurationError, hint


def different(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The additional demand that no value of a list stands twice (for ``AfterValidator``)."""
    if any(value in values[:place] for place, value in enumerate(values)):
        raise ValueError(f"expected different values, found {list(values)}")
    return values


def demand(expected: str, holds: Callable[[Any], bool]) -> AfterValidator:
    """The additional demand on a list, or on a text, that something holds of it; ``expected`` says what."""

    def check(values: Any) -> Any:
        if not holds(values):
            raise ValueError(f"expected {expected}, found {(values if isinstance(values, str) else list(values))!r}")
        return values

    return AfterValidator(check)


def at_least(least: int) -> AfterValidator:
    """The additional requirement that no number of a list is below ``least``.

    Example
    -------
    >>> class Few(Settings):
    ...     queries: Annotated[Rising, at_least(10)]
    >>> Few.parse({"queries": [5, 20]})
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.ConfigurationError: queries: expected numbers of at least 10, found [5, 20]
    """
    return demand(f"numbers of at least {least}", lambda values: min(values, default=least) >= least)


def at_most(most: int) -> AfterValidator:
    """The additional requirement that no number of a list is above ``most``."""
    return demand(f"numbers of at most {most}", lambda values: max(values, default=most) <= most)


def no_fewer_than(fewest: int, purpose: str) -> AfterValidator:
    """The additional requirement that a list has at least ``fewest`` values, because of the ``purpose``."""
    return demand(f"{fewest} values or more, {purpose}", lambda values: len(values) >= fewest)


# Not ge=1: pydantic would keep that and forget the ge of a field.
Whole = Annotated[int, Strict(), Field(gt=0)]
"""A whole number of at least 1; ``Field(ge=...)`` may require more."""
Several = Annotated[Whole, Ge(2)]
"""A whole number of at least 2."""
NotNegative = Annotated[int, Strict(), Field(ge=0)]
"""A whole number of at least 0."""
Number = Annotated[float, Strict(), Field(allow_inf_nan=False)]
"""A finite number."""
Positive = Annotated[checks.Positive, Strict(), Field(gt=0, allow_inf_nan=False)]
"""A finite number above 0; arguments of functions may have this type as well, and the next."""
Probability = Annotated[checks.Probability, Strict(), Field(gt=0, lt=1)]
"""A number between 0 and 1, both excluded."""
Truth = Annotated[bool, Strict()]
"""true or false, and neither a number nor a text that may mean one of them."""
ONE_LINE = r"^[^\x00-\x1f\x7f]*$"
Text = Annotated[str, Strict(), Field(min_length=1, pattern=ONE_LINE)]
"""A text of one line."""
FOLDER_NAME = "^[a-z0-9]+(-[a-z0-9]+)*$"
DATA_NAME = "^[A-Za-z][A-Za-z0-9_-]*$"
LONGEST_NAME = 100
REPEATED = re.compile(r"(.+)\1{19}$")
"""What ends like this, Snakemake takes for a name that its rules make longer without end."""
_Ending = demand("a name that does not end with 20 repetitions", lambda name: REPEATED.search(name) is None)
DataName = Annotated[Text, Field(pattern=DATA_NAME, max_length=LONGEST_NAME), _Ending]
"""The name of a data set, of letters, digits, hyphens and underscores."""
Slug = Annotated[Text, Field(pattern=FOLDER_NAME, max_length=LONGEST_NAME), _Ending]
"""A name of lower-case letters, digits and single hyphens, fit for a folder."""
Jobs = Annotated[int, Strict(), Field(gt=0, le=1000)]
"""A number of jobs among which an experiment is divided, no more than a run can plan in some seconds."""
Rising = Annotated[
    tuple[Whole, ...],
    Field(min_length=1),
    demand("rising numbers without repetition", lambda values: list(values) == sorted(set(values))),
]
"""Whole numbers of at least 1, each larger than the one before."""
Sizes = Annotated[Rising, at_least(2)]
"""Rising whole numbers of at least 2, such as lengths of lists that can be ranked."""
Wholes = Annotated[tuple[Whole, ...], Field(min_length=1), AfterValidator(different)]
"""Different whole numbers of at least 1, in any order."""
Range = Annotated[tuple[Whole, Whole], demand("a lowest and a highest number", lambda ends: ends[0] <= ends[1])]
"""The lowest and the highest of some whole numbers of at least 1, both included."""
Positives = Annotated[tuple[Positive, ...], Field(min_length=1), AfterValidator(different)]
"""Different numbers above 0."""
Probabilities = Annotated[tuple[Probability, ...], Field(min_length=1), AfterValidator(different)]
"""Different numbers between 0 and 1."""
FallingProbabilities = Annotated[
    tuple[Probability, ...],
    demand("falling probabilities", lambda values: list(values) == sorted(set(values), reverse=True)),
]
"""Numbers between 0 and 1, each smaller than the one before."""
Names = Annotated[tuple[Text, ...], Field(min_length=1), AfterValidator(different)]
"""Different names."""


class Settings(BaseModel):
    """One section of the configuration: immutable, without unknown keys, with lists stored as tuples."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, validate_default=True, validate_by_name=True, ser_json_inf_nan="constants"
    )

    @model_validator(mode="before")
    @classmethod
    def _no_sets(cls, given: Any) -> Any:
        for key, value in given.items() if isinstance(given, Mapping) else ():
            if isinstance(value, set | frozenset):  # pydantic would take its entries in any order
                raise ValueError(f"expected a list under the key {key!r}, found the set {value}")
        return given

    @classmethod
    def parse(cls, mapping: Mapping[str, Any], where: str = "") -> Self:
        """Check a plain mapping and create the object; missing keys have their defaults.

        Raises
        ------
        ConfigurationError
            With every problem on a line of its own: the place below ``where``, what was expected, what was found, and
            for an unknown key the nearest valid one.
        """
        try:
            return cls.model_validate(mapping)
        except ValidationError as error:
            found = (problem.text for problem in problems(cls, error, mapping, where))
            raise ConfigurationError("\n".join(found)) from None

    def plain(self) -> dict[str, Any]:
        """All settings, defaults included, as plain values for YAML and JSON."""
        return self.model_dump(mode="json", by_alias=True)


Place = tuple[int | str, ...]
"""The keys and indices that lead to a value."""


class Problem(NamedTuple):
    """What is wrong at a place, in a sentence that names the place."""

    place: Place
    text: str


def problems(kind: type[Settings], error: ValidationError, mapping: Any, where: str = "") -> Iterator[Problem]:
    """What is wrong with the section of the configuration that ``mapping`` gives.

    A key that is unknown is a problem at its own place, and one that is missing at that of its mapping.

    Example
    -------
    >>> class Games(Settings):
    ...     rounds: Whole
    >>> try:
    ...     Games.model_validate({"rounds": 0})
    ... except ValidationError as error:
    ...     print(*problems(Games, error, {"rounds": 0}, "topk.regret"))
    Problem(place=('rounds',), text='topk.regret.rounds: expected a number greater than 0, found 0')
    """
    located = [(_place_in(mapping, one), one) for one in error.errors(include_url=False)]
    for place in dict.fromkeys(place for place, _ in located):
        here = [one for other, one in located if other == place]
        keys = [one for one in here if one["type"] in WRONG_KEYS]
        for one in keys:
            unknown = one["type"] == "extra_forbidden"
            yield Problem((*place, str(one["loc"][-1])) if unknown else place, _wrong_key(kind, one, place, where))
        inside = any(len(other) > len(place) and other[: len(place)] == place for other, _ in located)
        # A problem inside a value says more than the error that the whole value is of another kind, or too short.
        values = [one for one in here if one["type"] == "value_error" or not (keys or inside)]
        if values:
            yield Problem(place, place_words(place, where) + _wrong_value(values))


WRONG_KEYS = ("extra_forbidden", "missing")


def _place_in(mapping: Any, error: Mapping[str, Any]) -> Place:
    """Where a problem is, without the names that pydantic adds for the alternatives of a type."""
    place: list[int | str] = []
    value = mapping
    for part in error["loc"]:
        listed = isinstance(value, list | tuple) and isinstance(part, int) and part < len(value)
        if listed or (isinstance(value, Mapping) and part in value):
            place.append(part)
            value = value[part]
    return tuple(place[:-1]) if error["type"] == "extra_forbidden" else tuple(place)


def _wrong_key(kind: type[Settings], error: Mapping[str, Any], place: Place, where: str) -> str:
    key, content = str(error["loc"][-1]), error["input"]
    if error["type"] == "extra_forbidden":
        return f"{place_words(place, where)}unknown key {key!r}; {hint(key, _known_keys(kind, error['loc'][:-1]))}"
    given = ", ".join(map(str, content)) if isinstance(content, Mapping) else repr(content)
    return f"{place_words(place, where)}expected the key {key!r}, found {given or 'nothing'}"


def _known_keys(kind: type[BaseModel], loc: Sequence[int | str]) -> list[str]:
    """The keys of the section at a place that pydantic names; of all alternatives, where a value may have several."""
    models = [kind]
    for part in loc:  # an index, a key of a mapping, or the name of an alternative leads to no other class
        fields = [
            field for model in models for name, field in model.model_fields.items() if part in (name, field.alias)
        ]
        models = [model for field in fields for model in _models_in(field.annotation)] or models
    return [field.alias or name for model in models for name, field in model.model_fields.items()]


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def _wrong_value(alternatives: list[Any]) -> str:
    """What one value should have been, according to the errors of all alternatives of its type."""
    own = [str(one["ctx"]["error"]) for one in alternatives if one["type"] == "value_error"]
    if own:
        return own[0]
    # An empty list is only what it is taken for where it could be nothing else.
    kinds = [one for one in alternatives if one["type"] != "too_short"] or alternatives
    words = " or ".join(dict.fromkeys(map(_expected, kinds)))
    found = alternatives[0]["input"]
    if alternatives[0]["type"] == "union_tag_invalid":
        found = alternatives[0]["ctx"]["tag"]
    shown = repr(found)
    if len(shown) > _SHOWN:
        shown = f"{shown[:_SHOWN]} ..."
    return f"expected {words}, found {shown}{_number_hint(found)}"


_SHOWN = 200
"""Characters of a wrong value that an error shows."""


def _expected(error: Mapping[str, Any]) -> str:
    """Pydantic's words for what was expected, as they are after "expected"."""
    if error["type"] == "string_pattern_mismatch":
        return PATTERNS.get(error["ctx"]["pattern"], f"text that matches {error['ctx']['pattern']}")
    if error["type"] == "union_tag_invalid":
        return f"one of {error['ctx']['expected_tags']} under the key {error['ctx']['discriminator']}"
    if error["type"] == "too_short":
        return f"no fewer entries than {error['ctx']['min_length']}"
    words = re.sub(r"^\w+ should (be|have) ", "", error["msg"])
    return KINDS.get(error["type"], f"a number {words}" if words.startswith(("greater", "less")) else words)


PATTERNS = {
    ONE_LINE: "one line of text without control characters",
    DATA_NAME: "a letter, then letters, digits, hyphens and underscores",
    FOLDER_NAME: "lower-case letters, digits and single hyphens between them",
}
"""What was expected, by the patterns of texts."""

KINDS = {
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "model_attributes_type": "a mapping",
    "model_type": "a mapping",
    "string_too_short": "text",
    "string_type": "text",
    "string_unicode": "text",
    "tuple_type": "a list",
}
"""What YAML calls what pydantic names otherwise, by the kind of the error."""


def place_words(loc: Place, where: str = "") -> str:
    """The beginning of the message about a value: the place ``loc`` below ``where``, with a colon.

    Example
    -------
    >>> place_words((3, "l2"), "models"), place_words(())
    ('models[3].l2: ', '')
    """
    text = where
    for part in loc:
        text += f"[{part}]" if isinstance(part, int) else f"{'.' if text else ''}{part}"
    return f"{text}: " if text else ""


def _number_hint(value: object) -> str:
    if not isinstance(value, str):
        return ""
    try:
        float(value)
    except ValueError:
        return ""
    if "." in value or "e" not in value:
        return " (a number in quotes is text)"
    return f" (YAML reads {value} as text: write a point, such as {value.replace('e', '.0e')})"
