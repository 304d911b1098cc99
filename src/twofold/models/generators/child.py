"""The process around a GGUF model, run as a script: llama.cpp's server on loopback, which ends with its parent.

It reads what to run from one line of JSON on standard input, says in one line where it listens or why it cannot, and
ends when its standard input does: the kernel closes that when the parent dies, however it dies. It knows no twofold.
"""

import json
import os
import sys
from typing import Any


def main() -> None:
    """Serve until standard input ends."""
    said = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the library prints is no part of what is said
    told = json.loads(sys.stdin.readline())
    try:
        serving = _serve(told)
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        said.write(json.dumps({"error": f"{error}"}) + "\n")
        said.flush()
        raise SystemExit(1) from error
    said.write(json.dumps({"address": serving.listening_address}) + "\n")
    said.flush()
    sys.stdin.read()
    os._exit(0)  # a reply that is being written is not waited for


def _serve(told: dict[str, Any]) -> Any:  # noqa: ANN401 - xllamacpp.Server; an extra
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = told["model"]
    params.n_ctx = told["context"]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = told["threads"]
    params.n_parallel = 1
    params.n_batch = params.n_ubatch = told["batch"]  # it says how far it has read after each
    params.slot_save_path = told["states"]
    params.cache_ram_mib = 0  # by default it keeps up to 8 GiB of prompts
    params.verbosity = 1
    params.ui = False
    params.endpoint_slots = False
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [told["key"]]
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
