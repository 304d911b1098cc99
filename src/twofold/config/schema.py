"""All settings by group, each with its range, its default and its documentation."""

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Annotated, Literal

from msgspec import Meta

from twofold.domain.dataclass import dataclass

Mode = Literal["hybrid", "bm25", "vector"]
ChunkStrategy = Literal["structure", "semantic", "hybrid", "fixed"]
FusionForm = Literal[
    "adaptive", "convex", "rrf", "weighted_rrf", "weighted_sum", "linear", "average", "additive", "dbsf", "log_odds"
]
Norm = Literal["none", "clip", "max", "minmax", "theoretical", "zscore", "sigmoid", "dbsf"]


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """How documents are split into passages."""

    strategy: Annotated[
        ChunkStrategy,
        Meta(
            description="Where passages are split: at the document's structure, where the topic changes, at the "
            "structure and then where the topic changes, or by size only."
        ),
    ] = "structure"
    size: Annotated[int, Meta(ge=16, le=8192, description="The length of a passage, in tokens of the embedder.")] = 256
    overlap: Annotated[int, Meta(ge=0, le=4096, description="Tokens that neighboring passages share.")] = 0


@dataclass(frozen=True, slots=True)
class Bm25Settings:
    """How BM25 scores."""

    scorer: Annotated[
        Literal["bm25", "tfidf"],
        Meta(description="`bm25`, or the cosine of TF-IDF vectors as in scikit-learn, in [0, 1]."),
    ] = "bm25"
    k1: Annotated[float, Meta(ge=0, le=10, description="How quickly repeated terms stop adding to the score.")] = 1.2
    b: Annotated[float, Meta(ge=0, le=1, description="How much long passages are penalized.")] = 0.75


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """The defaults of a search."""

    k: Annotated[int, Meta(ge=1, le=1000, description="How many passages a search returns.")] = 10
    max_results: Annotated[int, Meta(ge=1, le=1000, description="The most passages that a search may return.")] = 1000
    mode: Annotated[Mode, Meta(description="Which retrievers search: BM25 and vectors, or one of them.")] = "hybrid"
    candidates: Annotated[
        str,
        Meta(
            pattern=r"^[1-9][0-9]{0,4}x?$",
            examples=["100", "5x"],
            description="How many candidates each retriever returns, as a number or a multiple of k: `100`, `5x`.",
        ),
    ] = "100"
    bm25: Annotated[Bm25Settings, Meta(description="How BM25 scores.")] = field(default_factory=Bm25Settings)
    default_filter: Annotated[
        str,
        Meta(description="A filter for every search, such as `chunk_quality in [ok, high]`; empty for none."),
    ] = ""
    filter_stage: Annotated[Literal["pre", "post"], Meta(description="Filter before retrieval, or after fusion.")] = (
        "pre"
    )
    multi_index_merge: Annotated[
        Literal["global", "rrf", "rerank"],
        Meta(description="How results of several indexes are merged: by global statistics, by rank, or by reranker."),
    ] = "global"
    context_window: Annotated[
        int, Meta(ge=0, le=50, description="How many passages before and after each hit are returned with it.")
    ] = 0
    pending_seconds: Annotated[
        float,
        Meta(
            ge=0, le=60, description="Time for a query to embed its best passages that have no vector yet; 0 for none."
        ),
    ] = 0.5
    on_failure: Annotated[
        Literal["degrade", "empty", "llm", "raise"],
        Meta(
            description="When a part fails: go on without it, return nothing, have the language model answer without "
            "documents, or raise the error."
        ),
    ] = "degrade"


@dataclass(frozen=True, slots=True)
class FusionParameters:
    """Parameters of single fusion methods; each method ignores those of the others."""

    rrf_k: Annotated[
        float, Meta(ge=0, le=100_000, description="The k of `1 / (k + rank)` in `rrf` and `weighted_rrf`.")
    ] = 60.0
    bm25_weight: Annotated[float, Meta(ge=0, le=100, description="The weight of BM25 in `additive`.")] = 0.35
    bm25_norm: Annotated[Norm, Meta(description="How BM25 is normalized; not for `convex`, the ranks and `dbsf`.")] = (
        "max"
    )
    vector_norm: Annotated[
        Norm, Meta(description="How cosines are normalized; not for `convex`, the ranks, `dbsf`.")
    ] = "clip"
    evidence: Annotated[
        str, Meta(max_length=200, description="What `vector_weight` rests on; `tune --without-labels` writes it.")
    ] = ""


@dataclass(frozen=True, slots=True)
class FusionSettings:
    """How the results of BM25 and vector search are fused."""

    method: Annotated[FusionForm, Meta(description="The fusion method; docs/search.md has the formulas.")] = "adaptive"
    vector_weight: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="The share of vector search in a hybrid score; for `adaptive`, its starting point.",
        ),
    ] = 0.6
    parameters: Annotated[FusionParameters, Meta(description="Parameters of single methods.")] = field(
        default_factory=FusionParameters
    )


@dataclass(frozen=True, slots=True)
class PrfSettings:
    """Pseudo-relevance feedback (PRF): terms of the first passages are added to a hybrid query."""

    top_k: Annotated[int, Meta(ge=0, le=20, description="How many passages terms are taken from; 0 turns PRF off.")] = 5
    terms: Annotated[int, Meta(ge=1, le=100, description="How many terms are taken from each passage.")] = 30
    weight: Annotated[float, Meta(ge=0, lt=1, description="The weight of the added terms in the new query.")] = 0.5
    temperature: Annotated[
        float, Meta(gt=0, le=100, description="A score higher by this much makes a passage count e times as much.")
    ] = 0.05
    dense_terms: Annotated[
        int, Meta(ge=0, le=50, description="Terms taken from the first passages of vector search; 0 for none.")
    ] = 0


@dataclass(frozen=True, slots=True)
class RerankSettings:
    """The reranker: a model that scores the best candidates again."""

    model: Annotated[str, Meta(min_length=1, description="Its name, see `twofold models list`; `none` for none.")] = (
        "none"
    )
    fallback: Annotated[str, Meta(description="The reranker to use when the first one fails; empty for none.")] = ""
    candidates: Annotated[int, Meta(ge=1, le=1000, description="How many passages are reranked.")] = 20
    top_n: Annotated[int, Meta(ge=0, le=1000, description="How many passages are kept after reranking; 0 for all.")] = 0
    weight: Annotated[
        float, Meta(ge=0, le=1, description="The reranker's share of the score; 1 replaces the fused score.")
    ] = 0.2
    threshold: Annotated[
        float, Meta(ge=0, le=1, description="Drop passages whose relevance is below this; 0 drops none.")
    ] = 0.0
    tokens: Annotated[
        int, Meta(ge=16, le=8192, description="The most tokens of query and passage together that the reranker gets.")
    ] = 256


@dataclass(frozen=True, slots=True)
class BoostSettings:
    """Boosts for codes that query and passage share, and for passages that match a rule."""

    patterns: Annotated[
        tuple[str, ...],
        Meta(max_length=32, description="RE2 patterns of codes to boost, such as `ERR-\\d{3,6}`."),
    ] = ()
    multiplier: Annotated[
        float, Meta(ge=1, le=100, description="The factor for a passage that shares a code with the query.")
    ] = 1.5
    rules: Annotated[
        Mapping[str, Annotated[float, Meta(ge=0, le=100)]],
        Meta(
            max_length=32,
            description="Filters and what they add to the score of a matching passage, such as `type == '.md': 0.1`.",
        ),
    ] = field(default_factory=dict)
    stage: Annotated[
        Literal["fused", "reranked", "both"], Meta(description="Boost fused scores, reranked scores, or both.")
    ] = "fused"


@dataclass(frozen=True, slots=True)
class MetadataBoostSettings:
    """What a passage's metadata adds to its score; all 0 turns it off."""

    alpha: Annotated[float, Meta(ge=0, le=10, description="The weight of the score before this stage.")] = 1.0
    beta: Annotated[float, Meta(ge=0, le=10, description="The weight of entity density, quality and keywords.")] = 0.0
    gamma: Annotated[float, Meta(ge=0, le=10, description="The weight of a matching semantic type.")] = 0.0
    cap: Annotated[float, Meta(ge=0, le=10, description="The most that metadata may add.")] = 0.2
    retrieval_score: Annotated[
        float, Meta(ge=0, le=10, description="The weight of a passage's `retrieval_score`, outside the cap.")
    ] = 0.0


@dataclass(frozen=True, slots=True)
class DiversitySettings:
    """Limits on how many results come from one place."""

    per_page: Annotated[
        int,
        Meta(
            ge=0, le=1000, description="The most passages of one page, or of a document without pages; 0 for no limit."
        ),
    ] = 0
    per_source: Annotated[
        int, Meta(ge=0, le=1000, description="The most passages of one document; 0 for no limit.")
    ] = 0
    max_overlap: Annotated[
        float, Meta(ge=0, le=1, description="Overlap of text from which two passages are duplicates; 0 turns it off.")
    ] = 0.0


@dataclass(frozen=True, slots=True)
class ResultsSettings:
    """What is done to the results of every search."""

    extract_filters: Annotated[
        bool, Meta(description="Read filters such as `from 2022` or `pdf files` out of the question.")
    ] = False
    pins: Annotated[
        Mapping[str, Annotated[tuple[str, ...], Meta(max_length=50)]],
        Meta(
            max_length=256,
            description="Questions and the documents that are shown first for each; one behind a `-` is left out. "
            "`twofold pin` writes them.",
        ),
    ] = field(default_factory=dict)


NO_RESULTS = ResultsSettings()


@dataclass(frozen=True, slots=True)
class QuerySettings:
    """How a query is interpreted."""

    follow_up: Annotated[
        Literal["none", "carry", "prepend", "standalone"],
        Meta(
            description="How a conversation changes the query: not at all, complete follow-ups by rule, put it before "
            "every query, or have a language model complete the query."
        ),
    ] = "carry"
    turns: Annotated[
        int, Meta(ge=0, le=100, description="How many of the last turns of a conversation a follow-up includes.")
    ] = 3
    characters: Annotated[
        int, Meta(ge=0, le=1_000_000, description="How many characters of each answer it includes; 0 for all.")
    ] = 200
    intent_filter: Annotated[bool, Meta(description="Restrict `define X` to definitions, where there are any.")] = False


@dataclass(frozen=True, slots=True)
class QueryExpansionSettings:
    """Other queries that are searched too. What needs a language model is skipped, with a warning, without one."""

    generator: Annotated[
        str, Meta(description="The language model that rewrites queries; empty for the one that writes answers.")
    ] = ""
    multi_query: Annotated[
        int,
        Meta(
            ge=0,
            le=10,
            description="How many queries, the question included; 0 for it alone. Without a language model by rule.",
        ),
    ] = 0
    hyde: Annotated[bool, Meta(description="HyDE: also search with a hypothetical answer.")] = False
    decompose: Annotated[bool, Meta(description="Also search for the 2 to 4 simpler questions in it.")] = False
    keywords: Annotated[
        int, Meta(ge=0, le=20, description="Also search with this many keywords from a language model.")
    ] = 0
    merge: Annotated[
        Literal["best_score", "rrf"],
        Meta(description="Merge the queries by best score in each retriever, or by rank after fusion."),
    ] = "best_score"


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """Cached results for repeated queries."""

    size: Annotated[int, Meta(ge=0, le=1_000, description="How many results are cached; 0 turns the cache off.")] = 0
    ttl_seconds: Annotated[float, Meta(gt=0, le=31_536_000, description="How long a cached result is used.")] = 300.0
    semantic_threshold: Annotated[
        float,
        Meta(ge=0, le=1, description="The cosine from which a similar query gets the cached result; 1 for never."),
    ] = 0.98
    scope: Annotated[
        Literal["shared", "session"], Meta(description="Whether cached results are shared or per session.")
    ] = "shared"


@dataclass(frozen=True, slots=True)
class TimeoutSettings:
    """Timeouts in seconds; 0 for no limit."""

    embed: Annotated[float, Meta(ge=0, le=3600, description="Embedding a query.")] = 0.0
    retrieve: Annotated[float, Meta(ge=0, le=3600, description="Retrieval.")] = 60.0
    rerank: Annotated[float, Meta(ge=0, le=3600, description="Reranking.")] = 0.0
    generate: Annotated[float, Meta(ge=0, le=600, description="Generating an answer.")] = 120.0
    search: Annotated[
        float, Meta(ge=0, le=3600, description="A whole search: fewer passages are reranked as it runs out.")
    ] = 0.0
    write: Annotated[float, Meta(ge=0, le=3600, description="Waiting for another writer; 0 does not wait.")] = 5.0


@dataclass(frozen=True, slots=True)
class RetrySettings:
    """Retries of remote models that fail."""

    count: Annotated[int, Meta(ge=0, le=9, description="How many retries.")] = 0
    backoff_seconds: Annotated[
        float, Meta(ge=0, le=60, description="The wait before the first retry; it doubles each time.")
    ] = 1.0


@dataclass(frozen=True, slots=True)
class BatchSettings:
    """Batch sizes of models."""

    embed: Annotated[
        int, Meta(ge=1, le=4096, description="Passages per batch of the embedder while documents are indexed.")
    ] = 128
    rerank: Annotated[
        int, Meta(ge=0, le=1000, description="Passages per batch of the reranker; 0 for all candidates.")
    ] = 0


@dataclass(frozen=True, slots=True)
class GraphSettings:
    """A property graph for questions about relations."""

    file: Annotated[
        str, Meta(description="A SQLite file written by `twofold index graph`; empty for none.", max_length=4096)
    ] = ""


@dataclass(frozen=True, slots=True)
class LogSettings:
    """The query log, which stays on this machine."""

    queries: Annotated[
        bool, Meta(description="Log each query with its hits, times and confidence; `twofold log` shows them.")
    ] = False
    max_mb: Annotated[
        int, Meta(ge=1, le=1000, description="The size of an index's log, in MB; the oldest entries are deleted first.")
    ] = 10


@dataclass(frozen=True, slots=True)
class LimitSettings:
    """Limits for reading files and for the whole process; a file over a limit is reported as failed."""

    file_bytes: Annotated[int, Meta(ge=1, description="The largest file that is read, in bytes.")] = 50_000_000
    reader_bytes: Annotated[
        int, Meta(ge=100_000_000, description="The most memory for reading one file, in bytes.")
    ] = 1_000_000_000
    reader_seconds: Annotated[
        int, Meta(ge=1, le=3600, description="The most CPU time for reading one file, in seconds.")
    ] = 30
    archive_ratio: Annotated[int, Meta(ge=1, description="The largest compression ratio of an archive.")] = 100
    archive_depth: Annotated[int, Meta(ge=0, le=10, description="How many levels of nested archives are read.")] = 2
    memory_mb: Annotated[
        float,
        Meta(
            ge=0, le=1_000_000_000, description="Warn and collect garbage above this much memory, in MB; 0 for never."
        ),
    ] = 8_192.0


@dataclass(frozen=True, slots=True)
class PluginSettings:
    """Installed plugins, by name."""

    search: Annotated[
        tuple[str, ...], Meta(max_length=16, description="Retrievers and query transformers to use.")
    ] = ()
    ingest: Annotated[tuple[str, ...], Meta(max_length=64, description="Readers and a chunker to use.")] = ()


FORMATS = ("prelims", "mains")
"""The forms of an answer that have a name; any other text is instructions."""


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """What of the passages a model is shown."""

    tokens: Annotated[int, Meta(ge=0, le=1_000_000, description="In tokens; 0 for no limit.")] = 2_000
    characters: Annotated[int, Meta(ge=0, le=4_000_000, description="In characters; 0 for no limit.")] = 0
    fit: Annotated[
        Literal["whole", "truncate"], Meta(description="Only whole passages, or cut the last one at the limit.")
    ] = "whole"
    prune: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="Show a model only sentences that score this share of the best one's; 0 shows whole passages.",
        ),
    ] = 0.0


@dataclass(frozen=True, slots=True)
class ReplySettings:
    """How an answer is written: by a language model, or of the documents' own sentences."""

    tokens: Annotated[int, Meta(ge=16, le=32_768, description="How long a language model's answer may be.")] = 512
    plan: Annotated[
        bool,
        Meta(
            description="Have it plan and draft its answer, and write again what no passage supports; asks it two or "
            "three times."
        ),
    ] = False
    reader: Annotated[
        Literal["auto", "none"],
        Meta(
            description="What chooses the documents' own sentences: a cross-encoder where its files are here, or words "
            "and vectors alone."
        ),
    ] = "auto"


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """How answers are made."""

    min_answerability: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="Refuse to answer where `p_answerable` is below this or, of extracts, where it and `p_correct` "
            "together are below .7 of it; 0 for never. See docs/answers.md.",
        ),
    ] = 0.3
    sentences: Annotated[int, Meta(ge=1, le=50, description="The most sentences of an extractive answer.")] = 3
    template: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=4000,
            description="What a passage looks like to a model: `default`, `voicevault`, `orchestrator`, `aanae`, "
            "or a text that holds `{content}`.",
        ),
    ] = "default"
    context: Annotated[ContextSettings, Meta(description="What of the passages a model is shown.")] = field(
        default_factory=ContextSettings
    )
    format: Annotated[
        str,
        Meta(
            max_length=4000,
            description="What a model's answer looks like: `prelims` (short facts), `mains` (introduction, body, "
            "conclusion), instructions of your own, or nothing in particular.",
        ),
    ] = ""
    reply: Annotated[ReplySettings, Meta(description="How an answer is written.")] = field(
        default_factory=ReplySettings
    )
    unsupported: Annotated[
        Literal["mark", "flag", "refuse"],
        Meta(
            description="What becomes of a sentence that no passage supports: it is marked in the data, flagged in "
            "the text, or the whole answer is refused."
        ),
    ] = "mark"
    prompt: Annotated[
        str,
        Meta(max_length=20_000, description="Instructions in place of the built-in ones; `{facts}` and `{query}`."),
    ] = ""


ANSWERS_OF: Mapping[str, Mapping[str, tuple[object, str]]] = MappingProxyType(
    {
        "voicevault": {
            "answer.template": ("voicevault", "56"),
            "query": ({"follow_up": "prepend", "turns": 5, "characters": 0}, "66, C14"),
        },
        "orchestrator": {"answer.template": ("orchestrator", "57"), "answer.context": ({"tokens": 6_000}, "57, C15")},
        "localgpt": {
            "answer.context": ({"tokens": 6_000}, "59, C15"),
            "answer.unsupported": ("mark", "64"),
            "query": ({"follow_up": "prepend", "turns": 3, "characters": 200}, "67, C14"),
        },
        "aanae": {
            "answer.template": ("aanae", "58"),
            "answer.context": ({"tokens": 0, "characters": 12_000, "fit": "truncate"}, "58, C15"),
        },
    }
)
"""What the profiles of the systems before this one set of answers, each with its item of the checklist."""
