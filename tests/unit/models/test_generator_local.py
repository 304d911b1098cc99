"""A process around a model: how it starts, why it cannot, how it dies, and that it never outlives its parent."""

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from twofold.domain.errors import MissingExtraError, ModelError
from twofold.domain.generators import GeneratorIdentity, Message, Reading, TellsReading, complete
from twofold.models.catalog.entries import QWEN_CODER, QWEN_CODER_SMALL
from twofold.models.catalog.files import folder_of
from twofold.models.generators import local, speed
from twofold.models.generators.local import LocalGenerator, launch_of
from twofold.models.generators.process import Launch, end, start

STAND_IN = Path(__file__).resolve().parents[2] / "support" / "chat_child.py"
COMMAND = (sys.executable, str(STAND_IN))
WHO = [Message("user", "what is your process?")]


def launch(model: str, seconds: float = 30.0) -> Launch:
    return Launch("tiny", COMMAND, {"model": model, "context": 512, "threads": 1}, seconds)


@pytest.fixture
def generator() -> Iterator[LocalGenerator]:
    made = LocalGenerator(GeneratorIdentity("tiny", "1"), lambda: launch("fine"))
    yield made
    made.close()


def is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_nothing_is_started_before_the_first_reply() -> None:
    def refuse() -> Launch:
        raise AssertionError

    made = LocalGenerator(GeneratorIdentity("tiny", "1"), refuse)

    assert made.identity.name == "tiny"
    made.close()


def test_one_process_serves_all_replies(generator: LocalGenerator) -> None:
    assert complete(generator, WHO) == complete(generator, WHO)


def test_closing_ends_the_process_and_the_next_reply_starts_another(generator: LocalGenerator) -> None:
    first = int(complete(generator, WHO))
    generator.close()

    assert not is_there(first)
    assert int(complete(generator, WHO)) != first


def test_a_process_that_dies_fails_one_reply_and_the_next_starts_another(generator: LocalGenerator) -> None:
    first = int(complete(generator, WHO))
    with pytest.raises(ModelError):
        complete(generator, [Message("user", "die")])

    assert int(complete(generator, WHO)) != first


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("broken", r"tiny cannot be run: the weights are made of cheese\. "),
        ("crashing", r"tiny cannot be run: no memory left\. "),
        ("gibbering", "sent an unreadable message"),
    ],
)
def test_why_it_cannot_be_run_is_told(model: str, reason: str) -> None:
    with pytest.raises(ModelError, match=reason):
        start(launch(model))


def test_a_process_that_says_nothing_is_given_up() -> None:
    with pytest.raises(ModelError, match=r"not ready after 0\.1 s"):
        start(launch("silent", seconds=0.1))


def test_what_is_the_same_for_every_question_is_read_once_and_kept(tmp_path: Path) -> None:
    rules = [Message("system", "rules", fixed=True), Message("user", "example", fixed=True)]

    def made() -> LocalGenerator:
        told: dict[str, str | int] = {"model": "fine", "context": 512, "threads": 1, "states": f"{tmp_path}/"}
        return LocalGenerator(
            GeneratorIdentity("tiny", "1"), lambda: Launch("tiny", COMMAND, told, 30.0, f"{tmp_path}/")
        )

    first, second = made(), made()
    try:
        assert complete(first, [*rules, Message("user", "a secret")]) == "rulesexamplea secret"
        (kept,) = tmp_path.iterdir()
        written = kept.stat().st_mtime_ns
        assert complete(second, [*rules, Message("user", "another")]) == "rulesexampleanother"
        assert (kept.name.startswith("prefix-"), kept.stat().st_mtime_ns) == (True, written)
        assert complete(second, [Message("system", "other", fixed=True), *rules[1:]]).startswith("other")
        assert len(list(tmp_path.iterdir())) == 2
        kept.write_text("damaged")  # the process dies of it, and the next one does without
        with pytest.raises(ModelError):
            complete(second, [*rules, Message("user", "again")])
        assert complete(second, [*rules, Message("user", "again")]) == "rulesexampleagain"
    finally:
        first.close()
        second.close()


def test_how_far_the_prompt_is_read_comes_before_the_first_piece(generator: LocalGenerator) -> None:
    with closing(generator.stream([Message("user", "how far are you?")])) as reply:
        assert isinstance(reply, TellsReading)
        assert list(reply.reading()) == [Reading(100, 200), Reading(200, 200)]
        assert "".join(reply) == "here"


def test_the_faster_number_of_threads_is_measured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one thread 700 tokens at 70 a second and 100 at 10 take 20 s, with four 80 s: three times 20 is too slow."""
    monkeypatch.setattr(speed, "cores", lambda: 4)
    small = folder_of(QWEN_CODER_SMALL, tmp_path)
    small.mkdir()

    made = speed.measured(
        lambda threads: Launch("tiny", COMMAND, {"model": "fine", "context": 1, "threads": threads}), small
    )

    assert made.threads == 1
    assert made.seconds == pytest.approx(20.0)
    assert speed.known_speed(QWEN_CODER_SMALL, tmp_path) == made
    assert speed.default_local(tmp_path) is QWEN_CODER_SMALL
    monkeypatch.setattr(speed, "cores", lambda: 8)
    assert speed.known_speed(QWEN_CODER_SMALL, tmp_path) is None


@pytest.mark.parametrize(
    ("read", "written", "larger"),
    [(100.0, 40.0, True), (100.0, 30.0, False)],  # 3 x (7 + 2.5) = 28.5 s, and 3 x (7 + 3.3) = 31 s
)
def test_the_larger_model_is_local_where_it_answers_in_time(
    tmp_path: Path, read: float, written: float, *, larger: bool
) -> None:
    folder_of(QWEN_CODER_SMALL, tmp_path).mkdir()
    told = speed.Speed(1, read, written, speed.cores())
    (folder_of(QWEN_CODER_SMALL, tmp_path) / speed.SPEED).write_bytes(msgspec.json.encode(told))

    assert speed.default_local(tmp_path) is (QWEN_CODER if larger else QWEN_CODER_SMALL)


def test_others_on_this_machine_are_not_answered(generator: LocalGenerator) -> None:
    running = generator._server.running()

    assert running.key not in repr(running)
    assert len(running.key) > 40
    assert running.address.startswith("http://127.0.0.1:")


def test_the_process_ends_with_its_parent_however_that_dies() -> None:
    parent = f"""
        import os, sys
        from twofold.domain.generators import GeneratorIdentity, Message, complete
        from twofold.models.generators.local import LocalGenerator
        from twofold.models.generators.process import Launch

        launch = Launch("tiny", {COMMAND!r}, {{"model": "fine"}})
        generator = LocalGenerator(GeneratorIdentity("tiny", "1"), lambda: launch)
        print(complete(generator, [Message("user", "what is your process?")]), flush=True)
        sys.stdin.read()
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(parent)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        watching = os.pidfd_open(child)
        process.send_signal(signal.SIGKILL)

        assert ended(watching)


def ended(watching: int) -> bool:
    """Wait until a process that is no child of ours has ended."""
    import select

    waiting = select.poll()
    waiting.register(watching, select.POLLIN)
    found = waiting.poll(10_000)
    os.close(watching)
    return bool(found)


def test_the_real_process_says_why_it_cannot_run_a_file(tmp_path: Path) -> None:
    weights = tmp_path / "model.gguf"
    weights.write_bytes(b"GGUF" + bytes(64))
    command = (sys.executable, "-P", str(local.CHILD))

    told: dict[str, str | int] = {
        "model": str(weights),
        "context": 512,
        "threads": 1,
        "batch": 64,
        "states": f"{tmp_path}/",
    }
    with pytest.raises(ModelError, match="tiny cannot be run: ") as caught:
        end(start(Launch("tiny", command, told)))

    assert "can't open file" not in str(caught.value)  # the script is there


def test_a_runtime_that_is_not_installed_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "RUNTIME", "no_such_runtime")

    with pytest.raises(MissingExtraError, match=r"twofold\[llm\]"):
        launch_of("tiny", Path("x"), 512, 1)
