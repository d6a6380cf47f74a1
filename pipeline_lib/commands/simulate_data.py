"""Draw a data set from its population, and store it as LETOR text, or at once as Parquet."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from pipeline_lib import storage
from pipeline_lib.errors import ArgumentError
from pipeline_lib.sources import catalog, conversion, raw_files, simulated
from pipeline_lib.sources.manifest import Manifest, ManifestPart
from pipeline_lib.sources.population_settings import PopulationSettings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--dataset", required=True, help="name of the data set in data/catalog.yaml")
    parser.add_argument("--queries", required=True, type=int, help="total number of queries in all parts")
    parser.add_argument(
        "--population", type=json.loads, default={}, help="overrides of the population's defaults, as JSON"
    )
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument(
        "--manifest", type=Path, help="output file for the manifest; the text is written to the same folder"
    )
    parser.add_argument("--documents", type=Path, help="output file for the documents, as Parquet, without text")
    parser.add_argument("--summary", type=Path, help="output file for the counts, as JSON, with the documents")


def run(arguments: argparse.Namespace) -> None:
    """Draw every part; write text and the manifest that marks it as complete, or the documents and their counts."""
    data_set = catalog.get(arguments.dataset)
    sizes = simulated.sizes_of_parts(arguments.queries, len(data_set.parts))
    settings = PopulationSettings.from_mapping(arguments.population)
    drawn = simulated.parts(data_set.name, settings, dict(zip(data_set.parts, sizes, strict=True)), arguments.seed)
    if arguments.manifest is not None:
        folder = arguments.manifest.parent
        parts = tuple(_part(name, path) for name, path in simulated.write_text(drawn, folder))
        Manifest(data_set.name, "drawn from the population of the configuration", parts).write(folder.parent)
    elif arguments.documents is not None and arguments.summary is not None:
        content = conversion.convert_drawn(drawn, arguments.documents).to_dict()
        for part in content["parts"]:
            part |= {"verified": False, "before": None}
        storage.write_json(arguments.summary, content)
    else:
        raise ArgumentError("expected --manifest, or --documents and --summary")


def _part(name: str, path: Path) -> ManifestPart:
    return ManifestPart(name, path.name, path.stat().st_size, raw_files.sha256(path), False, "population")
