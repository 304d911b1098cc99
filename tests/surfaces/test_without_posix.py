"""What runs on Windows: the real commands, in a Python that lacks every module and function that Windows lacks."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from support import without_posix

FRAMEWORKS = frozenset({"haystack", "langchain_core", "llama_index", "ray", "sentence_transformers", "xllamacpp"})
IMPORT_ALL = """
import importlib, json, pkgutil, sys, twofold
failed = {}
for module in pkgutil.walk_packages(twofold.__path__, "twofold."):
    if module.name.endswith("__main__"):
        continue
    try:
        importlib.import_module(module.name)
    except Exception as error:
        failed[module.name] = [type(error).__name__, str(getattr(error, "name", "")), str(error)]
print(json.dumps(failed))
"""
LACKING = """
import importlib, json, os, select, signal
def missing(name):
    try:
        importlib.import_module(name)
    except ImportError:
        return True
there = [name for name in ("fcntl", "resource", "termios") if not missing(name)]
there += [name for name in ("O_NOFOLLOW", "fork", "getuid", "pwrite", "sysconf") if hasattr(os, name)]
print(json.dumps(there + [name for name in ("SIGKILL", "SIGHUP") if hasattr(signal, name)] + dir(select)[:0]))
"""


class Windows:
    """A Python without what Windows lacks: an environment whose first import takes it away, also from its children."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        environment = folder / "environment"
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        packages = environment / "lib" / version / "site-packages"
        packages.mkdir(parents=True)
        (environment / "bin").mkdir()
        self.python = environment / "bin" / "python"
        base = Path(sys._base_executable)  # type: ignore[attr-defined]
        self.python.symlink_to(base)
        (environment / "pyvenv.cfg").write_text(f"home = {base.parent}\n")
        shutil.copy(str(without_posix.__file__), packages / "without_posix.py")
        paths = [path for path in sys.path if path and Path(path).is_dir()]
        (packages / "without_posix.pth").write_text(
            "\n".join([*paths, "import without_posix; without_posix.take_away()"]) + "\n"
        )

    @property
    def surroundings(self) -> Mapping[str, str]:
        return {
            "TWOFOLD_HOME": str(self.folder / "home"),
            "TWOFOLD_EMBEDDER": "hashing",
            "HOME": str(self.folder),
            "PATH": "/usr/bin:/bin",
        }

    def run(self, *words: str, given: str | None = None, preloaded: str = "") -> str:
        """Run Python with some arguments and return what it writes; it must end well."""
        done = subprocess.run(
            [str(self.python), *words],
            capture_output=True,
            check=False,
            cwd=self.folder,
            env={**self.surroundings, "PRELOADED": preloaded},
            input=given,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def twofold(self, *words: str, given: str | None = None) -> str:
        return self.run("-m", "twofold", *words, given=given)


@pytest.fixture(scope="module")
def windows(tmp_path_factory: pytest.TempPathFactory) -> Windows:
    made = Windows(tmp_path_factory.mktemp("windows"))
    notes = made.folder / "notes"
    notes.mkdir()
    (notes / "tower.md").write_text("# Tower\n\nThe Eiffel tower stands in Paris.\n")
    (notes / "cat.txt").write_text("The cat sat on the mat.\n")
    (notes / ".twofoldignore").write_text("*.tmp\n")
    (notes / "left.tmp").write_text("left out\n")
    made.twofold("sync", "notes", "-i", "notes")
    return made


def test_nothing_of_posix_is_there(windows: Windows) -> None:
    assert json.loads(windows.run("-c", LACKING)) == []


def test_every_module_imports(windows: Windows) -> None:
    failed = json.loads(windows.run("-c", IMPORT_ALL, preloaded="mcp.server.stdio psycopg.waiting"))

    assert {module: said for module, said in failed.items() if said[1].partition(".")[0] not in FRAMEWORKS} == {}


def test_a_folder_is_synced_searched_and_asked(windows: Windows) -> None:
    (windows.folder / "notes" / "bee.txt").write_text("The bee makes honey.\n")
    synced = windows.twofold("sync", "notes", "-i", "notes", "--json")
    found = json.loads(windows.twofold("search", "honey", "-i", "notes", "--json"))
    answer = json.loads(windows.twofold("ask", "-i", "notes", "Where does the Eiffel tower stand?", "--json"))

    assert json.loads(synced)["added"] == [str(windows.folder / "notes" / "bee.txt")]
    assert found["hits"][0]["source"].endswith("/notes/bee.txt")
    assert "Paris" in answer["text"]


def test_documents_are_added_shown_and_removed(windows: Windows) -> None:
    windows.twofold("add", "-", "--source", "dog.txt", "-i", "added", given="The dog barks at the moon.\n")
    windows.twofold("add", str(windows.folder / "notes" / "cat.txt"), "-i", "added")

    assert "barks" in windows.twofold("show", "dog.txt", "-i", "added")
    windows.twofold("rm", "dog.txt", "-i", "added")
    assert "dog.txt" not in windows.twofold("ls", "-i", "added")


def test_an_index_is_verified_compacted_and_dropped(windows: Windows) -> None:
    windows.twofold("add", "-", "--source", "a.txt", "-i", "short", given="An apple a day.\n")
    verified = windows.twofold("index", "verify", "short")
    windows.twofold("index", "compact", "short")
    windows.twofold("index", "drop", "short", "--yes")

    assert "Every checksum is right" in verified
    assert not (windows.folder / "home" / "indexes" / "short").exists()


def test_questions_are_logged_judged_and_evaluated(windows: Windows) -> None:
    windows.twofold("--set", "log=queries:true", "search", "tower", "-i", "notes")
    logged = windows.twofold("log", "-i", "notes")
    (windows.folder / "questions.txt").write_text("eiffel tower\n")
    judge = ("judge", "-i", "notes", "--queries", "questions.txt", "--out", "qrels.jsonl")
    windows.twofold(*judge, given="3\n0\n0\n0\n")
    report = json.loads(windows.twofold("eval", "--qrels", "qrels.jsonl", "-i", "notes", "-m", "bm25", "--json"))

    assert "tower" in logged
    assert report["queries"] == 1


def test_the_doctor_says_that_readers_are_not_limited(windows: Windows) -> None:
    checks = {one["what"]: one for one in json.loads(windows.twofold("doctor", "--json"))}

    assert (checks["readers"]["state"], checks["readers"]["says"]) == (
        "warn",
        "limited: nothing; not limited here: memory, processor time, files",
    )


def test_an_index_is_served(windows: Windows) -> None:
    token = json.loads(windows.twofold("token", "create", "--name", "w", "--scope", "read", "--json"))["token"]
    command = [str(windows.python), "-m", "twofold", "serve", "--port", "0"]
    with subprocess.Popen(
        command, cwd=windows.folder, env=windows.surroundings, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        try:
            said = next(line for line in server.stdout if "http://" in line)
            address = re.search(r"http://127\.0\.0\.1:\d+", said)
            assert address is not None
            request = Request(  # noqa: S310  # our own server
                f"{address[0]}/v1/indexes/notes/search",
                json.dumps({"query": "mat"}).encode(),
                {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
            )
            with urlopen(request, timeout=120) as answer:  # noqa: S310  # our own server
                found = json.load(answer)
        finally:
            server.terminate()
            server.communicate(timeout=120)

    assert found["hits"][0]["source"].endswith("cat.txt")
    assert server.returncode == 0
