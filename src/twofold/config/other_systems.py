"""Configurations of the systems that the checklist describes, read as settings of ours.

A file may hold the tree `retrieval: ... llm: ...`, the flags `searchType, retrievalK, ...`, the three maps
`RETRIEVAL_CONFIG`, `MODEL_CONFIG` and `PERFORMANCE_CONFIG`, or the flat `retrieval_mode, bm25_k1, ...`. Each chooses
the profile of its system, unless the file names one, and then sets what it says. What has no counterpart is named in
`unused`; a name that is in no table here is refused. `docs/seed-settings.md` shows the tables.
"""

import difflib
import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from twofold.config.profiles import CODE_PATTERNS, CROSS_ENCODER
from twofold.config.settings import grouped
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError

_EMBEDDER = "all-MiniLM-L6-v2"
_RETRIEVERS: Mapping[str, str] = MappingProxyType(
    {
        "fts": "bm25",
        "bm25": "bm25",
        "dense": "vector",
        "vector": "vector",
        "semantic": "vector",
        "hybrid": "hybrid",
    }
)
_CHUNKERS: Mapping[str, str] = MappingProxyType(
    {"semantic": "semantic", "layout": "structure", "hybrid": "hybrid", "structure": "structure", "fixed": "fixed"}
)
_FUSION_METHODS: Mapping[str, str] = MappingProxyType({"weighted": "linear", "rrf": "rrf"})
_NO_MODEL = ("Qwen/Qwen3-Embedding-0.6B", "BAAI/bge-large-en-v1.5", "text-embedding-ada-002", "text-embedding-3-large")
_MODELS: Mapping[str, str] = MappingProxyType(
    {
        "ms-marco-MiniLM-L12-v2": CROSS_ENCODER,
        "cross-encoder/ms-marco-MiniLM-L-12-v2": CROSS_ENCODER,
        "cross-encoder/ms-marco-MiniLM-L-6-v2": CROSS_ENCODER,
        "ms-marco-MiniLM-L-6-v2": CROSS_ENCODER,
        "BAAI/bge-reranker-large": CROSS_ENCODER,
        "BAAI/bge-reranker-base": CROSS_ENCODER,
        "answerdotai/answerai-colbert-small-v1": CROSS_ENCODER,
        "sentence-transformers/all-MiniLM-L6-v2": _EMBEDDER,
    }
)


class Toggle(NamedTuple):
    """A switch: what it sets when off, whatever else is said, and when on, where nothing else is said."""

    key: str
    off: object
    on: object


class Weights(NamedTuple):
    """Two weights that become one share of meaning, and what each is where only the other is said."""

    meaning: str
    words: str
    defaults: tuple[float, float]


RENAMED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "retrieval.top_k": ("search.k",),
        "retrieval.domain_boost.boost_multiplier": ("boost.multiplier",),
        "retrieval.domain_boost.code_patterns": ("boost.patterns",),
        "retrieval.reranking.model": ("rerank.model",),
        "retrieval.reranking.top_k_initial": ("rerank.candidates",),
        "retrieval.reranking.top_k_final": ("rerank.top_n",),
        "retrieval.reranking.relevance_threshold": ("rerank.threshold",),
        "llm.max_context_tokens": ("answer.context.tokens",),
        "llm.context_template": ("answer.template",),
        "searchType": ("search.mode",),
        "retrievalK": ("search.candidates",),
        "contextWindowSize": ("search.context_window",),
        "rerankerTopK": ("rerank.candidates",),
        "denseWeight": ("fusion.vector_weight",),
        "RETRIEVAL_CONFIG.search_type": ("search.mode",),
        "RETRIEVAL_CONFIG.retrieval_k": ("search.candidates",),
        "RETRIEVAL_CONFIG.reranker_top_k": ("search.k", "rerank.top_n"),
        "RETRIEVAL_CONFIG.dense_weight": ("fusion.vector_weight",),
        "RETRIEVAL_CONFIG.late_chunking.window_size": ("search.context_window",),
        "RETRIEVAL_CONFIG.cache_ttl": ("cache.ttl_seconds",),
        "RETRIEVAL_CONFIG.semantic_cache_threshold": ("cache.semantic_threshold",),
        "MODEL_CONFIG.embedding_model": ("embedder",),
        "MODEL_CONFIG.reranker_model": ("rerank.model",),
        "MODEL_CONFIG.fallback_reranker": ("rerank.fallback",),
        "PERFORMANCE_CONFIG.timeouts.embedding": ("timeouts.embed",),
        "PERFORMANCE_CONFIG.timeouts.retrieval": ("timeouts.retrieve",),
        "PERFORMANCE_CONFIG.timeouts.reranking": ("timeouts.rerank",),
        "PERFORMANCE_CONFIG.timeouts.synthesis": ("timeouts.generate",),
        "PERFORMANCE_CONFIG.batch_sizes.embedding": ("batch.embed",),
        "PERFORMANCE_CONFIG.batch_sizes.reranking": ("batch.rerank",),
        "PERFORMANCE_CONFIG.memory_limits.max_results_per_query": ("search.max_results",),
        "PERFORMANCE_CONFIG.memory_limits.max_cache_size": ("cache.size",),
        "retrieval_mode": ("search.mode",),
        "chunking_strategy": ("chunk.strategy",),
        "embedding_model": ("embedder",),
        "bm25_k1": ("search.bm25.k1",),
        "bm25_b": ("search.bm25.b",),
        "hybrid_fusion_method": ("fusion.method",),
    }
)
TOGGLES: Mapping[str, Toggle] = MappingProxyType(
    {
        "retrieval.hybrid_search.enabled": Toggle("search.mode", "vector", "hybrid"),
        "retrieval.domain_boost.enabled": Toggle("boost.patterns", (), CODE_PATTERNS),
        "retrieval.reranking.enabled": Toggle("rerank.model", "none", CROSS_ENCODER),
        "verify": Toggle("answer.unsupported", "mark", "flag"),
        "RETRIEVAL_CONFIG.verify_answers": Toggle("answer.unsupported", "mark", "flag"),
        "aiRerank": Toggle("rerank.model", "none", CROSS_ENCODER),
        "RETRIEVAL_CONFIG.ai_rerank": Toggle("rerank.model", "none", CROSS_ENCODER),
        "RETRIEVAL_CONFIG.late_chunking.enabled": Toggle("search.context_window", 0, 5),
        "RETRIEVAL_CONFIG.cache_enabled": Toggle("cache.size", 0, 100),
    }
)
WEIGHTS = (
    Weights("retrieval.hybrid_search.semantic_weight", "retrieval.hybrid_search.keyword_weight", (0.6, 0.4)),
    Weights("hybrid_semantic_weight", "hybrid_bm25_weight", (0.5, 0.5)),
)
UNUSED: Mapping[str, str] = MappingProxyType(
    {
        "MODEL_CONFIG.generation_model": "no server is asked unless you name it in `generator`",
        "MODEL_CONFIG.enrichment_model": "rules enrich here; name a server of yours in `generator` for rewriting",
        "RETRIEVAL_CONFIG.retriever": "there is one retriever; `search.mode` chooses its retrievers",
        "PERFORMANCE_CONFIG.batch_sizes.synthesis": "one answer is written at a time",
        "PERFORMANCE_CONFIG.memory_limits.chunk_size_limit": "`chunk.size` is the limit, in tokens",
        "device": "`device` here is auto, cpu or gpu, whatever the make of the GPU",
    }
)
_WORDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "searchType": _RETRIEVERS,
        "RETRIEVAL_CONFIG.search_type": _RETRIEVERS,
        "retrieval_mode": _RETRIEVERS,
        "hybrid_fusion_method": _FUSION_METHODS,
        "chunking_strategy": _CHUNKERS,
    }
)
_FLAGS = ("searchType", "retrievalK", "contextWindowSize", "rerankerTopK", "denseWeight", "aiRerank")
_MAPS = ("RETRIEVAL_CONFIG", "MODEL_CONFIG", "PERFORMANCE_CONFIG")
_PLAIN = (
    "retrieval_mode", "bm25_k1", "bm25_b", "hybrid_fusion_method", "hybrid_semantic_weight", "hybrid_bm25_weight",
    "chunking_strategy",
)  # fmt: skip
_PROFILES: Mapping[str, str] = MappingProxyType(
    {
        "retrieval": "orchestrator",
        **dict.fromkeys(_FLAGS, "localgpt-ui"),
        **dict.fromkeys(_MAPS, "localgpt"),
        **dict.fromkeys(_PLAIN, "modes"),
    }
)
KNOWN: Sequence[str] = (
    *RENAMED,
    *TOGGLES,
    *(key for pair in WEIGHTS for key in (pair.meaning, pair.words)),
    *UNUSED,
)
_TOPS = frozenset(key.partition(".")[0] for key in KNOWN)
_GROUPS = frozenset(key[:end] for key in KNOWN for end in range(len(key)) if key[end] == ".")


@dataclass(frozen=True, slots=True)
class Translation:
    """Settings by our dotted keys, the name each had in the file, what has no counterpart, and what was ours."""

    values: Mapping[str, object]
    names: Mapping[str, str]
    unused: tuple[str, ...]
    rest: Mapping[object, object]


@dataclass(frozen=True, slots=True)
class _Found:
    """What a setting of ours is to be, and the name that says so."""

    value: object
    name: str


def translated(content: Mapping[object, object], where: str = "the configuration") -> Translation:
    """Part a configuration into what the tables know and the rest, and turn the former into settings of ours.

    `{"retrieval": {"top_k": 3, "hybrid_search": {"enabled": False}}}` sets `profile: orchestrator`, `search.k: 3` and
    `search.mode: vector`. Values are checked where all settings are. `where` is for messages.
    Raises InvalidInputError for a name that is in no table, two names that disagree about one setting, a switch that is
    not true or false, and weights that are no numbers.
    """
    foreign = {str(key): value for key, value in content.items() if key in _TOPS}
    rest = {key: value for key, value in content.items() if key not in _TOPS}
    if not foreign:
        return Translation({}, {}, (), rest)
    said = dict(_leaves(foreign, "", where))
    profile = _profile_of(foreign, where) if "profile" not in rest else None
    found: dict[str, _Found] = {"profile": profile} if profile else {}
    unused = [key for key in said if key in UNUSED]
    for key, value in said.items():
        if RENAMED.get(key) == ("embedder",) and value in _NO_MODEL:
            unused.append(key)
            continue
        for ours in RENAMED.get(key, ()):
            _put(found, ours, _Found(_value(key, value, where), key), where)
    _weigh(found, said, where)
    _switch(found, said, where)
    values = grouped({key: one.value for key, one in found.items()})
    names: dict[str, str] = {}
    for key, one in found.items():
        setting = key if key in values else key.rpartition(".")[0]
        names[setting] = f"{names[setting]}, {one.name}" if setting in names else one.name
    return Translation(values, names, tuple(unused), rest)


def stand_ins() -> Mapping[str, str]:
    """Return for models of other systems those that stand for them here; none for one that has no stand-in."""
    return {**_MODELS, **dict.fromkeys(_NO_MODEL, "")}


def words_of(key: str) -> Mapping[str, str]:
    """Return the values that a name takes, with ours; empty where values are taken as they are."""
    return _WORDS.get(key, MappingProxyType({}))


def _leaves(content: Mapping[Any, object], front: str, where: str) -> Iterator[tuple[str, object]]:
    for name, value in content.items():
        key = f"{front}{name}"
        if key in KNOWN:
            yield key, value
        elif key in _GROUPS and isinstance(value, Mapping):
            yield from _leaves(value, f"{key}.", where)
        elif key in _GROUPS:
            raise InvalidInputError(f"{key} in {where} must hold `name: value` lines.", "See docs/seed-settings.md.")
        else:
            near = difflib.get_close_matches(key, KNOWN, 1)
            hint = f"Did you mean {near[0]}?" if near else "docs/seed-settings.md lists what is known."
            raise InvalidInputError(f"{key} ({where}) is no setting.", hint)


def _profile_of(foreign: Mapping[str, object], where: str) -> _Found | None:
    names = {_PROFILES[top]: top for top in foreign if top in _PROFILES}
    if len(names) > 1:
        both = " and ".join(sorted(names))
        raise InvalidInputError(f"{where} mixes settings of {both}.", "Say which one it is: profile: NAME.")
    return next((_Found(name, top) for name, top in names.items()), None)


def _value(key: str, value: object, where: str) -> object:
    words = _WORDS.get(key)
    if words is None:
        return _MODELS.get(value, value) if isinstance(value, str) else value
    found = words.get(value.lower()) if isinstance(value, str) else None
    if found is None:
        raise InvalidInputError(f"{key} ({where}) cannot be {value!r}.", f"It must be one of {', '.join(words)}.")
    return found


def _weigh(found: dict[str, _Found], said: Mapping[str, object], where: str) -> None:
    for pair in WEIGHTS:
        if pair.meaning not in said and pair.words not in said:
            continue
        name = pair.meaning if pair.meaning in said else pair.words
        meaning = _weight(pair.meaning, said.get(pair.meaning, pair.defaults[0]), where)
        words = _weight(pair.words, said.get(pair.words, pair.defaults[1]), where)
        total = meaning + words
        if not total > 0:
            raise InvalidInputError(
                f"{pair.meaning} and {pair.words} ({where}) are both 0.", "Give one of them weight."
            )
        share = meaning if math.isclose(total, 1.0) else meaning / total
        _put(found, "fusion.vector_weight", _Found(share, name), where)


def _weight(key: str, value: object, where: str) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf:
        return value
    raise InvalidInputError(f"{key} ({where}) cannot be {value!r}.", "It must be a number of at least 0.")


def _switch(found: dict[str, _Found], said: Mapping[str, object], where: str) -> None:
    """Turn switches: off wins over what else is said of the part, on keeps it and fills in what is missing."""
    for key, toggle in TOGGLES.items():
        if key not in said:
            continue
        on = said[key]
        if not isinstance(on, bool):
            raise InvalidInputError(f"{key} ({where}) cannot be {on!r}.", "It must be true or false.")
        if not on or toggle.key not in found:
            found[toggle.key] = _Found(toggle.on if on else toggle.off, key)
    if "searchType" in said and "aiRerank" not in said and found["search.mode"].value == "hybrid":
        found.setdefault(
            "rerank.model", _Found(CROSS_ENCODER, "searchType")
        )  # its rule (53): rerank where search is hybrid


def _put(found: dict[str, _Found], key: str, one: _Found, where: str) -> None:
    before = found.get(key)
    if before is not None and before.value != one.value:
        raise InvalidInputError(
            f"{before.name} and {one.name} ({where}) disagree about {key}.", "Leave one of them out."
        )
    found[key] = one
