"""A process around a model: how it starts, why it cannot, how it dies, and that it never outlives its parent."""

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from twofold.domain.errors import MissingExtraError, ModelError
from twofold.domain.generators import GeneratorIdentity, Message, complete
from twofold.models.generators import local
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
        ("gibbering", "says what cannot be read"),
    ],
)
def test_why_it_cannot_be_run_is_told(model: str, reason: str) -> None:
    with pytest.raises(ModelError, match=reason):
        start(launch(model))


def test_a_process_that_says_nothing_is_given_up() -> None:
    with pytest.raises(ModelError, match=r"not ready after 0\.1 s"):
        start(launch("silent", seconds=0.1))


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

    with pytest.raises(ModelError, match="tiny cannot be run: "):
        end(start(Launch("tiny", command, {"model": str(weights), "context": 512, "threads": 1})))


def test_a_runtime_that_is_not_installed_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "RUNTIME", "no_such_runtime")

    with pytest.raises(MissingExtraError, match=r"twofold\[llm\]"):
        launch_of("tiny", Path("x"), 512, 1)
