"""From what a user writes to a reranker.

none                                   no reranking
ms-marco-MiniLM-L-12-v2                a model of the catalogue, on OpenVINO
word-overlap                           no model at all
http://localhost:8080/v1#model         a server; after the model's name may follow `&scale=logit`
"""

import os
from pathlib import Path
from urllib.parse import urldefrag

from twofold.domain.errors import InvalidInputError, NotFoundError
from twofold.domain.ports import Reranker, Scale
from twofold.models.catalogue import CATALOGUE, entry_named
from twofold.models.cross_encoder import CrossEncoder
from twofold.models.deferred import DeferredReranker
from twofold.models.entries import ModelEntry, Task
from twofold.models.files import folder_of, is_present, pull
from twofold.models.identities import WEB
from twofold.models.keys import key_for
from twofold.models.opening import refuse_offline, server_of
from twofold.models.progress import Report, ignore
from twofold.models.rerank_endpoint import EndpointReranker, RerankEndpoint
from twofold.models.word_overlap import WordOverlap

NONE = "none"
WORD_OVERLAP = "word-overlap"


def open_reranker(
    spec: str,
    *,
    cache: Path,
    max_tokens: int = 256,
    offline: bool = False,
    progress: Report = ignore,
) -> Reranker | None:
    """Make the reranker that `spec` names, or None. Nothing is fetched or loaded before there is something to score.

    `max_tokens` is how much of a pair a model of the catalogue reads. A server's key is read from TWOFOLD_API_KEY.
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
    entry = _entry(spec)
    made = CrossEncoder(entry, folder_of(entry, cache), max_tokens)

    def present() -> Reranker:
        if not is_present(entry, cache):
            pull(entry, cache, offline=offline, progress=progress)
        return made

    return DeferredReranker(made.identity, present)


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
        known = [entry.name for entry in CATALOGUE.values() if entry.task is Task.RERANK]
        others = [NONE, WORD_OVERLAP, "http://HOST/v1#MODEL"]
        raise NotFoundError(f"There is no reranker {name!r}.", f"Known are: {', '.join(known + others)}.") from error
