"""What an evaluation stands on: a collection in a scratch index, an index and questions about it, or runs alone."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import typer

from twofold.cli.commands.models import ensure_present
from twofold.cli.render.progress import model_progress, progress_on
from twofold.cli.runtime import runtime_of, tell
from twofold.config.load import Settings, resolve
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.domain.ports import Store
from twofold.evaluation.answer_text import AnswerKey, read_answers
from twofold.evaluation.dataset import CorpusDocument, JudgedCollection, load, load_corpus
from twofold.evaluation.matching import as_written, matched
from twofold.evaluation.queries import Judged, read_judged
from twofold.evaluation.run import Unembedded, fill
from twofold.factory.indexing import indexing_components
from twofold.factory.search import effective_settings, open_store, stored_settings
from twofold.indexing.components import IndexingComponents
from twofold.indexing.types import Phase, SyncProgress


@dataclass(frozen=True, slots=True)
class Source:
    """Where judgements are: a folder with its split, or a file with its queries, about `index` if it is named.

    `answers` is a file of questions with the texts of their answers, about a folder's documents or an index.
    """

    folder: Path | None
    split: str
    qrels: Path | None
    queries: Path | None
    index: str | None
    answers: Path | None = None


@dataclass(frozen=True, slots=True)
class Needs:
    """What the configurations ask of the ground: something to search at all, and a model."""

    settings: Settings
    engine: bool
    model: bool


@dataclass(frozen=True, slots=True)
class EvalData:
    """Judged questions and what answers them. `names` and `unmatched` as in `twofold.evaluation.matching`.

    `answered` holds the questions with their answers where these judge, None where documents are judged. `pending`
    counts the passages of the index without a vector.
    """

    judged: JudgedCollection
    documents: int
    parts: IndexingComponents | None
    names: Mapping[str, str] = field(default_factory=dict)
    unmatched: tuple[str, ...] = ()
    answered: AnswerKey | None = None
    pending: int = 0


@contextmanager
def eval_data_of(source: Source, needs: Needs) -> Iterator[EvalData]:
    """Read the judgements, open or fill what is to be searched, and close it afterwards."""
    if source.answers is not None:
        with _by_answer(source, source.answers, needs) as ground:
            yield ground
        return
    if (source.folder is None) == (source.qrels is None):
        raise InvalidInputError(
            "An evaluation needs a judged folder or --qrels FILE, not both; or --answers FILE.",
            "Name a folder that holds corpus.jsonl, queries.jsonl and qrels/, or judge an index of your own.",
        )
    if source.folder is not None:
        if source.queries is not None or source.index is not None:
            raise InvalidInputError("--queries and --index go with --qrels.", "A judged folder brings its own.")
        with _collection(load(source.folder, source.split), needs) as ground:
            yield ground
    elif source.qrels is not None:
        with _index_data(read_judged(source.qrels, source.queries), source.index, needs) as ground:
            yield ground


def resolving(
    context: typer.Context, embedder: str | None, index: str | None, *, kept: bool
) -> Callable[[Mapping[str, str]], Settings]:
    """Return what puts settings together with some set otherwise; with `kept`, over those that the index keeps."""
    launch = runtime_of(context)
    said = {**launch.overrides, **({} if embedder is None else {"embedder": embedder})}
    own = _stored_settings(index, resolve(config=launch.config, overrides=said).settings) if kept else {}

    def resolved(overrides: Mapping[str, str]) -> Settings:
        found = resolve(config=launch.config, collection=own, overrides={**said, **overrides})
        tell(context, (one.line for one in found.ignored))
        return found.settings

    return resolved


def _stored_settings(index: str | None, settings: Settings) -> Mapping[str, str]:
    store = open_store(index or settings.index, settings, create=False)
    try:
        return store.get_settings()
    finally:
        store.close()


@contextmanager
def _collection(judged: JudgedCollection, needs: Needs) -> Iterator[EvalData]:
    if not needs.engine:
        yield EvalData(judged, len(judged.documents), None)
        return
    with TemporaryDirectory(prefix="twofold-eval-") as scratch:
        store = open_store(Path(scratch) / "index", needs.settings, create=True)
        with parts_on(store, needs) as parts:
            _fill(parts if needs.model else replace(parts, embedder=Unembedded(parts.embedder)), judged.documents)
            yield EvalData(judged, len(judged.documents), parts)


@contextmanager
def _by_answer(source: Source, answers: Path, needs: Needs) -> Iterator[EvalData]:
    if source.qrels is not None or source.queries is not None:
        raise InvalidInputError("--answers brings its own questions.", "Leave --qrels and --queries out.")
    if source.folder is not None and source.index is not None:
        raise InvalidInputError("--answers is about a folder or an index.", "Leave one of them out.")
    answered = read_answers(answers)
    judged = answered.collection
    if source.folder is not None:
        documents = load_corpus(source.folder)
        with _collection(replace(judged, documents=documents), needs) as ground:
            yield replace(ground, answered=answered)
        return
    store = open_store(source.index or needs.settings.index, needs.settings, create=False)
    with parts_on(store, needs) as parts:
        held = store.info()
        yield EvalData(judged, held.documents, parts, answered=answered, pending=held.pending)


@contextmanager
def _index_data(judged: Judged, index: str | None, needs: Needs) -> Iterator[EvalData]:
    if not needs.engine and index is None:
        collection = as_written(judged)
        yield EvalData(collection, len({name for one in collection.grades.values() for name in one}), None)
        return
    store = open_store(index or needs.settings.index, needs.settings, create=False)
    with parts_on(store, needs) as parts:
        with store.view() as view:
            infos, pending = list(view.documents()), view.pending
        found = matched(judged, infos)
        yield EvalData(found.collection, len(infos), parts, found.names, found.unmatched, pending=pending)


@contextmanager
def parts_on(store: Store, needs: Needs) -> Iterator[IndexingComponents]:
    """Return the parts that search a store, by its own settings where none are said; it closes both afterwards."""
    try:
        held = effective_settings(needs.settings, stored_settings(store)[1])
        if needs.model:
            ensure_present(held.settings)
        parts = indexing_components(store, held.settings, held.embedder, model_progress())
        try:
            yield parts
        finally:
            parts.embedder.close()
    finally:
        store.close()


def _fill(parts: IndexingComponents, documents: Sequence[CorpusDocument]) -> None:
    with progress_on() as draw:

        def filled(done: int, passages: int) -> None:
            draw(SyncProgress(Phase.WRITE, done, len(documents), "", passages))

        fill(parts, documents, filled)
