"""Checklist C1, C2, C3, C8, C14, C16, C17, C18, C20, C21 and C22: what each profile says where the systems disagree.

Also the values of items 20, 31, 35, 41, 42, 45, 46, 50 and 68.
"""

import pytest

from support.indexes import GIT, indexed
from twofold import Index, Settings
from twofold.config.load import grouped, value_of
from twofold.config.profiles import PROFILES
from twofold.domain.types import MetadataValue
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.search.result import SearchResult

CROSS_ENCODER = "ms-marco-MiniLM-L-12-v2"


@pytest.fixture(autouse=True)
def nothing_else_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TWOFOLD_PROFILE", raising=False)


def of(profile: str, **more: object) -> Settings:
    """Return the settings in force of an index that is opened with a profile, `search__k` standing for `search.k`."""
    said = {"profile": profile, **grouped({key.replace("__", "."): value for key, value in more.items()})}
    with Index(":memory:", embedder=HashingEmbedder(), overrides=said) as index:
        return index.settings


def searched(profile: str, **more: object) -> SearchResult:
    """Search as a profile does, chosen for this search, without a reranker."""
    settings = {
        "rerank.model": "none",
        "search.default_filter": "",
        **grouped({k.replace("__", "."): v for k, v in more.items()}),
    }
    with indexed(GIT) as index:
        return index.search("undo the last commit", profile=profile, settings=settings)


def table(*keys: str) -> dict[str, tuple[object, ...]]:
    seeds = ("voicevault", "orchestrator", "localgpt", "localgpt-ui", "modes", "aanae")
    return {name: tuple(value_of(of(name), key) for key in keys) for name in seeds}


def test_c1_c4_c6_each_profile_fixes_its_fusion() -> None:
    assert table("fusion.method", "fusion.parameters.bm25_norm", "fusion.parameters.vector_norm") == {
        "voicevault": ("rrf", "max", "clip"),
        "orchestrator": ("weighted_sum", "max", "clip"),
        "localgpt": ("linear", "max", "none"),
        "localgpt-ui": ("linear", "max", "none"),
        "modes": ("linear", "max", "clip"),
        "aanae": ("additive", "max", "none"),
    }
    assert of("voicevault").fusion.parameters.rrf_k == 60
    assert of("balanced").fusion.method == "adaptive"


def test_c2_weights_live_in_the_profile() -> None:
    weights = table("fusion.vector_weight")

    assert weights["orchestrator"] == (0.6,)
    assert weights["modes"] == (0.5,)
    assert weights["localgpt"] == weights["aanae"] == (0.7,)
    assert of("aanae").fusion.parameters.bm25_weight == 0.35


def test_c3_the_two_defaults_of_one_system_are_two_profiles() -> None:
    both = table("fusion.vector_weight", "search.candidates", "search.mode", "rerank.candidates", "rerank.top_n")

    assert both["localgpt"] == (0.7, "20", "hybrid", 20, 10)
    assert both["localgpt-ui"] == (0.5, "10", "bm25", 20, 0)


def test_c8_depth_is_a_number_or_a_factor() -> None:
    assert {name: depth for name, (depth,) in table("search.candidates").items() if name != "modes"} == {
        "voicevault": "20",
        "orchestrator": "20",
        "localgpt": "20",
        "localgpt-ui": "10",
        "aanae": "5x",
    }


def test_c14_how_much_of_a_conversation_is_carried_along() -> None:
    turns = table("query.turns", "query.characters")

    assert turns["voicevault"] == (5, 0)  # 0 is all of an answer
    assert turns["localgpt"] == (3, 200)


def test_c16_what_is_given_what_is_read_and_what_is_kept_are_three_settings() -> None:
    assert table("search.k", "rerank.candidates", "rerank.top_n") == {
        "voicevault": (5, 20, 0),
        "orchestrator": (5, 20, 5),
        "localgpt": (10, 20, 10),
        "localgpt-ui": (10, 20, 0),
        "modes": (10, 20, 0),
        "aanae": (5, 50, 10),
    }


def test_c18_three_retries_begin_with_a_wait_of_one_second() -> None:
    retries = of("aanae").retries

    assert (retries.count, retries.backoff_seconds) == (3, 1.0)
    assert of("balanced").retries.count == 0


def test_c20_the_default_is_hybrid_and_an_explicit_mode_wins() -> None:
    assert Settings().search.mode == of("modes").search.mode == "hybrid"
    assert of("modes", search__mode="vector").search.mode == "vector"
    assert searched("modes").mode == "hybrid"
    assert searched("modes", search__mode="bm25").mode == "bm25"
    assert (searched("fast").mode, searched("fast", search__mode="hybrid").mode) == ("vector", "hybrid")


def test_c21_wordings_are_merged_by_best_score_or_by_rank() -> None:
    voicevault = of("voicevault")

    assert (voicevault.query_expansion.multi_query, voicevault.query_expansion.merge) == (3, "best_score")
    assert of("voicevault", query_expansion__merge="rrf").query_expansion.merge == "rrf"


def test_c22_several_indexes_are_one_or_the_reranker_joins_them() -> None:
    across = table("search.multi_index_merge")

    assert (across["voicevault"], across["localgpt"]) == (("global",), ("rerank",))


def test_c17_whatever_fails_no_system_raises() -> None:
    assert {failure for (failure,) in table("search.on_failure").values()} == {"degrade"}


def test_item_20_an_embedder_that_can_be_had_is_the_systems_own() -> None:
    own = {name: embedder for name, (embedder,) in table("embedder").items() if embedder != Settings().embedder}

    assert own == {"voicevault": "all-MiniLM-L6-v2", "modes": "all-MiniLM-L6-v2"}


@pytest.mark.parametrize(("about", "share"), [("conceptual", 0.7), ("technical", 0.4), ("balanced", 0.6)])
def test_item_31_weights_can_follow_the_question(about: str, share: float) -> None:
    found = searched("orchestrator", fusion__vector_weight=share)

    assert about
    assert found.fusion == "weighted_sum"
    assert {retriever.retriever: retriever.weight for retriever in found.hits[0].trace.retrievers} == pytest.approx(
        {"bm25": 1 - share, "vector": share}
    )


def test_item_35_the_three_modes() -> None:
    modes = ["vector", "bm25", "hybrid"]

    assert [searched("balanced", search__mode=one).mode for one in modes] == modes


def test_item_41_codes_and_what_they_multiply() -> None:
    boost = of("orchestrator").boost

    assert boost.patterns == (r"ERR-\d{3,6}", r"TICKET-\d+", r"v\d+\.\d+\.\d+")
    assert (boost.multiplier, boost.stage) == (1.5, "fused")


@pytest.mark.parametrize(
    ("words", "kind", "source", "passes"),
    [
        (39, "water_bodies", "excel", True),
        (40, "water_bodies", "excel", False),
        (39, "biodiversity_conservation", "excel", True),
        (39, "definition", "excel", False),
        (39, "water_bodies", "markdown", False),
    ],
)
def test_item_42_the_rule_of_short_sheets(words: int, kind: str, source: str, passes: bool) -> None:  # noqa: FBT001
    fields: dict[str, MetadataValue] = {"source_type": source, "word_count": words, "semantic_type_primary": kind}
    gates: dict[str, MetadataValue] = {"chunk_quality": "ok", "entity_density": 0.5, "omit_flag": False}
    with indexed({}) as index:
        index.add("The heron stands in the lake.", source="birds", metadata={**fields, **gates})
        (hit,) = index.search("heron", profile="aanae", settings={"rerank.model": "none"}).hits

    bonuses = [step.after - step.before for step in hit.trace.steps]
    assert bonuses == ([pytest.approx(0.15)] if passes else [])


@pytest.mark.parametrize(
    ("quality", "density", "omit", "passes"),
    [
        ("ok", 0.12, False, True),
        ("high", 0.5, False, True),
        ("ok", 0.1199, False, False),
        ("poor", 0.9, False, False),
        ("high", 0.5, True, False),
    ],
)
def test_item_45_the_gates(quality: str, density: float, omit: bool, passes: bool) -> None:  # noqa: FBT001
    fields: dict[str, MetadataValue] = {"chunk_quality": quality, "entity_density": density, "omit_flag": omit}
    with indexed({}) as index:
        index.add("The heron stands in the lake.", source="birds", metadata=fields)
        found = index.search("heron", profile="aanae", settings={"rerank.model": "none"})

    assert bool(found.hits) is passes


def test_item_46_two_passages_of_a_page() -> None:
    assert of("voicevault").diversity.per_page == 2


def test_item_68_answers_are_kept_for_five_minutes() -> None:
    cache = of("localgpt").cache

    assert (cache.size, cache.ttl_seconds, cache.semantic_threshold) == (100, 300, 0.98)
    assert of("balanced").cache.size == 0


def test_rerankers_replace_the_fused_score_in_the_systems_profiles_and_are_blended_in_ours() -> None:
    weights = {one.name: of(one.name).rerank.weight for one in PROFILES if of(one.name).rerank.model != "none"}

    assert weights == {"precise": 0.2, "voicevault": 1, "orchestrator": 1, "localgpt": 1, "aanae": 1, "aanae-local": 1}
    assert of("orchestrator").rerank.threshold == 0.3
    assert {of(name).rerank.model for name in weights} == {CROSS_ENCODER}
