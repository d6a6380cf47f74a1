"""Look for what makes results on a data set mislead: leaks, copies, orders, empty lists, with their effect on NDCG@10.

Queries count as exchangeable, and documents do not; what is tested is wrong about data without a defect with a
probability of at most 1 %. Equal scores count as the mean over all orders of their documents, queries without relevant
documents as 0, and the gains of NDCG are 2^label - 1.
"""

from collections.abc import Mapping, Sequence
from json import dumps
from pathlib import Path
from typing import Annotated, Any

from pipeline_lib.core import schemas
from pipeline_lib.core.errors import ConfigurationError, DataError, hint
from pipeline_lib.core.files import Output
from pipeline_lib.data.stored_data import Missing
from pipeline_lib.evaluation.examination import doctor
from pipeline_lib.study import sample_sheet

STORED = "data/parquet/{}/documents.parquet"
"""Where runs store the data sets of the catalogue."""


def run(
    files: Annotated[
        Sequence[Path],
        "files of a data set, a folder of them, or the name of an entry of --configfile",
        {"metavar": "FILE"},
    ],
    *,
    configfile: Annotated[Path | None, "configuration of a study whose data set FILE names"] = None,
    label: Annotated[str | None, "column of the labels in tables"] = None,
    query: Annotated[str | None, "column of the queries in tables"] = None,
    ignore: Annotated[Sequence[str], "columns of tables that are no features"] = (),
    one_hot: Annotated[Sequence[str], "columns of categories in tables"] = (),
    missing: Annotated[
        Missing | None, "what is taken for missing values, which are a finding unless this is said"
    ] = None,
    relevant_from: Annotated[int | None, "smallest label of a relevant document"] = None,
    difference: Annotated[float | None, "difference in NDCG@10 that should be seen: are there enough queries?"] = None,
    seed: Annotated[int, "seed of the random signs that say which difference can be seen"] = 0,
    strict: Annotated[bool, "end with status 1 if anything is found"] = False,
    json: Annotated[bool, "print JSON"] = False,
    html: Annotated[Output | None, "output file for a page with the findings (.html), which loads nothing"] = None,
) -> None:
    """Print the findings; write the page if asked to."""
    if html is not None:
        from pipeline_lib.report import alone, findings  # what they need may not be installed
    name = str(files[0]) if len(files) == 1 else f"{len(files)} files"
    found = doctor(
        list(map(str, files)) if configfile is None else _entry(configfile, [str(one) for one in files]),
        label=label,
        query=query,
        ignore=ignore,
        one_hot=one_hot,
        missing=missing,
        relevant_from=relevant_from,
        difference=difference,
        seed=seed,
    )
    print(dumps(found.to_dict(), indent=1) if json else found)
    if html is not None:
        alone.write(html, f"What the doctor found in {name}", findings.blocks(found.to_dict()))
    if strict and found.found:
        raise DataError(f"{name}: expected data without findings, found {len(found)}")


def _entry(path: Path, names: Sequence[str]) -> Mapping[str, Any] | str:
    """The entry of a configuration, or the stored documents of a data set of the catalogue."""
    if len(names) != 1:
        raise ConfigurationError(f"expected the name of one data set of {path}, found {len(names)} names")
    config = schemas.load(path, "a configuration")
    sheet = sample_sheet.named(config) if isinstance(config, Mapping) else None
    listed = sheet.entries if sheet is not None else config.get("datasets") if isinstance(config, Mapping) else None
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        raise ConfigurationError(f"{path}: expected a list of data sets under the key 'datasets'")
    entries = {
        one if isinstance(one, str) else one.get("name"): one for one in listed if isinstance(one, str | Mapping)
    }
    if names[0] not in entries:
        raise ConfigurationError(f"{path}: unknown data set {names[0]!r}; {hint(names[0], map(str, entries))}")
    entry = entries[names[0]]
    if not isinstance(entry, str):
        return entry
    if not Path(STORED.format(entry)).is_file():
        raise ConfigurationError(
            f"{entry} is a data set of the catalogue, and {STORED.format(entry)} is not there: a run that uses it "
            "stores it"
        )
    return STORED.format(entry)
