"""A question grows by the terms that the first passages were put with, weighed as the formula says."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.factories import entries, fingerprint, query
from twofold import Index
from twofold.domain.ports import Store
from twofold.domain.types import Ranking, Statistics, TermCounts, TermQuery
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.ranking.prf import PrfParameters, prf_terms, shares
from twofold.search.prf import expand_with_prf
from twofold.stores.local.store import LocalStore
from twofold.stores.memory import MemoryStore
from twofold.text.analyzer import EXACT
from twofold.text.bm25 import explain, statistics_of

MADE = entries(
    [
        f"the disk is full of logs {EXACT}ZX-81\nthe quota of the disk is a limit\nnothing of the kind",
        "a cat sat on the mat\nthe quota is a limit limit limit",
        "short\ndisk disk disk quota",
    ]
)
HELD: dict[int, TermCounts] = {one.chunk.key: one.terms for entry in MADE for one in entry.chunks}


@pytest.fixture(params=["memory", "local"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made: Store = MemoryStore() if request.param == "memory" else LocalStore(tmp_path / "index")
    made.ensure_fingerprint(fingerprint())
    made.upsert(MADE)
    yield made
    made.close()


def by_the_formula(asked: TermQuery, first: Ranking, prf: PrfParameters) -> TermQuery:
    counting = shares(first.scores, prf)
    impacts = []
    for key in first.keys[: len(counting)].tolist():
        plain = {term: 1.0 for term in HELD[key].counts if not term.startswith(EXACT)}
        known = asked.statistics or statistics_of(HELD.values(), plain)
        impacts.append({one.term: one.score for one in explain(TermQuery(plain, asked.k1, asked.b), HELD[key], known)})
    return prf_terms(asked, impacts, counting, prf)


@pytest.mark.parametrize("asked", [query("disk"), TermQuery({"disk": 2.0, "absent": 1.0}, k1=0.0, b=0.0), query("cat")])
@pytest.mark.parametrize(
    "prf", [PrfParameters(temperature=10.0), PrfParameters(top_k=1, terms=2), PrfParameters(terms=1)]
)
def test_a_question_grows_as_the_formula_says(store: Store, asked: TermQuery, prf: PrfParameters) -> None:
    with store.view() as view:
        first = view.search_bm25(asked, 10)
        found = expand_with_prf(view, asked, first, prf)

    assert found == by_the_formula(asked, first, prf)
    assert list(found.weights) == list(by_the_formula(asked, first, prf).weights)
    assert found != asked
    assert not any(term.startswith(EXACT) for term in found.weights)


def test_statistics_of_the_question_weigh_the_new_terms_as_well(store: Store) -> None:
    asked = TermQuery({"disk": 1.0}, statistics=Statistics(1000, 5000, {"disk": 10, "quota": 900}))
    with store.view() as view:
        first = view.search_bm25(asked, 10)
        found = expand_with_prf(view, asked, first, PrfParameters(temperature=10.0))

    assert found == by_the_formula(asked, first, PrfParameters(temperature=10.0))


def test_without_likeness_or_passages_the_question_stays_itself(store: Store) -> None:
    asked = query("disk")
    with store.view() as view:
        assert expand_with_prf(view, asked, view.search_bm25(asked, 10), PrfParameters(top_k=0)) is asked
        assert expand_with_prf(view, asked, view.search_bm25(query("absent"), 10), PrfParameters()) is asked


def test_a_question_of_very_many_terms_neither_grows_nor_has_a_chance() -> None:
    with Index(":memory:", embedder=HashingEmbedder()) as index:
        index.add("Undo the last commit.", source="a.txt")
        short = index.search("undo the commit")
        long = index.search("undo the commit " + " ".join(f"w{number}" for number in range(600)))

    assert short.p_answerable is not None
    assert "prf" in {stage.name for stage in short.stages}
    assert long.hits
    assert long.p_answerable is None
    assert "prf" not in {stage.name for stage in long.stages}
