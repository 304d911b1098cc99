"""The house rules that tools can check: direction of imports, sizes, names, and a map that is true."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "twofold"
MODULES = sorted(SOURCE.rglob("*.py"))
BANNED_NAMES = re.compile(r"utils?|helpers?|common|core|base|managers?|misc")
BANNED_IMPORTS = {"pickle", "marshal", "shelve", "unittest.mock", "dill", "joblib"}
BANNED_CALLS = {"eval", "exec", "yaml.load", "os.system", "pickle.loads", "pickle.load"}
LATE_IMPORTS = frozenset(
    {
        ("__main__.py", "twofold.cli.app"),
        ("answering.py", "twofold.factory.answer"),
        ("config/load.py", "twofold.config.files"),
        ("connectors/named.py", "twofold.connectors.s3"),
        ("factory/places.py", "twofold.stores.postgres.store"),
        ("factory/places.py", "twofold.stores.s3.store"),
        ("factory/search.py", "twofold.models.embedders.factory"),
        ("factory/search.py", "twofold.models.generators.factory"),
        ("factory/search.py", "twofold.models.rerankers.factory"),
        ("factory/search.py", "twofold.search.result_plan"),
        ("factory/search.py", "twofold.stores.graph"),
        ("models/catalog/identities.py", "twofold.models.embedders.factory"),
        ("models/catalog/identities.py", "twofold.models.embedders.onnxruntime"),
        ("search/build_result.py", "twofold.search.suggest"),
        ("search/engine.py", "twofold.search.cached_search"),
        ("search/engine.py", "twofold.search.suggest"),
        ("search/engine.py", "twofold.search.why_not"),
        ("search/query.py", "twofold.query.synonyms"),
        ("search/query.py", "twofold.search.expand"),
    }
)
"""Imports of our own that wait for a call: (file, module), each worth it by the cold start that it saves."""
MACHINE_PATHS = re.compile(rb"(?<![\w.~$}/])/(?:w[o]rk|r[o]ot|h[o]me/\w+|Us[e]rs/\w+)/\w")


def relative(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def functions_of(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def imports_of(node: ast.AST) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, ast.Import):
            yield from (alias.name for alias in one.names)
        elif isinstance(one, ast.ImportFrom):
            module = "." * one.level + (one.module or "")
            yield module
            yield from (f"{module}.{alias.name}" for alias in one.names)


def length_without_docstring(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = function.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    prose = (first.end_lineno or 0) - first.lineno + 1 if documented else 0
    return (function.end_lineno or 0) - function.lineno + 1 - prose


def test_the_contracts_on_imports_hold() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


def test_there_are_nine_layers_and_the_map_shows_them() -> None:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"][0]
    shown = (ROOT / "ARCHITECTURE.md").read_text("utf-8").split("```text\n")[1].split("\n```")[0].splitlines()

    public = [re.sub(r"__main__ : | : \(?_(?:kernels|analyzer)\w*\)?", "", row) for row in contract["layers"]]
    assert (contract["name"], contract["exhaustive"], len(public)) == ("Imports point down", True, 9)
    assert shown == public


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_a_file_can_be_read_in_one_sitting(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 500


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_a_function_fits_a_screen(path: Path) -> None:
    lengths = {function.name: length_without_docstring(function) for function in functions_of(tree_of(path))}

    assert not {name: length for name, length in lengths.items() if length > 40}


def test_imports_of_our_own_inside_functions_are_the_listed_ones() -> None:
    """Each saves a cold start something that can be measured; the list stays short."""
    hidden = {
        (relative(path), name)
        for path in MODULES
        for function in functions_of(tree_of(path))
        for node in ast.walk(function)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("twofold")
        for name in [node.module or ""]
    }

    assert hidden == LATE_IMPORTS
    assert len(LATE_IMPORTS) <= 19


def test_names_say_what_a_thing_is() -> None:
    parts = {part for path in MODULES for part in path.relative_to(SOURCE).with_suffix("").parts}

    assert not {part for part in parts if BANNED_NAMES.fullmatch(part.strip("_"))}


def test_every_dataclass_is_made_the_fast_way() -> None:
    """`from twofold.domain.dataclass import dataclass`: the standard one costs a cold search 40 ms."""
    slow = {
        relative(path)
        for path in MODULES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ImportFrom) and node.module == "dataclasses"
        if any(name.name == "dataclass" for name in node.names)
    }

    assert slow == {"domain/dataclass.py"}


def python_files() -> list[Path]:
    return [
        path for folder in ("src", "tests", "benchmarks", "examples", "docs") for path in (ROOT / folder).rglob("*.py")
    ]


def test_nothing_is_unpickled_evaluated_or_mocked() -> None:
    found = set()
    for path in python_files():
        tree = tree_of(path)
        calls = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        banned = BANNED_IMPORTS.intersection(imports_of(tree)) | (calls & BANNED_CALLS)
        found |= {(path.relative_to(ROOT).as_posix(), name) for name in banned}

    assert not found


def test_openvino_is_imported_in_one_place_where_its_telemetry_is_blocked() -> None:
    places = {
        path.relative_to(ROOT).as_posix()
        for path in python_files()
        if {"openvino"} & {name.partition(".")[0] for name in imports_of(tree_of(path))}
    }

    assert places == {"src/twofold/models/embedders/openvino_library.py"}


def test_every_folder_of_code_is_a_package() -> None:
    folders = {path.parent for path in MODULES}

    assert not {relative(folder) for folder in folders if not (folder / "__init__.py").exists()}


def test_every_module_says_what_it_is() -> None:
    assert not [relative(path) for path in MODULES if not ast.get_docstring(tree_of(path))]


def tracked_files() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("not a checkout: there is no list of tracked files")
    return [path for name in listed.stdout.split(b"\0") if name and (path := ROOT / name.decode()).is_file()]


def test_no_path_of_a_machine_is_written_down() -> None:
    found = {path.relative_to(ROOT).as_posix() for path in tracked_files() if MACHINE_PATHS.search(path.read_bytes())}

    assert not found


def test_every_public_module_imports_in_a_bare_interpreter() -> None:
    parts = (path.relative_to(SOURCE.parent).with_suffix("").parts for path in MODULES)
    named = {".".join(part for part in one if part != "__init__") for one in parts}
    names = {one for one in named if not one.startswith("twofold.adapters.")}  # those need the frameworks
    program = f"import importlib\nfor name in {sorted(names)!r}: importlib.import_module(name)"

    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr


def test_the_search_path_imports_nothing_heavy() -> None:
    heavy = ("torch", "openvino", "onnxruntime", "scipy", "pydantic", "rich", "pypdfium2", "docx", "pptx", "fastapi")
    program = "import sys; from twofold.cli.app import application; application('search'); print(*sys.modules)"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert not set(heavy) & set(done.stdout.split())
