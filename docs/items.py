"""Write `docs/items.md`: each item of the checklist with the tests that cite it, or why there is none.

python docs/items.py [--check]

The items are in `tests/acceptance/items.toml`. A test is of the items that its name cites (`test_item_35_...`,
`test_c1_c4_...`), or else of those in the first line of its module (`Checklist 43, 44 and C10: ...`). No test is run:
the page says what is tested, and a test that fails fails the build. With --check nothing is written: it says which
items have neither a test nor a reason, and whether the page is up to date.
"""

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "acceptance"
PAGE = ROOT / "docs" / "items.md"
ITEMS = frozenset([*map(str, range(1, 94)), *(f"C{number}" for number in range(1, 24))])
"""What the checklist numbers."""

_CITED = re.compile(r"(?:checklist|contradictions?|items?)\b.*", re.IGNORECASE)
_ITEM = re.compile(r"\b(C?\d{1,2})\b")
_OF_A_NAME = re.compile(r"(?:_items?_(\d+(?:_\d+)*)|_(c\d+(?:_c\d+)*))(?=_)")

HEAD = """\
# The checklist, item by item

Written by `make items`. An item is named here in few words; its tests say what holds, each of them through the Python
API, the command line, a running HTTP server or `twofold.compat`. All of them pass, or the build fails.
"""


@dataclass(frozen=True, slots=True)
class Item:
    """One item: its number, a short name, the section it stands in, and what is missing of it."""

    number: str
    name: str
    section: str
    missing: str


def items() -> tuple[Item, ...]:
    """Read all items, in the order of the file."""
    content = tomllib.loads((FOLDER / "items.toml").read_text(encoding="utf-8"))
    return tuple(
        Item(number, line["name"], f"{letter} {section['title']}", line.get("missing", ""))
        for letter, section in content.items()
        for number, line in section.items()
        if number != "title"
    )


def tests_by_item() -> Mapping[str, Sequence[str]]:
    """Return the tests that cite each item, as `module::function`."""
    found: dict[str, list[str]] = {}
    for path in sorted(FOLDER.glob("test_*.py")):
        for test, cited in _tests_of(path):
            for number in cited:
                found.setdefault(number, []).append(test)
    return found


def cited_in(sentence: str) -> tuple[str, ...]:
    """Return the items that the first line of a module cites, before its colon.

    >>> cited_in("Checklist 43, 44 and C10: filters of 3 kinds."), cited_in("Contradiction C21: merging.")
    (('43', '44', 'C10'), ('C21',))
    """
    head = _CITED.search(sentence.partition(":")[0])
    return tuple(one.lstrip("0") for one in _ITEM.findall(head[0])) if head else ()


def named_in(test: str) -> tuple[str, ...]:
    """Return the items that a test's name cites.

    >>> named_in("test_item_35_the_three_modes"), named_in("test_c1_c4_each_has_its_own"), named_in("test_5_of_them")
    (('35',), ('C1', 'C4'), ())
    >>> named_in("test_c8_item_25_each_arm_gives_more")
    ('C8', '25')
    """
    name, cited = test.removeprefix("test"), list[str]()
    while found := _OF_A_NAME.match(name):
        cited += (one.lstrip("0") for one in (found[1] or found[2]).upper().split("_"))
        name = name[found.end() :]
    return tuple(cited)


def faults() -> tuple[str, ...]:
    """Return what is wrong between the checklist, the file of items and the tests, a line each."""
    known, every = tests_by_item(), items()
    numbers = [item.number for item in every]
    return (
        *(f"item {number} is not in items.toml" for number in sorted(ITEMS.difference(numbers))),
        *(
            f"no test cites item {one.number} ({one.name})"
            for one in every
            if not one.missing and one.number not in known
        ),
        *(f"a test cites item {number}, which there is not" for number in sorted(known.keys() - ITEMS)),
    )


def _tests_of(path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    module = ast.parse(path.read_text(encoding="utf-8"))
    of_all = cited_in((ast.get_docstring(module) or "").partition("\n")[0])
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield f"{path.stem}::{node.name}", named_in(node.name) or of_all


def page() -> str:
    """Return the whole page."""
    known, lines, section = tests_by_item(), [HEAD], ""
    for item in items():
        if item.section != section:
            section = item.section
            lines += [f"## {section}\n", "| item | what | tests |", "| --- | --- | --- |"]
        lines.append(_row(item, known.get(item.number, ())))
        if item is items()[-1] or section != _section_after(item):
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _section_after(item: Item) -> str:
    every = items()
    place = every.index(item) + 1
    return every[place].section if place < len(every) else ""


def _row(item: Item, tests: Sequence[str]) -> str:
    counts = Counter(test.partition("::")[0] for test in tests)
    cells = [
        f"[{name.removeprefix('test_')}](../tests/acceptance/{name}.py) ({counts[name]})" for name in sorted(counts)
    ]
    said = [", ".join(cells)] if cells else []
    said += [f"missing: {item.missing}"] if item.missing else [] if cells else ["**missing**"]
    return f"| {item.number} | {item.name} | {'; '.join(said)} |"


def main(arguments: Sequence[str]) -> int:
    """Do what the command line says; return the exit status."""
    wrong = list(faults())
    if "--check" not in arguments:
        PAGE.write_text(page(), encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != page():
        wrong.append("docs/items.md is out of date; run `make items`")
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
