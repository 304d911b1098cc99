"""From what a user writes to an embedder.

bge-small-en-v1.5                              a model of the catalog, on OpenVINO
onnxruntime:bge-small-en-v1.5                  the same on ONNX Runtime
bge-small-en-v1.5+e5-small-v2                  two of the catalog, their vectors side by side
none                                           no vectors: an index for BM25 only
hashing, hashing:512                           no model at all; the number is the dimensions
sentence-transformers:BAAI/bge-m3              whatever that library loads
http://localhost:11434/v1#nomic-embed-text     a server; after the model's name may follow, each after `&`,
                                               dimensions=768, max_tokens=8192, query_prefix=…, passage_prefix=…
https://NAME.openai.azure.com#DEPLOYMENT&api_version=2024-10-21      Azure OpenAI; its key is in TWOFOLD_API_KEY
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urldefrag, urlsplit

from twofold.domain.errors import InvalidInputError, ModelError
from twofold.domain.ports import Embedder, EmbedderIdentity
from twofold.models.api_keys import KEY_VARIABLE, key_for
from twofold.models.catalog.files import folder_of, is_present, pull
from twofold.models.catalog.identities import (
    HASHING,
    ONNXRUNTIME,
    SENTENCE_TRANSFORMERS,
    WEB,
    dimensions_of,
    embedder_entry,
    identity_of,
    members_of,
    onnx_entry,
    whole_number,
)
from twofold.models.catalog.progress import Report, ignore
from twofold.models.catalog.types import ModelEntry
from twofold.models.devices import Device, device_named
from twofold.models.embedders.endpoint import Endpoint, open_endpoint
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.models.embedders.joined import JoinedEmbedder
from twofold.models.embedders.onnxruntime import open_onnxruntime
from twofold.models.embedders.openvino import open_openvino
from twofold.models.embedders.sentence_transformers import open_sentence_transformers
from twofold.models.http import host_of, is_loopback
from twofold.models.no_embedder import NO_EMBEDDER, NoEmbedder
from twofold.models.routes import checked_version

ENDPOINT_OPTIONS = ("dimensions", "max_tokens", "query_prefix", "passage_prefix", "api_version")


def open_embedder(  # noqa: PLR0913  # each may be left out
    spec: str,
    *,
    cache: Path,
    offline: bool = False,
    progress: Report = ignore,
    key: str | None = None,
    dimensions: int = 0,
    device: str = Device.AUTO,
) -> Embedder:
    """Make the embedder that `spec` names. A catalog model that is not in `cache` is fetched first, with `progress`.

    `dimensions` are a server's where its address says none; 0 means that it is asked. `key` is a server's; by default
    it is read from TWOFOLD_API_KEY. Raises NotFoundError for an unknown name, InvalidInputError for what cannot be
    read, MissingExtraError, and ModelError when a model cannot be loaded. `device` is where models of this machine
    compute; see `twofold.models.devices`.
    """
    members = members_of(spec)
    if len(members) > 1:
        identity_of(spec)  # before anything is fetched
        alone = partial(open_embedder, cache=cache, offline=offline, progress=progress, device=device)
        return JoinedEmbedder([alone(one) for one in members])
    scheme, _, rest = spec.partition(":")
    if spec.startswith(WEB):
        secret = key_for(urldefrag(spec)[0], os.environ) if key is None else key
        endpoint = endpoint_of(spec, secret)
        refuse_offline(endpoint.address, offline=offline)
        return open_endpoint(replace(endpoint, dimensions=endpoint.dimensions or dimensions))
    if spec == NO_EMBEDDER:
        return NoEmbedder()
    if scheme == HASHING:
        return HashingEmbedder(dimensions_of(rest)) if rest else HashingEmbedder()
    if scheme == SENTENCE_TRANSFORMERS:
        return open_sentence_transformers(_named(rest, spec), cache, offline=offline, device=device_named(device))
    opener: Callable[[ModelEntry, Path, Device], Embedder] = (
        open_onnxruntime if scheme == ONNXRUNTIME else open_openvino
    )
    entry = onnx_entry(rest) if scheme == ONNXRUNTIME else embedder_entry(spec)
    if not is_present(entry, cache):
        pull(entry, cache, offline=offline, progress=progress)
    return opener(entry, folder_of(entry, cache), device_named(device))


def identity_of_server(spec: str) -> EmbedderIdentity | None:
    """Return the identity of a server's embedder, None where only asking it tells."""
    endpoint = endpoint_of(spec)
    return endpoint.identity if endpoint.dimensions else None


def endpoint_of(spec: str, key: str = "") -> Endpoint:
    """Read `http://host/v1#model&dimensions=768`."""
    address, model, options = server_of(spec, ENDPOINT_OPTIONS)
    return Endpoint(
        address=address,
        model=model,
        dimensions=dimensions_of(options["dimensions"]) if "dimensions" in options else 0,
        query_prefix=options.get("query_prefix", ""),
        passage_prefix=options.get("passage_prefix", ""),
        max_tokens=whole_number(options.get("max_tokens", "512"), "max_tokens"),
        api_version=checked_version(options.get("api_version", "")),
        key=key,
    )


def server_of(spec: str, known: Sequence[str]) -> tuple[str, str, Mapping[str, str]]:
    """Read `http://host/v1#model&name=value` into address, model and options. Raises InvalidInputError."""
    address, fragment = urldefrag(spec)
    host_of(address)
    if urlsplit(address).username or urlsplit(address).password:
        raise InvalidInputError("A server's address may not hold a password.", f"Set the key in {KEY_VARIABLE}.")
    model, _, rest = fragment.partition("&")
    options = dict(parse_qsl(rest, keep_blank_values=True))
    unknown = options.keys() - set(known)
    if unknown:
        raise InvalidInputError(f"{', '.join(sorted(unknown))} cannot be set on a server.", f"Use {', '.join(known)}.")
    return address, _named(unquote(model), spec), options


def refuse_offline(address: str, *, offline: bool) -> None:
    """Refuse a server that is not on this machine where the network is switched off. Raises ModelError."""
    if offline and not is_loopback(address):
        raise ModelError(
            f"{host_of(address)} may not be asked: the network is switched off.",
            "Unset TWOFOLD_OFFLINE, or use a model on this machine.",
        )


def _named(name: str, spec: str) -> str:
    if not name:
        raise InvalidInputError(
            f"{spec!r} names no model.", "Write http://HOST/v1#MODEL or sentence-transformers:NAME."
        )
    return name
