"""Messages of reading processes: whole when honest, refused when not."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import ReadError
from twofold.domain.types import BlockKind
from twofold.ingest.ipc import LENGTHS, WireError, pack_error, pack_extract, pack_source, unpack_reply, unpack_source
from twofold.ingest.readers.types import Extract, Limits, Source, TextBuilder

WORDS = st.text(max_size=12)
SCALARS = st.text(max_size=5) | st.integers(-(1 << 63), (1 << 63) - 1) | st.booleans() | st.floats(allow_nan=False)


@st.composite
def extracts(draw: st.DrawFn) -> Extract:
    builder = TextBuilder()
    for _ in range(draw(st.integers(0, 5))):
        builder.add(
            draw(st.sampled_from(BlockKind)),
            draw(WORDS),
            heading=draw(st.lists(WORDS, max_size=3)),
            page=draw(st.none() | st.integers(1, 99)),
            place=draw(WORDS),
            header=draw(WORDS),
        )
    metadata = st.dictionaries(WORDS, SCALARS | st.lists(SCALARS, max_size=3).map(tuple), max_size=3)
    return builder.extract(draw(WORDS), draw(metadata))


def parts(message: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    head, body = message
    head_size, body_size = LENGTHS.unpack(head[: LENGTHS.size])
    assert (len(head), len(body)) == (LENGTHS.size + head_size, body_size)
    return head[LENGTHS.size :], body


@given(extracts(), st.booleans())
def test_what_was_read_arrives_as_it_was(extract: Extract, last: bool) -> None:  # noqa: FBT001 drawn
    reply = unpack_reply(*parts(pack_extract("text/plain", extract, last=last)))

    assert (reply.extract, reply.media_type, reply.last, reply.error) == (extract, "text/plain", last, None)


def test_an_error_arrives_with_kind_and_remedy() -> None:
    reply = unpack_reply(*parts(pack_error(ReadError("no", "do", "limit"), last=True)))

    assert reply.error is not None
    assert (reply.error.message, reply.error.hint, reply.error.kind, reply.last) == ("no", "do", "limit", True)


def test_a_source_arrives_with_its_limits() -> None:
    source = Source("ä\udcff.txt", b"\0data", Limits(file_bytes=7))

    assert unpack_source(*parts(pack_source(source))) == source


def honest() -> dict[str, Any]:
    return {
        "media_type": "text/plain",
        "title": "",
        "metadata": {},
        "paths": [[]],
        "headers": [""],
        "blocks": [["paragraph", 0, 2, 0, None, "", 0, 0]],
        "last": False,
    }


def block(**changes: object) -> dict[str, Any]:
    names = ("kind", "start", "end", "path", "page", "place", "header", "part")
    row = dict(zip(names, honest()["blocks"][0], strict=True)) | changes
    return {"blocks": [list(row.values())]}


LIES: tuple[dict[str, Any], ...] = (
    {"title": 3},
    {"media_type": None},
    {"metadata": []},
    {"metadata": {"a": {"b": 1}}},
    {"metadata": {"a": [[1]]}},
    {"paths": "x"},
    {"paths": [[1]]},
    {"headers": [None]},
    {"blocks": {}},
    {"blocks": [[]]},
    {"blocks": honest()["blocks"] * 2},
    {"kind": 3},
    block(kind="secret"),
    block(kind=["paragraph"]),
    block(start=-1),
    block(end=3),
    block(end=0),
    block(start=True),
    block(end=1.5),
    block(path=1),
    block(path=-1),
    block(header=9),
    block(page=0),
    block(page="1"),
    block(place=None),
    block(part="one"),
)


@pytest.mark.parametrize("lie", LIES)
def test_a_reply_that_does_not_fit_is_refused(lie: dict[str, Any]) -> None:
    assert unpack_reply(json.dumps(honest()).encode(), b"ab").extract is not None
    with pytest.raises(WireError):
        unpack_reply(json.dumps(honest() | lie).encode(), b"ab")


@pytest.mark.parametrize("body", [b"a\xff", b"a\0", b"a\r"])
def test_text_that_is_not_clean_utf_8_is_refused(body: bytes) -> None:
    with pytest.raises(WireError):
        unpack_reply(json.dumps(honest()).encode(), body)


@pytest.mark.parametrize("head", [b"", b"[]", b"null", b"\xff", b"{}", b"[" * 100_000, b'{"a":' * 100_000])
def test_a_head_that_is_no_object_is_refused(head: bytes) -> None:
    with pytest.raises(WireError):
        unpack_reply(head, b"")


@given(st.binary(max_size=200), st.binary(max_size=20))
def test_arbitrary_bytes_raise_nothing_but_a_wire_error(head: bytes, body: bytes) -> None:
    try:
        unpack_reply(head, body)
    except WireError as error:
        assert str(error)  # noqa: PT017 either is fine
