"""What every generator promises, tried on each of them against a real server that says what it is told to."""

import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from support.fake_llm_server import ENDLESS, chatting, obliging
from twofold.domain.errors import ModelError
from twofold.domain.generators import Generator, GeneratorIdentity, Message, complete
from twofold.models.generators.factory import open_generator
from twofold.models.generators.local import LocalGenerator
from twofold.models.generators.process import Launch
from twofold.testing import GeneratorContract

STAND_IN = Path(__file__).resolve().parent.parent / "support" / "chat_child.py"
HOSTILE = [
    "a",
    "two\n\nlines\r\n",
    "Zürich – 漢字かな",
    "👩‍👩‍👧‍👦🇩🇪",
    "e\u0301" * 50,
    'quoted "\\" \u2028 end',
    "data: [DONE]\n\n",
    "x" * 400,
]


def ask(text: str) -> list[Message]:
    return [Message("user", text)]


@pytest.fixture(scope="module", params=["endpoint", "local"])
def generator(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Generator]:
    if request.param == "endpoint":
        with chatting(obliging) as address:
            made = open_generator(f"{address}#obliging", cache=tmp_path_factory.mktemp("none"), offline=True)
            assert made is not None
            yield made
    else:
        made = LocalGenerator(GeneratorIdentity("obliging", "1"), lambda: Launch("obliging", COMMAND, {"model": "x"}))
        yield made
    made.close()
    made.close()


COMMAND = (sys.executable, str(STAND_IN))


def test_a_reply_arrives_whole_and_in_pieces(generator: Generator) -> None:
    with closing(generator.stream(ask("Use git reset."))) as reply:
        pieces = list(reply)

    assert "".join(pieces) == "Use git reset."
    assert len(pieces) > 1
    assert all(pieces)


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_comes_back_as_it_was(generator: Generator, text: str) -> None:
    assert complete(generator, ask(text)) == text


def test_all_messages_are_read_in_their_order(generator: Generator) -> None:
    messages = [Message("system", "a"), Message("user", "b"), Message("assistant", "c"), Message("user", "d")]

    assert complete(generator, messages) == "abcd"


def test_what_no_server_takes_is_made_sendable(generator: Generator) -> None:
    assert complete(generator, ask("\ud800 alone")) == "? alone"


def test_a_reply_is_no_longer_than_asked_and_ends_before_what_stops_it(generator: Generator) -> None:
    assert complete(generator, ask("x" * 40), max_tokens=7) == "x" * 7
    assert "".join(generator.stream(ask("one two three"), stop=["two", "!"])) == "one "


def test_closing_ends_a_reply_and_the_next_one_begins_afresh(generator: Generator) -> None:
    reply = generator.stream(ask(ENDLESS))
    assert next(reply) == "more "
    reply.close()
    reply.close()

    assert list(reply) == []
    assert complete(generator, ask("again")) == "again"


def test_closing_before_anything_was_asked_for_sends_nothing(generator: Generator) -> None:
    reply = generator.stream(ask(ENDLESS))
    reply.close()

    assert list(reply) == []


def test_another_thread_can_end_a_reply(generator: Generator) -> None:
    reply = generator.stream(ask(ENDLESS), max_tokens=100_000)
    begun = threading.Event()

    def read() -> int:
        count = 0
        for _ in reply:
            count += 1
            begun.set()
        return count

    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read)
        assert begun.wait(30)
        reply.close()
        assert reading.result(30) >= 1


def test_a_model_that_does_not_stop_is_stopped(generator: Generator) -> None:
    with closing(generator.stream(ask(ENDLESS), max_tokens=5)) as reply:
        assert next(reply) == "more "
        with pytest.raises(ModelError, match="went on after the 5 tokens"):
            list(reply)


def test_callers_in_several_threads_get_their_own_replies(generator: Generator) -> None:
    texts = [f"reply number {n} {'and more ' * n}" for n in range(12)]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(lambda text: complete(generator, ask(text)), texts)) == texts


class TestEveryGenerator(GeneratorContract):
    """The suite that users have too."""
