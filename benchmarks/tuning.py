"""What `twofold tune` chooses on judged collections, and whether what made-up questions choose is good for real ones.

    python benchmarks/tuning.py --memory DIR                 all collections
    python benchmarks/tuning.py --memory DIR scifact cacm    only these

For each collection: what real judgements choose (half of them, confirmed on the other half), and what `--synthetic`
chooses, measured on all real questions afterwards. `first` is the change that did best on the made-up questions that
choose, taken without any confirmation. A table in Markdown goes to standard output.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from material import MODEL, SHARED
from remembered import MEMORY, remembering

from twofold.config.load import Settings, merge
from twofold.domain.ports import Embedder
from twofold.domain.types import Document
from twofold.evaluation.dataset import JudgedCollection, load
from twofold.evaluation.report import metric_named
from twofold.evaluation.run import Prepare, document_of, fill, fill_with, searching
from twofold.evaluation.significance import bootstrap_interval, randomization_test
from twofold.evaluation.synthetic import Making, pseudo_questions
from twofold.evaluation.tuning import (
    JUDGED,
    SYNTHETIC,
    SYNTHETIC_TUNABLE,
    TUNABLE,
    Changes,
    Measure,
    TunableSetting,
    Tuning,
    described,
    tune_by,
)
from twofold.factory.plan import plan_of
from twofold.indexing.components import IndexingComponents
from twofold.ingest.chunking import ChunkPlan, chunker_for
from twofold.stores.local.store import LocalStore
from twofold.text.analyzers import analyzer_for

COLLECTIONS: Mapping[str, str] = {
    "cacm": "english",
    "scifact": "english",
    "xquad-de": "german",
    "multihop-hotpotqa": "english",
    "cranfield": "english",
    "xquad-en": "english",
}
MADE_UP = 200
MAX_DOCUMENTS = 2000
METRIC = metric_named("ndcg@10")


def main() -> None:
    """Tune and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", nargs="*", default=list(COLLECTIONS), metavar="COLLECTION")
    parser.add_argument("--memory", type=Path, default=MEMORY, help="keep vectors in this folder")
    parser.add_argument("--seeds", type=int, default=1, help="make questions with so many seeds")
    parser.add_argument("--most", type=int, default=400, help="ask so many real questions, about")
    parser.add_argument("--start", action="append", default=[], metavar="KEY=VALUE", help="begin with this setting")
    options = parser.parse_args()
    start = merge(Settings(), dict(one.split("=", 1) for one in options.start))
    with remembering(MODEL, options.memory) as embedder:
        for name in options.collections:
            judged = load(SHARED / "data" / name)
            judged = replace(judged, queries=judged.queries[:: max(1, len(judged.queries) // options.most)])
            with tempfile.TemporaryDirectory(prefix="twofold-tuning-") as scratch:
                whole = parts_in(Path(scratch) / "whole", COLLECTIONS[name], embedder)
                fill(whole, judged.documents, lambda _documents, _passages: None)
                real = searching(judged, {}, METRIC, preparing(whole, start), lambda: None)
                tell(
                    name,
                    "judged",
                    tune_by(judged.queries, real, METRIC.name, all_settings(start, TUNABLE), JUDGED),
                    None,
                )
                for seed in range(options.seeds):
                    empty = parts_in(Path(scratch) / f"made-{seed}", COLLECTIONS[name], embedder)
                    tuned = synthetic_queries(whole, judged, empty, start, seed)
                    tell(name, f"made up {seed}", tuned, (judged, real))


def parts_in(folder: Path, language: str, embedder: Embedder) -> IndexingComponents:
    """Open an empty index."""
    plan = ChunkPlan()
    chunker = chunker_for(plan, embedder.count_tokens, embedder.embed_passages)
    return IndexingComponents(LocalStore(folder), embedder, analyzer_for(language), chunker, plan.describe())


def preparing(parts: IndexingComponents, start: Settings) -> Prepare:
    """Give what searches by settings with changes."""
    return lambda changes: (parts, plan_of(merge(start, changes)))


def all_settings(start: Settings, some: Sequence[TunableSetting]) -> Sequence[TunableSetting]:
    """Leave out what changes nothing, and the reranker, which is not set."""
    kept = []
    for dial in some:
        made = [merge(start, option) for option in dial.options]
        new = [place for place, one in enumerate(made) if one not in (start, *made[:place])]
        kept.append(replace(dial, options=tuple(dial.options[place] for place in new)))
    return [dial for dial in kept if dial.name != "reranking"]


def synthetic_queries(
    whole: IndexingComponents, judged: JudgedCollection, scratch: IndexingComponents, start: Settings, seed: int
) -> Tuning:
    """Tune by questions made from the documents."""
    documents: list[Document] = [document_of(one) for one in judged.documents][:MAX_DOCUMENTS]
    with whole.store.view() as view:
        making = Making(
            scratch.analyzer,
            lambda terms: view.statistics(terms).frequencies,
            view.statistics(()).chunks,
            seed,
        )
        made = pseudo_questions(documents, MADE_UP, making)
        fill_with(scratch, made.documents, view, lambda _documents, _passages: None)
    print(dict(made.kinds), [one.text for one in made.judged.queries[:6]], file=sys.stderr)
    names = {document.id: document.id for document in documents}
    measure = searching(made.judged, names, METRIC, preparing(scratch, start), lambda: None)
    done = tune_by(made.judged.queries, measure, METRIC.name, all_settings(start, SYNTHETIC_TUNABLE), SYNTHETIC)
    scratch.store.close()
    return done


def tell(name: str, by: str, done: Tuning, truth: tuple[JudgedCollection, Measure] | None) -> None:
    """Print what was chosen, and what that is worth on real questions."""
    print(f"\n## {name}, {by}: {done.choosing} + {done.confirming} questions; {done.reason}")
    for trial in done.trials:
        print(f"   {trial.mean:.4f} {trial.difference:+.4f} {trial.ms_per_query:5.1f} ms  {described(trial.changes)}")
    for changes, compared in zip(done.finalists, done.confirmed, strict=True):
        one = compared.differences[0]
        print(f" * {described(changes)}: {one.interval.mean:+.4f} p {one.p_holm:.4f}, {one.better}/{one.worse}")
    if truth is not None:
        judged, measure = truth
        default = measure({}, judged.queries)
        for what, changes in (("winner", done.winner), *(("finalist", one) for one in done.finalists)):
            print(json.dumps({"collection": name, "by": by, "what": what, **worth(changes, default, measure, judged)}))
    sys.stdout.flush()


def worth(
    changes: Changes, default: Sequence[float], measure: Measure, judged: JudgedCollection
) -> Mapping[str, object]:
    """Say what changes gain over the default on real questions."""
    values = measure(changes, judged.queries) if changes else default
    interval = bootstrap_interval([mine - yours for mine, yours in zip(values, default, strict=True)])
    return {
        "changes": described(changes),
        "default": round(sum(default) / len(default), 4),
        "gain": round(interval.mean, 4),
        "low": round(interval.low, 4),
        "high": round(interval.high, 4),
        "p": round(randomization_test(values, default), 4),
    }


if __name__ == "__main__":
    main()
