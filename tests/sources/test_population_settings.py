"""Is a population checked when the configuration is, before anything is planned?"""

from typing import Any

import pytest

from pipeline_lib import papers
from pipeline_lib.core.errors import ConfigurationError
from pipeline_lib.core.settings import Settings
from pipeline_lib.study.study_settings import study_settings


def populations(kind: type[Settings], place: tuple[str, ...] = ()) -> dict[str, tuple[str, ...]]:
    """The keys of a section that hold a population, with the sections around each."""
    found = {}
    for name, field in kind.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Settings):
            found |= populations(field.annotation, (*place, name))
        elif place[-1:] == ("populations",) or name == "population":
            found[".".join((*place, name))] = (*place, name)
    return found


PLACES = populations(study_settings())


def parse(place: str, value: Any) -> None:
    """Read a configuration that has nothing but a value at a place."""
    for key in reversed(PLACES[place]):
        value = {key: value}
    study_settings().parse(value)


def test_every_experiment_on_a_population_is_met() -> None:
    """The places are collected by name; each paper that draws from a population has at least one."""
    assert "letor_sim.population" in PLACES
    of_papers = {place[1] for place in PLACES.values() if place[0] == "experiments"}
    assert {"lists", "topk", "twolayer"} <= of_papers <= set(papers.names())


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("wrong", "named"), [({"nosie": 0.1}, "did you mean 'noise'"), ({"noise": -1}, "noise"), (3, "mapping")]
)
def test_a_wrong_population_is_named_with_its_place(place: str, wrong: Any, named: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{place}: .*{named}"):
        parse(place, wrong)


@pytest.mark.parametrize(
    "place", [place for place in PLACES if place.startswith(("experiments.lists", "experiments.two"))]
)
def test_documents_that_an_experiment_would_overrule_are_refused(place: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{place}: .*documents"):
        parse(place, {"documents": 3})
