"""The survey before a sync: what folders hold, against what the index holds of them.

A document is deleted only when its root was walked and its place in it was looked at: an unmounted disk, an unreadable
folder or a file too large to read costs nothing.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType

from twofold.domain.access import Readers
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, ReadError, check_kind, check_table
from twofold.domain.filters import values_of
from twofold.domain.ports import Snapshot
from twofold.domain.types import DocumentInfo, Metadata, MetadataValue
from twofold.indexing.types import Rename, SkippedPath, SyncPlan
from twofold.ingest.access_file import AccessFiles, AccessRule
from twofold.ingest.connector import VERSION, Connector, Item
from twofold.ingest.document import content_hash
from twofold.ingest.readers.ocr.engine import may_read_more
from twofold.ingest.readers.types import Limits, Source, clean_metadata
from twofold.ingest.source_types import LOCAL_FILE
from twofold.ingest.walk import Found, Skipped, load, source_name, walk
from twofold.system.paths import real_path

Root = str | os.PathLike[str] | Connector
"""A file or a folder, or what lists and reads another place."""
ROOT = "root"
SIZE = "size"
MODIFIED_NS = "modified_ns"
GIVEN = "given"  # the names of the fields that a sync was given for a document
NONE_GIVEN: Metadata = MappingProxyType({})
RECORDED = frozenset({ROOT, SIZE, MODIFIED_NS, GIVEN, VERSION})
"""The fields that a sync keeps for itself."""
EMPTY_ROOT = "the folder is empty although the index has documents of it; they are kept, remove them with `twofold rm`"


@dataclass(frozen=True, slots=True)
class SyncTarget:
    """What to read, the root it was found under, and the fields that its document is given.

    `load` reads its bytes, or raises ReadError; `origin` is the kind of place that it is in. `access` says who may
    read it, None where no access file does; `readers` are those of the document that it replaces under another name.
    """

    found: Found | Item
    root: str
    load: Callable[[Limits], Source]
    origin: str = LOCAL_FILE
    given: Metadata = field(default_factory=dict)
    access: AccessRule | None = None
    readers: Readers | None = None

    def to_read(self) -> Readers | None:
        """Return who may read the document when it is written; None leaves it as it is."""
        return self.readers if self.access is None else self.declared_readers()

    def declared_readers(self) -> Readers | None:
        """Return what the access file says of it. Raises InvalidInputError where its group has no name."""
        if self.access is None or not isinstance(self.found, Found):
            return None
        return self.access.readers_of(self.found.path)


@dataclass(frozen=True, slots=True)
class Diff:
    """What is to be done: files to read, sources whose documents go, and the same as a report."""

    to_read: tuple[SyncTarget, ...]
    to_delete: tuple[DocumentInfo, ...]
    plan: SyncPlan
    touched: Mapping[str, Metadata] = field(default_factory=dict)  # by document id, for files with another time alone
    readers: Mapping[str, Readers | None] = field(default_factory=dict)  # by document id, for those that get others


def survey(view: Snapshot, roots: Sequence[Root], limits: Limits, given: Metadata = NONE_GIVEN) -> Diff:
    """Compare folders with the index. Files of the same size and time as before are taken as unchanged.

    `given` are fields for every document below the roots; one that has others is updated.
    Raises InvalidInputError for a field that the sync keeps itself, NotFoundError for a root that is not there,
    ReadError for one that cannot be listed.
    """
    _check_fields(given)
    known = {info.source: info for info in view.documents() if ROOT in info.metadata}
    wanted: dict[str, SyncTarget] = {}
    skipped: list[SkippedPath] = []
    gone: dict[str, DocumentInfo] = {}
    for root in roots:
        name, below = root_name(root), _documents_of(root, known)
        files, left_out = _listed(root, name, below, limits)
        skipped += [SkippedPath(one.source, one.reason) for one in left_out]
        if below and not files and (not left_out or isinstance(root, str | os.PathLike)):
            skipped.append(SkippedPath(name, EMPTY_ROOT))
            continue
        wanted |= files
        unseen = [one.source for one in left_out]
        gone |= {
            source: info
            for source, info in below.items()
            if source not in files and not any(is_below(source, place) for place in unseen)
        }
    wanted = {source: replace(one, given=_caller_fields(known.get(source), given)) for source, one in wanted.items()}
    return _decided(known, wanted, {source: gone[source] for source in gone if source not in wanted}, skipped, limits)


def root_name(root: Root) -> str:
    """Return the name by which documents know the place that they were read from."""
    if not isinstance(root, str | os.PathLike) and not hasattr(root, "root"):
        check_kind("What is synced", root, str, "Give each path as an argument of its own: index.sync(*paths).")
    return source_name(real_path(root)) if isinstance(root, str | os.PathLike) else root.root


def _documents_of(root: Root, known: Mapping[str, DocumentInfo]) -> Mapping[str, DocumentInfo]:
    name = root_name(root)
    if isinstance(root, str | os.PathLike):
        return {source: info for source, info in known.items() if is_below(source, name)}
    return {source: info for source, info in known.items() if info.metadata[ROOT] == name}


def _listed(
    root: Root, name: str, known: Mapping[str, DocumentInfo], limits: Limits
) -> tuple[dict[str, SyncTarget], list[Skipped]]:
    """Return what a place holds by source, and what it left out."""
    wanted: dict[str, SyncTarget] = {}
    left_out: list[Skipped] = []
    if isinstance(root, str | os.PathLike):
        access = AccessFiles(real_path(root))
        for file in walk(root, limits):
            if isinstance(file, Skipped):
                left_out.append(file)
            else:
                wanted[file.source] = SyncTarget(file, name, partial(load, file), access=access.rule_for(file.path))
        return wanted, left_out
    for item in root.items(known, limits):
        if isinstance(item, Skipped):
            left_out.append(item)
        else:
            wanted[item.source] = SyncTarget(item, name, partial(root.load, item), root.origin)
    return wanted, left_out


def _check_fields(given: Metadata) -> None:
    for name in given:
        if name in RECORDED:
            raise InvalidInputError(f"A sync keeps the field {name!r} itself.", "Choose another name.")


def with_fields(held: Metadata, fields: Metadata) -> Metadata:
    """Return a document's fields with some set, and without those that are set to nothing.

    Where it came by a sync, they count as given to it, so that the next one keeps them.

    >>> dict(with_fields({"year": 2024, "draft": True}, {"year": 2025, "draft": "", "author": "Ada"}))
    {'year': 2025, 'author': 'Ada'}
    """
    check_table("`fields`", fields, "Write names and values: {'year': 2025}.")
    _check_fields(fields)
    kept = clean_metadata({**held, **fields})
    if ROOT not in held:
        return kept
    given = dict.fromkeys([*map(str, values_of(held.get(GIVEN, ()))), *clean_metadata(fields)])
    return {**kept, GIVEN: tuple(name for name in given if name in kept)}


def _caller_fields(info: DocumentInfo | None, given: Metadata) -> Metadata:
    """Return the fields that a document has from its caller: those it was given before, and over them those of now."""
    return clean_metadata({**_previous_fields(info), **given})


def _previous_fields(info: DocumentInfo | None) -> dict[str, MetadataValue]:
    if info is None:
        return {}
    return {str(name): info.metadata[str(name)] for name in values_of(info.metadata.get(GIVEN, ()))}


def _decided(
    known: Mapping[str, DocumentInfo],
    wanted: Mapping[str, SyncTarget],
    gone: Mapping[str, DocumentInfo],
    skipped: Iterable[SkippedPath],
    limits: Limits,
) -> Diff:
    added = [source for source in wanted if source not in known]
    other = [source for source, one in wanted.items() if source in known and _is_other(known[source], one)]
    updated = [source for source in other if _changed(known[source], wanted[source], limits)]
    touched = [source for source in other if source not in set(updated)]
    renamed = _renamed(added, wanted, gone, limits) if gone else []
    moved = {one.new: {**_previous_fields(gone[one.old]), **wanted[one.new].given} for one in renamed}
    wanted = {source: replace(one, given=moved.get(source, one.given)) for source, one in wanted.items()}
    wanted |= {one.new: replace(wanted[one.new], readers=gone[one.old].readers) for one in renamed}
    readers = _other_readers(known, wanted)
    moved_from, moved_to = {one.old for one in renamed}, {one.new for one in renamed}
    return Diff(
        tuple(wanted[source] for source in (*added, *updated)),
        tuple(gone.values()),
        SyncPlan(
            added=tuple(source for source in added if source not in moved_to),
            updated=tuple(updated),
            renamed=tuple(renamed),
            deleted=tuple(source for source in gone if source not in moved_from),
            unchanged=len(wanted) - len(added) - len(updated),
            skipped=tuple(skipped),
            readers=tuple(readers),
        ),
        {known[source].id: _touched(known[source], wanted[source]) for source in touched},
        {known[source].id: one for source, one in readers.items()},
    )


def _other_readers(known: Mapping[str, DocumentInfo], wanted: Mapping[str, SyncTarget]) -> dict[str, Readers | None]:
    """Return by source who may read documents that are there, where access files say something else than before."""
    said = {
        source: one.declared_readers() for source, one in wanted.items() if one.access is not None and source in known
    }
    return {source: readers for source, readers in said.items() if readers != known[source].readers}


def _touched(info: DocumentInfo, wanted: SyncTarget) -> Metadata:
    return {**info.metadata, **sync_fields(wanted), **wanted.given}


def sync_fields(wanted: SyncTarget) -> Metadata:
    """Return the fields that a sync keeps of a file, so that the next sync knows whether it changed."""
    found = wanted.found
    if isinstance(found, Item):
        return {**found.metadata, ROOT: wanted.root, VERSION: found.version}
    modified = datetime.fromtimestamp(found.mtime_ns / 1e9, tz=UTC).isoformat(timespec="seconds")
    return {ROOT: wanted.root, SIZE: found.size, MODIFIED_NS: found.mtime_ns, "modified": modified}


def is_below(source: str, place: str) -> bool:
    """Return whether a source is a place or lies below it."""
    return source == place or source.startswith(place.rstrip("/") + "/")


def _is_other(info: DocumentInfo, wanted: SyncTarget) -> bool:
    """Return whether a file has another size, time or given fields than its document."""
    if isinstance(wanted.found, Item):
        return info.metadata.get(VERSION) != wanted.found.version or _previous_fields(info) != wanted.given
    if may_read_more(info.metadata):
        return True
    known = (info.metadata.get(SIZE), info.metadata.get(MODIFIED_NS))
    return known != (wanted.found.size, wanted.found.mtime_ns) or _previous_fields(info) != wanted.given


def _changed(info: DocumentInfo, wanted: SyncTarget, limits: Limits) -> bool:
    """Return whether a document is to be made again, rather than given the time of its file alone."""
    if isinstance(wanted.found, Item) or may_read_more(info.metadata):
        return True
    return _previous_fields(info) != wanted.given or _hash_of(wanted.found, limits) != info.content_hash


def _hash_of(found: Found | Item, limits: Limits) -> str:
    """Hash a file's bytes; empty for one that cannot be read, which differs from any hash: reading it will say why.

    Of what a connector found, its version: a file of git that was renamed keeps its own.
    """
    if isinstance(found, Item):
        return found.version
    with suppress(ReadError):
        return content_hash(load(found, limits).data)
    return ""


def _renamed(
    added: Sequence[str], wanted: Mapping[str, SyncTarget], gone: Mapping[str, DocumentInfo], limits: Limits
) -> list[Rename]:
    """Pair new files with vanished documents of the same bytes, by name first, so that twins pair up sensibly."""
    vanished: dict[str, list[str]] = {}
    for source, info in gone.items():
        vanished.setdefault(str(info.metadata.get(VERSION, info.content_hash)), []).append(source)
    sizes = {info.metadata.get(SIZE) for info in gone.values()}
    renames = []
    for new in added:
        found = wanted[new].found
        if isinstance(found, Found) and found.size not in sizes:
            continue
        candidates = vanished.get(_hash_of(found, limits), [])
        if candidates:
            same_name = [old for old in candidates if Path(old).name == Path(new).name]
            old = (same_name or candidates)[0]
            candidates.remove(old)
            renames.append(Rename(old, new))
    return renames
