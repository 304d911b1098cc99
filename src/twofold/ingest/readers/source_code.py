"""Source code: blocks by class and function, whose paths are the names around them and whose places are lines.

Python is read by its own parser, other languages and broken Python by where definitions start and how far they are
indented. Nothing is executed.
"""

import ast
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from twofold.domain.types import Block, BlockKind
from twofold.ingest.decode import decode
from twofold.ingest.readers.text_blocks import Line, lines_of, trim_span
from twofold.ingest.readers.types import Extract, Source, clean

_LONG_CLASS = 60  # lines; a longer class is read method by method
_LONG_BLOCK = 80  # lines of code without definitions
_COMMENT = ("#", "//", "/*", "*", "--", "@", "[", "///", '"""', "%", ";;")
_MODIFIERS = (
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub|unsafe|extern|virtual|"
    r"override|inline|const|constexpr|sealed|partial|open|data|suspend|declare|native|synchronized|local|create|"
    r"replace|or)\b(?:\([a-z ]{1,20}\))?[ \t]+){0,6}"
)
_KEYWORD_DEFINITION = re.compile(
    rf"{_MODIFIERS}(?:class|interface|struct|union|enum|trait|impl|fn|func|function|def|module|namespace|record|object|"
    r"protocol|extension|sub|fun|defmodule|defp?|message|service|resource|table|view|procedure|trigger)\b[ \t*]*"
    r"(?:<[^<>]{1,80}>[ \t]*|\([^()]{1,80}\)[ \t]*|if not exists[ \t]+)?[\"'`]?([\w.:$]{1,120})",
    re.IGNORECASE,
)
_VALUE_DEFINITION = re.compile(
    r"(?:export )?(?:const|let|var) ([\w$]{1,120}) = (?:async )?(?:function|\(|[\w$]{1,80} =>)"
)
_CALLABLE = re.compile(r"[A-Za-z_][\w:<>,*&~\[\] \t]{0,200}?([~\w:]{1,120})[ \t]*\(")
_STATEMENTS = frozenset(
    {"if", "for", "while", "switch", "return", "else", "catch", "do", "new", "throw", "await", "using", "elif", "case"}
)


class Definition(NamedTuple):
    """Something named in code: lines `first` up to `last`, counted from 0, `last` not included."""

    first: int
    last: int
    path: tuple[str, ...]


def read_python(source: Source) -> Extract:
    """Read Python by its syntax tree, or by indentation when it has errors in its syntax."""
    return _read(source, is_python=True)


def read_code(source: Source) -> Extract:
    """Read any other language."""
    return _read(source, is_python=False)


def _read(source: Source, *, is_python: bool) -> Extract:
    decoded = decode(source.data)
    text = clean(decoded.text)
    lines = list(lines_of(text))
    tree = _parse_python(text) if is_python else None
    if tree is None:
        definitions = list(_found_by_shape(text, lines))
    else:
        definitions = list(_python_definitions(tree.body, (), len(lines)))
    return Extract(text, tuple(_blocks(text, lines, definitions)), metadata=decoded.metadata)


def _parse_python(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the user's invalid escapes are no concern of ours
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _python_definitions(body: Sequence[ast.stmt], path: tuple[str, ...], line_count: int) -> Iterator[Definition]:
    """Return functions and classes; of long classes the methods, and the class's own lines as what is left over."""
    for node in body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
        last = min(node.end_lineno or node.lineno, line_count)
        if isinstance(node, ast.ClassDef) and last - first > _LONG_CLASS:
            inner = list(_python_definitions(node.body, (*path, node.name), line_count))
            yield from _with_gaps(inner, first, last, (*path, node.name))
        else:
            yield Definition(first, last, path)


def _with_gaps(definitions: Iterable[Definition], first: int, last: int, path: tuple[str, ...]) -> Iterator[Definition]:
    """Fill what lies between definitions with pieces of at most `_LONG_BLOCK` lines under `path`."""
    position = first
    for definition in definitions:
        yield from _pieces(position, definition.first, path)
        yield definition
        position = max(position, definition.last)
    yield from _pieces(position, last, path)


def _pieces(first: int, last: int, path: tuple[str, ...]) -> Iterator[Definition]:
    for start in range(first, last, _LONG_BLOCK):
        yield Definition(start, min(start + _LONG_BLOCK, last), path)


def _found_by_shape(text: str, lines: Sequence[Line]) -> Iterator[Definition]:
    """Let each definition reach to the start of the next; those indented less stand around it."""
    around: list[tuple[int, str]] = []
    opened: Definition | None = None
    for number, line in enumerate(lines):
        content = text[line.start : min(line.end, line.start + 400)]
        name = _defined_name(content)
        if not name:
            continue
        indent = len(content) - len(content.lstrip())
        while around and around[-1][0] >= indent:
            around.pop()
        first = _with_comment_above(text, lines, number, opened.first + 1 if opened else 0)
        if opened is not None:
            yield Definition(opened.first, first, opened.path)
        opened = Definition(first, len(lines), tuple(outer for _, outer in around))
        around.append((indent, name))
    if opened is not None:
        yield opened


def _with_comment_above(text: str, lines: Sequence[Line], number: int, least: int) -> int:
    """Take the comment and the attributes straight above a definition along with it."""
    first = number
    while first > least:
        above = text[lines[first - 1].start : lines[first - 1].end].strip()
        if not above.startswith(_COMMENT):
            break
        first -= 1
    return first


def _defined_name(line: str) -> str:
    """Name what a line starts to define; the empty string when it defines nothing."""
    content = line.strip()
    if not content or content.startswith(_COMMENT):
        return ""
    found = _KEYWORD_DEFINITION.match(content) or _VALUE_DEFINITION.match(content)
    if found:
        return found[1].rstrip(".:")
    first_word = re.match(r"\w*", content)
    if content.endswith((";", ",")) or (first_word and first_word[0] in _STATEMENTS):
        return ""
    called = _CALLABLE.match(content)
    is_c_function = not line[0].isspace() and not content.endswith((")", ":")) and "=" not in content.split("(")[0]
    is_method = line[0].isspace() and content.endswith("{") and " " in content.split("(")[0].strip()
    return called[1] if called and (is_c_function or is_method) and content.endswith("{") else ""


def _blocks(text: str, lines: Sequence[Line], definitions: Sequence[Definition]) -> Iterator[Block]:
    starts = [line.start for line in lines]
    for piece in _with_gaps(definitions, 0, len(lines), ()):
        if piece.first >= piece.last:
            continue
        span = trim_span(text, lines[piece.first].start, lines[piece.last - 1].end)
        if span.start < span.end:
            first, last = bisect_right(starts, span.start), bisect_right(starts, span.end - 1)
            place = f"lines {first}-{last}" if last > first else f"line {first}"
            yield Block(BlockKind.CODE, span.start, span.end, piece.path, place=place)
