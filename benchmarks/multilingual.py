"""Search in other languages than English, and across them: an embedder of one language beside one of a hundred.

    python benchmarks/multilingual.py --questions 300

XQuAD holds the same paragraphs and questions in English, German and Chinese, in the same order, so that questions in
English about German documents can be judged as well. nDCG@10 with the 95 % interval over the questions; every n-th
question is asked, so that all topics are among them. Rows go to standard output in Markdown as they are measured,
everything into benchmarks/results/<commit>.json.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from material import SHARED
from reporting import keep, machine

from twofold import Index
from twofold.evaluation.dataset import JudgedCollection, load
from twofold.evaluation.metrics import ndcg
from twofold.evaluation.run import document_of
from twofold.evaluation.significance import bootstrap_interval

EMBEDDERS = ("bge-small-en-v1.5", "multilingual-e5-small")
PAIRS = {"en": ("en",), "de": ("de", "en"), "zh": ("zh", "en")}
MODES = ("bm25", "vector", "hybrid")
Row = dict[str, object]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=300, help="ask about so many of each language")
    parser.add_argument("--out", type=Path, help="write to this file")
    options = parser.parse_args()
    judged = {language: load(SHARED / "data" / f"xquad-{language}") for language in PAIRS}
    print("| documents | questions | embedder | mode | nDCG@10 |\n|---|---|---|---|---|", flush=True)
    rows: list[Row] = []
    for name in EMBEDDERS:
        for language in PAIRS:
            with tempfile.TemporaryDirectory(prefix="twofold-multilingual-") as folder:
                rows += measured(name, language, judged, Path(folder), options.questions)
    print(keep("multilingual", {"machine": machine(), "rows": rows}, options.out))


def measured(
    name: str, language: str, judged: dict[str, JudgedCollection], folder: Path, questions: int
) -> Iterator[Row]:
    """Index one language with one embedder, and ask it in each language that it is paired with."""
    collection = judged[language]
    with Index(folder / "index", overrides={"embedder": name}) as index:
        began = time.perf_counter()
        index.add_many([document_of(one) for one in collection.documents])
        spent = time.perf_counter() - began
        for asked in PAIRS[language]:
            for mode in MODES:
                interval = bootstrap_interval(list(values(index, judged[asked], collection, mode, questions)))
                shown = f"{interval.mean:.3f} [{interval.low:.3f}, {interval.high:.3f}]"
                print(f"| {language} | {asked} | {name} | {mode} | {shown} |", flush=True)
                row = {"documents": language, "questions": asked, "embedder": name, "mode": mode}
                figures = {"ndcg": [interval.mean, interval.low, interval.high], "indexed_in_seconds": round(spent, 1)}
                yield {**row, **figures}


def values(
    index: Index, asked: JudgedCollection, collection: JudgedCollection, mode: str, questions: int
) -> Iterator[float]:
    """Yield nDCG@10 of every n-th question."""
    step = max(1, len(asked.queries) // questions)
    for question in asked.queries[::step][:questions]:
        hits = index.search(question.text, mode=mode, k=30).hits
        ranked = list(dict.fromkeys(hit.source for hit in hits))
        yield ndcg(ranked, collection.grades[question.id], 10)


if __name__ == "__main__":
    main()
