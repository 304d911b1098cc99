"""Checklist 32 and C21: several wordings become one by each passage's best score, or by rank after fusion.

`p` holds only the first wording's word, `q` only the second one's, `r` both once.
"""

from collections.abc import Iterator

import pytest

from support.exact_scores import Known
from support.fake_llm_server import chatting, saying
from twofold import Index
from twofold.search.result import SearchResult

TEXTS = {"p": "p: zeta zeta zeta", "q": "q: other other other", "r": "r: zeta other more"}
COSINES = {"p": 0.9, "q": 0.8, "r": 0.4}
WORDINGS = ("zeta", "other")


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    with chatting(saying(lambda _: "1. other")) as address:
        said = {"analyzer": "simple", "generator": f"{address}#m", "search.bm25": {"b": 0.0}, "prf": {"top_k": 0}}
        with Index(":memory:", overrides=said, embedder=Known(COSINES, {"other": 0.5})) as made:
            for source, text in TEXTS.items():
                made.add(text, source=source)
            yield made


def searched(index: Index, merge: str, mode: str = "hybrid", form: str = "rrf") -> SearchResult:
    said = {"query_expansion": {"multi_query": 2, "merge": merge}, "fusion.method": form}
    found = index.search("zeta", mode=mode, settings=said)
    assert found.queries == WORDINGS
    return found


def test_by_rank_each_wording_is_fused_first(index: Index) -> None:
    """The first wording finds p, r by words, the second q, r: r is second twice, p and q first once."""
    found = {hit.source: hit.score for hit in searched(index, "rrf", "bm25").hits}

    assert found == pytest.approx({"r": 2 / 62, "p": 1 / 61, "q": 1 / 61})
    assert searched(index, "rrf", "bm25").hits[0].source == "r"
    assert searched(index, "best_score", "bm25").hits[0].source != "r"


def test_a_merge_that_there_is_not_is_refused(index: Index) -> None:
    with pytest.raises(Exception, match=r"query_expansion\.merge"):
        searched(index, "worst")
