"""Draw letor-sim from its population and write it as LETOR text in five parts."""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

from pipeline_lib.sources import catalog, letor_sim
from pipeline_lib.sources.manifest import Manifest, ManifestPart
from pipeline_lib.sources.population_settings import PopulationSettings

NAME = "letor-sim"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--queries", required=True, type=int, help="total number of queries in all parts")
    parser.add_argument(
        "--population", type=json.loads, default={}, help="overrides of the population's defaults, as JSON"
    )
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument(
        "--manifest",
        required=True,
        type=Path,
        help="output file for the manifest; the parts are written to the same folder",
    )


def run(arguments: argparse.Namespace) -> None:
    """Write the parts, then the manifest that marks them as complete."""
    names = list(catalog.get(NAME).parts)
    sizes = [arguments.queries // len(names) + (i < arguments.queries % len(names)) for i in range(len(names))]
    settings = PopulationSettings.from_mapping(arguments.population)
    folder = arguments.manifest.parent
    paths = letor_sim.write_parts(settings, sizes, arguments.seed, folder)
    parts = tuple(_part(name, path) for name, path in zip(names, paths, strict=True))
    Manifest(NAME, "drawn from the population of the configuration", parts).write(folder.parent)


def _part(name: str, path: Path) -> ManifestPart:
    with path.open("rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
    return ManifestPart(name, path.name, path.stat().st_size, digest, False, "population")
