"""The documentation site: it builds without a warning, loads nothing from another host, and is searched by twofold."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import expect

from support.browser import browsing, opened

LOADED = re.compile(r"<(?:script|img|iframe|source)[^>]*\ssrc=[\"']?((?:https?:)?//[^\s\"'>]+)", re.IGNORECASE)
RUNNING = re.compile(r"running on (http://127\.0\.0\.1:\d+)")
STYLED = re.compile(r"<link[^>]*\shref=[\"']?((?:https?:)?//[^\s\"'>]+)", re.IGNORECASE)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site from a copy of what it is made from."""
    root, made = Path(__file__).parents[1], tmp_path_factory.mktemp("site")
    shutil.copy(root / "zensical.toml", made)
    shutil.copytree(root / "docs", made / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    command = [str(Path(sys.executable).with_name("zensical")), "build", "--strict"]
    done = subprocess.run(command, cwd=made, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    return made / "build" / "site"


def test_every_page_is_there_and_found_by_its_words(site: Path) -> None:
    pages = {path.stem for path in (Path(__file__).parents[1] / "docs").glob("*.md")} - {"index"}
    found = json.dumps(json.loads((site / "search.json").read_text()))

    assert {name for name in pages if not (site / name / "index.html").is_file()} == set()
    assert (site / "index.html").is_file()
    assert "reciprocal rank fusion" in found.lower()


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    loaded = {
        (page.relative_to(site).as_posix(), address)
        for page in site.rglob("*.html")
        for pattern in (LOADED, STYLED)
        for address in pattern.findall(page.read_text())
    }

    assert loaded == set()


@contextmanager
def previewed(site: Path) -> Iterator[str]:
    """Run what `make preview` runs, on any free port."""
    command = [sys.executable, str(Path(__file__).parents[1] / "docs" / "preview.py"), str(site), "0"]
    environment = {**os.environ, "TWOFOLD_EMBEDDER": "hashing"}
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, env=environment, stdout=quiet, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield next(found[1] for line in process.stderr or () if (found := RUNNING.search(line)))
        finally:
            process.terminate()


def test_the_search_of_the_site_leads_to_the_heading_that_was_found(site: Path) -> None:
    with previewed(site) as address, browsing() as browser, opened(browser, address, "/quickstart/") as page:
        expect(page.locator("[data-search=twofold]")).to_be_visible()
        page.keyboard.press("/")
        asked = {}
        for query in ("adaptive fusion weight", "power cut", "citation page image", "nobody may read", "stemming"):
            with page.expect_response("**/_search"):
                page.get_by_label("Search the documentation").fill(query)
            expect(page.locator(".twofold-hit").first).to_be_visible()
            asked[query] = [str(link.get_attribute("href")) for link in page.locator(".twofold-hit").all()]
        page.keyboard.press("Enter")
        expect(page).not_to_have_url(re.compile("quickstart/$"))

        for link in {link.removeprefix(address + "/") for links in asked.values() for link in links}:
            name, _, anchor = link.partition("#")
            text = (site / name / "index.html").read_text()
            assert not anchor or f'id="{anchor}"' in text, link
        assert all(asked.values())
        assert any(
            "adaptive" in link or "fusion" in link or "search/" in link for link in asked["adaptive fusion weight"]
        )


def test_a_site_without_a_server_keeps_the_search_that_is_built_in(site: Path) -> None:
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(site))) as server,
        browsing() as browser,
    ):
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        with opened(browser, f"http://127.0.0.1:{server.server_port}", "/quickstart/") as page:
            with page.expect_response("**/_search"):
                page.reload()
            page.locator("[data-md-component=search] button").first.click()
            expect(page.get_by_placeholder("Search").first).to_be_visible()
            assert page.locator("[data-search=twofold]").count() == 0
        server.shutdown()
