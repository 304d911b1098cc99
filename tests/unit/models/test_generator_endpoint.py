"""A chat server: what is sent, hostile replies, deadlines, and a key that stays where it belongs."""

import threading
from contextlib import closing
from dataclasses import replace
from queue import Queue

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.fake_llm_server import END, NEVER, Heard, Reply, Send, chatting, finished, piece
from support.http_server import Answered, serving
from twofold.domain.errors import ModelError
from twofold.domain.generators import Message, complete
from twofold.models.generators.endpoint import ChatEndpoint, EndpointGenerator
from twofold.models.generators.stream import MAX_LINE_LENGTH, deltas
from twofold.models.http import Timeouts

KEY = "sk-very-secret"
QUESTION = [Message("user", "a private question")]
SHORT = Timeouts(silence=10.0)


def generator_at(address: str, timeouts: Timeouts = SHORT) -> EndpointGenerator:
    return EndpointGenerator(ChatEndpoint(address, "m", key=KEY), timeouts)


def told(reply: Reply, timeouts: Timeouts = SHORT, *, chunked: bool = True, seconds: float = 30.0) -> str:
    with chatting(reply, chunked=chunked) as address:
        return complete(generator_at(address, timeouts), QUESTION, seconds=seconds)


def bytes_of(content: bytes) -> Reply:
    return lambda _, send: send(content)


def test_what_is_sent_is_the_protocol() -> None:
    heard: list[Heard] = []

    def noting(asked: Heard, send: Send) -> None:
        heard.append(asked)
        send(finished())

    with chatting(noting) as address:
        endpoint = ChatEndpoint(f"{address}/", "m", key=KEY)
        asked = [Message("system", "s"), Message("user", "u")]
        assert list(EndpointGenerator(endpoint).stream(asked, max_tokens=9, stop=["x"])) == []
        other = replace(endpoint, limit_name="max_completion_tokens", own_temperature=True, key="")
        complete(EndpointGenerator(other), QUESTION, max_tokens=9)

    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    assert heard[0].path == "/v1/chat/completions"
    assert heard[0].headers["Authorization"] == f"Bearer {KEY}"
    assert heard[0].body == {
        "model": "m",
        "messages": messages,
        "stream": True,
        "max_tokens": 9,
        "temperature": 0.0,
        "stop": ["x"],
    }
    assert "Authorization" not in heard[1].headers
    assert "temperature" not in heard[1].body
    assert heard[1].body["max_completion_tokens"] == 9


@pytest.mark.parametrize("chunked", [True, False])
@pytest.mark.parametrize(
    "content",
    [
        piece("Hi") + finished(),
        piece("Hi") + END,
        piece("Hi") + finished("length"),
        piece("Hi") + finished().removesuffix(END),
        (piece("Hi") + finished()).replace(b"\n", b"\r\n"),
        b": ping\n\nevent: message\nid: 7\n" + piece("H") + b"retry: 5\n\n" + piece("i") + END,
        b'data:{"choices":[{"delta":\ndata:{"content":"Hi"}}]}\n\n' + END,
        piece("Hi") + b'data: {"choices":[],"usage":{"total_tokens":3}}\n\n' + END,
        piece("Hi") + b'data: {"choices":[{"delta":null}]}\n\ndata: {}\n\n' + END,
        piece("Hi") + b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}',
        piece("Hi") + finished() + piece("after the end"),
    ],
)
def test_every_way_to_say_it_is_understood(content: bytes, chunked: bool) -> None:  # noqa: FBT001 - a parameter
    assert told(bytes_of(content), chunked=chunked) == "Hi"


def test_a_reply_may_be_empty() -> None:
    assert told(bytes_of(finished())) == ""


@pytest.mark.parametrize("chunked", [True, False])
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "broke off its reply"),
        (piece("half a"), "broke off its reply"),
        (b"<html>It works!</html>\n", "broke off its reply"),
        (b'{"choices":[{"message":{"content":"not streamed"}}]}', "broke off its reply"),
        (b"data: {not json}\n\n", "did not answer with pieces of text"),
        (b'data: {"choices":[{"delta":{"content":5}}]}\n\n', "did not answer with pieces of text"),
        (b'data: {"choices":[{"delta":{"content":"\xff\xfe"}}]}\n\n', "did not answer with pieces of text"),
        (b'data: {"choices":"many"}\n\n', "did not answer with pieces of text"),
        (b"data: " + b"[" * 100_000 + b"\n\n", "did not answer with pieces of text"),
        (b"data: []\n\n", "did not answer with pieces of text"),
        (b'data: {"error":{"message":"sensitive echo"}}\n\n', "failed while it was writing"),
        (b"data: " + b"x" * (MAX_LINE_LENGTH + 10), "sends more than a reply can need"),
        (b"data: %b\n" % (b"x" * 50) * 12_000, "an event of more than"),
        (b": ping%b\n\n" % (b"-" * 99) * 50_000, "sends more than a reply can need"),
    ],
)
def test_rubbish_is_refused_without_repeating_it(content: bytes, reason: str, chunked: bool) -> None:  # noqa: FBT001
    with pytest.raises(ModelError, match=reason) as caught:
        told(bytes_of(content), chunked=chunked)

    assert "sensitive" not in str(caught.value)
    assert caught.value.hint


def test_a_body_shorter_than_it_claims_is_a_reply_broken_off() -> None:
    with serving(lambda _: Answered(piece("half"), length=10_000)) as address, pytest.raises(ModelError, match="broke"):
        complete(generator_at(f"{address}/v1"), QUESTION)


@pytest.mark.parametrize("status", [400, 401, 302, 404, 429, 500, 503])
def test_a_refusal_is_told_without_its_body_and_without_the_key(status: int) -> None:
    asked_for: Queue[str] = Queue()  # the client may be done with the status before the server has noted the path

    def refusing(heard: Heard, send: Send) -> None:
        asked_for.put(heard.path)
        send(b"sensitive echo of the question")

    with chatting(refusing, status) as address, pytest.raises(ModelError, match=f"answered {status}") as caught:
        complete(generator_at(address), QUESTION)

    assert asked_for.get(timeout=60) == "/v1/chat/completions"
    assert asked_for.empty()
    assert "sensitive" not in str(caught.value)
    assert KEY not in str(caught.value)
    assert caught.value.hint


def test_a_server_that_is_gone_is_told() -> None:
    with chatting(bytes_of(END)) as address:
        gone = address

    with pytest.raises(ModelError, match="cannot be reached"):
        complete(generator_at(gone), QUESTION)


def test_a_server_that_hangs_before_it_answers_is_given_up() -> None:
    def hanging(_: Heard, __: Send) -> None:
        NEVER.wait(5)

    with chatting(hanging) as address, pytest.raises(ModelError, match="fell silent"):
        complete(generator_at(address, Timeouts(silence=0.1)), QUESTION)


def test_a_server_that_falls_silent_in_the_middle_is_given_up() -> None:
    def falling_silent(_: Heard, send: Send) -> None:
        send(piece("half"))
        NEVER.wait(5)

    with chatting(falling_silent) as address:
        generator = generator_at(address, Timeouts(silence=1.0))  # of which the first piece has to come
        with closing(generator.stream(QUESTION)) as reply:
            assert next(reply) == "half"
            with pytest.raises(ModelError, match="fell silent"):
                next(reply)


@pytest.mark.parametrize("drop", [b"x", b"\n", b": ping\n\n", piece("a")])
def test_a_server_that_drips_is_given_up_at_the_deadline(drop: bytes) -> None:
    def dripping(_: Heard, send: Send) -> None:
        while True:
            send(drop)
            NEVER.wait(0.02)

    with pytest.raises(ModelError, match=r"was not done after 0\.3 s"):
        told(dripping, seconds=0.3)


def test_a_server_that_never_answers_at_all_is_given_up_at_the_deadline() -> None:
    hanging = threading.Event()
    with serving(lambda _: Answered(status=200 if hanging.wait(5) else 500)) as address:
        with pytest.raises(ModelError, match=r"was not done after 0\.2 s"):
            complete(generator_at(f"{address}/v1"), QUESTION, seconds=0.2)
        hanging.set()


def test_closing_hangs_up_on_the_server() -> None:
    hung_up = threading.Event()

    def endless(_: Heard, send: Send) -> None:
        try:
            while True:
                send(piece("more "))
        except OSError:
            hung_up.set()
            raise

    with chatting(endless) as address:
        reply = generator_at(address).stream(QUESTION)
        assert next(reply) == "more "
        assert not hung_up.is_set()
        reply.close()

        assert hung_up.wait(60)


def test_closing_while_another_thread_reads_hangs_up_on_a_server_whose_buffers_are_full() -> None:
    hung_up, begun = threading.Event(), threading.Event()

    def endless(_: Heard, send: Send) -> None:
        try:
            while True:
                send(piece("more "))
        except OSError:
            hung_up.set()
            raise

    def read() -> None:
        for _ in reply:
            begun.set()

    with chatting(endless) as address:
        reply = generator_at(address).stream(QUESTION, max_tokens=100_000)
        reader = threading.Thread(target=read)
        reader.start()
        assert begun.wait(60)
        reply.close()
        reader.join(60)

        assert not reader.is_alive()
        assert hung_up.wait(60)


def test_a_reply_that_nobody_holds_any_more_is_hung_up() -> None:
    hung_up = threading.Event()

    def endless(_: Heard, send: Send) -> None:
        try:
            while True:
                send(piece("more "))
        except OSError:
            hung_up.set()
            raise

    with chatting(endless) as address:
        assert next(generator_at(address).stream(QUESTION)) == "more "

        assert hung_up.wait(60)


def test_closing_from_another_thread_wakes_one_that_waits_for_an_answer() -> None:
    arrived, release = threading.Event(), threading.Event()

    def hanging(_: Heard, __: Send) -> None:
        arrived.set()
        release.wait(60)

    with chatting(hanging) as address:
        reply = generator_at(address).stream(QUESTION)
        left: list[str] = []
        reader = threading.Thread(target=lambda: left.extend(reply))
        reader.start()
        assert arrived.wait(60)
        reply.close()
        reader.join(60)

        assert not reader.is_alive()
        assert left == []
        release.set()


def test_the_key_is_in_no_representation() -> None:
    assert KEY not in repr(ChatEndpoint("http://x/v1", "m", key=KEY))


class Trickle:
    """A body that gives its bytes in lines as http.client does."""

    def __init__(self, content: bytes) -> None:
        self.left = content

    def readline(self, limit: int) -> bytes:
        end = self.left.find(b"\n") + 1 or len(self.left)
        line, self.left = self.left[: min(end, limit)], self.left[min(end, limit) :]
        return line


@given(st.binary(max_size=400) | st.text(alphabet='data:{}[]"choices\\n ,\n', max_size=400).map(str.encode))
def test_no_bytes_do_anything_but_give_text_or_a_model_error(content: bytes) -> None:
    try:
        pieces = list(deltas(Trickle(content), "host", 1_000))  # type: ignore[arg-type]
    except ModelError:
        return

    assert all(pieces)
