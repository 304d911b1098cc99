"""What every store promises of documents that not everybody may read: for others they are not there at all."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from twofold.domain.access import PUBLIC, Viewer, viewer_of
from twofold.domain.errors import InvalidInputError, NotFoundError
from twofold.domain.filters import Condition, Operator
from twofold.domain.ports import Scope, Snapshot, Store
from twofold.domain.types import Clause, Entry, GroupMember, TermQuery
from twofold.testing.making import entry, pending, query, vector

ANN = viewer_of(["user:ann", "group:legal"])
BOB = viewer_of(["user:bob"])
SOUP, BREAD = GroupMember(("soup",)), GroupMember(("bread",))
SCOPES = (Scope(), Scope(required=(Clause(("the",)),)), Scope(Condition("kind", Operator.EQ, "memo")))


def readable_by(made: Entry, *readers: str) -> Entry:
    """Return a document with readers."""
    return replace(made, document=replace(made.document, readers=tuple(sorted(readers))))


def collection() -> list[Entry]:
    """Return documents of Ann's, of Bob's and of everybody's, with words and texts in common."""
    return [
        readable_by(entry("the merger of two firms\nthe price is secret", "deal.txt", {"kind": "memo"}), "group:legal"),
        entry("the canteen has soup\nsoup and bread", "menu.txt", {"kind": "memo"}),
        readable_by(entry("the soup is cold\nbob eats bread\nthe canteen has soup", "bob.txt"), "user:bob"),
        readable_by(entry("all may read of bread", "all.txt"), PUBLIC, "user:bob"),
        readable_by(entry("nobody reads the merger", "none.txt")),
        readable_by(pending(entry("the merger waits for a vector\nthe soup", "wait.txt"), 0), "user:ann"),
    ]


def seen(view: Snapshot, everything: list[Entry]) -> Mapping[str, object]:
    """Return all that a view says, asked for everything that there ever was."""
    keys = [one.chunk.key for made in everything for one in made.chunks]
    names = [made.document.id for made in everything]
    asked, direction = query("the merger soup bread"), vector("the canteen has soup")
    listed = view.within(np.array(sorted(keys), dtype=np.int64), Scope())
    number = count()
    said: dict[str, object] = {}
    for scope in SCOPES:
        for k in (1, 3, 99):
            said[f"bm25 {next(number)}"] = list(view.search_bm25(asked, k, scope))
            said[f"tfidf {next(number)}"] = list(view.search_bm25(replace(asked, scorer="tfidf"), k, scope))
            said[f"vector {next(number)}"] = list(view.search_vectors(direction, k, scope))
        said[f"within {next(number)}"] = view.within(np.array(keys), scope).tolist()
    all_keys = np.array(keys, dtype=np.int64)
    table, found = view.explain_terms(asked, keys), view.passage_terms(listed.tolist())
    held = view.document_frequencies(found.ids).tolist()
    words, patterns = view.vocabularies(), [scope for scope in SCOPES if scope != Scope()]
    for part in words:
        said[f"words {next(number)}"] = (part.starting_with("m", 2), part.like("*o*", 9), sorted(part.near("sou", 1)))
        said[f"titles {next(number)}"] = (sorted(part.titles("b", 9)), part.fields)
    return said | {
        "counted": view.count_within(Scope(), patterns),
        "scores": view.score_terms(asked, all_keys).tolist(),
        "cosines": view.score_vector(direction, all_keys).tolist(),
        "waiting": view.without_vector(all_keys).tolist(),
        "explained": [table.of(place) for place in range(len(keys))],
        "statistics": view.statistics(["the", "merger", "soup", "secret", "absent"]),
        "chunks": list(view.chunks(listed.tolist())),
        "terms": list(view.term_counts(listed.tolist())),
        "frequencies": sorted(zip(view.term_texts(found.ids), held, strict=True)),
        "documents": list(view.documents()),
        "described": view.describe(names),
        "fetched": [view.document(name) for name in names],
        "passages": [list(view.chunks_of(name)) for name in names],
        "stretches": [list(view.stretch(name, 0, 9)) for name in names],
        "vectors": {text: one.tolist() for text, one in view.vectors_for(_texts(everything)).items()},
        "pending": (view.pending, list(view.pending_texts(99))),
        "sizes": view.sizes(),
    }


def _texts(everything: list[Entry]) -> list[str]:
    return [one.chunk.indexed_text for made in everything for one in made.chunks]


class StoreAccess:
    """The part of `StoreContract` that is about who may read."""

    @pytest.mark.parametrize("viewer", [ANN, BOB, viewer_of([]), viewer_of(["user:ann"], default=[])])
    @pytest.mark.parametrize("compacted", [False, True])
    def test_what_may_not_be_read_is_as_if_it_were_not_there(
        self, store: Store, viewer: Viewer, *, compacted: bool
    ) -> None:
        made = collection()
        store.upsert(made[:3])
        if compacted:
            store.compact()
        store.upsert(made[3:])
        with store.view(viewer) as view:
            found = seen(view, made)
        hidden = [one.document.id for one in made if not viewer.may_read(one.document.readers)]
        assert hidden
        store.delete(hidden)
        store.compact()  # until then the owner is shown words that deleted documents alone have
        with store.view() as view:
            expected = seen(view, made)
        assert found == expected

    def test_what_may_not_be_read_cannot_be_fetched_by_its_key(self, store: Store) -> None:
        made = collection()
        store.upsert(made)
        key = made[0].chunks[0].chunk.key
        with store.view(BOB) as view:
            for fetch in (view.chunks, view.fetch, view.term_counts, view.passage_terms):
                with pytest.raises(NotFoundError):
                    fetch([key])
        with store.view(ANN) as view:
            assert view.chunks([key])[0].text == "the merger of two firms"
            assert view.viewer_key == ANN.key != BOB.key
        with store.view() as view:
            assert view.viewer_key == ""

    def test_readers_change_for_the_next_view_and_nothing_else_does(self, store: Store) -> None:
        made = collection()
        store.upsert(made)
        store.compact()
        deal, menu = made[0].document.id, made[1].document.id
        with store.view(BOB) as before:
            store.set_readers({deal: ("user:bob",), menu: (), "nobody": ("user:bob",)})
            assert before.document(deal) is None
        with store.view(BOB) as view:
            assert view.document(deal) == replace(made[0].document, readers=("user:bob",))
            assert view.document(menu) is None
            assert list(view.chunks_of(deal)) == [one.chunk for one in made[0].chunks]
            assert view.search_bm25(query("secret"), 9).keys.tolist() == [made[0].chunks[1].chunk.key]
            assert view.search_vectors(vector("the price is secret"), 1).scores[0] == pytest.approx(1.0, abs=1e-3)
        with store.view(ANN) as view:
            assert view.document(deal) is None
        store.set_readers({deal: None})
        with store.view(viewer_of([])) as view:
            assert view.describe([deal])[deal].readers is None
        with store.view(viewer_of(["user:bob"], default=[])) as view:
            assert view.describe([deal]) == {}

    def test_a_document_that_is_put_again_keeps_its_readers(self, store: Store) -> None:
        made = collection()
        store.upsert(made)
        store.upsert([entry("the merger is off", "deal.txt")])
        with store.view(BOB) as view:
            assert view.document(made[0].document.id) is None
        store.upsert([readable_by(entry("the merger is off", "deal.txt"), PUBLIC)])
        with store.view(BOB) as view:
            found = view.document(made[0].document.id)
            assert found is not None
            assert found.readers == (PUBLIC,)

    def test_what_is_no_principal_is_refused(self, store: Store) -> None:
        made = entry("word")
        for readers in (("ann",), ("user:",), ("user:a b",), ("group:\ud800",), ("*",)):
            with pytest.raises(InvalidInputError):
                store.upsert([replace(made, document=replace(made.document, readers=readers))])
        store.upsert([made])
        with pytest.raises(InvalidInputError):
            store.set_readers({made.document.id: ("ann",)})
        with store.view(viewer_of([])) as view:
            assert view.document(made.document.id) == made.document

    def test_shared_statistics_count_all_and_are_rounded(self, store: Store) -> None:
        store.upsert([entry("\n".join(["soup of the day"] * 130), "a.txt"), entry("soup", "b.txt")])
        store.set_readers({entry("", "a.txt").document.id: ("user:bob",)})
        with store.view(viewer_of([], statistics="shared")) as view:
            counted = view.statistics(["soup", "day", "absent"])
            assert counted.rounded
            assert (counted.chunks, counted.words) == (130, 520)  # of 131 passages and 521 words
            assert counted.frequencies == {"soup": 130, "day": 130, "absent": 0}
            (hit,) = view.search_bm25(query("soup"), 9)
            table = view.explain_terms(query("soup"), [hit.key])
            assert hit.score == table.of(0)[0].score
            # ln(1 + (130 - 130 + .5) / (130 + .5)): what two digits of the counts make of it
            assert table.of(0)[0].idf == pytest.approx(0.0038241)
            terms = view.passage_terms([hit.key])
            assert view.document_frequencies(terms.ids).tolist() == [130]
            assert view.sizes() == (1, 1)
            # a group occurs where its most frequent member does: soup, 130, for a pattern as well as for a word
            group = TermQuery({"soup or bread": 1.0}, groups={"soup or bread": (SOUP, BREAD)})
            assert view.explain_terms(group, [hit.key]).of(0)[0].idf == pytest.approx(0.0038241)
        with store.view(viewer_of([])) as view:
            assert not view.statistics(["soup"]).rounded
