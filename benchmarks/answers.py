"""How good answers are: what their citations hold, and how often an answer is refused rightly and wrongly.

    python benchmarks/answers.py --memory DIR                       extracts, on four collections
    python benchmarks/answers.py --memory DIR --llm local --most 20 a language model, on so many questions of each
    python benchmarks/answers.py --memory DIR --effort high         searching again for what is left open
    python benchmarks/answers.py --memory DIR --keep                and keep the figures

Of each collection its own questions are asked, and as many of the others as unanswerable. `held out` is the half of the
questions by the hash of their ids that nothing was chosen on. Measured of own questions: XQuAD, whether a gold answer
stands in the cited extracts; HotpotQA, whether both supporting passages are cited; FinanceBench, whether the page with
the evidence is; chunking-eval, how much of the gold spans is cited, and how much of what is cited is gold. Refused
questions cite nothing and count as misses.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from material import MODEL, SHARED
from remembered import MEMORY, remembering
from reporting import keep, machine

from twofold import Index
from twofold.answer.types import Answer
from twofold.config.load import load_settings
from twofold.domain.ports import Embedder
from twofold.evaluation.dataset import load
from twofold.evaluation.run import document_of
from twofold.query.parse import as_prose
from twofold.search.engine import Effort

THRESHOLDS = (0.2, 0.3, 0.4)
COLLECTIONS = ("xquad-en", "multihop-hotpotqa", "chunking-eval", "financebench")
ELSEWHERE = ("xquad-en", "multihop-hotpotqa", "chunking-eval", "scifact")
BATCH_SIZE = 64
Gold = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a collection: its own, with what is gold of it, or another's, with nothing."""

    id: str
    text: str
    gold: Gold | None

    @property
    def held_out(self) -> bool:
        """Whether it is in the half that measures."""
        return blake2b(self.id.encode(), digest_size=1).digest()[0] % 2 == 1


Score = Callable[[Answer, Gold], Mapping[str, float]]


def lines(path: Path) -> list[dict[str, Any]]:
    """Read a file of JSON objects."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def own_questions(name: str) -> list[Asked]:
    """Give a collection's own questions with their gold."""
    folder = SHARED / "data" / name
    if name == "financebench":
        return [
            Asked(str(one["financebench_id"]), str(one["question"]), one) for one in lines(folder / "questions.jsonl")
        ]
    gold = {str(one["_id"]): one for one in lines(folder / "queries.jsonl")}
    judged = load(folder)
    return [
        Asked(one.id, as_prose(one.text), {**gold[one.id], "relevant": sorted(judged.grades[one.id])})
        for one in judged.queries
    ]


def foreign_questions(name: str, count: int) -> list[Asked]:
    """Give so many questions of the other collections, in turn."""
    others = [lines(SHARED / "data" / other / "queries.jsonl") for other in ELSEWHERE if other != name]
    mixed = [one for row in zip(*(other[: count + 1] for other in others), strict=False) for one in row]
    return [Asked(str(one["_id"]), as_prose(str(one["text"])), None) for one in mixed[:count]]


def plain(text: str) -> str:
    """Fold case and white space."""
    return " ".join(text.casefold().split())


def contains(answer: Answer, gold: Gold) -> Mapping[str, float]:
    """Say whether a gold answer stands in what is cited."""
    quoted = plain(" ".join(one.quote for one in answer.citations))
    wanted = gold["answers"]
    return {"answer in the cited extracts": float(any(plain(str(one)) in quoted for one in wanted))}


def supports(answer: Answer, gold: Gold) -> Mapping[str, float]:
    """Say how many of the supporting passages are cited, and whether both are among those that were found."""
    relevant, found = gold["relevant"], {one.source for one in answer.sources}
    cited = {one.source for one in answer.citations}
    return {
        "both passages cited": float(cited >= set(relevant)),
        "one at least": float(bool(cited & set(relevant))),
        "both found": float(found >= set(relevant)),
    }


def overlaps(answer: Answer, gold: Gold) -> Mapping[str, float]:
    """Say how much of the gold spans is cited, and how much of what is cited is gold."""
    references = gold["references"]
    wanted = {at for one in references for at in range(one["start_index"], one["end_index"])}
    right = {at for one in answer.citations if one.source == gold["corpus_id"] for at in range(one.start, one.end)}
    cited = sum(one.end - one.start for one in answer.citations)
    shared = len(wanted & right)
    return {
        "recall of gold characters": shared / len(wanted),
        "precision": shared / cited if cited else 0.0,
        "any overlap": float(shared > 0),
    }


def pages(answer: Answer, gold: Gold) -> Mapping[str, float]:
    """Say whether a page with the evidence is cited; its numbers count from 0."""
    evidence = gold["evidence"]
    wanted = {(f"{gold['doc_name']}.pdf", one["evidence_page_num"] + 1) for one in evidence}
    cited = {(one.source.rpartition("/")[2], one.page) for one in answer.citations}
    found = {(one.filename, part.page) for one in answer.sources for part in one.parts}
    return {"evidence page cited": float(bool(wanted & cited)), "evidence page found": float(bool(wanted & found))}


SCORES: Mapping[str, Score] = {
    "xquad-en": contains,
    "multihop-hotpotqa": supports,
    "chunking-eval": overlaps,
    "financebench": pages,
}


@contextmanager
def filled(name: str, embedder: Embedder) -> Iterator[Index]:
    """Open an index with a collection's documents."""
    with Index(":memory:", settings=load_settings(overrides={"offline": True}), embedder=embedder) as index:
        if name == "financebench":
            index.sync(SHARED / "data" / name / "pdfs")
        else:
            documents = [document_of(one) for one in load(SHARED / "data" / name).documents]
            for first in range(0, len(documents), BATCH_SIZE):
                index.add_many(documents[first : first + BATCH_SIZE])
        yield index


def verbatim(index: Index, answer: Answer) -> bool:
    """Say whether every quotation stands in its document where it is said to."""
    return all(index.document(one.document).text[one.start : one.end] == one.quote for one in answer.citations)


def measure(name: str, index: Index, most: int, llm: str | None, effort: Effort) -> Mapping[str, object]:
    """Ask a collection's own questions and as many of others, and say what came of it."""
    own = own_questions(name)
    own = own[:: max(1, len(own) // most)][:most]
    foreign = foreign_questions(name, len(own))
    answers = []
    for asked in (*own, *foreign):
        started = time.perf_counter()
        answer = index.ask(
            asked.text, llm=llm, effort=effort, settings={"answer.min_answerability": 0.0} if llm is None else {}
        )
        answers.append((asked, answer, time.perf_counter() - started))
    result: dict[str, object] = {
        "own": len(own),
        "elsewhere": len(foreign),
        "verbatim": float(np.mean([verbatim(index, answer) for _, answer, _ in answers])),
        "seconds p50": round(float(np.median([seconds for _, _, seconds in answers])), 3),
    }
    if llm is not None:
        return {**result, **written(name, [(asked, answer) for asked, answer, _ in answers])}
    told = [(asked, answer) for asked, answer, _ in answers]
    result["extract ms p50"] = round(float(np.median([one.timings_ms.get("extract", 0.0) for _, one in told])), 1)
    for split, wanted in (("fitting half", False), ("held out", True)):
        half = [(asked, answer) for asked, answer in told if asked.held_out is wanted]
        result[split] = {str(threshold): refusing(name, half, threshold) for threshold in (0.0, *THRESHOLDS)}
    return result


def refusing(name: str, told: Sequence[tuple[Asked, Answer]], threshold: float) -> Mapping[str, float]:
    """Say what becomes of questions where those below a threshold are refused."""
    own = [(asked, answer) for asked, answer in told if asked.gold is not None]
    refused = [(answer.p_answerable or 0.0) < threshold for _, answer in own]
    elsewhere = [(answer.p_answerable or 0.0) < threshold for asked, answer in told if asked.gold is None]
    scores = [
        {
            key: 0.0 if no and "found" not in key else value
            for key, value in SCORES[name](answer, asked.gold or {}).items()
        }
        for (asked, answer), no in zip(own, refused, strict=True)
    ]
    means = {key: float(np.mean([one[key] for one in scores])) for key in scores[0]} if scores else {}
    rates = {"own refused": float(np.mean(refused)), "elsewhere refused": float(np.mean(elsewhere))}
    return {key: round(value, 3) for key, value in {**means, **rates}.items()}


def written(name: str, told: Sequence[tuple[Asked, Answer]]) -> Mapping[str, float]:
    """Say what a language model made of it: with the refusals of the threshold and its own."""
    own = [(asked, answer) for asked, answer in told if asked.gold is not None]
    scores = [SCORES[name](answer, asked.gold or {}) for asked, answer in own]
    found = {key: float(np.mean([one[key] for one in scores])) for key in scores[0]}
    if name == "xquad-en":
        found["answer in the text"] = float(np.mean([says(answer, asked.gold or {}) for asked, answer in own]))
    sentences = [one for _, answer in told if answer.mode == "generated" for one in answer.sentences]
    judged = [one for one in sentences if one.supported is not None]
    found["sentences supported"] = float(np.mean([bool(one.supported) for one in judged])) if judged else 0.0
    found["own refused"] = float(np.mean([answer.refused for _, answer in own]))
    found["elsewhere refused"] = float(np.mean([answer.refused for asked, answer in told if asked.gold is None]))
    found["degraded"] = float(np.mean([bool(answer.degraded) for _, answer in told]))
    return {key: round(value, 3) for key, value in found.items()}


def says(answer: Answer, gold: Gold) -> bool:
    """Say whether a gold answer stands in the answer's own words."""
    wanted = gold["answers"]
    return any(plain(str(one)) in plain(answer.text) for one in wanted)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", type=Path, default=MEMORY, help="keep vectors in this folder")
    parser.add_argument("--collections", default=",".join(COLLECTIONS))
    parser.add_argument("--most", type=int, default=300, help="at most so many own questions of each")
    parser.add_argument("--effort", default="low", choices=("low", "medium", "high"))
    parser.add_argument("--llm", help="have this model write")
    parser.add_argument("--keep", action="store_true", help="keep the figures in this commit's file")
    given = parser.parse_args()
    results: dict[str, object] = {"machine": machine()}
    with remembering(MODEL, given.memory) as embedder:
        for name in given.collections.split(","):
            with filled(name, embedder) as index:
                results[name] = measure(name, index, given.most, given.llm, given.effort)
            print(name, json.dumps(results[name], indent=1), flush=True)
    if given.keep:
        print(keep(f"answers {given.llm or 'extracts'}", results))


if __name__ == "__main__":
    main()
