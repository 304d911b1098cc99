"""What an answer depends on, as keys: equal keys, equal answers; and when two questions may share one at all.

Questions that mean different things can lie closer than 0.98 to each other. Measured with the default model: `flights
from Paris to London` and `flights from London to Paris` have a cosine of 0.998, a long question about an employer and
the same about an employee 0.996. So a near question is asked more than its vector. Its marks must be equal: quotes,
operators, filters, codes, numbers, mathematical signs, words of negation, question words and directions. And its terms
must be the same ones in the same order, which leaves articles, endings and punctuation to the vector. The figures are
in `docs/decisions/0068-near-questions.md`.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from hashlib import blake2b

from twofold.lexical.analyze import EXACT
from twofold.lexical.ngrams import NGRAM
from twofold.query.parse import ParsedQuery

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
class MemoryKey:
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


def memory_key(
    parsed: ParsedQuery, collections: Sequence[tuple[str, int]], settings: Sequence[object], session: str = ""
) -> MemoryKey:
    """Make the key of a question asked of some collections, each with its generation, under some settings.

    `settings` are frozen values: the plan, the identities of the models, the analyser's description, whatever else the
    answer depends on. Two questions are the same when they differ in white space alone. Raises TypeError for a setting
    that has no canonical form, such as a function.
    """
    words = " ".join(parsed.words.split())
    operators = (parsed.required, parsed.excluded, parsed.filter)
    return MemoryKey(
        collections=tuple(sorted(collections)),
        context=digest(tuple(settings)),
        question=digest((words, parsed.terms, *operators)),
        guard=digest((operators, telling(parsed))),
        order=tuple(parsed.terms.weights),
        session=session,
    )


def telling(parsed: ParsedQuery) -> tuple[tuple[str, ...], ...]:
    """Give what vectors hardly tell apart: codes, words with digits, signs, words that turn a question round."""
    words = unicodedata.normalize("NFKC", parsed.words).casefold()
    exact = (term for term in parsed.terms.weights if term.startswith(EXACT))
    codes = tuple(term for term in exact if not term.startswith(NGRAM))  # words in a row are no code
    numbers = tuple(word.strip("?!.,;:()[]\"'") for word in words.split() if any(map(str.isnumeric, word)))
    signs = tuple(character for character in words if unicodedata.category(character) in {"Sm", "Sc"})
    spaced = tuple(word for word in _WORD.findall(words) if word in TURNING_WORDS or word.endswith(("n't", "n\u2019t")))
    return codes, numbers, signs, (*spaced, *(character for character in words if character in _WITHOUT_SPACES))


def may_share(first: MemoryKey, second: MemoryKey) -> bool:
    """Return whether two questions may have one answer, should their vectors agree."""
    if (first.collections, first.context, first.guard) != (second.collections, second.context, second.guard):
        return False
    return first.session == second.session and first.order == second.order


def digest(value: object) -> bytes:
    """Give 32 bytes that stand for a frozen value; different values give different ones. Errors as for `canonical`."""
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
