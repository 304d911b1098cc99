"""Checklist item 63: an answer as typed events, `answer_chunk` among them; cancelling stops the model."""

import threading
from collections.abc import Iterator, Sequence
from typing import cast

from support.fake_llm_server import NEVER, Heard, Send, chatting, finished, piece
from twofold import Index
from twofold.answer.events import ChunkEvent, DoneEvent, ErrorEvent, Event
from twofold.answer.types import Answer
from twofold.cli.render.results import as_data
from twofold.domain.generators import GeneratorIdentity, Message, TextStream
from twofold.models.embedders.hashing import HashingEmbedder

ANY = {"answer.min_answerability": 0.0}


def small() -> Index:
    index = Index(":memory:", embedder=HashingEmbedder())
    index.add("The tower is 330 metres tall. It stands in Paris.", source="tower.txt")
    return index


def answer_of(events: list[Event]) -> Answer:
    last = events[-1]
    assert isinstance(last, DoneEvent)
    return last.answer


def test_events_come_in_order_and_the_chunks_are_the_text() -> None:
    def writing(_: Heard, send: Send) -> None:
        for word in ("The tower ", "is 330 me", "tres tall [", "1]. It stands", " in Paris [1]."):
            send(piece(word))
        send(finished())

    with small() as index, chatting(writing) as address:
        events = list(index.ask_stream("How tall is the tower?", llm=f"{address}#m", settings=ANY))

    answer = answer_of(events)
    kinds = [event.type for event in events]
    assert kinds[:2] == ["stage", "sources"]
    assert kinds[-1] == "done"
    assert kinds.index("sources") < kinds.index("answer_chunk") < kinds.index("citation")
    assert "".join(event.content for event in events if isinstance(event, ChunkEvent)) == answer.text
    assert answer.text == "The tower is 330 metres tall. [1] It stands in Paris. [1]"
    assert all(answer.text[one.start : one.end] == one.text for one in answer.sentences)


def test_a_chunk_is_what_the_checklist_calls_back_with() -> None:
    heard: list[Event] = []
    with small() as index:
        answer = index.ask("How tall is the tower?", settings=ANY, on_event=heard.append)

    chunks = [as_data(event) for event in heard if isinstance(event, ChunkEvent)]
    assert chunks[0] == {"content": "330 metres\n\n", "type": "answer_chunk"}
    assert chunks[1] == {"content": "The tower is 330 metres tall. [1]", "type": "answer_chunk"}
    assert answer.short == "330 metres"
    assert answer_of(heard) == answer


def test_closing_from_another_thread_stops_the_model_and_ends_the_events() -> None:
    gone, begun = threading.Event(), threading.Event()

    def endless(_: Heard, send: Send) -> None:
        try:
            while True:
                send(piece("and so on "))
                begun.set()
        except OSError:
            gone.set()
            raise

    events: list[Event] = []
    with small() as index, chatting(endless) as address:
        stream = index.ask_stream("How tall?", llm=f"{address}#m", settings={**ANY, "answer.reply": {"tokens": 32_768}})
        reader = threading.Thread(target=lambda: events.extend(stream))
        reader.start()
        assert begun.wait(30.0)
        stream.close()
        reader.join(30.0)

        assert gone.wait(30.0)
        assert not reader.is_alive()
    assert not any(isinstance(event, DoneEvent | ErrorEvent) for event in events)


def test_closing_while_a_silent_model_is_waited_for_ends_it_too() -> None:
    asked = threading.Event()

    def silent(_: Heard, send: Send) -> None:
        asked.set()
        while not NEVER.wait(0.01):
            send(b": still here\n\n")

    with small() as index, chatting(silent) as address:
        stream = index.ask_stream("How tall?", llm=f"{address}#m", settings=ANY)
        reader = threading.Thread(target=lambda: list(stream))
        reader.start()
        assert asked.wait(30.0)
        stream.close()
        reader.join(30.0)

        assert not reader.is_alive()


def test_an_error_is_the_last_event_of_a_stream() -> None:
    with small() as index:
        events = list(index.ask_stream("   "))

    assert isinstance(events[-1], ErrorEvent)
    assert events[-1].code == 2
    assert events[-1].status == 400


class WithYield:
    """A model of the user's own whose reply is what a function with `yield` gives."""

    identity = GeneratorIdentity("own", "1")

    def __init__(self) -> None:
        self.asked, self.go_on, self.given = threading.Event(), threading.Event(), 0

    def stream(self, messages: Sequence[Message], **_: object) -> TextStream:
        assert messages
        return cast("TextStream", self.pieces())

    def pieces(self) -> Iterator[str]:
        self.asked.set()
        self.go_on.wait(30.0)
        for _ in range(100):
            self.given += 1
            yield "and so on "

    def close(self) -> None:
        """Keep nothing."""


def test_closing_while_a_model_with_yield_is_waited_for_ends_it_after_that_piece() -> None:
    events: list[Event] = []
    model = WithYield()
    with small() as index:
        stream = index.ask_stream("How tall?", llm=model, settings=ANY)
        reader = threading.Thread(target=lambda: events.extend(stream))
        reader.start()
        assert model.asked.wait(30.0)
        stream.close()
        model.go_on.set()
        reader.join(30.0)

    assert not reader.is_alive()
    assert model.given <= 1
    assert not any(isinstance(event, DoneEvent | ErrorEvent) for event in events)
