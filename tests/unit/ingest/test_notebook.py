"""Notebooks are read as Markdown with places."""

import json

import pytest

from twofold.domain.errors import ReadError
from twofold.ingest.readers.notebook import read_notebook
from twofold.ingest.readers.types import Extract, Source


def read(notebook: object) -> Extract:
    return read_notebook(Source("a.ipynb", json.dumps(notebook).encode()))


def test_cells_lie_under_the_headings_of_text_cells_and_know_their_place() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Ducks\n", "Intro"]},
        {
            "cell_type": "code",
            "source": "print('```')",
            "outputs": [{"output_type": "stream", "text": ["\x1b[31mquack\x1b[0m\n"]}],
        },
        {"cell_type": "markdown", "source": ""},
        {"cell_type": "markdown", "source": "## More"},
        {"cell_type": "code", "source": "1/0", "outputs": [{"output_type": "error", "ename": "E", "evalue": "v"}]},
    ]
    extract = read({"cells": cells, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4})

    assert extract.title == "Ducks"
    assert [(extract.text[b.start : b.end], b.heading, b.place) for b in extract.blocks] == [
        ("# Ducks", (), "cell 1"),
        ("Intro", ("Ducks",), "cell 1"),
        ("````python\nprint('```')\n````", ("Ducks",), "cell 2"),
        ("```\nquack\n```", ("Ducks",), "cell 2"),
        ("## More", ("Ducks",), "cell 4"),
        ("```python\n1/0\n```", ("Ducks", "More"), "cell 5"),
        ("```\nE: v\n```", ("Ducks", "More"), "cell 5"),
    ]


def test_old_notebooks_keep_their_cells_in_worksheets() -> None:
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": "x = 1", "outputs": [{"text": "y"}]}]}]}

    assert read(old).text == "```\nx = 1\n```\n\n```\ny\n```"


@pytest.mark.parametrize("held", [[], {}, {"cells": 1}, "x", None, {"worksheets": [1]} | {"worksheets": None}])
def test_what_has_no_cells_is_malformed(held: object) -> None:
    with pytest.raises(ReadError, match="no cells"):
        read(held)


def test_cells_of_odd_shapes_are_passed_over() -> None:
    cells = [
        1,
        None,
        {},
        {"cell_type": "code"},
        {"cell_type": "code", "source": 3, "outputs": {"a": 1}},
        {"source": ["kept", 1]},
    ]

    assert read({"cells": cells, "metadata": 3}).text == "kept"
