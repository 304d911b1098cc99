"""Cuts a document into passages: by structure, by meaning, by both, or into windows; one signature for all.

Whatever the strategy, `document.text[chunk.start:chunk.end] == chunk.text`; every character that is not white space
stands in a passage; no passage reaches over a page; and a passage's indexed text (heading path, repeated header row,
text) holds no more tokens than the plan's size. The last supposes that the tokenizer finds no more tokens in a text
than in its parts together, as WordPiece and Unigram do; others may go over by a token for each blank line.
"""

from twofold.domain.ports import Chunker, Measure
from twofold.ingest.chunking.fixed import fixed
from twofold.ingest.chunking.plan import ChunkPlan, Strategy
from twofold.ingest.chunking.semantic import Embed, hybrid, semantic
from twofold.ingest.chunking.structure import structure


def chunker_for(plan: ChunkPlan, measure: Measure, embed: Embed) -> Chunker:
    """Build the chunker that a plan asks for; `embed` gives unit vectors, (texts, dimensions), to two of them."""
    match plan.strategy:
        case Strategy.STRUCTURE:
            return structure(measure, plan)
        case Strategy.SEMANTIC:
            return semantic(measure, plan, embed)
        case Strategy.HYBRID:
            return hybrid(measure, plan, embed)
        case Strategy.FIXED:
            return fixed(measure, plan)


__all__ = ["ChunkPlan", "Embed", "Strategy", "chunker_for", "fixed", "hybrid", "semantic", "structure"]
