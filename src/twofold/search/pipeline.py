"""The search: a tuple of stages, each a function from one state of it to the next.

Understand and embed the question, open one snapshot, search with both retrievers and fuse their results, then boost,
filter, hide, rerank, boost, weigh by metadata, rescore, collapse, reorder, diversify and pin, and fetch what is shown.
Traces and why-not follow this order.
"""

from collections.abc import Sequence

from twofold.domain.dataclass import replace
from twofold.domain.ports import Snapshot
from twofold.query.history import Turn
from twofold.search.build_result import build_result, fetch
from twofold.search.components import SearchComponents
from twofold.search.one_state import in_one_state, states_of
from twofold.search.plan import SearchPlan, check
from twofold.search.query import add_synonyms, embed, embed_many, expand, parse
from twofold.search.result import SearchResult
from twofold.search.retrieve import retrieve
from twofold.search.stages import (
    boost_fused,
    boost_reranked,
    collapse,
    diversify,
    hide,
    metadata_boost,
    pin,
    post_filter,
    reorder,
    rerank,
    rescore,
)
from twofold.search.state import Passages, PipelineState, Stage

ENCODING: tuple[Stage, ...] = (parse, expand, embed)
"""The stages before the snapshot is opened: a model may take its time."""
RANKING: tuple[Stage, ...] = (
    add_synonyms,
    retrieve,
    boost_fused,
    post_filter,
    hide,
    rerank,
    boost_reranked,
    metadata_boost,
    rescore,
    collapse,
    reorder,
    diversify,
    pin,
    fetch,
)
"""The stages that see the snapshot."""
STAGES = (*ENCODING, *RANKING)


def search(parts: SearchComponents, question: str, plan: SearchPlan, history: Sequence[Turn] = ()) -> SearchResult:
    """Find the k passages that answer a question best.

    The search goes on without a part that fails, and a warning says so: a hybrid search whose model fails goes on with
    BM25 only, one whose reranker fails keeps the fused order. A search in a mode of one retriever has nothing to go on
    with: its error is raised, as every error is where the plan says `raise`; where it says `empty` nothing is found
    instead. Raises InvalidInputError for an empty question or a plan that cannot be, MismatchError when the collection
    was made with another embedder.
    """
    check(plan)
    state = PipelineState(parts, plan, question, history)
    for stage in ENCODING:
        state = stage(state)
    done = state
    for opened in states_of(parts.store):
        with opened as view:
            done = replace(state, passages=Passages(view))
            for stage in RANKING:  # as in `ranked`: a call more would be one hop more from a search to its fusion
                done = stage(done)
            break
    return build_result(done)


def search_many(
    parts: SearchComponents, questions: Sequence[str], plan: SearchPlan, history: Sequence[Turn] = ()
) -> Sequence[SearchResult]:
    """Search for many questions: all embedded at once, ranked each for itself, in one state of the collection."""
    check(plan)
    first = PipelineState(parts, plan, history=history)
    read = [expand(parse(replace(first, question=question))) for question in questions]
    encoded = embed_many(read)
    shared = [replace(one, watch=one.watch.share(len(encoded))) for one in encoded]
    done = in_one_state(parts.store, lambda view: [ranked(one, view) for one in shared])
    return [build_result(one) for one in done]


def ranked(state: PipelineState, view: Snapshot) -> PipelineState:
    """Take an encoded question through every stage that sees the snapshot, which is open."""
    state = replace(state, passages=Passages(view))
    for stage in RANKING:
        state = stage(state)
    return state
