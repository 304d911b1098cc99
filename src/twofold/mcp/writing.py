"""The tools that change an index, for servers that were started to allow it."""

from twofold.domain.errors import NotFoundError
from twofold.mcp.reading import ToolContext
from twofold.mcp.results import Added, Deleted


def add(held: ToolContext, text: str, source: str, title: str) -> Added:
    """Add a text, or replace the document of the same source; durable when it returns."""
    info = held.index.add(text, source=source, title=title)
    return Added(info.id, info.source, info.chunks)


def delete(held: ToolContext, identity: str) -> Deleted:
    """Delete a document by its id alone: an ending of a source that happens to fit is not enough."""
    found = held.index.document(identity)
    if found.id != identity:
        raise NotFoundError(f"There is no document with the id {identity!r}.", "`list_documents` shows the ids.")
    return Deleted(held.index.delete(identity))
