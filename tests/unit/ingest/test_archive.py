"""A ZIP is judged before it is opened, and only `ReadError` comes out of a bad one."""

import struct
import zipfile
from dataclasses import replace
from hashlib import shake_256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.documents import zip_of
from twofold.domain.errors import ReadError
from twofold.ingest.archive import open_archive
from twofold.ingest.readers.types import Limits, Source

SMALL = zip_of({"a.xml": "<a>one</a>", "dir/B.xml": b"two" * 50, "c": b""})


def kind_of_refusal(data: bytes, limits: Limits = Limits()) -> str:
    with pytest.raises(ReadError) as caught:
        open_archive(Source("file.zip", data, limits))
    assert caught.value.message.startswith("file.zip: ")
    assert caught.value.hint
    return caught.value.kind


def read_whole(data: bytes) -> list[bytes] | None:
    """All members, or None where a ReadError says that it cannot be done."""
    try:
        archive = open_archive(Source("file.zip", data))
        return [archive.read(name) for name in archive.names]
    except ReadError:
        return None


def test_members_are_found_whatever_the_case_and_a_leading_slash() -> None:
    archive = open_archive(Source("file.zip", SMALL))

    assert archive.names == ("a.xml", "dir/B.xml", "c")
    assert archive.read("/DIR/b.xml") == b"two" * 50
    assert archive.find("../a.xml") is None


def test_a_missing_member_is_a_read_error_that_names_it() -> None:
    with pytest.raises(ReadError, match=r"'word/document\.xml' is missing"):
        open_archive(Source("file.zip", SMALL)).read("word/document.xml")


def test_too_many_members_are_refused() -> None:
    data = zip_of({f"{at}": b"" for at in range(11)})

    assert kind_of_refusal(data, Limits(archive_entries=10)) == "limit"
    assert len(open_archive(Source("f", data, Limits(archive_entries=11))).names) == 11


def test_a_directory_of_a_million_names_is_not_even_parsed() -> None:
    assert kind_of_refusal(b"PK\x03\x04" + b"PK\x01\x02" * 30_000) == "limit"


def test_a_flat_bomb_is_refused_by_its_ratio() -> None:
    assert kind_of_refusal(zip_of({"zeros": bytes(20 << 20)})) == "limit"


def test_one_dense_member_is_not_hidden_by_loose_ones() -> None:
    data = zip_of({"zeros": bytes(4 << 20), "noise": shake_256(b"noise").digest(200_000)})

    assert kind_of_refusal(data) == "limit"


def test_the_sum_of_members_is_limited() -> None:
    data = zip_of({"a": bytes(600), "b": bytes(600)})

    assert kind_of_refusal(data, Limits(unpacked_bytes=1000)) == "limit"


def test_small_members_may_be_as_dense_as_they_like() -> None:
    assert open_archive(Source("f", zip_of({"blank": b" " * 900_000}))).read("blank") == b" " * 900_000


def test_archives_inside_archives_stop_at_the_depth_allowed() -> None:
    open_archive(Source("file.zip", SMALL, Limits(archive_depth=1)))
    with pytest.raises(ReadError, match="nested too deep") as caught:
        open_archive(Source("file.zip", SMALL, Limits(archive_depth=0)))
    assert caught.value.kind == "limit"


def overlapping(count: int) -> bytes:
    """One packed member, `count` names for it in the directory."""
    packed = zip_of({"0000": b"kernel" * 1000})
    at = packed.index(b"PK\x01\x02")
    end = packed.index(b"PK\x05\x06")
    record = packed[at:end]
    records = b"".join(record.replace(b"0000", b"%04d" % number) for number in range(count))
    tail = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, count, count, len(records), at, 0)
    return packed[:at] + records + tail


def test_members_that_share_their_bytes_are_refused() -> None:
    assert read_whole(overlapping(1)) == [b"kernel" * 1000]
    assert kind_of_refusal(overlapping(2)) == "limit"


def test_two_members_of_one_name_are_refused() -> None:
    assert kind_of_refusal(zip_of({"A.xml": b"1", "a.xml": b"2"})) == "malformed"


def test_a_locked_member_is_encrypted() -> None:
    data = bytearray(SMALL)
    data[data.index(b"PK\x01\x02") + 8] |= 1

    assert kind_of_refusal(bytes(data)) == "encrypted"


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_rare_ways_of_packing_are_refused(method: int) -> None:
    assert kind_of_refusal(zip_of({"a": b"text"}, method)) == "unsupported"


def test_a_member_that_is_larger_than_it_says_fails_its_checksum() -> None:
    data = bytearray(zip_of({"a": b"x" * 5000}))
    struct.pack_into("<I", data, data.index(b"PK\x01\x02") + 24, 10)

    assert read_whole(bytes(data)) is None


def test_a_file_beyond_the_limit_is_refused_before_it_is_parsed() -> None:
    assert kind_of_refusal(SMALL, replace(Limits(), file_bytes=len(SMALL) - 1)) == "limit"


@pytest.mark.parametrize("length", range(0, len(SMALL), 3))
def test_a_truncated_archive_is_malformed(length: int) -> None:
    assert kind_of_refusal(SMALL[:length]) == "malformed"


@given(flips=st.lists(st.tuples(st.integers(0, len(SMALL) - 1), st.integers(1, 255)), min_size=1, max_size=6))
def test_flipped_bytes_give_the_same_members_or_a_read_error(flips: list[tuple[int, int]]) -> None:
    data = bytearray(SMALL)
    for at, change in flips:
        data[at] ^= change

    read_whole(bytes(data))


@given(st.binary(max_size=300))
def test_noise_is_malformed(noise: bytes) -> None:
    assert read_whole(noise) is None
    assert read_whole(b"PK\x03\x04" + noise) is None
