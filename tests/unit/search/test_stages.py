"""What stages hand on: orders, steps, times; each stage leaves alone what it was not asked to touch."""

from dataclasses import replace

import pytest

from support.indexes import GIT, Counted, Mute, indexed, sources
from support.scripted_reranker import Dictated
from twofold import Index
from twofold.domain.errors import InvalidInputError, ModelError
from twofold.domain.ports import Scope
from twofold.query.filter_syntax import parse_filter
from twofold.query.history import Turn
from twofold.ranking.boost import Rule, compile_patterns
from twofold.ranking.diversify import Limits
from twofold.ranking.metadata_boost import MetadataWeights
from twofold.search.build_result import expand_context
from twofold.search.engine import SearchOptions
from twofold.search.plan import BoostPlan, SearchPlan
from twofold.search.query import parse
from twofold.search.stages import boost_fused, boost_reranked, diversify, metadata_boost, post_filter
from twofold.search.state import Passages, PipelineState, Stopwatch
from twofold.stores.memory import MemoryStore


@pytest.fixture(scope="module")
def index() -> Index:
    return indexed(GIT)


@pytest.fixture
def standing(index: Index) -> PipelineState:
    """All passages in the order that one search gives, with a view that stays good: the store is in memory."""
    parts, _ = index._searcher.parts_for(SearchOptions())
    assert isinstance(parts.store, MemoryStore)
    with parts.store.view() as view:
        heard = parts.embedder.embed_queries(["undo a commit"])[0]
        ranking = view.search_vectors(heard, 9, Scope())
        return PipelineState(parts, SearchPlan(), "undo", passages=Passages(view), ranking=ranking)


def asking(given: PipelineState, question: str, plan: SearchPlan) -> PipelineState:
    """The same passages in a search for another question, by another plan."""
    return parse(replace(given, question=question, plan=plan))


def test_stages_without_anything_to_do_give_back_what_they_were_given(standing: PipelineState) -> None:
    codes = BoostPlan(compile_patterns([r"ERR-\d+"]), stage="reranked")
    idle = asking(standing, "ERR-12345", SearchPlan())
    late = asking(standing, "ERR-12345", SearchPlan(boost=codes))
    without_code = asking(standing, "no code", SearchPlan(boost=codes))

    assert boost_fused(idle) is idle
    assert boost_fused(late) is late
    assert boost_reranked(without_code) is without_code
    assert metadata_boost(idle) is idle
    assert diversify(idle) is idle
    assert post_filter(idle) is idle


def test_a_boost_changes_what_it_names_and_keeps_every_passage(standing: PipelineState) -> None:
    rule = Rule("merge", parse_filter("source == 'merge.md'"), 5.0)
    plan = SearchPlan(boost=BoostPlan(compile_patterns([r"ERR-\d+"]), rules=(rule,)))
    after = boost_fused(asking(standing, "ERR-12345", plan))

    assert set(after.ranking.keys.tolist()) == set(standing.ranking.keys.tolist())
    assert [info.source for info in standing.passages.infos(after.ranking.keys[:1].tolist())] == ["merge.md"]
    assert len(after.steps) == 2
    for key, (step,) in after.steps.items():
        assert step.detail.apply(step.before) == step.after
        assert dict(zip(after.ranking.keys.tolist(), after.ranking.scores.tolist(), strict=True))[key] == step.after
    assert [name for name, _ in after.passed] == ["boost_fused"]


def test_weighing_touches_every_passage_and_says_so(standing: PipelineState) -> None:
    plan = SearchPlan(metadata_boost=MetadataWeights(0.5, 0.1, cap=1.0))
    after = metadata_boost(asking(standing, "undo", plan))

    assert after.steps.keys() == set(standing.ranking.keys.tolist())
    assert all(step.stage == "metadata_boost" for (step,) in after.steps.values())


def test_diversity_keeps_the_best_of_each_source_in_their_order(standing: PipelineState) -> None:
    after = diversify(asking(standing, "undo", SearchPlan(k=3, diversity=Limits(per_source=1))))

    assert after.ranking.keys.tolist() == standing.ranking.keys[:3].tolist()
    assert after.steps == standing.steps


def test_a_late_filter_keeps_scores_and_counts(standing: PipelineState) -> None:
    plan = SearchPlan(filter=parse_filter("source == 'merge.md'"), filter_stage="post")
    after = post_filter(asking(standing, "undo", plan))

    assert len(after.ranking) == 1
    assert after.filtered is not None
    assert (after.filtered.candidates, after.filtered.kept) == (len(GIT), 1)


def test_a_document_of_one_passage_has_no_neighbors(standing: PipelineState) -> None:
    (chunk,) = standing.passages.chunks(standing.ranking.keys[:1].tolist())
    made = expand_context(standing.passages.view, chunk, 3)

    assert made.context == ()
    assert made.joined is not None
    assert made.joined.text == chunk.text


def test_several_questions_share_the_time_that_went_into_all_of_them() -> None:
    watch = Stopwatch()
    watch.steps.update({"embed": 30.0, "parse": 6.0})
    shares = [watch.share(3) for _ in range(3)]

    assert [share.steps for share in shares] == [{"embed": 10.0, "parse": 2.0}] * 3
    assert all(share.elapsed() >= 12.0 for share in shares)
    assert watch.share(1) is watch
    with shares[0].step("fuse"):
        pass
    assert "fuse" not in shares[1].steps
    assert shares[0].total()["total"] >= sum(shares[0].steps.values()) * 0.999


def test_a_searchs_own_settings_hold_for_it_alone(index: Index) -> None:
    before = index.search("undo a commit")
    other = index.search("undo a commit", settings={"fusion.method": "rrf", "search.k": 2}, profile="recall")

    assert (other.profile, other.fusion, len(other.hits)) == ("recall", "rrf", 2)
    assert index.search("undo a commit").hits == before.hits
    assert index.settings.search.k == 10


def test_what_cannot_differ_between_questions_is_refused_by_name(index: Index) -> None:
    for key, value in (("embedder", "hashing"), ("chunk.size", 64), ("nothing.such", 1), ("search.k", "many")):
        with pytest.raises(InvalidInputError, match=key):
            index.search("undo", settings={key: value})


def test_each_query_counts_once_with_its_errors_and_what_was_degraded() -> None:
    index = indexed(GIT, {"cache": {"size": 5}}, embedder=Mute())
    index.search("undo")
    index.search("undo", mode="bm25")
    index.search("undo", mode="bm25")
    index.search_many(["merge", "stash"], SearchOptions(mode="bm25"))
    with pytest.raises(ModelError, match="the model is gone"):
        index.search("undo", mode="vector")
    metrics = index.metrics()

    assert (metrics.queries, metrics.answered, metrics.cached, metrics.degraded) == (6, 5, 1, 1)
    assert metrics.errors == {"ModelError": 1}


def test_a_question_with_a_history_is_never_answered_from_memory() -> None:
    embedder = Counted()
    index = indexed(GIT, {"cache": {"size": 5}}, embedder=embedder)
    history = [Turn("user", "What is a merge?"), Turn("assistant", "Joining branches.")]
    for _ in range(2):
        assert not index.search("and a commit of it?", history=history).cache.hit

    assert not index.search("and a commit of it?").cache.hit


def test_a_reranker_reads_the_question_without_its_operators(index: Index) -> None:
    reader = Dictated({"Merge": 0.9})
    result = index.search('+commit -undo source:merge.md "two parents"', rerank=reader)

    assert sources(result) == ["merge.md"]
    assert reader.asked[0][0] == "commit two parents"
