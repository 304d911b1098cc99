"""Settings: who wins, what is refused, and that each dial is documented."""

import math
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.config.load import (
    FILE_NAME,
    Setting,
    Settings,
    all_settings,
    as_text,
    load_settings,
    merge,
    resolve,
    value_from_text,
    value_of,
    with_values,
)
from twofold.config.schema import TimeoutSettings
from twofold.config.settings import COMMON
from twofold.domain.errors import InvalidInputError, NotFoundError


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, an empty home, and no variable of ours."""
    for dial in all_settings():
        monkeypatch.delenv(dial.variable, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def origin_of(key: str, **arguments: object) -> str:
    rows = resolve(**arguments).rows  # type: ignore[arg-type]
    return next(row.origin for row in rows if row.key == key)


def test_without_a_word_from_anybody_the_defaults_hold(tmp_path: Path) -> None:
    settings = load_settings()

    assert settings == Settings()
    assert settings.home == tmp_path / "data" / "twofold"
    assert settings.models == tmp_path / "cache" / "twofold" / "models"


def test_the_later_wins(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / FILE_NAME).write_text("search: {k: 3, candidates: 30, bm25: {b: 0.3}}\n")
    monkeypatch.setenv("TWOFOLD_SEARCH__K", "4")
    monkeypatch.setenv("TWOFOLD_SEARCH__CANDIDATES", "40")

    settings = load_settings(overrides={"search.k": 5})

    assert (settings.search.k, settings.search.candidates, settings.search.bm25.b) == (5, "40", 0.3)


def test_it_is_told_where_each_value_came_from(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / FILE_NAME).write_text("search: {k: 3}\n")
    monkeypatch.setenv("TWOFOLD_OFFLINE", "1")

    assert origin_of("search.k") == FILE_NAME
    assert origin_of("offline") == "environment variable TWOFOLD_OFFLINE"
    assert origin_of("search.bm25", overrides={"search.bm25": {"b": 0.1}}) == "override"
    assert origin_of("search.mode") == "default"


def test_the_current_folder_is_asked_before_the_home(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / FILE_NAME).write_text("index: of-the-home\n")
    monkeypatch.setenv("TWOFOLD_HOME", str(home))
    before = load_settings().index
    (here / FILE_NAME).write_text("index: of-this-folder\n")

    assert before == "of-the-home"
    assert load_settings().index == "of-this-folder"


def test_a_named_file_is_read_instead(here: Path, tmp_path: Path) -> None:
    (here / FILE_NAME).write_text("index: here\n")
    other = tmp_path / "other.yaml"
    other.write_text("index: there\n")

    assert load_settings(config=other).index == "there"


def test_a_named_file_that_is_missing_is_an_error() -> None:
    with pytest.raises(NotFoundError, match=r"nowhere\.yaml"):
        load_settings(config="nowhere.yaml")


@pytest.mark.parametrize("content", ["", "# nothing but a comment\n", "---\n"])
def test_an_empty_file_says_nothing(here: Path, content: str) -> None:
    (here / FILE_NAME).write_text(content)

    assert load_settings() == Settings()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("- a\n- b\n", "name: value"),
        ("search: 5\n", "search in"),
        ("search: {k: [1}\n", "not valid YAML"),
        ("\x00", "not valid YAML"),
        ("serch: {k: 5}\n", "serch"),
        ("search: {q: 5}\n", "search.q"),
        ("search: {k: '5'}\n", "search.k"),
        ("search: {k: true}\n", "search.k"),
        ("search: {mode: both}\n", "search.mode"),
        ("search: {bm25: {b: 1.5}}\n", "search.bm25.b"),
        ("search: {bm25: {b: .nan}}\n", "search.bm25.b"),
        ("home: 5\n", "home"),
        ("index: ''\n", "index"),
        ("chunk: {size: 64, overlap: 64}\n", "chunk.overlap"),
        ("a: !!python/object/apply:os.getcwd []\n", "not valid YAML"),
    ],
)
def test_a_bad_file_is_refused_by_name(here: Path, content: str, says: str) -> None:
    (here / FILE_NAME).write_text(content)

    with pytest.raises(InvalidInputError) as caught:
        load_settings()

    assert says in caught.value.message
    assert FILE_NAME in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("TWOFOLD_SEARCH__K", "0"),
        ("TWOFOLD_SEARCH__K", "1001"),
        ("TWOFOLD_SEARCH__K", "5.5"),
        ("TWOFOLD_SEARCH__K", "ten"),
        ("TWOFOLD_SEARCH__BM25", "b:nan"),
        ("TWOFOLD_SEARCH__BM25", "k1:inf"),
        ("TWOFOLD_OFFLINE", "perhaps"),
        ("TWOFOLD_CHUNK__STRATEGY", "random"),
        ("TWOFOLD_SEARCH_K", "5"),
        ("TWOFOLD_NONSENSE", "5"),
    ],
)
def test_a_bad_variable_is_refused_by_name(variable: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, text)

    with pytest.raises(InvalidInputError) as caught:
        load_settings()

    assert variable in caught.value.message
    assert caught.value.hint


def test_a_near_miss_is_told_the_right_name() -> None:
    with pytest.raises(InvalidInputError, match=r"Did you mean fusion\.vector_weight\?"):
        load_settings(overrides={"fusion.vector_wait": 0.5})


def test_an_empty_variable_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TWOFOLD_SEARCH__K", "")

    assert load_settings() == Settings()


def test_a_tilde_is_the_users_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TWOFOLD_HOME", "~/kept")

    assert load_settings().home == tmp_path / "kept"


@pytest.mark.parametrize(("text", "value"), [(".5", 0.5), ("0.5", 0.5), ("1", 1.0), ("0", 0.0)])
def test_numbers_are_read_as_people_write_them(text: str, value: float) -> None:
    assert load_settings(overrides={"search.bm25": f"b:{text}"}).search.bm25.b == value


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_a_share_is_kept_exactly_or_refused(share: float) -> None:
    if 0 <= share <= 1:
        assert load_settings(overrides={"fusion.vector_weight": share}).fusion.vector_weight == share
    else:
        with pytest.raises(InvalidInputError):
            load_settings(overrides={"fusion.vector_weight": share})


@given(st.text())
def test_text_for_a_number_gives_a_number_in_range_or_an_error_and_never_anything_else(text: str) -> None:
    with suppress(InvalidInputError):
        weight = load_settings(overrides={"search.bm25": f"k1:{text}"}).search.bm25.k1

        assert math.isfinite(weight)
        assert 0 <= weight <= 10


def test_there_are_few_dials_and_each_has_its_line() -> None:
    found = all_settings()

    parts = tuple(part for one in found for part in one.parts)
    assert len(found) <= 60
    assert all(one.description.endswith(".") and "\n" not in one.description for one in (*found, *parts))
    assert all(one.allowed for one in (*found, *parts))
    assert not any(part.parts for part in parts)
    assert max(len(one.parts) for one in found) <= 6
    assert len(COMMON) == len(set(COMMON)) == 20
    assert {one.key for one in found} >= set(COMMON)


def test_every_default_is_a_value_that_may_be_set() -> None:
    values = {dial.key: value_of(Settings(), dial.key) for dial in all_settings()}
    as_written = {key: str(value) if isinstance(value, Path) else value for key, value in values.items()}

    assert load_settings(overrides=as_written) == Settings()


def test_lists_and_maps_are_read_from_files_and_from_text(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / FILE_NAME).write_text(
        "search: {candidates: 30}\nboost: {patterns: ['ERR-\\d+'], rules: {\"type == '.md'\": 1}}\n"
    )
    of_file = load_settings()
    monkeypatch.setenv("TWOFOLD_BOOST", '{"patterns": ["A-\\\\d", "B"]}')
    of_environment = load_settings(overrides={"boost": {"rules": {"year > 2020": 0.5}}, "search.candidates": 5})

    assert (of_file.search.candidates, of_file.boost.patterns) == ("30", (r"ERR-\d+",))
    assert of_file.boost.rules == {"type == '.md'": 1.0}
    assert of_environment.boost.patterns == (r"A-\d", "B")
    assert of_environment.boost.rules == {"year > 2020": 0.5}
    assert of_environment.search.candidates == "5"


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("boost", {"patterns": "ERR"}, "a list of texts"),
        ("boost", '{"patterns": ["("]}', "missing )"),
        ("boost", '{"patterns": ["(?=x)"]}', "RE2"),
        ("boost", {"patterns": ("a" * 201,)}, "more than 200"),
        ("boost", {"patterns": ("a",) * 33}, "at most 32"),
        ("boost", {"patterns": ("\ud800",)}, "no text"),
        ("boost", '{"patterns": ' + "[" * 100_000, "a map"),
        ("boost", '{"rules": {"type ==": 1}}', "wants a value"),
        ("boost", '{"rules": {"year": "x"}}', "a map"),
        ("boost", '{"rules": {"year": NaN}}', "a map"),
        ("boost", '{"rules": {"year": -1}}', "a map"),
        ("boost", '{"rules": {"year": 1, "year": 2}}', "a map"),
        ("boost", {"rules": {5: 1.0}}, "a map"),
        ("search.default_filter", "type in [", "wants a value"),
        ("search.candidates", "0", "such as 100 or 5x"),
        ("search.candidates", 0, "such as 100 or 5x"),
        ("search.candidates", True, "such as 100 or 5x"),
        ("search.candidates", "5 x", "such as 100 or 5x"),
    ],
)
def test_what_cannot_be_a_pattern_a_rule_a_gate_or_a_depth_is_refused(key: str, value: object, says: str) -> None:
    with pytest.raises(InvalidInputError) as resolved:
        load_settings(overrides={key: value})
    with pytest.raises(InvalidInputError) as merged:
        merge(Settings(), {key: value})

    for caught in (resolved, merged):
        assert re.search(rf"{re.escape(key)}(\.\w+)? \(override\)", caught.value.message)
        assert says in str(caught.value)
        assert len(caught.value.message) < 600


def test_a_bad_gate_in_a_file_or_an_index_is_refused_by_place(here: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"search\.default_filter \(the index\)"):
        load_settings(collection={"search.default_filter": "("})
    with pytest.raises(InvalidInputError, match=r"search\.fusion \(the index\) is no setting"):
        load_settings(collection={"search.fusion": "rrf"})
    (here / FILE_NAME).write_text("search: {default_filter: '('}\n")
    with pytest.raises(InvalidInputError, match=rf"search\.default_filter \({FILE_NAME}\)"):
        load_settings()


VALUES: dict[object, st.SearchStrategy[object]] = {
    bool: st.booleans(),
    int: st.integers(0, 10**6),
    float: st.floats(0, 10**6),
    str: st.text(max_size=8) | st.sampled_from(["100", "5x", "year > 2020", ".5", "true"]),
    Path: st.text(min_size=1, max_size=8).map(lambda text: Path("/") / text.replace("\0", "")),
    tuple: st.lists(st.text(max_size=8), max_size=4).map(tuple),
    Mapping: st.dictionaries(st.text(max_size=8), st.floats(0, 100), max_size=4),
    Literal: st.sampled_from(["rrf", "hybrid", "rules"]),
}


def values_for(setting: Setting) -> st.SearchStrategy[object]:
    """Give values of its type, in range or not; of a map some of its parts."""
    if not setting.parts:
        return VALUES[setting.kind]
    return st.fixed_dictionaries({}, optional={part.name: VALUES[part.kind] for part in setting.parts})


@given(st.data())
def test_every_value_reads_back_from_its_text(data: st.DataObject) -> None:
    dial = data.draw(st.sampled_from(all_settings()))
    value = data.draw(values_for(dial))
    with suppress(InvalidInputError):
        kept = value_from_text(dial.key, as_text(value))

        assert kept == value
        assert type(kept) is type(value) or isinstance(value, Path | int | dict)


def test_parts_that_a_layer_leaves_out_stay_as_a_weaker_layer_has_them(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / FILE_NAME).write_text("profile: localgpt\ntimeouts: {rerank: 7}\n")
    monkeypatch.setenv("TWOFOLD_TIMEOUTS", "generate:9")

    found = resolve(collection={"timeouts": '{"search": 2.5}'}, overrides={"timeouts": {"write": 0}})

    # the profile has 30, 60, 30 and 120; the default of `search` is 0 and of `write` 5
    assert found.settings.timeouts == TimeoutSettings(30.0, 60.0, 7.0, 9.0, 2.5, 0.0)
    assert merge(found.settings, {"timeouts": "embed:1, retrieve:.5"}).timeouts == TimeoutSettings(
        1.0, 0.5, 7.0, 9.0, 2.5, 0.0
    )


@pytest.mark.parametrize(
    ("key", "value", "says", "hint"),
    [
        ("retries.count", 3, "retries.count (override) is no setting", "--set retries=count:VALUE"),
        ("retries", "cont:3", "retries (override) has no part 'cont'", "Did you mean count?"),
        ("retries", {"xyz": 3}, "retries (override) has no part 'xyz'", "count, backoff_seconds"),
        ("retries", "3", "retries (override) cannot be '3'", "a map of count, backoff_seconds"),
        ("retries", 3, "retries (override) cannot be 3", "a map of count, backoff_seconds"),
        ("retries", "count:3 count:4", "retries (override) cannot be", "a map of"),
        ("retries", '{"count": 3, "count": 4}', "retries (override) cannot be", "a map of"),
        ("retries", {"count": 10}, "retries.count (override) cannot be 10", "from 0 to 9"),
        ("retries", {"count": "x"}, "retries.count (override) cannot be 'x'", "from 0 to 9"),
        ("retries", "count:3.5", "retries.count (override) cannot be '3.5'", "from 0 to 9"),
        ("query_expansion", "hyde:perhaps", "query_expansion.hyde (override)", "true or false"),
    ],
)
def test_a_map_is_refused_by_the_part_that_is_wrong(key: str, value: object, says: str, hint: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        load_settings(overrides={key: value})

    assert says in caught.value.message
    assert hint in str(caught.value.hint)


@pytest.mark.parametrize("dial", all_settings(), ids=lambda dial: dial.key)
def test_every_default_reads_back_from_its_text(dial: Setting) -> None:
    default = value_of(Settings(), dial.key)

    assert (
        value_of(with_values(Settings(), {dial.key: value_from_text(dial.key, as_text(default))}), dial.key) == default
    )


def test_a_folder_may_begin_with_a_dot() -> None:
    assert load_settings(overrides={"home": "./kept"}).home == Path("kept")
    assert load_settings(overrides={"models": ".cache"}).models == Path(".cache")


def test_one_question_may_have_settings_of_its_own() -> None:
    settings = load_settings(overrides={"search.k": 7})

    merged = merge(
        settings, {"search.k": 3, "fusion.method": "rrf", "search.candidates": 50, "boost": {"patterns": ["X"]}}
    )

    assert (merged.search.k, merged.fusion.method, merged.search.candidates, merged.boost.patterns) == (
        3,
        "rrf",
        "50",
        ("X",),
    )
    assert settings.search.k == 7
    assert merged.rerank is settings.rerank
    assert merge(settings, {}) is settings


@pytest.mark.parametrize("key", ["embedder", "analyzer", "enricher", "chunk.size", "home", "index", "limits"])
def test_one_question_cannot_change_how_an_index_is_made(key: str) -> None:
    with pytest.raises(InvalidInputError, match="cannot differ from question to question"):
        merge(Settings(), {key: value_of(Settings(), key) if key != "home" else "x"})


def test_a_word_for_one_question_is_checked_as_any_other() -> None:
    with pytest.raises(InvalidInputError, match=r"search\.k \(override\) cannot be 0"):
        merge(Settings(), {"search.k": 0})
    with pytest.raises(InvalidInputError, match=r"Did you mean search\.k\?"):
        merge(Settings(), {"searchk": 5})
    with pytest.raises(InvalidInputError, match="Did you mean precise"):
        merge(Settings(), {"profile": "precice"})
