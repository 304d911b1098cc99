"""Compile a converted model with OpenVINO, and keep the compiled form so that a cold process need not.

The compiled form lies next to the model. Its file name says what it is for (the library's version, the processor, the
weights) and ends in its own checksum; one that does not fit or is damaged is passed over, and made again from the
converted model, which is checked as well. So the worst that an unusable one costs is time.
"""

import logging
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xxhash

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ModelError
from twofold.models.devices import Device, no_gpu
from twofold.models.embedders.converted import CONVERTED, Record, checksum, damage, read_record
from twofold.models.embedders.openvino_library import openvino_library
from twofold.system.files import replace_durably

CPU = "CPU"
UNTIED = {"ENABLE_CPU_PINNING": False}  # a thread that is tied to a busy core keeps the others waiting
LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Compiled:
    """A model that is ready to run, and the memory that it reads its weights from: keep both as long as it runs.

    OpenVINO does not hold on to memory it was handed; a model that outlives it reads freed pages.
    """

    model: Any  # openvino.CompiledModel; the library ships no types
    memory: object = None


def compiled_model(folder: Path, hint: str, device: Device = Device.AUTO) -> Compiled:
    """Return the model in `folder`, ready to run with the precision that the hardware is good at.

    Raises ModelError when the converted model is missing or damaged, or OpenVINO cannot run it on that device.
    """
    openvino = openvino_library()
    record = read_record(folder / CONVERTED)
    if record is None:
        raise ModelError(f"There is no converted model in {folder}.", hint)
    target = _target(openvino.Core(), device)
    stem = f"compiled-{openvino.__version__.split('-')[0]}-{_purpose(target, openvino.get_version(), record)}"
    try:
        return _mapped_model(target, folder, stem) or _compiled(target, folder, stem, record, hint)
    except RuntimeError as error:
        raise ModelError(f"OpenVINO cannot run the model in {folder}.", hint) from error


@dataclass(frozen=True, slots=True)
class _Target:
    """A device that OpenVINO has, and how models are compiled for it."""

    core: Any  # openvino.Core; the library ships no types
    name: str
    options: Mapping[str, object]

    def property(self, name: str) -> Any:  # noqa: ANN401 - whatever the property is
        """Ask for a property of the device."""
        return self.core.get_property(self.name, name)


def _target(core: Any, device: Device) -> _Target:  # noqa: ANN401 - openvino.Core
    """Return the device to compile for. Raises ModelError where a GPU is wanted and OpenVINO sees none."""
    if device is not Device.GPU:
        return _Target(core, CPU, UNTIED)
    there = list(core.available_devices)
    found = next((name for name in there if name.split(".")[0] == "GPU"), None)
    if found is None:
        raise no_gpu(
            "OpenVINO",
            there,
            "Set `device` to cpu. OpenVINO runs on Intel's GPUs; NVIDIA's take `onnxruntime:NAME` and onnxruntime-gpu.",
        )
    return _Target(core, found, {})


def _purpose(target: _Target, version: str, record: Record) -> str:
    """Hash everything that a compiled form depends on."""
    processor = target.property("FULL_DEVICE_NAME")
    abilities = sorted(target.property("OPTIMIZATION_CAPABILITIES"))
    weights = [file.xxh3 for file in record.files]
    parts = [version, processor, *abilities, *weights, repr(target.options)]
    return xxhash.xxh3_64_hexdigest("\n".join(parts).encode())


def _mapped_model(target: _Target, folder: Path, stem: str) -> Compiled | None:
    """Map a compiled form from before; None without one that is complete."""
    openvino = openvino_library()
    for path in folder.glob(f"{stem}-*.blob"):
        try:
            content = np.memmap(path, np.uint8, "c")  # OpenVINO asks for memory that may be written
        except (OSError, ValueError):  # gone since it was listed, or empty
            continue
        if path.stem.removeprefix(f"{stem}-") == xxhash.xxh3_128_hexdigest(content.data):
            tensor = openvino.Tensor(content, shared_memory=True)
            model = target.core.import_model(tensor, target.name, target.options)
            return Compiled(model, content)
        LOG.warning("The compiled model %s is damaged and will be compiled again.", path.name)
    return None


def _compiled(target: _Target, folder: Path, stem: str, record: Record, hint: str) -> Compiled:
    """Compile the converted model, and keep the result if the folder can be written."""
    for name, what in damage(record, folder):
        raise ModelError(f"{folder / name} cannot be used: {what}.", hint)
    model = target.core.compile_model(folder / "model.xml", target.name, target.options)
    try:
        _keep(model.export_model().getvalue(), folder, stem)
    except OSError as error:
        LOG.info("The compiled model was not kept, so the next start is slower: %s", error)
    return Compiled(model)


def _keep(content: bytes, folder: Path, stem: str) -> None:
    with tempfile.TemporaryDirectory(dir=folder, prefix=".compiling-") as partial:
        draft = Path(partial) / "model.blob"
        draft.write_bytes(content)
        kept = replace_durably(draft, folder / f"{stem}-{checksum(draft)}.blob")
    version = stem.rpartition("-")[0]
    for other in folder.glob("compiled-*.blob"):  # those of other processors stay: machines may share the folder
        if other != kept and (other.name.startswith(f"{stem}-") or not other.name.startswith(f"{version}-")):
            other.unlink(missing_ok=True)
