"""How far it is from `Index.search` to the line that fuses, counted on a real search of a real index."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

import twofold
from support.indexes import GIT, indexed
from twofold.ranking.fusion import FUSIONS, Fused

PACKAGE = str(Path(twofold.__file__).parent)
MOST = 6


def frames_of(frame: FrameType | None) -> Iterator[str]:
    """Yield the functions of twofold that are being called, the innermost first, up to `Index.search`."""
    while frame is not None:
        if frame.f_code.co_filename.startswith(PACKAGE):
            yield frame.f_code.co_name
            if frame.f_code.co_filename.endswith("index_reader.py"):
                return
        frame = frame.f_back


@pytest.mark.parametrize("method", FUSIONS)
def test_at_most_six_functions_from_the_search_to_the_fused_scores(method: str, tmp_path: Path) -> None:
    ways: list[list[str]] = []

    def seen(frame: FrameType, event: str, given: object) -> None:
        if event == "return" and isinstance(given, Fused) and frame.f_code.co_filename.endswith("fusion.py"):
            ways.append(list(frames_of(frame))[::-1])

    with indexed(GIT, {"fusion.method": method}, where=tmp_path / "index") as index:
        sys.setprofile(seen)
        try:
            result = index.search("undo a merge commit")
        finally:
            sys.setprofile(None)

    assert result.hits
    assert result.fusion == method
    assert len(ways) == 4  # the fused scores, before and after PRF, handed on by `fuse` each time
    assert max(map(len, ways)) <= MOST, ways
    assert all(way[0] == "search" for way in ways)
    assert [way[-1] for way in ways] == ["summed", "fuse", "summed", "fuse"]
