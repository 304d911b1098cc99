"""Haystack's document store over an index: documents as they were written, found by BM25, by vectors, or by both."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Self, TypeVar

from haystack import Document, default_from_dict, default_to_dict
from haystack.document_stores.errors import DuplicateDocumentError
from haystack.document_stores.types import DuplicatePolicy
from haystack.utils.filters import document_matches_filter

from twofold.adapters.records import WHOLE, PrecomputedVectors, document_of, find, is_empty, record_of
from twofold.domain.filters import MATCH_ALL, Condition, Filter, Operator, Or
from twofold.index import Index

EMBEDDED = "embedded"
"""The field that says whether a document came with an embedding; searches by vector leave the others out."""
WRITTEN = "written"
"""The field that keeps documents in the order in which they were written, in nanoseconds."""
QUERY = "the given vector"
Filters = dict[str, Any]
Answer = TypeVar("Answer")


class TwofoldDocumentStore:
    """Keeps Haystack's documents in an index, one passage each.

    `where` is a name, a path or `:memory:`, as for `Index`. With `embedding_dimension` the vectors are those that come
    with the documents, made by an embedder of the pipeline; without it twofold's own model embeds the contents.
    Filters have Haystack's own meaning, to the letter: they are applied before the best are chosen.
    """

    def __init__(self, where: str = ":memory:", embedding_dimension: int | None = None) -> None:
        self._where = where
        self._dimension = embedding_dimension
        self._vectors = None if embedding_dimension is None else PrecomputedVectors("haystack", embedding_dimension)
        self._index = Index(where, embedder=self._vectors, plugins=WHOLE)

    @property
    def index(self) -> Index:
        """The index, for all that Haystack has no word for: explanations, why-not, answers."""
        return self._index

    @property
    def embeds(self) -> bool:
        """Whether twofold's own model embeds the documents."""
        return self._vectors is None

    def to_dict(self) -> dict[str, Any]:
        """Return what makes the store again."""
        made: dict[str, Any] = default_to_dict(self, where=self._where, embedding_dimension=self._dimension)
        return made

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Make the store again."""
        made: Self = default_from_dict(cls, data)
        return made

    def close(self) -> None:
        """Close the index."""
        self._index.close()

    def count_documents(self) -> int:
        """Return how many documents there are."""
        return 0 if is_empty(self._index) else len(self._index)

    def filter_documents(self, filters: Filters | None = None) -> list[Document]:
        """Return the documents that pass the filters. Raises FilterError for malformed filters."""
        return [one for one in self._documents() if not filters or document_matches_filter(filters, one)]

    def write_documents(self, documents: list[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE) -> int:
        """Write documents, all of them or none; durable when it returns. `NONE` fails for duplicates, as `FAIL` does.

        Raises DuplicateDocumentError, and ValueError for what is no list of documents.
        """
        given: object = documents
        if not isinstance(given, list) or not all(isinstance(one, Document) for one in given):
            message = "write_documents takes a list of haystack.Document."
            raise ValueError(message)
        there = {one.id for one in documents if find(self._index, one.id) is not None}
        if there and policy in (DuplicatePolicy.NONE, DuplicatePolicy.FAIL):
            message = f"{len(there)} documents are there already, such as {min(there)!r}."
            raise DuplicateDocumentError(message)
        new = [one for one in documents if policy is DuplicatePolicy.OVERWRITE or one.id not in there]
        self._put(new)
        return len(new)

    def delete_documents(self, document_ids: list[str]) -> None:
        """Delete documents by id; ids that are not there are passed over."""
        there = [one for one in document_ids if find(self._index, one) is not None]
        if there:
            self._index.delete(*there)

    def delete_all_documents(self) -> None:
        """Delete every document."""
        self.delete_documents([one.id for one in self._documents()])

    def delete_by_filter(self, filters: Filters) -> int:
        """Delete the documents that pass the filters, and return how many they were."""
        found = self.filter_documents(filters)
        self.delete_documents([one.id for one in found])
        return len(found)

    def update_by_filter(self, filters: Filters, meta: Mapping[str, Any]) -> int:
        """Set fields of the documents that pass the filters, and return how many they were."""
        found = self.filter_documents(filters)
        self._put(replace(one, meta={**one.meta, **meta}) for one in found)
        return len(found)

    def count_documents_by_filter(self, filters: Filters) -> int:
        """Return how many documents pass the filters."""
        return len(self.filter_documents(filters))

    def count_unique_metadata_by_filter(self, filters: Filters, metadata_fields: list[str]) -> dict[str, int]:
        """Return how many different values each field has among the documents that pass the filters."""
        found = self.filter_documents(filters)
        return {name: len(_values(found, name)) for name in metadata_fields}

    def get_metadata_fields_info(self) -> dict[str, dict[str, str]]:
        """Return the type of each field's first value."""
        types: dict[str, dict[str, str]] = {}
        for one in self._documents():
            for name, value in one.meta.items():
                types.setdefault(name, {"type": type(value).__name__})
        return types

    def get_metadata_field_min_max(self, metadata_field: str) -> dict[str, Any]:
        """Return the least and the greatest value of a field; both None where no document has it."""
        values = _values(self._documents(), metadata_field)
        return {"min": min(values, default=None), "max": max(values, default=None)}

    def get_metadata_field_unique_values(
        self,
        metadata_field: str,
        search_term: str | None = None,
        from_: int = 0,
        size: int = 10,
        filters: Filters | None = None,
    ) -> tuple[list[Any], int]:
        """Return some of a field's different values in order, and how many there are with `search_term` in them."""
        values = _values(self.filter_documents(filters), metadata_field)
        sought = (search_term or "").lower()
        kept = sorted((one for one in values if sought in str(one).lower()), key=lambda one: (str(one), str(type(one))))
        return kept[from_ : from_ + size], len(kept)

    def find(
        self, query: str, top_k: int, filters: Filters | None, mode: str, vector: list[float] | None = None
    ) -> list[Document]:
        """Return the `top_k` documents that fit best, with their scores; `mode` is `bm25`, `vector` or `hybrid`."""
        if is_empty(self._index):
            return []
        condition = self._condition(filters, needs_vector=mode == "vector" and self._vectors is not None)
        if self._vectors is not None:
            self._vectors.lend({} if vector is None else {query or QUERY: vector})
        found = self._index.search(query or QUERY, k=top_k, mode=mode, filter=condition).hits
        return [replace(_document(record_of(hit.metadata)), score=hit.score) for hit in found]

    async def count_documents_async(self) -> int:
        """As `count_documents`, in a thread."""
        return await _threaded(self.count_documents)

    async def filter_documents_async(self, filters: Filters | None = None) -> list[Document]:
        """As `filter_documents`, in a thread."""
        return await _threaded(lambda: self.filter_documents(filters))

    async def write_documents_async(
        self, documents: list[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE
    ) -> int:
        """As `write_documents`, in a thread."""
        return await _threaded(lambda: self.write_documents(documents, policy))

    async def delete_documents_async(self, document_ids: list[str]) -> None:
        """As `delete_documents`, in a thread."""
        await _threaded(lambda: self.delete_documents(document_ids))

    def _documents(self) -> list[Document]:
        if is_empty(self._index):
            return []
        infos = sorted(self._index.documents(), key=lambda info: int(str(info.metadata.get(WRITTEN, 0))))
        return [_document(record_of(info.metadata)) for info in infos]

    def _put(self, documents: Iterable[Document]) -> None:
        wanted = {one.id: one for one in documents}  # the last of several with one id
        if self._vectors is not None:
            self._vectors.lend({one.content or "": one.embedding for one in wanted.values() if one.embedding})
        now = time.time_ns()
        made = [
            document_of(
                one.id,
                one.content or "",
                {**one.meta, EMBEDDED: one.embedding is not None, WRITTEN: now + number},
                one.to_dict(flatten=False),
            )
            for number, one in enumerate(wanted.values())
        ]
        if made:
            self._index.add_many(made)

    def _condition(self, filters: Filters | None, *, needs_vector: bool) -> Filter:
        if filters:
            found = [one for one in self.filter_documents(filters) if one.embedding is not None or not needs_vector]
            return Or(tuple(Condition("source", Operator.EQ, one.id) for one in found))
        return Condition(EMBEDDED, Operator.EQ, value=True) if needs_vector else MATCH_ALL


def _document(record: Mapping[str, Any]) -> Document:
    found: Document = Document.from_dict(dict(record))
    return found


def _values(documents: Iterable[Document], name: str) -> list[Any]:
    """Return a field's different values; 1, 1.0, "1" and True are four of them."""
    field = name.removeprefix("meta.")
    kept = {(type(one.meta[field]), str(one.meta[field])): one.meta[field] for one in documents if field in one.meta}
    return list(kept.values())


async def _threaded(work: Callable[[], Answer]) -> Answer:
    return await asyncio.to_thread(work)
