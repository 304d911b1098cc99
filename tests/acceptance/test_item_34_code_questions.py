"""Checklist 27 to 30, 34, 88: a question about a code has its system's weights, and scores agree with their details."""

import pytest

from support.indexes import GIT, indexed
from twofold.compat.modes import RAGPipeline
from twofold.compat.orchestrator import QueryRetrievalModule
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.search.result import SearchResult

CODE = "Fix for ERR-12345?"
PLAIN = "undo the last commit"
SHARES = {"orchestrator": (0.4, 0.6), "localgpt": (0.3, 0.7), "modes": (0.5, 0.5), "aanae": (0.35, 1.0)}
FORMS = ("convex", "weighted_rrf", "weighted_sum", "linear", "average")


def weights(found: SearchResult) -> set[tuple[float, float]]:
    """Give the weights of words and of meaning that the traces show."""
    retrievers = [(hit.trace.bm25, hit.trace.vector) for hit in found.hits]
    return {(round(words.weight, 9), round(meaning.weight, 9)) for words, meaning in retrievers if words and meaning}


@pytest.mark.parametrize("question", [CODE, PLAIN, "ERR-12345"])
@pytest.mark.parametrize("profile", SHARES)
def test_each_system_has_its_own_weights_whatever_is_asked(profile: str, question: str) -> None:
    with indexed(GIT) as index:
        found = index.search(question, profile=profile, rerank="none", settings={"search.default_filter": ""})

    assert weights(found) == {SHARES[profile]}


@pytest.mark.parametrize("form", FORMS)
def test_no_method_with_a_fixed_weight_changes_it_for_a_code(form: str) -> None:
    with indexed(GIT) as index:
        found = index.search(CODE, settings={"fusion.method": form, "fusion.vector_weight": 0.8})

    assert weights(found) == {(0.2, 0.8)}


def test_the_method_that_chooses_its_weights_leans_on_words_and_says_so() -> None:
    with indexed(GIT) as index:
        code, plain = index.search(CODE), index.search(PLAIN)

    assert weights(code) == {(0.7, 0.3)}  # half of 0.6
    assert code.constants["vector_weight"] == 0.3
    (fuse,) = (stage for stage in code.trace.stages if stage.name == "fuse")
    assert fuse.notes == ("the question is a code: vector_weight 0.6 × 0.5",)
    assert not any(stage.notes for stage in plain.trace.stages if stage.name == "fuse")


def test_the_orchestrators_score_is_its_worked_sum_and_the_boost() -> None:
    with indexed(GIT) as index:
        found = QueryRetrievalModule(index, {"rerank.model": "none"}).search(CODE)

    assert found.hits[0].source == "revert.md"
    for hit in found.hits:
        words, meaning = hit.trace.bm25, hit.trace.vector
        assert words is not None
        assert meaning is not None
        lifted = 1.5 if "ERR-12345" in hit.text else 1.0
        assert hit.score == pytest.approx((0.6 * meaning.normalized + 0.4 * words.normalized) * lifted)


@pytest.mark.parametrize("question", [CODE, "ERR-12345", PLAIN])
def test_the_combined_score_is_the_sum_of_its_own_details(question: str) -> None:
    with RAGPipeline(embedder=HashingEmbedder()) as pipeline:
        for source, text in GIT.items():
            pipeline.add_document(text, source)
        found = pipeline.retrieve(question)

    assert found
    for one in found:
        details = one["score_details"]
        assert one["combined_score"] == pytest.approx(0.5 * details["semantic"] + 0.5 * details["bm25"])
