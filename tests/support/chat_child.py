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


def main() -> None:
    told = json.loads(sys.stdin.readline())
    fail(told["model"])

    def guarded(heard: Heard, send: Send) -> None:
        if heard.prompt == "what is your process?":
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
