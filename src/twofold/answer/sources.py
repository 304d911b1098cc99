"""Gathering: from the passages that a search found to the sources of an answer, neighbors joined, best first."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from twofold.answer.types import Part, Source
from twofold.domain.types import Chunk
from twofold.ingest.source_types import LOCAL_FILE, origin_of
from twofold.ranking.context_window import joined
from twofold.search.result import Hit

FEW = 3
"""Passages found in a row that become one source. Longer ones would not fit into a budget that takes them whole."""
_STYLES = (".css", ".scss", ".css.map", ".js.map", ".mjs.map")
_SCRIPTS = (".js", ".mjs", ".cjs")
_MINIFIED_LINE = 500  # characters; no line that somebody writes is that long


def answering(hits: Sequence[Hit]) -> Sequence[Hit]:
    """Leave out what lays pages out and says nothing: style sheets, source maps and minified scripts.

    Where nothing else was found they stay: who has style sheets alone asks about them.
    """
    return [hit for hit in hits if not _lays_out(hit)] or hits


def _lays_out(hit: Hit) -> bool:
    name = hit.source.lower()
    if name.endswith(_SCRIPTS):
        longest = max(map(len, hit.text.split("\n")), default=0)
        return ".min." in name or longest > _MINIFIED_LINE
    return name.endswith(_STYLES)


def sources_of(hits: Sequence[Hit]) -> tuple[Source, ...]:
    """Make sources of passages: those of one document that stand in a row, with what was found around them, are one.

    A row is parted where it has more passages than one passage has with its own neighbors, or than three.

    They come by their best passage and are counted from 1.
    """
    known: dict[tuple[str, str], dict[int, Chunk]] = {}
    ranks: dict[tuple[str, str], dict[int, Hit]] = {}
    for hit in hits:
        place, ordinal = (hit.collection, hit.document), _ordinal(hit)
        ranks.setdefault(place, {})[ordinal] = hit
        chunks = known.setdefault(place, {})
        own = (hit.start, hit.end, hit.heading, hit.page, hit.place, hit.header)
        chunks[ordinal] = Chunk(hit.document, ordinal, hit.text, *own)
        for near in hit.context:
            chunks.setdefault(
                near.ordinal,
                Chunk(hit.document, near.ordinal, near.text, near.start, near.end, near.heading, near.page, near.place),
            )
    most = max(FEW, *(1 + len(hit.context) for hit in hits)) if hits else FEW
    made = [
        _source(run, [ranks[place][ordinal] for ordinal in (one.ordinal for one in run) if ordinal in ranks[place]])
        for place, chunks in known.items()
        for run in _runs([chunks[ordinal] for ordinal in sorted(chunks)], ranks[place], most)
    ]
    best = sorted(made, key=lambda one: one[0])
    return tuple(replace(source, number=number) for number, (_, source) in enumerate(best, start=1))


def weights_of(hits: Sequence[Hit], asked: Mapping[str, float]) -> Mapping[str, float]:
    """Return the weight of each query term: its weight times its idf, where the search has them, else `asked`.

    Exact forms are left out, since the words that they are made of are there too.
    """
    told = {one.term: one.weight * one.idf for hit in hits for one in hit.trace.terms}
    weights = {term: weight for term, weight in (told or asked).items() if weight > 0.0}
    return {term: weight for term, weight in weights.items() if not term.startswith("=")} or weights


def _ordinal(hit: Hit) -> int:
    return int(hit.chunk_id.rpartition("_")[2])


def _runs(chunks: Sequence[Chunk], hits: Mapping[int, Hit], most: int) -> list[list[Chunk]]:
    """Part passages where one is missing between two, and where a run grows too long; each part holds a hit."""
    runs = [[chunks[0]]]
    for before, chunk in pairwise(chunks):
        if chunk.ordinal == before.ordinal + 1 and len(runs[-1]) < most:
            runs[-1].append(chunk)
        else:
            runs.append([chunk])
    return [run for run in runs if any(chunk.ordinal in hits for chunk in run)]


def _source(run: Sequence[Chunk], hits: Sequence[Hit]) -> tuple[int, Source]:
    whole = joined(run)
    best = min(hits, key=lambda hit: hit.rank)
    parts: list[Part] = []
    for chunk in run:
        piece = next(one for one in whole.pieces if one.start <= chunk.start <= one.end)
        start = max(chunk.start, parts[-1].end) if parts else chunk.start
        if start < chunk.end:
            at = piece.at + start - piece.start
            parts.append(Part(start, chunk.end, at, chunk.id, chunk.page, chunk.place, chunk.heading, chunk.header))
    kind = origin_of(best.metadata) or LOCAL_FILE
    source = Source(
        number=0,
        text=whole.text,
        parts=tuple(parts),
        document=best.document,
        source=best.source,
        title=best.title,
        kind=str(kind),
        score=best.score,
        metadata=best.metadata,
        collection=best.collection,
    )
    return best.rank, source
