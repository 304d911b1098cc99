"""Phrases word for word: whether a text holds one, and where.

Case, encoding (NFKC) and the amount of white space make no difference; everything else does. A phrase must begin and
end where a word of the text does: `cat` is not in `concat`, `1.2` not in `1.2.3`, `foo` not in `foo_bar`; `git` is in
`git-reset`. Scripts written without spaces have no such borders: `水道` is in `自来水道路`. It takes linear time,
but for texts made to repeat a long phrase up to its end.
"""

import re
from array import array
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache, lru_cache

from twofold.domain.types import Clause
from twofold.kernels import squeeze_text, squeeze_texts
from twofold.text.tokenizer import character_kind
from twofold.text.unicode_normalization import Normal, fold, fold_with_places

_NUMBER_GOES_ON = ".,:"
MAX_REMEMBERED = 32  # characters of a run
REMEMBERED_RUNS = 4096  # at most 1 MB
_SPACED_WORD = r"[^\W\u0e00-\u1eff\u2e80-\U0010ffff]*+"  # only scripts in which no border stands within


@cache
def _spaced_word() -> re.Pattern[str]:
    """Compile it when a phrase is first asked for: that takes 2 ms."""
    return re.compile(_SPACED_WORD)


def occurs(phrase: str, text: str) -> bool:
    """Return whether the phrase stands in the text, word for word. An empty phrase stands in every text.

    `"reset  --hard"` occurs in `"Git Reset --HARD."`, not in `"reset --harder"`.
    """
    wanted = squeeze(phrase)
    return not wanted or stands_in(wanted, squeeze(text))


def stands_in(wanted: str, text: str) -> bool:
    """Return whether a phrase stands in a text, word for word; both were folded by `squeeze`, and neither is empty."""
    return next(_places(wanted, text), None) is not None


def count_in(wanted: str, text: str) -> int:
    """Count how often a phrase stands in a text, word for word, not overlapping; both were folded by `squeeze`."""
    return sum(1 for _ in _places(wanted, text)) if wanted else 0


_NEAR_WORD = re.compile(r"[^\W_]+")


def near(phrase: str, text: str, slop: int) -> bool:
    """Return whether the words of a phrase stand close together, in any order, with at most `slop` others among them.

    `"reset soft"` is near in `"a soft and quiet reset"` from a slop of 2 on. Words are parted as they are written, with
    spaces or punctuation between them.
    """
    return stand_near(squeeze(phrase), squeeze(text), slop)


def stand_near(wanted: str, text: str, slop: int) -> bool:
    """Return whether folded words stand close together in a folded text; see `near`."""
    needed = Counter(_NEAR_WORD.findall(wanted))
    size, missing = sum(needed.values()), len(needed)
    places: deque[tuple[int, str]] = deque()
    held: Counter[str] = Counter()
    for at, word in enumerate(_NEAR_WORD.findall(text)):
        if word not in needed:
            continue
        places.append((at, word))
        held[word] += 1
        missing -= held[word] == needed[word]
        while held[places[0][1]] > needed[places[0][1]]:
            held[places.popleft()[1]] -= 1
        if not missing and at - places[0][0] < size + slop:
            return True
    return not needed


def holds(clause: Clause, counts: Mapping[str, int], text: str) -> bool:
    """Return whether a passage, its terms counted, holds a clause."""
    if not all(term in counts for term in clause.terms):
        return False
    if clause.any_of and not any(holds(one, counts, text) for one in clause.any_of):
        return False
    return near(clause.verbatim, text, clause.slop) if clause.slop else occurs(clause.verbatim, text)


def occurrences(phrase: str, text: str) -> tuple[tuple[int, int], ...]:
    """Return the spans of the phrase: characters in the text as given, from left to right, not overlapping."""
    wanted = squeeze(phrase)
    if not wanted:
        return ()
    squeezed, starts, ends = _squeeze_with_places(text)
    length = len(wanted)
    return tuple((starts[at], ends[at + length - 1]) for at in _places(wanted, squeezed))


def squeeze(text: str) -> str:
    """Fold case and encoding, and make every stretch of white space one space, with none at either end. Idempotent."""
    if squeeze_text is not None:
        with suppress(UnicodeEncodeError):
            return squeeze_text(text, _fold_run)
    if text.isascii():  # nothing to fold but case: a tenth of the time
        return " ".join(text.lower().split())
    return " ".join(" ".join([run.lower() if run.isascii() else fold(run) for run in text.split()]).split())


def squeeze_all(texts: list[str]) -> tuple[bytes, bytes]:
    """Return what `squeeze` makes of texts as UTF-8, one after the other, and how many bytes each has, as int64."""
    if squeeze_texts is not None:
        with suppress(UnicodeEncodeError):
            return squeeze_texts(texts, _fold_run)
    folded = [squeeze(text).encode() for text in texts]
    return b"".join(folded), array("q", map(len, folded)).tobytes()


def _fold_run(run: str) -> str:
    """Fold a run of non-space text. Short ones come again: a dash, a name with an accent."""
    return _fold_short_run(run) if len(run) <= MAX_REMEMBERED else fold(run)


_fold_short_run = lru_cache(maxsize=REMEMBERED_RUNS)(fold)


def _squeeze_with_places(text: str) -> Normal:
    """Return the same text as `squeeze`, and where in the original each of its characters stands."""
    characters: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for run in text.split():
        at = text.index(run, at)
        folded = fold_with_places(run)
        for character, start, end in zip(f" {folded.text}", (0, *folded.starts), (0, *folded.ends), strict=True):
            if not character.isspace():
                characters.append(character)
            elif characters and characters[-1] != " ":
                characters.append(" ")
            else:
                continue
            starts.append(at + start)
            ends.append(at + end)
        at += len(run)
    return Normal("".join(characters), tuple(starts), tuple(ends))


def _places(wanted: str, text: str) -> Iterator[int]:
    at = text.find(wanted)
    while at >= 0:
        if not _is_border(text, at):
            at = _rest_of_word(text, at + 1)
        elif _is_border(text, at + len(wanted)):
            yield at
            at += len(wanted)
        else:
            at += 1
        at = text.find(wanted, at)


def _rest_of_word(text: str, at: int) -> int:
    """Skip what cannot hold a border, so that a long word is passed over once and not letter by letter."""
    rest = _spaced_word().match(text, at)
    return rest.end() if rest else at


def _is_border(text: str, at: int) -> bool:
    """Return whether a word may end before `text[at]` and another begin there."""
    if not 0 < at < len(text):
        return True
    left, right = text[at - 1], text[at]
    if right == " " or left == " ":
        return True
    if right.isdecimal() and left in _NUMBER_GOES_ON:
        return at < 2 or not text[at - 2].isdecimal()  # noqa: PLR2004
    if left.isdecimal() and right in _NUMBER_GOES_ON:
        return at + 1 >= len(text) or not text[at + 1].isdecimal()
    kinds = _kind(left) + _kind(right)
    return kinds[1] != "m" and not (kinds[0] in "wnm" and kinds[1] in "wn")


def _kind(character: str) -> str:
    return "w" if character == "_" else character_kind(ord(character))
