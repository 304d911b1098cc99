"""Checklist 3, 7, 40, 42, 43: files that were synced carry `source_type`, and what is built on it works for them."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter
from typer.testing import CliRunner

from support.documents import Words, docx_sample, pdf_of, pptx_sample
from twofold import Index
from twofold.cli.app import application
from twofold.query.filter_json import filter_from_json

LAKES = (("Lake", "State"), ("Chilika", "Odisha"), ("Wular", "Kashmir"), ("Loktak", "Manipur"))
WIDE = (("Crop", "2019"), ("Rice", "118"), ("Wheat", "107"), ("Maize", "28"))


def sheet(path: Path, rows: tuple[tuple[str, str], ...], name: str) -> None:
    book = xlsxwriter.Workbook(str(path))
    page = book.add_worksheet(name)
    for row, cells in enumerate(rows):
        page.write_row(row, 0, cells)
    book.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file of each kind."""
    made = tmp_path_factory.mktemp("kinds")
    sheet(made / "lakes.xlsx", LAKES, "Wetlands")
    sheet(made / "crops.xlsx", WIDE, "Harvest")
    (made / "report.pdf").write_bytes(pdf_of([[Words(72, 700, "Chilika is a lake in Odisha.")]]))
    (made / "report.docx").write_bytes(docx_sample())
    (made / "slides.pptx").write_bytes(pptx_sample())
    (made / "page.html").write_text("<html><body><p>Lakes of the world, on a page.</p></body></html>")
    (made / "notes.md").write_text("# Lakes\n\nThe river Bhargavi flows into Chilika, a lagoon of Odisha.\n")
    (made / "wiki.md").write_text("---\nsource_type: azure_devops\n---\n# Lakes\n\nLakes by the Azure team.\n")
    (made / "plain.txt").write_text("Lakes in plain words.\n")
    (made / "table.csv").write_text("lake,state\nChilika,Odisha\n")
    (made / "load.py").write_text("def lakes():\n    return []\n")
    (made / "data.json").write_text('[{"text": "Lakes as data."}]')
    (made / "mail.eml").write_text("From: a@x.example\nTo: b@x.example\nSubject: Lakes\n\nLakes by mail.\n")
    return made


@pytest.fixture(scope="module")
def index(folder: Path) -> Iterator[Index]:
    with Index(":memory:", overrides={"embedder": "hashing", "analyzer": "simple"}) as made:
        assert made.sync(folder).failed == ()
        yield made


def found(index: Index, filters: dict[str, Any], query: str = "lakes lake Chilika report") -> set[str]:
    return {Path(hit.source).name for hit in index.search(query, k=50, filter=filter_from_json(filters)).hits}


def test_item_03_every_reader_says_what_kind_of_file_it_read_and_where_from(index: Index) -> None:
    types = {Path(one.source).name: one.metadata["source_type"] for one in index.documents()}

    assert types == {
        "lakes.xlsx": ("excel", "local_file"),
        "crops.xlsx": ("excel", "local_file"),
        "report.pdf": ("pdf", "local_file"),
        "report.docx": ("word", "local_file"),
        "slides.pptx": ("presentation", "local_file"),
        "page.html": ("html", "local_file"),
        "notes.md": ("markdown", "local_file"),
        "wiki.md": "azure_devops",
        "plain.txt": ("text", "local_file"),
        "table.csv": ("csv", "local_file"),
        "load.py": ("code", "local_file"),
        "data.json": ("json", "local_file"),
        "mail.eml": ("email", "local_file"),
    }


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"source_type": ["excel"]}, {"lakes.xlsx", "crops.xlsx"}),
        ({"source_type": ["pdf"]}, {"report.pdf"}),
        ({"source_type_in": ["markdown", "excel"]}, {"lakes.xlsx", "crops.xlsx", "notes.md"}),
        ({"source_type": ["azure_devops"]}, {"wiki.md"}),
        ({"source_type": ["local_file"], "file_type": [".md"]}, {"notes.md"}),
    ],
)
def test_item_43_the_request_filters_find_synced_files(
    index: Index, filters: dict[str, Any], expected: set[str]
) -> None:
    assert found(index, filters) == expected


def test_item_07_tables_of_two_columns_are_tables_and_the_subject_is_told(index: Index) -> None:
    (lakes,), (crops,), (notes,) = (index.chunks(name) for name in ("lakes.xlsx", "crops.xlsx", "notes.md"))

    assert lakes.metadata["semantic_type_primary"] == ("table", "water_bodies")
    assert crops.metadata["semantic_type_primary"] == "table"
    assert notes.metadata["semantic_type_primary"] == ("narrative", "water_bodies")
    assert found(index, {"semantic_type_primary_in": ["water_bodies"]}) == {"lakes.xlsx", "table.csv", "notes.md"}


def test_item_42_a_short_sheet_about_water_gains_fifteen_hundredths(index: Index) -> None:
    settings = {"rerank.model": "none", "query": {"intent_filter": False}}
    result = index.search("Chilika", profile="aanae", settings=settings, k=50)
    steps = {
        Path(hit.source).name: {one.stage: one.after - one.before for one in hit.trace.steps} for hit in result.hits
    }
    assert steps["lakes.xlsx"].keys() == {"boost_fused"}
    assert steps["lakes.xlsx"]["boost_fused"] == pytest.approx(0.15)
    assert steps["notes.md"] == {}
    assert steps["crops.xlsx"] == {}


def test_item_40_a_question_about_government_data_looks_at_sheets_alone(index: Index) -> None:
    settings = {"rerank.model": "none"}
    result = index.search("government data on the lake Chilika", profile="aanae", settings=settings, k=10)

    assert {Path(hit.source).suffix for hit in result.hits} == {".xlsx"}


Run = Callable[..., Any]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command and give what it printed as data."""
    monkeypatch.setenv("TWOFOLD_EMBEDDER", "hashing")

    def invoke(*words: object) -> Any:  # noqa: ANN401
        done = CliRunner().invoke(application(), [str(word) for word in words], prog_name="twofold")
        assert done.exit_code == 0, done.stderr
        return json.loads(done.stdout)

    return invoke


def test_item_43_fields_given_to_a_sync_are_filtered_by_and_stay(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "wiki"
    folder.mkdir()
    (folder / "one.md").write_text("# One\n\nLakes of the north.\n")

    first = run("sync", folder, "-i", "w", "--meta", "repository=dbt", "--meta", "source_type=azure_devops", "--json")
    request = '{"source_type": ["azure_devops"], "repository": "dbt"}'
    hits = run("search", "-i", "w", "lakes", "-f", request, "--json")["hits"]
    (folder / "one.md").rename(folder / "moved.md")
    (folder / "two.md").write_text("# Two\n\nLakes of the south.\n")
    run("sync", folder, "-i", "w", "--json")
    (folder / "moved.md").write_text("# One\n\nLakes of the far north.\n")
    run("sync", folder, "-i", "w", "--json")
    kept = {
        Path(one["source"]).name: one["metadata"].get("repository")
        for one in run(
            "ls",
            "-i",
            "w",
            "--json",
        )
    }

    assert len(first["added"]) == 1
    assert [Path(hit["source"]).name for hit in hits] == ["one.md"]
    assert kept == {"moved.md": "dbt", "two.md": None}


def test_item_43_a_field_given_later_reaches_unchanged_files_and_an_empty_one_goes(run: Run, tmp_path: Path) -> None:
    (tmp_path / "one.md").write_text("# One\n\nLakes of the north.\n")
    run("sync", tmp_path / "one.md", "-i", "w", "--json")

    given = run("sync", tmp_path / "one.md", "-i", "w", "--meta", "repository=dbt", "--json")
    again = run("sync", tmp_path / "one.md", "-i", "w", "--meta", "repository=dbt", "--json")
    taken = run("sync", tmp_path / "one.md", "-i", "w", "--meta", "repository=", "--json")

    assert (len(given["updated"]), given["embedded"]) == (1, 0)
    assert (len(again["updated"]), again["unchanged"]) == (0, 1)
    assert len(taken["updated"]) == 1
    assert "repository" not in run("ls", "-i", "w", "--json")[0]["metadata"]
