"""Ask the libraries, and write the record, the page and its rows."""

import argparse

from tools import conformance
from tools.conformance import asking, page
from tools.conformance.libraries import LIBRARIES


def main() -> None:
    """What the arguments ask for."""
    parser = argparse.ArgumentParser(prog="python -m tools.conformance", description=conformance.__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="libraries to ask; without any, all")
    parser.add_argument(
        "--page", action="store_true", help="ask nobody, and write the page and its rows from the record"
    )
    given = parser.parse_args()
    if unknown := set(given.names) - set(LIBRARIES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known are {', '.join(LIBRARIES)}")
    if not given.page:
        asking.write(given.names or list(LIBRARIES))
    page.write(asking.read())


if __name__ == "__main__":
    main()
