"""Files that gzip, bzip2 or xz packed by themselves: whole, or a `ReadError`, within the limits of archives."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import ReadError
from twofold.ingest.archive import unpack
from twofold.ingest.readers.registry import read
from twofold.ingest.readers.types import DEFAULT_LIMITS, Source

PACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}
EACH = pytest.mark.parametrize("suffix", PACK)


def kind_of_refusal(source: Source) -> str:
    with pytest.raises(ReadError) as caught:
        unpack(source)
    assert caught.value.message.startswith(source.name)
    assert caught.value.hint
    return caught.value.kind


@EACH
@given(data=st.binary(max_size=400), more=st.binary(max_size=40))
def test_what_was_packed_comes_out_whole_also_of_several_in_a_row(suffix: str, data: bytes, more: bytes) -> None:
    packed = PACK[suffix](data) + PACK[suffix](more) + b"\0" * 8

    found = unpack(Source(f"Notes.TXT{suffix.upper()}", packed))

    assert (found.name, found.data) == ("Notes.TXT", data + more)
    assert found.limits.archive_depth == DEFAULT_LIMITS.archive_depth - 1


@EACH
@given(data=st.data())
def test_damaged_files_are_refused_or_unpacked(suffix: str, data: st.DataObject) -> None:
    packed = bytearray(PACK[suffix](b"The night ferry to Ostend leaves from quay nine. " * 9))
    for _ in range(data.draw(st.integers(1, 4))):
        packed[data.draw(st.integers(0, len(packed) - 1))] ^= data.draw(st.integers(1, 255))
    del packed[data.draw(st.integers(0, len(packed))) :]
    try:
        unpack(Source(f"a.txt{suffix}", bytes(packed)))
    except ReadError as error:
        assert error.kind in ("malformed", "limit")  # noqa: PT017 either is fine


@EACH
def test_a_file_cut_short_is_malformed(suffix: str) -> None:
    packed = PACK[suffix](b"The night ferry to Ostend leaves from quay nine.")

    assert {kind_of_refusal(Source(f"a{suffix}", packed[:length])) for length in range(6, len(packed))} == {"malformed"}


@EACH
def test_bombs_are_refused_by_size_ratio_and_depth(suffix: str) -> None:
    packed = PACK[suffix](b"quay " * 2_000_000)

    assert kind_of_refusal(Source(f"a{suffix}", packed)) == "limit"
    loose = replace(DEFAULT_LIMITS, archive_ratio=1_000_000)
    assert len(unpack(Source(f"a{suffix}", packed, loose)).data) == 10_000_000
    assert kind_of_refusal(Source(f"a{suffix}", packed, replace(loose, unpacked_bytes=9_999_999))) == "limit"
    assert kind_of_refusal(Source(f"a{suffix}", packed, replace(loose, archive_depth=0))) == "limit"


@EACH
def test_what_is_inside_is_read_by_its_own_name_and_content(suffix: str) -> None:
    pages = {
        "changelog": b"sluice (2.1)\n\n  * Open the gate by night.\n",
        "README": b"# Sluice\n\n- opens the [gate](gate.html)\n",
        "page.html": b"<h1>Sluice</h1><p>It opens.",
        "x.log.2": b"12:00 gate opened\n12:05 gate shut\n",
    }
    for name, data in pages.items():
        assert read(Source(f"{name}{suffix}", PACK[suffix](data))) == read(Source(name, data))


@EACH
def test_a_packed_archive_is_named_and_not_read(suffix: str) -> None:
    with pytest.raises(ReadError, match=r"an? (gzip|bzip2|XZ) archive cannot be read") as caught:
        read(Source(f"a.tar{suffix}", PACK[suffix](b"words")))
    tar = b"a.txt".ljust(257, b"\0") + b"ustar\0" + bytes(249) + b"words".ljust(512, b"\0")
    with pytest.raises(ReadError, match="a tar archive cannot be read") as inside:
        read(Source(f"a{suffix}", PACK[suffix](tar)))

    assert [each.value.hint.split(",")[0] for each in (caught, inside)] == ["Unpack it and add the folder"] * 2
