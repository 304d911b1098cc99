"""Subtitles: times as places, speakers kept, repeats dropped."""

import pytest

from twofold.ingest.readers.subtitles import clock, read_subtitles
from twofold.ingest.readers.types import Source


def test_cues_are_joined_to_half_minutes_at_the_time_of_the_first() -> None:
    cues = "".join(f"{n}\n00:01:{n * 7:02},500 --> 00:01:{n * 7 + 3:02},000\nline {n}\n\n" for n in range(7))
    extract = read_subtitles(Source("a.srt", cues.encode()))

    assert [(extract.text[b.start : b.end], b.place) for b in extract.blocks] == [
        ("line 0\nline 1\nline 2\nline 3\nline 4", "00:01:00"),
        ("line 5\nline 6", "00:01:35"),
    ]


def test_webvtt_marks_notes_and_styles_are_not_spoken() -> None:
    vtt = (
        "WEBVTT - Title\n\nSTYLE\n::cue { color: red }\n\nNOTE 00:00 --> nothing\n\n"
        "intro\n01:02.400 --> 01:04.000 align:start\n"
        "<v Ann Lee>Hi <i>you</i> &amp; <00:01:03.000>me\n\n01:05.000 --> 01:06.000\n{\\an8}Done\n"
    )
    extract = read_subtitles(Source("a.vtt", vtt.encode()))

    assert (extract.text, extract.blocks[0].place) == ("Ann Lee: Hi you & me\nDone", "00:01:02")


def test_a_cue_that_repeats_the_one_before_is_left_out() -> None:
    vtt = "WEBVTT\n\n00:01.000 --> 00:02.000\nsame\n\n00:02.000 --> 00:03.000\nsame\n"

    assert read_subtitles(Source("a.vtt", vtt.encode())).text == "same"


@pytest.mark.parametrize(("seconds", "expected"), [(0.0, "00:00:00"), (62.4, "00:01:02"), (360_000.0, "100:00:00")])
def test_times_are_written_as_people_do(seconds: float, expected: str) -> None:
    assert clock(seconds) == expected
