"""The memory of answers: a question asked before, or one that says the same, is answered without searching.

An answer is found by all that it depends on (`twofold.search.cache`): for the same question, or for one whose
vector is nearer than a threshold and that agrees in what vectors do not tell apart. It is forgotten after a while, when
room is needed, and when its collection has changed. What is answered from memory is not remembered again, so answers do
not drift from question to question.
"""

import re
import threading
import time
import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from hashlib import blake2b
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from twofold.domain.dataclass import dataclass
from twofold.domain.types import Vector
from twofold.query.parse import ParsedQuery
from twofold.search.plan import CachePlan
from twofold.text.analyzer import EXACT
from twofold.text.ngrams import NGRAM

DIGEST_BYTES = 32
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019]t\b)?")
_WITHOUT_SPACES = frozenset("不没沒無无非未勿別别ない否谁誰何哪怎几幾")
# Words of negation, question words, and directions; most are stop words, which are no terms. `n't` is found by its end.
_TURNING = """
    not no never none nor neither without except cannot who whom whose what which when where why how
    before after since until above below under over more less fewer most least first last
    nicht kein keine keinen keinem keiner keines nie ohne außer wer wen wem wessen was welche welcher welches wann wo
    wohin woher warum wieso weshalb wie vor nach seit bis über unter mehr weniger
    ne pas jamais sans aucun aucune sauf qui que quoi quel quelle quels quelles quand où pourquoi comment combien
    avant après depuis plus moins sur sous
    nunca sin ningún ninguno ninguna excepto quién quiénes qué cuál cuáles cuándo dónde cómo cuánto cuánta antes después
    não nao sem nem nenhum nenhuma exceto quem qual quais quando onde porque como quanto depois mais menos
    non mai senza nessun nessuno nessuna tranne chi cosa quale quali dove perché come prima dopo più meno
    niet geen nooit zonder wie wat welke wanneer waar waarom hoe voor na meer minder
    inte ingen aldrig utan ikke aldri uden uten vem vad när var varför hur hvem hva hvad når hvor hvorfor hvordan
    ei eivät ilman kuka mikä mitä milloin missä miksi miten nem nincs soha nélkül ki mi mikor hol miért hogyan
    не нет без никогда кроме кто что когда где почему как nie bez nigdy kto co kiedy gdzie dlaczego jak
    değil yok kim ne nerede neden δεν μην χωρίς ποιος τι πότε πού γιατί πώς
"""
TURNING_WORDS = frozenset(_TURNING.casefold().split())


@dataclass(frozen=True, slots=True)
class CacheKey:
    """What an answer depends on.

    `collections` are names with generations; the digests stand for settings and models (`context`), the whole question
    (`question`), and what a near question must have in common with it (`guard`). `order` holds the question's terms as
    they were first named. `session` is whose question it is, empty where that does not matter.
    """

    collections: tuple[tuple[str, int], ...]
    context: bytes
    question: bytes
    guard: bytes
    order: tuple[str, ...]
    session: str = ""


def cache_key(
    parsed: ParsedQuery, collections: Sequence[tuple[str, int]], settings: Sequence[object], session: str = ""
) -> CacheKey:
    """Make the key of a question asked of some collections, each with its generation, under some settings.

    `settings` are frozen values: the plan, the identities of the models, the analyzer's description, whatever else the
    answer depends on. Two questions are the same when they differ in white space alone. Raises TypeError for a setting
    that has no canonical form, such as a function.
    """
    words = " ".join(parsed.words.split())
    operators = (parsed.required, parsed.excluded, parsed.filter)
    return CacheKey(
        collections=tuple(sorted(collections)),
        context=digest(tuple(settings)),
        question=digest((words, parsed.terms, *operators)),
        guard=digest((operators, distinguishing(parsed))),
        order=tuple(parsed.terms.weights),
        session=session,
    )


def distinguishing(parsed: ParsedQuery) -> tuple[tuple[str, ...], ...]:
    """Return what vectors hardly tell apart: codes, words with digits, signs, words that turn a question round."""
    words = unicodedata.normalize("NFKC", parsed.words).casefold()
    exact = (term for term in parsed.terms.weights if term.startswith(EXACT))
    codes = tuple(term for term in exact if not term.startswith(NGRAM))  # words in a row are no code
    numbers = tuple(word.strip("?!.,;:()[]\"'") for word in words.split() if any(map(str.isnumeric, word)))
    signs = tuple(character for character in words if unicodedata.category(character) in {"Sm", "Sc"})
    spaced = tuple(word for word in _WORD.findall(words) if word in TURNING_WORDS or word.endswith(("n't", "n\u2019t")))
    return codes, numbers, signs, (*spaced, *(character for character in words if character in _WITHOUT_SPACES))


def may_share(first: CacheKey, second: CacheKey) -> bool:
    """Return whether two questions may have one answer, should their vectors agree."""
    if (first.collections, first.context, first.guard) != (second.collections, second.context, second.guard):
        return False
    return first.session == second.session and first.order == second.order


def digest(value: object) -> bytes:
    """Return 32 bytes that identify a frozen value. Raises TypeError as `canonical` does."""
    return blake2b(canonical(value), digest_size=DIGEST_BYTES).digest()


def canonical(value: object) -> bytes:
    """Write a frozen value so that no two different ones read alike: kind, length, content.

    1, 1.0 and True differ here, which are equal as keys of a dict; so do ("ab",) and ("a", "b"). Fields that do not
    count in comparing do not count here. Raises TypeError for what is no plain value, sequence, mapping, set, member of
    an enumeration or dataclass of such.
    """
    kind, content = _written(value)
    return b"%s %d:%s" % (kind.encode(), len(content), content)


def _written(value: object) -> tuple[str, bytes]:
    if isinstance(value, Enum):
        return f"enum {_name(value)}", value.name.encode()
    if is_dataclass(value) and not isinstance(value, type):
        parts = [(one.name, getattr(value, one.name)) for one in fields(value) if one.compare]
        return f"data {_name(value)}", _joined(parts)
    plain = _plain(value)
    return _gathered(value) if plain is None else plain


def _plain(value: object) -> tuple[str, bytes] | None:
    match value:
        case str():
            return "text", value.encode("utf-8", "surrogatepass")
        case bytes():
            return "bytes", value
        case None | bool() | int() | float():
            return type(value).__name__, repr(value).encode()
    return None


def _gathered(value: object) -> tuple[str, bytes]:
    match value:
        case tuple() | list():
            return "sequence", _joined(value)
        case Mapping():
            return "mapping", b"".join(sorted(map(canonical, value.items())))
        case frozenset() | set():
            return "set", b"".join(sorted(map(canonical, value)))
    message = f"a {type(value).__name__} has no canonical form"
    raise TypeError(message)


def _joined(values: Sequence[object]) -> bytes:
    return b"".join(map(canonical, values))


def _name(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


Value = TypeVar("Value")
Unit = NDArray[np.float64]
MAX_CACHES = 8

now = time.monotonic
"""The clock of every memory that is given none of its own: seconds that never go back."""

ROUNDING = 1e-6
"""What a cosine of float32 vectors may be off: 0.98 exactly is no hit, however its vectors were rounded."""


@dataclass(frozen=True, slots=True)
class CachedResult(Generic[Value]):
    """An answer from memory, `age` seconds old. `cosine` is None where the question was the same."""

    value: Value
    age: float
    cosine: float | None = None


@dataclass(frozen=True, slots=True)
class CacheCounts:
    """What became of questions and answers since the beginning; `size` is how many are remembered now.

    `evicted` made room, `expired` were too old, `stale` belonged to what a collection was before it changed.
    """

    exact: int = 0
    near: int = 0
    misses: int = 0
    evicted: int = 0
    expired: int = 0
    stale: int = 0
    size: int = 0

    @property
    def hit_rate(self) -> float:
        """The share of questions that were answered from memory; 0 where none was asked."""
        asked = self.exact + self.near + self.misses
        return (self.exact + self.near) / asked if asked else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class _Entry(Generic[Value]):
    value: Value
    made: float
    unit: Unit | None


class ResultCache(Generic[Value]):
    """Remembers frozen answers. Safe to use from several threads. `clock` gives seconds that never go back."""

    def __init__(self, plan: CachePlan = CachePlan(), clock: Callable[[], float] | None = None) -> None:
        self._plan = plan
        self._clock = now if clock is None else clock
        self._turn = threading.Lock()
        self._entries: OrderedDict[CacheKey, _Entry[Value]] = OrderedDict()
        self._counts = CacheCounts()

    def get_exact(self, key: CacheKey) -> CachedResult[Value] | None:
        """Return the result of this very query. A miss is not counted: `get_similar` follows."""
        with self._turn:
            return self._same(key)

    def get_similar(self, key: CacheKey, vector: Vector | None = None) -> CachedResult[Value] | None:
        """Return the answer to this question, or to the nearest one that may share it. Counts one hit or one miss."""
        with self._turn:
            found = self._same(key)
            if found is None and vector is not None:
                found = self._nearest(key, _unit(vector))
            if found is None:
                self._count(misses=1)
            return found

    def put(self, key: CacheKey, vector: Vector | None, value: Value) -> None:
        """Keep an answer, with its question's vector if it has one; not if a newer state of a collection is known.

        Keep only what was searched for, whole: nothing degraded, and nothing that came from memory.
        """
        scoped = self._scoped(key)
        if scoped is None:
            return
        with self._turn:
            self._forget_old(scoped)
            if any(_is_newer(other, scoped) for other in self._entries):
                return
            unit = None if vector is None else _unit(vector)
            self._entries[scoped] = _Entry(value, self._clock(), unit)
            self._entries.move_to_end(scoped)
            while len(self._entries) > self._plan.size:
                self._entries.popitem(last=False)
                self._count(evicted=1)

    def counts(self) -> CacheCounts:
        """Return what became of questions and answers."""
        with self._turn:
            return replace(self._counts, size=len(self._entries))

    def clear(self) -> None:
        """Forget all answers; the counts stay."""
        with self._turn:
            self._entries.clear()

    def _same(self, key: CacheKey) -> CachedResult[Value] | None:
        scoped = self._scoped(key)
        entry = None if scoped is None else self._entries.get(scoped)
        if scoped is None or entry is None:
            return None
        age = self._clock() - entry.made
        if age >= self._plan.ttl_seconds:
            del self._entries[scoped]
            self._count(expired=1)
            return None
        self._entries.move_to_end(scoped)
        self._count(exact=1)
        return CachedResult(entry.value, age)

    def _nearest(self, key: CacheKey, unit: Unit | None) -> CachedResult[Value] | None:
        scoped = self._scoped(key)
        if scoped is None or unit is None:
            return None
        self._forget_old(scoped)
        near = [
            (other, entry)
            for other, entry in self._entries.items()
            if entry.unit is not None and entry.unit.shape == unit.shape and may_share(other, scoped)
        ]
        if not near:
            return None
        cosines = np.asarray([entry.unit for _, entry in near]) @ unit
        best = int(cosines.argmax())
        if not cosines[best] > self._plan.semantic_threshold + ROUNDING:
            return None
        found, entry = near[best]
        self._entries.move_to_end(found)
        self._count(near=1)
        return CachedResult(entry.value, self._clock() - entry.made, float(cosines[best]))

    def _scoped(self, key: CacheKey) -> CacheKey | None:
        if self._plan.scope == "shared":
            return replace(key, session="")
        return key if key.session else None

    def _forget_old(self, key: CacheKey) -> None:
        """Forget what has lived long enough, and what an earlier state of this key's collections answered."""
        moment = self._clock()
        expired = [other for other, entry in self._entries.items() if moment - entry.made >= self._plan.ttl_seconds]
        for other in expired:
            del self._entries[other]
        stale = [other for other in self._entries if _is_newer(key, other)]
        for other in stale:
            del self._entries[other]
        self._count(expired=len(expired), stale=len(stale))

    def _count(self, **more: int) -> None:
        self._counts = replace(self._counts, **{name: getattr(self._counts, name) + n for name, n in more.items()})


class ResultCaches(Generic[Value]):
    """Memories by their plans, each made when first asked for: a profile of one question may have a plan of its own."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._made: OrderedDict[CachePlan, ResultCache[Value]] = OrderedDict()

    def of(self, plan: CachePlan) -> ResultCache[Value]:
        """Return the memory of a plan. The least used of many is forgotten."""
        with self._turn:
            found = self._made.setdefault(plan, ResultCache(plan))
            self._made.move_to_end(plan)
            while len(self._made) > MAX_CACHES:
                self._made.popitem(last=False)
            return found


def _is_newer(first: CacheKey, second: CacheKey) -> bool:
    """Return whether the first key knows a later state of one of the second one's collections."""
    if first.collections == second.collections:
        return False
    before = dict(second.collections)
    return any(generation > before.get(name, generation) for name, generation in first.collections)


def _unit(vector: Vector) -> Unit | None:
    """Return a vector at length 1; None for one that has no direction."""
    wide = np.array(vector, dtype=np.float64)
    length = float(np.linalg.norm(wide))
    return wide / length if 0.0 < length < np.inf else None
