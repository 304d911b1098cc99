"""Checklist 71: batches of 32, 16 and 1; 30, 60, 30 and 120 s for the stages; 100 results for a query."""

import threading
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec
import pytest

from support.api_client import visiting
from support.http_server import Answered, Asked, embeddings, reranking, serving
from twofold import Index
from twofold.domain.errors import InvalidInputError, ModelError, StageTimeoutError
from twofold.domain.types import Vectors
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.multi_index import search_multi
from twofold.search.engine import SearchOptions
from twofold.search.timeouts import MAX_ABANDONED, Deadline, StageLimits, TimedCalls

MOMENT = 0.01


@pytest.fixture
def stuck() -> Iterator[threading.Event]:
    """What a call hangs on until the test has ended."""
    event = threading.Event()
    yield event
    event.set()


def await_helpers() -> None:
    """Wait until what was given up has ended."""
    for thread in threading.enumerate():
        if thread.name.startswith("twofold "):
            thread.join(60.0)


def cats(count: int) -> str:
    """Write so many paragraphs of 14 words, each a passage of its own where a passage has 16 tokens."""
    return "\n\n".join(f"Cat number {n} sat on the mat and slept there all day long." for n in range(count))


class Noting:
    """A server of embeddings and reranking that keeps how many texts it was sent, request by request."""

    def __init__(self) -> None:
        self.embedded: list[int] = []
        self.reranked: list[int] = []

    def __call__(self, asked: Asked) -> Answered:
        body = msgspec.json.decode(asked.body)
        if asked.path == "/v1/embeddings":
            self.embedded.append(len(body["input"]))
            return embeddings(asked)
        self.reranked.append(len(body["documents"]))
        return reranking(asked)


@pytest.mark.parametrize("profile", ["localgpt", "localgpt-ui"])
def test_the_stages_have_the_times_that_the_system_gives_them(profile: str) -> None:
    with Index(":memory:", overrides={"profile": profile, "embedder": "hashing"}) as index:
        plan = index.searcher.parts_for(SearchOptions())[1]

    assert plan.timeouts.limits == StageLimits(embed=30.0, retrieve=60.0, rerank=30.0, synthesise=120.0)


def test_seventy_passages_are_embedded_in_batches_of_32_32_and_6() -> None:
    noting = Noting()
    with serving(noting) as address:
        settings = {"profile": "localgpt", "embedder": f"{address}/v1#m&dimensions=64", "chunk.size": 16}
        with Index(":memory:", overrides=settings) as index:
            index.add(cats(70), source="a.md")
            assert index.info().chunks == 70

    assert noting.embedded == [32, 32, 6]


def test_twenty_candidates_are_reranked_in_batches_of_16_and_4() -> None:
    noting = Noting()
    with serving(noting) as address:
        settings = {"profile": "localgpt", "embedder": "hashing", "rerank.model": f"{address}/v1#m"}
        with Index(":memory:", overrides=settings) as index:
            for number in range(25):
                index.add(f"A sentence about cats, number {number}.", source=f"{number}.md")
            result = index.search("cats")
            at_once = index.search("cats", settings={"batch": {"rerank": 0}})

    assert noting.reranked == [16, 4, 20]
    assert result.rerank is not None
    assert result.rerank.read == 20
    assert [hit.source for hit in result.hits] == [hit.source for hit in at_once.hits]


@pytest.fixture(scope="module")
def many() -> Iterator[Index]:
    """An index of 150 passages that all match."""
    with Index(":memory:", overrides={"embedder": "hashing", "chunk.size": 16}) as index:
        index.add(cats(150), source="a.md")
        yield index


def test_the_system_gives_at_most_100_results_and_says_so(many: Index) -> None:
    result = many.search("cat", k=150, profile="localgpt", settings={"rerank.model": "none", "rerank.top_n": 0})

    assert len(result.hits) == 100
    assert str(result.warnings[0]) == "fetch limited: 150 passages were asked for, and `search.max_results` allows 100."
    assert not result.degraded


def test_other_profiles_give_as_many_as_are_asked_for(many: Index) -> None:
    result = many.search("cat", k=150)

    assert (len(result.hits), result.warnings) == (150, ())


def test_more_than_a_thousand_are_refused_also_where_fewer_would_be_given(many: Index) -> None:
    with pytest.raises(InvalidInputError, match="from 1 to 1000, not 1001"):
        many.search("cat", k=1001, profile="localgpt")


def test_the_server_and_several_indexes_keep_to_it_too(tmp_path: Path) -> None:
    for name in ("one", "two"):
        with Index(tmp_path / "indexes" / name, overrides={"embedder": "hashing", "chunk.size": 16}) as index:
            index.add(cats(80), source="a.md")
    said = {"search.max_results": 100}
    with visiting(tmp_path, said=said) as visit:
        asked = {"query": "cat", "k": 150}
        one = visit.client.post("/v1/indexes/one/search", json=asked).json()
    folders = [tmp_path / "indexes" / name for name in ("one", "two")]
    both = search_multi(folders, "cat", SearchOptions(k=150, settings=said))

    assert len(one["hits"]) == 80
    assert "allows 100" in one["warnings"][0]["message"]
    assert len(both.hits) == 100
    assert "allows 100" in str(both.warnings[0])


def test_a_call_that_takes_too_long_is_given_up_and_ends_by_itself(stuck: threading.Event) -> None:
    calls, ended = TimedCalls(), threading.Event()

    def hang() -> None:
        stuck.wait()
        ended.set()

    with pytest.raises(StageTimeoutError, match=r"rerank took more than 0\.01 s"):
        calls.within("rerank", MOMENT, hang)
    assert calls.abandoned == 1

    stuck.set()
    await_helpers()
    assert ended.is_set()
    assert calls.abandoned == 0


def test_a_stage_that_took_too_long_is_a_failure_of_the_model(stuck: threading.Event) -> None:
    with pytest.raises(ModelError):
        TimedCalls().within("embed", MOMENT, stuck.wait)


def test_when_too_many_hang_a_call_is_refused_at_once_and_again_made_when_they_have_ended(
    stuck: threading.Event,
) -> None:
    calls, made = TimedCalls(), list[int]()
    for _ in range(MAX_ABANDONED):
        with pytest.raises(StageTimeoutError, match="took more"):
            calls.within("embed", MOMENT, stuck.wait)
    before = set(threading.enumerate())  # those of tests before may end at any time
    with pytest.raises(StageTimeoutError, match="was not tried"):
        calls.within("embed", 30.0, lambda: made.append(1))

    assert made == []
    assert set(threading.enumerate()) <= before
    stuck.set()
    await_helpers()
    assert calls.within("embed", 30.0, lambda: 7) == 7


def test_a_call_in_time_gives_its_answer_or_its_own_error() -> None:
    calls = TimedCalls()

    def fail(error: Exception) -> None:
        raise error

    assert calls.within("embed", 30.0, lambda: 7) == 7
    for error in (ModelError("gone"), TimeoutError("its own"), ValueError("wrong")):
        with pytest.raises(type(error)) as caught:
            calls.within("embed", 30.0, partial(fail, error))
        assert caught.value is error
    assert calls.abandoned == 0


def test_no_limit_calls_in_the_same_thread() -> None:
    assert TimedCalls().within("embed", 0.0, threading.get_ident) == threading.get_ident()
    assert TimedCalls().within("embed", 30.0, threading.get_ident) != threading.get_ident()


def test_a_deadline_is_passed_after_its_seconds_and_never_without() -> None:
    now = 100.0
    deadline, endless = (Deadline("retrieve", seconds, lambda: now) for seconds in (60.0, 0.0))
    now = 160.0
    deadline.check()
    now = 160.5
    with pytest.raises(StageTimeoutError, match="retrieve took more than 60 s"):
        deadline.check()
    endless.check()


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_limits_that_make_no_sense_are_refused(seconds: float) -> None:
    with pytest.raises(InvalidInputError):
        StageLimits(rerank=seconds)


class KnowingEmbedder(HashingEmbedder):
    """Says of one question that its vector is at hand, and notes in which thread it embeds."""

    def __init__(self) -> None:
        super().__init__(64)
        self.threads: dict[str, int] = {}

    def at_hand(self, texts: Sequence[str]) -> bool:
        """Know one question."""
        return list(texts) == ["bears"]

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Note who asks."""
        self.threads.update(dict.fromkeys(texts, threading.get_ident()))
        return super().embed_queries(texts)


def test_no_thread_is_made_to_wait_for_a_vector_that_is_at_hand() -> None:
    knowing = KnowingEmbedder()
    with Index(":memory:", embedder=knowing, overrides={"timeouts": {"embed": 60.0}}) as index:
        index.add("Bears eat honey.", source="note")
        index.search("bears")
        index.search("honey")

    assert knowing.threads["bears"] == threading.get_ident()
    assert knowing.threads["honey"] != threading.get_ident()
