"""Write the page that lists every setting of a study with its default, from the classes of the settings."""

from typing import Annotated

from pipeline_lib.core.files import Output, write_text
from pipeline_lib.study.configuration_text import page as text
from pipeline_lib.study.study_settings import completed, study_settings


def run(*, page: Annotated[Output, "output file for the page, as Markdown"]) -> None:
    """Write the page."""
    write_text(page, text(completed(study_settings().parse({}))))
