"""The files in `deploy/` say what this program understands: its options, settings and health check."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from support.api_client import fill, visiting
from twofold.cli.app import application
from twofold.config.settings import known_settings

DEPLOY = Path(__file__).parents[1] / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
UNIT = (DEPLOY / "twofold.service").read_text()


def commands() -> dict[str, list[str]]:
    """Give what each file runs: a subcommand of `twofold` and its arguments."""
    image = json.loads(next(re.finditer(r"^CMD (\[.*\])", DOCKERFILE, re.MULTILINE)).group(1))
    unit = next(re.finditer(r"^ExecStart=\S+/twofold (.*)", UNIT, re.MULTILINE)).group(1).split()
    return {"Dockerfile": image, "compose.yaml": COMPOSE["services"]["twofold"]["command"], "twofold.service": unit}


@pytest.mark.parametrize("name", ["Dockerfile", "compose.yaml", "twofold.service"])
def test_the_options_that_are_given_are_options_of_serve(name: str) -> None:
    said = commands()[name]
    known = CliRunner().invoke(application(), ["serve", "--help"], env={"COLUMNS": "200"}).stdout

    assert said[0] == "serve"
    assert {word for word in said if word.startswith("--")} <= set(re.findall(r"--[a-z-]+", known))


@pytest.mark.parametrize("text", [DOCKERFILE, UNIT])
def test_the_variables_that_are_set_are_settings(text: str) -> None:
    said = set(re.findall(r"TWOFOLD_[A-Z_]+", text))

    assert said
    assert said <= {one.variable for one in known_settings().values()}


def test_the_health_check_of_the_image_passes_on_a_server_that_is_ready(tmp_path: Path) -> None:
    program = json.loads(next(re.finditer(r"HEALTHCHECK .*?CMD\s+(\[.*\])", DOCKERFILE)).group(1))[2]
    fill(tmp_path)
    with visiting(tmp_path) as visit:
        here = program.replace("http://127.0.0.1:8722", visit.address)
        healthy = subprocess.run([sys.executable, "-c", here], check=False).returncode
    gone = subprocess.run([sys.executable, "-c", here], check=False, stderr=subprocess.DEVNULL).returncode

    assert here != program
    assert (healthy, gone) == (0, 1)


def test_the_container_has_no_more_rights_than_it_needs() -> None:
    service = COMPOSE["services"]["twofold"]

    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert re.search(r"^USER 10001", DOCKERFILE, re.MULTILINE)
    assert "NoNewPrivileges=yes" in UNIT
