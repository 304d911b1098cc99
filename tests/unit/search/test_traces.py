"""Every score that a search shows is recomputed from its trace, to the last bit: the law behind every explanation."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.fake_llm_server import chatting, saying
from support.indexes import indexed
from support.scripted_reranker import Dictated
from twofold import Index
from twofold.config.profiles import PROFILES
from twofold.domain.ports import Scale
from twofold.ranking.fusion import FUSIONS, NORMALIZERS
from twofold.search.engine import SearchOptions
from twofold.search.result import SearchResult

NAMES = [profile.name for profile in PROFILES]
TEXTS = {
    f"{number:02d}.md": f"# Report {number}\n\nIn {1990 + number} the Reserve Bank of India and NABARD reported "
    f"ERR-{1000 + number} with {'growth ' * (number % 4)}GDP of {number} percent under Article {300 + number % 3} "
    "for the SEZ at Pune."
    for number in range(30)
}
QUESTIONS = ("GDP growth", "ERR-1007", "growth under Article 301", "what did the bank report", "zyzzyva")
SCORES = {f"Report {number}\n": (number * 7 % 30) / 30 for number in range(30)}
EVERYTHING_ON = {
    "boost": {"patterns": [r"ERR-\d+"], "rules": {"chunk_quality in [ok, high]": 0.15}, "stage": "both"},
    "metadata_boost": {"alpha": 0.8, "beta": 0.1},
    "diversity": {"per_source": 2},
    "search.context_window": 1,
}


@pytest.fixture(scope="module")
def index() -> Index:
    return indexed(TEXTS)


def assert_recomputed(result: SearchResult) -> None:
    shown = [hit.score for hit in result.hits]
    assert list(result.trace.recompute_scores()) == shown
    assert shown == sorted(shown, reverse=True)
    for hit in result.hits:
        scores = [hit.trace.fused(), *(step.after for step in hit.trace.steps)]
        assert [step.before for step in hit.trace.steps] == scores[:-1]
        assert scores[-1] == hit.score
        if hit.trace.bm25 is not None and hit.trace.bm25.raw:
            assert sum((term.score for term in hit.trace.terms), 0.0) == hit.trace.bm25.raw
    assert_stages_follow(result)


def assert_stages_follow(result: SearchResult) -> None:
    """Each stage from the fusion on is given what the one before has left."""
    names = [stage.name for stage in result.stages]
    for before, after in pairwise(result.stages[names.index("fuse") :]):
        assert before.candidates_out == after.candidates_in
    assert all(stage.milliseconds >= 0.0 for stage in result.stages)
    assert result.stages[-1].candidates_out == len(result.hits) == result.counts.returned


@pytest.mark.parametrize("scale", [Scale.RELEVANCE, Scale.LOGIT])
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("profile", NAMES)
def test_in_every_profile(index: Index, profile: str, question: str, scale: Scale) -> None:
    result = index.search(question, profile=profile, rerank=Dictated(SCORES, scale))

    assert result.profile == profile
    assert_recomputed(result)


@pytest.mark.parametrize("profile", NAMES)
def test_in_every_profile_with_all_stages(index: Index, profile: str) -> None:
    result = index.search("ERR-1007 growth", profile=profile, rerank=Dictated(SCORES), settings=EVERYTHING_ON)

    assert result.hits
    assert_recomputed(result)


@pytest.mark.parametrize("merge", ["best_score", "rrf"])
@pytest.mark.parametrize("mode", ["hybrid", "bm25", "vector"])
def test_over_several_wordings(merge: str, mode: str) -> None:
    with (
        chatting(saying(lambda _: "1. reports of the bank\n2. what NABARD said of GDP")) as address,
        indexed(TEXTS, {"generator": f"{address}#m"}) as index,
    ):
        settings = {"query_expansion": {"multi_query": 3, "hyde": True, "merge": merge}}
        result = index.search("growth of GDP", mode=mode, settings=settings)

    assert result.warnings == ()
    assert result.queries == ("growth of GDP", "reports of the bank", "what NABARD said of GDP")
    assert_recomputed(result)


CHOICES = st.fixed_dictionaries(
    {
        "fusion.method": st.sampled_from(sorted(FUSIONS)),
        "fusion.parameters": st.fixed_dictionaries(
            {"bm25_norm": st.sampled_from(NORMALIZERS), "vector_norm": st.sampled_from(NORMALIZERS)}
        ),
        "fusion.vector_weight": st.floats(0, 1),
        "search.mode": st.sampled_from(["hybrid", "bm25", "vector"]),
        "search.candidates": st.sampled_from(["1", "3", "5x", "100"]),
        "rerank.weight": st.sampled_from([0.0, 0.3, 1.0]),
    }
)


@given(settings=CHOICES, question=st.sampled_from(QUESTIONS), reads=st.booleans())
def test_under_every_fusion(index: Index, settings: dict[str, object], question: str, *, reads: bool) -> None:
    reader = Dictated(SCORES) if reads else None
    for result in index.search_many([question, "GDP"], SearchOptions(rerank=reader, settings=settings)):
        assert_recomputed(result)
