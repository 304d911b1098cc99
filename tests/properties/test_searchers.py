"""An index whose segments searchers hold gives the bits that one machine gives, however they are parted."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support import thread_actors
from support.generated_worlds import PRINCIPALS, READERS, lines, texts
from support.searchers import SMALL, SearchersHere
from support.thread_actors import ThreadActor
from twofold import Index
from twofold.config.load import load_settings
from twofold.domain.access import Readers
from twofold.domain.errors import PartLostError
from twofold.domain.ports import Store
from twofold.domain.types import Document
from twofold.factory.ray_searchers import RaySearchers, SearcherActor
from twofold.ingest.document import document_of_text
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.search.result import SearchResult
from twofold.stores.database_address import address_of
from twofold.stores.local.snapshot import Share
from twofold.stores.local.store import LocalStore
from twofold.stores.postgres.store import PostgresStore
from twofold.stores.s3.heads import Pace
from twofold.stores.s3.store import S3Store
from twofold.stores.searcher import Searcher
from twofold.stores.searchers import Searchers, SpreadStore

Written = tuple[str, Readers | None, bool]
written = st.lists(st.tuples(texts, st.sampled_from(READERS), st.booleans()), min_size=1, max_size=9)
"""The text of each document, who may read it, and whether it is deleted again."""
WAYS: tuple[dict[str, Any], ...] = (
    {},
    {"mode": "bm25"},
    {"filter": "lang == de"},
    {"facets": ["lang", "source"], "collapse": True},
    {"settings": {"search.bm25": {"scorer": "tfidf"}}},
    {"settings": {"prf": {"dense_terms": 5, "top_k": 3}}},
)


ENGLISH = (
    "The soup of number {} is hot, and we have all of it with the bread that they gave us when we came to the inn."
)
GERMAN = (
    "Die Suppe mit der Nummer {} ist heiss, und wir essen sie mit dem Brot, das sie uns gegeben haben, als wir kamen."
)
ERRORS = SimpleNamespace(RayError=ConnectionError, RayTaskError=ConnectionAbortedError)
THREADS = SimpleNamespace(get=thread_actors.get, wait=thread_actors.ready, exceptions=ERRORS, kill=lambda _: None)
"""What is used of Ray, by threads of this process."""


@contextmanager
def opened(where: Path | str, searchers: Searchers | None) -> Iterator[Index]:
    here = partial(store_at, where)
    store = here() if searchers is None else SpreadStore(str(where), lambda create: here(create=create), searchers)
    with Index(where, embedder=HashingEmbedder(), store=store) as index:
        yield index


def store_at(where: Path | str, *, create: bool = True) -> Store:
    """Open an index in a folder, a bucket or a database, of many small segments."""
    if isinstance(where, Path):
        return LocalStore(where, create=create, upkeep=SMALL)
    if where.startswith("s3:"):
        return S3Store(address_of(where), create=create, upkeep=SMALL, pace=Pace(fresh=0.0))
    return PostgresStore(address_of(where), create=create, upkeep=SMALL)


def filled(where: Path | str, documents: Sequence[Written]) -> None:
    """Write an index of many segments, a tail that is in none, and dead passages among both."""
    with opened(where, None) as index:
        made = [one_of(number, text, readers) for number, (text, readers, _) in enumerate(documents)]
        for at in range(0, len(made), 2):
            index.add_many(made[at : at + 2])
        gone = [one.id for one, (_, _, dead) in zip(made, documents, strict=True) if dead and one is not made[0]]
        if gone:
            index.delete(*gone)


def one_of(number: int, text: str, readers: Readers | None) -> Document:
    made = document_of_text(text, f"{number}.txt", f"Title {number}", {"lang": ("de", "en")[number % 2]}, None)
    return replace(made, readers=readers)


def said(found: SearchResult) -> object:
    """Everything that a result says but for how long it took."""
    hits = [(one, one.trace.terms, one.trace.retrievers) for one in found.hits]
    stages = [replace(one, milliseconds=0.0) for one in found.stages]
    counted = (found.counts, found.facets, found.confidence, found.p_answerable, found.generation)
    return hits, stages, counted, found.constants, found.warnings, found.did_you_mean


@settings(max_examples=10)
@given(written, st.sampled_from(PRINCIPALS), lines, st.integers(1, 4))
def test_any_parting_of_any_index_ranks_explains_and_counts_as_one_machine(
    documents: list[Written], principals: list[str], query: str, count: int
) -> None:
    with TemporaryDirectory() as folder:
        place = Path(folder) / "kb"
        filled(place, documents)
        searchers = SearchersHere(lambda _: LocalStore(place, create=False, upkeep=SMALL), count)
        with opened(place, None) as alone, opened(place, searchers) as parted:
            for here, there in (
                (alone, parted),
                (alone.as_principals(principals), parted.as_principals(principals)),
            ):
                for way in WAYS:
                    assert said(there.search(query, **way)) == said(here.search(query, **way))
                assert there.suggest(query[:3]) == here.suggest(query[:3])
                assert there.search("me*").hits == here.search("me*").hits
                assert there.why_not(query, "0.txt") == here.why_not(query, "0.txt")
                assert there.documents() == here.documents()
        for one in searchers.made:
            one.close()


def test_a_search_asks_for_the_counts_of_a_term_once(tmp_path: Path) -> None:
    filled(tmp_path / "kb", [(f"soup {number}\n\nthe hot bread", None, False) for number in range(6)])
    searchers = SearchersHere(lambda _: LocalStore(tmp_path / "kb", create=False), 1)
    with opened(tmp_path / "kb", searchers) as parted:
        assert parted.search("bread").hits
        counted = searchers.asked.count("counted")
    assert counted == 2  # for the question's terms, and for those of the passages that feedback takes terms from
    for one in searchers.made:
        one.close()


def test_what_is_added_and_deleted_is_found_by_the_next_search(tmp_path: Path) -> None:
    filled(tmp_path / "kb", [("soup\n\nbread", None, False)] * 5)
    searchers = SearchersHere(lambda _: LocalStore(tmp_path / "kb", create=False), 2)
    with opened(tmp_path / "kb", searchers) as parted:
        assert parted.search("merger", mode="bm25").hits == ()
        parted.add("a merger", source="new.txt")
        assert [hit.source for hit in parted.search("merger", mode="bm25").hits] == ["new.txt"]
        parted.delete("new.txt")
        assert parted.search("merger", mode="bm25").hits == ()
    for one in searchers.made:
        one.close()


@pytest.mark.parametrize("losing", ["begin", "ask"])
def test_an_answer_without_a_lost_searcher_is_that_of_an_index_without_its_passages(
    tmp_path: Path, losing: str
) -> None:
    filled(tmp_path / "kb", [(f"soup {number}\n\nthe bread", None, False) for number in range(6)])
    searchers = SearchersHere(lambda _: LocalStore(tmp_path / "kb", create=False), 2, losing)
    with opened(tmp_path / "kb", searchers) as parted:
        whole = parted.search("soup", k=20)
        searchers.lost = {0}
        found = parted.search("soup", k=20)
        (warning,) = found.warnings
        assert (warning.stage, warning.code, found.degraded) == ("search", "unavailable", True)
        assert warning.message == "searcher 1 of 2 is being started again; what it holds was not searched."
        assert 0 < found.counts.retrieved < whole.counts.retrieved
        left = {hit.source for hit in found.hits}
        with opened(tmp_path / "kb", None) as alone:
            alone.delete(*{info.source for info in alone.documents()} - left)
            expected = alone.search("soup", k=20)
        assert [(one.chunk_id, one.score) for one in found.hits] == [(one.chunk_id, one.score) for one in expected.hits]
        searchers.absent = set()
        assert parted.search("soup", k=20).warnings == ()
        searchers.absent = {0, 1}
        with pytest.raises(PartLostError, match="No searcher answers"):
            parted.search("soup")
        assert len(parted.documents()) == len(left)  # rows are read here
    for one in searchers.made:
        one.close()


def test_a_searcher_that_is_lost_while_the_languages_are_asked_for_is_missing_as_at_any_other_moment(
    tmp_path: Path,
) -> None:
    searchers = SearchersHere(lambda _: LocalStore(tmp_path / "kb", create=False), 2, losing="ask")
    in_parts = SpreadStore("kb", lambda create: LocalStore(tmp_path / "kb", create=create, upkeep=SMALL), searchers)
    said_by = {"analyzer": "auto"}
    with Index(tmp_path / "kb", embedder=HashingEmbedder(), store=in_parts, overrides=said_by) as parted:
        for number in range(6):
            parted.add(ENGLISH.format(number), source=f"{number}.txt")
            parted.add(GERMAN.format(number), source=f"{number}.de.txt")
        whole = parted.search("Suppe", k=20)
        assert "analyzed as de, en" in whole.stages[0].notes
        searchers.lost = {0}  # by the first question, which is for the languages
        found = parted.search("Suppe", k=20)
        assert [one.code for one in found.warnings] == ["unavailable"]
        assert 0 < found.counts.retrieved < whole.counts.retrieved
        searchers.absent = set()
        assert said(parted.search("Suppe", k=20)) == said(whole)
    for one in searchers.made:
        one.close()


def test_an_actor_that_is_lost_is_replaced_and_missing_until_the_other_has_started(tmp_path: Path) -> None:
    filled(tmp_path / "kb", [(f"soup {number}", None, False) for number in range(6)])
    started: list[ThreadActor] = []

    def started_one(number: int, count: int) -> ThreadActor:
        held = Searcher(lambda _: LocalStore(tmp_path / "kb", create=False), Share(number, count))
        started.append(ThreadActor(held, lost=1 if not started else 0, method="ask"))
        return started[-1]

    searchers = RaySearchers(started_one, 2, THREADS)
    searchers.wait()
    with opened(tmp_path / "kb", searchers) as parted:
        first = parted.search("soup", k=20)
        assert len(started) == 3
        assert [one.code for one in first.warnings] in ([], ["unavailable"])  # the other may have started by then
        started[2].ready.remote().result()
        whole = parted.search("soup", k=20)
        assert whole.warnings == ()
        with opened(tmp_path / "kb", None) as alone:
            assert whole.hits == alone.search("soup", k=20).hits
    for actor in started:
        actor.close.remote().result()
        actor.stop()


@pytest.mark.parametrize("kind", ["s3", "postgres"])
def test_parts_of_an_index_in_a_bucket_or_a_database_rank_as_one_machine_also_when_a_searcher_was_lost(
    request: pytest.FixtureRequest, kind: str
) -> None:
    where = str(request.getfixturevalue(kind))
    filled(where, [(f"soup {number}\n\nthe bread {number % 3}", READERS[number % 7], False) for number in range(12)])
    started: list[ThreadActor] = []

    def started_one(number: int, count: int) -> ThreadActor:
        started.append(ThreadActor(SearcherActor(load_settings().home, number, count), method="ask"))
        return started[-1]

    searchers = RaySearchers(started_one, 3, THREADS)
    searchers.wait()
    with opened(where, None) as alone, opened(where, searchers) as parted:
        for principals in (None, ["user:ann", "group:legal"]):
            here, there = (one if principals is None else one.as_principals(principals) for one in (alone, parted))
            for way in WAYS:
                assert said(there.search("bread soup", **way)) == said(here.search("bread soup", **way))
        started[1].lose(1)
        first = parted.search("soup bread 2", k=20)
        assert [one.code for one in first.warnings] in ([], ["unavailable"])  # the other may have started by then
        started[-1].ready.remote().result()
        assert len(started) == 4
        assert said(parted.search("soup", k=20)) == said(alone.search("soup", k=20))
        parted.add("a merger of soup", source="new.txt")
        assert said(parted.search("merger", k=20)) == said(alone.search("merger", k=20))
        assert parted.search("merger").hits[0].source == "new.txt"
    for actor in started:
        actor.close.remote().result()
        actor.stop()
