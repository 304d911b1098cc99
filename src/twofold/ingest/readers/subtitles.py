"""Subtitles (.srt, .vtt): cues joined to passages of about half a minute, whose places are their times."""

import re
from collections.abc import Iterable, Iterator
from html import unescape
from typing import NamedTuple

from twofold.domain.types import BlockKind
from twofold.ingest.decode import decode
from twofold.ingest.readers.types import Extract, Source, TextBuilder, clean

_SECONDS_IN_A_BLOCK = 30.0
_TIMING = re.compile(r"\s*(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})\s*-->")
_SPEAKER = re.compile(r"<v(?:\.[^\s>]{0,100})?\s+([^>]{1,100})>")
_MARKS = re.compile(r"<[^<>]{0,200}>|\{\\[^{}]{0,200}\}")
_NOT_SPOKEN = ("NOTE", "STYLE", "REGION", "WEBVTT")


class Cue(NamedTuple):
    """What is said, from `start` seconds on."""

    start: float
    text: str


def read_subtitles(source: Source) -> Extract:
    """Read SubRip or WebVTT. Speakers named by `<v Name>` stand in front of what they say."""
    decoded = decode(source.data)
    return spoken(_cues(clean(decoded.text))).extract("", decoded.metadata)


def spoken(cues: Iterable[Cue]) -> TextBuilder:
    """Return what is said as passages of about half a minute, each with the time at which it begins as its place."""
    builder = TextBuilder()
    for part, passage in enumerate(_passages(cues), 1):
        place = clock(passage[0].start)
        builder.add(BlockKind.PARAGRAPH, "\n".join(cue.text for cue in passage), place=place, part=part)
    return builder


def clock(seconds: float) -> str:
    """Write a time as people do: `clock(62.4)` is `00:01:02`."""
    whole = int(seconds)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"


def _cues(text: str) -> Iterator[Cue]:
    for stretch in re.split(r"\n[ \t]*\n", text):
        lines = stretch.strip("\n").split("\n")
        timing = next(((place, found) for place, line in enumerate(lines[:3]) if (found := _TIMING.match(line))), None)
        if timing is None or (lines[0].startswith(_NOT_SPOKEN) and timing[0] == 0):
            continue
        place, found = timing
        spoken = "\n".join(filter(None, (_plain(line) for line in lines[place + 1 :])))
        if spoken:
            hours, minutes, seconds, fraction = (int(part or 0) for part in found.groups())
            yield Cue(hours * 3600 + minutes * 60 + seconds + fraction / 10 ** len(found[4]), spoken)


def _plain(line: str) -> str:
    """Take the marks out of a line: `<v Ann>Hi <i>you</i>` is `Ann: Hi you`."""
    return " ".join(unescape(_MARKS.sub("", _SPEAKER.sub(r"\1: ", line))).split())


def _passages(cues: Iterable[Cue]) -> Iterator[list[Cue]]:
    """Join cues until half a minute is full; a cue that repeats the one before it is left out."""
    passage: list[Cue] = []
    last = ""
    for cue in cues:
        if cue.text == last:
            continue
        last = cue.text
        if passage and cue.start - passage[0].start >= _SECONDS_IN_A_BLOCK:
            yield passage
            passage = []
        passage.append(cue)
    if passage:
        yield passage
