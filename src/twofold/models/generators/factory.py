"""From what a user writes to a generator.

none                                   no language model
local, local/qwen2.5-coder-0.5b        a model of the catalog, run here by llama.cpp: the extra `llm`; after the name
                                       may follow `&threads=2` and `&context=8192`, and prompts then may fill that.
                                       Without a name the one that this machine runs fast enough, see `speed`
ollama/qwen3:8b                        Ollama on this machine
openai/gpt-4o-mini                     OpenAI; its key is in OPENAI_API_KEY, else in TWOFOLD_API_KEY
http://localhost:8080/v1#model         any server that speaks OpenAI's chat; its key is in TWOFOLD_API_KEY
https://NAME.openai.azure.com#DEPLOYMENT&api_version=2024-10-21      Azure OpenAI; its key is in TWOFOLD_API_KEY

After a server's model may follow `&context=8192`, the tokens that prompt and reply may have together, and
`&temperature=own` for models that accept no temperature but their own.
"""

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from urllib.parse import parse_qsl, urldefrag

from twofold.domain.errors import InvalidInputError, NotFoundError
from twofold.domain.generators import Generator, GeneratorIdentity
from twofold.models.api_keys import key_for, key_in
from twofold.models.catalog.entries import CATALOG, QWEN_CODER_SMALL, entry_named
from twofold.models.catalog.files import folder_of, is_present, pull
from twofold.models.catalog.identities import WEB
from twofold.models.catalog.progress import Progress, Report, Step, ignore
from twofold.models.catalog.types import ModelEntry, Task
from twofold.models.embedders.factory import refuse_offline, server_of
from twofold.models.generators.endpoint import ChatEndpoint, EndpointGenerator
from twofold.models.generators.local import LocalGenerator, launch_of
from twofold.models.generators.process import Launch
from twofold.models.generators.speed import default_local, known_speed, measured
from twofold.models.routes import checked_version

NONE = "none"
LOCAL = "local"
OLLAMA = "ollama/"
OLLAMA_ADDRESS = "http://127.0.0.1:11434/v1"
OPENAI = "openai/"
OPENAI_ADDRESS = "https://api.openai.com/v1"
OPENAI_KEY_VARIABLE = "OPENAI_API_KEY"
OWN = "own"
CONTEXT_TOKENS = 4_096
PROMPT_TOKENS = 1_100
"""What a prompt to a model of this machine should not exceed, by the approximation that stays 10 % below the truth."""
MAX_THREADS = 256
MAX_CONTEXT = 1_048_576
FORMS = (NONE, LOCAL, "local/NAME", "ollama/NAME", "openai/NAME", "http://HOST/v1#MODEL")


def open_generator(
    spec: str,
    *,
    cache: Path,
    offline: bool = False,
    progress: Report = ignore,
    environment: Mapping[str, str] = os.environ,
) -> Generator | None:
    """Make the generator that `spec` names, or None. Nothing is fetched, started or asked before the first reply.

    Keys are read from `environment`. Raises NotFoundError for an unknown name, InvalidInputError for what cannot be
    read, ModelError for a distant server where the network is switched off.
    """
    if spec == NONE:
        return None
    if spec == LOCAL or spec.startswith((f"{LOCAL}/", f"{LOCAL}&")):
        return _local(spec.removeprefix(LOCAL).removeprefix("/"), cache, offline=offline, progress=progress)
    endpoint = chat_endpoint_of(spec, environment)
    refuse_offline(endpoint.address, offline=offline)
    return EndpointGenerator(endpoint)


def chat_endpoint_of(spec: str, environment: Mapping[str, str]) -> ChatEndpoint:
    """Read `http://host/v1#model&context=8192`, `ollama/NAME` or `openai/NAME`; a key goes to its own host alone."""
    if spec.startswith(OLLAMA):
        return _endpoint(f"{OLLAMA_ADDRESS}#{spec.removeprefix(OLLAMA)}", "")
    if spec.startswith(OPENAI):
        key = key_in(environment, OPENAI_KEY_VARIABLE) or key_for(OPENAI_ADDRESS, environment)
        return _endpoint(f"{OPENAI_ADDRESS}#{spec.removeprefix(OPENAI)}", key, "max_completion_tokens")
    if spec.startswith(WEB):
        return _endpoint(spec, key_for(urldefrag(spec)[0], environment))
    raise NotFoundError(f"There is no generator {spec!r}.", f"Write one of {', '.join(FORMS)}.")


def _endpoint(spec: str, key: str, limit_name: str = "max_tokens") -> ChatEndpoint:
    address, model, options = server_of(spec, ("context", "temperature", "api_version"))
    temperature = options.get("temperature", "")
    if temperature not in {"", OWN}:
        raise InvalidInputError(f"The temperature {temperature!r} cannot be set here.", f"Use {OWN}, or leave it out.")
    context = _whole(options.get("context", str(CONTEXT_TOKENS)), "context", MAX_CONTEXT)
    own, version = temperature == OWN, checked_version(options.get("api_version", ""))
    return ChatEndpoint(address, model, context, limit_name, own_temperature=own, api_version=version, key=key)


def _local(rest: str, cache: Path, *, offline: bool, progress: Report) -> Generator:
    name, _, given = rest.partition("&")
    entry = _entry(name) if name else default_local(cache)
    options = dict(parse_qsl(given, keep_blank_values=True))
    unknown = options.keys() - {"threads", "context"}
    if unknown:
        raise InvalidInputError(f"{', '.join(sorted(unknown))} cannot be set here.", "Use threads, context.")
    threads = _whole(options["threads"], "threads", MAX_THREADS) if "threads" in options else 0
    context = _whole(options.get("context", str(CONTEXT_TOKENS)), "context", entry.max_tokens)
    prompt = 0 if "context" in options else PROMPT_TOKENS

    def prepare() -> Launch:
        folder = folder_of(entry, cache)
        launch = partial(launch_of, entry.name, folder / entry.weights.name, context)
        launch(threads or 1)  # says first what is not installed
        if not is_present(entry, cache):
            pull(entry, cache, offline=offline, progress=progress)
        if threads:
            return launch(threads)
        speed = known_speed(entry, cache) or known_speed(QWEN_CODER_SMALL, cache)
        if speed is None:
            progress(Progress(entry.name, Step.MEASURE))
            speed = measured(launch, folder)
            progress(Progress(entry.name, Step.DONE))
        return launch(speed.threads)

    return LocalGenerator(GeneratorIdentity(entry.name, entry.revision, context, prompt), prepare)


def _entry(name: str) -> ModelEntry:
    try:
        return entry_named(name, Task.GENERATE)
    except NotFoundError as error:
        known = [entry.name for entry in CATALOG.values() if entry.task is Task.GENERATE]
        raise NotFoundError(f"There is no local generator {name!r}.", f"Known are: {', '.join(known)}.") from error


def _whole(text: str, what: str, most: int) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < len(str(most)) + 1 and 0 < int(text) <= most):
        raise InvalidInputError(f"{text!r} cannot be the {what}.", f"Give a whole number from 1 to {most:,}.")
    return int(text)
