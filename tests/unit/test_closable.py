"""A generator that one thread reads while another closes it."""

import threading
from collections.abc import Generator

from twofold.domain.closable import ClosableGenerator


def test_a_reader_that_comes_while_it_is_being_closed_sees_the_end() -> None:
    closing, released = threading.Event(), threading.Event()

    def items() -> Generator[int]:
        try:
            yield 1
            yield 2
        finally:
            closing.set()
            released.wait(30.0)

    shared = ClosableGenerator(items())
    assert next(shared) == 1
    closer = threading.Thread(target=shared.close)
    closer.start()
    assert closing.wait(30.0)
    heard: list[object] = []

    def read() -> None:
        try:
            heard.append(next(shared, "the end"))
        except ValueError as error:
            heard.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    reader.join(0.05)  # time to be refused in
    released.set()
    reader.join(30.0)
    closer.join(30.0)

    assert heard == ["the end"]


def test_closing_does_not_wait_for_a_thread_that_waits_for_an_item() -> None:
    asked, answered = threading.Event(), threading.Event()

    def items() -> Generator[int]:
        asked.set()
        answered.wait(30.0)
        yield 1
        yield 2

    shared = ClosableGenerator(items())
    heard: list[int] = []
    reader = threading.Thread(target=lambda: heard.extend(shared))
    reader.start()
    assert asked.wait(30.0)
    shared.close()
    answered.set()
    reader.join(30.0)

    assert heard == [1]


def test_closing_twice_does_nothing_more_and_nothing_comes_after() -> None:
    closed: list[str] = []

    def items() -> Generator[int]:
        try:
            yield 1
        finally:
            closed.append("once")

    shared = ClosableGenerator(items())
    assert next(shared) == 1
    shared.close()
    shared.close()

    assert list(shared) == []
    assert closed == ["once"]
