r"""A model's words made safe while they arrive: no marker, picture, tag or foreign address gets through.

What comes out is the same however the reply was cut into pieces, and holds

- no marker: `[1]` comes out as a `Hint`, whatever points nowhere is counted and gone;
- no picture, and no link: `![alt](address)` becomes `alt`, `[text](address)` becomes `text (address)` where the
  address may stand and `text` where it may not;
- no address but those that `may_stand` allows, none that runs as a program, and no tag of HTML;
- nothing invisible, and no thoughts between `<think>` and `</think>`.

Taking one thing out can make another of what stands around it, so a piece is gone over until nothing changes. A piece
is held back until it is whole: to the end of its last word, and of a bracket, an address or a tag that is open, with
the word that this stands in. Where the white space between two pieces goes with what is taken out, they get a space
again if they would make an address together.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from twofold.answer.addresses import ADDRESS, LETTERS, NEVER, trimmed
from twofold.answer.markers import MARKER
from twofold.answer.sanitize_input import without_invisible
from twofold.answer.types import Removed
from twofold.domain.dataclass import dataclass

MAX_HELD_LENGTH = 2_000  # characters of something that is open
_TAIL = 64
_ROUNDS = 12
GONE = "(link removed)"

_HTML = (
    "a|abbr|applet|area|article|aside|audio|b|base|big|blink|blockquote|body|br|button|canvas|center|code|col|dd|del|details|dialog"
    "|div|dl|dt|em|embed|fieldset|figure|font|footer|form|frame|frameset|h[1-6]|head|header|hr|html|i|iframe|image|img|input|ins"
    "|kbd|label|li|link|main|map|mark|marquee|math|menu|meta|nav|noscript|object|ol|option|p|param|picture|plaintext|portal|pre"
    "|script|section|select|slot|small|source|span|strike|strong|style|sub|summary|sup|svg|table|tbody|td|template|textarea"
    "|tfoot|th|thead|title|tr|track|tt|u|ul|var|video|wbr|xml|xmp|passages?|question|conversation|system|assistant|user|think"
)
_TAG = re.compile(
    rf"<(?:[/!?]\s{{0,4}})?(?:(?:{_HTML})\b[^<>]{{0,1500}}"
    r"|[a-z][\w:-]{0,40}\s[^<>]{0,1500}=[^<>]{0,1500}|!--[^<>]{0,1500})/?>|<\|[^|<>]{1,40}\|>|\[/?INST\]",
    re.IGNORECASE,
)
_TARGET = r"\([^()]{0,1500}(?:\([^()]{0,200}\)[^()]{0,200})?\)"
_IMAGE = re.compile(
    rf"!\[((?:[^\[\]]|\[[^\[\]]{{0,200}}\]){{0,1500}})\](?:\s{{0,2}}{_TARGET}|\s{{0,2}}\[[^\[\]]{{0,200}}\])?"
)
_LINK = re.compile(
    r"\[([^\[\]]{0,1500})\]\(\s{0,4}<?([^()\s<>]{0,1500}(?:\([^()\s]{0,200}\)[^()\s]{0,200})?)>?[^()]{0,300}\)"
)
_DEFINITION = re.compile(r"\[([^\[\]\n]{1,200})\]:(?=\s{0,4}\S)")
_THOUGHTS = re.compile(r"<think>.*?</think>", re.DOTALL | re.IGNORECASE)
_OPEN_THOUGHTS = re.compile(r"<think>(?!.*</think>)", re.DOTALL | re.IGNORECASE)
_LINE_MARK = re.compile(r"(?:(?<=\n)|\A)\d{1,4}\|(?: |(?=\n)|\Z)")
_AT_LINE_MARK = re.compile(r"(?:\n|\A)\d{1,4}\|\Z")
_MARKED = re.compile(rf"[ \t]?(?:{MARKER.pattern})", MARKER.flags)
_GOES_ON = re.compile(rf"(?:{MARKER.pattern}|[^\w\s\x00]){{0,8}}[{LETTERS}]", MARKER.flags)
_OPENING = re.compile(r"[\[<\u3010\uff3b]|!\[|\(\s{0,3}sources?\s{0,3}:", re.IGNORECASE)
_SEAMS = (MARKER, _IMAGE, _LINK, _TAG)
_CLOSING = {"[": "]", "\u3010": "\u3011", "\uff3b": "\uff3d", "<": ">", "(": ")"}


@dataclass(frozen=True, slots=True)
class Hint:
    """A marker that points to sources: the model's own word for what bears out what it just wrote."""

    numbers: tuple[int, ...]


Allowed = Callable[[str], bool]
Resolve = Callable[[str], tuple[int, ...] | None]
"""The sources that a marker points to, none for one that points nowhere; None for what is no marker and stays."""


class OutputSanitizer:
    """Makes one reply safe, piece by piece. Not for several threads."""

    def __init__(self, resolve: Resolve, may_stand: Allowed) -> None:
        self._resolve = resolve
        self._may_stand = may_stand
        self._buffer = ""
        self._tail = ""
        self._at_start = True
        self.removed = Removed()

    def feed(self, piece: str) -> Iterator[str | Hint]:
        """Take a piece; give what is safe to show by now, and hints where markers stood.

        What is whole is decided at each white space that arrives and never at the end of a piece, so that only the
        text itself says what is gone over together.
        """
        text = ""
        for part in self._feed(piece):
            if isinstance(part, str):
                text += part
                continue
            if text:
                yield text
            yield part
            text = ""
        if text:
            yield text

    def finish(self) -> Iterator[str | Hint]:
        """Return what was held back."""
        ready, self._buffer = _THOUGHTS.sub("", self._buffer).rstrip(), ""
        open_thoughts = _OPEN_THOUGHTS.search(ready)
        yield from self._safe(ready[: open_thoughts.start()] if open_thoughts else ready)

    def _feed(self, piece: str) -> Iterator[str | Hint]:
        for character in piece:
            self._buffer += character
            if character.isspace() or len(self._buffer) > MAX_HELD_LENGTH:
                yield from self._whole()

    def _whole(self) -> Iterator[str | Hint]:
        self._buffer = _THOUGHTS.sub("", self._buffer)
        at = _whole_until(self._buffer)
        while at == 0 and len(self._buffer) > MAX_HELD_LENGTH:
            self._buffer = self._broken(self._buffer)
            at = _whole_until(self._buffer)
        if at:
            ready, self._buffer = self._buffer[:at], self._buffer[at:]
            yield from self._safe(ready)

    def _broken(self, held: str) -> str:
        """Take the sense from a bracket that stays open: it is no marker, link or tag if nothing closes it.

        Where no bracket is open, a word without end is ended, and of white space without end the last is kept.
        """
        thoughts = _OPEN_THOUGHTS.match(held.lstrip())
        if thoughts:
            return f"<think>{held[-len('</think>') :]}"
        found = _still_open(f"{held} ", len(held))
        if found:
            return held[: found.start()] + " " + held[found.end() :]
        return f"{held} " if held.strip() else held[-_TAIL:]

    def _safe(self, text: str) -> Iterator[str | Hint]:
        text = without_invisible(text)
        text = _LINE_MARK.sub("", text if self._at_start else f"\0{text}").removeprefix("\0")
        hints: list[tuple[int, ...]] = []
        text = self._stable(text, hints)
        for part in re.split("(\x00\\d+\x00)", text):
            if part.startswith("\x00"):
                yield Hint(hints[int(part[1:-1])])
            elif part:
                shown = self._joined(part)
                self._tail = _tail_of(self._tail + shown)
                self._at_start = False
                yield shown

    def _stable(self, text: str, hints: list[tuple[int, ...]]) -> str:
        for _ in range(_ROUNDS):
            before = text
            text = self._once(text, hints)
            if text == before:
                return text
        return ADDRESS.sub(self._address, text.translate(dict.fromkeys(map(ord, "[]<>():/\\"), " ")))

    def _once(self, text: str, hints: list[tuple[int, ...]]) -> str:
        text = _TAG.sub(lambda _: self._count("tags", " "), text)
        text = _IMAGE.sub(lambda found: self._count("images", found[1]), text)
        text = _LINK.sub(self._link, text)
        text = _DEFINITION.sub(r"\1:", text)
        text = _MARKED.sub(lambda found: self._marker(found, hints), text)
        return ADDRESS.sub(self._address, text)

    def _marker(self, found: re.Match[str], hints: list[tuple[int, ...]]) -> str:
        numbers = self._resolve(found[0].strip())
        if numbers is None:
            return found[0]
        if not numbers:
            return self._count("markers", "")
        if _GOES_ON.match(found.string, found.end()):  # it may part an address, which is looked for once it is whole
            return found[0][: -len(found[0].lstrip())]
        hints.append(numbers)
        return f"\x00{len(hints) - 1}\x00"

    def _link(self, found: re.Match[str]) -> str:
        text, address = found[1], found[2]
        if self._stands(address):
            return f"{text} ({address})"
        return self._count("links", text)

    def _address(self, found: re.Match[str]) -> str:
        address = trimmed(found[0])
        if self._stands(address):
            return found[0]
        return self._count("links", GONE) + found[0][len(address) :]

    def _stands(self, address: str) -> bool:
        return not NEVER.match(address) and self._may_stand(address)

    def _count(self, what: str, instead: str) -> str:
        self.removed = replace(self.removed, **{what: getattr(self.removed, what) + 1})
        return instead

    def _joined(self, part: str) -> str:
        """Look once more over the seam to what was shown before, where nothing of ours stands between."""
        if self._makes_address(part):
            part = f" {part}"
        tail = self._tail[-_TAIL:]
        whole, seam = tail + part, len(tail)
        for _ in range(len(part)):
            over = (found for pattern in _SEAMS for found in pattern.finditer(whole))
            ends = [found.end() for found in over if found.start() < seam < found.end()]
            if not ends:
                break
            whole = whole[: min(ends) - 1] + " " + whole[min(ends) :]
        return whole[seam:]

    def _makes_address(self, part: str) -> bool:
        """Return whether a part that no white space parts from what was shown makes an address with it."""
        if self._tail[-1:].isspace() or part[:1].isspace():
            return False
        seam = len(self._tail)
        over = (found for found in ADDRESS.finditer(self._tail + part) if found.start() < seam <= found.end())
        return any(not self._stands(trimmed(found[0])) for found in over)


def addresses_in(text: str) -> frozenset[str]:
    """Return the addresses that stand in a text: those that an answer resting on it may repeat."""
    return frozenset(trimmed(found[0]) for found in ADDRESS.finditer(text)) | frozenset(
        found[2] for found in _LINK.finditer(text)
    )


def _tail_of(shown: str) -> str:
    """Return the end of what was shown, with the whole of its last word: an address that goes on begins there."""
    word = _word_begins(shown, len(shown))
    return shown[max(min(word, len(shown) - _TAIL), len(shown) - MAX_HELD_LENGTH, 0) :]


def _word_begins(text: str, at: int) -> int:
    """Return where the word that holds the place `at`, or ends there, begins."""
    while at and not text[at - 1].isspace():
        at -= 1
    return at


def _whole_until(text: str) -> int:
    """Return how much of a text nothing that follows can change: up to its last white space, before what is open."""
    end = len(text.rstrip())
    if end == len(text):
        spaces = [found.start() for found in re.finditer(r"\s+", text)]
        end = spaces[-1] if spaces else 0
    line_mark = _AT_LINE_MARK.search(text, 0, end)
    if line_mark:
        end = line_mark.start()
    thoughts = _OPEN_THOUGHTS.search(text)
    if thoughts:
        end = min(end, thoughts.start())
    over: list[tuple[int, int]] = []
    found = _still_open(text, end, over)
    return len(text[: _outside(text, found.start(), over)].rstrip()) if found else end


def _still_open(text: str, end: int, over: list[tuple[int, int]] | None = None) -> re.Match[str] | None:
    """Return the first opening before `end` of what is not over by then; `over` gathers where those before it stand."""
    at = 0
    while (found := _OPENING.search(text, at)) and found.start() < end:
        closed = _closed(text, found.end() - 1 if found[0][0] in "![" else found.start())
        if closed < 0 or closed > end:
            return found
        if over is not None:
            over.append((found.start(), closed))
        at = closed
    return None


def _outside(text: str, at: int, over: list[tuple[int, int]]) -> int:
    """Return where the word at `at` begins, or the one before it that a bracket in that word goes back to."""
    at = _word_begins(text, at)
    for start, closed in reversed(over):
        if start < at < closed:
            at = _word_begins(text, start)
    return at


def _closed(text: str, at: int) -> int:
    """Return where the bracket at `at` is over for good, with the address behind it; -1 while that may yet come."""
    opening = text[at]
    if opening == "<" and not (text[at + 1 : at + 2].isalpha() or text[at + 1 : at + 2] in {"/", "!", "?", "|"}):
        return at + 1
    closing, depth = _CLOSING[opening], 0
    for place in range(at, len(text)):
        depth += (text[place] == opening) - (text[place] == closing)
        if not depth:
            break
    else:
        return -1
    after = place + 1
    if opening != "[":
        return after
    if after == len(text):
        return -1
    return _closed(text, after) if text[after] in "[(" else after
