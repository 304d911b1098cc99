"""The words of the project: no archaic turns beyond those that are left, and one spelling, American."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LEFT = {
    "anew": 0,
    "are none": 13,
    "beside": 70,
    "by lot": 3,
    "gone without": 3,
    "hitherto": 0,
    "is none": 60,
    "mend": 5,
    "mended": 2,
    "mends": 1,
    "one's own": 4,
    "so many": 37,
    "thrice": 0,
    "told": 52,
    "whoever": 29,
}
"""How often each archaic turn still stands in docstrings and pages. A number may fall, never rise; at 0 it stays."""
BRITISH = (
    r"analys(?:e[drs]?|ing)\b|(?:normal|quant|token|serial|initial|optim|organ|recogn|summar)is(?:e|ing|ation)|catalogue|"
    r"neighbour|behaviour|colour|favour|honour|centre(?:d|s)?\b"
)


def prose_of(path: Path) -> str:
    """Return the docstrings of a Python file, or a page as it is, with white space as single blanks."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        nodes = [node for node in ast.walk(ast.parse(text, str(path))) if isinstance(node, documented)]
        text = " ".join(ast.get_docstring(node) or "" for node in nodes)
    return " ".join(text.split())


def written_for_readers() -> Iterator[Path]:
    yield from sorted((ROOT / "src").rglob("*.py"))
    yield from sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def occurrences(turn: str, prose: str) -> int:
    return len(re.findall(rf"\b{turn}\b", prose, re.IGNORECASE))


@pytest.mark.parametrize("turn", LEFT)
def test_archaic_turns_only_become_fewer(turn: str) -> None:
    found = {path.relative_to(ROOT).as_posix(): occurrences(turn, prose_of(path)) for path in written_for_readers()}

    assert sum(found.values()) <= LEFT[turn], {name: count for name, count in found.items() if count}


def test_the_spelling_is_american() -> None:
    files = [*written_for_readers(), *(path for path in (ROOT / "src").rglob("*.txt") if path.parent.name == "prompts")]
    spelled = {path: re.findall(BRITISH, path.read_text(encoding="utf-8"), re.IGNORECASE) for path in files}

    assert not {path.relative_to(ROOT).as_posix(): words for path, words in spelled.items() if words}


@pytest.mark.parametrize(
    "word", ["analyser", "analysed", "Normalised", "catalogues", "neighbouring", "behaviour", "quantise"]
)
def test_british_spellings_are_told_from_american_ones(word: str) -> None:
    assert re.search(BRITISH, f"the {word} here", re.IGNORECASE)


@pytest.mark.parametrize(
    "word", ["analyzer", "analysis", "normalized", "catalog", "neighbor", "center", "raise", "organism"]
)
def test_american_spellings_pass(word: str) -> None:
    assert not re.search(BRITISH, f"the {word} here", re.IGNORECASE)


def test_turns_are_counted_as_whole_words_over_line_ends(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("There is\nnone, and there is none. Beside this is nonesuch.\n", encoding="utf-8")

    assert occurrences("is none", prose_of(page)) == 2
