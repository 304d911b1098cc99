"""How well a search knows whether a relevant passage is among its best five: fits and measures `p_answerable`.

    python benchmarks/answerable.py --memory DIR               measure, and print the tables
    python benchmarks/answerable.py --memory DIR --write       and write the coefficients that come with the package
    python benchmarks/answerable.py --memory DIR --rerank 60   and with a reranker, on so many own questions each
    python benchmarks/answerable.py --memory DIR --embedders bge-small-en-v1.5,hashing     and with these embedders

Words alone and reranking are measured with the default embedder. What is not measured stays as it was written before.

Three kinds of questions are asked of every collection. Its own (at most 300): true where one of the best five passages
is of a relevant document, or overlaps a relevant span. Those of other collections, in English. And own ones after
their relevant documents were taken out: on the collection's subject, and without an answer. Half of all are own.
A question is in one half for all that it is asked of, and with all its translations: one half fits, the other measures.
`unseen` fits without a collection, on the fitting half of the others, and measures on that collection's other half.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from functools import partial
from hashlib import blake2b
from itertools import chain, zip_longest
from pathlib import Path

import numpy as np
from answerable_report import Judged, Result, Way, draw, judge
from material import MODEL, SHARED
from quality import COLLECTIONS
from remembered import MEMORY, remembering
from reporting import keep, machine
from reread import remembering_reranker

from twofold.config.schema import ChunkSettings
from twofold.domain.ports import Embedder, Reranker, Snapshot
from twofold.domain.types import EMPTY_RANKING, Chunk, Ranking, document_id
from twofold.evaluation.dataset import JudgedCollection, Question, load
from twofold.evaluation.run import fill
from twofold.indexing.components import IndexingComponents
from twofold.ingest.chunking import ChunkPlan, chunker_for
from twofold.query.parse import Analysis, ParsedQuery, as_prose, parse
from twofold.ranking.answerability import FITTED, Calibration, load_calibrations
from twofold.ranking.fusion import Candidates, fuse
from twofold.search.build_result import JUDGED, signals_of
from twofold.search.pipeline import SearchPlan
from twofold.search.plan import RerankPlan
from twofold.search.rerank import RerankInput, rerank
from twofold.stores.local.store import LocalStore
from twofold.text.analyzers import analyzer_for
from twofold.text.unicode_normalization import fold

SPANS = "chunking-eval"
LANGUAGES: Mapping[str, str] = {**COLLECTIONS, SPANS: "english"}
MAX_OWN = 300
RERANKER = "ms-marco-MiniLM-L-12-v2"
OWN, ELSEWHERE, TAKEN_OUT = "own", "elsewhere", "taken out"
Relevant = Callable[[str, str, Chunk], bool]
"""Whether a passage, of the document with that source, answers the question with that id."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What searches are made with, and of how many of a collection's own questions the best are reread."""

    embedder: Embedder
    reranker: Reranker | None = None
    reread: int = 0

    def reranker_of(self, at: int, most: int) -> Reranker | None:
        """Return what rereads what a question finds, by its place; None from `most` on."""
        return self.reranker if at < most else None


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """A question, where it is from, as what it is asked, and what reranks what is found, too."""

    kind: str
    origin: str
    question: Question
    reranker: Reranker | None


def main() -> None:
    """Ask, fit, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", type=Path, default=MEMORY, help="keep vectors and rerank scores in this folder")
    parser.add_argument("--embedders", default=MODEL, help="commas between them")
    parser.add_argument("--rerank", type=int, default=0, help="of so many own questions a collection, read the best 20")
    parser.add_argument("--write", action="store_true", help=f"write {FITTED.name}")
    parser.add_argument("--out", type=Path, help="write what was measured to this file")
    options = parser.parse_args()
    held = {name: load(SHARED / "data" / name) for name in LANGUAGES}
    cases: dict[Way, list[Judged]] = {}
    for spec in options.embedders.split(","):
        with ExitStack() as stack:
            tools = Tools(stack.enter_context(remembering(spec, options.memory)))
            if options.rerank and spec == MODEL:
                reranker = stack.enter_context(remembering_reranker(RERANKER, options.memory))
                tools = replace(tools, reranker=reranker, reread=options.rerank)
            for name in LANGUAGES:
                print(spec, name, file=sys.stderr, flush=True)
                for way, case in ask_all(held, name, tools):
                    if way.embedder or spec == MODEL:
                        cases.setdefault(way, []).append(case)
    results: dict[Way, Result] = {}
    for way, judged in cases.items():
        results[way] = judge(way, judged, results[way._replace(reranker="")] if way.reranker else None)
    draw(list(results.values()))
    content = {"calibrations": written([one.calibration for one in results.values()])}
    if options.write:
        FITTED.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    measured = {"machine": {**machine(), "model": MODEL}, **content, "groups": [one.groups for one in results.values()]}
    print(keep("answerable", measured, options.out), file=sys.stderr)


def written(made: Sequence[Calibration]) -> list[dict[str, object]]:
    """Return the calibrations as they are written: those that are there, with the new ones in their places.

    `near`, which is not fitted here, stays what it was.
    """
    held = {(one.mode, one.embedder, one.reranker): one for one in load_calibrations()}
    for one in made:
        name = (one.mode, one.embedder, one.reranker)
        held[name] = replace(one, near=held[name].near if name in held else None)
    return [{key: value for key, value in asdict(one).items() if value is not None} for one in held.values()]


def ask_all(held: Mapping[str, JudgedCollection], name: str, tools: Tools) -> Iterator[tuple[Way, Judged]]:
    """Fill a scratch index with one collection, and ask it questions of every kind, in every way."""
    judged, plan, embedder = held[name], ChunkPlan(size=ChunkSettings().size), tools.embedder
    reread = tools.reread if LANGUAGES[name] == "english" else 0  # the reranker knows no other language
    own = _shuffled(name, judged.queries)[:MAX_OWN]
    taken_out = [] if name == SPANS else own[::3]
    others = _elsewhere(held, name)[: len(own) - len(taken_out)]
    with tempfile.TemporaryDirectory(prefix="twofold-answerable-") as scratch:
        store = LocalStore(Path(scratch) / "index")
        try:
            chunker = chunker_for(plan, embedder.count_tokens, embedder.embed_passages)
            analyzer = analyzer_for(LANGUAGES[name])
            parts = IndexingComponents(store, embedder, analyzer, chunker, plan.describe())
            fill(parts, judged.documents, lambda _documents, _passages: None)
            relevant = spans_of(SHARED / "data" / name) if name == SPANS else partial(_of_document, judged)
            asked = [SearchOptions(OWN, name, one, tools.reranker_of(at, reread)) for at, one in enumerate(own)]
            asked += [
                SearchOptions(ELSEWHERE, origin, one, tools.reranker_of(at, reread * 2 // 3))
                for at, (origin, one) in enumerate(others)
            ]
            yield from chain.from_iterable(ask(parts, name, one, relevant) for one in asked)
            gone = {source for one in taken_out for source, grade in judged.grades[one.id].items() if grade > 0}
            store.delete([document_id(source) for source in sorted(gone)])
            for at, question in enumerate(taken_out):
                yield from ask(
                    parts, name, SearchOptions(TAKEN_OUT, name, question, tools.reranker_of(at, reread // 3)), relevant
                )
        finally:
            store.close()


def _elsewhere(held: Mapping[str, JudgedCollection], name: str) -> Sequence[tuple[str, Question]]:
    """Give questions of the other English collections, one of each in turn; no translations of this one's."""
    others = [other for other, language in LANGUAGES.items() if language == "english" and family(other) != family(name)]
    turns = zip_longest(*([(other, one) for one in _shuffled(other, held[other].queries)] for other in others))
    return [one for turn in turns for one in turn if one is not None]


def family(name: str) -> str:
    """Name what collections that are translations of each other have in common."""
    return name.partition("-")[0]


def _drawn(origin: str, question: Question) -> int:
    named = f"{family(origin)}\0{question.id}"
    return int.from_bytes(blake2b(named.encode(), digest_size=8).digest(), "little")


def _shuffled(origin: str, questions: Sequence[Question]) -> list[Question]:
    return sorted(questions, key=lambda one: _drawn(origin, one) >> 1)


def _of_document(judged: JudgedCollection, question: str, source: str, _chunk: Chunk) -> bool:
    return judged.grades[question].get(source, 0) > 0


def spans_of(folder: Path) -> Relevant:
    """Read which spans answer which question; a passage that overlaps one is relevant."""
    spans = {}
    for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        spans[row["_id"]] = row["corpus_id"], [(one["start_index"], one["end_index"]) for one in row["references"]]

    def overlaps(question: str, source: str, chunk: Chunk) -> bool:
        document, stretches = spans[question]
        return source == document and any(start < chunk.end and chunk.start < end for start, end in stretches)

    return overlaps


def ask(
    parts: IndexingComponents, index: str, options: SearchOptions, relevant: Relevant
) -> Iterator[tuple[Way, Judged]]:
    """Search in every way; say of each what it knew and whether it had found something."""
    analyzer = parts.analyzer
    how = Analysis(fold, analyzer.query, analyzer.phrase_terms, analyzer.clause_terms)
    parsed = parse(as_prose(options.question.text), how)
    with parts.store.view() as view:
        for way, found, ranking, relevance in searches(view, parts, parsed, options.reranker):
            signals = signals_of(view, found, ranking, parsed.terms, relevance)
            chunks = view.chunks(ranking.keys[:JUDGED].tolist())
            infos = view.describe(list({chunk.document for chunk in chunks}))
            true = options.kind == OWN and any(
                relevant(options.question.id, infos[chunk.document].source, chunk) for chunk in chunks
            )
            yield way, Judged(index, options.kind, fits(options), signals, true)


def searches(
    view: Snapshot, parts: IndexingComponents, parsed: ParsedQuery, reranker: Reranker | None
) -> Iterator[tuple[Way, Candidates, Ranking, Mapping[int, float] | None]]:
    """Search with both retrievers and with each alone, as `twofold.search.pipeline` does; rerank if asked."""
    plan, embedder = SearchPlan(), parts.embedder.identity.name
    vector = parts.embedder.embed_queries([parsed.words])[0]
    by_bm25, by_vector = view.search_bm25(parsed.terms, plan.reach), view.search_vectors(vector, plan.reach)
    keys = np.union1d(by_bm25.keys, by_vector.keys)
    words, meaning, nothing = view.score_terms(parsed.terms, keys), view.score_vector(vector, keys), np.zeros(len(keys))
    both = Candidates(by_bm25, by_vector, keys, words, meaning)
    fused = fuse(both, replace(plan.fusion, method="convex")).ranking
    yield Way("hybrid", embedder, ""), both, fused, None
    yield Way("bm25", "", ""), Candidates(by_bm25, EMPTY_RANKING, keys, words, nothing), by_bm25, None
    yield Way("vector", embedder, ""), Candidates(EMPTY_RANKING, by_vector, keys, nothing, meaning), by_vector, None
    if reranker is not None:
        reading = RerankInput(parsed.words, fused, lambda some: [chunk.indexed_text for chunk in view.chunks(some)])
        read = rerank(reranker, reading, RerankPlan())
        relevance = {key: one.relevance for key, one in read.traces.items() if one.relevance is not None}
        yield Way("hybrid", embedder, reranker.identity.name), both, read.ranking, relevance


def fits(options: SearchOptions) -> bool:
    """Say in which half a question is."""
    return _drawn(options.origin, options.question) % 2 == 0


if __name__ == "__main__":
    main()
