"""Can a package be used that only some learners need? The answer does not import it, which may take a second."""

import ctypes
from importlib import metadata
from importlib.util import find_spec

__all__: list[str] = []  # internal: a learner names the package that it needs (see pipeline_lib.core.checks)

LIBRARIES = (".so", ".dylib", ".dll")


def why_unusable(package: str) -> str | None:
    """Why a package cannot be imported, as a sentence's end; None if nothing is known against it.

    A package that is installed may still need a library of the system. LightGBM, for instance, needs the run-time
    library of OpenMP (libgomp on Linux, libomp on macOS), which minimal systems lack. Such a library is found missing
    when the package's own libraries are loaded.

    Example
    -------
    >>> why_unusable("numpy")
    >>> why_unusable("no_such_package")
    'no_such_package is not installed (pip install no_such_package)'
    """
    if find_spec(package) is None:
        return f"{package} is not installed (pip install {package})"
    try:
        files = metadata.files(package) or []
    except metadata.PackageNotFoundError:  # installed by other means: nothing is known of its files
        files = []
    for file in files:
        # Modules of Python find their symbols only when Python imports them; a package's own libraries are complete.
        if file.suffix in LIBRARIES and file.name.startswith("lib"):
            try:
                ctypes.CDLL(str(file.locate()))
            except OSError as error:
                return f"{package} cannot be loaded ({error})"
    return None
