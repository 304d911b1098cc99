"""Twofold: search and answers over your own documents, by words and by meaning, with every score explained.

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
    from twofold.domain.errors import TwofoldError
    from twofold.domain.filters import And, Filter, Not, Op, Or, Test
    from twofold.domain.types import Chunk, Document, DocumentInfo
    from twofold.index import Index
    from twofold.pipeline.results import FoundPassage, HitTrace, RerankSummary, RerankTrace, SearchResult
    from twofold.pipeline.types import SyncPlan, SyncReport
    from twofold.ranking.fusion import ArmTrace
    from twofold.settings import Settings, load_settings
    from twofold.several import Several, search_several

__version__ = "0.1.0"

__all__ = [
    "And",
    "ArmTrace",
    "Chunk",
    "Document",
    "DocumentInfo",
    "Filter",
    "FoundPassage",
    "HitTrace",
    "Index",
    "IndexInfo",
    "Not",
    "Op",
    "Or",
    "RerankSummary",
    "RerankTrace",
    "SearchResult",
    "Settings",
    "Several",
    "SyncPlan",
    "SyncReport",
    "Test",
    "TwofoldError",
    "load_settings",
    "search_several",
]

_HOMES = {
    "twofold.domain.errors": ("TwofoldError",),
    "twofold.domain.filters": ("And", "Filter", "Not", "Op", "Or", "Test"),
    "twofold.domain.types": ("Chunk", "Document", "DocumentInfo"),
    "twofold.index": ("Index",),
    "twofold.pipeline.results": (
        "FoundPassage",
        "HitTrace",
        "RerankSummary",
        "RerankTrace",
        "SearchResult",
    ),
    "twofold.pipeline.types": ("IndexInfo", "SyncPlan", "SyncReport"),
    "twofold.ranking.fusion": ("ArmTrace",),
    "twofold.settings": ("Settings", "load_settings"),
    "twofold.several": ("Several", "search_several"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
