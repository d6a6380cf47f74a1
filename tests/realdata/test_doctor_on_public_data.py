"""What does the doctor find in public data, of which the descriptions of the data sets tell?"""

import zipfile
from pathlib import Path

import pytest

from pipeline_lib.evaluation import Findings, doctor


def examined(mirror: Path, folder: Path, name: str) -> Findings:
    if not (mirror / f"{name}.zip").is_file():
        pytest.skip(f"set LTR_MIRROR to a folder that holds {name}.zip")
    with zipfile.ZipFile(mirror / f"{name}.zip") as archive:
        archive.extractall(folder)
    return doctor(folder / name)


def test_mq2008_has_queries_without_relevant_documents_and_constant_features(mirror: Path, tmp_path: Path) -> None:
    found = examined(mirror, tmp_path, "MQ2008")
    assert (found.queries, found.documents) == (784, 15_211)
    empty, constant = found.found
    assert empty.check == "lists without a relevant document"
    assert empty.text.startswith("220 of 784")
    assert constant.check == "constant features"


def test_rows_of_ohsumed_are_sorted_by_a_feature(mirror: Path, tmp_path: Path) -> None:
    found = examined(mirror, tmp_path, "OHSUMED")
    assert (found.queries, found.documents) == (106, 16_140)
    by_check = {one.check: one for one in found.found}
    assert by_check.keys() == {
        "position among the features",
        "order of rows",
        "lists without a relevant document",
        "constant features",
    }
    # That feature orders the documents as the file does, but for its ties.
    order, position = by_check["order of rows"], by_check["position among the features"]
    assert position.columns == ("feature 41",)
    assert order.as_is == pytest.approx(position.as_is, abs=0.001)
