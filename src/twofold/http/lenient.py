"""How other systems' clients are read: what we do not know of a request is left aside, as their servers leave it."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from twofold.pipeline.results import FoundPassage, SearchResult


class Lenient(BaseModel):
    """A shape that is somebody else's: further fields may come, and mean nothing here."""

    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False, frozen=True)


ModelName = Annotated[str, Field(min_length=1, max_length=200)]


def share(hit: FoundPassage) -> float:
    """Say how good a passage is in [0, 1]: the reranker's relevance, else its cosine, else its score held to that.

    Clients of these protocols set thresholds, which mean something for a relevance or a cosine and nothing for a
    fused rank.
    """
    read = hit.trace.rerank
    if read is not None and read.relevance is not None:
        return min(1.0, max(0.0, read.relevance))
    dense = hit.trace.dense
    value = hit.score if dense is None else dense.raw
    return min(1.0, max(0.0, value))


def above(found: SearchResult, threshold: float) -> list[tuple[FoundPassage, float]]:
    """Give passages that are good enough, each with its share, in the order of the search."""
    return [(hit, share(hit)) for hit in found.hits if share(hit) >= threshold]
