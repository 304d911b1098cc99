"""The recognizer: PP-OCRv6 small, whose files come with the package `rapidocr`, run by OpenVINO.

It reads Chinese, Japanese, Greek and the languages written in Latin letters, and finds out itself which one. Nothing is
fetched: the places of the model's files are given, so that the package has none to look for.
"""

import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twofold.domain.dataclass import dataclass
from twofold.domain.types import Metadata

PACKAGE = "rapidocr"
WITHOUT_TEXT, RECOGNIZED = "pages_without_text", "pages_recognized"
"""Fields of a document: how many of its pages are pictures that were not read, and how many were."""
HINT = "Install the extra for OCR, `pip install 'twofold[ocr]'`, and sync again."
MAX_SIDE = 2_000  # pixels of the longer side of a page
MAX_PIXELS = 100_000_000
"""Pixels of a picture as it lies in the file; a scan of an A3 page at 600 dpi has 70 million."""
_DETECTOR_SIDE = 1_280
_MAX_THREADS = 4
_DOUBTFUL = 0.85
"""Below this the picture may be upside down, and is read the other way too; clear print is above .95."""

Pixels = NDArray[np.uint8]
"""A picture: rows, columns, and blue, green and red."""
Box = tuple[float, float, float, float]
"""Left, top, right and bottom, in pixels from the upper left corner."""


@dataclass(frozen=True, slots=True)
class FoundLine:
    """A line of text on a picture, its box, and its words with theirs; `sure` in [0, 1] is how sure the model is."""

    text: str
    box: Box
    words: tuple[tuple[str, Box], ...]
    sure: float = 1.0
    upside_down: bool = False


def installed() -> bool:
    """Return whether pictures can be read here; it imports nothing."""
    return find_spec(PACKAGE) is not None


def hint_for_pictures() -> str:
    """Return what to do about pages that are pictures and were not read."""
    return "Split the file, or make its images smaller." if installed() else HINT


def may_read_more(fields: Metadata) -> bool:
    """Return whether a document with these fields has pages that are pictures and could be read now."""
    return WITHOUT_TEXT in fields and RECOGNIZED not in fields and installed()


def recognized(pixels: Pixels) -> list[FoundLine]:
    """Return the lines of text on a picture, in no order that can be relied on."""
    if min(pixels.shape[:2]) < 2:  # noqa: PLR2004 one row of pixels says nothing
        return []
    found = _read(pixels)
    if not found or _sure(found) >= _DOUBTFUL:
        return found
    turned = _read(np.ascontiguousarray(pixels[::-1, ::-1]))
    if not turned or _sure(turned) <= _sure(found):
        return found
    return [_rotated_back(line, pixels.shape[1], pixels.shape[0]) for line in turned]


def _read(pixels: Pixels) -> list[FoundLine]:
    found = _recognizer()(pixels)
    texts, words, scores = found.txts or (), found.word_results or (), found.scores or ()
    boxes = () if found.boxes is None else found.boxes
    lines = []
    for at, (text, box, score) in enumerate(zip(texts, boxes, scores, strict=True)):
        placed = tuple((one[0], _around(one[2])) for one in (words[at] if at < len(words) else ()))
        lines.append(FoundLine(text, _around(box), placed, float(score)))
    return lines


def _sure(lines: Sequence[FoundLine]) -> float:
    """Return how sure the recognizer is of a page's characters, on average."""
    return sum(line.sure * len(line.text) for line in lines) / sum(len(line.text) for line in lines)


def _rotated_back(line: FoundLine, wide: int, high: int) -> FoundLine:
    """Return a line that was read with its picture turned upside down, in its place on the picture as it is."""

    def back(box: Box) -> Box:
        left, top, right, bottom = box
        return (wide - right, high - bottom, wide - left, high - top)

    words = tuple((word, back(box)) for word, box in line.words)
    return FoundLine(line.text, back(line.box), words, line.sure, upside_down=True)


@cache
def _recognizer() -> Any:  # noqa: ANN401 the package has no types that hold
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]  # so that OpenVINO asks for no host
    from rapidocr import EngineType, RapidOCR

    spec = find_spec(PACKAGE)
    models = Path(str(spec.origin if spec else "")).parent / "models"
    runs = {f"{part}.engine_type": EngineType.OPENVINO for part in ("Det", "Cls", "Rec")}
    return RapidOCR(
        params={
            **runs,
            "Det.model_path": str(models / "PP-OCRv6_det_small.onnx"),
            "Rec.model_path": str(models / "PP-OCRv6_rec_small.onnx"),
            "Det.limit_type": "max",
            "Det.limit_side_len": _DETECTOR_SIDE,
            "Global.use_cls": False,
            "Global.log_level": "critical",
            "Global.return_word_box": True,
            "EngineConfig.openvino.inference_num_threads": min(_MAX_THREADS, max(1, (os.cpu_count() or 1) // 2)),
        }
    )


def _around(corners: Sequence[Sequence[float]]) -> Box:
    """Return the box around four corners."""
    across, down = zip(*corners, strict=True)
    return (float(min(across)), float(min(down)), float(max(across)), float(max(down)))
