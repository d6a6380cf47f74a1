"""What two readers make of the same input, and whether they agree."""

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pipeline_lib.core.errors import PipelineError


class Refused(Exception):
    """A plain reader refuses its input: ``places`` are the beginnings of messages that name the fault rightly."""

    def __init__(self, *places: str) -> None:
        super().__init__(*places)
        self.places = places


def difference(plain: Callable[[], Any], project: Callable[[], Any]) -> tuple[bool, str | None]:
    """Whether the plain reader accepts, and in what the project differs from it; None where they agree."""
    try:
        expected = plain()
    except Refused as refusal:
        return False, _of_refusal(refusal.places, project)
    try:
        found = project()
    except PipelineError as error:
        return True, f"refused a valid input: {error}"
    except BaseException as error:
        return True, raised(error)
    return True, None if found == expected else f"expected {expected!r}, found {found!r}"


def _of_refusal(places: tuple[str, ...], project: Callable[[], Any]) -> str | None:
    try:
        found = project()
    except PipelineError as error:
        if str(error).startswith(places):
            return None
        return f"expected an error at one of {', '.join(places)}, found: {error}"
    except BaseException as error:
        return raised(error)
    return f"accepted what breaks the format at one of {', '.join(places)}: {found!r}"


def raised(error: BaseException) -> str:
    """How an exception is reported that no reader may raise."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "pipeline_lib" in frame.filename]
    where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"raised {type(error).__name__}{where}: {str(error)[:200]}"
