"""The analyzer `auto`: each document by the analyzer of its language, a question by those of all that are held.

A document's language is its field `language`, an ISO 639-1 code, which is detected where it is not given. A language
without a stemmer and a document whose language is not known are analyzed as English is; ideographs, kana and hangul
are cut into overlapping pairs by every analyzer. Each passage also gets one exact form, `=@de`, that says how it was
analyzed: from these an index knows which languages it holds.

A question is analyzed once for each of these languages, and asks for all the terms that come of it: `Häuser` for `haus`
in German passages and `hauser` in English ones. The language of which it holds the most stop words decides which of its
words say nothing: they are left out for the other languages too, whose terms then count half.
"""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b

from twofold.domain.types import TermCounts
from twofold.text.analyzer import EXACT, VERSION, Analyzer, Token
from twofold.text.language_detection import CODES, language_of_text
from twofold.text.languages import Language, language_of, snowball_version, stop_words
from twofold.text.unicode_normalization import fold

NAMES: Mapping[str, str] = {code: name for name, code in CODES.items()}
FALLBACK = "en"
ALL = tuple(sorted(NAMES))
"""The languages that have a stemmer and stop words here."""
MARK = f"{EXACT}@"
_OTHERS = 0.5
"""What terms of other languages than the question's count; with 1 other languages come first twice as often."""


def stemming(name: str, ngrams: int = 1) -> Analyzer:
    """Return the analyzer of a Snowball algorithm, such as `german`."""
    return Analyzer(name, language_of(name), ngrams=ngrams)


class AutoAnalyzer(Analyzer):
    """Analyzes passages by their language, and questions for `languages`: those that an index holds, or all."""

    __slots__ = ("_by_code", "_making", "_of_question")

    def __init__(self, languages: Iterable[str] = ALL, by_code: dict[str, Analyzer] | None = None) -> None:
        super().__init__("auto", Language())
        self._of_question = tuple(languages) or (FALLBACK,)
        self._by_code: dict[str, Analyzer] = {} if by_code is None else by_code
        self._making = threading.Lock()

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that questions are analyzed for, as ISO 639-1 codes in order."""
        return self._of_question

    def among(self, languages: Iterable[str]) -> "AutoAnalyzer":
        """Return the same analyzer for questions to an index that holds these languages."""
        return AutoAnalyzer(sorted(languages), self._by_code)

    def each(self) -> tuple[Analyzer, ...]:
        """Return the analyzers of the languages that questions are analyzed for."""
        return tuple(self._of(code) for code in self._of_question)

    def describe(self) -> str:
        """Return canonical text of all that the terms depend on; equal text, equal terms."""
        lists = "\n".join(" ".join([code, *sorted(stop_words(NAMES[code]))]) for code in ALL)
        digest = blake2b(lists.encode(), digest_size=4).hexdigest()
        return f"auto version={VERSION} snowball={snowball_version()} stop_words={digest}"

    def counts(self, text: str, language: str = "") -> TermCounts:
        """Count a passage's terms as its language has them; of text alone that is detected."""
        code = analyzed_as(language or language_of_text(text))
        made = self._of(code).counts(text)
        return TermCounts({**made.counts, MARK + code: 1}, made.length)

    def query(self, text: str) -> Mapping[str, float]:
        """Weigh a question's terms: those of its language, then those of the others, each once."""
        asked = self._question_language(text)
        weights = dict(self._of(asked).query(text)) if asked else {}
        rest = _without(text, asked)
        for code in self._of_question:
            if code != asked and rest:
                for term, weight in self._of(code).query(rest).items():
                    weights.setdefault(term, weight * (_OTHERS if asked else 1.0))
        return weights

    def phrase_terms(self, text: str) -> tuple[str, ...]:
        """Return terms that every passage with this text in it has, in whichever language; perhaps none at all."""
        return _shared([one.phrase_terms(text) for one in self.each()])

    def clause_terms(self, text: str) -> tuple[str, ...]:
        """Return the terms that stand for a required or an excluded word in every language; perhaps none at all."""
        return _shared([one.clause_terms(text) for one in self.each()])

    def tokens(self, text: str) -> Iterator[Token]:
        """Return every term with its place: by the language of the text, or where that says too little by all."""
        detected = language_of_text(text)
        some = (self._of(analyzed_as(detected)),) if detected else self.each()
        seen: dict[Token, None] = {}
        for one in some:
            seen.update(dict.fromkeys(one.tokens(text)))
        return iter(sorted(seen, key=lambda token: (token.start, token.end)))

    def _of(self, code: str) -> Analyzer:
        with self._making:
            if code not in self._by_code:
                self._by_code[code] = stemming(NAMES[code])
            return self._by_code[code]

    def _question_language(self, text: str) -> str:
        """Return the language of which a question holds the most stop words; empty where none or two do."""
        words = [_bare(word) for word in text.split()]
        counts = {code: sum(word in stop_words(NAMES[code]) for word in words) for code in self._of_question}
        best = max(counts.values())
        first = [code for code, count in counts.items() if count == best]
        return first[0] if best and len(first) == 1 else ""


def analyzed_as(language: str) -> str:
    """Return the code of the language whose analyzer a passage of this language gets."""
    return language if language in NAMES else FALLBACK


def marks() -> tuple[str, ...]:
    """Return the exact forms that say how passages were analyzed, in the order of `ALL`."""
    return tuple(MARK + code for code in ALL)


def _without(text: str, code: str) -> str:
    """Return a question without the stop words of a language."""
    if not code:
        return text
    return " ".join(word for word in text.split() if _bare(word) not in stop_words(NAMES[code]))


def _bare(word: str) -> str:
    return fold(word.strip(".,;:!?\"'()[]»«„“”¿¡"))


def _shared(several: Sequence[Sequence[str]]) -> tuple[str, ...]:
    first, *others = several
    return tuple(term for term in first if all(term in other for other in others))
