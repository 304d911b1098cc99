"""Profiles: each is valid, found by its names, a layer below everything that is said, and documented value by value."""

from pathlib import Path

import pytest

from twofold.config.load import FILE_NAME, Settings, all_settings, load_settings, merge, resolve, value_of, with_values
from twofold.config.profiles import PROFILES, QUALITY_GATES, Profile, profile_named
from twofold.config.schema import Bm25Settings, FusionParameters
from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import And, Condition, Operator, Or
from twofold.query.filter_syntax import parse_filter

NAMES = [name for profile in PROFILES for name in (profile.name, *profile.aliases)]
STATED = [(profile, key) for profile in PROFILES for key in profile.values]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for dial in all_settings():
        monkeypatch.delenv(dial.variable, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def origins(**arguments: object) -> dict[str, str]:
    return {row.key: row.origin for row in resolve(**arguments).rows}  # type: ignore[arg-type]


def test_no_two_profiles_share_a_name() -> None:
    assert len(NAMES) == len(set(NAMES))


@pytest.mark.parametrize("name", NAMES)
def test_a_profile_is_found_by_each_of_its_names(name: str) -> None:
    found = profile_named(name)

    assert name in (found.name, *found.aliases)
    assert load_settings(overrides={"profile": name}).profile == found.name


@pytest.mark.parametrize(("profile", "key"), STATED, ids=[f"{one.name} {key}" for one, key in STATED])
def test_each_value_of_a_profile_arrives_and_names_its_item(profile: Profile, key: str) -> None:
    settings = load_settings(overrides={"profile": profile.name})

    assert value_of(settings, key) == value_of(with_values(Settings(), {key: profile.values[key]}), key)
    assert profile.items[key]


@pytest.mark.parametrize("profile", PROFILES, ids=lambda one: one.name)
def test_what_a_profile_does_not_set_has_its_default(profile: Profile) -> None:
    settings = load_settings(overrides={"profile": profile.name})

    others = {dial.key for dial in all_settings()} - profile.values.keys() - {"profile"}
    assert {key: value_of(settings, key) for key in others} == {key: value_of(Settings(), key) for key in others}
    assert profile.description.endswith(".")
    assert all(lack.endswith(".") for lack in profile.lacks)


def test_a_profile_cannot_be_changed() -> None:
    values = profile_named("aanae").values

    with pytest.raises(TypeError):
        values["search.k"] = 7  # type: ignore[index]


def test_the_gates_of_a_profile_are_those_of_the_checklist() -> None:
    assert parse_filter(QUALITY_GATES) == And(
        (
            Or((Condition("chunk_quality", Operator.EQ, "ok"), Condition("chunk_quality", Operator.EQ, "high"))),
            Condition("entity_density", Operator.GE, 0.12),
            Condition("omit_flag", Operator.EQ, False),
        )
    )


def test_every_layer_above_a_profile_is_stronger(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / FILE_NAME).write_text(
        "profile: aanae\nfusion: {parameters: {bm25_weight: 0.1}, vector_weight: 0.1}\nsearch: {k: 6}\n"
    )
    monkeypatch.setenv("TWOFOLD_SEARCH__BM25", "k1:2")
    monkeypatch.setenv("TWOFOLD_SEARCH__K", "7")
    collection = {"search.k": "8", "fusion.vector_weight": "0.2", "search.candidates": "44"}

    found = resolve(collection=collection, overrides={"search.bm25": {"b": 0.3}})

    rows = {row.key: (row.value, row.origin) for row in found.rows}
    assert rows["fusion.method"] == ("additive", "profile aanae")
    assert rows["fusion.parameters"] == (FusionParameters(bm25_weight=0.1, vector_norm="none"), FILE_NAME)
    assert rows["fusion.vector_weight"] == (0.2, "the index")
    assert rows["search.candidates"] == ("44", "the index")
    assert rows["search.k"] == (7, "environment variable TWOFOLD_SEARCH__K")
    assert rows["search.bm25"] == (Bm25Settings(k1=2.0, b=0.3), "override")
    assert rows["search.context_window"] == (0, "default")


def test_the_strongest_naming_of_a_profile_counts(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / FILE_NAME).write_text("profile: aanae\n")
    in_file = load_settings().profile
    in_index = load_settings(collection={"profile": "modes"}).profile
    monkeypatch.setenv("TWOFOLD_PROFILE", "weighted-rerank")
    in_environment = load_settings(collection={"profile": "modes"}).profile
    said = load_settings(collection={"profile": "modes"}, overrides={"profile": "fast"}).profile

    assert (in_file, in_index, in_environment, said) == ("aanae", "modes", "orchestrator", "fast")
    assert origins()["profile"] == "environment variable TWOFOLD_PROFILE"
    assert origins()["fusion.method"] == "profile orchestrator"


def test_the_profile_that_lost_leaves_nothing_behind(here: Path) -> None:
    (here / FILE_NAME).write_text("profile: aanae\n")

    assert load_settings(overrides={"profile": "balanced"}) == Settings()


def test_an_unknown_profile_is_refused_with_the_nearest_and_who_said_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TWOFOLD_PROFILE", "voice-vault")

    with pytest.raises(InvalidInputError, match="Did you mean voicevault") as caught:
        load_settings()

    assert "TWOFOLD_PROFILE" in caught.value.message


@pytest.mark.parametrize("first", [one.name for one in PROFILES])
@pytest.mark.parametrize("second", [one.name for one in PROFILES])
def test_another_profile_for_one_question_takes_the_place_of_the_one_before(first: str, second: str) -> None:
    before = load_settings(overrides={"profile": first, "search.k": 77})

    merged = merge(before, {"profile": second})

    plain = load_settings(overrides={"profile": second, "search.k": 77})
    of_the_index = {dial.key for dial in all_settings() if not dial.of_a_search}
    for dial in all_settings():
        expected = before if dial.key in of_the_index else plain
        assert value_of(merged, dial.key) == value_of(expected, dial.key), dial.key
