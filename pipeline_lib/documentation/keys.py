"""What may a configuration contain: every key, with its meaning, its values and its default?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from pipeline_lib.configuration_text import written
from pipeline_lib.documentation.contents import Generated
from pipeline_lib.documentation.docstrings import pages_linked
from pipeline_lib.documentation.interface import table
from pipeline_lib.markup import listed
from pipeline_lib.settings import PATTERNS, Settings
from pipeline_lib.sources.own_settings import OwnDataSettings
from pipeline_lib.study_settings import ModelSettings, experiments_settings, study_settings

TITLE = "Settings"
HEAD = ("key", "meaning", "values", "default")


def pages() -> list[Generated]:
    """The settings of a study and of its learners, then those of the experiments of every paper."""
    study = study_settings().parse({})
    sections = {name: value for name, value in study if isinstance(value, BaseModel) and name != "experiments"}
    lines = [
        f"# {TITLE}",
        "Every key of a configuration. `config.yaml` has the same keys with their defaults; a study file, or "
        "`--config`, overrides those that it names. A key that is not listed is an error.",
        "## The study {#study}",
        _keys(type(study), study, leave_out=(*sections, "experiments")),
        "## An entry of `datasets` {#datasets}",
        _about(OwnDataSettings),
        _keys(OwnDataSettings),
        "## An entry of `models` {#models}",
        _about(ModelSettings),
        _keys(ModelSettings),
    ]
    for name, value in sections.items():
        lines += [f"## {name} {{#{name}}}", _about(type(value)), _keys(type(value), value)]
    experiments = Generated("settings-experiments", "Settings of experiments", "\n\n".join(_experiments()) + "\n")
    return [Generated("settings", TITLE, "\n\n".join(lines) + "\n"), experiments]


def words(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """What a JSON Schema allows, in words.

    Example
    -------
    >>> words({"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "null"}]}, {})
    'a number > 0, or `null`'
    >>> words({"type": "array", "items": {"type": "integer", "exclusiveMinimum": 0, "minimum": 2}}, {})
    'a list of whole numbers >= 2'
    """
    if "anyOf" in schema:
        each = list(dict.fromkeys(words(one, definitions) for one in schema["anyOf"]))
        return ", or ".join(each)
    if "$ref" in schema:
        return _mapping(definitions[schema["$ref"].rpartition("/")[2]])
    if "enum" in schema or "const" in schema:
        return " or ".join(f"`{written(one)}`" for one in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return _list(schema, definitions)
    return _one(schema)[0]


def _one(schema: Mapping[str, Any]) -> tuple[str, str]:
    """One value and several, in words."""
    known = {key: schema[key] for key in _SIGNS if key in schema}
    if schema.get("type") == "integer" and "exclusiveMinimum" in known:
        known["minimum"] = max(known.pop("exclusiveMinimum") + 1, known.get("minimum", 0), known.pop("ge", 0))
    limits = " and ".join(f"{_SIGNS[key]} {limit:g}" for key, limit in known.items())
    if schema.get("pattern") in PATTERNS and PATTERNS[schema["pattern"]] != PATTERNS[_ONE_LINE]:
        limits = f"of {PATTERNS[schema['pattern']].removeprefix('expected ')}"
    one, several = _KINDS.get(schema.get("type", ""), ("any value", "any values"))
    return f"{one} {limits}".strip(), f"{several} {limits}".strip()


_ONE_LINE = r"^[^\x00-\x1f\x7f]*$"
_SIGNS = {"exclusiveMinimum": ">", "minimum": ">=", "ge": ">=", "exclusiveMaximum": "<", "maximum": "<="}
_KINDS = {
    "integer": ("a whole number", "whole numbers"),
    "number": ("a number", "numbers"),
    "string": ("a text", "texts"),
    "boolean": ("`true` or `false`", "truth values"),
    "null": ("`null`", "`null`"),
    "object": ("a mapping", "mappings"),
}


def _list(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    items = schema.get("prefixItems") or [schema.get("items", {})]
    simple = all(set(one) <= {"type", *_SIGNS, "pattern", "minLength"} and one.get("type") != "array" for one in items)
    if "prefixItems" in schema:
        each = listed([words(one, definitions) for one in items])
        return f"a list of {len(items)}: {each}"
    return f"a list of {_one(items[0])[1]}" if simple else f"a list, each {words(items[0], definitions)}"


def _mapping(definition: Mapping[str, Any]) -> str:
    keys = ", ".join(f"`{name}`" for name in definition.get("properties", {}))
    return f"a mapping with the keys {keys}" if keys else "a mapping"


def _keys(kind: type[BaseModel], value: BaseModel | None = None, leave_out: tuple[str, ...] = ()) -> str:
    """The table of the keys of a section, with the defaults in ``value``, or those of the class."""
    schema = kind.model_json_schema()
    definitions = schema.get("$defs", {})
    rows = []
    for name, one in schema.get("properties", {}).items():
        if name in leave_out:
            continue
        rows.append(
            (f"`{name}`", pages_linked(one.get("description", "")), words(one, definitions), _default(name, one, value))
        )
    return table(HEAD, rows) if rows else "It has no settings."


_LONGEST = 60


def _default(name: str, schema: Mapping[str, Any], value: BaseModel | None) -> str:
    if value is None and "default" not in schema:
        return "required"
    default = schema.get("default") if value is None else value.model_dump(mode="json")[name]
    text = written(default)
    return f"`{text}`" if len(text) <= _LONGEST or not isinstance(default, list) else _long(default)


def _long(default: list[Any]) -> str:
    names = [one["name"] for one in default if isinstance(one, Mapping) and "name" in one]
    return ", ".join(f"`{one}`" for one in names or map(written, default))


def _about(kind: type[BaseModel]) -> str:
    return pages_linked(" ".join((kind.__doc__ or "").split()))


def _experiments() -> Iterator[str]:
    yield "# Settings of experiments"
    yield "The keys below `experiments:`, for every paper and experiment, with the defaults of the default study."
    for paper, settings in experiments_settings().parse({}):
        yield f"## {paper} {{#{paper}}}"
        for name, value in settings:
            yield f"### {paper}.{name} {{#{paper}.{name}}}"
            yield _about(type(value))
            yield _keys(type(value), value)
            yield from _inner(value)


def _inner(value: Settings) -> Iterator[str]:
    for name, one in value:
        if isinstance(one, BaseModel):
            yield f"`{name}`: {_about(type(one))}"
            yield _keys(type(one), one)
