"""Checklist 68 through searches: 0.98 exactly is a miss and 0.981 a hit, another session a miss, 301 s a miss."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.api_client import fill, visiting
from support.exact_scores import Known
from twofold import Index
from twofold.compat.localgpt import RetrievalPipeline
from twofold.config.load import grouped

ASKED, NEAR = "how do I undo the last commit", "How to undo the last commit?"
QUIET = {"rerank.model": "none"}


class Clock:
    """The seconds that a test says have gone by."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("twofold.search.cache.now", made)
    return made


def made_index(cosine: float = 1.0) -> Index:
    """Return an index whose embedder gives the second question this cosine with the first."""
    index = Index(":memory:", embedder=Known({}, {NEAR: cosine}))
    index.add("Undo the last commit with git reset.", source="reset.md")
    return index


@pytest.fixture
def index() -> Iterator[Index]:
    with made_index() as made:
        yield made


@pytest.mark.parametrize(("cosine", "hit"), [(0.979, False), (0.98, False), (0.981, True), (1.0, True)])
def test_more_than_0_98_is_a_hit_and_0_98_itself_a_miss(cosine: float, *, hit: bool) -> None:
    with made_index(cosine) as index:
        index.search(ASKED, profile="localgpt", settings=QUIET)
        found = index.search(NEAR, profile="localgpt", settings=QUIET)

    assert found.cache.hit is hit
    assert not hit or found.cache.kind == "semantic"
    assert not hit or found.cache.cosine == pytest.approx(cosine, abs=1e-6)


@pytest.mark.parametrize("question", [ASKED, NEAR])
@pytest.mark.parametrize(("seconds", "hit"), [(0.0, True), (299.0, True), (300.0, False), (301.0, False)])
def test_what_was_found_is_good_for_300_seconds(
    index: Index, clock: Clock, question: str, seconds: float, *, hit: bool
) -> None:
    index.search(ASKED, profile="localgpt", settings=QUIET)
    clock.now += seconds
    found = index.search(question, profile="localgpt", settings=QUIET)

    assert found.cache.hit is hit
    assert not hit or found.cache.age_s == seconds


def test_under_session_scope_another_session_is_a_miss(index: Index) -> None:
    said = grouped({**QUIET, "cache.scope": "session"})
    index.search(ASKED, profile="localgpt", settings=said, session="anna")

    assert not index.search(ASKED, profile="localgpt", settings=said, session="ben").cache.hit
    assert not index.search(ASKED, profile="localgpt", settings=said).cache.hit
    assert index.search(ASKED, profile="localgpt", settings=said, session="anna").cache.hit


@pytest.mark.parametrize(
    "other",
    [
        {"cache": {"ttl_seconds": 200.0}}, {"fusion.vector_weight": 0.4}, {"search.context_window": 1},
        {"search.candidates": "30"},
        {"rerank.model": "word-overlap"}, {"search.default_filter": "source == reset.md"}, {"cache": {"size": 0}},
    ],
)  # fmt: skip
def test_settings_that_differ_share_nothing(index: Index, other: dict[str, object]) -> None:
    index.search(ASKED, profile="localgpt", settings=QUIET)

    assert not index.search(ASKED, profile="localgpt", settings={**QUIET, **other}).cache.hit
    assert index.search(ASKED, profile="localgpt", settings=QUIET).cache.hit
    assert not index.search(ASKED).cache.hit
    assert not index.search(ASKED, profile="localgpt", k=3, settings=QUIET).cache.hit


def test_its_own_pipeline_remembers(index: Index, clock: Clock) -> None:
    pipeline = RetrievalPipeline({"git": index}, {"ai_rerank": False})
    first = pipeline.retrieve(ASKED)
    again = pipeline.retrieve(ASKED)
    assert (again, index.metrics().cache_hit_rate) == (first, 0.5)
    clock.now += 301.0
    pipeline.retrieve(ASKED)

    assert index.metrics().cache_hit_rate == pytest.approx(1 / 3)
    assert index.metrics().queries == 3


def test_over_http_the_profile_of_a_request_remembers(tmp_path: Path, clock: Clock) -> None:
    fill(tmp_path)
    body = {"query": "undo the last commit", "profile": "localgpt", "rerank": False}
    with visiting(tmp_path) as visit:
        given = [visit.client.post("/v1/indexes/notes/search", json=body).json()["cache"]["hit"] for _ in range(2)]
        clock.now += 301.0
        late = visit.client.post("/v1/indexes/notes/search", json=body).json()["cache"]["hit"]

    assert (*given, late) == (False, True, False)
