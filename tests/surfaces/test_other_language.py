"""A question in another language than the documents: hybrid leaves it to the vectors, says so, and changes no other."""

import re
from collections.abc import Iterator, Sequence

import pytest

from twofold import Document, Index, SearchOptions
from twofold.domain.types import Vectors
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.search.result import SearchResult

ENGLISH = {"brücke": "bridge", "gebaut": "built", "steinmetz": "mason", "fluss": "river", "welcher": "which"}
DOCUMENTS = {
    "bridge": "Die Brücke wurde von einem Steinmetz aus dem Norden gebaut, und sie steht noch an dem Fluss.",
    "market": "Auf dem Markt von Falkenau verkauft man Brot, und in Falkenau ist das Brot so gut wie in der Stadt.",
}
THINGS = ["Garten", "Keller", "Ofen", "Wagen", "Stall", "Zaun", "Hof", "Brunnen", "Acker", "Wald"]
FOREIGN = "Which mason built the old bridge of Falkenau?"
OWN = "Welcher Steinmetz hat die Brücke in Falkenau gebaut?"


class Bilingual(HashingEmbedder):
    """Knows a few German words by their English ones, as a model of several languages knows all."""

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return super().embed_passages([re.sub(r"\w+", _in_english, text) for text in texts])


def _in_english(word: re.Match[str]) -> str:
    return ENGLISH.get(word[0].lower(), word[0])


def other_document(number: int) -> str:
    """Write some 45 German words, 25 of them no stop words, about something else."""
    one, other = THINGS[number % 10], THINGS[(number * 3 + 1) % 10]
    return (
        f"Der {one} wurde nach dem Krieg von einem Händler verkauft, und er ist heute noch auf der Liste {number}. "
        f"Man kann ihn an jedem Tag von neun bis fünf Uhr sehen, wenn das Wetter schön ist. "
        f"Der {other} daneben wird im Winter geschlossen, weil dann die Leute nicht aus der Stadt kommen."
    )


@pytest.fixture
def index() -> Iterator[Index]:
    texts = {**DOCUMENTS, **{f"other-{number}": other_document(number) for number in range(160)}}
    with Index(":memory:", overrides={"analyzer": "auto"}, embedder=Bilingual()) as made:
        made.add_many([Document(name, name, text) for name, text in texts.items()])
        yield made


def notes(found: SearchResult) -> tuple[str, ...]:
    (fuse,) = (stage for stage in found.stages if stage.name == "fuse")
    return fuse.notes


def test_a_question_in_another_language_is_answered_by_hybrid(index: Index) -> None:
    assert index.search(FOREIGN, mode="bm25").hits[0].source == "market"  # the name is all that the words find
    assert index.search(FOREIGN, mode="vector").hits[0].source == "bridge"

    assert index.search(FOREIGN).hits[0].source == "bridge"


def test_the_trace_says_what_is_left_of_the_words(index: Index) -> None:
    found = index.search(FOREIGN)

    # One of mason, built, old, bridge and Falkenau is indexed, by 1 of 162 passages, and the others by none. Their idfs
    # are ln(1 + 161.5 / 1.5) = 4.688 and ln(1 + 162.5 / .5) = 5.787, and 4.688 / (4.688 + 4 · 5.787) = .168. Of some
    # 3,380 words 1,000 / 3,380 = .296 of the weight is left; 1 - .4 · .296 = .882 is the vectors' before scores count.
    assert notes(found) == (
        "20% of the question's words are indexed, 17% in one passage: bm25 weight 0.4 × 0.296, prf too",
    )
    assert found.constants["vector_weight"] > 0.7
    assert index.search(OWN).constants["vector_weight"] < 0.6


def test_a_question_in_the_language_of_the_documents_stays_as_it_was(index: Index) -> None:
    found = index.search(OWN)

    assert found.hits[0].source == "bridge"
    assert notes(found) == ()


def test_why_not_knows_of_it(index: Index) -> None:
    told = index.why_not(FOREIGN, "market", SearchOptions(k=1))

    assert told.stage == "top_k"
    assert [one.detail for one in told.evidence if one.name == "fuse"] == list(notes(index.search(FOREIGN)))
