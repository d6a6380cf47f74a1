"""How are plain values read from YAML that a person wrote, without YAML's leniency?"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pipeline_lib.core.errors import ConfigurationError, DataError
from pipeline_lib.core.files import reading

LARGEST, DEEPEST = 100_000, 100
"""So many values may be in a document, and in each other."""
MAY_BE_DEEP = 1000
"""Texts with fewer brackets and dashes are not too deep for libyaml, which calls itself for every level."""


def load(path: Path, what: str = "a document") -> Any:
    """Read YAML that a person wrote as plain values; ``what`` names in an error what the file should contain.

    Raises
    ------
    ConfigurationError
        When the file cannot be read, is not YAML, gives a key twice or one that is no text, or is larger than
        :func:`check_size` allows. The message names the file, and the line where it is known.

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
        root = nodes(text(path))
        # Before it is made: what is merged by `<<: *name` is copied, and can then fill the memory.
        check_size(root, what)
        return None if root is None else loader()("").construct_document(root)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: cannot be read ({error})") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f", line {mark.line + 1}" if mark else ""
        raise ConfigurationError(f"{path}{line}: expected {what} as YAML; {error.problem or error.context}") from error
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}{', ' if str(error).startswith('line') else ': '}{error}") from None
    except (yaml.YAMLError, TypeError, ValueError, RecursionError) as error:  # such as a 13th month, in YAML a date
        raise ConfigurationError(f"{path}: expected {what} as YAML; {' '.join(str(error).split())}") from error


def load_list(path: Path, key: str, what: str) -> list[Any]:
    """Read YAML that contains a list under the only key ``key``.

    Raises
    ------
    ConfigurationError
        As :func:`load`, and where the document is another one.
    """
    document = load(path, what)
    if not isinstance(document, dict) or set(document) != {key} or not isinstance(document[key], list):
        raise ConfigurationError(f"{path}: expected a list of {key} under the key {key!r}")
    return document[key]


def text(path: Path) -> str:
    """The text of a file, without a byte order mark.

    Raises
    ------
    ConfigurationError
        When there is none, or it is no regular file.
    UnicodeDecodeError
    """
    try:
        with reading(path) as file:
            return file.read().decode("utf-8-sig")
    except DataError as error:
        raise ConfigurationError(str(error).removeprefix(f"{path}: ")) from error


def check_size(content: Any, what: str) -> None:
    """Raise ConfigurationError unless values, or nodes of YAML, are at most :data:`LARGEST`, :data:`DEEPEST` deep.

    YAML may name a value (``&a``) and repeat it (``*a``): a short text can be of any size, or contain itself. Every
    repetition counts.

    Example
    -------
    >>> itself = []
    >>> itself.append(itself)
    >>> check_size({"mirrors": itself}, "the study")
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.ConfigurationError: expected at most 100,000 values in the study, and 100 in each other, \
found more; if it repeats values (`&name`, `*name`), write them out
    """
    pending, count = [(content, 0)], 0
    while pending:
        value, depth = pending.pop()
        count += 1
        if count > LARGEST or depth > DEEPEST:
            raise ConfigurationError(
                f"expected at most {LARGEST:,} values in {what}, and {DEEPEST} in each other, found more; if it "
                "repeats values (`&name`, `*name`), write them out"
            )
        pending += [(one, depth + 1) for one in _inner(value)]


def _inner(value: Any) -> list[Any]:
    """What a value, or a node of YAML, consists of; keys are texts and do not count."""
    if isinstance(getattr(value, "value", None), list):  # a node: of values, or of pairs of a key and a value
        return [one[1] if isinstance(one, tuple) else one for one in value.value]
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else []


def nodes(text: str) -> Any:
    """The nodes of a text that is YAML, for :func:`line_of`."""
    import yaml

    if len(re.findall(r"[\[{?-]", text)) > MAY_BE_DEEP:
        depth = 0
        for event in yaml.parse(text, loader()):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST:
                line = event.start_mark.line + 1 if event.start_mark else 1
                raise ConfigurationError(f"line {line}: expected at most {DEEPEST} values in each other, found more")
    return yaml.compose(text, loader())


def line_of(node: Any, place: Sequence[int | str]) -> tuple[int, int, bool]:
    """Where nodes hold the value at a place, or what is nearest above it.

    Returns
    -------
    depth, line, whole
        How many keys and indices of the place there are; the line, from 1, of the last of them; and whether other
        documents that were merged with this one cannot hold more, because the place is there or inside a list.

    Example
    -------
    >>> found = nodes("seed: 1\\nmodels:\\n- name: a\\n  l2: [1]\\n")
    >>> line_of(found, ("models", 0, "l2")), line_of(found, ("erm", "l2")), line_of(found, ("models", 0, "rounds"))
    ((3, 4, True), (0, 0, False), (2, 3, True))
    """
    import yaml

    line, whole = 0, False
    for depth, part in enumerate(place):
        if isinstance(node, yaml.MappingNode):
            inner = next(((key, value) for key, value in reversed(node.value) if key.value == part), None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            inner, whole = (node.value[part], node.value[part]), True
        else:
            return depth, line, depth > 0
        if inner is None:
            return depth, line, whole
        line, node = inner[0].start_mark.line + 1, inner[1]
    return len(place), line, True


@cache
def loader() -> Any:
    """The class that reads YAML as plain values, and refuses a key that stands twice in a mapping, or is no text.

    Of such a key, YAML would silently use the last value. The class derives from libyaml's, which is several times as
    fast as the one in Python, where it is there.

    Example
    -------
    >>> import yaml
    >>> yaml.load("[1, two]", loader())
    [1, 'two']
    """
    import yaml

    class Plain(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            seen: set[str] = set()
            for key_node, _ in node.value:
                if key_node.tag == "tag:yaml.org,2002:merge":
                    continue
                key, line = self.construct_object(key_node, deep=True), key_node.start_mark.line + 1
                if not isinstance(key, str):
                    raise ConfigurationError(f"line {line}: expected text as a key, found {key!r}")
                if key in seen:
                    raise ConfigurationError(f"line {line}: the key {key!r} is given twice; remove one")
                seen.add(key)
            return super().construct_mapping(node, deep)

    return Plain
