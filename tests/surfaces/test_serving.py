"""`token` and `serve` on the command line."""

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]


def test_a_token_is_shown_once_and_listed_without_its_secret(run: Run) -> None:
    made = run("token", "create", "--name", "laptop", "--scope", "read:notes", "--scope", "write", "--json").data
    listed = run("token", "list")

    assert made["token"].startswith(f"tf_{made['id']}_")
    assert made["scopes"] == "read:notes write:*"
    assert "laptop" in listed.out
    assert made["token"].rpartition("_")[2] not in listed.out


def test_a_token_is_revoked_once(run: Run) -> None:
    made = run("token", "create", "--name", "laptop", "--scope", "admin", "--json").data

    assert run("token", "revoke", made["id"]).code == 0
    assert "revoked" in run("token", "list").out
    assert run("token", "revoke", made["id"]).code == 3


@pytest.mark.parametrize(
    "words",
    [
        ("token", "create", "--name", "a", "--scope", "own"),
        ("token", "create", "--name", "a\nb", "--scope", "read"),
        ("token", "create", "--name", "", "--scope", "read"),
        ("token", "create", "--name", "a", "--scope", "read:../b"),
        ("serve", "--host", "0.0.0.0", "--port", "0"),  # noqa: S104  # what is refused
        ("serve", "--root", "nowhere", "--port", "0"),
        ("serve", "--host", "no such host", "--port", "0"),
    ],
)
def test_what_cannot_be_is_refused_with_a_remedy(run: Run, words: tuple[str, ...]) -> None:
    refused = run(*words)

    assert refused.code == 2
    assert refused.err.startswith("twofold: ")
    assert refused.out == ""
