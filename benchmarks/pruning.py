"""What pruning sentences saves, and what it costs: tokens shown to a model, and whether the answer is still among them.

    python benchmarks/pruning.py --most 120

Questions of XQuAD-en are asked of an index of its paragraphs, as `ask` asks them, of a model that only notes what it is
shown; then with several values of `answer.prune`, with the embedder and by words alone. Counted where the passages
found hold a gold answer at all. Half of the questions, by the hash of their ids, chose nothing.
"""

import argparse
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from answers import filled, own_questions, plain
from material import MODEL
from remembered import MEMORY, remembering

from twofold import Index
from twofold.answer.context import approximate_tokens
from twofold.answer.types import REFUSAL
from twofold.domain.generators import GeneratorIdentity, Message, TextStream

SHARES = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)


class Refusal:
    """A reply of one piece."""

    def __init__(self) -> None:
        self._left = [REFUSAL]

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        if not self._left:
            raise StopIteration
        return self._left.pop()

    def close(self) -> None:
        """End it."""
        self._left.clear()


class Noting:
    """A model that keeps what it was shown."""

    identity = GeneratorIdentity("noting", "1", 32_768)

    def __init__(self) -> None:
        self.shown = ""

    def stream(self, messages: Sequence[Message], **_: object) -> TextStream:
        """Note the passages, and refuse."""
        self.shown = messages[-1].content.partition("<passages>\n")[2].partition("\n</passages>")[0]
        return Refusal()

    def close(self) -> None:
        """Do nothing."""


def measured(index: Index, most: int, mode: str) -> None:
    """Print a row for each share."""
    asked = [one for one in own_questions("xquad-en") if one.held_out][:most]
    held: set[str] = set()
    whole = 1.0
    for share in SHARES:
        tokens, kept = [], 0
        for one in asked:
            model = Noting()
            settings = {"answer.prune": share, "answer.min_answerability": 0.0, "answer.context": {"tokens": 0}}
            index.ask(one.text, llm=model, k=5, mode=mode, settings=settings)
            gold = one.gold or {}
            has = any(plain(str(answer)) in plain(model.shown) for answer in gold["answers"])
            if share == 0.0 and has:
                held.add(one.id)
            kept += has and one.id in held
            tokens.append(approximate_tokens(model.shown))
        mean = statistics.mean(tokens)
        whole = mean if share == 0.0 else whole
        print(
            f"{mode:8} {share:.1f}  tokens {mean:6.0f}  {mean / whole:.2f} of all  answer kept {kept / len(held):.3f}"
        )


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", type=Path, default=MEMORY)
    parser.add_argument("--most", type=int, default=120)
    given = parser.parse_args()
    with remembering(MODEL, given.memory) as embedder, filled("xquad-en", embedder) as index:
        for mode in ("hybrid", "bm25"):
            measured(index, given.most, mode)


if __name__ == "__main__":
    main()
