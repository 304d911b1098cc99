"""What can be set, group by group, each dial with its range, its default and its line of documentation."""

from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

Mode = Literal["hybrid", "bm25", "semantic"]
ChunkStrategy = Literal["structure", "semantic", "fixed"]


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """How documents are cut into passages."""

    strategy: Annotated[
        ChunkStrategy,
        Meta(
            description="Where passages are cut: at the document's own parts, where meaning shifts, or by size alone."
        ),
    ] = "structure"
    size: Annotated[int, Meta(ge=16, le=8192, description="Length of a passage, in the embedder's own tokens.")] = 256
    overlap: Annotated[int, Meta(ge=0, le=4096, description="Tokens that neighbouring passages share.")] = 0


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """What a search does unless the caller says otherwise."""

    k: Annotated[int, Meta(ge=1, le=1000, description="How many passages a search gives.")] = 10
    mode: Annotated[Mode, Meta(description="Which arms look: words and meaning, words alone, or meaning alone.")] = (
        "hybrid"
    )
    depth: Annotated[
        int, Meta(ge=1, le=10_000, description="How many candidates each arm hands to the fusion; never fewer than k.")
    ] = 100
    fusion: Annotated[
        Literal["convex", "rrf"],
        Meta(description="How the arms are joined: completed and normalised scores, or reciprocal ranks."),
    ] = "convex"
    dense_weight: Annotated[
        float, Meta(ge=0, le=1, description="The share of meaning in a hybrid score; words have the rest.")
    ] = 0.6
    k1: Annotated[float, Meta(ge=0, le=10, description="BM25: how soon repeats of a word stop counting.")] = 1.2
    b: Annotated[float, Meta(ge=0, le=1, description="BM25: how much long passages are held back.")] = 0.75
    rerank: Annotated[
        str,
        Meta(min_length=1, description="The model that reads the best passages again; `none`, or see `models list`."),
    ] = "none"
    rerank_candidates: Annotated[int, Meta(ge=1, le=1000, description="How many passages the reranker reads.")] = 20
    rerank_weight: Annotated[
        float, Meta(ge=0, le=1, description="The share of the reranker in the score; at 1 it replaces the fused one.")
    ] = 0.2
    rerank_threshold: Annotated[
        float, Meta(ge=0, le=1, description="Leave out what the reranker finds less relevant than this; 0 for nothing.")
    ] = 0.0
    rerank_tokens: Annotated[
        int, Meta(ge=16, le=8192, description="How much of question and passage a reranker reads, in its own tokens.")
    ] = 256
    budget_ms: Annotated[
        float, Meta(ge=0, description="Time for a search, in ms, by which the reranker reads fewer; 0 for no limit.")
    ] = 0.0


@dataclass(frozen=True, slots=True)
class SyncSettings:
    """What reading a file may cost; a file over a limit becomes one named failure, and the run goes on."""

    file_bytes: Annotated[int, Meta(ge=1, description="The largest file that is read, in bytes.")] = 50_000_000
    memory_bytes: Annotated[
        int, Meta(ge=100_000_000, description="Memory a worker may take while it reads one file, in bytes.")
    ] = 1_000_000_000
    cpu_seconds: Annotated[int, Meta(ge=1, le=3600, description="Processor time a worker may take for one file.")] = 30
    archive_ratio: Annotated[int, Meta(ge=1, description="How many times its size a packed file may unpack to.")] = 100
    archive_depth: Annotated[int, Meta(ge=0, le=10, description="How deep archives may lie in archives.")] = 2
