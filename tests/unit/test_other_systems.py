"""Configurations of other systems: every name has its meaning, none is dropped unsaid, nonsense is refused."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from twofold.config.load import FILE_NAME, Settings, all_settings, load_settings, resolve, value_of, with_values
from twofold.config.other_systems import KNOWN, RENAMED, TOGGLES, UNUSED, WEIGHTS, translated
from twofold.config.profiles import profile_named
from twofold.domain.errors import InvalidInputError


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for dial in all_settings():
        monkeypatch.delenv(dial.variable, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def nested(key: str, value: object) -> dict[object, object]:
    """`{"a": {"b": value}}` for `a.b`."""
    for name in reversed(key.split(".")):
        value = {name: value}
    assert isinstance(value, dict)
    return value


def test_every_name_stands_in_one_table() -> None:
    weights = [name for pair in WEIGHTS for name in (pair.meaning, pair.words)]

    assert len(KNOWN) == len({*RENAMED, *TOGGLES, *UNUSED, *weights}) == len(set(KNOWN))


@pytest.mark.parametrize("key", [*{ours for several in RENAMED.values() for ours in several}])
def test_every_meaning_is_a_setting(key: str) -> None:
    assert key in {part.key for one in all_settings() for part in one.parts or (one,)}


@pytest.mark.parametrize("key", TOGGLES)
def test_every_switch_can_be_turned(key: str) -> None:
    toggle = TOGGLES[key]

    for on, value in ((False, toggle.off), (True, toggle.on)):
        found = translated(nested(key, value=on)).values

        assert value_of(with_values(Settings(), found), toggle.key) == value
        load_settings(overrides=found)


@pytest.mark.parametrize("key", UNUSED)
def test_what_has_no_counterpart_is_named(key: str) -> None:
    found = translated(nested(key, "anything"))

    assert found.unused == (key,)
    assert set(found.values) <= {"profile"}


@pytest.mark.parametrize(
    "content",
    [
        {"retrieval": {"topk": 3}},
        {"retrieval": {"hybrid_search": {"semantic": 0.5}}},
        {"retrieval": {"reranking": {"enabled": "yes"}}},
        {"retrieval": {"hybrid_search": {"semantic_weight": "0.5"}}},
        {"retrieval": {"hybrid_search": {"semantic_weight": -1}}},
        {"retrieval": {"hybrid_search": {"semantic_weight": 0, "keyword_weight": 0}}},
        {"retrieval": {"hybrid_search": {"semantic_weight": float("inf"), "keyword_weight": 1}}},
        {"retrieval": 5},
        {"retrieval": {"reranking": [1]}},
        {"searchType": "sparse"},
        {"searchType": ["fts"]},
        {"RETRIEVAL_CONFIG": {"dense_weigth": 0.7}},
        {"retrieval": {}, "searchType": "fts"},
        {"denseWeight": 0.5, "RETRIEVAL_CONFIG": {"dense_weight": 0.7}, "profile": "localgpt"},
    ],
    ids=str,
)
def test_nonsense_is_refused(content: dict[object, object]) -> None:
    with pytest.raises(InvalidInputError) as caught:
        translated(content, "theirs.yaml")

    assert "theirs.yaml" in caught.value.message
    assert caught.value.hint


def test_a_value_out_of_range_is_told_by_both_names(here: Path) -> None:
    (here / FILE_NAME).write_text("retrieval: {top_k: 0}\n")

    with pytest.raises(InvalidInputError) as caught:
        load_settings()

    assert f"search.k ({FILE_NAME}: retrieval.top_k) cannot be 0" in caught.value.message


def test_a_file_may_hold_both_but_not_the_same_twice(here: Path) -> None:
    (here / FILE_NAME).write_text("index: notes\nprofile: modes\nretrieval: {top_k: 3}\nsearch: {context_window: 2}\n")
    both = load_settings()
    (here / FILE_NAME).write_text("retrieval: {top_k: 3}\nsearch: {k: 3}\n")

    assert (both.index, both.profile, both.search.k, both.search.context_window) == ("notes", "modes", 3, 2)
    with pytest.raises(InvalidInputError, match="said twice"):
        load_settings()


@pytest.mark.parametrize(
    ("weights", "share"),
    [
        ({"semantic_weight": 3, "keyword_weight": 1}, 0.75),
        ({"semantic_weight": 0.7, "keyword_weight": 0.3}, 0.7),
        ({"semantic_weight": 0, "keyword_weight": 1}, 0.0),
        ({"semantic_weight": 0.6}, 0.6),
        ({"keyword_weight": 0.4}, 0.6),
        ({"semantic_weight": 0.4}, 0.5),
    ],
)
def test_two_weights_become_the_share_of_meaning(weights: dict[str, float], share: float) -> None:
    found = translated({"retrieval": {"hybrid_search": weights}})

    assert found.values["fusion.vector_weight"] == share


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_any_two_weights_make_a_share(meaning: float, words: float) -> None:
    content: dict[object, object] = {"hybrid_semantic_weight": meaning, "hybrid_bm25_weight": words}
    if meaning + words == 0:
        with pytest.raises(InvalidInputError):
            translated(content)
    else:
        share = translated(content).values["fusion.vector_weight"]
        assert isinstance(share, float)
        assert 0 <= share <= 1
        assert share * (meaning + words) == pytest.approx(meaning)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from([part for key in KNOWN for part in key.split(".")]), inner)
        ),
    )
)
def test_any_content_is_read_or_refused(content: object) -> None:
    if not isinstance(content, dict):
        return
    try:
        found = translated(content)
    except InvalidInputError:
        return
    assert found.values.keys() == found.names.keys()
    assert set(found.rest) <= set(content)


def test_a_switch_that_is_off_wins_and_one_that_is_on_keeps_what_is_said() -> None:
    off = translated({"retrieval": {"reranking": {"enabled": False, "model": "word-overlap"}}})
    on = translated({"retrieval": {"reranking": {"enabled": True, "model": "word-overlap"}}})

    assert off.values["rerank.model"] == "none"
    assert on.values["rerank.model"] == "word-overlap"


@pytest.mark.parametrize(
    ("flags", "model"),
    [
        ({"searchType": "hybrid"}, "ms-marco-MiniLM-L-12-v2"),
        ({"searchType": "hybrid", "aiRerank": False}, "none"),
        ({"searchType": "FTS"}, None),
        ({"searchType": "dense", "aiRerank": True}, "ms-marco-MiniLM-L-12-v2"),
    ],
)
def test_flags_rerank_where_search_is_hybrid_or_where_they_say_so(flags: dict[object, object], model: object) -> None:
    assert translated(flags).values.get("rerank.model") == model


def test_a_model_that_cannot_be_had_is_named_and_no_other_takes_its_place() -> None:
    qwen = translated({"MODEL_CONFIG": {"embedding_model": "Qwen/Qwen3-Embedding-0.6B"}})
    own = translated({"MODEL_CONFIG": {"embedding_model": "http://localhost:11434/v1#nomic-embed-text"}})

    assert qwen.unused == ("MODEL_CONFIG.embedding_model",)
    assert "embedder" not in qwen.values
    assert own.values["embedder"] == "http://localhost:11434/v1#nomic-embed-text"


@pytest.mark.parametrize(
    ("content", "profile"),
    [
        ({"retrieval": {"top_k": 5}}, "orchestrator"),
        ({"retrievalK": 10}, "localgpt-ui"),
        ({"PERFORMANCE_CONFIG": {"timeouts": {"embedding": 3}}}, "localgpt"),
        ({"bm25_k1": 1.5}, "modes"),
        ({"llm": {"max_context_tokens": 6000}}, "balanced"),
    ],
)
def test_a_configuration_chooses_the_profile_of_its_system(
    content: dict[str, object], profile: str, here: Path
) -> None:
    (here / FILE_NAME).write_text(yaml.safe_dump(content))

    resolved = resolve()

    assert resolved.settings.profile == profile
    assert {row.origin for row in resolved.rows if row.key in profile_named(profile).values} <= {
        f"profile {profile}",
        *(row.origin for row in resolved.rows if row.origin.startswith(FILE_NAME)),
    }
