"""Item 20: models compute on the processor or a GPU as `device` says; a GPU that is not there is an error."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from twofold import Index
from twofold.domain.errors import InvalidInputError, ModelError
from twofold.models.embedders.openvino_library import openvino_library


@pytest.fixture
def no_gpu() -> None:
    """This machine has no GPU that OpenVINO or ONNX Runtime could use."""
    import onnxruntime

    if "GPU" in str(openvino_library().Core().available_devices):
        pytest.skip("OpenVINO has a GPU here")
    if "CUDAExecutionProvider" in onnxruntime.get_available_providers():
        pytest.skip("ONNX Runtime has a GPU here")


@pytest.mark.model
@pytest.mark.parametrize("device", ["auto", "cpu"])
def test_the_processor_is_there(device: str) -> None:
    with Index(":memory:", overrides={"device": device}) as index:
        index.add("The Eiffel tower stands in Paris.", source="a.txt")
        result = index.search("Where is the Eiffel tower?")

    assert (result.mode, result.warnings) == ("hybrid", ())


@pytest.mark.model
@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize(
    ("embedder", "runtime"), [("bge-small-en-v1.5", "OpenVINO"), ("onnxruntime:bge-small-en-v1.5", "ONNX Runtime")]
)
def test_a_gpu_that_is_not_there_is_an_error_with_a_remedy(embedder: str, runtime: str) -> None:
    overrides = {"device": "gpu", "embedder": embedder}
    says = f"{runtime} has no GPU here; it has .*CPU"
    with Index(":memory:", overrides=overrides) as index, pytest.raises(ModelError, match=says) as refused:
        index.add("The Eiffel tower stands in Paris.", source="a.txt")

    assert "Set `device` to cpu" in refused.value.hint


@pytest.mark.model
@pytest.mark.usefixtures("no_gpu")
def test_a_search_without_the_gpu_it_wants_goes_on_with_words_and_says_so(tmp_path: Path) -> None:
    with Index(tmp_path / "n") as index:
        index.add("The Eiffel tower stands in Paris.", source="a.txt")
    with Index(tmp_path / "n", overrides={"device": "gpu"}) as index:
        result = index.search("the Eiffel tower")

    assert result.mode == "bm25"
    assert "has no GPU here" in str(result.warnings[0])


def test_another_device_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="device"):
        Index(":memory:", overrides={"device": "tpu", "embedder": "hashing"})


def doctor(**surroundings: str) -> dict[str, dict[str, str]]:
    """Run `twofold doctor --json` and return its checks by what they looked at."""
    command = [sys.executable, "-m", "twofold", "doctor", "--json"]
    done = subprocess.run(command, env={**os.environ, **surroundings}, capture_output=True, text=True, check=False)
    return {check["what"]: check for check in json.loads(done.stdout)}


@pytest.mark.model
def test_doctor_shows_the_device_the_memory_and_that_telemetry_is_blocked() -> None:
    checks = doctor()

    assert checks["device"]["state"] == "ok"
    assert checks["device"]["says"].startswith("auto: CPU, ")
    assert (checks["telemetry"]["state"], checks["telemetry"]["says"]) == ("ok", "openvino_telemetry is blocked")
    assert "warned of above 8,192 MB" in checks["memory"]["says"]


@pytest.mark.model
@pytest.mark.usefixtures("no_gpu")
def test_doctor_fails_where_the_gpu_is_not_there() -> None:
    check = doctor(TWOFOLD_DEVICE="gpu")["device"]

    assert check["state"] == "fail"
    assert "not found" in check["says"]


def test_telemetry_cannot_be_imported_once_openvino_was() -> None:
    assert importlib.util.find_spec("openvino") is not None
    program = (
        "import twofold.models.embedders.openvino_library as library; library.openvino_library();"
        "import importlib; importlib.import_module('openvino_telemetry')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert "ModuleNotFoundError" in done.stderr
