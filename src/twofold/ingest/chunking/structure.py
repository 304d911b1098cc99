"""The default strategy: a passage is a section, several tiny ones, or a part of a long one."""

from collections.abc import Iterable, Iterator

from twofold.domain.dataclass import dataclass
from twofold.domain.ports import Chunker, Measure
from twofold.domain.types import Block, Chunk, Document
from twofold.ingest.chunking.layout import Cancellation, Draft, Group, apart, read_draft, runs, write_chunks
from twofold.ingest.chunking.outline import common_path
from twofold.ingest.chunking.plan import ChunkPlan
from twofold.ingest.chunking.sentences import sentence_ends
from twofold.ingest.chunking.split import cut_pieces


def structure(measure: Measure, plan: ChunkPlan) -> Chunker:
    """Cut at pages, then headings, then blocks, then sentences or lines, then words.

    Whole sections that fit stay whole. A section below `plan.minimum` joins a neighbor under a common heading, or
    another tiny one, where both fit.
    """

    def chunk(document: Document) -> tuple[Chunk, ...]:
        draft = read_draft(document, sentence_cut(document, measure), plan, measure)
        return write_chunks(draft, merge_tiny(draft, runs(draft, in_other_section), plan), plan)

    return chunk


def sentence_cut(document: Document, measure: Measure) -> Cancellation:
    """Cut a document's blocks at sentence ends and lines first."""
    return lambda blocks, room: cut_pieces(document.text, blocks, sentence_ends(document.text), measure, room)


def in_other_section(one: Block, other: Block) -> bool:
    """Return whether two blocks stand on different pages or parts, under different headings or in other records."""
    return apart(one, other) or one.heading != other.heading


@dataclass(frozen=True, slots=True)
class Section:
    """Sections that may become one passage: their pieces, their tokens, and the heaviest path and header row."""

    group: Group
    tokens: int
    path: int
    row: int
    is_tiny: bool

    def fits(self, size: int) -> bool:
        """Return whether all of it goes into one passage."""
        return self.tokens + self.path + self.row <= size


def fits(draft: Draft, group: Group, plan: ChunkPlan) -> bool:
    """Return whether a group of pieces, with what stands in front of it, goes into one passage."""
    return _section(draft, group, plan).fits(plan.size)


def merge_tiny(draft: Draft, groups: Iterable[Group], plan: ChunkPlan) -> Iterator[Group]:
    """Join neighboring sections of one page and part where one is below the minimum and both together fit one passage.

    Without a heading in common both must be below it, all sections joined before included.
    """
    pending: Section | None = None
    for group in groups:
        section = _section(draft, group, plan)
        joined = _join(pending, section) if pending else section
        if pending and not (_may_join(draft, pending, section) and joined.fits(plan.size)):
            yield pending.group
            joined = section
        pending = joined
    if pending:
        yield pending.group


def _section(draft: Draft, group: Group, plan: ChunkPlan) -> Section:
    tokens = sum(piece.tokens for piece in draft.pieces[group[0] : group[1]])
    return Section(group, tokens, *draft.heaviest_fronts(group), is_tiny=tokens < plan.minimum)


def _join(one: Section, other: Section) -> Section:
    return Section(
        (one.group[0], other.group[1]),
        one.tokens + other.tokens,
        max(one.path, other.path),
        max(one.row, other.row),
        is_tiny=one.is_tiny and other.is_tiny,
    )


def _may_join(draft: Draft, one: Section, other: Section) -> bool:
    opening, last = (draft.blocks[draft.pieces[at].block] for at in (one.group[0], other.group[1] - 1))
    if apart(opening, last) or not (one.is_tiny or other.is_tiny):
        return False
    return (one.is_tiny and other.is_tiny) or bool(common_path((opening.heading, last.heading)))
