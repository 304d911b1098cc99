"""Source code: blocks by definition, with lines and enclosing names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.ingest.readers.source_code import read_code, read_python
from twofold.ingest.readers.types import Extract, Source, clean


def shown(extract: Extract) -> list[tuple[str, tuple[str, ...], str]]:
    return [(extract.text[b.start : b.end].split("\n")[0], b.heading, b.place) for b in extract.blocks]


PYTHON = (
    '"""Doc."""\n\nimport os\n\n\n@wrap\ndef one():\n    return "\\d"\n\n\n'
    "class Small:\n    def two(self): ...\n\n\nX = 1\n"
)


def test_python_is_cut_at_functions_and_classes_with_their_decorators() -> None:
    assert shown(read_python(Source("a.py", PYTHON.encode()))) == [
        ('"""Doc."""', (), "lines 1-3"),
        ("@wrap", (), "lines 6-8"),
        ("class Small:", (), "lines 11-12"),
        ("X = 1", (), "line 15"),
    ]


def test_long_classes_are_read_method_by_method() -> None:
    methods = "".join(f"    def method_{n}(self):\n" + "        pass\n" * 10 for n in range(8))
    extract = read_python(Source("a.py", f"class Long:\n    x = 1\n\n{methods}".encode()))

    assert shown(extract)[0] == ("class Long:", ("Long",), "lines 1-2")
    assert [path for line, path, _ in shown(extract) if "method_" in line] == [("Long",)] * 8


def test_python_with_errors_in_its_syntax_is_cut_by_its_shape() -> None:
    source = "def one():\n    print 'old'\n\nclass Two:\n    def three(self):\n        pass\n"

    assert shown(read_python(Source("a.py", source.encode()))) == [
        ("def one():", (), "lines 1-2"),
        ("class Two:", (), "line 4"),
        ("    def three(self):", ("Two",), "lines 5-6"),
    ]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "package x\n\n// Says.\nfunc (s *T) Hello(a int) {\n\tx()\n}\n\ntype A struct {\n}\n\nfunc B() {\n}\n",
            ["package x", "// Says.", "func B() {"],
        ),
        (
            "export const f = (a) => {\n  if (a) {\n  }\n}\nexport default async function g() {\n}\n",
            ["export const f = (a) => {", "export default async function g() {"],
        ),
        (
            "pub(crate) fn a<T>() {\n}\nimpl<T> B for C {\n    fn d(&self) {\n    }\n}\n",
            ["pub(crate) fn a<T>() {", "impl<T> B for C {", "    fn d(&self) {"],
        ),
        (
            "#include <x>\n\nstatic int add(int a) {\n  while (a) {\n  }\n}\n",
            ["#include <x>", "static int add(int a) {"],
        ),
        (
            "class A {\n    public void run(int x) {\n        call(x) ;\n    }\n}\n",
            ["class A {", "    public void run(int x) {"],
        ),
        (
            "CREATE TABLE IF NOT EXISTS t (a int);\nCREATE OR REPLACE FUNCTION f() x\n",
            ["CREATE TABLE IF NOT EXISTS t (a int);", "CREATE OR REPLACE FUNCTION f() x"],
        ),
        ("a: 1\nb: 2\n", ["a: 1"]),
    ],
)
def test_other_languages_are_cut_where_definitions_start(source: str, expected: list[str]) -> None:
    assert [line for line, _, _ in shown(read_code(Source("a.x", source.encode())))] == expected


@given(st.text("adefcls:(){} \n\t#@;=x1", max_size=120))
def test_every_line_with_something_on_it_is_in_exactly_one_block(text: str) -> None:
    for reader in (read_python, read_code):
        extract = reader(Source("a.py", text.encode()))
        inside = "".join(extract.text[block.start : block.end] for block in extract.blocks)

        assert "".join(inside.split()) == "".join(clean(text).split())


def test_code_nested_too_deep_for_the_parser_is_read_by_its_shape() -> None:
    assert read_python(Source("a.py", b"x = " + b"(" * 50_000)).blocks
