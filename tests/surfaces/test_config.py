"""`config`: what is set, by whom, the profiles, and what a file of another system said in vain."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from twofold.config.load import all_settings
from twofold.config.profiles import PROFILES
from twofold.index import Index

Run = Callable[..., Any]


def test_a_profile_is_shown_with_everything_it_sets(run: Run) -> None:
    rows = run("config", "show", "--profile", "rrf-diverse", "--all", "--json").data["settings"]

    shown = {row["key"]: (row["value"], row["origin"]) for row in rows}
    assert list(shown) == [dial.key for dial in all_settings()]
    assert shown["profile"] == ("voicevault", "override")
    assert shown["diversity"] == ({"per_page": 2, "per_source": 0, "max_overlap": 0.0}, "profile voicevault")
    assert shown["embedder"] == ("hashing", "environment variable TWOFOLD_EMBEDDER")
    assert shown["search.default_filter"] == ("", "default")


@pytest.mark.parametrize("name", [one.name for one in PROFILES])
def test_every_profile_can_be_shown(run: Run, name: str) -> None:
    assert run("config", "show", "--profile", name, "--all").code == 0


def test_profiles_are_listed_one_a_line_with_the_chosen_one_marked(run: Run) -> None:
    lines = run("--set", "profile=linear-local", "config", "profiles").out.splitlines()
    data = run("config", "profiles", "--json").data

    assert len(lines) == len(PROFILES)
    assert [line.split()[1] for line in lines if line.startswith("*")] == ["localgpt"]
    assert [one["name"] for one in data] == [one.name for one in PROFILES]
    assert data[-1]["values"]["boost"]["rules"]


def test_what_was_said_in_vain_is_shown(run: Run, tmp_path: Path) -> None:
    config = tmp_path / "theirs.yaml"
    config.write_text("retrieval: {top_k: 3}\ndevice: cpu\n")

    shown = run("--config", config, "config", "show")
    data = run("--config", config, "config", "show", "--json").data

    assert shown.out.endswith(f"Without a counterpart here: device ({config}).\n")
    assert data["unused"] == [f"device ({config})"]
    assert {row["key"]: row["origin"] for row in data["settings"]}["search.k"] == f"{config}: retrieval.top_k"


def test_lists_and_maps_are_set_and_shown_as_json(run: Run) -> None:
    value = r"""boost={"patterns": ["ERR-\\d+"], "rules": {"type == '.md'": 0.5}}"""
    done = run("--set", value, "config", "show")

    assert r'["ERR-\\d+"]' in done.out
    assert "{\"type == '.md'\": 0.5}" in done.out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--set", "profile=aana", "config", "show"], "Did you mean aanae?"),
        (["config", "show", "--profile", "nonsense"], "config profiles"),
        (["--set", "search.default_filter=type in [", "config", "show"], "search.default_filter (override)"),
        (["--set", 'boost={"patterns": ["("]}', "config", "show"], "boost.patterns (override)"),
    ],
)
def test_nonsense_is_refused(run: Run, words: list[str], says: str) -> None:
    done = run(*words)

    assert done.code == 2
    assert says in done.err


@pytest.mark.usefixtures("ready")
def test_what_an_index_keeps_for_itself_is_shown_as_its_own(run: Run) -> None:
    with Index("notes", create=False) as index:
        index.set_settings({"search.k": 7, "profile": "fast"})

    rows = {row["key"]: row for row in run("config", "show", "-i", "notes", "--all", "--json").data["settings"]}
    stronger = {
        row["key"]: row
        for row in run("--set", "search.k=2", "config", "show", "-i", "notes", "--json").data["settings"]
    }

    assert (rows["search.k"]["value"], rows["search.k"]["origin"]) == (7, "the index")
    assert (rows["profile"]["value"], rows["profile"]["origin"]) == ("fast", "the index")
    assert rows["search.mode"]["origin"] == "profile fast"
    assert (stronger["search.k"]["value"], stronger["search.k"]["origin"]) == (2, "override")
    assert run("config", "show", "-i", "absent").code == 3


@pytest.mark.usefixtures("ready")
def test_the_model_that_an_index_was_made_with_is_its_own(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TWOFOLD_EMBEDDER")

    rows = {row["key"]: row for row in run("config", "show", "-i", "notes", "--json").data["settings"]}

    assert (rows["embedder"]["value"], rows["embedder"]["origin"]) == ("hashing", "the index")
