"""Copying an index from one store to another, document by document, and proving that the copy is the same.

Nothing is read, cut, analyzed or embedded again: passages, words, vectors, readers and settings are copied as they are.
A document that is there already with the same digest is passed over, so what was interrupted goes on where it stopped.
"""

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b

import numpy as np

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import CorruptError, InvalidInputError, no_document
from twofold.domain.ports import Snapshot, Store
from twofold.domain.types import DocumentInfo, Entry, IndexedChunk

BATCH_SIZE = 32  # documents in one transaction


@dataclass(frozen=True, slots=True)
class MigrationReport:
    """What a migration copied: documents that were copied now, those that were there, all passages, and the digest.

    `digest` is of all documents with their passages, words, vectors and readers: equal digests, equal indexes.
    """

    copied: int
    unchanged: int
    chunks: int
    digest: str


def migrate(source: Store, target: Store, progress: Callable[[int, int], None]) -> MigrationReport:
    """Make `target` hold what `source` holds, and compare the two.

    `progress` hears how many documents of how many are done. Raises InvalidInputError where the target holds other
    documents, MismatchError where it was made otherwise, CorruptError where the copy is not what was copied.
    """
    fingerprint = source.fingerprint()
    if fingerprint is None:
        raise InvalidInputError("The index is empty: there is nothing to migrate.", "Sync something into it first.")
    target.ensure_fingerprint(fingerprint)
    with source.view() as view:
        infos = list(view.documents())
        _check_no_others(target, infos)
        copied = 0
        for done, batch in _batches(infos):
            wanted = [entry_of(view, info.id) for info in batch]
            with target.view() as held:
                missing = [one for one in wanted if _stored_digest(held, one.document.id) != digest_of(one)]
            if missing:
                target.upsert(missing)
                target.set_readers({one.document.id: one.document.readers for one in missing})
            copied += len(missing)
            progress(done + len(batch), len(infos))
        target.set_settings(source.get_settings())
        target.note_roots(source.info().roots)
        target.compact()
        ours, chunks = digest_of_all(view)
    with target.view() as held:
        theirs, _ = digest_of_all(held)
    if ours != theirs:
        raise CorruptError(
            "The copy differs from the source.",
            "Another process changed the source meanwhile: run `twofold migrate` again.",
        )
    return MigrationReport(copied, len(infos) - copied, chunks, ours)


def entry_of(view: Snapshot, document: str) -> Entry:
    """Return a document as it was put: with its passages, their words, and their vectors where they have one."""
    found = view.document(document)
    if found is None:
        raise no_document(document)
    chunks = view.chunks_of(document)
    keys = [chunk.key for chunk in chunks]
    waiting = set(view.without_vector(np.array(keys, dtype=np.int64)).tolist())
    vectors = view.vectors_for([chunk.indexed_text for chunk in chunks if chunk.key not in waiting])
    terms = view.term_counts(keys)
    return Entry(
        found,
        tuple(
            IndexedChunk(chunk, counts, None if chunk.key in waiting else vectors[chunk.indexed_text])
            for chunk, counts in zip(chunks, terms, strict=True)
        ),
    )


def digest_of(entry: Entry) -> str:
    """Return a hash of all that an index keeps of a document."""
    made = blake2b(repr(entry.document).encode("utf-8", "surrogatepass"), digest_size=16)
    for one in entry.chunks:
        words = sorted(one.terms.counts.items())
        made.update(repr((one.chunk, words, one.terms.length)).encode("utf-8", "surrogatepass"))
        made.update(b"" if one.vector is None else np.asarray(one.vector, dtype="<f2").tobytes())
    return made.hexdigest()


def digest_of_all(view: Snapshot) -> tuple[str, int]:
    """Return a hash of a whole index, whatever the order in which it was filled, and the number of its passages."""
    made, chunks = blake2b(digest_size=16), 0
    for document in sorted(info.id for info in view.documents()):
        entry = entry_of(view, document)
        made.update(digest_of(entry).encode())
        chunks += len(entry.chunks)
    return made.hexdigest(), chunks


def _stored_digest(view: Snapshot, document: str) -> str:
    return "" if not view.describe([document]) else digest_of(entry_of(view, document))


def _check_no_others(target: Store, infos: Sequence[DocumentInfo]) -> None:
    """Raise InvalidInputError where a target holds documents that are not to be copied to it."""
    wanted = {info.id for info in infos}
    with target.view() as held:
        other = next((info for info in held.documents() if info.id not in wanted), None)
    if other is not None:
        raise InvalidInputError(
            f"The target holds {other.source!r}, which the source does not.",
            "Name a target that is not there yet.",
        )


def _batches(infos: Sequence[DocumentInfo]) -> Iterator[tuple[int, Sequence[DocumentInfo]]]:
    for start in range(0, len(infos), BATCH_SIZE):
        yield start, infos[start : start + BATCH_SIZE]
