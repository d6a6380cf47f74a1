"""Are the names of the features of LETOR text read from a file next to it, and is a wrong file of names refused?"""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_lib import RankingData, cli, learners
from pipeline_lib.core.errors import DataError
from pipeline_lib.sources import conversion, own_data
from pipeline_lib.sources.own_settings import OwnDataSettings
from pipeline_lib.sources.tables import Options

NAMES = ["bm25", "page rank", "age"]
FORMS = {
    "list": ("features.json", json.dumps(NAMES)),
    "object": ("features.json", json.dumps({"3": "age", "1": "bm25", "2": "page rank"})),
    "table": ("features.tsv", "2\tpage rank\r\n1\tbm25\n\n3\tage"),
}


def written(folder: Path, name: str = "my.txt", first_id: int = 1) -> Path:
    path = folder / name
    path.write_text("".join(f"{y} qid:{q} {first_id}:{y}.5 {first_id + 1}:{q}\n" for q in (4, 5) for y in (0, 1)))
    return path


def stored(*paths: Path) -> RankingData:
    target = paths[0].with_name("own.parquet")
    conversion.convert_own({f"part{k}": path for k, path in enumerate(paths)}, target, Options())
    return RankingData.read_parquet(target, stored=True)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("stem", ["my", "my.train", "my.train.gz"])
def test_names_stand_next_to_the_text(tmp_path: Path, form: str, stem: str) -> None:
    path = written(tmp_path, "my.train")
    if stem.endswith(".gz"):
        import gzip

        path = tmp_path / "my.train.gz"
        path.write_bytes(gzip.compress((tmp_path / "my.train").read_bytes()))
    ending, text = FORMS[form]
    (tmp_path / f"{stem}.{ending}").write_text(text)
    for data in (RankingData.from_letor(path), stored(path)):
        assert data.feature_names == tuple(NAMES)
        assert data.X.tolist() == [[0.5, 4, 0], [1.5, 4, 0], [0.5, 5, 0], [1.5, 5, 0]]


@given(st.integers(1, 5), st.integers(0, 1), st.data())
@settings(max_examples=60)
def test_every_form_says_the_same(tmp_path_factory: pytest.TempPathFactory, d: int, first_id: int, draw) -> None:
    folder = tmp_path_factory.mktemp("names")
    names = draw.draw(
        st.lists(st.text("abc é", min_size=1).filter(str.strip).map(str.strip), min_size=d, max_size=d, unique=True)
    )
    used = draw.draw(st.lists(st.integers(first_id, first_id + d - 1), min_size=1, unique=True))
    # The list counts from the first id that the text uses, so that the text then must have the id 0.
    in_list = first_id == 1 or 0 in used
    forms = {"json": json.dumps({str(k): name for k, name in enumerate(names, first_id)})}
    forms["tsv"] = "".join(f"{k}\t{name}\n" for k, name in enumerate(names, first_id))
    forms |= {"list": json.dumps(names)} if in_list else {}
    expected = np.zeros((1, d))
    expected[0, np.array(used) - first_id] = np.array(used) + 1
    for form, text in forms.items():
        path = folder / f"{form}.txt"
        path.write_text("0 qid:1 " + " ".join(f"{k}:{k + 1}" for k in used))
        (folder / f"{form}.features.{'tsv' if form == 'tsv' else 'json'}").write_text(text, encoding="utf-8")
        for data in (RankingData.from_letor(path), stored(path)):
            assert data.feature_names == tuple(names)
            np.testing.assert_array_equal(data.X, expected)


@pytest.mark.parametrize(
    ("ending", "text", "said"),
    [
        ("json", '["a"]', r"my.features.json: expected a name for every feature of my.txt, found none for 2"),
        ("json", '{"1": "a", "3": "b"}', "found none for 2"),
        ("json", '{"1": "a", "2": "a"}', "expected different names, found 'a' twice"),
        ("json", '{"1": "a", "01": "b"}', "expected every id of a feature once, .* found '01'"),
        ("json", '{"one": "a"}', "whole number of at least 0, found 'one'"),
        ("json", '["a", 2]', "expected a name for the feature 2, found 2"),
        ("json", '["a", " "]', "expected a name for the feature 2, found ' '"),
        ("json", '"a"', r"expected a list of names, or ids and names as in .*, found str"),
        ("json", "[", "in UTF-8, found something else"),
        ("tsv", "1\ta\n2 b\n", "my.features.tsv: expected an id, a tab and a name in every line"),
    ],
)
def test_wrong_names_are_refused(tmp_path: Path, ending: str, text: str, said: str) -> None:
    path = written(tmp_path)
    (tmp_path / f"my.features.{ending}").write_text(text)
    for read in (RankingData.from_letor, stored):
        with pytest.raises(DataError, match=said):
            read(path)


def test_all_files_have_the_same_names(tmp_path: Path) -> None:
    first, other = written(tmp_path, "a.train"), written(tmp_path, "a.test")
    (tmp_path / "a.features.json").write_text(json.dumps(NAMES))
    assert stored(first, other).feature_names == tuple(NAMES)
    (tmp_path / "a.test.features.json").write_text(json.dumps(NAMES[::-1]))
    with pytest.raises(DataError, match=r"a\.test: expected the names of features in the same order as in .*a\.train"):
        stored(first, other)
    (tmp_path / "a.features.json").unlink()
    with pytest.raises(DataError, match=r"a\.test: expected features with names in every file or in none"):
        stored(first, other)


def test_names_belong_to_the_content_of_a_data_set(tmp_path: Path) -> None:
    for role in ("train", "test"):
        written(tmp_path, f"my.{role}")
    (tmp_path / "my.features.tsv").write_text(FORMS["table"][1])
    settings = OwnDataSettings.parse({"name": "mine", "folder": str(tmp_path)}, "mine")
    parts = own_data.data_set(settings).parts
    assert {part.members for part in parts.values()} == {
        (str(tmp_path / f"my.{role}"), str(tmp_path / "my.features.tsv")) for role in ("train", "test")
    }


def test_a_ranker_knows_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path)
    (tmp_path / "my.features.json").write_text(json.dumps(NAMES))
    learners.create("erm", surrogate="squared", l2=0.1).fit(RankingData.from_letor(path)).save(tmp_path / "ranker.json")
    given = ["rank", "--model", str(tmp_path / "ranker.json"), "--output", str(tmp_path / "some.run"), "--force"]
    assert cli.main([*given, "--data", str(path)]) == 0
    (tmp_path / "my.features.json").write_text(json.dumps(["bm25", "length", "age"]))
    assert cli.main([*given, "--data", str(path)]) == 1
    assert "expected the features of training, found no 'page rank'" in capsys.readouterr().err
    (tmp_path / "my.features.json").unlink()
    assert cli.main([*given, "--data", str(path)]) == 0
