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
from twofold.domain.access import Readers
from twofold.domain.errors import PartLostError
from twofold.domain.types import Document
from twofold.factory.ray_searchers import RaySearchers
from twofold.ingest.document import document_of_text
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.search.result import SearchResult
from twofold.stores.local.snapshot import Share
from twofold.stores.local.store import LocalStore
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


@contextmanager
def opened(folder: Path, searchers: Searchers | None) -> Iterator[Index]:
    here = partial(LocalStore, folder, upkeep=SMALL)
    store = here() if searchers is None else SpreadStore("kb", lambda create: here(create=create), searchers)
    with Index(folder, embedder=HashingEmbedder(), store=store) as index:
        yield index


def filled(folder: Path, documents: Sequence[Written]) -> None:
    """Write an index of many segments, a tail that is in none, and dead passages among both."""
    with opened(folder, None) as index:
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


def test_an_answer_without_a_lost_searcher_is_that_of_an_index_without_its_passages(tmp_path: Path) -> None:
    filled(tmp_path / "kb", [(f"soup {number}\n\nthe bread", None, False) for number in range(6)])
    searchers = SearchersHere(lambda _: LocalStore(tmp_path / "kb", create=False), 2)
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


def test_an_actor_that_is_lost_is_replaced_and_missing_until_the_other_has_started(tmp_path: Path) -> None:
    filled(tmp_path / "kb", [(f"soup {number}", None, False) for number in range(6)])
    started: list[ThreadActor] = []

    def started_one(number: int, count: int) -> ThreadActor:
        held = Searcher(lambda _: LocalStore(tmp_path / "kb", create=False), Share(number, count))
        started.append(ThreadActor(held, lost=1 if not started else 0, method="ask"))
        return started[-1]

    errors = SimpleNamespace(RayError=ConnectionError, RayTaskError=ConnectionAbortedError)
    api = SimpleNamespace(get=thread_actors.get, wait=thread_actors.ready, exceptions=errors, kill=lambda _: None)
    searchers = RaySearchers(started_one, 2, api)
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
