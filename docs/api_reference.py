"""The page `docs/api.md`: public classes and functions, with signatures and docstrings taken from the source."""

import ast
import dataclasses
import inspect
import re
import textwrap
from collections.abc import Iterator
from enum import Enum
from types import UnionType
from typing import get_args

import twofold

HEAD = """\
# Python API

Written by `make docs` from the docstrings. All names are imported from `twofold`. Names that begin with an underscore,
and modules that are not shown here, can change at any time.
"""
MAX_LINE = 100
CLASSES_FIRST = ("Index", "MultiIndex", "SearchOptions", "SearchResult", "Hit", "HitTrace", "Answer")


def api_page() -> str:
    """Return the page."""
    rest = sorted(set(twofold.__all__) - set(CLASSES_FIRST))
    return "\n".join([HEAD, *(section(name, getattr(twofold, name)) for name in (*CLASSES_FIRST, *rest))])


def section(name: str, value: object) -> str:
    """Return the section of one name."""
    lines = [f"## `{name}`", "", *described(value)]
    if inspect.isclass(value):
        lines += fields_of(value)
        for method, function in methods_of(value):
            lines += [f"### `{name}.{method}`", "", *code(signature(function)), *described(function)]
    elif inspect.isfunction(value):
        lines[2:2] = code(signature(value))
    return "\n".join(lines)


def methods_of(kind: type) -> Iterator[tuple[str, object]]:
    """Yield the public methods and properties that a class of ours defines or inherits, in order of definition."""
    seen: set[str] = set()
    for one in reversed(kind.__mro__):
        if not one.__module__.startswith("twofold."):
            continue
        for name, member in vars(one).items():
            function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
            if not name.startswith("_") and name not in seen and inspect.isfunction(function):
                seen.add(name)
                current = getattr(kind, name)
                yield name, current.fget if isinstance(current, property) else function_of(kind, name)


def function_of(kind: type, name: str) -> object:
    """Return the function behind a method, as the most derived class defines it."""
    member = next(vars(one)[name] for one in kind.__mro__ if name in vars(one))
    return getattr(member, "__func__", member)


def fields_of(kind: type) -> list[str]:
    """Return the fields of a dataclass as a table row each."""
    if issubclass(kind, Enum):
        return [*(f"- `{one.name}`: `{one.value}`" for one in kind), ""]
    if not dataclasses.is_dataclass(kind):
        return []
    shown = [one for one in dataclasses.fields(kind) if not one.name.startswith("_")]
    return [*(f"- `{one.name}`: `{type_of(one.type)}`" for one in shown), ""]


def type_of(annotation: object) -> str:
    """Return an annotation as its source has it, without modules."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    plain = re.sub(r"\b[a-z_]+(?:\.[a-zA-Z_]+)*\.(?=[A-Z])", "", text)
    return plain if "Literal" in plain else plain.replace("'", "")


def signature(function: object) -> str:
    """Return the lines that define a function, as the source has them, without decorators and `self`."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))  # type: ignore[arg-type]  # a function
    (node,) = tree.body
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return ""
    arguments = [one for one in arguments_of(node.args) if one not in {"self", "cls"}]
    returns = f" -> {unquoted(node.returns)}" if node.returns is not None else ""
    line = f"{node.name}({', '.join(arguments)}){returns}"
    if len(line) <= MAX_LINE:
        return line
    return "\n".join([f"{node.name}(", *(f"    {one}," for one in arguments), f"){returns}"])


def arguments_of(arguments: ast.arguments) -> Iterator[str]:
    """Yield each argument with its annotation and its default."""
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [*[None] * (len(positional) - len(arguments.defaults)), *arguments.defaults]
    for place, (one, default) in enumerate(zip(positional, defaults, strict=True), start=1):
        yield argument(one, default)
        if place == len(arguments.posonlyargs):
            yield "/"
    if arguments.vararg is not None:
        yield f"*{argument(arguments.vararg, None)}"
    elif arguments.kwonlyargs:
        yield "*"
    for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield argument(one, default)
    if arguments.kwarg is not None:
        yield f"**{argument(arguments.kwarg, None)}"


def argument(one: ast.arg, default: ast.expr | None) -> str:
    """Return one argument."""
    named = one.arg if one.annotation is None else f"{one.arg}: {unquoted(one.annotation)}"
    return named if default is None else f"{named} = {ast.unparse(default)}"


def unquoted(annotation: ast.expr) -> str:
    """Return an annotation without the quotes of a forward reference."""
    return ast.unparse(annotation).replace("'", "") if isinstance(annotation, ast.Constant) else ast.unparse(annotation)


def code(text: str) -> list[str]:
    """Return a block of code."""
    return ["```text", text, "```", ""]


def described(value: object) -> list[str]:
    """Return a docstring as Markdown: its examples in a block of their own."""
    if isinstance(value, UnionType):
        return [f"One of {', '.join(f'`{one.__name__}`' for one in get_args(value))}.", ""]
    text = inspect.getdoc(value) or ""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        example = line.startswith((">>>", "..."))
        if example and not inside:
            lines.append("```pycon")
        if inside and not line.strip():
            lines.append("```")
        inside = example or (inside and bool(line.strip()))
        lines.append(line)
    return [*lines, *(["```"] if inside else []), ""]
