"""Windows of a set size over each page, cut at words, whatever the document's structure."""

from twofold.domain.ports import Chunker, Measure
from twofold.domain.types import Chunk, Document
from twofold.ingest.chunking.layout import apart, read_draft, runs, write_chunks
from twofold.ingest.chunking.plan import ChunkPlan
from twofold.ingest.chunking.split import Break, cut_words


def fixed(measure: Measure, plan: ChunkPlan) -> Chunker:
    """Cut each page into windows of up to `plan.size` tokens that repeat up to `plan.overlap` of the one before."""

    def chunk(document: Document) -> tuple[Chunk, ...]:
        draft = read_draft(
            document, lambda blocks, room: cut_words(document.text, blocks, measure, room), plan, measure
        )
        pages = runs(draft, apart)
        return write_chunks(draft, pages, plan, Break.INSIDE_WORD)

    return chunk
