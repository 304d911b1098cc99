"""What every store promises of words: alternatives, words close together, groups of terms, and its vocabulary."""

import pytest

from twofold.domain.filters import MATCH_ALL, Condition, Operator
from twofold.domain.ports import Scope, Store
from twofold.domain.types import Clause, GroupMember, TermQuery, WordCount
from twofold.testing.making import entries, entry, vector

TEXTS = [
    "the red car stands here",
    "an automobile automobile drives off",
    "new york city never sleeps",
    "bread is good",
]


class StoreWords:
    """The part of `StoreContract` that is about words."""

    def test_one_of_several_clauses_is_enough(self, store: Store) -> None:
        store.upsert(entries(TEXTS))
        either = Clause((), any_of=(Clause(("car",)), Clause(("new",), "new york")))
        with store.view() as view:
            for scope, expected in [
                (Scope(required=(either,)), {"the red car stands here", "new york city never sleeps"}),
                (Scope(excluded=(either,)), {"an automobile automobile drives off", "bread is good"}),
                (Scope(required=(Clause(("red",), any_of=(either,)),)), {"the red car stands here"}),
            ]:
                found = view.search_vectors(vector("x"), 10, scope)
                assert {one.text for one in view.chunks(found.keys.tolist())} == expected

    @pytest.mark.parametrize(("slop", "count"), [(1, 0), (2, 1)])
    def test_words_close_together_are_found_in_any_order(self, store: Store, slop: int, count: int) -> None:
        store.upsert(entries(TEXTS))
        clause = Clause(("red", "here"), "here red", slop)  # two words stand between them
        with store.view() as view:
            assert len(view.search_vectors(vector("x"), 10, Scope(required=(clause,)))) == count

    def test_a_group_scores_as_one_term(self, store: Store) -> None:
        """Of 4 passages 1 holds each member: idf = ln(1 + 3.5 / 1.5). tf is 1 for the car, .5 · 2 for the others."""
        store.upsert(entries(TEXTS))
        members = (
            GroupMember(("car",)),
            GroupMember(("automobile",), 0.5),
            GroupMember(("new", "york"), 1.0, "new york"),
        )
        asked = TermQuery({"car": 1.0}, b=0.0, groups={"car": members})
        with store.view() as view:
            ranking = view.search_bm25(asked, 10)
            assert [one.score for one in ranking] == [pytest.approx(1.2039728043259361)] * 3
            assert view.score_terms(asked, ranking.keys).tolist() == ranking.scores.tolist()
            table = view.explain_terms(asked, ranking.keys.tolist())
            assert [(one.term, one.frequency) for place in range(3) for one in table.of(place)] == [("car", 1.0)] * 3
            assert [table.of(place)[0].score for place in range(3)] == ranking.scores.tolist()

    def test_words_are_found_by_their_beginning_by_a_pattern_and_by_likeness(self, store: Store) -> None:
        store.upsert([*entries(TEXTS), entry("car-pool cares", "c.txt", {"year": 2020})])
        with store.view() as view:
            (held,) = view.vocabularies()
            assert list(held.starting_with("car", 9)) == [
                WordCount("car", 2),
                WordCount("car-pool", 1),
                WordCount("cares", 1),
            ]
            assert list(held.starting_with("car", 1)) == [WordCount("car", 2)]
            assert [one[0] for one in held.like("c?r", 9)] == ["car"]
            assert [one[0] for one in held.like("a*mob*e", 9)] == ["automobile"]
            assert list(held.near("automobiel", 2)) == [(WordCount("automobile", 2), 1)]
            assert list(held.titles("c", 9)) == ["c.txt"]
            assert {"year", "title"} <= held.fields

    def test_passages_are_counted_within_a_scope(self, store: Store) -> None:
        store.upsert(entries(TEXTS))
        only = Scope(Condition("source", Operator.EQ, "000.txt"))
        narrower = [Scope(MATCH_ALL, (Clause(("car",)),)), Scope(MATCH_ALL, (Clause(("bread",)),))]
        with store.view() as view:
            assert list(view.count_within(Scope(), narrower)) == [1, 1]
            assert list(view.count_within(only, narrower)) == [1, 0]
            clauses = [Clause(("car",), "red car"), Clause(("car",), "blue car"), Clause(("new", "york"), "new york")]
            assert list(view.count_holding(Scope(), clauses)) == [1, 0, 1]
            assert list(view.count_holding(only, clauses)) == [1, 0, 0]
        store.delete([entries(TEXTS)[0].document.id])
        with store.view() as view:
            assert list(view.count_within(Scope(), narrower)) == [0, 1]
