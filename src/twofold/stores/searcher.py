"""A searcher: an open store that holds a share of the segments, and answers for it what it is asked, view by view.

It knows nothing of the other searchers. Where it stands it says with each view that it opens, so that who asks several
can see to it that all stand on one state.
"""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, NamedTuple, TypeVar, cast

from twofold.domain.access import Viewer
from twofold.domain.errors import InvalidInputError, PartLostError
from twofold.domain.ports import IndexFingerprint, Store
from twofold.domain.types import Sizes, TermQuery
from twofold.stores.local.snapshot import Share, State, read_state
from twofold.stores.local.store import SegmentedStore
from twofold.stores.local.tfidf import TermCounts, make_norms, term_counts
from twofold.stores.local.view import LocalSnapshot

MAX_QUERIES = 8  # of one question: its variants, and those that feedback made

Given = TypeVar("Given")


class ShareSummary(NamedTuple):
    """The state that a searcher's view stands on, and what of it is in its share, all of it or as a viewer sees it."""

    state: State
    chunks: int
    sizes: Sizes
    pending: int
    fingerprint: IndexFingerprint | None
    synonyms: str


class ShareView(LocalSnapshot):
    """A view that answers for a share of the segments, and can say what only all shares together make a figure."""

    def summary(self) -> ShareSummary:
        """Return where it stands."""
        state, whole = read_state(self._connection), self._whole.state
        return ShareSummary(state, whole.chunks, self.sizes(), self.pending, self.fingerprint, self.synonyms)

    def words(self, method: str, *given: object) -> list[Any]:
        """Return what each vocabulary of the share says."""
        return [getattr(one, method)(*given) for one in self.vocabularies()]

    def fields(self) -> frozenset[str]:
        """Return the names of the fields that any passage has."""
        return frozenset().union(*(one.fields for one in self.vocabularies()))

    def has_norms(self) -> bool:
        """Return whether passages have their norms for TF-IDF, which depend on all shares."""
        return bool(self._snapshot.tfidf_norms)

    def count_terms(self) -> TermCounts:
        """Count in how many living passages each term occurs."""
        return term_counts(self._snapshot)

    def take_norms(self, chunks: int, counted: TermCounts) -> None:
        """Make the passages' norms for TF-IDF by the counts of all shares."""
        make_norms(self._snapshot, chunks, counted)


class _Question(NamedTuple):
    view: ShareView
    stack: ExitStack
    heard: list[TermQuery]


class Searcher:
    """Holds its share of every index that it is asked for. It is asked by one thread at a time.

    `opener` opens the store of an index that is there, by what names it.
    """

    def __init__(self, opener: Callable[[str], Store], share: Share) -> None:
        self._opener = opener
        self._share = share
        self._stores: dict[str, SegmentedStore[Any]] = {}
        self._questions: dict[str, _Question] = {}

    def ready(self) -> bool:
        """Return true, once it was started."""
        return True

    def begin(self, where: str, question: str, viewer: Viewer | None, generation: int) -> ShareSummary:
        """Open a view of an index for a question, of this state or a later one, and say where it stands."""
        store = self._store(where)
        with ExitStack() as opened:
            view = opened.enter_context(store.view(viewer))
            if view.generation < generation:
                opened.close()
                store.catch_up()
                view = opened.enter_context(store.view(viewer))
            summary = cast("ShareView", view).summary()
            self._questions[question] = _Question(cast("ShareView", view), opened.pop_all(), [])
        return summary

    def ask(self, question: str, method: str, *given: object) -> Any:  # noqa: ANN401  # what that method returns
        """Ask the view of a question something. Raises PartLostError for a question that was not begun here."""
        held = self._questions.get(question)
        if held is None:
            raise PartLostError("A searcher was started again.", "Ask again.")
        return getattr(held.view, method)(*(_as_known(held.heard, one) for one in given))

    def end(self, question: str) -> None:
        """Close the view of a question."""
        held = self._questions.pop(question, None)
        if held is not None:
            held.stack.close()

    def forget(self, where: str) -> None:
        """Close an index."""
        store = self._stores.pop(where, None)
        if store is not None:
            store.close()

    def close(self) -> None:
        """Close all indexes."""
        for question in list(self._questions):
            self.end(question)
        for where in list(self._stores):
            self.forget(where)

    def _store(self, where: str) -> SegmentedStore[Any]:
        if where not in self._stores:
            made = self._opener(where)
            if not isinstance(made, SegmentedStore):
                raise InvalidInputError("This index cannot be searched in parts.", "Serve it without `--on`.")
            made.hold(self._share, ShareView)
            self._stores[where] = made
        return self._stores[where]


def _as_known(heard: list[TermQuery], given: Given) -> Given:
    """Return a query as it was heard before, since a view looks each one up once, and knows it as an object."""
    if not isinstance(given, TermQuery):
        return given
    known = next((one for one in heard if one == given), None)
    if known is None:
        heard[:] = [*heard[1 - MAX_QUERIES :], given]
        return given
    return cast("Given", known)
