"""From what a user writes to a reranker.

none                                   no reranking
ms-marco-MiniLM-L-12-v2                a model of the catalog, on OpenVINO
late-interaction                       the best match of each token of the question, by the index's own embedder
late-interaction:bge-small-en-v1.5     the same by an embedder of the catalog
word-overlap                           no model at all
http://localhost:8080/v1#model         a server; after the model's name may follow `&scale=logit`
"""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from urllib.parse import urldefrag

from twofold.domain.errors import InvalidInputError, ModelError, NotFoundError
from twofold.domain.ports import Embedder, Reranker, RerankerIdentity, Scale
from twofold.models.api_keys import key_for
from twofold.models.catalog.entries import CATALOG, DEFAULT, entry_named
from twofold.models.catalog.files import folder_of, is_fetched, is_present, pull
from twofold.models.catalog.identities import ONNXRUNTIME, WEB, embedder_entry
from twofold.models.catalog.progress import Report, ignore
from twofold.models.catalog.types import ModelEntry, Task
from twofold.models.devices import Device, device_named
from twofold.models.embedders.factory import open_embedder, refuse_offline, server_of
from twofold.models.embedders.openvino import load_session
from twofold.models.embedders.transformer import TokenVectors, TransformerEmbedder
from twofold.models.lazy import LazyReranker
from twofold.models.rerankers.cross_encoder import CrossEncoder
from twofold.models.rerankers.late_interaction import LateInteraction
from twofold.models.rerankers.rerank_endpoint import EndpointReranker, RerankEndpoint
from twofold.models.rerankers.word_overlap import WordOverlap

NONE = "none"
WORD_OVERLAP = "word-overlap"
LATE_INTERACTION = "late-interaction"


def is_here(name: str, cache: Path) -> bool:
    """Return whether a model of the catalog can be used without fetching anything.

    It may have come in one wheel with another model, and is then converted when it is first used.
    """
    return is_fetched(entry_named(name), cache)


def open_reranker(  # noqa: PLR0913  # each may be left out
    spec: str,
    *,
    cache: Path,
    max_tokens: int = 256,
    offline: bool = False,
    progress: Report = ignore,
    embedder: str = "",
    device: str = Device.AUTO,
) -> Reranker | None:
    """Make the reranker that `spec` names, or None. Nothing is fetched or loaded before there is something to score.

    `max_tokens` is how much of a pair a model of the catalog reads, `embedder` is what `late-interaction` takes.
    A server's key is read from TWOFOLD_API_KEY.
    Raises NotFoundError for an unknown name, InvalidInputError for what cannot be read, ModelError for a distant server
    where the network is switched off.
    """
    if spec == NONE:
        return None
    if spec == WORD_OVERLAP:
        return WordOverlap()
    if spec.startswith(WEB):
        endpoint = rerank_endpoint_of(spec, key_for(urldefrag(spec)[0], os.environ))
        refuse_offline(endpoint.address, offline=offline)
        return EndpointReranker(endpoint)
    scheme, _, rest = spec.partition(":")
    if scheme == LATE_INTERACTION:
        opener = partial(open_embedder, cache=cache, offline=offline, progress=progress, device=device)
        return _late_interaction(rest or embedder, max_tokens, opener)
    entry = _entry(spec)
    load = partial(load_session, device=device_named(device))
    made = CrossEncoder(entry, folder_of(entry, cache), max_tokens, load)

    def present() -> Reranker:
        if not is_present(entry, cache):
            pull(entry, cache, offline=offline, progress=progress)
        return made

    return LazyReranker(made.identity, present)


def _late_interaction(name: str, max_tokens: int, opener: Callable[[str], Embedder]) -> Reranker:
    scheme, _, rest = name.partition(":")
    try:
        entry = embedder_entry(rest if scheme == ONNXRUNTIME else name)
    except NotFoundError as error:
        raise InvalidInputError(
            f"{name!r} gives no vector of each token.",
            f"Late interaction takes an embedder of the catalog: `{LATE_INTERACTION}:{DEFAULT.name}`.",
        ) from error
    identity = RerankerIdentity(f"{LATE_INTERACTION}:{entry.name}", f"{entry.revision}/{max_tokens}", Scale.COSINE)

    def opened() -> Reranker:
        made = opener(name)
        if not isinstance(made, TransformerEmbedder):
            raise ModelError(f"{name} gives no vector of each token.", "Use another embedder.")
        return LateInteraction(TokenVectors(made, max_tokens), identity)

    return LazyReranker(identity, opened)


def rerank_endpoint_of(spec: str, key: str = "") -> RerankEndpoint:
    """Read `http://host/v1#model&scale=logit`."""
    address, model, options = server_of(spec, ("scale",))
    scale = options.get("scale", Scale.RELEVANCE)
    if scale not in tuple(Scale):
        raise InvalidInputError(f"{scale!r} is no scale of scores.", f"Use one of {', '.join(Scale)}.")
    return RerankEndpoint(address, model, Scale(scale), key)


def _entry(name: str) -> ModelEntry:
    try:
        return entry_named(name, Task.RERANK)
    except NotFoundError as error:
        known = [entry.name for entry in CATALOG.values() if entry.task is Task.RERANK]
        others = [NONE, LATE_INTERACTION, WORD_OVERLAP, "http://HOST/v1#MODEL"]
        raise NotFoundError(f"There is no reranker {name!r}.", f"Known are: {', '.join(known + others)}.") from error
