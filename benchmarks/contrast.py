"""How many minimally edited sentences the groundedness check finds out, and how many true ones it doubts.

    python benchmarks/contrast.py --memory DIR            400 edited sentences, and the same sentences true
    python benchmarks/contrast.py --memory DIR --show     and those that were taken wrongly

Sentences are drawn from XQuAD's and chunking-eval's texts and from git's pages. One thing is changed in each: a number,
the unit behind one, a date, a name, whether it is denied, or a word for its opposite (of the list here, which is not
the one that the check knows). Each is held against its own passage and four others. The true sentences are as they
stand, and shortened: a fifth of the words that are none of these left out. Nothing of the texts is kept.
"""

import argparse
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from answers import filled
from manuals import COMMANDS
from material import MODEL, SHARED
from remembered import MEMORY, remembering

from twofold.answer.engine import reading_of
from twofold.answer.groundedness import GroundednessChecker
from twofold.answer.types import Part, Source
from twofold.evaluation.dataset import load
from twofold.ingest.chunking.sentences import sentence_ends
from twofold.ingest.readers.html.reader import extract_html
from twofold.search.engine import DEFAULT_OPTIONS

EDITS, OTHERS, SEED = 400, 4, 11
OPPOSITES = (
    "increased/decreased more/less before/after higher/lower largest/smallest first/last early/late"
    " north/south east/west above/below rose/fell longer/shorter most/least enabled/disabled always/never"
    " added/removed allowed/forbidden minimum/maximum older/younger win/lose won/lost stronger/weaker"
    " upper/lower public/private import/export begins/ends opened/closed faster/slower better/worse"
    " positive/negative left/right include/exclude up/down local/remote with/without true/false many/few"
    " great/small new/old different/same possible/impossible"
)
UNITS = (
    "days/hours years/months million/billion %/million miles/kilometers minutes/seconds percent/million"
    " centuries/decades thousand/million hours/minutes months/weeks km/m metres/feet bytes/kilobytes"
)
_PAIRS = {one: other for group in OPPOSITES.split() for one, other in (group.split("/"), group.split("/")[::-1])}
_UNITS = {one: other for group in UNITS.split() for one, other in (group.split("/"), group.split("/")[::-1])}
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?![\w.,]?\d)")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}")
_VERB = re.compile(r"\b(is|are|was|were|can|will|must|should|has been|have been|does|did|could|may)\b(?! not)")
_DENIED = re.compile(r"\b(is|are|was|were|can|will|must|should|does|did|could|may|do) not ")
_UNIT = re.compile(r"(?<=\d )(?:" + "|".join(map(re.escape, _UNITS)) + r")(?!\w)|(?<=\d)%")


def edited(sentence: str, passage: str, draw: random.Random) -> Iterator[tuple[str, str]]:
    """Yield what can be made of a sentence: the kind of the edit and the text."""
    numbers = list(_NUMBER.finditer(sentence))
    if numbers:
        one = draw.choice(numbers)
        others = sorted({other.group() for other in _NUMBER.finditer(passage)} - {one.group()})
        other = draw.choice(others) if others else str(int(re.sub(r"\D", "", one.group())[:6]) + draw.randint(1, 9))
        yield "number", sentence[: one.start()] + other + sentence[one.end() :]
    if found := _UNIT.search(sentence):
        yield "unit", sentence[: found.start()] + _UNITS[found.group()] + sentence[found.end() :]
    months = list(re.finditer(rf"\b(?:{'|'.join(_MONTHS)})\b", sentence))
    if months:
        one = draw.choice(months)
        other = draw.choice([month for month in _MONTHS if month != one.group()])
        yield "date", sentence[: one.start()] + other + sentence[one.end() :]
    names = list(_NAME.finditer(sentence))
    others = sorted({one.group() for one in _NAME.finditer(passage)} - {one.group() for one in names})
    if names and others:
        one = draw.choice(names)
        yield "name", sentence[: one.start()] + draw.choice(others) + sentence[one.end() :]
    if found := _DENIED.search(sentence):
        yield "negation", sentence[: found.end() - 4] + sentence[found.end() :]
    elif found := _VERB.search(sentence):
        yield "negation", sentence[: found.end()] + " not" + sentence[found.end() :]
    words = [one for one in re.finditer(r"[a-z]+", sentence) if one.group() in _PAIRS]
    if words:
        one = draw.choice(words)
        yield "direction", sentence[: one.start()] + _PAIRS[one.group()] + sentence[one.end() :]


def shortened(sentence: str, draw: random.Random) -> str:
    """Leave a fifth of the plain words out: no numbers, names, negations, verbs that one may follow, or opposites."""
    kept = []
    for word in sentence.split():
        plain = re.fullmatch(r"[a-z]{3,}", word) and word not in _PAIRS and word not in _UNITS
        keep = not plain or word in {"not", "never", "none", "nor"} or _VERB.fullmatch(word)
        if keep or draw.random() > 0.2:
            kept.append(word)
    return " ".join(kept)


def passages() -> list[str]:
    """Return the passages to draw from, in a random order."""
    found = [one.text for name in ("xquad-en",) for one in load(SHARED / "data" / name).documents]
    for path in sorted((SHARED / "data" / "chunking-eval" / "docs").rglob("*")):
        if path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            found += [text[at : at + 1200] for at in range(0, len(text), 12_000)]
    for command in COMMANDS.split():
        text = extract_html(
            (SHARED / "docs" / "git-doc" / f"git-{command}.html").read_text(encoding="utf-8", errors="replace")
        ).text
        found += [text[at : at + 1200] for at in range(0, len(text), 6_000)]
    random.Random(SEED).shuffle(found)  # noqa: S311  # no secret
    return found


def sentences(passage: str) -> list[str]:
    """Return a passage's sentences of 50 to 300 characters that begin with a capital and end in a full stop."""
    ends = [0, *sentence_ends(passage), len(passage)]
    cut = [" ".join(passage[a:b].split()) for a, b in pairwise(ends)]
    return [one for one in cut if 50 <= len(one) <= 300 and one[0].isupper() and one.endswith(".")]


def sources_of(own: str, others: Sequence[str]) -> tuple[Source, ...]:
    """Make sources of passages."""
    texts = [own, *others]
    parts = [(Part(0, len(text), 0, f"c{at}"),) for at, text in enumerate(texts)]
    return tuple(Source(at + 1, text, parts[at], f"d{at}", f"{at}.txt") for at, text in enumerate(texts))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", type=Path, default=MEMORY, help="keep vectors in this folder")
    parser.add_argument("--show", action="store_true", help="print what was taken wrongly")
    given = parser.parse_args()
    draw, texts = random.Random(SEED), passages()  # noqa: S311  # no secret
    doubted: dict[str, list[bool]] = defaultdict(list)
    with remembering(MODEL, given.memory) as embedder, filled("xquad-en", embedder) as index:
        reading = reading_of(*index.searcher.parts_for(DEFAULT_OPTIONS))
        for at, text in enumerate(texts):
            told = sentences(text)
            if not told:
                continue
            checker = GroundednessChecker(sources_of(text, texts[at + 1 : at + 1 + OTHERS]), reading)
            one = draw.choice(told)
            made = sorted(edited(one, text, draw), key=lambda each: (len(doubted[each[0]]), each[0]))[:2]
            for kind, what in (("as it stands", one), ("shortened", shortened(one, draw)), *made):
                wrong = checker.check(what).supported is not True
                doubted[kind].append(wrong)
                if given.show and wrong == (kind in ("as it stands", "shortened")):
                    print(f"{kind}: {what}\n    of {one}", flush=True)
            if sum(len(each) for kind, each in doubted.items() if kind not in ("as it stands", "shortened")) >= EDITS:
                break
    shares = {kind: (len(each), round(float(np.mean(each)), 3)) for kind, each in doubted.items()}
    edits = [one for kind, each in doubted.items() if kind not in ("as it stands", "shortened") for one in each]
    print(json.dumps({**shares, "edited, all": (len(edits), round(float(np.mean(edits)), 3))}, indent=1))


if __name__ == "__main__":
    main()
