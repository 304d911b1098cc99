"""Word n-grams: words that stand side by side, as terms in addition to the single words.

`english+2` finds them up to 2 words long; up to 4 can be asked for. Such a term begins with `=+`, an exact form's mark
and a sign that no code begins with, so whatever leaves exact forms out leaves these out too: `=+soft reset`. Its words
are stems, where the analyzer stems. Two words are side by side where nothing but space and punctuation is between
them: a stop word parts its neighbors, and so does a script that is written without spaces. An identifier cut at its
humps lends its parts and not its whole.

The weights of n-grams in a question, and the figures behind them: `docs/decisions/0031-word-n-grams.md`.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from twofold.text.tokenizer import Kind, Piece

NGRAM: Final = "=+"
SIZES: Final = ("2", "3", "4")
MAX_NGRAM_LENGTH: Final = 128  # characters; what is longer is no name that anybody types
_LINKS: Final = frozenset({Kind.WORD, Kind.STOP, Kind.BIGRAM, Kind.LONE})


def chain(terms: Iterable[tuple[str, Piece]]) -> list[tuple[str, Piece]]:
    """Return what a run's terms, words first, lend to n-grams: its words in order, and "" for what parts two words."""
    links: list[tuple[str, Piece]] = []
    for term, piece in terms:
        if piece.kind not in _LINKS:
            continue
        if links and links[-1][1].start == piece.start:
            links.pop()  # a whole identifier, before its first part
        links.append((term if piece.kind is Kind.WORD else "", piece))
    return links


def ngrams(words: Sequence[str], most: int) -> Iterator[tuple[str, int, int]]:
    """Return n-grams of 2 to `most` words, and where they stand, `words[start:end]`; "" parts its neighbors.

    They come by their last words, the short before the long, at most `most - 1` for each word.

    >>> list(ngrams(["soft", "reset", "", "git", "reset", "hard"], 3))[1:]
    [('=+git reset', 3, 5), ('=+reset hard', 4, 6), ('=+git reset hard', 3, 6)]
    """
    border = 0
    for last, word in enumerate(words):
        if not word:
            border = last + 1
        for first in range(last - 1, max(border, last - most + 1) - 1, -1):
            term = NGRAM + " ".join(words[first : last + 1])
            if len(term) <= MAX_NGRAM_LENGTH:
                yield term, first, last + 1


def part_of_a_pair(term: str) -> float:
    """Return what an n-gram weighs in a question compared with one of two words: half as much with every word more.

    So the n-grams that end in one word weigh 1 + 1/2 + 1/4 at most, times a pair's weight: at 0.2 less than 0.35, and
    the words of a question more than its n-grams.

    >>> [part_of_a_pair(term) for term in ("=+soft reset", "=+git soft reset")]
    [1.0, 0.5]
    """
    return 0.5 ** (term.count(" ") - 1)


def shown(term: str) -> str:
    """Write an n-gram for people: its words with a plus sign between them.

    >>> shown("=+soft reset")
    'soft + reset'
    """
    return term.removeprefix(NGRAM).replace(" ", " + ")
