"""Says of a passage, by rule and without any model, what quality gates and filters ask."""

from twofold.domain.types import Chunk, Metadata
from twofold.ingest.enrich.content_type import Kind, kind_of_passage
from twofold.ingest.enrich.entities import entity_density, focused_keywords, mentions_of
from twofold.ingest.enrich.quality import is_excluded, quality_of, retrieval_score
from twofold.ingest.enrich.shape import Shape, shape_of
from twofold.ingest.enrich.subjects import subject_of

RULES = "rules-2"
"""The name of these rules, for a collection's recipe; other rules get another name."""


def enrich(chunk: Chunk) -> Metadata:
    """Return a passage's fields, in time linear in its text.

    - `word_count`: whole number; see `shape_of`.
    - `entity_density`: mentions of entities per word, in [0, 1], to four digits; see `entity_density`.
    - `keywords`: at most five: article and section numbers, codes, abbreviations, years; see `focused_keywords`.
    - `semantic_type_primary`: code, table, reference, procedure, list, definition, example or narrative; see
      `kind_of_passage`. Where the words show a subject, it is a second value: biodiversity_conservation or
      water_bodies; see `subject_of`.
    - `omit_flag`: whether nobody would want to find it: contents, navigation, page numbers; see `is_excluded`.
    - `chunk_quality`: poor, ok or high; see `quality_of`.
    - `retrieval_score`: how much it is worth finding before any question, in [0, 1]; see `retrieval_score`.

    `"Article 370 gave Jammu and Kashmir a special status in 1949."` has 11 words and the mentions Article 370, Jammu,
    Kashmir and 1949: its density is 4/11 = 0.3636, its keywords are Article 370 and 1949.
    """
    shape = shape_of(chunk.text)
    kind = kind_of_passage(chunk, shape)
    left_out = is_excluded(chunk, shape)
    quality, density, keywords = quality_of(shape, kind, left_out=left_out), *_mentioned(shape)
    subject = subject_of([_in_front(chunk), shape], is_table=kind is Kind.TABLE)
    return {
        "word_count": shape.count,
        "entity_density": density,
        "keywords": keywords,
        "semantic_type_primary": (kind.value, subject) if subject else kind.value,
        "omit_flag": left_out,
        "chunk_quality": quality.value,
        "retrieval_score": retrieval_score(quality, density, len(keywords), left_out=left_out),
    }


def _mentioned(shape: Shape) -> tuple[float, tuple[str, ...]]:
    mentions = mentions_of(shape)
    return entity_density(mentions, shape), focused_keywords(mentions)


def _in_front(chunk: Chunk) -> Shape:
    """Return the words of the nearest heading and of a table's header row, which say what the cells are about."""
    return shape_of(" ".join((*chunk.heading[-1:], chunk.header)))
