"""Writes `docs/items.md`: each item of the checklist, the tests that cite it, and how many of them pass.

python docs/items.py [--check]

The items are in `tests/acceptance/items.toml`. A test is of the items that its name cites (`test_item_35_...`,
`test_c1_c4_...`), or else of those in the first line of its module (`Checklist 43, 44 and C10: ...`). With --check no
test is run: it only says which items of retrieval have none.
"""

import ast
import re
import subprocess
import sys
import tempfile
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "acceptance"
PAGE = ROOT / "docs" / "items.md"
RETRIEVAL = "retrieval"

_CITED = re.compile(r"(?:checklist|contradictions?)\b.*", re.IGNORECASE)
_ITEM = re.compile(r"\b(C?\d{1,2})\b")
_OF_A_NAME = re.compile(r"(?:_items?_(\d+(?:_\d+)*)|_(c\d+(?:_c\d+)*))(?=_)")

HEAD = """\
# The checklist, item by item

Written by `make items`, which runs the tests in `tests/acceptance`. An item is named here in few words; its tests say
what holds.
"""


@dataclass(frozen=True, slots=True)
class Item:
    """One item: its number, a short name, the section it stands in, and what part of the program it is about."""

    number: str
    name: str
    section: str
    part: str


def items() -> tuple[Item, ...]:
    """Read all items, in the order of the file."""
    content = tomllib.loads((FOLDER / "items.toml").read_text(encoding="utf-8"))
    return tuple(
        Item(number, line["name"], f"{letter} {section['title']}", line.get("part", RETRIEVAL))
        for letter, section in content.items()
        for number, line in section.items()
        if number != "title"
    )


def tests_by_item() -> Mapping[str, Sequence[str]]:
    """Give the tests that cite each item, as `module::function`."""
    found: dict[str, list[str]] = {}
    for path in sorted(FOLDER.glob("test_*.py")):
        for test, cited in _tests_of(path):
            for number in cited:
                found.setdefault(number, []).append(test)
    return found


def cited_in(sentence: str) -> tuple[str, ...]:
    """Give the items that the first line of a module cites, before its colon.

    >>> cited_in("Checklist 43, 44 and C10: filters of 3 kinds."), cited_in("Contradiction C21: merging.")
    (('43', '44', 'C10'), ('C21',))
    """
    head = _CITED.search(sentence.partition(":")[0])
    return tuple(_ITEM.findall(head[0])) if head else ()


def named_in(test: str) -> tuple[str, ...]:
    """Give the items that a test's name cites.

    >>> named_in("test_item_35_the_three_modes"), named_in("test_c1_c4_each_has_its_own"), named_in("test_5_of_them")
    (('35',), ('C1', 'C4'), ())
    >>> named_in("test_c8_item_25_each_arm_gives_more")
    ('C8', '25')
    """
    name, cited = test.removeprefix("test"), list[str]()
    while found := _OF_A_NAME.match(name):
        cited += (found[1] or found[2]).upper().split("_")
        name = name[found.end() :]
    return tuple(cited)


def missing() -> tuple[Item, ...]:
    """Give the items of retrieval that no test cites."""
    known = tests_by_item()
    return tuple(item for item in items() if item.part == RETRIEVAL and item.number not in known)


def _tests_of(path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    module = ast.parse(path.read_text(encoding="utf-8"))
    of_all = cited_in((ast.get_docstring(module) or "").partition("\n")[0])
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield f"{path.stem}::{node.name}", named_in(node.name) or of_all


def _outcomes() -> Mapping[str, Sequence[bool]]:
    """Run the tests; give for each function whether it passed, once for each set of parameters."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junit-xml", str(report)]
        subprocess.run([*command, str(FOLDER)], cwd=ROOT, check=False, stdout=sys.stderr)  # noqa: S603  # our own
        found: dict[str, list[bool]] = {}
        for case in ET.parse(report).iter("testcase"):  # noqa: S314  # written a moment ago
            name = f"{case.attrib['classname'].rpartition('.')[2]}::{case.attrib['name'].partition('[')[0]}"
            found.setdefault(name, []).append(all(one.tag not in {"failure", "error", "skipped"} for one in case))
    return found


def _page(outcomes: Mapping[str, Sequence[bool]]) -> str:
    known, lines, section = tests_by_item(), [HEAD], ""
    for item in items():
        if item.section != section:
            section = item.section
            lines += [f"## {section}\n", "| item | what | tests | passed |", "| --- | --- | --- | --- |"]
        lines.append(_row(item, known.get(item.number, ()), outcomes))
        if item is items()[-1] or section != _section_after(item):
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _section_after(item: Item) -> str:
    every = items()
    place = every.index(item) + 1
    return every[place].section if place < len(every) else ""


def _row(item: Item, tests: Sequence[str], outcomes: Mapping[str, Sequence[bool]]) -> str:
    if not tests:
        why = {"answers": "belongs to answers", "optional": "left to extensions", "claim": "nothing to test"}
        return f"| {item.number} | {item.name} | {why.get(item.part, '**missing**')} | |"
    results = [passed for test in tests for passed in outcomes.get(test, (False,))]
    files = sorted({test.partition("::")[0] for test in tests})
    linked = ", ".join(f"[{name.removeprefix('test_')}](../tests/acceptance/{name}.py)" for name in files)
    good = sum(results)
    return f"| {item.number} | {item.name} | {linked} | {good} of {len(results)}{'' if all(results) else ' **✗**'} |"


def main(arguments: Sequence[str]) -> int:
    """Do what the command line says; give the exit status."""
    unknown = sorted(tests_by_item().keys() - {item.number for item in items()} - set(map(str, range(1, 94))))
    lacking = [f"no test cites item {item.number} ({item.name})" for item in missing()]
    lacking += [f"a test cites item {number}, which there is not" for number in unknown]
    print("\n".join(lacking), file=sys.stderr, end="\n" if lacking else "")
    if "--check" in arguments:
        return 1 if lacking else 0
    page = _page(_outcomes())
    PAGE.write_text(page, encoding="utf-8")
    print(page)
    return 1 if lacking or "**✗**" in page else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
