"""What a search does when a retriever fails, or takes too long, in the middle of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from support.indexes import GIT, indexed
from twofold.domain.access import Viewer
from twofold.domain.errors import CorruptError, ModelError, StageTimeoutError, TwofoldError
from twofold.domain.ports import Scope
from twofold.search.components import SearchComponents
from twofold.search.degradation import NO_RETRIEVER
from twofold.search.engine import DEFAULT_OPTIONS, SearchOptions
from twofold.search.pipeline import search
from twofold.search.plan import SearchPlan
from twofold.search.retrieve import RetrievalScope
from twofold.search.timeouts import Deadline

DAMAGED = CorruptError("a segment is damaged.", "Run `twofold index verify`.")


class Failing:
    """A view, or a store, some of whose calls fail."""

    def __init__(self, real: Any, calls: tuple[str, ...], error: TwofoldError) -> None:  # noqa: ANN401  # either
        self._real = real
        self._calls = calls
        self._error = error

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # whatever the real one has
        if name in self._calls:
            raise self._error
        return getattr(self._real, name)

    @contextmanager
    def view(self, viewer: Viewer | None = None, *, rows_only: bool = False) -> Iterator["Failing"]:  # noqa: ARG002  # rows are all there is
        with self._real.view(viewer) as view:
            yield Failing(view, self._calls, self._error)


def failing(
    *calls: str, options: SearchOptions = DEFAULT_OPTIONS, error: TwofoldError = DAMAGED
) -> tuple[SearchComponents, SearchPlan]:
    parts, plan = indexed(GIT)._searcher.parts_for(options)
    store: Any = Failing(parts.store, calls, error)
    return replace(parts, store=store), plan


@pytest.mark.parametrize(
    ("call", "mode", "note"),
    [("search_vectors", "bm25", "vector unavailable: "), ("search_bm25", "vector", "bm25 unavailable: ")],
)
def test_the_other_arm_answers_alone(call: str, mode: str, note: str) -> None:
    result = search(*failing_with(call))

    assert result.mode == mode
    assert result.hits[0].source == "merge.md"
    assert tuple(map(str, result.warnings)) == (f"{note}a segment is damaged.",)
    assert list(result.trace.recompute_scores()) == [hit.score for hit in result.hits]


def failing_with(call: str, **asked: str) -> tuple[SearchComponents, str, SearchPlan]:
    parts, plan = failing(call, options=SearchOptions(settings=asked))
    return parts, "merge commit", plan


def test_where_both_fail_nothing_is_found_and_both_are_named() -> None:
    parts, plan = failing("search_vectors", "search_bm25")
    result = search(parts, "merge commit", plan)

    assert result.hits == ()
    assert [one.stage for one in result.warnings[:2]] == ["bm25", "vector"]
    assert result.warnings[2] == NO_RETRIEVER


def test_empty_gives_nothing_although_an_arm_is_left() -> None:
    result = search(*failing_with("search_vectors", **{"search.on_failure": "empty"}))

    assert result.hits == ()
    assert tuple(map(str, result.warnings)) == ("vector unavailable: a segment is damaged.", str(NO_RETRIEVER))


def test_raise_raises_what_failed() -> None:
    with pytest.raises(CorruptError, match="damaged"):
        search(*failing_with("search_vectors", **{"search.on_failure": "raise"}))


@pytest.mark.parametrize(("mode", "call"), [("bm25", "search_bm25"), ("vector", "search_vectors")])
def test_a_mode_of_one_arm_is_not_answered_by_the_other(mode: str, call: str) -> None:
    with pytest.raises(CorruptError, match="damaged"):
        search(*failing_with(call, **{"search.mode": mode}))


def test_an_error_that_is_no_failure_of_an_arm_goes_on() -> None:
    parts, plan = failing("search_vectors", error=ModelError("not a retriever's"))
    with pytest.raises(ModelError, match="not a retriever's"):
        search(parts, "merge commit", plan)


def test_an_arm_that_takes_too_long_is_given_up_between_two_steps() -> None:
    late = StageTimeoutError("retrieval took more than 60 s.", "Allow it more time.")
    parts, plan = failing("search_vectors", error=late)
    result = search(parts, "merge commit", plan)

    assert (result.mode, result.hits[0].source) == ("bm25", "merge.md")
    assert tuple(map(str, result.warnings)) == ("vector timeout: retrieval took more than 60 s.",)


def test_a_reach_has_no_end_unless_it_is_given_one() -> None:
    RetrievalScope(Scope(), 10).deadline.check()
    clock = iter([0.0, 0.5, 1.5])
    deadline = Deadline("retrieval", 1.0, lambda: next(clock))
    deadline.check()
    with pytest.raises(StageTimeoutError, match="retrieval took more than 1 s"):
        deadline.check()
