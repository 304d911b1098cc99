"""What can be set, group by group, each dial with its range, its default and its line of documentation."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from msgspec import Meta

Mode = Literal["hybrid", "bm25", "semantic"]
ChunkStrategy = Literal["structure", "semantic", "hybrid", "fixed"]
FusionForm = Literal[
    "adaptive", "convex", "rrf", "weighted_rrf", "weighted_sum", "linear", "average", "additive", "dbsf", "log_odds"
]
Norm = Literal["none", "clip", "max", "minmax", "theoretical", "zscore", "sigmoid", "dbsf"]


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """How documents are cut into passages."""

    strategy: Annotated[
        ChunkStrategy,
        Meta(
            description="Where passages are cut: at the document's own parts, where meaning shifts, at its parts and "
            "where meaning shifts in long ones, or by size alone."
        ),
    ] = "structure"
    size: Annotated[int, Meta(ge=16, le=8192, description="Length of a passage, in the embedder's own tokens.")] = 256
    overlap: Annotated[int, Meta(ge=0, le=4096, description="Tokens that neighbouring passages share.")] = 0


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """What a search does unless the caller says otherwise."""

    k: Annotated[int, Meta(ge=1, le=1000, description="How many passages a search gives.")] = 10
    max_results: Annotated[
        int, Meta(ge=1, le=1000, description="The most passages that a search gives, whatever it is asked for.")
    ] = 1000
    mode: Annotated[Mode, Meta(description="Which arms look: words and meaning, words alone, or meaning alone.")] = (
        "hybrid"
    )
    depth: Annotated[
        str,
        Meta(
            pattern=r"^[1-9][0-9]{0,4}x?$",
            examples=["100", "5x"],
            description="How many candidates each arm hands to the fusion, or how many times k: `100`, `5x`.",
        ),
    ] = "100"
    lexical: Annotated[
        Literal["bm25", "tfidf"],
        Meta(description="How words score: BM25, or the cosine of TF-IDF vectors as scikit-learn has it, in [0, 1]."),
    ] = "bm25"
    k1: Annotated[float, Meta(ge=0, le=10, description="BM25: how soon repeats of a word stop counting.")] = 1.2
    b: Annotated[float, Meta(ge=0, le=1, description="BM25: how much long passages are held back.")] = 0.75
    gates: Annotated[
        str,
        Meta(description="A filter that every search has, such as `chunk_quality in [ok, high]`; empty for none."),
    ] = ""
    filter_stage: Annotated[
        Literal["pre", "post"], Meta(description="Filter before the arms choose, or after the fusion.")
    ] = "pre"
    across: Annotated[
        Literal["global", "rrf", "rerank"],
        Meta(description="How several indexes become one answer: as if they were one, by rank, or by the reranker."),
    ] = "global"
    window: Annotated[
        int, Meta(ge=0, le=50, description="How many neighbours on either side are given with each passage.")
    ] = 0
    budget_ms: Annotated[
        float, Meta(ge=0, description="Time for a search, in ms, by which the reranker reads fewer; 0 for no limit.")
    ] = 0.0
    extensions: Annotated[
        tuple[str, ...], Meta(max_length=16, description="Retrievers and transformers that are installed, by name.")
    ] = ()
    on_failure: Annotated[
        Literal["degrade", "empty", "raise"],
        Meta(description="When a part fails: go on with what is left, give nothing, or raise the error."),
    ] = "degrade"


@dataclass(frozen=True, slots=True)
class FusionSettings:
    """How what words and what meaning found become one order."""

    form: Annotated[FusionForm, Meta(description="How the arms are joined; docs/search.md has the formulas.")] = (
        "adaptive"
    )
    dense_weight: Annotated[
        float,
        Meta(
            ge=0, le=1, description="The share of meaning in a hybrid score; for `adaptive`, where both arms see alike."
        ),
    ] = 0.6
    lexical_weight: Annotated[
        float, Meta(ge=0, le=100, description="What words add to meaning in the form `additive`.")
    ] = 0.35
    rank_constant: Annotated[
        float, Meta(ge=0, le=100_000, description="The k of `1 / (k + rank)` in `rrf` and `weighted_rrf`.")
    ] = 60.0
    lexical_norm: Annotated[
        Norm, Meta(description="How BM25 is normalised; not for `convex`, the ranks and `dbsf`.")
    ] = "max"
    dense_norm: Annotated[
        Norm, Meta(description="How cosines are normalised; not for `convex`, the ranks, `dbsf`.")
    ] = "clip"


@dataclass(frozen=True, slots=True)
class LikenessSettings:
    """What the passages that were found first add to a hybrid question."""

    passages: Annotated[int, Meta(ge=0, le=20, description="How many passages are looked at; 0 leaves it out.")] = 5
    terms: Annotated[int, Meta(ge=1, le=100, description="How many terms of each passage count.")] = 30
    share: Annotated[float, Meta(ge=0, lt=1, description="The share of what is added in the question's words.")] = 0.5
    sharpness: Annotated[
        float, Meta(gt=0, le=100, description="The difference of scores by which a passage counts e times as much.")
    ] = 0.05


@dataclass(frozen=True, slots=True)
class RerankSettings:
    """The model that reads the best candidates again."""

    model: Annotated[str, Meta(min_length=1, description="Its name, see `twofold models list`; `none` for none.")] = (
        "none"
    )
    fallback: Annotated[str, Meta(description="The model that reads where the first one fails; empty for none.")] = ""
    candidates: Annotated[int, Meta(ge=1, le=1000, description="How many passages it reads.")] = 20
    keep: Annotated[int, Meta(ge=0, le=1000, description="How many are kept after it; 0 for all.")] = 0
    weight: Annotated[
        float, Meta(ge=0, le=1, description="Its share of the score; at 1 it replaces the fused one.")
    ] = 0.2
    threshold: Annotated[
        float, Meta(ge=0, le=1, description="Leave out what it finds less relevant than this; 0 for nothing.")
    ] = 0.0
    tokens: Annotated[
        int, Meta(ge=16, le=8192, description="How much of question and passage it reads, in its own tokens.")
    ] = 256


@dataclass(frozen=True, slots=True)
class BoostSettings:
    """Codes that question and passage share, and rules that lift passages."""

    patterns: Annotated[
        tuple[str, ...],
        Meta(max_length=32, description="RE2 patterns of codes, such as `ERR-\\d{3,6}`, that lift a passage."),
    ] = ()
    multiplier: Annotated[float, Meta(ge=1, le=100, description="What a shared code multiplies a score by.")] = 1.5
    rules: Annotated[
        Mapping[str, Annotated[float, Meta(ge=0, le=100)]],
        Meta(max_length=32, description="What a passage that passes a filter gains, such as `type == '.md': 0.1`."),
    ] = field(default_factory=dict)
    stage: Annotated[
        Literal["fused", "rerank", "both"], Meta(description="Lift fused scores, reranked ones, or both.")
    ] = "fused"


@dataclass(frozen=True, slots=True)
class MetadataSettings:
    """What passages' own fields add to a score; all 0 leaves them out."""

    relevance: Annotated[float, Meta(ge=0, le=10, description="Alpha: how much the score so far counts.")] = 1.0
    features: Annotated[
        float, Meta(ge=0, le=10, description="Beta: how much entity density, quality and keywords count.")
    ] = 0.0
    kind: Annotated[float, Meta(ge=0, le=10, description="Gamma: how much a fitting semantic type counts.")] = 0.0
    cap: Annotated[float, Meta(ge=0, le=10, description="The most that fields may add.")] = 0.2
    retrieval_score: Annotated[
        float, Meta(ge=0, le=10, description="How much a passage's `retrieval_score` counts; the cap is not for it.")
    ] = 0.0


@dataclass(frozen=True, slots=True)
class DiversitySettings:
    """How much of an answer may come from one place."""

    per_page: Annotated[
        int, Meta(ge=0, le=1000, description="Passages of one page, or of a document without pages; 0 for any.")
    ] = 0
    per_source: Annotated[int, Meta(ge=0, le=1000, description="Passages of one document; 0 for any number.")] = 0
    duplicates: Annotated[
        float, Meta(ge=0, le=1, description="Share of text from which two passages count as one; 0 for never.")
    ] = 0.0


@dataclass(frozen=True, slots=True)
class RewriteSettings:
    """What else is asked beside the question. A part that needs a generator says so when there is none."""

    generator: Annotated[
        str, Meta(description="The language model that rewords questions; empty for the one that writes answers.")
    ] = ""
    variants: Annotated[
        int,
        Meta(
            ge=0,
            le=10,
            description="Wordings, the question included; 0 for it alone. Without a generator two more by rule.",
        ),
    ] = 0
    hyde: Annotated[bool, Meta(description="Also look for what a made-up answer looks like.")] = False
    sub_questions: Annotated[bool, Meta(description="Also ask the 2 to 4 simpler questions in it.")] = False
    keywords: Annotated[int, Meta(ge=0, le=20, description="Also ask with so many keywords of a generator's.")] = 0
    follow_up: Annotated[
        Literal["none", "carry", "prepend", "standalone"],
        Meta(
            description="What a conversation does to a question: nothing, complete a follow-up by rule, go before "
            "every question, or complete it by a generator."
        ),
    ] = "carry"
    feedback: Annotated[
        int, Meta(ge=0, le=50, description="Terms taken from what meaning found first; needs no model. 0 for none.")
    ] = 0
    by_intent: Annotated[bool, Meta(description="Narrow `define X` to definitions, where there are any.")] = False
    merge: Annotated[
        Literal["best_score", "rrf"],
        Meta(description="Join wordings in each arm by best score, or after fusion by rank."),
    ] = "best_score"


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """Answers kept for questions that come again."""

    size: Annotated[int, Meta(ge=0, le=1_000, description="How many answers are kept; 0 for none.")] = 0
    seconds: Annotated[float, Meta(gt=0, le=31_536_000, description="How long an answer is good for.")] = 300.0
    similarity: Annotated[
        float,
        Meta(ge=0, le=1, description="A question closer than this to an earlier one has its answer; 1 for never."),
    ] = 0.98
    scope: Annotated[Literal["shared", "session"], Meta(description="Whose answers may be given again.")] = "shared"
    embeddings: Annotated[int, Meta(ge=0, le=1_000_000, description="How many questions' vectors are kept.")] = 500


@dataclass(frozen=True, slots=True)
class PatienceSettings:
    """How long parts that may be far away are waited for, and how often they are asked."""

    embed_seconds: Annotated[float, Meta(ge=0, le=3600, description="Time to embed a question; 0 for no limit.")] = 0.0
    retrieve_seconds: Annotated[float, Meta(ge=0, le=3600, description="Time for the arms; 0 for no limit.")] = 60.0
    rerank_seconds: Annotated[float, Meta(ge=0, le=3600, description="Time for the reranker; 0 for no limit.")] = 0.0
    generate_seconds: Annotated[float, Meta(ge=0, le=600, description="Time for the generator; 0 for no limit.")] = (
        120.0
    )
    retries: Annotated[int, Meta(ge=0, le=9, description="How often a part that is out of reach is asked again.")] = 0
    backoff_seconds: Annotated[
        float, Meta(ge=0, le=60, description="The wait before the first retry; doubled each time.")
    ] = 1.0


@dataclass(frozen=True, slots=True)
class BatchSettings:
    """How much a model is handed at once."""

    embed: Annotated[
        int, Meta(ge=1, le=4096, description="Passages that the embedder gets at once while documents are added.")
    ] = 128
    rerank: Annotated[
        int, Meta(ge=0, le=1000, description="Passages that the reranker gets at once; 0 for all candidates.")
    ] = 0


@dataclass(frozen=True, slots=True)
class HistorySettings:
    """How much of a conversation a follow-up question carries along."""

    turns: Annotated[int, Meta(ge=0, le=100, description="How many of the last turns.")] = 3
    characters: Annotated[
        int, Meta(ge=0, le=1_000_000, description="How much of each answer, in characters; 0 for all.")
    ] = 200


@dataclass(frozen=True, slots=True)
class GraphSettings:
    """A property graph that questions about connections are looked up in."""

    file: Annotated[
        str, Meta(description="A SQLite file as `twofold index graph` makes it; empty for none.", max_length=4096)
    ] = ""


@dataclass(frozen=True, slots=True)
class LogSettings:
    """The log of questions, on this machine alone."""

    queries: Annotated[
        bool, Meta(description="Keep each question with its hits, times and confidence; `twofold log` shows them.")
    ] = False
    max_mb: Annotated[
        int, Meta(ge=1, le=1000, description="The size of an index's log, in MB; the oldest questions go first.")
    ] = 10


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
    extensions: Annotated[
        tuple[str, ...], Meta(max_length=64, description="Readers, and a chunker, that are installed, by name.")
    ] = ()
