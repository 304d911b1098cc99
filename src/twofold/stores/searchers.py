"""An index that searchers hold in parts: they are asked at once, and what they say is put together.

The store here keeps the rows. It opens one state, has each searcher stand on the same one, adds up their statistics,
and ranks what they found by the code that searches several indexes as one: the bits are those of one machine.
"""

import secrets
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from twofold.domain.access import Viewer
from twofold.domain.errors import CorruptError, PartLostError, StoreError
from twofold.domain.filters import Label
from twofold.domain.ports import ALL, FetchedPassage, IndexFingerprint, Snapshot, Store
from twofold.domain.types import (
    Chunk,
    ChunkKeys,
    Document,
    DocumentInfo,
    Sizes,
    Statistics,
    TermQuery,
    Vector,
    Vocabulary,
    WordCount,
)
from twofold.stores.federated import FederatedSnapshot, Named, added_statistics
from twofold.stores.federated_ids import Places
from twofold.stores.local.store import SegmentedStore
from twofold.stores.local.tfidf import added_counts
from twofold.stores.missing import MissingStore
from twofold.stores.searcher import ShareSummary
from twofold.text.bm25 import shared_statistics
from twofold.text.phrases import squeeze
from twofold.text.term_table import ScoredTerms

ATTEMPTS = 10
EVERY_WORD = 2**31
NOBODY = -1

Answer = TypeVar("Answer")


class Searchers(Protocol):
    """Searchers on this machine or on others; see `Searcher` for what they are asked. Thread-safe."""

    @property
    def count(self) -> int:
        """How many there are, those that are started again included."""

    def present(self) -> Sequence[int]:
        """Return the numbers of those that can be asked now."""

    def start(self, number: int, method: str, *given: object) -> Any:  # noqa: ANN401  # whatever stands for a call
        """Begin a call to one searcher."""

    def landed(self, call: Any) -> Any:  # noqa: ANN401
        """Return what a call gave. Raises what it raised, or PartLostError; then that searcher is started again."""


class _Part:
    """Stands for one searcher's view of a question; each call begins, and `landed` gives what comes of it."""

    def __init__(self, searchers: Searchers, number: int, question: str) -> None:
        self._searchers, self._number, self._question = searchers, number, question

    def __getattr__(self, method: str) -> Callable[..., Any]:
        return partial(self._searchers.start, self._number, "ask", self._question, method)


class _OwnKeys:
    """Whose each passage is, whose key is the same everywhere: noted when it is found, asked of all when it was not."""

    def __init__(self, locate: Callable[[ChunkKeys], Sequence[ChunkKeys]]) -> None:
        self._locate = locate
        self._owners: dict[int, int] = {}

    def join(self, number: int, keys: ChunkKeys) -> ChunkKeys:
        """Return the keys, and note whose they are."""
        self._owners.update(dict.fromkeys(keys.tolist(), number))
        return keys

    def split(self, keys: ChunkKeys) -> Iterator[tuple[int, Places, ChunkKeys]]:
        """Yield each part that some keys are of: its number, where they stand, and the keys."""
        unknown = [key for key in keys.tolist() if key not in self._owners]
        if unknown:
            self._owners.update(dict.fromkeys(unknown, NOBODY))
            for number, held in enumerate(self._locate(np.array(unknown, dtype=np.int64))):
                self.join(number, held)
        owners = np.array([self._owners[key] for key in keys.tolist()], dtype=np.int64)
        for number in sorted(set(owners.tolist()) - {NOBODY}):
            places = np.flatnonzero(owners == number)
            yield number, places, keys[places]


class _Words:
    """The words of all parts; for a `viewer` cut when they are added up, since no cut may depend on what is hidden."""

    def __init__(self, ask: Callable[..., Sequence[Any]], *, for_viewer: bool) -> None:
        self._ask = ask
        self._for_viewer = for_viewer

    @property
    def fields(self) -> frozenset[str]:
        """The names of the fields that any passage has."""
        return frozenset(chain.from_iterable(self._ask("fields")))

    def starting_with(self, prefix: str, most: int) -> Sequence[WordCount]:
        """Return the most frequent words that begin with a folded prefix."""
        return self._counted("starting_with", prefix, most)

    def like(self, pattern: str, most: int) -> Sequence[WordCount]:
        """Return the most frequent words of a folded pattern."""
        return self._counted("like", pattern, most)

    def near(self, word: str, distance: int) -> Sequence[tuple[WordCount, int]]:
        """Return the words within an edit distance of a folded word, each with it."""
        distances = {}
        for one, away in (found := list(self._call_all("near", word, distance))):
            distances[one.word] = away
        return [(one, distances[one.word]) for one in _added_up(one for one, _ in found)]

    def titles(self, prefix: str, most: int) -> Sequence[str]:
        """Return titles in which a word begins with a folded prefix; those that begin with it themselves come first."""
        found = list(dict.fromkeys(self._call_all("titles", prefix, most)))
        return sorted(found, key=lambda one: (not squeeze(one).startswith(prefix), len(squeeze(one)), one))

    def _counted(self, method: str, wanted: str, most: int) -> Sequence[WordCount]:
        if not self._for_viewer:
            return list(self._call_all(method, wanted, most))
        return _added_up(self._call_all(method, wanted, EVERY_WORD))[:most]

    def _call_all(self, method: str, *given: object) -> Iterator[Any]:
        for one in self._ask("words", method, *given):
            for some in one:
                yield from some


def _added_up(counts: Iterable[WordCount]) -> list[WordCount]:
    total: Counter[str] = Counter()
    for word, often in counts:
        total[word] += often
    return [WordCount(word, total[word]) for word in sorted(total, key=lambda one: (-total[one], one))]


class _State(NamedTuple):
    """What a view stands on: the rows, the searchers that take part, and what could not be searched."""

    rows: Snapshot
    searchers: Searchers
    question: str
    summaries: Mapping[int, ShareSummary]
    missing: tuple[str, ...]


class SpreadSnapshot(FederatedSnapshot):
    """One state of an index whose segments searchers hold: rows are read here, everything else is asked of them."""

    def __init__(self, state: _State, viewer: Viewer | None) -> None:
        parts = [_Part(state.searchers, number, state.question) for number in state.summaries]
        named = zip(map(str, state.summaries), parts, strict=True)
        super().__init__([Named(name, cast("Snapshot", part)) for name, part in named])
        self._keys = _OwnKeys(self._located)
        self._rows, self._searchers, self._viewer = state.rows, state.searchers, viewer
        self._summaries, self._missing = tuple(state.summaries.values()), state.missing
        self._totals: Statistics | None = None
        self._holding: dict[str, int] = {}

    @property
    def missing(self) -> Sequence[str]:
        """Names the searchers that are not there."""
        return self._missing

    @property
    def viewer_key(self) -> str:
        """What tells viewers apart."""
        return self._rows.viewer_key

    @property
    def generation(self) -> int:
        """Counts changes; it never goes back."""
        return self._rows.generation

    @property
    def synonyms(self) -> str:
        """The rules of its synonyms, one a line."""
        return self._summaries[0].synonyms

    @property
    def fingerprint(self) -> IndexFingerprint | None:
        """What the passages were made by."""
        return self._summaries[0].fingerprint

    @property
    def pending(self) -> int:
        """Counts the passages that have no vector yet."""
        return sum(one.pending for one in self._summaries)

    def sizes(self) -> Sizes:
        """Count the documents, and the passages that can be searched."""
        return Sizes(self._summaries[0].sizes.documents, sum(one.sizes.chunks for one in self._summaries))

    def statistics(self, terms: Sequence[str]) -> Statistics:
        """Add up what the searchers count, and round the sum for those viewers who get it so. A term is asked once."""
        unknown = tuple(dict.fromkeys(term for term in terms if term not in self._holding))
        if unknown or self._totals is None:
            self._totals = added_statistics(self._every("counted", unknown), unknown)
            self._holding.update(self._totals.frequencies)
        counted = replace(self._totals, frequencies={term: self._holding[term] for term in terms})
        shared = self._viewer is not None and self._viewer.statistics == "shared"
        return shared_statistics(counted) if shared else counted

    def explain_terms(self, query: TermQuery, keys: Sequence[int]) -> ScoredTerms:
        """Return what each term adds to the scores of some passages."""
        found = super().explain_terms(query, keys)
        if any(found.idfs):
            return replace(found, query=query)
        nothing = self._ask(0, lambda view: view.explain_terms(self._with_statistics(query), []))
        return replace(found, query=query, idfs=tuple(nothing.idfs))

    def vocabularies(self) -> Sequence[Vocabulary]:
        """Return the words of the collection."""
        return [_Words(self._every, for_viewer=self._viewer is not None)]

    def chunks(self, keys: Sequence[int]) -> Sequence[Chunk]:
        """Fetch passages in the order asked."""
        return self._fetched(keys, lambda view, wanted: view.chunks(wanted))

    def fetch(self, keys: Sequence[int]) -> Sequence[FetchedPassage]:
        """Fetch passages with their documents' names, in the order asked."""
        return self._fetched(keys, lambda view, wanted: view.fetch(wanted))

    def vectors(self, keys: Sequence[int]) -> Sequence[Vector | None]:
        """Return passages' own vectors as they are stored, in the order asked."""
        return self._fetched(keys, lambda view, wanted: cast("Any", view).vectors(wanted))

    def count_documents(self, keys: ChunkKeys, field: str, label: Label) -> Mapping[Hashable, int]:
        """Count the documents that hold a value; one whose passages two searchers hold counts once."""
        held: dict[Hashable, list[NDArray[np.int64]]] = {}
        for _, _, found in self._ask_each(keys, lambda view, own: cast("Any", view).documents_of(own, field, label)):
            for name, rows in found.items():
                held.setdefault(name, []).append(rows)
        return {name: len(np.unique(np.concatenate(rows))) for name, rows in held.items()}

    def document(self, document: str) -> Document | None:
        """Fetch one document by id, whole."""
        return self._rows.document(document)

    def describe(self, documents: Sequence[str]) -> Mapping[str, DocumentInfo]:
        """Describe documents by id."""
        return self._rows.describe(documents)

    def documents(self) -> Iterator[DocumentInfo]:
        """List all documents by rising source, then id."""
        return self._rows.documents()

    def chunks_of(self, document: str) -> Sequence[Chunk]:
        """Fetch a document's passages in reading order."""
        return self._rows.chunks_of(document)

    def stretch(self, document: str, first: int, last: int) -> Sequence[Chunk]:
        """Fetch a document's passages with ordinals from `first` to `last`, both included, in reading order."""
        return self._rows.stretch(document, first, last)

    def vectors_for(self, texts: Sequence[str]) -> Mapping[str, Vector]:
        """Return the vectors already stored for passages with exactly these indexed texts."""
        return self._rows.vectors_for(texts)

    def pending_texts(self, most: int) -> Sequence[str]:
        """Return indexed texts of passages without a vector, each once, in the order of writing."""
        return self._rows.pending_texts(most)

    def _located(self, keys: ChunkKeys) -> Sequence[ChunkKeys]:
        return self._ask_all(lambda view: view.within(keys, ALL))

    def _with_statistics(self, query: TermQuery) -> TermQuery:
        if query.scorer == "tfidf" and not all(self._every("has_norms")):
            self._every("take_norms", self.sizes().chunks, added_counts(self._every("count_terms")))
        return super()._with_statistics(query)

    def _every(self, method: str, *given: object) -> list[Any]:
        return self._ask_all(lambda view: getattr(view, method)(*given))

    def _ask(self, number: int, call: Callable[[Snapshot], Answer]) -> Answer:
        return cast("Answer", self._searchers.landed(call(self._collections[number].view)))

    def _ask_all(self, call: Callable[[Snapshot], Answer]) -> list[Answer]:
        """Ask all at once."""
        calls = [call(view) for _, view in self._collections]
        return [cast("Answer", self._searchers.landed(one)) for one in calls]

    def _ask_each(
        self, keys: ChunkKeys, call: Callable[[Snapshot, ChunkKeys], Answer]
    ) -> Sequence[tuple[Places, ChunkKeys, Answer]]:
        """Ask each for its own of some keys, all at once."""
        split = list(self._keys.split(keys))
        calls = [call(self._collections[number].view, local) for number, _, local in split]
        return [
            (places, local, cast("Answer", self._searchers.landed(one)))
            for (_, places, local), one in zip(split, calls, strict=True)
        ]


class SpreadStore(MissingStore):
    """A store whose searches are done by searchers; all else is done here. It is that of `where`, opened by `opener`.

    What a searcher held that is not there is missing from answers until it was started again, and its view says so.
    """

    def __init__(self, where: str, opener: Callable[[bool], Store], searchers: Searchers) -> None:
        super().__init__(opener)
        self._where = where
        self._searchers = searchers

    def view(self, viewer: Viewer | None = None, *, rows_only: bool = False) -> AbstractContextManager[Snapshot]:
        """Open one consistent state. Raises PartLostError where no searcher answers, as its methods do."""
        whole = self._there()
        return whole.view(viewer, rows_only=True) if rows_only else self._spread(whole, viewer)

    def close(self) -> None:
        """Close what was opened, here and by the searchers."""
        for number in self._searchers.present():
            self._searchers.start(number, "forget", self._where)
        super().close()

    @contextmanager
    def _spread(self, whole: Store, viewer: Viewer | None) -> Iterator[SpreadSnapshot]:
        for _ in range(ATTEMPTS):
            with ExitStack() as stack:
                rows = stack.enter_context(whole.view(viewer, rows_only=True))
                state = self._begun(stack, rows, viewer)
                if _stand_together(state):
                    yield SpreadSnapshot(state, viewer)
                    return
            if isinstance(whole, SegmentedStore):
                whole.catch_up()
        raise StoreError("The index changes too fast to be read.", "Run the search again.")

    def _begun(self, stack: ExitStack, rows: Snapshot, viewer: Viewer | None) -> _State:
        """Have all searchers open a view of the state of the rows."""
        searchers, question = self._searchers, secrets.token_hex(8)
        calls = {}
        for number in searchers.present():
            calls[number] = searchers.start(number, "begin", self._where, question, viewer, rows.generation)
            stack.callback(searchers.start, number, "end", question)
        summaries = {}
        for number, call in calls.items():
            try:
                summaries[number] = searchers.landed(call)
            except PartLostError:
                continue
        lost = [number for number in range(searchers.count) if number not in summaries]
        if not summaries:
            raise PartLostError("No searcher answers.", "They are started again: ask again in some seconds.")
        return _State(rows, searchers, question, summaries, tuple(_absent(one, searchers.count) for one in lost))


def _stand_together(state: _State) -> bool:
    """Return whether all stand on the state of the rows. Raises CorruptError where their shares are not all of it."""
    summaries = list(state.summaries.values())
    if any(one.state != summaries[0].state for one in summaries[1:]):
        return False
    if summaries[0].state.generation != state.rows.generation:
        return False
    held = sum(one.chunks for one in summaries)
    if not state.missing and held != summaries[0].state.chunks:
        raise CorruptError(
            f"The searchers hold {held} passages where the index has {summaries[0].state.chunks}.",
            "Run `twofold index verify`.",
        )
    return True


def _absent(number: int, count: int) -> str:
    return f"searcher {number + 1} of {count} is being started again; what it holds was not searched."
