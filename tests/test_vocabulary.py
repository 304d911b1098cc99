"""The words of the project: plain present-tense English without archaic turns, and one spelling, American."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TURNS = (
    "anew",
    "are none",
    "be had",
    "beside",
    "by lot",
    "gone without",
    "hitherto",
    "is none",
    "mend",
    "mended",
    "mends",
    "nought",
    "one's own",
    "so many",
    "surroundings",
    "thrice",
    "told",
    "whence",
    "whoever",
)
"""Archaic or translated turns that stand in no docstring, message, help text, comment or page."""
STATIC_SUFFIXES = (".c", ".css", ".html", ".js", ".txt", ".yaml")
"""Files of the product that are read as they are: their comments, and the texts that people or models see."""
VERBS = ("Give", "Say", "Tell")
"""Docstrings of functions open with "Return", "Yield" or another plain verb instead of these."""
BRITISH = (
    r"analys(?:e[drs]?|ing)\b|(?:normal|quant|token|serial|initial|optim|organ|recogn|summar)is(?:e|ing|ation)|catalogue|"
    r"neighbour|behaviour|colour|favour|honour|centre(?:d|s)?\b"
)


@cache
def prose_of(path: Path) -> str:
    """Return all texts and comments of a Python file, or another as it is, with white space as single blanks.

    The texts are docstrings, messages, help and log lines, without what stands between the braces of an f-string.
    """
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        nodes = ast.walk(ast.parse(text, str(path)))
        texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        text = " ".join([*texts, *(token.string for token in tokens if token.type == tokenize.COMMENT)])
    return " ".join(text.split())


def written_for_readers() -> Iterator[Path]:
    yield from sorted((ROOT / "src").rglob("*.py"))
    yield from sorted(path for path in (ROOT / "src").rglob("*") if path.suffix in STATIC_SUFFIXES)
    yield from sorted([*ROOT.glob("*.md"), ROOT / "Makefile", *(ROOT / "docs").rglob("*.md")])


def occurrences(turn: str, prose: str) -> int:
    """Count a turn, also at the start of a sentence; Python's `None` is another word than "none"."""
    return len(re.findall(rf"\b[{turn[0]}{turn[0].upper()}]{turn[1:]}\b", prose))


@pytest.mark.parametrize("turn", TURNS)
def test_no_archaic_turns_are_written(turn: str) -> None:
    found = {path.relative_to(ROOT).as_posix(): occurrences(turn, prose_of(path)) for path in written_for_readers()}

    assert not {name: count for name, count in found.items() if count and name != "CHANGELOG.md"}


@pytest.mark.parametrize("verb", VERBS)
def test_docstrings_open_with_a_plain_verb(verb: str) -> None:
    sources = {path: path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py")}
    opening = re.compile(rf'^\s+r?"""{verb}s?\b', re.MULTILINE)

    assert not {path.relative_to(ROOT).as_posix() for path, text in sources.items() if opening.search(text)}


def test_the_spelling_is_american() -> None:
    files = [path for path in written_for_readers() if path.suffix not in {".css", ".js"}]  # CSS and the DOM decide
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
    page.write_text("There is\nnone, and there is none. Beside this is nonesuch, and it is None.\n", encoding="utf-8")

    assert occurrences("is none", prose_of(page)) == 2


def test_turns_are_counted_in_messages_help_log_lines_and_comments(tmp_path: Path) -> None:
    source = tmp_path / "source.py"
    source.write_text(
        'told = log.info("%s: made anew", told)  # whoever told it\n'
        'raise Error(f"{told} is damaged.", "Mend it, then read " "it anew.")\n',
        encoding="utf-8",
    )

    counts = {turn: occurrences(turn, prose_of(source)) for turn in ("anew", "mend", "told", "whoever")}

    assert counts == {"anew": 2, "mend": 1, "told": 1, "whoever": 1}
