"""Reading in processes of their own: whatever a reader does, the other files are read."""

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from twofold.domain.errors import TwofoldError
from twofold.domain.types import Document
from twofold.ingest.pool import Failed, Outcome, ReaderPool
from twofold.ingest.readers.types import DEFAULT_LIMITS, MEBIBYTE, Source

FAULTS = """
import json, os, signal, sys, time
sys.path[:0] = json.loads(sys.argv[1])
from twofold.domain.errors import ReadError
from twofold.domain.types import Block, BlockKind
from twofold.ingest.readers.types import Extract
from twofold.ingest.worker import serve

def read(source):
    act = source.data.decode()
    if act == "memory":
        hog = [bytearray(1 << 24) for _ in range(1000)]
    elif act == "spin":
        while True:
            pass
    elif act == "hang":
        time.sleep(600)
    elif act == "exit":
        os._exit(7)
    elif act == "segfault":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif act == "raise":
        raise KeyError("secret")
    elif act == "refuse":
        raise ReadError("not today", "Wait.", "malformed")
    elif act == "recurse":
        return read(source)
    elif act == "print":
        print("x" * 100000, flush=True)
        os.write(1, b"noise" * 1000)
    elif act == "huge":
        return "text/plain", Extract("x" * (3 << 20))
    elif act == "overlap":
        block = Block(BlockKind.PARAGRAPH, 0, 4)
        return "text/plain", Extract("text", (block, block))
    elif act == "connect":
        import socket
        socket.create_connection(("127.0.0.1", 9))
    elif act == "start":
        import subprocess
        subprocess.run(["true"])
    elif act == "write":
        open("/dev/null", "w").write("x")
    elif act == "open":
        files = [open("/dev/null") for _ in range(100)]
    elif act == "environment":
        act = json.dumps(dict(os.environ))
    return "text/plain", Extract(act, (Block(BlockKind.PARAGRAPH, 0, len(act)),))

serve(read)
"""
LIMITS = replace(DEFAULT_LIMITS, memory_bytes=512 * MEBIBYTE, cpu_seconds=1, unpacked_bytes=2 * MEBIBYTE)


def faulty(wall_seconds: float = 60.0, workers: int = 1) -> ReaderPool:
    paths = json.dumps([os.path.abspath(path) for path in sys.path if path])  # noqa: PTH100 as the pool itself does
    return ReaderPool(workers, wall_seconds, (sys.executable, "-I", "-B", "-c", FAULTS, paths))


def does(*acts: str) -> Iterator[Source]:
    return (Source(f"{number} {act}", act.encode(), LIMITS) for number, act in enumerate(acts))


def kind(outcome: Outcome) -> str:
    return outcome.error.kind if isinstance(outcome, Failed) else "read"


@pytest.mark.parametrize(
    ("act", "expected", "says"),
    [
        ("memory", "limit", "512 MiB of memory"),
        ("spin", "limit", "1 s of processor time"),
        ("exit", "crashed", "status 7"),
        ("segfault", "crashed", "signal 11"),
        ("raise", "crashed", "KeyError"),
        ("recurse", "crashed", "RecursionError"),
        ("refuse", "malformed", "not today"),
        ("huge", "crashed", "too long"),
        ("overlap", "crashed", "over another"),
        ("connect", "crashed", "PermissionError"),
        ("start", "crashed", "PermissionError"),
        ("write", "crashed", "PermissionError"),
        ("open", "crashed", "OSError"),
    ],
)
def test_a_file_that_misbehaves_costs_itself_and_nothing_else(act: str, expected: str, says: str) -> None:
    with faulty() as pool:
        before, failed, after = pool.read_all(does("good", act, "fine"))

    assert isinstance(before, Document)
    assert isinstance(after, Document)
    assert isinstance(failed, Failed)
    assert (before.text, failed.source, after.text) == ("good", f"1 {act}", "fine")
    assert (failed.error.kind, says in failed.error.message, bool(failed.error.hint)) == (expected, True, True)
    assert "secret" not in failed.error.message


def test_a_reader_that_hangs_is_ended_at_the_wall_clock_limit() -> None:
    with faulty(wall_seconds=3.0) as pool:
        hung, after = pool.read_all(does("hang", "fine"))

    assert (kind(hung), kind(after)) == ("limit", "read")


def test_what_libraries_print_does_not_end_up_among_the_replies() -> None:
    with faulty() as pool:
        assert [kind(outcome) for outcome in pool.read_all(does("print", "fine"))] == ["read", "read"]


def test_nothing_of_our_environment_is_given_to_the_reading_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TWOFOLD_TEST_KEY", "hidden")
    with faulty() as pool:
        (outcome,) = pool.read_all(does("environment"))

    assert isinstance(outcome, Document)
    assert "hidden" not in outcome.text


def test_outcomes_come_in_the_order_of_the_files_whatever_fails_on_several_processes() -> None:
    acts = ["good", "exit", "fine", "refuse", "raise", "good", "exit", "exit", "fine"]
    with faulty(workers=3) as pool:
        outcomes = list(pool.read_all(does(*acts)))

    assert [outcome.source for outcome in outcomes] == [f"{number} {act}" for number, act in enumerate(acts)]
    assert [kind(outcome) for outcome in outcomes] == [
        {"exit": "crashed", "raise": "crashed", "refuse": "malformed"}.get(act, "read") for act in acts
    ]


def test_a_file_over_the_limit_is_refused_before_it_is_sent() -> None:
    small = replace(LIMITS, file_bytes=3)
    with ReaderPool(command=("no-such-program",)) as pool:
        (outcome,) = pool.read_all([Source("a", b"long", small)])

    assert kind(outcome) == "limit"


def test_a_run_that_is_left_early_leaves_no_answer_for_the_next() -> None:
    with faulty() as pool:
        run = pool.read_all(does("good", "fine", "good"))
        assert kind(next(run)) == "read"
        run.close()  # type: ignore[attr-defined]
        (outcome,) = pool.read_all([Source("next", b"new", LIMITS)])

    assert isinstance(outcome, Document)
    assert outcome.text == "new"


def test_a_process_that_died_while_idle_is_replaced_without_a_loss() -> None:
    with faulty() as pool:
        assert kind(next(pool.read_all(does("good")))) == "read"
        list(pool.read_all(does("good")))
        pool._free[0]._process.kill()
        pool._free[0]._process.wait()
        (outcome,) = pool.read_all(does("fine"))

    assert kind(outcome) == "read"


def test_the_real_reader_makes_documents_with_hash_type_and_spans() -> None:
    with ReaderPool() as pool:
        first, second, third = pool.read_all(
            [Source("a.md", b"# Hi\n\nWords"), Source("b.md", b" "), Source("c.pdf", b"<html><p>x")]
        )

    assert isinstance(first, Document)
    assert (first.source, first.title, first.media_type, len(first.content_hash)) == ("a.md", "Hi", "text/markdown", 32)
    assert [first.text[block.start : block.end] for block in first.blocks] == ["# Hi", "Words"]
    assert kind(second) == "empty"
    assert isinstance(third, Document)
    assert third.media_type == "text/html"


@pytest.mark.parametrize("command", [("/no/such/program",), (sys.executable, "-c", "print('hello')")])
def test_a_process_that_cannot_be_started_is_an_error_of_the_run_and_not_of_a_file(command: tuple[str, ...]) -> None:
    with ReaderPool(command=command) as pool, pytest.raises(TwofoldError, match="reading process"):
        list(pool.read_all(does("good")))


def test_closing_twice_does_nothing_more() -> None:
    pool = ReaderPool()
    pool.close()
    pool.close()


def test_a_failure_names_its_file_once() -> None:
    with ReaderPool() as pool:
        (outcome,) = pool.read_all([Source("deep/bad.pdf", b"%PDF-1.7\nnot really")])
    assert isinstance(outcome, Failed)
    assert outcome.source == "deep/bad.pdf"
    assert "bad.pdf" not in outcome.error.message
