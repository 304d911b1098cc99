"""What can be set, group by group, each dial with its range, its default and its line of documentation."""

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
    """How documents are cut into passages."""

    strategy: Annotated[
        ChunkStrategy,
        Meta(
            description="Where passages are cut: at the document's own parts, where meaning shifts, at its parts and "
            "where meaning shifts in long ones, or by size alone."
        ),
    ] = "structure"
    size: Annotated[int, Meta(ge=16, le=8192, description="Length of a passage, in the embedder's own tokens.")] = 256
    overlap: Annotated[int, Meta(ge=0, le=4096, description="Tokens that neighboring passages share.")] = 0


@dataclass(frozen=True, slots=True)
class Bm25Settings:
    """How words score."""

    scorer: Annotated[
        Literal["bm25", "tfidf"],
        Meta(description="BM25, or the cosine of TF-IDF vectors as scikit-learn has it, in [0, 1]."),
    ] = "bm25"
    k1: Annotated[float, Meta(ge=0, le=10, description="How soon repeats of a word stop counting.")] = 1.2
    b: Annotated[float, Meta(ge=0, le=1, description="How much long passages are held back.")] = 0.75


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """What a search does unless the caller says otherwise."""

    k: Annotated[int, Meta(ge=1, le=1000, description="How many passages a search gives.")] = 10
    max_results: Annotated[
        int, Meta(ge=1, le=1000, description="The most passages that a search gives, whatever it is asked for.")
    ] = 1000
    mode: Annotated[
        Mode, Meta(description="Which retrievers look: words and meaning, words alone, or meaning alone.")
    ] = "hybrid"
    candidates: Annotated[
        str,
        Meta(
            pattern=r"^[1-9][0-9]{0,4}x?$",
            examples=["100", "5x"],
            description="How many candidates each retriever hands to the fusion, or how many times k: `100`, `5x`.",
        ),
    ] = "100"
    bm25: Annotated[Bm25Settings, Meta(description="How words score.")] = field(default_factory=Bm25Settings)
    default_filter: Annotated[
        str,
        Meta(description="A filter that every search has, such as `chunk_quality in [ok, high]`; empty for none."),
    ] = ""
    filter_stage: Annotated[
        Literal["pre", "post"], Meta(description="Filter before the retrievers choose, or after the fusion.")
    ] = "pre"
    multi_index_merge: Annotated[
        Literal["global", "rrf", "rerank"],
        Meta(description="How several indexes become one answer: as if they were one, by rank, or by the reranker."),
    ] = "global"
    context_window: Annotated[
        int, Meta(ge=0, le=50, description="How many neighbors on either side are given with each passage.")
    ] = 0
    on_failure: Annotated[
        Literal["degrade", "empty", "llm", "raise"],
        Meta(
            description="When a part fails: go on with what is left, give nothing, let the bare model answer where the "
            "search failed, or raise the error."
        ),
    ] = "degrade"


@dataclass(frozen=True, slots=True)
class FusionParameters:
    """What single fusion methods take; a method ignores what is not its own."""

    rrf_k: Annotated[
        float, Meta(ge=0, le=100_000, description="The k of `1 / (k + rank)` in `rrf` and `weighted_rrf`.")
    ] = 60.0
    bm25_weight: Annotated[float, Meta(ge=0, le=100, description="What words add to meaning in `additive`.")] = 0.35
    bm25_norm: Annotated[Norm, Meta(description="How BM25 is normalized; not for `convex`, the ranks and `dbsf`.")] = (
        "max"
    )
    vector_norm: Annotated[
        Norm, Meta(description="How cosines are normalized; not for `convex`, the ranks, `dbsf`.")
    ] = "clip"


@dataclass(frozen=True, slots=True)
class FusionSettings:
    """How what words and what meaning found become one order."""

    method: Annotated[
        FusionForm, Meta(description="How the retrievers are joined; docs/search.md has the formulas.")
    ] = "adaptive"
    vector_weight: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="The share of meaning in a hybrid score; for `adaptive`, where both retrievers see alike.",
        ),
    ] = 0.6
    parameters: Annotated[FusionParameters, Meta(description="What single methods take.")] = field(
        default_factory=FusionParameters
    )


@dataclass(frozen=True, slots=True)
class PrfSettings:
    """What the passages that were found first add to a hybrid question."""

    top_k: Annotated[int, Meta(ge=0, le=20, description="How many passages are looked at; 0 leaves it out.")] = 5
    terms: Annotated[int, Meta(ge=1, le=100, description="How many terms of each passage count.")] = 30
    weight: Annotated[float, Meta(ge=0, lt=1, description="The share of what is added in the question's words.")] = 0.5
    temperature: Annotated[
        float, Meta(gt=0, le=100, description="The difference of scores by which a passage counts e times as much.")
    ] = 0.05
    dense_terms: Annotated[
        int, Meta(ge=0, le=50, description="Terms taken from what meaning found first; needs no model. 0 for none.")
    ] = 0


@dataclass(frozen=True, slots=True)
class RerankSettings:
    """The model that reads the best candidates again."""

    model: Annotated[str, Meta(min_length=1, description="Its name, see `twofold models list`; `none` for none.")] = (
        "none"
    )
    fallback: Annotated[str, Meta(description="The model that reads where the first one fails; empty for none.")] = ""
    candidates: Annotated[int, Meta(ge=1, le=1000, description="How many passages it reads.")] = 20
    top_n: Annotated[int, Meta(ge=0, le=1000, description="How many are kept after it; 0 for all.")] = 0
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
        Literal["fused", "reranked", "both"], Meta(description="Lift fused scores, reranked ones, or both.")
    ] = "fused"


@dataclass(frozen=True, slots=True)
class MetadataBoostSettings:
    """What passages' own fields add to a score; all 0 leaves them out."""

    alpha: Annotated[float, Meta(ge=0, le=10, description="Alpha: how much the score so far counts.")] = 1.0
    beta: Annotated[
        float, Meta(ge=0, le=10, description="Beta: how much entity density, quality and keywords count.")
    ] = 0.0
    gamma: Annotated[float, Meta(ge=0, le=10, description="Gamma: how much a fitting semantic type counts.")] = 0.0
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
    max_overlap: Annotated[
        float, Meta(ge=0, le=1, description="Share of text from which two passages count as one; 0 for never.")
    ] = 0.0


@dataclass(frozen=True, slots=True)
class QuerySettings:
    """How a query is read."""

    follow_up: Annotated[
        Literal["none", "carry", "prepend", "standalone"],
        Meta(
            description="What a conversation does to a question: nothing, complete a follow-up by rule, go before "
            "every question, or complete it by a generator."
        ),
    ] = "carry"
    intent_filter: Annotated[bool, Meta(description="Narrow `define X` to definitions, where there are any.")] = False


@dataclass(frozen=True, slots=True)
class QueryExpansionSettings:
    """What else is asked beside the question. A part that needs a generator says so when there is none."""

    generator: Annotated[
        str, Meta(description="The language model that rewords questions; empty for the one that writes answers.")
    ] = ""
    multi_query: Annotated[
        int,
        Meta(
            ge=0,
            le=10,
            description="Wordings, the question included; 0 for it alone. Without a generator two more by rule.",
        ),
    ] = 0
    hyde: Annotated[bool, Meta(description="Also look for what a made-up answer looks like.")] = False
    decompose: Annotated[bool, Meta(description="Also ask the 2 to 4 simpler questions in it.")] = False
    keywords: Annotated[int, Meta(ge=0, le=20, description="Also ask with so many keywords of a generator's.")] = 0
    merge: Annotated[
        Literal["best_score", "rrf"],
        Meta(description="Join wordings in each retriever by best score, or after fusion by rank."),
    ] = "best_score"


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """Answers kept for questions that come again."""

    size: Annotated[int, Meta(ge=0, le=1_000, description="How many answers are kept; 0 for none.")] = 0
    ttl_seconds: Annotated[float, Meta(gt=0, le=31_536_000, description="How long an answer is good for.")] = 300.0
    semantic_threshold: Annotated[
        float,
        Meta(ge=0, le=1, description="A question closer than this to an earlier one has its answer; 1 for never."),
    ] = 0.98
    scope: Annotated[Literal["shared", "session"], Meta(description="Whose answers may be given again.")] = "shared"


@dataclass(frozen=True, slots=True)
class TimeoutSettings:
    """How long is waited, in seconds; 0 for no limit."""

    embed: Annotated[float, Meta(ge=0, le=3600, description="To embed a question.")] = 0.0
    retrieve: Annotated[float, Meta(ge=0, le=3600, description="For the retrievers.")] = 60.0
    rerank: Annotated[float, Meta(ge=0, le=3600, description="For the reranker.")] = 0.0
    generate: Annotated[float, Meta(ge=0, le=600, description="For the generator.")] = 120.0
    search: Annotated[
        float, Meta(ge=0, le=3600, description="For a search, by which the reranker reads fewer passages.")
    ] = 0.0
    write: Annotated[float, Meta(ge=0, le=3600, description="For another process that writes; 0 does not wait.")] = 5.0


@dataclass(frozen=True, slots=True)
class RetrySettings:
    """How often a remote model that fails is asked again."""

    count: Annotated[int, Meta(ge=0, le=9, description="How often a part that is out of reach is asked again.")] = 0
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
class LimitSettings:
    """What reading a file and the whole process may cost; a file over a limit is one failure that the report names."""

    file_bytes: Annotated[int, Meta(ge=1, description="The largest file that is read, in bytes.")] = 50_000_000
    reader_bytes: Annotated[
        int, Meta(ge=100_000_000, description="Memory a worker may take while it reads one file, in bytes.")
    ] = 1_000_000_000
    reader_seconds: Annotated[
        int, Meta(ge=1, le=3600, description="Processor time a worker may take for one file.")
    ] = 30
    archive_ratio: Annotated[int, Meta(ge=1, description="How many times its size a packed file may unpack to.")] = 100
    archive_depth: Annotated[int, Meta(ge=0, le=10, description="How deep archives may lie in archives.")] = 2
    memory_mb: Annotated[
        float,
        Meta(ge=0, le=1_000_000_000, description="Warn and collect garbage above this much memory; 0 for never."),
    ] = 8_192.0


@dataclass(frozen=True, slots=True)
class PluginSettings:
    """Installed parts of the user's own, by name."""

    search: Annotated[
        tuple[str, ...], Meta(max_length=16, description="Retrievers and transformers that are installed, by name.")
    ] = ()
    ingest: Annotated[
        tuple[str, ...], Meta(max_length=64, description="Readers, and a chunker, that are installed, by name.")
    ] = ()


FORMATS = ("prelims", "mains")
"""The forms of an answer that have a name; any other text is instructions."""


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """How much room passages have in what a model reads."""

    tokens: Annotated[int, Meta(ge=0, le=1_000_000, description="In tokens; 0 for no limit.")] = 2_000
    characters: Annotated[int, Meta(ge=0, le=4_000_000, description="In characters; 0 for no limit.")] = 0
    fit: Annotated[
        Literal["whole", "truncate"], Meta(description="Give whole passages alone, or cut at the limit.")
    ] = "whole"


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """What becomes of the passages that a search found."""

    min_answerability: Annotated[
        float,
        Meta(ge=0, le=1, description="Refuse where `p_answerable` is below this; 0 for never. See docs/answers.md."),
    ] = 0.3
    sentences: Annotated[
        int, Meta(ge=1, le=50, description="How many sentences an answer without a language model has at most.")
    ] = 4
    template: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=4000,
            description="What a passage looks like to a model: `default`, `voicevault`, `orchestrator`, `aanae`, "
            "or a text that holds `{content}`.",
        ),
    ] = "default"
    context: Annotated[ContextSettings, Meta(description="Room for passages in what a model reads.")] = field(
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
    plan: Annotated[
        bool,
        Meta(
            description="Have a model plan and draft its answer, and write again what no passage bears out; asks it "
            "two or three times."
        ),
    ] = False
    prune: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="Show a model only sentences that score this share of the best one's; 0 shows whole passages.",
        ),
    ] = 0.0
    reply_tokens: Annotated[int, Meta(ge=16, le=32_768, description="How long a model's answer may be.")] = 512
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
            "query": ({"follow_up": "prepend"}, "66"),
            "history": ({"turns": 5, "characters": 0}, "66, C14"),
        },
        "orchestrator": {"answer.template": ("orchestrator", "57"), "answer.context": ({"tokens": 6_000}, "57, C15")},
        "localgpt": {
            "answer.context": ({"tokens": 6_000}, "59, C15"),
            "answer.unsupported": ("mark", "64"),
            "query": ({"follow_up": "prepend"}, "67"),
            "history": ({"turns": 3, "characters": 200}, "67, C14"),
        },
        "aanae": {
            "answer.template": ("aanae", "58"),
            "answer.context": ({"tokens": 0, "characters": 12_000, "fit": "truncate"}, "58, C15"),
        },
    }
)
"""What the profiles of the systems before this one set of answers, each with its item of the checklist."""
