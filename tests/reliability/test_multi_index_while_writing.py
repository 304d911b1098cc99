"""Several indexes searched while one of them is written: each answer is of one state of each, and whole."""

import threading
from pathlib import Path

import pytest

from twofold import Index, MultiIndex, SearchResult
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.search.engine import SearchOptions

PARTS = 3
WRITES = 60


def text_of(version: int) -> str:
    """Make a document of so many passages that all say which version they are of."""
    return "\n\n".join(f"# Part {part}\n\n" + f"every v{version} part{part} " * 12 for part in range(PARTS))


def wrongs(found: SearchResult) -> list[str]:
    """Say what no state of the indexes could have answered."""
    said = list(map(str, found.warnings))
    by_document: dict[str, set[str]] = {}
    for hit in found.hits:
        version = next(word for word in hit.text.split() if word.startswith("v"))
        by_document.setdefault(f"{hit.collection}/{hit.source}", set()).add(version)
    said += [f"{name} in two versions" for name, versions in by_document.items() if len(versions) > 1]
    said += [] if "still/0.md" in by_document else ["the index that nobody writes is not in the answer"]
    said += (
        [] if found.trace.recompute_scores() == tuple(hit.score for hit in found.hits) else ["a score that is no sum"]
    )
    return said


@pytest.mark.parametrize("across", ["global", "rrf"])
def test_every_answer_is_of_one_state_of_each(quick_path: Path, across: str) -> None:
    still = Index(quick_path / "still", embedder=HashingEmbedder(), overrides={"chunk.size": 64})
    busy = Index(quick_path / "busy", embedder=HashingEmbedder(), overrides={"chunk.size": 64})
    done = threading.Event()
    found_wrong: list[str] = []
    answers: list[int] = []

    def look(several: MultiIndex) -> None:
        while not done.is_set():
            found = several.search("every part1", SearchOptions(k=50), across)
            found_wrong.extend(wrongs(found))
            answers.append(len(found.hits))

    with still, busy, MultiIndex({"still": still, "busy": busy}) as several:
        still.add(text_of(0), source="0.md")
        busy.add(text_of(0), source="0.md")
        readers = [threading.Thread(target=look, args=(several,)) for _ in range(2)]
        for reader in readers:
            reader.start()
        try:
            for number in range(1, WRITES):
                busy.add(text_of(number), source=f"{number % 4}.md")
                if number % 5 == 0:
                    busy.delete(f"{number % 4}.md")
                if number % 20 == 0:
                    busy.compact()
        finally:
            done.set()
            for reader in readers:
                reader.join()

    assert found_wrong == []
    assert answers
