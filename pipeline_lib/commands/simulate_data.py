"""Draw a data set from its population, and store it as LETOR text, or at once as Parquet."""

from collections.abc import Mapping
from typing import Annotated, Any

from pipeline_lib.core import storage
from pipeline_lib.core.errors import ArgumentError
from pipeline_lib.core.files import Output
from pipeline_lib.sources import catalog, conversion, digests, simulated
from pipeline_lib.sources.manifest import Manifest, ManifestPart
from pipeline_lib.sources.population_settings import PopulationSettings


def run(
    *,
    dataset: Annotated[str, "name of the data set in data/catalog.yaml"],
    queries: Annotated[int, "total number of queries in all parts"],
    seed: Annotated[int, "the study's seed"],
    population: Annotated[Mapping[str, Any], "overrides of the population's defaults, as JSON"] = {},
    manifest: Annotated[Output | None, "output file for the manifest; the text is written to the same folder"] = None,
    documents: Annotated[Output | None, "output file for the documents, as Parquet, without text"] = None,
    summary: Annotated[Output | None, "output file for the counts, as JSON, with the documents"] = None,
) -> None:
    """Draw every part; write text and the manifest that marks it as complete, or the documents and their counts."""
    data_set = catalog.get(dataset)
    sizes = simulated.sizes_of_parts(queries, len(data_set.parts))
    settings = PopulationSettings.from_mapping(population)
    drawn = simulated.parts(data_set.name, settings, dict(zip(data_set.parts, sizes, strict=True)), seed)
    if manifest is not None:
        folder = manifest.parent
        parts = tuple(
            ManifestPart(name, path.name, path.stat().st_size, digests.digest(path), False, "population")
            for name, path in simulated.write_text(drawn, folder)
        )
        Manifest(data_set.name, "drawn from the population of the configuration", parts).write(folder.parent)
    elif documents is not None and summary is not None:
        content = conversion.convert_drawn(drawn, documents).to_dict()
        for part in content["parts"]:
            part["verified"] = False
        storage.write_json(summary, content)
    else:
        raise ArgumentError("expected --manifest, or --documents and --summary")
