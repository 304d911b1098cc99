r"""Manual pages: sections, options with what they say, examples, tables; hostile macros end in a `ReadError`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import ReadError
from twofold.domain.types import BlockKind
from twofold.ingest import media_types as kinds
from twofold.ingest.readers.registry import media_type_of, read
from twofold.ingest.readers.roff.reader import read_man
from twofold.ingest.readers.types import Extract, Source

MAN = r""".\" a comment
.de Opt
.TP
\\fB\\$1\\fR \\$2
..
.ds Pr sluice\-gate
.TH SLUICE 8 "May 2024"
.SH NAME
sluice \- open and shut the gate
.SH SYNOPSIS
.B sluice
[\fIOPTION\fR]... \fIGATE\fR
.SH OPTIONS
.TP
\fB\-n\fR, \fB\-\-night\fR
opens it by night.
.IP
It is shut at dawn.
.TQ
.B \-x
.Opt \-o HOURS
keeps the \*(Pr open\c
\&, at \(lqmost\(rq 9 hours
.if t .B only in print
.ie n \{\
.PP
\-\-raise
.RS 4
raises it slowly:
.IP \(bu 2
first by hand
.IP \(bu 2
then by motor
.RE
.\}
.el nothing
.SS "Exit codes"
.TS
tab(;);
lb lb
l l.
Code;Meaning
0;T{
all went
.B well
T}
.TE
.SH EXAMPLES
Open it:
.EX
sluice \-\-night  \(aqeast\(aq \e
  \-o 3
.EE
.so man8/never.8
"""

MDOC = r""".Dd May 1, 2024
.Dt SLUICE 8
.Os
.Sh NAME
.Nm sluice
.Nd open and shut the gate
.Sh SYNOPSIS
.Nm
.Op Fl n Ar hours
.Op Fl -night
.Ar gate ...
.Sh DESCRIPTION
See
.Xr lock 8 ,
or
.Dq the manual .
The options:
.Bl -tag -width Ds
.It Fl n Ar hours Ns | Ns Cm all
Keeps it open.
.Pp
At most nine.
.Bl -bullet
.It
by hand
.El
.It Ev GATE
Names it
.Pq in capitals .
.El
.Bd -literal
$ sluice  -n 3
.Ed
"""


def shown(extract: Extract) -> list[tuple[str, str, str]]:
    return [(one.kind.value, " > ".join(one.heading), extract.text[one.start : one.end]) for one in extract.blocks]


def test_a_page_of_man_has_sections_options_examples_and_tables() -> None:
    extract = read_man(Source("sluice.8", MAN.encode()))
    blocks = shown(extract)

    assert extract.title == "sluice(8) - open and shut the gate"
    assert extract.metadata == {"section": "8"}
    assert [text for kind, _, text in blocks if kind == "heading"] == [
        "NAME", "SYNOPSIS", "OPTIONS", "Exit codes", "EXAMPLES"
    ]  # fmt: skip
    assert ("code", "SYNOPSIS", "sluice [OPTION]... GATE") in blocks
    assert ("list", "OPTIONS", "-n, --night\n  opens it by night.\n  It is shut at dawn.") in blocks
    assert ("list", "OPTIONS", "-x\n-o HOURS\n  keeps the sluice-gate open, at “most” 9 hours") in blocks
    assert ("list", "OPTIONS", "--raise\n  raises it slowly:\n  - first by hand\n  - then by motor") in blocks
    assert ("table", "OPTIONS > Exit codes", "Code | Meaning\n0 | all went well") in blocks
    assert ("code", "EXAMPLES", "sluice --night  'east' \\\n  -o 3") in blocks
    assert "print" not in extract.text
    assert "nothing" not in extract.text


def test_a_page_of_mdoc_says_the_same_of_its_words() -> None:
    extract = read_man(Source("sluice.8", MDOC.encode()))
    blocks = shown(extract)

    assert extract.title == "sluice(8) - open and shut the gate"
    assert ("code", "SYNOPSIS", "sluice [-n hours] [--night] gate ...") in blocks
    assert ("paragraph", "DESCRIPTION", "See lock(8), or “the manual”. The options:") in blocks
    assert ("list", "DESCRIPTION", "-n hours|all\n  Keeps it open.\n  At most nine.\n  - by hand") in blocks
    assert ("list", "DESCRIPTION", "GATE\n  Names it (in capitals).") in blocks
    assert ("code", "DESCRIPTION", "$ sluice  -n 3") in blocks


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("ls.1", MAN, kinds.MAN),
        ("DBI.3pm", MAN, kinds.MAN),
        ("ls.man", MDOC, kinds.MAN),
        ("x.log.1", "12:00 the gate was opened\n.TH is no macro here\n", kinds.PLAIN),
        ("x.log.1", ". the gate was opened\n", kinds.PLAIN),
        ("notes.txt", MAN, kinds.PLAIN),
    ],
)
def test_a_page_is_known_by_its_name_and_its_macros(name: str, text: str, expected: str) -> None:
    assert media_type_of(Source(name, text.encode())) == expected


def test_a_page_that_only_names_another_one_is_empty() -> None:
    with pytest.raises(ReadError) as caught:
        read(Source("a.1", b".so /etc/passwd\n"))

    assert caught.value.kind == "empty"


@pytest.mark.parametrize(
    "text",
    [
        ".TH A 1\n.de X\n.X\n.X\n..\n.X\n",
        ".TH A 1\n.ds a " + "x" * 9_000 + "\n" + "\\*a" * 1_000,
        ".TH A 1\n.ds a xxxxxxxxxx\n" + ".ds a \\*a\\*a\\*a\\*a\\*a\\*a\\*a\\*a\\*a\n" * 900 + "\\*a",
    ],
    ids=["a macro that calls itself", "a long string", "strings of strings"],
)
def test_what_expands_without_end_is_refused(text: str) -> None:
    with pytest.raises(ReadError) as caught:
        read_man(Source("a.1", text.encode()))

    assert caught.value.kind == "limit"


MACROS = [".TP", ".IP a 4", ".RS", ".RE", ".PP", ".nf", ".fi", ".TS", ".TE", ".SH A", ".SS", ".if n \\{\\", ".\\}",
          ".el x", ".ie t y", ".de Q", "..", ".Q \\$1", ".ds s \\*s\\n", "\\*s", "word \\fBbold\\fR", " in", "", ".Dd",
          ".Bl -tag", ".It Fl a", ".It", ".El", ".Bd -literal", ".Ed", ".Oo", ".Oc Ns", ".Nm", ".Sh B", "T{", "T}",
          "a\tb", "l l.", ".ig", ".nr x 1", ".if \\nx>0 z", "\\", "\\h'", "\\[u00e9]", ".UR x", ".UE",
          ".EX"]  # fmt: skip


@given(st.lists(st.sampled_from(MACROS) | st.text("\\.'{}()[]*$nfB \t\"a1", max_size=12), max_size=40))
def test_any_lines_give_spans_and_no_blank_block(lines: list[str]) -> None:
    try:
        extract = read_man(Source("a.1", "\n".join(lines).encode()))
    except ReadError as error:
        assert error.kind == "limit"  # noqa: PT017 either is fine
        return

    position = 0
    for block in extract.blocks:
        assert position <= block.start < block.end <= len(extract.text)
        assert block.kind in BlockKind
        assert extract.text[block.start : block.end].strip()
        position = block.end
