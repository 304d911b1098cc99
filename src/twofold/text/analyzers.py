"""Analyzers by their names."""

from twofold.domain.errors import InvalidInputError
from twofold.text.analyzer import Analyzer
from twofold.text.auto_analyzer import AutoAnalyzer, stemming
from twofold.text.languages import Language
from twofold.text.ngrams import SIZES


def analyzer_for(spec: str) -> Analyzer:
    """Make the analyzer that `spec` names: a Snowball language (`english`, `german` …), `simple`, `code` or `cjk`.

    `simple` folds case and no more: nothing is stemmed or left out. `code` also parts identifiers at their humps.
    `cjk` is for text in ideographs, kana or hangul, with words of other scripts folded only; every analyzer cuts such
    scripts into overlapping pairs. `+2`, `+3` or `+4` behind any of them, as in `english+2`, adds word n-grams of up to
    that many words. `auto` takes for each document the one of its language, see `twofold.text.auto_analyzer`. Raises
    InvalidInputError for another name.
    """
    import Stemmer

    if spec.strip().lower() == "auto":
        return AutoAnalyzer()
    name, plus, most = spec.strip().lower().partition("+")
    ngrams = int(most) if most in SIZES else 1
    if not plus or ngrams > 1:
        if name in ("simple", "cjk"):
            return Analyzer(name, Language(), ngrams=ngrams)
        if name == "code":
            return Analyzer(name, Language(), humps=True, ngrams=ngrams)
        if name in Stemmer.algorithms():
            return stemming(name, ngrams)
    raise InvalidInputError(
        f"There is no analyzer {spec!r}.",
        f"Choose auto, simple, code, cjk, or a language: {', '.join(sorted(Stemmer.algorithms()))}. "
        "Word n-grams of up to 2, 3 or 4 words are added by a number, as in english+2.",
    )
