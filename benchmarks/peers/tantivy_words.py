"""tantivy: BM25, English stems; one segment after the filling."""

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import tantivy
from material import Asked

from peers.engine import Hits, K, Rows, Task


class Tantivy:
    """An index in a folder."""

    def __init__(self, folder: Path, *, built: bool) -> None:
        schema = tantivy.SchemaBuilder()
        schema.add_text_field("body", stored=True, tokenizer_name="en_stem")
        schema.add_integer_field("number", stored=True, indexed=True)
        schema.add_integer_field("shelf", indexed=True)
        schema.add_integer_field("half", indexed=True)
        self.version = version("tantivy")
        self._index = tantivy.Index(schema.build(), path=str(folder))
        self._filling = not built
        self._writer: Any = self._index.writer(256 * 1024 * 1024, 1)

    def add(self, rows: Rows) -> None:
        """Write; while filling without a commit."""
        for number, text, _, shelf, half in rows.fields():
            self._writer.add_document(tantivy.Document(body=text, number=number, shelf=shelf, half=int(half)))
        if not self._filling:
            self._writer.commit()
            self._index.reload()

    def ready(self) -> None:
        """Commit and merge."""
        self._writer.commit()
        self._writer.wait_merging_threads()
        self._index.reload()
        self._writer = self._index.writer(256 * 1024 * 1024, 1)
        self._filling = False

    def tasks(self, asked: Asked) -> Mapping[str, Task]:
        """Give BM25 and BM25 under a filter; reading the question is part of each."""

        def ask(condition: str) -> Task:
            def task(at: int) -> Hits:
                searcher = self._index.searcher()
                query, _ = self._index.parse_query_lenient(asked.texts[at], ["body"])
                if condition:
                    field, _, value = condition.partition(":")
                    only = tantivy.Query.term_query(self._index.schema, field, int(value))
                    query = tantivy.Query.boolean_query([(tantivy.Occur.Must, query), (tantivy.Occur.Must, only)])
                docs = (searcher.doc(address) for _, address in searcher.search(query, K).hits)
                return [(doc["number"][0], doc["body"][0]) for doc in docs]

            return task

        return {"bm25": ask(""), "filter 1 %": ask("shelf:7"), "filter 50 %": ask("half:1")}

    def close(self) -> None:
        """Do nothing; it is closed with the process."""
