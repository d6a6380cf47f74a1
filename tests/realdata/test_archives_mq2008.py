"""Real archives are obtained from a mirror, and every digest verifies."""

import pytest

from pipeline_lib.sources import catalog
from pipeline_lib.sources.acquisition import obtain
from pipeline_lib.sources.mirrors import Mirrors, availability


@pytest.mark.parametrize("name", ["MQ2008", "OHSUMED"])
def test_obtained_from_the_mirror_and_verified(mirror, tmp_path, name):
    data_set, mirrors = catalog.get(name), Mirrors((mirror,))
    if availability(data_set, mirrors, tmp_path).status != "at-hand":
        pytest.skip(f"the mirror does not hold {name}; put {name}.zip there")
    manifest = obtain(data_set, tmp_path, mirrors, network=False)
    assert all(part.verified for part in manifest.parts)
    assert availability(data_set, mirrors, tmp_path).status == "present"
    for name_of_part, path in manifest.files(tmp_path).items():
        lines = path.read_bytes().splitlines()
        part = data_set.parts[name_of_part]
        assert len(lines) == part.rows
        assert len({line.split(b" ", 2)[1] for line in lines}) == part.queries
        assert part.max_bytes is not None
        assert path.stat().st_size <= part.max_bytes
