"""Running the engine over a judged collection: what is put in, and what is asked."""

from collections.abc import Sequence

import pytest

from twofold.config.load import Settings
from twofold.domain.errors import ModelError
from twofold.domain.types import Vectors, document_id
from twofold.evaluation.dataset import CorpusDocument, JudgedCollection, Question
from twofold.evaluation.run import ask_all, document_of, fill, find_all, milliseconds_a_query
from twofold.factory.indexing import indexing_components
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.query.parse import as_prose
from twofold.search.plan import SearchPlan
from twofold.stores.memory import MemoryStore

CORPUS = (
    CorpusDocument("1", "Cats", "The cat sat on the mat."),
    CorpusDocument("2", "A title and nothing else", ""),
    CorpusDocument("3", "", "Dogs bark at night."),
)


def test_a_title_without_a_text_is_indexed_once() -> None:
    parts = indexing_components(MemoryStore(), Settings(), HashingEmbedder())
    fill(parts, CORPUS, lambda _documents, _passages: None)
    with parts.store.view() as view:
        (alone,) = view.chunks_of(document_of(CORPUS[1]).id)
        (titled,) = view.chunks_of(document_of(CORPUS[0]).id)
    assert alone.indexed_text == "A title and nothing else"
    assert titled.indexed_text == "Cats\nThe cat sat on the mat."


def test_filling_tells_how_far_it_is() -> None:
    heard: list[tuple[int, int]] = []
    parts = indexing_components(MemoryStore(), Settings(), HashingEmbedder())
    fill(parts, CORPUS, lambda documents, passages: heard.append((documents, passages)))
    assert heard == [(3, 3)]


@pytest.mark.parametrize("mode", ["bm25", "vector", "hybrid"])
def test_every_question_is_answered_with_ids_of_the_corpus(mode: str) -> None:
    questions = (Question("a", "where did the cat sit"), Question("b", 'what "barks at midnight" -loudly'))
    judged = JudgedCollection("made", "test", CORPUS, questions, {"a": {"1": 1}, "b": {"3": 1}})
    parts = indexing_components(MemoryStore(), Settings(), HashingEmbedder())
    fill(parts, judged.documents, lambda _documents, _passages: None)
    plan = SearchPlan(mode=mode)
    found = ask_all(parts, judged, plan)
    assert found["a"][0] == "1"
    assert found["b"][0] == "3"
    assert milliseconds_a_query(parts, judged, plan) > 0.0


class Mute(HashingEmbedder):
    """Embeds passages and fails at questions."""

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        message = f"{len(texts)} questions are too many"
        raise ModelError(message)


@pytest.mark.parametrize("mode", ["vector", "hybrid"])
def test_words_alone_are_not_taken_for_a_hybrid_search(mode: str) -> None:
    judged = JudgedCollection("made", "test", CORPUS, (Question("a", "where did the cat sit"),), {"a": {"1": 1}})
    parts = indexing_components(MemoryStore(), Settings(), Mute())
    fill(parts, judged.documents, lambda _documents, _passages: None)

    with pytest.raises(ModelError, match="too many"):
        ask_all(parts, judged, SearchPlan(mode=mode))
    assert ask_all(parts, judged, SearchPlan(mode="bm25"))["a"][0] == "1"


def test_documents_go_by_the_names_that_judgements_have_for_them_with_their_best_scores() -> None:
    judged = JudgedCollection("made", "test", CORPUS, (Question("a", "dogs and the cat"),), {"a": {"cats": 1}})
    parts = indexing_components(MemoryStore(), Settings(), HashingEmbedder())
    fill(parts, judged.documents, lambda _documents, _passages: None)

    found = find_all(parts, judged, SearchPlan(mode="bm25"), {document_id("1"): "cats"})["a"]

    assert {hit.document for hit in found} == {"cats", "3"}
    assert found[0].score >= found[1].score > 0


@pytest.mark.parametrize(
    ("question", "prose"),
    [
        ("a -dash here", "a dash here"),
        ("+1 nucleosomes", "1 nucleosomes"),
        ("git-reset --hard -5", "git-reset --hard -5"),
        ("„so“ «wie» “that”", " so   wie   that "),
        ("it's 3 - 1", "it's 3 - 1"),
    ],
)
def test_prose_keeps_its_words_and_loses_its_operators(question: str, prose: str) -> None:
    assert as_prose(question) == prose
