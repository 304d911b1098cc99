"""What a collection's own words suggest: how a question goes on while it is typed, and what a misspelt one may mean.

Nothing is suggested that no passage of the scope holds: a word, a phrase or a title that only hidden documents have is
never named.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Literal

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, check_kind
from twofold.domain.filters import Condition, Operator
from twofold.domain.ports import Scope, Snapshot
from twofold.domain.types import Clause, TermQuery, WordCount
from twofold.search.components import Analyzer
from twofold.search.query import added_up, visible
from twofold.text.phrases import squeeze
from twofold.text.unicode_normalization import fold

MAX_SUGGESTIONS = 50
MAX_PREFIX_LENGTH = 256  # characters
CANDIDATES = 12  # words that are looked at for each place
READ = 30  # passages that say how a word goes on
_WORD = re.compile(r"\w+")
_TYPED = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
MIN_WORD_LENGTH = 4  # letters; a shorter word is near too many
LONG = 6  # letters, from which two edits are still the same word


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One way for a question to go on: its whole `text`, what it is, and how many passages hold what was added."""

    text: str
    kind: Literal["title", "phrase", "word"]
    passages: int


def suggestions(view: Snapshot, analyzer: Analyzer, typed: str, k: int, scope: Scope) -> tuple[Suggestion, ...]:
    """Return at most k ways for a question to go on: titles, phrases of the passages, then words, the frequent first.

    `gi` may give the title `Git`, the phrase `git reset` and the word `git`. After a space the next word is suggested.
    Raises InvalidInputError for a k out of range.
    """
    check_kind("`k`", k, int, "Write a whole number: k=8.")
    if not 1 <= k <= MAX_SUGGESTIONS:
        raise InvalidInputError(f"k must be from 1 to {MAX_SUGGESTIONS}, not {k}.", "Ask for 8, for example.")
    text = " ".join(typed[:MAX_PREFIX_LENGTH].split()) + (" " if typed[-1:].isspace() else "")
    folded = fold(text)
    if not folded.strip():
        return ()
    found = [*_titles(view, folded.strip(), max(1, k // 2), scope)]
    head, _, last = folded.rpartition(" ")
    before = head.rpartition(" ")[2]
    words = _completions(view, analyzer, last, scope) if last else []
    kept = text[: len(text) - len(last)] if last else text
    if before:
        continued = words or [WordCount(word, 1) for word, _ in _following(view, analyzer, before, scope)]
        found += _phrases(view, analyzer, (kept, before), continued, scope)
    elif words:
        found += _phrases(view, analyzer, ("", ""), _with_following(view, analyzer, words[0].word, scope), scope)
    found += [Suggestion(kept + one.word, "word", one.often) for one in words]
    firsts: dict[str, Suggestion] = {}
    for one in found:  # what is a title or a phrase too stays in its place
        firsts.setdefault(fold(one.text), one)
    return tuple(firsts.values())[:k]


def _titles(view: Snapshot, prefix: str, most: int, scope: Scope) -> Iterator[Suggestion]:
    titles = [title for part in view.vocabularies() for title in part.titles(prefix, CANDIDATES)]
    titles = sorted(dict.fromkeys(titles), key=lambda title: (not squeeze(title).startswith(prefix), len(title), title))
    some = titles[:CANDIDATES]
    counts = view.count_within(scope, [Scope(Condition("title", Operator.EQ, title)) for title in some])
    shown = [Suggestion(title, "title", often) for title, often in zip(some, counts, strict=True) if often]
    yield from shown[:most]


def _completions(view: Snapshot, analyzer: Analyzer, prefix: str, scope: Scope) -> list[WordCount]:
    words = added_up(one for part in view.vocabularies() for one in part.starting_with(prefix, 2 * CANDIDATES))
    return visible(view, [one for one in words if len(one.word) > 1], scope, analyzer, CANDIDATES)


def _phrases(
    view: Snapshot, analyzer: Analyzer, before: tuple[str, str], words: Sequence[WordCount], scope: Scope
) -> list[Suggestion]:
    """Return those words that stand right behind the one before, by how many passages hold both so."""
    kept, word = before
    phrases = [f"{word} {one.word}".strip() for one in words]
    clauses = [Clause(tuple(analyzer.phrase_terms(phrase)), phrase) for phrase in phrases]
    counts = view.count_holding(scope, clauses)
    made = [Suggestion(kept + one.word, "phrase", often) for one, often in zip(words, counts, strict=True) if often > 0]
    return sorted(made, key=lambda one: -one.passages)


def _with_following(view: Snapshot, analyzer: Analyzer, word: str, scope: Scope) -> list[WordCount]:
    """Return the phrases of a word and what often follows it."""
    return [
        WordCount(f"{word} {following}", 1) for following, often in _following(view, analyzer, word, scope) if often > 1
    ]


def _following(view: Snapshot, analyzer: Analyzer, word: str, scope: Scope) -> list[tuple[str, int]]:
    """Return the words that follow a word in some passages of the scope, the most frequent first; no stop words."""
    terms = analyzer.phrase_terms(word)
    keys = view.search_bm25(TermQuery(dict.fromkeys(terms, 1.0)), READ, scope).keys.tolist() if terms else []
    counts: Counter[str] = Counter()
    for chunk in view.chunks(keys):
        words = _WORD.findall(squeeze(chunk.indexed_text))
        counts.update(after for one, after in pairwise(words) if one == word and len(after) > 1)
    telling = [(after, often) for after, often in counts.most_common(CANDIDATES) if _says_something(after, analyzer)]
    return telling[: CANDIDATES // 2]


def _says_something(word: str, analyzer: Analyzer) -> bool:
    return not any(term.startswith("=") for term in analyzer.query(word))


def did_you_mean(view: Snapshot, analyzer: Analyzer, question: str, unknown: Iterable[str], scope: Scope) -> str:
    """Return a question with those of its words that the index does not know spelt as near ones that it does know.

    `unknown` are terms that no passage holds. A word of four or five letters is near at one edit, a longer one at two;
    of the near words the nearest counts, then the most frequent. Empty where no word is near, or only hidden ones are.
    """
    missing, made, at = set(unknown), [], 0
    for found in _TYPED.finditer(question):
        word = found[0]
        terms = set(analyzer.clause_terms(word))
        if len(word) < MIN_WORD_LENGTH or not terms or not terms <= missing:
            continue
        near = _nearest(view, analyzer, fold(word), scope)
        if near:
            made += [question[at : found.start()], near.capitalize() if word[:1].isupper() else near]
            at = found.end()
    return "".join([*made, question[at:]]) if made else ""


def _nearest(view: Snapshot, analyzer: Analyzer, word: str, scope: Scope) -> str:
    distances: dict[str, int] = {}
    counts: list[WordCount] = []
    for part in view.vocabularies():
        for one, distance in part.near(word, 2 if len(word) >= LONG else 1):
            if distance and len(one.word) > 1:
                distances[one.word] = distance
                counts.append(one)
    ordered = sorted(added_up(counts), key=lambda one: (distances[one.word], one.word[0] != word[0], -one.often))
    kept = visible(view, ordered[:CANDIDATES], scope, analyzer, 1)
    return kept[0].word if kept else ""
