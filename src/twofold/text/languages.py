"""What differs from language to language: stemmer, stop words, apostrophes."""

from collections.abc import Callable
from enum import Enum
from functools import cache
from pathlib import Path

from twofold.domain.dataclass import dataclass
from twofold.text.tokenizer import Piece

Stem = Callable[[str], str]

_STOP_WORDS = Path(__file__).parent / "stop_words"


class Apostrophe(Enum):
    """What an apostrophe within a word means."""

    JOIN = "join"  # English: the dog's → dog, o'clock → oclock
    SPLIT = "split"  # French: l'avion → l, avion
    CUT = "cut"  # Turkish: Ankara'da → Ankara


_APOSTROPHES = {
    "french": Apostrophe.SPLIT,
    "italian": Apostrophe.SPLIT,
    "catalan": Apostrophe.SPLIT,
    "irish": Apostrophe.SPLIT,
    "turkish": Apostrophe.CUT,
}
_SAME_STOP_WORDS = {"porter": "english", "dutch_porter": "dutch"}


@dataclass(frozen=True, slots=True)
class Language:
    """How words of one language become terms. `stemmer` is a Snowball algorithm's name, or empty for none."""

    stemmer: str = ""
    stop_words: frozenset[str] = frozenset()
    apostrophe: Apostrophe = Apostrophe.JOIN


def language_of(stemmer: str) -> Language:
    """Return the language that a Snowball algorithm is for. One without a list of stop words here has none."""
    return Language(
        stemmer, stop_words(_SAME_STOP_WORDS.get(stemmer, stemmer)), _APOSTROPHES.get(stemmer, Apostrophe.JOIN)
    )


def open_stemmer(algorithm: str) -> Stem:
    """Make what gives a folded word's stem; without an algorithm a word is its own stem. One call at a time."""
    if not algorithm:
        return str
    import Stemmer

    stem: Stem = Stemmer.Stemmer(algorithm, 0).stemWord
    return stem


def snowball_version() -> str:
    """Return the version of the stemmers' rules, such as `3.1`."""
    import Stemmer

    return ".".join(Stemmer.version().split(".")[:2])


@cache
def stop_words(language: str) -> frozenset[str]:
    """Read a language's stop words: folded, apostrophes kept; empty where there is no list."""
    path = _STOP_WORDS / f"{language}.txt"
    if not path.is_file():
        return frozenset()
    lines = path.read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def parted(word: Piece, apostrophe: Apostrophe) -> list[Piece]:
    """Return the words that a word with apostrophes is, by the custom of its language."""
    if "'" not in word.text or apostrophe is Apostrophe.JOIN:
        return [word]
    pieces = []
    start = word.start
    for part in word.text.split("'"):
        pieces.append(Piece(part, start, start + len(part), word.kind))
        start += len(part) + 1
    return pieces if apostrophe is Apostrophe.SPLIT else pieces[:1]


def without_apostrophes(word: str) -> str:
    """Drop an English genitive's ending, then close up: `dog's` is `dog`, `o'clock` is `oclock`."""
    return word.removesuffix("'s").replace("'", "") if "'" in word else word
