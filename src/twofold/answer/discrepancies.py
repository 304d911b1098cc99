"""What a sentence says otherwise than the span that it is nearly a copy of: numbers, units, names, negation, direction.

Words in common say that a sentence speaks of the same thing, not that it says the same. So where a sentence has most
of its words from a span, what little differs is looked at: a number or a name that the span lacks or has in another
order, another unit behind the same number, a verb that one of them negates, and the opposite of a word of the span.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise
from typing import Final

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['\u2019][^\W\d_]+)?|%|[.,;:!?]")
_WORDS = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['\u2019][^\W\d_]+)?|%")
_PRONOUNS = frozenset(("he", "she", "it", "they", "his", "her", "its", "their", "him", "them", "this", "these", "we"))
_NEGATORS = frozenset(
    ("not", "no", "never", "none", "neither", "nor", "without", "cannot", "hardly", "nobody", "nothing", "nowhere")
)
_AUXILIARY = frozenset(
    {
        *("be", "is", "are", "was", "were", "been", "being", "am", "do", "does", "did", "have", "has", "had"),
        *("can", "could", "will", "would", "shall", "should", "may", "might", "must", "a", "an", "the", "any"),
        *("to", "of", "in", "on", "at", "by", "for", "with", "as", "it", "its", "this", "that", "these", "those"),
        *("there", "also", "only", "yet", "longer", "more"),
    }
)
_REACH: Final = 4
"""How many words after a negation it is taken to deny, up to the end of the clause."""

_UNITS: Final[Mapping[str, str]] = {
    name: group[0]
    for group in (
        ("%", "percent", "per", "percentage"),
        ("second", "seconds", "s", "sec"),
        ("ms", "millisecond", "milliseconds"),
        ("minute", "minutes", "min"),
        ("hour", "hours", "h"),
        ("day", "days"),
        ("week", "weeks"),
        ("month", "months"),
        ("year", "years"),
        ("decade", "decades"),
        ("century", "centuries"),
        ("byte", "bytes"),
        ("kb", "kilobyte", "kilobytes", "kib"),
        ("mb", "megabyte", "megabytes", "mib"),
        ("gb", "gigabyte", "gigabytes", "gib"),
        ("tb", "terabyte", "terabytes", "tib"),
        ("hundred", "hundreds"),
        ("thousand", "thousands"),
        ("million", "millions"),
        ("billion", "billions"),
        ("trillion", "trillions"),
        ("mm", "millimeters", "millimetres"),
        ("cm", "centimeters", "centimetres"),
        ("m", "meter", "meters", "metre", "metres"),
        ("km", "kilometer", "kilometers", "kilometre", "kilometres"),
        ("mile", "miles", "mi"),
        ("foot", "feet", "ft"),
        ("inch", "inches"),
        ("g", "gram", "grams"),
        ("kg", "kilogram", "kilograms"),
        ("ton", "tons", "tonnes"),
        ("pound", "pounds", "lb"),
        ("dollar", "dollars", "usd"),
        ("euro", "euros", "eur"),
        ("celsius",),
        ("fahrenheit",),
        ("hectare", "hectares"),
        ("acre", "acres"),
    )
    for name in group
}

_OPPOSITES: Final = """
increase/decrease/reduce grow/shrink rise/fall/drop raise/lower high/low higher/lower highest/lowest more/less/fewer
most/least/fewest above/below over/under before/after earlier/later early/late earliest/latest minimum/maximum min/max
first/last enable/disable on/off true/false start/stop begin/end/finish open/close/shut add/remove/delete
allow/forbid/deny/prevent/prohibit permit/forbid always/never/rarely all/none left/right north/south northern/southern
east/west eastern/western large/small larger/smaller largest/smallest big/small great/little greater/smaller/lesser
long/short longer/shorter longest/shortest fast/slow faster/slower old/new/young older/newer/younger upper/lower
with/without win/lose/lost won/lost success/failure succeed/fail accept/reject/refuse gain/loss import/export up/down
inside/outside internal/external positive/negative same/different similar/different best/worst better/worse
public/private required/optional mandatory/optional buy/sell bought/sold cause/prevent include/exclude
including/excluding ascending/descending push/pull local/remote read/write strong/weak stronger/weaker
strongest/weakest rich/poor hot/cold warm/cool hotter/colder wet/dry light/dark heavy/light hard/soft easy/difficult
simple/complex wide/narrow deep/shallow thick/thin near/far nearest/farthest front/back forward/backward top/bottom
male/female men/women father/mother son/daughter husband/wife king/queen agree/disagree support/oppose love/hate
like/dislike safe/dangerous common/rare frequent/rare frequently/rarely often/rarely/seldom many/few much/little
majority/minority legal/illegal possible/impossible able/unable known/unknown direct/indirect directly/indirectly
active/passive complete/incomplete correct/incorrect/wrong valid/invalid visible/invisible equal/unequal even/odd
manual/automatic manually/automatically temporary/permanent ancient/modern urban/rural domestic/foreign
national/international increased/decreased/reduced rose/fell/dropped grew/shrank encrypt/decrypt compress/decompress
lock/unlock install/uninstall mount/unmount connect/disconnect show/hide expand/collapse
"""


def discrepancy(sentence: str, span: str) -> str:
    """Return what a sentence that is nearly a copy of a span says otherwise, in a few words; empty for nothing.

    >>> discrepancy("The cache takes 40 % of the memory.", "The cache takes 25 % of the memory, and 40 % at most.")
    '40 for 25'
    >>> discrepancy("The cache takes 25 %.", "By default the cache takes 25 % of the memory.")
    ''
    >>> discrepancy("The cache takes 30 % of the memory.", "The cache takes 25 % of the memory.")
    'number 30'
    >>> discrepancy("Logs are kept for 7 hours.", "Logs are kept for 7 days.")
    'unit hour'
    >>> discrepancy("The lock is not released.", "The lock is released.")
    'negation releas'
    >>> discrepancy("Rents rose after the war.", "Rents fell after the war.")
    'rose for fell'
    """
    return next(_found(sentence, span), "")


def _found(sentence: str, span: str) -> Iterator[str]:
    numbers, held = _numbers(sentence), _numbers(span)
    yield from (f"number {one}" for one in numbers if one not in held)
    units = _units(span)
    for number, unit in _unit_pairs(sentence):
        if number in units and unit not in units[number]:
            yield f"unit {unit}"
    said, meant = _denied(sentence), _denied(span)
    yield from (f"negation {word}" for word in said if word in meant and said[word] != meant[word])
    yield from _opposite(sentence, span)
    yield from _exchanged(sentence, span)


def _exchanged(sentence: str, span: str) -> Iterator[str]:
    """Yield what stands in the place of something else where both texts are laid side by side, word by word."""
    said, meant = _WORDS.findall(sentence), _WORDS.findall(span)
    folded, held = [one.casefold() for one in said], [one.casefold() for one in meant]
    if folded != held and sorted(folded) == sorted(held):
        moved = (one for one, other in zip(folded, held, strict=True) if one != other)
        yield f"order of {next(moved)}"
    for kind, start, end, first, last in SequenceMatcher(None, held, folded, autojunk=False).get_opcodes():
        ours, theirs = folded[first:last], held[start:end]
        if kind != "equal" and _denies(ours) != _denies(theirs):
            yield "negation"
        if kind == "replace" and not _PRONOUNS.issuperset(theirs):
            yield from (f"{said[at]} for {' '.join(theirs)}" for at in range(first, last) if _is_distinctive(said, at))
            opposites = {other for one in ours for other in _opposites().get(_stem(one), ())}
            yield from (f"opposite of {one}" for one in theirs if _stem(one) in opposites)


def _denies(words: Sequence[str]) -> bool:
    """Return whether words end in a negation: of what follows them, and not of one of themselves."""
    return bool(words) and (words[-1] in _NEGATORS or words[-1].endswith("n't"))


def _is_distinctive(words: Sequence[str], at: int) -> bool:
    """Return whether a word is a number or, within the sentence or before another one, a name."""
    word = words[at]
    is_name = word[0].isupper() and word[1:].islower() and (at > 0 or (words[1:2] != [] and words[1][0].isupper()))
    return word[0].isdigit() or is_name


def _tokens(text: str) -> list[str]:
    return [token.casefold().replace("\u2019", "'") for token in _TOKEN.findall(text)]


def _plain(number: str) -> str:
    """Write a number without what groups its digits: 24,000 and 24000 are one."""
    return re.sub(r"[.,](?=\d{3}(?!\d))", "", number)


def _numbers(text: str) -> list[str]:
    return [_plain(one) for one in _NUMBER.findall(text)]


def _unit_pairs(text: str) -> Iterator[tuple[str, str]]:
    for number, word in pairwise(_tokens(text)):
        if number[0].isdigit() and word in _UNITS:
            yield _plain(number), _UNITS[word]


def _units(text: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for number, unit in _unit_pairs(text):
        found.setdefault(number, set()).add(unit)
    return found


def _denied(text: str) -> dict[str, bool]:
    """Return each word that says something, and whether a negation before it in its clause denies it.

    A word that stands both ways is left out.
    """
    found: dict[str, set[bool]] = {}
    left = 0
    for token in _tokens(text):
        if token in _NEGATORS or token.endswith("n't"):
            left = _REACH
        elif not token[0].isalpha():
            left = 0
        elif token not in _AUXILIARY:
            found.setdefault(_stem(token), set()).add(left > 0)
            left = max(0, left - 1)
    return {word: ways == {True} for word, ways in found.items() if len(ways) == 1}


def _opposite(sentence: str, span: str) -> Iterator[str]:
    """Yield words of the sentence that the span lacks, where it has their opposite, and the sentence lacks that."""
    said, meant = _tokens(sentence), _tokens(span)
    stems, held = {_stem(token) for token in said}, {_stem(token) for token in meant}
    for token in said:
        for other in _opposites().get(_stem(token), ()):
            if _stem(token) not in held and other in held and other not in stems:
                yield f"{token} for {next(one for one in meant if _stem(one) == other)}"


@cache
def _opposites() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for group in _OPPOSITES.split():
        stems = [_stem(word) for word in group.split("/")]
        for one in (stems[0], *stems[1:]):
            others = stems[1:] if one == stems[0] else stems[:1]
            found.setdefault(one, set()).update(others)
    return {word: frozenset(others - {word}) for word, others in found.items()}


def _stem(word: str) -> str:
    """Cut a verb's or a noun's ending off, as far as it takes to hold increases, increased and increasing together."""
    for ending in ("ing", "ies", "es", "ed", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:  # noqa: PLR2004
            return word[: -len(ending)]
    return word
