"""A document taken apart, ready for a strategy to say where it may be put together again, and the putting together."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from twofold.domain.dataclass import dataclass
from twofold.domain.ports import Measure
from twofold.domain.types import Block, BlockKind, Chunk, Document
from twofold.ingest.chunking.context import ContextPrefixes, weigh_prefixes
from twofold.ingest.chunking.document_name import document_name
from twofold.ingest.chunking.outline import Path, common_path, outline, with_title
from twofold.ingest.chunking.pack import Sizes, pack
from twofold.ingest.chunking.plan import ChunkPlan
from twofold.ingest.chunking.split import Break, Piece

Group = tuple[int, int]
"""A range of pieces, `pieces[first:stop]`, that no passage reaches out of."""

Cancellation = Callable[[Sequence[Block], int], list[Piece]]
"""Cuts blocks into pieces of at most a number of tokens."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A document in pieces.

    For each block, `paths` holds its heading path, whole, with the document's title in front, and `in_front` the
    tokens of that path as it will be trimmed, and of the block's header row.
    """

    document: Document
    blocks: Sequence[Block]
    paths: Sequence[Path]
    fronts: ContextPrefixes
    in_front: Sequence[tuple[int, int]]
    pieces: Sequence[Piece]

    def heaviest_fronts(self, group: Group) -> tuple[int, int]:
        """Return the tokens of the heaviest path, and of the heaviest header row, among a group's blocks."""
        first, stop = group
        held = self.in_front[self.pieces[first].block : self.pieces[stop - 1].block + 1]
        return max(path for path, _ in held), max(row for _, row in held)


def read_draft(document: Document, cut: Cancellation, plan: ChunkPlan, measure: Measure) -> Draft:
    """Take a document apart: blocks in order, what stands in front of them, and pieces that fit with it."""
    blocks = outline(document)
    name = document_name(document.source, document.title)
    paths = [with_title(with_title(block.heading, document.title), name) for block in blocks]
    fronts = weigh_prefixes(paths, blocks, plan.size, measure)
    of_paths = {path: fronts.path_weight(path) for path in set(paths)}
    in_front = [(of_paths[path], fronts.header_weight(block.header)) for path, block in zip(paths, blocks, strict=True)]
    room = plan.size - max((path + row for path, row in in_front), default=0)
    return Draft(document, blocks, paths, fronts, in_front, cut(blocks, room))


def apart(one: Block, other: Block) -> bool:
    """Return whether no passage may hold both blocks: its page, place and fields would be true of one alone."""
    return (one.page, one.part) != (other.page, other.part) or one.metadata != other.metadata


def runs(draft: Draft, are_apart: Callable[[Block, Block], bool]) -> Iterator[Group]:
    """Return the longest runs of pieces in which no two neighboring blocks are to be kept apart."""
    first = 0
    for at in range(1, len(draft.pieces)):
        before, after = draft.pieces[at - 1].block, draft.pieces[at].block
        if before != after and are_apart(draft.blocks[before], draft.blocks[after]):
            yield first, at
            first = at
    if draft.pieces:
        yield first, len(draft.pieces)


def write_chunks(
    draft: Draft, groups: Iterable[Group], plan: ChunkPlan, repeats_from: Break = Break.SENTENCE
) -> tuple[Chunk, ...]:
    """Pack each group into passages and number them in reading order."""
    spans: list[Group] = []
    for first, stop in groups:
        room = plan.size - sum(draft.heaviest_fronts((first, stop)))
        sizes = Sizes(room, min(plan.overlap, room // 2), min(plan.minimum, room // 2), repeats_from)
        spans.extend((first + start, first + end) for start, end in pack(draft.pieces[first:stop], sizes))
    return tuple(_chunk(draft, ordinal, first, stop) for ordinal, (first, stop) in enumerate(spans))


def _chunk(draft: Draft, ordinal: int, first: int, stop: int) -> Chunk:
    opening = draft.blocks[draft.pieces[first].block]
    numbers = range(draft.pieces[first].block, draft.pieces[stop - 1].block + 1)
    start, end = draft.pieces[first].start, draft.pieces[stop - 1].end
    text = draft.document.text[start:end]
    return Chunk(
        document=draft.document.id,
        ordinal=ordinal,
        text=text,
        start=start,
        end=end,
        heading=draft.fronts.path(common_path(draft.paths[number] for number in numbers)),
        page=opening.page,
        place=opening.place,
        header=draft.fronts.header(_missing_header(text, [draft.blocks[number] for number in numbers])),
        metadata=opening.metadata,
    )


def _missing_header(text: str, blocks: Iterable[Block]) -> str:
    """Return the header row of the first table whose row does not stand in the passage itself."""
    headers = (block.header for block in blocks if block.kind is BlockKind.TABLE)
    return next((header for header in headers if header and header not in text), "")
