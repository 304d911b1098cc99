"""What tuning without judgements stands on: questions made from an index, and a scratch index without their words."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from twofold.cli.eval.dataset import EvalData, Needs, parts_on
from twofold.cli.render.progress import progress_on
from twofold.domain.dataclass import dataclass
from twofold.domain.ports import Snapshot
from twofold.domain.types import Document
from twofold.evaluation.run import fill_with
from twofold.evaluation.synthetic import Making, PseudoQuestions, pseudo_questions
from twofold.factory.search import open_store
from twofold.indexing.components import IndexingComponents
from twofold.indexing.types import Phase, SyncProgress
from twofold.text.analyzers import analyzer_for

MAX_DOCUMENTS = 2_000
"""Of a larger collection this many documents, drawn at random, are searched."""


@dataclass(frozen=True, slots=True)
class SyntheticQueries:
    """The ground to search, and how many questions of each kind there are."""

    ground: EvalData
    kinds: Mapping[str, int]


@contextmanager
def synthetic_queries(index: str | None, needs: Needs, most: int, seed: int) -> Iterator[SyntheticQueries]:
    """Make at most `number` questions from an index's documents, and fill a scratch index without their words.

    Only passages that changed are embedded. Raises InvalidInputError when no question can be made.
    """
    store = open_store(index or needs.settings.index, needs.settings, create=False)
    with parts_on(store, needs) as parts, TemporaryDirectory(prefix="twofold-tune-") as folder:
        scratch = replace(parts, store=open_store(Path(folder) / "index", needs.settings, create=True))
        try:
            with store.view() as view:
                made = _questions(parts, view, most, seed)
                _fill(scratch, made, view)
            names = {document.id: document.id for document in made.documents}
            yield SyntheticQueries(EvalData(made.judged, len(made.documents), scratch, names), made.kinds)
        finally:
            scratch.store.close()


def _questions(parts: IndexingComponents, view: Snapshot, most: int, seed: int) -> PseudoQuestions:
    known = sorted(info.id for info in view.documents())
    if len(known) > MAX_DOCUMENTS:
        known = Random(seed).sample(known, MAX_DOCUMENTS)  # noqa: S311  # a lot, no secret
    documents = [document for document in map(view.document, known) if document is not None]

    def frequencies(terms: tuple[str, ...]) -> Mapping[str, int]:
        return view.statistics(terms).frequencies

    words = analyzer_for(dict(parts.settings)["analyzer"])
    making = Making(words, frequencies, view.statistics(()).chunks, seed)
    return pseudo_questions(documents, most, making)


def _fill(scratch: IndexingComponents, made: PseudoQuestions, view: Snapshot) -> None:
    documents: tuple[Document, ...] = made.documents
    with progress_on() as draw:

        def filled(done: int, passages: int) -> None:
            draw(SyncProgress(Phase.WRITE, done, len(documents), "", passages))

        fill_with(scratch, documents, view, filled)
