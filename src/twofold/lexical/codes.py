"""Questions that are about a code: `ERR-12345`, `fix for ERR-12345?`. Their words say more than their meaning."""

from collections.abc import Callable, Mapping

from twofold.domain.types import TermCounts
from twofold.lexical.analyze import EXACT
from twofold.lexical.ngrams import NGRAM

MOST_OTHER_WORDS = 2


def may_expand(term: str) -> bool:
    """Return whether feedback may add a term to a question: no exact form, no number and nothing with a digit in it.

    A number or a code of a passage stands for itself, and for nothing that a question about its subject is about.
    """
    return not term.startswith(EXACT) and not any(map(str.isdigit, term))


def is_about_a_code(weights: Mapping[str, float], counts: Callable[[str], TermCounts]) -> bool:
    """Say whether a question names a code of digits and letters or signs, and hardly anything else.

    `weights` are the question's terms, `counts` the analyser's. At most two words may stand beside the codes and their
    own parts: a sentence that mentions a code is about more than the code.
    """
    exact = [term for term in weights if term.startswith(EXACT) and not term.startswith(NGRAM)]
    codes = [term.removeprefix(EXACT) for term in exact if weights[term] >= 1.0]
    named = [code for code in codes if any(map(str.isdecimal, code)) and not code.isdecimal()]
    parts = {part for code in named for part in counts(code).counts}
    others = [term for term in weights if not term.startswith(EXACT) and term not in parts]
    return bool(named) and len(others) <= MOST_OTHER_WORDS
