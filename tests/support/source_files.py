"""Sources for answers: passages of small documents, and a reading of texts that needs no model."""

from twofold.answer.types import Part, Source, TextTools
from twofold.domain.types import document_id
from twofold.ingest.chunking.sentences import sentence_ends
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.text.analyzers import analyzer_for


def source(  # noqa: PLR0913  # each may be left out
    text: str,
    number: int = 1,
    name: str = "notes.md",
    *,
    page: int | None = None,
    heading: tuple[str, ...] = (),
    kind: str = "",
    score: float = 1.0,
    start: int = 0,
) -> Source:
    identity = document_id(name)
    part = Part(start, start + len(text), 0, f"{identity}_chunk_0", page, "", heading)
    return Source(number, text, (part,), identity, name, kind=kind, score=score)


def reading(*, embedding: bool = True) -> TextTools:
    analyzer, model = analyzer_for("english"), HashingEmbedder()

    def terms(text: str) -> dict[str, int]:
        return {term: count for term, count in analyzer.counts(text).counts.items() if not term.startswith("=")}

    if not embedding:
        return TextTools(sentence_ends, terms)
    return TextTools(sentence_ends, terms, model.embed_passages, model.embed_queries)
