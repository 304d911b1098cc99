"""A reranker that remembers: each pair of question and text is read once, and its score kept in a file."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

import numpy as np

from twofold.config.load import models_folder
from twofold.domain.ports import Reranker, RerankerIdentity
from twofold.domain.types import Scores
from twofold.models.rerankers.factory import open_reranker


class RememberingReranker:
    """Answers from the folder's file where it can, and adds to it what it cannot."""

    def __init__(self, inner: Reranker, folder: Path) -> None:
        self._inner = inner
        self.identity: RerankerIdentity = inner.identity
        name = blake2b(repr(self.identity).encode(), digest_size=6).hexdigest()
        folder.mkdir(parents=True, exist_ok=True)
        self._file = folder / f"pairs-{name}.jsonl"
        held = self._file.read_text(encoding="utf-8").splitlines() if self._file.exists() else []
        self._known: dict[str, float] = dict(map(json.loads, held))

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        """Score each text raw, each pair once and for all."""
        keys = [blake2b(f"{query}\0{text}".encode(), digest_size=16).hexdigest() for text in texts]
        fresh = [at for at, key in enumerate(keys) if key not in self._known]
        if fresh:
            made = self._inner.score(query, [texts[at] for at in fresh]).tolist()
            new = [(keys[at], round(score, 4)) for at, score in zip(fresh, made, strict=True)]
            self._known.update(new)
            with self._file.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(one) + "\n" for one in new)
        return np.array([self._known[key] for key in keys], dtype=np.float64)

    def relevance(self, raw: Scores) -> Scores:
        """Bring raw scores onto [0, 1]."""
        return self._inner.relevance(raw)

    def close(self) -> None:
        """Free the model."""
        self._inner.close()


@contextmanager
def remembering_reranker(spec: str, folder: Path) -> Iterator[RememberingReranker]:
    """Open the reranker that `spec` names, with what `folder` remembers."""
    inner = open_reranker(spec, cache=models_folder())
    if inner is None:
        raise SystemExit(f"{spec} reads nothing")
    try:
        yield RememberingReranker(inner, folder)
    finally:
        inner.close()
