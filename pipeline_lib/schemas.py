"""How is a document checked against a JSON Schema without YAML's and Python's leniency?

A whole number must be written as one (JSON Schema also accepts 1.0), and a pattern that ends with "$" must match up to
the end of the text (in Python it may also end before a final line feed).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from pipeline_lib.errors import ConfigurationError


def load(path: Path, what: str = "a document") -> Any:
    """Read YAML as plain values; ``what`` names in an error what the file should contain.

    Raises
    ------
    ConfigurationError
        When the file cannot be read or is not YAML.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "list.yaml"
    >>> _ = path.write_text("numbers: [1, 2]")
    >>> load(path)
    {'numbers': [1, 2]}
    """
    import yaml

    try:
        return yaml.load(path.read_text(encoding="utf-8"), loader())
    except (OSError, yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"{path}: expected {what} as YAML, found {error}") from error


def loader() -> Any:
    """The class that reads YAML as plain values: libyaml's, which is several times as fast, where it is there.

    Example
    -------
    >>> import yaml
    >>> yaml.load("[1, two]", loader())
    [1, 'two']
    """
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def violations(document: Any, path: Path) -> Iterator[Any]:
    """The violations of a schema in a YAML document, as errors of ``jsonschema``, in the order of their places.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "schema.yaml"
    >>> _ = path.write_text("properties: {seed: {type: integer}, name: {pattern: '^[a-z]+$'}}")
    >>> [error.message for error in violations({"seed": 1.0, "name": "a\\n"}, path)]
    ["'a\\\\n' does not match '^[a-z]+$'", "1.0 is not of type 'integer'"]
    """
    yield from sorted(_validator(path).iter_errors(document), key=_place)


@cache
def _validator(path: Path) -> Any:
    """The validator of a schema, which is read once in a process."""
    import jsonschema

    base = jsonschema.Draft202012Validator
    types = base.TYPE_CHECKER.redefine("integer", _is_integer)
    strict = jsonschema.validators.extend(base, {"pattern": _pattern}, type_checker=types)  # type: ignore[no-untyped-call]
    return strict(load(path, "a schema"))


def _place(error: Any) -> list[str]:
    return [str(step) for step in error.absolute_path]


def _is_integer(_: Any, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _pattern(_: Any, pattern: str, value: object, __: Any) -> Iterator[Any]:
    import jsonschema

    to_the_end = pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern
    if isinstance(value, str) and not re.search(to_the_end, value):
        yield jsonschema.ValidationError(f"{value!r} does not match {pattern!r}")
