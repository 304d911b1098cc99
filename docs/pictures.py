"""Takes the README's pictures from the running product: a search with its explanation, and the page with an answer.

python docs/pictures.py      needs the default model, playwright, and Chromium (TWOFOLD_BROWSER, or on the path)
"""

import io
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.text import Text

HERE = Path(__file__).resolve().parent
PICTURES = HERE / "pictures"
PAGES = ("concepts.md", "storage.md", "reliability.md", "answers.md", "search.md", "security.md")
QUERY = "what happens when a sync is killed"
QUESTION = "What happens when a sync is killed?"
WIDTH = 100
TWOFOLD = str(Path(sys.executable).with_name("twofold"))


def main() -> None:
    """Index some pages of the documentation, and take both pictures."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="twofold-pictures-") as folder:
        home = Path(folder)
        os.environ |= {"TWOFOLD_HOME": folder, "TERM": "xterm-256color", "COLUMNS": str(WIDTH), "LINES": "50"}
        docs = home / "docs"
        docs.mkdir()
        for name in PAGES:
            shutil.copy(HERE / name, docs / name)
        subprocess.run([TWOFOLD, "sync", docs, "--index", "docs"], check=True, cwd=folder, capture_output=True)
        command = ["search", QUERY, "--index", "docs", "-k", "1", "--explain"]
        drawn(on_terminal([TWOFOLD, *command], home), f'twofold search "{QUERY}" --explain', PICTURES / "explain.svg")
        with served(home) as address:
            photographed(address, PICTURES / "page.png")


def on_terminal(command: list[str], folder: Path) -> str:
    """Give what a command writes to a terminal, colors included."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL, cwd=folder)
    os.close(theirs)
    pieces = []
    while piece := _read(ours):
        pieces.append(piece)
    if process.wait():
        raise SystemExit(f"{command} ended with {process.returncode}")
    return b"".join(pieces).decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # nobody writes to it any more
        return b""


def drawn(shown: str, title: str, path: Path) -> None:
    """Write what a terminal shows as a picture."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(shown.rstrip()))
    path.write_text(console.export_svg(title=title), encoding="utf-8")


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve what is there, on a free port of this machine."""
    command = [TWOFOLD, "serve", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder)
    try:
        lines = iter(process.stdout or ())
        yield next(found[0] for line in lines if (found := re.search(r"http://127\.0\.0\.1:\d+[^\s]*", line)))
    finally:
        process.terminate()
        process.wait()


def photographed(address: str, path: Path) -> None:
    """Ask a question on the page, and keep what it looks like when the answer stands."""
    browser_path = os.environ.get("TWOFOLD_BROWSER") or shutil.which("chromium") or shutil.which("google-chrome")
    alone = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=browser_path, args=alone)
        page = browser.new_page(viewport={"width": 1180, "height": 820})
        page.goto(address)
        page.locator("#question").fill(QUESTION)
        page.keyboard.press("Enter")
        page.locator("a.chip").first.click(timeout=60_000)  # opens the place that the answer rests on
        page.wait_for_timeout(1_000)
        page.screenshot(path=path)
        browser.close()


if __name__ == "__main__":
    main()
