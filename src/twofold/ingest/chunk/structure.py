"""The default strategy: a passage is a section, several tiny ones, or a part of a long one."""

from collections.abc import Iterable, Iterator

from twofold.domain.ports import Chunker, Measure
from twofold.domain.types import Block, Chunk, Document
from twofold.ingest.chunk.draft import Cut, Draft, Group, read_draft, runs, write_chunks
from twofold.ingest.chunk.outline import common_path
from twofold.ingest.chunk.pieces import cut_pieces
from twofold.ingest.chunk.plan import ChunkPlan
from twofold.ingest.chunk.sentences import sentence_ends


def structure(measure: Measure, plan: ChunkPlan) -> Chunker:
    """Cut at pages, then headings, then blocks, then sentences or lines, then words.

    Whole sections that fit stay whole. A section below `plan.minimum` joins a neighbour under a common heading, or
    another tiny one, where both fit.
    """

    def chunk(document: Document) -> tuple[Chunk, ...]:
        draft = read_draft(document, sentence_cut(document, measure), plan, measure)
        return write_chunks(draft, merge_tiny(draft, runs(draft, in_other_section), plan), plan)

    return chunk


def sentence_cut(document: Document, measure: Measure) -> Cut:
    """Cut a document's blocks at sentence ends and lines first."""
    return lambda blocks, room: cut_pieces(document.text, blocks, sentence_ends(document.text), measure, room)


def in_other_section(one: Block, other: Block) -> bool:
    """Say whether two neighbouring blocks stand on different pages or under different headings."""
    return (one.page, one.heading) != (other.page, other.heading)


def merge_tiny(draft: Draft, sections: Iterable[Group], plan: ChunkPlan) -> Iterator[Group]:
    """Join neighbouring sections of one page where one is below the minimum and both together fit one passage.

    Without a heading in common both must be below it, all sections joined before included.
    """
    pending: Group | None = None
    tiny = False
    for section in sections:
        is_tiny = _tokens(draft, section) < plan.minimum
        if pending and (tiny or is_tiny) and _belong_together(draft, pending, section, plan, tiny=tiny and is_tiny):
            pending, tiny = (pending[0], section[1]), tiny and is_tiny
            continue
        if pending:
            yield pending
        pending, tiny = section, is_tiny
    if pending:
        yield pending


def _belong_together(draft: Draft, one: Group, other: Group, plan: ChunkPlan, *, tiny: bool) -> bool:
    opening, last = (draft.blocks[draft.pieces[at].block] for at in (one[0], other[1] - 1))
    if opening.page != last.page or not (tiny or common_path((opening.heading, last.heading))):
        return False
    joined = (one[0], other[1])
    return _tokens(draft, joined) <= draft.room(*joined, plan.size)


def _tokens(draft: Draft, group: Group) -> int:
    return sum(piece.tokens for piece in draft.pieces[group[0] : group[1]])
