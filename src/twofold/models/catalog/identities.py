"""Which vectors an embedder will give, by what a user writes, before anything that could make them is loaded."""

from collections.abc import Sequence
from dataclasses import replace

from twofold.domain.errors import InvalidInputError, NotFoundError
from twofold.domain.ports import EmbedderIdentity
from twofold.models.catalog.entries import CATALOG, entry_named
from twofold.models.catalog.types import WEIGHTS, ModelEntry, Task
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.models.no_embedder import NO_EMBEDDER, NoEmbedder

HASHING = "hashing"
ONNXRUNTIME = "onnxruntime"
SENTENCE_TRANSFORMERS = "sentence-transformers"
WEB = ("http:", "https:")
JOIN = "+"
MAX_JOINED = 4


def identity_of(spec: str) -> EmbedderIdentity | None:
    """Return the identity that `open_embedder` will have for `spec`, without loading; None where only loading tells."""
    members = members_of(spec)
    return joined_identity([_known(one, spec) for one in members]) if len(members) > 1 else _identity_of_one(spec)


def _identity_of_one(spec: str) -> EmbedderIdentity | None:
    scheme, _, rest = spec.partition(":")
    if spec.startswith(WEB):
        from twofold.models.embedders.factory import identity_of_server

        return identity_of_server(spec)
    if spec == NO_EMBEDDER:
        return NoEmbedder().identity
    if scheme == HASHING:
        return (HashingEmbedder(dimensions_of(rest)) if rest else HashingEmbedder()).identity
    if scheme == SENTENCE_TRANSFORMERS:
        return None
    if scheme == ONNXRUNTIME:
        from twofold.models.embedders.onnxruntime import identity_on_onnxruntime

        return identity_on_onnxruntime(onnx_entry(rest))
    return embedder_entry(spec).identity


def members_of(spec: str) -> tuple[str, ...]:
    """Return the embedders that `a+b` joins; one for anything else. Raises InvalidInputError for more than four.

    >>> members_of("bge-small-en-v1.5+e5-small-v2"), members_of("http://localhost/v1#a+b")
    (('bge-small-en-v1.5', 'e5-small-v2'), ('http://localhost/v1#a+b',))
    """
    if spec.startswith((*WEB, SENTENCE_TRANSFORMERS)):
        return (spec,)
    members = tuple(spec.split(JOIN))
    if len(members) > MAX_JOINED:
        raise InvalidInputError(f"{spec!r} joins {len(members)} embedders.", f"Join {MAX_JOINED} at most.")
    return members


def joined_identity(members: Sequence[EmbedderIdentity]) -> EmbedderIdentity:
    """Return the identity of embedders whose vectors stand side by side; each puts its own prefixes before a text."""
    return EmbedderIdentity(
        name=JOIN.join(one.name for one in members),
        revision=JOIN.join(one.revision for one in members),
        dimensions=sum(one.dimensions for one in members),
        pooling=JOIN.join(one.pooling for one in members),
        max_tokens=min(one.max_tokens for one in members),
    )


def _known(member: str, spec: str) -> EmbedderIdentity:
    """Return a member's identity. Raises InvalidInputError for one that only loading tells, and for none at all."""
    identity = None if member == NO_EMBEDDER or member.startswith(WEB) else _identity_of_one(member)
    if identity is None:
        raise InvalidInputError(
            f"{member!r} cannot be joined in {spec!r}.", "Join embedders of `twofold models list`, as in A+B."
        )
    return identity


def stored_identity(spec: str, held: EmbedderIdentity) -> EmbedderIdentity | None:
    """Return the identity that an index holds where it is one of `spec`, which only loading tells; None for another.

    A server whose address says no dimensions is taken to have those that it had. A model of sentence-transformers has
    the name that was written; loading it finds out whether it is the same revision.
    """
    if spec.startswith(WEB):
        from twofold.models.embedders.factory import endpoint_of

        told = endpoint_of(spec).identity
        return held if replace(told, dimensions=held.dimensions) == held else None
    return held if spec.partition(":")[2] == held.name else None


def embedder_entry(name: str) -> ModelEntry:
    """Return an embedder of the catalog. Raises NotFoundError, naming all that there are."""
    try:
        return entry_named(name, Task.EMBED)
    except NotFoundError as error:
        known = [entry.name for entry in CATALOG.values() if entry.task is Task.EMBED]
        others = [NO_EMBEDDER, HASHING, f"{ONNXRUNTIME}:NAME", f"{SENTENCE_TRANSFORMERS}:NAME", "http://HOST/v1#MODEL"]
        raise NotFoundError(f"There is no embedder {name!r}.", f"Known are: {', '.join(known + others)}.") from error


def onnx_entry(name: str) -> ModelEntry:
    """Return an embedder that has an ONNX file. Raises NotFoundError, or InvalidInputError where it has none."""
    entry = embedder_entry(name)
    if entry.weights.name != WEIGHTS:
        raise InvalidInputError(f"{name} has no file that ONNX Runtime reads.", f"Write {name}; OpenVINO runs it.")
    return entry


def dimensions_of(text: str) -> int:
    """Read a number of dimensions. Raises InvalidInputError."""
    return whole_number(text, "dimensions")


def whole_number(text: str, what: str) -> int:
    """Read a whole number above 0, called `what` in the error. Raises InvalidInputError."""
    if not (text.isascii() and text.isdecimal() and 0 < int(text) < 2**31):
        raise InvalidInputError(f"{text!r} cannot be the {what}.", "Give a whole number above 0.")
    return int(text)
