"""Are the messages on the page of troubleshooting still those that a user sees? Each failure is provoked."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from pipeline_lib import cli, configuration, files, run_lock, storage
from pipeline_lib.console import Console
from pipeline_lib.errors import PipelineError
from pipeline_lib.sources import acquisition, catalog, mirrors
from tests import documented

PAGE = "docs/troubleshooting.md"
