"""The one analyzer: the same text gives the same terms in indexing, in search and in highlighting.

    text → runs of non-space → normalize → words and exact forms → fold → stop words → stem → terms

Exact forms are terms of their own that begin with `=`: `=err-12345`, `=GDP`, `=article 370`. They are added to the
words they are made of, and never replace them, and add nothing to a passage's length. A stop word is kept in the same
way, for questions that hold nothing else. Plain words give plain terms only, so plain questions score as in any other
BM25.

Word n-grams, where an analyzer's name asks for them (`english+2`), are terms of that kind: `twofold.text.ngrams`.

Each different run is analyzed once and remembered, each different word stemmed once. The loop over a text, and ASCII
runs, are in C where a compiler was there (`_analyzer.c`); the methods here are its oracle, and serve elsewhere: in
Turkish, whose `I` is not ASCII when it is small, with n-grams, and for text that is not Unicode.

The weights of exact forms in a question, and the figures behind them: `docs/decisions/0030-exact-forms.md`.
"""

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import blake2b
from itertools import pairwise
from operator import add
from typing import NamedTuple

from twofold.domain.types import TermCounts
from twofold.kernels import Counts, Runs
from twofold.text.languages import (
    Apostrophe,
    Language,
    open_stemmer,
    parted,
    snowball_version,
    without_apostrophes,
)
from twofold.text.ngrams import NGRAM, chain, ngrams, part_of_a_pair
from twofold.text.tokenizer import MAX_WORD_LENGTH, CharacterKinds, Kind, Piece, Segments, camel_parts, segment
from twofold.text.unicode_normalization import Normal, fold, normalize, normalize_with_places

VERSION = 1  # raise it whenever the same text may give other terms than before
EXACT = "="
MAX_EXPANSIONS_OF_A_TERM = 65_535  # what the stores' 16-bit counts hold
WEIGHTS: Mapping[Kind, float] = {
    Kind.WORD: 1.0,
    Kind.BIGRAM: 1.0,
    Kind.LONE: 1.0,
    Kind.CODE: 1.0,
    Kind.PAIR: 0.5,
    Kind.COMPOUND: 0.25,
    Kind.CHARACTER: 0.25,
    Kind.ACRONYM: 0.25,
    Kind.NGRAM: 0.2,
}
_IDEOGRAPHS_ALONE = r"\s*[\u3400-\u4dbf\u4e00-\u9fff][\u3400-\u4dbf\u4e00-\u9fff\s]*"  # compiled when first needed
"""What normalizing and folding leave as it is, and what has no words, codes or stop words in it."""
_WEIGHED_BY_TERM = frozenset({Kind.ACRONYM, Kind.NGRAM})
_CACHED_RUNS = 65_536
if Counts is not None:
    Mapping.register(Counts)
_MAX_CACHED_RUN_LENGTH = 48
_TURKISH_I = str.maketrans({"I": "\u0131", "\u0130": "i"})
_SHOUT = 3  # this many words without a small letter are no acronyms
_PLAIN = re.compile(r"""["'(\[{<]*+([A-Za-z][a-z]*+)(["')\]}>,;:!?.]*+)""")


class Token(NamedTuple):
    """One term and where it was found: `text[start:end]` in the text as it was given."""

    term: str
    start: int
    end: int
    kind: Kind


class _Run(NamedTuple):
    """What a run of non-space text comes to: words, exact forms, and what it lends to a pair and to word n-grams."""

    words: tuple[str, ...]
    exact: tuple[str, ...]
    tail: str
    head: str
    links: tuple[str, ...]


class _PlacedRun(NamedTuple):
    """What a run comes to with its places: `(term, start, end, kind)` of each term, counted from the run's start."""

    pieces: tuple[tuple[str, int, int, Kind], ...]
    tail: str | None
    tail_start: int
    head: str | None
    head_end: int
    links: tuple[tuple[str, int, int, Kind], ...]


class Analyzer:
    """Makes terms of text. Safe to use from several threads; holds a stemmer, which does not, and a bounded cache.

    Without `native` all of it is done in Python.
    """

    __slots__ = ("_humps", "_kinds", "_language", "_lock", "_most", "_name", "_native", "_runs", "_stemmer")

    def __init__(
        self, name: str, language: Language, *, humps: bool = False, ngrams: int = 1, native: bool = True
    ) -> None:
        self._name = name if ngrams == 1 else f"{name}+{ngrams}"
        self._language = language
        self._most = ngrams
        self._humps = humps
        self._kinds = CharacterKinds()
        self._runs: dict[str, _Run] = {}
        self._lock = threading.Lock()
        self._stemmer = open_stemmer(language.stemmer)
        self._native = None
        if native and Runs is not None and ngrams == 1 and language.apostrophe is not Apostrophe.CUT:
            splits = language.apostrophe is Apostrophe.SPLIT
            self._native = Runs(self._term, self._counted, self._placed, Token, tuple(Kind), splits, humps)

    def describe(self) -> str:
        """Return canonical text of all that the terms depend on; equal text, equal terms."""
        stop_words = " ".join(sorted(self._language.stop_words))
        parts = [self._name, f"version={VERSION}"]
        if self._language.stemmer:
            parts += [
                f"snowball={snowball_version()}",
                f"stop_words={blake2b(stop_words.encode(), digest_size=4).hexdigest()}",
            ]
        return " ".join(parts)

    def counts(self, text: str, language: str = "") -> TermCounts:  # noqa: ARG002 what `auto` asks for
        """Count a passage's terms, in time linear in its length; `length` counts its words, repeats included.

        English: `"The dog's dogs bark"` gives `{"dog": 2, "bark": 1, "=the": 1}` and length 3.
        """
        counts, length = self._counts_and_length(text)
        if len(text) > MAX_EXPANSIONS_OF_A_TERM:
            counts = {term: min(count, MAX_EXPANSIONS_OF_A_TERM) for term, count in counts.items()}
        return TermCounts(counts, length)

    def _counts_and_length(self, text: str) -> tuple[Mapping[str, int], int]:
        if self._native is not None:
            with suppress(UnicodeEncodeError):
                return self._native.count(text)
        runs = text.split()
        counts: dict[str, int] = {}
        length = 0
        known = self._runs
        for run, times in Counter(runs).items():
            made = known.get(run) or self._run(run)
            length += times * len(made.words)
            for term in made.words:
                counts[term] = counts.get(term, 0) + times
            for term in made.exact:
                counts[term] = counts.get(term, 0) + times
        for left, right in pairwise(runs):
            if right[0].isdecimal() and (pair := _pair(self._run(left).tail, self._run(right).head)):
                counts[pair] = counts.get(pair, 0) + 1
        if self._most > 1:
            links = [link for run in runs for link in self._run(run).links]
            counts |= Counter(term for term, _, _ in ngrams(links, self._most))
        return counts, length

    def query(self, text: str) -> Mapping[str, float]:
        """Weigh a question's terms, in its order: `WEIGHTS` times count; stop words only if there is nothing else.

        English: `"What is dbt?"` gives `{"dbt": 1.0}`, `"to be"` gives `{"=to": 1.0, "=be": 1.0}`; with n-grams up to
        2, `"soft reset"` gives `{"soft": 1.0, "reset": 1.0, "=+soft reset": 0.2}`.
        """
        if self._most == 1 and not text.isascii() and re.fullmatch(_IDEOGRAPHS_ALONE, text):
            return _weighed_ideographs(text)
        tokens = list(self.tokens(text))
        shouted = text.isupper() and len(text.split()) >= _SHOUT
        weights: dict[str, float] = {}
        for term, _, _, kind in tokens:
            weight = self._weight(term, kind) if kind in _WEIGHED_BY_TERM else WEIGHTS.get(kind, 0.0)
            if weight > 0.0 and not (shouted and kind is Kind.ACRONYM):
                weights[term] = weights.get(term, 0.0) + weight
        if weights:
            return weights
        return {term: float(count) for term, count in Counter(_of(tokens, Kind.STOP)).items()}

    def phrase_terms(self, text: str) -> tuple[str, ...]:
        """Return terms that every passage with this text in it has, none twice; perhaps none at all."""
        tokens = list(self.tokens(text))
        words = _of(tokens, Kind.WORD, Kind.LONE) + [term for term in _of(tokens, Kind.BIGRAM) if len(term) > 1]
        return tuple(dict.fromkeys(words or _of(tokens, Kind.STOP)))

    def clause_terms(self, text: str) -> tuple[str, ...]:
        """Return the terms that stand for a required or an excluded word, none twice.

        A code or a compound stands for itself, not for its parts: `git-reset` gives `("=git-reset",)`. Another word is
        its stem; an acronym that spells a stop word, as IT does, is itself.
        """
        tokens = list(self.tokens(text))
        whole = [token for token in tokens if token.kind in (Kind.CODE, Kind.COMPOUND)]
        parts = [token for token in tokens if not any(one.start <= token.start < one.end for one in whole)]
        acronyms = {token.start: token.term for token in parts if token.kind is Kind.ACRONYM}
        words = [
            acronyms.get(token.start, token.term) if token.kind is Kind.STOP else token.term
            for token in parts
            if token.kind in (Kind.WORD, Kind.BIGRAM, Kind.LONE, Kind.STOP)
        ]
        return tuple(dict.fromkeys([token.term for token in whole] + words))

    def tokens(self, text: str) -> Iterator[Token]:
        """Return every term with its place, word n-grams last; counted, they are `counts(text).counts`."""
        if self._native is not None:
            with suppress(UnicodeEncodeError):
                return iter(self._native.place(text))
        return self._tokens(text)

    def _tokens(self, text: str) -> Iterator[Token]:
        at, tail, tail_start = 0, "", 0
        links: list[Token] = []
        for run in text.split():
            at = text.index(run, at)
            placed = self._placed(run)
            yield from _offset_tokens(placed.pieces, at)
            links += _offset_tokens(placed.links, at)
            if tail and placed.head:
                yield Token(_pair(tail, placed.head), tail_start, at + placed.head_end, Kind.PAIR)
            tail, tail_start = placed.tail or "", at + placed.tail_start
            at += len(run)
        words = [link.term for link in links]
        for term, first, end in ngrams(words, self._most):
            yield Token(term, links[first].start, links[end - 1].end, Kind.NGRAM)

    def _term(self, folded: str) -> str:
        """Return the term of a folded word: its stem, or with a mark in front a stop word."""
        stop_words = self._language.stop_words
        if folded in stop_words:
            return EXACT + folded
        if "'" in folded:
            folded = without_apostrophes(folded)
            if folded in stop_words:
                return EXACT + folded
        return self._stem(folded)

    def _counted(self, run: str) -> tuple[list[str], list[str], str | None, str | None]:
        """Return what the loop in C counts of a run that is not ASCII: words, exact forms, tail and head."""
        made = self._make_run(run)
        return (
            list(made.words),
            list(made.exact),
            made.tail or None,
            (made.head or None) if run[0].isdecimal() else None,
        )

    def _placed(self, run: str) -> _PlacedRun:
        """Analyze a run with its places."""
        normal = normalize_with_places(run)
        segments = segment(normal.text, self._kinds)
        terms = list(self._terms(segments.pieces))
        head = fold(segments.head.text) if segments.head and run[0].isdecimal() else None
        return _PlacedRun(
            pieces=tuple(_placed(normal, term, piece) for term, piece in terms),
            tail=self._tail(segments) or None,
            tail_start=normal.starts[segments.tail.start] if segments.tail else 0,
            head=head,
            head_end=normal.ends[segments.head.end - 1] if segments.head else 0,
            links=tuple(_placed(normal, term, piece) for term, piece in chain(terms)) if self._most > 1 else (),
        )

    def _weight(self, term: str, kind: Kind) -> float:
        """Weigh an acronym or an n-gram; an acronym whose word is a stop word, as in WHO, has to stand for it."""
        if kind is Kind.NGRAM:
            return WEIGHTS[Kind.NGRAM] * part_of_a_pair(term)
        spells_stop_word = self._fold(term.removeprefix(EXACT)) in self._language.stop_words
        return WEIGHTS[Kind.WORD] if spells_stop_word else WEIGHTS.get(kind, 0.0)

    def _run(self, run: str) -> _Run:
        """Analyze a run of non-space text, or remember it."""
        known = self._runs.get(run)
        if known is not None:
            return known
        made = self._make_run(run)
        if len(run) <= _MAX_CACHED_RUN_LENGTH:
            if len(self._runs) >= _CACHED_RUNS:
                self._runs.clear()
            self._runs[run] = made
        return made

    def _make_run(self, run: str) -> _Run:
        plain = _PLAIN.fullmatch(run)
        if plain and (word := self._fold(plain[1])) != run:
            # Most runs are a word with a capital or with punctuation: they share what the word itself comes to.
            base = self._run(word)
            return base if plain[2] in ("", ".") else base._replace(tail="", head="")
        segments = segment(normalize(run), self._kinds)
        found = list(self._terms(segments.pieces))
        return _Run(
            words=tuple(term for term, _ in found if not term.startswith(EXACT)),
            exact=tuple(term for term, _ in found if term.startswith(EXACT)),
            tail=self._tail(segments),
            head=fold(segments.head.text) if segments.head else "",
            links=tuple(link for link, _ in chain(found)) if self._most > 1 else (),
        )

    def _terms(self, pieces: Iterable[Piece]) -> Iterator[tuple[str, Piece]]:
        """Turn pieces into terms; a word may be several, and a stop word changes its kind."""
        for piece in pieces:
            if piece.kind is Kind.WORD:
                yield from self._word_terms(piece)
            elif piece.kind is Kind.BIGRAM:
                yield piece.text, piece
            elif piece.kind in (Kind.CODE, Kind.COMPOUND):
                yield EXACT + fold(piece.text), piece
            else:
                yield EXACT + piece.text, piece

    def _word_terms(self, word: Piece) -> Iterator[tuple[str, Piece]]:
        closed_up = word.end - word.start != len(word.text)  # initials, which are no identifier
        humps = camel_parts(word) if self._humps and not closed_up else []
        for piece in (*parted(word, self._language.apostrophe), *humps):
            term = self._term(self._fold(piece.text[:MAX_WORD_LENGTH]))
            yield term, piece._replace(kind=Kind.STOP) if term.startswith(EXACT) else piece

    def _fold(self, word: str) -> str:
        return fold(word.translate(_TURKISH_I) if self._language.stemmer == "turkish" else word)

    def _tail(self, segments: Segments) -> str:
        folded = self._fold(segments.tail.text) if segments.tail else ""
        return "" if folded in self._language.stop_words else folded

    def _stem(self, word: str) -> str:
        with self._lock:
            return self._stemmer(word) or word


def _weighed_ideographs(text: str) -> dict[str, float]:
    """Weigh the terms of a question in ideographs as `Analyzer.query` does: each pair, then each character.

    >>> _weighed_ideographs("\u6c34\u706b\u6c34 \u706b")
    {'\u6c34\u706b': 1.0, '\u706b\u6c34': 1.0, '=\u6c34': 0.5, '=\u706b': 1.25}
    """
    weights: dict[str, float] = {}
    for run in text.split():
        pairs = Counter(map(add, run, run[1:]))
        single = WEIGHTS[Kind.CHARACTER if pairs else Kind.LONE]
        for term, times in pairs.items():
            weights[term] = weights.get(term, 0.0) + WEIGHTS[Kind.BIGRAM] * times
        for character, times in Counter(run).items():
            term = EXACT + character
            weights[term] = weights.get(term, 0.0) + single * times
    return weights


def _placed(normal: Normal, term: str, piece: Piece) -> tuple[str, int, int, Kind]:
    return term, normal.starts[piece.start], normal.ends[piece.end - 1], piece.kind


def _offset_tokens(pieces: Iterable[tuple[str, int, int, Kind]], at: int) -> list[Token]:
    return [Token(term, at + start, at + end, kind) for term, start, end, kind in pieces]


def _pair(tail: str, head: str) -> str:
    return f"{EXACT}{tail} {head}" if tail and head else ""


def _of(tokens: Iterable[Token], *kinds: Kind) -> list[str]:
    return [token.term for token in tokens if token.kind in kinds]


MAX_OTHER_WORDS = 2


def may_expand(term: str) -> bool:
    """Return whether feedback may add a term to a question: no exact form, no number and nothing with a digit in it.

    A number or a code of a passage stands for itself, and for nothing that a question about its subject is about.
    """
    return not term.startswith(EXACT) and not any(map(str.isdigit, term))


def is_about_a_code(weights: Mapping[str, float], counts: Callable[[str], TermCounts]) -> bool:
    """Return whether a question names a code of digits and letters or signs, and hardly anything else.

    `weights` are the question's terms, `counts` the analyzer's. At most two words may stand with the codes and their
    own parts: a sentence that mentions a code is about more than the code.
    """
    exact = [term for term in weights if term.startswith(EXACT) and not term.startswith(NGRAM)]
    codes = [term.removeprefix(EXACT) for term in exact if weights[term] >= 1.0]
    named = [code for code in codes if any(map(str.isdecimal, code)) and not code.isdecimal()]
    if not named:
        return False
    parts = {part for code in named for part in counts(code).counts}
    others = [term for term in weights if not term.startswith(EXACT) and term not in parts]
    return len(others) <= MAX_OTHER_WORDS
