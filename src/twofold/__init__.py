"""Twofold: search and answers over your own documents with BM25 and vectors, every score explained.

    from twofold import Index

    with Index("notes") as index:
        index.sync("docs/")
        for hit in index.search("how do I undo the last commit").hits:
            print(hit.rank, hit.score, hit.source, hit.text)

The names below are loaded when they are first used: a process that only reads documents loads no search.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from twofold.answer.types import Answer, Citation
    from twofold.config.load import Settings, load_settings
    from twofold.domain.errors import TwofoldError
    from twofold.domain.filters import And, Condition, Filter, Not, Operator, Or
    from twofold.domain.types import Chunk, Document, DocumentInfo
    from twofold.domain.warning import StageWarning, WarningCode
    from twofold.index import Index
    from twofold.indexing.types import SyncPlan, SyncReport
    from twofold.multi_index import MultiIndex, search_multi
    from twofold.plugins import Plugins
    from twofold.ranking.fusion import RetrieverTrace
    from twofold.search.engine import SearchOptions
    from twofold.search.result import Hit, HitTrace, RerankSummary, RerankTrace, SearchResult

__version__ = "0.2.0"

__all__ = [
    "And",
    "Answer",
    "Chunk",
    "Citation",
    "Condition",
    "Document",
    "DocumentInfo",
    "Filter",
    "Hit",
    "HitTrace",
    "Index",
    "IndexInfo",
    "MultiIndex",
    "Not",
    "Operator",
    "Or",
    "Plugins",
    "RerankSummary",
    "RerankTrace",
    "RetrieverTrace",
    "SearchOptions",
    "SearchResult",
    "Settings",
    "StageWarning",
    "SyncPlan",
    "SyncReport",
    "TwofoldError",
    "WarningCode",
    "load_settings",
    "search_multi",
]

_HOMES = {
    "twofold.domain.errors": ("TwofoldError",),
    "twofold.domain.filters": ("And", "Filter", "Not", "Operator", "Or", "Condition"),
    "twofold.domain.types": ("Chunk", "Document", "DocumentInfo"),
    "twofold.answer.types": ("Answer", "Citation"),
    "twofold.domain.warning": ("StageWarning", "WarningCode"),
    "twofold.plugins": ("Plugins",),
    "twofold.search.engine": ("SearchOptions",),
    "twofold.index": ("Index",),
    "twofold.search.result": (
        "Hit",
        "HitTrace",
        "RerankSummary",
        "RerankTrace",
        "SearchResult",
    ),
    "twofold.indexing.types": ("IndexInfo", "SyncPlan", "SyncReport"),
    "twofold.ranking.fusion": ("RetrieverTrace",),
    "twofold.config.load": ("Settings", "load_settings"),
    "twofold.multi_index": ("MultiIndex", "search_multi"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
