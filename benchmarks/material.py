"""What speed is measured on: passages stitched from real sentences, and vectors distributed like real ones.

Every passage is two to four runs of neighboring sentences from the collections and pages of the shared folder, about
180 words together. A vector is the mean of real passages' vectors plus two deviations from it, of two random real
passages, in a random mixture that keeps the length, and a little noise: random pairs are as far apart as real ones are,
and each has near neighbors. `resemblance` holds both distributions side by side. Everything follows from the seed.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from remembered import remembering

from twofold.domain.types import Chunk, Document, Entry, IndexedChunk, Vectors, document_id
from twofold.evaluation.dataset import load
from twofold.evaluation.run import document_of
from twofold.ingest.chunking import ChunkPlan, chunker_for
from twofold.ingest.readers.html.reader import extract_html
from twofold.text.analyzer import Analyzer

SHARED = Path(os.environ.get("TWOFOLD_SHARED", Path(__file__).resolve().parents[1] / ".." / "shared"))
COLLECTIONS = ("scifact", "cranfield", "cacm", "multihop-hotpotqa", "xquad-en")
MODEL = "bge-small-en-v1.5"
REAL_PASSAGES = 6_000
QUESTIONS = 400
WORDS = 140
PASSAGES_OF_A_DOCUMENT = 10
DOCUMENT_BATCH_SIZE = 100
NOISE = 0.15
SEED = 17

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """Real questions and their real vectors, in step."""

    texts: Sequence[str]
    vectors: Vectors


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some documents: of each its texts; and the vectors of all passages, in the same order."""

    first: int
    documents: Sequence[Sequence[str]]
    vectors: Vectors


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """Real vectors to mix, real questions to ask, and real sentences to stitch, neighbors side by side."""

    real: Vectors
    asked: Asked
    sentences: Sequence[str]

    def vectors(self, count: int, seed: int) -> Vectors:
        """Mix so many vectors of length 1."""
        drawn = np.random.default_rng((SEED, seed))
        center = self.real.mean(axis=0)
        apart = self.real - center
        one, other = drawn.integers(len(apart), size=(2, count))
        angle = drawn.uniform(0.0, np.pi / 5, size=(count, 1))
        mixed = np.cos(angle) * apart[one] + np.sin(angle) * apart[other]
        spread = float(np.linalg.norm(apart, axis=1).mean()) / np.sqrt(apart.shape[1])
        mixed += NOISE * spread * drawn.standard_normal(mixed.shape)
        mixed += center
        return (mixed / np.linalg.norm(mixed, axis=1, keepdims=True)).astype(np.float32)

    def batches(self, passages: int, after: int = 0) -> Iterator[Batch]:
        """Give so many passages, some documents at a time, without those of the first whole batches `after` names."""
        documents = passages // PASSAGES_OF_A_DOCUMENT
        for first in range(after // PASSAGES_OF_A_DOCUMENT, documents, DOCUMENT_BATCH_SIZE):
            some = range(first, min(first + DOCUMENT_BATCH_SIZE, documents))
            drawn = np.random.default_rng((SEED, first, 1))
            texts = [[self.passage(drawn) for _ in range(PASSAGES_OF_A_DOCUMENT)] for _ in some]
            yield Batch(first, texts, self.vectors(len(some) * PASSAGES_OF_A_DOCUMENT, first))

    def vector_batches(self, passages: int) -> Iterator[Batch]:
        """Give the same batches without their texts, which take most of the time."""
        documents = passages // PASSAGES_OF_A_DOCUMENT
        for first in range(0, documents, DOCUMENT_BATCH_SIZE):
            some = min(DOCUMENT_BATCH_SIZE, documents - first)
            yield Batch(first, (), self.vectors(some * PASSAGES_OF_A_DOCUMENT, first))

    def passage(self, drawn: np.random.Generator) -> str:
        """Stitch one passage."""
        parts: list[str] = []
        words = 0
        while words < WORDS:
            start = int(drawn.integers(len(self.sentences)))
            for sentence in self.sentences[start : start + int(drawn.integers(2, 6))]:
                parts.append(sentence)
                words += sentence.count(" ") + 1
        return " ".join(parts)

    def resemblance(self) -> Mapping[str, Mapping[str, float]]:
        """Say how cosines are distributed among real vectors and among mixed ones, as many of each."""
        made = self.vectors(len(self.real), 10**9)
        return {"real": cosines(self.real, self.asked.vectors), "mixed": cosines(made, self.asked.vectors)}


def cosines(vectors: Vectors, questions: Vectors) -> Mapping[str, float]:
    """Give percentiles of the cosine of random pairs, to nearest neighbors, and of questions to their best."""
    drawn = np.random.default_rng(SEED)
    one, other = drawn.integers(len(vectors), size=(2, 20_000))
    pairs = np.einsum("ij,ij->i", vectors[one], vectors[other])[one != other]
    near = np.sort(vectors[:1_000] @ vectors.T, axis=1)[:, ::-1]
    asked = np.sort(questions @ vectors.T, axis=1)[:, ::-1]
    figures = {f"pairs_p{at}": np.percentile(pairs, at) for at in (1, 25, 50, 75, 99)}
    figures |= {f"neighbor_{rank}": np.median(near[:, rank]) for rank in (1, 10, 100)}
    figures |= {f"question_{rank + 1}": np.median(asked[:, rank]) for rank in (0, 9, 99)}
    return {name: round(float(value), 3) for name, value in figures.items()}


def gather(memory: Path) -> Material:
    """Embed what must be real; `memory` is the folder where vectors are kept between runs."""
    with remembering(MODEL, memory) as embedder:
        chunker = chunker_for(ChunkPlan(), embedder.count_tokens, embedder.embed_passages)
        judged = [load(SHARED / "data" / name) for name in COLLECTIONS]
        passages = [
            chunk.indexed_text
            for one in judged
            for document in one.documents[: 2 * REAL_PASSAGES // len(COLLECTIONS)]
            for chunk in chunker(document_of(document))
        ]
        questions = [question.text for one in judged for question in one.queries]
        drawn = np.random.default_rng(SEED)
        some = [passages[at] for at in np.sort(drawn.permutation(len(passages))[:REAL_PASSAGES])]
        asked = [questions[at] for at in np.sort(drawn.permutation(len(questions))[:QUESTIONS])]
        vectors = embedder.embed_passages(some)
        return Material(vectors, Asked(asked, embedder.embed_queries(asked)), real_sentences())


def save(material: Material, path: Path) -> None:
    """Keep a material, for processes that must not load a model."""
    texts = {"questions": np.array(material.asked.texts), "sentences": np.array(material.sentences)}
    np.savez(path, real=material.real, asked=material.asked.vectors, **texts)


def restore(path: Path) -> Material:
    """Read back what `save` kept."""
    with np.load(path, allow_pickle=False) as held:
        asked = Asked(held["questions"].tolist(), held["asked"])
        return Material(held["real"], asked, held["sentences"].tolist())


def real_sentences() -> list[str]:
    """Give the sentences of the collections and of the pages."""
    found: list[str] = []
    for name in (*COLLECTIONS, "chunking-eval"):
        for line in (SHARED / "data" / name / "corpus.jsonl").read_text(encoding="utf-8").splitlines():
            found.extend(_SENTENCE.split(json.loads(line)["text"]))
    for page in sorted((SHARED / "docs" / "git-doc").glob("*.html")):
        found.extend(_SENTENCE.split(extract_html(page.read_text(encoding="utf-8", errors="replace")).text))
    return [" ".join(sentence.split())[:600] for sentence in found if sentence.strip()]


def entries_of(batch: Batch, analyzer: Analyzer) -> list[Entry]:
    """Make a batch's documents ready for a store. `shelf` is one of a hundred, `half` one of two."""
    made = []
    vectors = iter(batch.vectors)
    for number, texts in enumerate(batch.documents, start=batch.first):
        source = f"{number:07d}.txt"
        identity = document_id(source)
        chunks = []
        start = 0
        for ordinal, text in enumerate(texts):
            chunk = Chunk(identity, ordinal, text, start, start + len(text))
            chunks.append(IndexedChunk(chunk, analyzer.counts(text), next(vectors)))
            start += len(text) + 2
        fields = {"shelf": number * 37 % 100, "half": number % 2 == 1}
        document = Document(identity, source, "\n\n".join(texts), title=f"Document {number}", metadata=fields)
        made.append(Entry(document, tuple(chunks)))
    return made
