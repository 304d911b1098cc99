"""Profiles: named sets of settings, one per way of searching and one per system that the checklist describes.

A profile is data: dotted settings, each with the checklist item it comes from. What a profile does not set keeps its
default, and whatever a file, an index, the environment or a caller says is stronger. What a system states and this
program cannot have stands in the profile's `lacks`.
"""

import difflib
from collections.abc import Mapping
from types import MappingProxyType

from twofold.config.schema import ANSWERS_OF
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError

CROSS_ENCODER = "ms-marco-MiniLM-L-12-v2"
TWO_EMBEDDERS = "bge-small-en-v1.5+e5-small-v2"
"""More than either: docs/decisions/0159."""
CODE_PATTERNS = (r"ERR-\d{3,6}", r"TICKET-\d+", r"v\d+\.\d+\.\d+")
QUALITY_GATES = "chunk_quality in [ok, high] and entity_density >= 0.12 and omit_flag is false"
SHORT_SHEET_RULE = (
    "source_type == 'excel' and word_count < 40 and semantic_type_primary in [biodiversity_conservation, water_bodies]"
)


@dataclass(frozen=True, slots=True)
class Profile:
    """Settings by dotted key, under a name; `items` says which item of the checklist each comes from."""

    name: str
    aliases: tuple[str, ...]
    description: str
    values: Mapping[str, object]
    items: Mapping[str, str]
    lacks: tuple[str, ...] = ()


_Stated = Mapping[str, tuple[object, str]]


def _profile(
    name: str, description: str, stated: _Stated, *, aliases: tuple[str, ...] = (), lacks: tuple[str, ...] = ()
) -> Profile:
    values = MappingProxyType({key: value for key, (value, _) in stated.items()})
    items = MappingProxyType({key: item for key, (_, item) in stated.items()})
    return Profile(name, aliases, description, values, items, lacks)


_BALANCED = _profile("balanced", "The defaults, chosen by measurement.", {})

_PRECISE = _profile(
    "precise",
    "Few passages, reranked by a cross-encoder; those that are not relevant are dropped.",
    {
        "search.k": (3, "85"),
        "fusion.vector_weight": (0.5, "85"),
        "rerank.model": (CROSS_ENCODER, "85"),
        "rerank.candidates": (20, "50"),
        "rerank.top_n": (3, "85"),
        "rerank.threshold": (0.5, "85"),
    },
    lacks=(
        "Item 85 adds up weighted scores; here the default form of fusion and the default share of reranking stay.",
    ),
)

_RECALL = _profile(
    "recall",
    "Two embedders, vectors weigh more, twice as many candidates, and nothing is dropped.",
    {
        "embedder": (TWO_EMBEDDERS, "20, adapted"),
        "search.k": (10, "85"),
        "search.candidates": ("200", "85, adapted"),
        "fusion.vector_weight": (0.7, "85"),
        "rerank.model": ("none", "85"),
        "rerank.threshold": (0.0, "85"),
    },
    lacks=(
        "Item 85 doubles k from 5 to 10; k is 10 here by default, so it is the depth that is doubled.",
        "An index that is there keeps its embedder until `twofold index reindex`; the rest holds at once.",
    ),
)

_FAST = _profile(
    "fast",
    "Five passages by vector search only, without reranking.",
    {
        "search.k": (5, "85"),
        "search.mode": ("vector", "85"),
        "search.candidates": ("20", "25, 85"),
        "prf": ({"top_k": 0}, "85, adapted"),
        "rerank.model": ("none", "85"),
    },
)

_VOICEVAULT = _profile(
    "voicevault",
    "Three queries merged by rank, the best 20 reranked, at most two passages of a page.",
    {
        "embedder": ("all-MiniLM-L6-v2", "20"),
        "search.k": (5, "C16"),
        "search.mode": ("hybrid", "26"),
        "search.candidates": ("20", "25, C8"),
        "search.multi_index_merge": ("global", "73, C22"),
        "search.bm25": ({"k1": 1.5, "b": 0.75}, "10, as its library has it"),
        "fusion.method": ("rrf", "26, C1"),
        "prf": ({"top_k": 0}, "C1"),
        "fusion.parameters": ({"rrf_k": 60.0}, "26"),
        "rerank.model": (CROSS_ENCODER, "48"),
        "rerank.candidates": (20, "48"),
        "rerank.weight": (1.0, "C11"),
        "diversity": ({"per_page": 2}, "46"),
        "query_expansion": ({"multi_query": 3, "merge": "best_score"}, "32, 36, C21"),
        **ANSWERS_OF["voicevault"],
    },
    aliases=("rrf-diverse",),
    lacks=("Variants of the question (36) are written by a generator where one is named; else two are made by rule.",),
)

_ORCHESTRATOR = _profile(
    "orchestrator",
    "0.6 vector and 0.4 BM25, boosts for codes, the best 20 reranked, only relevant passages kept.",
    {
        "search.k": (5, "85, C16"),
        "search.mode": ("hybrid", "85"),
        "search.candidates": ("20", "25, C8"),
        "search.bm25": ({"k1": 1.5, "b": 0.75}, "10"),
        "search.filter_stage": ("post", "C10"),
        "fusion.method": ("weighted_sum", "27, C4"),
        "prf": ({"top_k": 0}, "C1"),
        "fusion.vector_weight": (0.6, "27, C2"),
        "fusion.parameters": ({"bm25_norm": "max", "vector_norm": "clip"}, "27, C5"),
        "boost": ({"patterns": CODE_PATTERNS, "multiplier": 1.5, "stage": "fused"}, "41, C11"),
        "rerank.model": (CROSS_ENCODER, "48"),
        "rerank.candidates": (20, "50"),
        "rerank.top_n": (5, "50"),
        "rerank.threshold": (0.3, "50, C12"),
        "rerank.weight": (1.0, "C11"),
        **ANSWERS_OF["orchestrator"],
    },
    aliases=("weighted-rerank",),
    lacks=(
        "text-embedding-ada-002 (20) is a server's model: name your server in `embedder`; the default embedder stays.",
        "ms-marco-MiniLM-L-6-v2 (48) is not in the catalog; its larger sibling of 12 layers reads instead.",
    ),
)

_LOCALGPT_SHARED: _Stated = {
    "search.multi_index_merge": ("rerank", "74, C22"),
    "search.on_failure": ("degrade", "75, C17"),
    "search.context_window": (5, "59, 86"),
    "fusion.method": ("linear", "29"),
    "prf": ({"top_k": 0}, "C1"),
    "fusion.parameters": ({"bm25_norm": "max", "vector_norm": "none"}, "29, C5"),
    "rerank.fallback": (CROSS_ENCODER, "48, 52"),
    "rerank.candidates": (20, "86, C3"),
    "rerank.weight": (1.0, "C11"),
    "cache": ({"size": 100, "ttl_seconds": 300.0, "semantic_threshold": 0.98, "scope": "shared"}, "68"),
    "batch": ({"embed": 32, "rerank": 16}, "71"),
    "search.max_results": (100, "71"),
    "timeouts": ({"embed": 30.0, "retrieve": 60.0, "rerank": 30.0, "generate": 120.0}, "71"),
    **ANSWERS_OF["localgpt"],
}
_LOCALGPT_LACKS = (
    "Qwen3-Embedding-0.6B (20): the default embedder stays; `sentence-transformers:Qwen/Qwen3-Embedding-0.6B` has it.",
    "answerai-colbert-small-v1 (49): a cross-encoder reads; `rerank.model: late-interaction` compares token by token.",
    "bge-reranker-base (48): the cross-encoder of the catalog stands for it.",
    "qwen3:8b and qwen3:0.6b (65): no server is asked unless you name one in `generator`, as `ollama/qwen3:8b`.",
    "A bare model's answer where search fails (75, C17) is given where `search.on_failure` is `llm`, never unasked.",
    "Passages of at most 2,048 (6): see `chunk.size`.",
)

_LOCALGPT = _profile(
    "localgpt",
    "0.7 vector and 0.3 BM25, the best 20 reranked to 10, five neighbors on either side, a result cache.",
    {
        "search.k": (10, "C3, C16"),
        "search.mode": ("hybrid", "86, C3"),
        "search.candidates": ("20", "25, 86, C3"),
        "fusion.vector_weight": (0.7, "29, C2"),
        "rerank.model": (CROSS_ENCODER, "48, 49, 86"),
        "rerank.top_n": (10, "86, C3"),
        **_LOCALGPT_SHARED,
    },
    aliases=("linear-local",),
    lacks=_LOCALGPT_LACKS,
)

_LOCALGPT_UI = _profile(
    "localgpt-ui",
    "As localgpt, with the defaults of its web page: BM25 only, a vector weight of 0.5, ten candidates.",
    {
        "search.k": (10, "86, C3"),
        "search.mode": ("bm25", "35, 86, C3"),
        "search.candidates": ("10", "86, C3"),
        "fusion.vector_weight": (0.5, "86, C3"),
        "rerank.model": ("none", "53, 86"),
        "rerank.top_n": (0, "86, C3"),
        **_LOCALGPT_SHARED,
    },
    aliases=("linear-local-ui",),
    lacks=_LOCALGPT_LACKS,
)

_MODES = _profile(
    "modes",
    "Half vector, half BM25: raw cosines, BM25 divided by its maximum. Any mode on request.",
    {
        "embedder": ("all-MiniLM-L6-v2", "20"),
        "search.mode": ("hybrid", "35, C20"),
        "search.bm25": ({"k1": 1.5, "b": 0.75}, "10"),
        "fusion.method": ("linear", "28"),
        "prf": ({"top_k": 0}, "C1"),
        "fusion.vector_weight": (0.5, "28, C2"),
        "fusion.parameters": ({"bm25_norm": "max", "vector_norm": "clip"}, "28, C6"),
        "rerank.model": ("none", "28"),
    },
    lacks=("It states no k, no depth and no constant for ranks: the defaults stay.",),
)

_AANAE_STATED: _Stated = {
    "analyzer": ("simple", "13, C9"),
    "enricher": ("rules+keywords", "7"),
    "search.k": (5, "C16"),
    "search.mode": ("hybrid", "30"),
    "search.candidates": ("5x", "25, C8"),
    "search.default_filter": (QUALITY_GATES, "45"),
    "search.filter_stage": ("pre", "C10"),
    "search.on_failure": ("degrade", "77, C17"),
    "fusion.method": ("additive", "30, C1, C2"),
    "prf": ({"top_k": 0}, "C1"),
    "fusion.vector_weight": (0.7, "30, C2"),
    "fusion.parameters": ({"bm25_weight": 0.35, "bm25_norm": "max", "vector_norm": "none"}, "30, C2, C5, adapted"),
    "boost": ({"rules": {SHORT_SHEET_RULE: 0.15}, "stage": "fused"}, "42, C11"),
    "rerank.model": (CROSS_ENCODER, "48"),
    "rerank.candidates": (50, "25, 48"),
    "rerank.top_n": (10, "C16"),
    "rerank.weight": (1.0, "C11"),
    "rerank.tokens": (512, "51"),
    "metadata_boost": ({"beta": 0.0, "gamma": 0.0}, "81"),
    "query": ({"intent_filter": True}, "40"),
    "retries": ({"count": 3, "backoff_seconds": 1.0}, "78, C18"),
    **ANSWERS_OF["aanae"],
}
_AANAE_LACKS = (
    "bge-large-en-v1.5 (20) and its other prefix (21): the default embedder is its small sibling.",
    "bge-reranker-large (48) is not in the catalog; a smaller cross-encoder reads instead.",
    "Three retries wait 1, 2 and 4 seconds (C18); for three attempts set the count of `retries` to 2.",
)

_AANAE = _profile(
    "aanae",
    "Vector score plus 0.35 BM25, a quality filter, the order of a cross-encoder, three retries.",
    _AANAE_STATED,
    aliases=("additive-gated",),
    lacks=(
        *_AANAE_LACKS,
        "ts_rank_cd (15) lies between 0 and 1 and BM25 does not: it is divided by its best before 0.35 of it counts.",
    ),
)

_AANAE_LOCAL = _profile(
    "aanae-local",
    "As aanae without its database: the cosine of TF-IDF, not normalized, instead of BM25 divided by its maximum.",
    {
        **_AANAE_STATED,
        "search.bm25": ({"scorer": "tfidf"}, "15, 79"),
        "fusion.parameters": ({"bm25_weight": 0.35, "bm25_norm": "none", "vector_norm": "none"}, "30, 79, C2, C5"),
    },
    aliases=("additive-gated-local",),
    lacks=_AANAE_LACKS,
)

PROFILES: tuple[Profile, ...] = (
    _BALANCED,
    _PRECISE,
    _RECALL,
    _FAST,
    _VOICEVAULT,
    _ORCHESTRATOR,
    _LOCALGPT,
    _LOCALGPT_UI,
    _MODES,
    _AANAE,
    _AANAE_LOCAL,
)
_BY_NAME = {name: profile for profile in PROFILES for name in (profile.name, *profile.aliases)}


def profile_named(name: str) -> Profile:
    """Return a profile by its name or an alias. Raises InvalidInputError, with the nearest name, for any other.

    >>> profile_named("additive-gated").name
    'aanae'
    """
    found = _BY_NAME.get(name)
    if found is None:
        near = difflib.get_close_matches(name, _BY_NAME, 1)
        hint = f"Did you mean {near[0]}?" if near else "`twofold config profiles` lists them."
        raise InvalidInputError(f"There is no profile {name[:80]!r}.", hint)
    return found
