"""Naming a document as people do: by its id, its source, or an ending of its source."""

from twofold.domain.errors import InvalidInputError, check_kind, no_document
from twofold.domain.ports import Snapshot
from twofold.domain.types import DocumentInfo
from twofold.system.paths import slashed


def document_named(view: Snapshot, name: str) -> DocumentInfo:
    """Find a document by its id, its source, or an ending of its source at a folder's edge.

    Raises NotFoundError for a name that fits none, InvalidInputError for one that fits several.
    """
    check_kind("A document's name", name, str, "Give its id, its source, or an ending of its source.")
    found = view.describe([name])
    if found:
        return found[name]
    infos = list(view.documents())
    ending = slashed(name)
    exact = [info for info in infos if info.source in (name, ending)]
    fitting = exact or [info for info in infos if info.source.endswith("/" + ending.lstrip("/"))]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        some = ", ".join(f"{info.id} ({info.source})" for info in fitting[:3])
        raise InvalidInputError(f"{len(fitting)} documents end in {name!r}.", f"Name one by its id: {some}.")
    raise no_document(name)
