"""Item 78 and C18: a remote model that is busy is asked again as the settings say, after pauses that double."""

import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.fake_llm_server import finished, piece
from support.http_server import Answered, Asked, embeddings, reranking, serving
from support.indexes import GIT, indexed
from twofold import Index
from twofold.config.load import grouped
from twofold.domain.errors import InvalidInputError, ModelError, ModelUnavailableError
from twofold.domain.retry import RetryPlan

MILLISECOND = 0.001
PAUSE = re.compile(r"Asked again in (\S+) s")


class Busy:
    """A server of embeddings, reranking and chat that refuses the next `refusals` requests."""

    def __init__(self) -> None:
        self.refusals = 0
        self.status = 503
        self.retry_after = ""
        self.asked: list[str] = []

    def __call__(self, asked: Asked) -> Answered:
        self.asked.append(asked.path)
        if self.refusals:
            self.refusals -= 1
            return Answered(status=self.status, headers={"Retry-After": self.retry_after} if self.retry_after else {})
        if asked.path == "/v1/embeddings":
            return embeddings(asked)
        if asked.path == "/v1/rerank":
            return reranking(asked)
        return Answered(piece("Use git reset [1].") + finished(), headers={"Content-Type": "text/event-stream"})


@pytest.fixture
def busy() -> Busy:
    return Busy()


@pytest.fixture
def address(busy: Busy) -> Iterator[str]:
    with serving(busy) as where:
        yield f"{where}/v1"


@pytest.fixture(autouse=True)
def heard(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "twofold.domain.retry")


def pauses(caplog: pytest.LogCaptureFixture) -> list[float]:
    """Return the pauses that were made, in seconds, each as it was announced."""
    return [float(found[1]) for record in caplog.records if (found := PAUSE.search(record.getMessage()))]


def opened(address: str, **settings: object) -> Index:
    """Open an index in memory whose embedder is a server's."""
    given = grouped({name.replace("__", "."): value for name, value in settings.items()})
    base = {"embedder": f"{address}#hashing&dimensions=64", "retries": {"backoff_seconds": MILLISECOND}}
    return Index(":memory:", overrides=grouped({**base, **given}))


def test_the_profile_that_says_so_asks_up_to_four_times_after_1_2_and_4_units(
    busy: Busy, address: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A thousandth of a second stands for its second, so the test does not take seven."""
    with opened(address, profile="aanae") as index:
        busy.refusals = 3
        index.add("undo the last commit", source="a.md")

    assert len(busy.asked) == 4
    assert pauses(caplog) == [0.001, 0.002, 0.004]


def test_that_profile_begins_with_a_second() -> None:
    with Index(":memory:", overrides={"profile": "aanae", "embedder": "hashing"}) as index:
        retries = index.settings.retries

    assert (retries.count, retries.backoff_seconds) == (3, 1.0)
    assert RetryPlan(retries.count, retries.backoff_seconds).pauses() == (1.0, 2.0, 4.0)


@pytest.mark.parametrize("settings", [{}, {"retries__count": 0}])
def test_by_default_and_with_no_retries_a_server_is_asked_once(
    busy: Busy, address: str, settings: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    with opened(address, **settings) as index:
        busy.refusals = 1
        with pytest.raises(ModelUnavailableError, match="answered 503"):
            index.add("undo the last commit", source="a.md")

    assert len(busy.asked) == 1
    assert pauses(caplog) == []


@pytest.mark.parametrize(("retries", "calls", "mode"), [(1, 2, "bm25"), (2, 3, "hybrid")])
def test_a_question_is_embedded_by_the_try_that_succeeds(
    busy: Busy, address: str, retries: int, calls: int, mode: str
) -> None:
    with opened(address, retries__count=retries) as index:
        index.add("undo the last commit", source="a.md")
        busy.asked.clear()
        busy.refusals = 2
        result = index.search("undo commit")

    assert len(busy.asked) == calls
    assert result.mode == mode
    assert result.degraded is (mode == "bm25")


def test_settings_of_one_search_hold_for_it(busy: Busy, address: str, caplog: pytest.LogCaptureFixture) -> None:
    with opened(address) as index:
        index.add("undo the last commit", source="a.md")
        busy.refusals = 2
        result = index.search("undo commit", settings={"retries": {"count": 2}})

    assert result.warnings == ()
    assert pauses(caplog) == [0.001, 0.002]


def test_a_reranker_is_asked_again(busy: Busy, address: str, caplog: pytest.LogCaptureFixture) -> None:
    settings = {"rerank.model": f"{address}#m", "retries": {"count": 3, "backoff_seconds": MILLISECOND}}
    index = indexed(GIT, settings)
    busy.refusals = 2
    result = index.search("undo the last commit")

    assert busy.asked == ["/v1/rerank"] * 3
    assert result.warnings == ()
    assert pauses(caplog) == [0.001, 0.002]


def test_a_reranker_without_retries_is_asked_once_and_the_result_says_so(busy: Busy, address: str) -> None:
    index = indexed(GIT, {"rerank.model": f"{address}#m"})
    busy.refusals = 1
    result = index.search("undo the last commit")

    assert len(busy.asked) == 1
    assert "rerank unavailable" in str(result.warnings[0])


@pytest.mark.parametrize(("retries", "calls"), [(0, 1), (1, 2), (2, 3)])
def test_a_generator_is_asked_again(busy: Busy, address: str, retries: int, calls: int) -> None:
    settings = {"generator": f"{address}#m", "retries": {"count": retries, "backoff_seconds": MILLISECOND}}
    index = indexed(GIT, settings)
    busy.refusals = 2
    answer = index.ask("How do I undo the last commit?")

    assert busy.asked == ["/v1/chat/completions"] * calls
    assert ("Use git reset" in answer.text) is (retries == 2)
    assert answer.degraded is (retries < 2)


def test_a_generator_that_rewrites_the_question_is_asked_again(
    busy: Busy, address: str, caplog: pytest.LogCaptureFixture
) -> None:
    settings = {"generator": f"{address}#m", "query_expansion": {"hyde": True}, "retries": {"count": 1}}
    index = indexed(GIT, grouped({**settings, "retries.backoff_seconds": MILLISECOND}))
    busy.refusals = 1
    result = index.search("undo the last commit")

    assert len(busy.asked) == 2
    assert result.warnings == ()
    assert pauses(caplog) == [0.001]


def test_a_server_may_say_how_long_to_wait(busy: Busy, address: str, caplog: pytest.LogCaptureFixture) -> None:
    busy.status, busy.retry_after = 429, "0"
    with opened(address, retries__count=2, retries__backoff_seconds=60.0) as index:
        busy.refusals = 2
        index.add("undo the last commit", source="a.md")

    assert pauses(caplog) == [0.0, 0.0]


def test_what_will_not_pass_is_not_asked_again(busy: Busy, address: str) -> None:
    busy.status = 403
    with opened(address, retries__count=3) as index:
        busy.refusals = 1
        with pytest.raises(ModelError, match="answered 403"):
            index.add("undo the last commit", source="a.md")

    assert len(busy.asked) == 1


def test_the_command_line_says_that_it_waits(busy: Busy, address: str, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Undo the last commit.\n")
    chosen = {"EMBEDDER": f"{address}#hashing", "RETRIES": "count:2 backoff_seconds:0.001"}
    surroundings = {**os.environ, **{f"TWOFOLD_{name}": value for name, value in chosen.items()}}
    command = [sys.executable, "-m", "twofold", "sync", str(tmp_path), "-i", "n", "--json"]
    busy.refusals = 2

    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["added"] == [str(tmp_path / "a.md")]
    assert [float(pause) for pause in PAUSE.findall(done.stderr)] == [0.001, 0.002]


@pytest.mark.parametrize("settings", [{"retries": {"count": 9, "backoff_seconds": 60.0}}])
def test_pauses_of_hours_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError, match="longer than 300 s"):
        Index(":memory:", overrides={"embedder": "hashing", **settings})
