"""A stand-in for the process around a model: the same handshake, and the obliging chat server behind it."""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # it is run as a script

from support.fake_llm_server import Heard, Send, chatting, finished, obliging, piece


def fail(model: str) -> None:
    """Fail in the way that the model's name says."""
    if model == "broken":
        sys.stdout.write(json.dumps({"error": "the weights are made of cheese."}) + "\n")
        raise SystemExit(1)
    if model == "crashing":
        sys.stderr.write("loading\n\nno memory left\n")
        raise SystemExit(3)
    if model == "gibbering":
        sys.stdout.write("hello?\n")
        raise SystemExit(0)
    if model == "silent":
        sys.stdin.read()
        raise SystemExit(0)


def states(heard: Heard, folder: str) -> None:
    """Save or restore; a state that is missing has it die."""
    path = Path(folder) / heard.body["filename"]
    if heard.path.endswith("save"):
        path.write_text("what was read")
    elif path.read_text() != "what was read":
        os._exit(1)


def speeds(threads: int) -> dict[str, float]:
    """Be slower with more threads, as a busy machine is."""
    return {"prompt_per_second": 70.0 / threads, "predicted_per_second": 10.0 / threads}


def main() -> None:
    told = json.loads(sys.stdin.readline())
    fail(told["model"])

    def guarded(heard: Heard, send: Send) -> None:
        if heard.path.startswith("/slots/0?action="):
            states(heard, told["states"])
            send(b"{}")
        elif heard.path == "/completion":
            send(json.dumps({"timings": speeds(told["threads"])}).encode())
        elif heard.prompt == "how far are you?":
            read = b'data: {"choices": [], "prompt_progress": {"total": 200, "processed": %d}}\n\n'
            send(read % 100 + read % 200 + piece("here") + finished())
        elif heard.prompt == "what is your process?":
            send(piece(f"{os.getpid()}") + finished())
        elif heard.prompt == "die":
            os._exit(1)
        elif heard.headers.get("Authorization") == f"Bearer {told['key']}":
            obliging(heard, send)

    with chatting(guarded) as address:
        sys.stdout.write(json.dumps({"address": address.removesuffix("/v1")}) + "\n")
        sys.stdout.flush()
        sys.stdin.read()
        os._exit(0)


if __name__ == "__main__":
    main()
