"""bm25s: BM25 of Lucene's kind with k1 1.2 and b 0.75, English stems and stop words, in memory."""

import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import bm25s
import Stemmer
from material import Asked

from peers.engine import Hits, K, Rows, Task


class Bm25s:
    """An index of texts in memory, made anew for every change; what was filled is kept in a folder."""

    def __init__(self, folder: Path, *, built: bool) -> None:
        self.version = version("bm25s")
        self._texts: list[str] = []
        self._stemmer = Stemmer.Stemmer("english")
        self._filling = not built
        self._folder = folder
        if built:
            self._texts = json.loads((folder / "texts.json").read_text())
            self._retriever = bm25s.BM25.load(folder / "index", show_progress=False)

    def add(self, rows: Rows) -> None:
        """Keep the texts; after the filling, index everything again."""
        self._texts.extend(rows.texts)
        if not self._filling:
            self.ready()

    def ready(self) -> None:
        """Index all texts."""
        self._retriever = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
        self._retriever.index(self._tokens(self._texts), show_progress=False)
        if self._filling:
            self._retriever.save(self._folder / "index", show_progress=False)
            (self._folder / "texts.json").write_text(json.dumps(self._texts))
        self._filling = False

    def _tokens(self, texts: list[str]) -> object:
        return bm25s.tokenize(texts, stopwords="en", stemmer=self._stemmer, show_progress=False)

    def tasks(self, asked: Asked) -> Mapping[str, Task]:
        """Give BM25; tokenizing the question is part of it."""

        def task(at: int) -> Hits:
            keys = self._retriever.retrieve(self._tokens([asked.texts[at]]), k=K, show_progress=False)[0][0]
            return [(int(key), self._texts[key]) for key in keys]

        return {"bm25": task}

    def close(self) -> None:
        """Do nothing."""
