"""What static int8 finds, against bfloat16, on the seven judged collections.

    python benchmarks/static_int8.py --memory DIR                  all collections, `DIR` keeps the vectors of both
    python benchmarks/static_int8.py --memory DIR scifact cacm     only these
    python benchmarks/static_int8.py --rates                       passages a second of both, and by threads

The inputs of the multiplications by weights are measured once, in float32, over the first documents of every
collection, and cut at the 99.99th percentile; weights have one scale a row. nDCG@10 is that of the product's own
search, by vectors alone and by the default hybrid.
"""

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from material import MODEL, SHARED
from quality import COLLECTIONS, NDCG, WAYS, engine_runs
from remembered import MEMORY, CachingEmbedder, remembering

from twofold.config.load import models_folder
from twofold.config.schema import ChunkSettings
from twofold.evaluation.dataset import load
from twofold.models.catalog.files import folder_of
from twofold.models.catalog.identities import embedder_entry
from twofold.models.embedders.compiled import Compiled
from twofold.models.embedders.openvino import Session
from twofold.models.embedders.openvino_library import openvino_library
from twofold.models.embedders.transformer import TransformerEmbedder

openvino = openvino_library()
opset13 = openvino.opset13
CALIBRATED_ON = 24  # documents of each collection
CUT = 0.9999
STEPS = 256
COMPARED = ("vector", "hybrid")
BATCHES = 6  # of sixteen texts, a round


def main() -> None:
    """Compare, collection by collection."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", nargs="*", default=list(COLLECTIONS), metavar="COLLECTION")
    parser.add_argument("--memory", type=Path, default=MEMORY, help="keep vectors in this folder")
    parser.add_argument("--rates", action="store_true", help="measure speed instead")
    options = parser.parse_args()
    if options.rates:
        rates()
        return
    with remembering(MODEL, options.memory) as plain, quantized(options.memory) as short:
        ways = {name: WAYS[name] for name in COMPARED}
        for name in options.collections:
            judged, made_with = load(SHARED / "data" / name), (COLLECTIONS[name], ChunkSettings().size)
            found = {
                kind: {
                    run.way: np.mean(run.values(NDCG))
                    for run in engine_runs(judged, made_with, embedder, ways)
                    if run.way in ways
                }
                for kind, embedder in (("bfloat16", plain), ("int8", short))
            }
            report = {
                way: [round(float(found[kind][way]), 4) for kind in found]
                + [round(float(found["int8"][way] - found["bfloat16"][way]), 4)]
                for way in COMPARED
            }
            print(json.dumps({"collection": name, **report}), flush=True)


@contextmanager
def quantized(memory: Path) -> Iterator[CachingEmbedder]:
    """Open the embedder in static int8; its identity names the form, so that vectors are kept apart."""
    entry = embedder_entry(MODEL)
    identity = replace(entry.identity, revision=f"{entry.identity.revision} static int8")
    folder = folder_of(entry, models_folder())
    embedder = TransformerEmbedder(entry, identity, folder, lambda _, where: Session(compiled(where), MODEL))
    try:
        yield CachingEmbedder(embedder, memory)
    finally:
        embedder.close()


def compiled(folder: Path, threads: int = 0) -> Compiled:
    """Compile the model with every multiplication by weights in eight bits."""
    model = quantize(openvino.Core().read_model(folder / "model.xml"), ranges(folder))
    return Compiled(openvino.Core().compile_model(model, "CPU", options(threads)))


def options(threads: int) -> dict[str, object]:
    """Give what the product compiles with, and a number of threads if there is one."""
    return {"ENABLE_CPU_PINNING": False, **({"INFERENCE_NUM_THREADS": threads} if threads else {})}


def products(model: Any) -> Sequence[Any]:  # noqa: ANN401 - the library ships no types
    """Find the multiplications by weights, in order."""

    def constant(node: Any) -> Any:  # noqa: ANN401
        while node.get_type_name() in {"Convert", "Reshape", "Transpose"}:
            node = node.input_value(0).get_node()
        return node

    made = (node for node in model.get_ordered_ops() if node.get_type_name() == "MatMul")
    return [node for node in made if constant(node.input_value(1).get_node()).get_type_name() == "Constant"]


def ranges(folder: Path) -> Sequence[tuple[float, float]]:
    """Measure the least and largest input of each multiplication, in float32, cut at the percentile."""
    texts = [
        f"{one.title}\n{one.text}"[:1200]
        for name in COLLECTIONS
        for one in islice(load(SHARED / "data" / name).documents, CALIBRATED_ON)
    ]
    model = openvino.Core().read_model(folder / "model.xml")
    inputs = [opset13.result(node.input_value(0)) for node in products(model)]
    watched = openvino.Model(inputs, model.get_parameters(), "watched")
    run = openvino.Core().compile_model(watched, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    least, most = np.zeros(len(inputs)), np.zeros(len(inputs))

    class Watching:
        """Runs the model for its inputs; what it gives back is only of the right shape."""

        def __call__(self, numbers: np.ndarray, mask: np.ndarray) -> np.ndarray:
            given = {"input_ids": numbers, "attention_mask": mask, "token_type_ids": np.zeros_like(numbers)}
            found = run({one.get_any_name(): given[one.get_any_name()] for one in run.inputs})
            for at, output in enumerate(run.outputs):
                values = found[output]
                edge = np.quantile(np.abs(values), CUT)
                least[at] = min(least[at], max(float(values.min()), -edge))
                most[at] = max(most[at], min(float(values.max()), edge))
            return np.ones((*numbers.shape, 384), np.float32)

    entry = embedder_entry(MODEL)
    TransformerEmbedder(entry, entry.identity, folder, lambda _, __: Watching()).embed_passages(texts)
    return list(zip(least.tolist(), most.tolist(), strict=True))


def quantize(model: Any, limits: Sequence[tuple[float, float]]) -> Any:  # noqa: ANN401
    """Put the steps of eight bits before each multiplication by weights; OpenVINO makes integer products of them."""
    for node, (least, most) in zip(products(model), limits, strict=True):
        weights = node.input_value(1).get_node()
        while weights.get_type_name() != "Constant":
            weights = weights.input_value(0).get_node()
        values = weights.data.astype(np.float32)
        over = 1 if node.get_attributes()["transpose_b"] else 0
        scale = np.abs(values).max(axis=over, keepdims=True) + np.float32(1e-9)
        node.input(1).replace_source_output(stepped(opset13.constant(values), -scale, scale, STEPS - 1))
        low, high = (np.array(edge, np.float32) for edge in (least, most))
        node.input(0).replace_source_output(stepped(node.input_value(0), low, high, STEPS))
    model.validate_nodes_and_infer_types()
    return model


def stepped(value: Any, low: np.ndarray, high: np.ndarray, steps: int) -> Any:  # noqa: ANN401
    """Round a value to steps between two edges."""
    edges = [opset13.constant(edge) for edge in (low, high, low, high)]
    return opset13.fake_quantize(value, *edges, steps).output(0)


def rates() -> None:
    """Time both forms and numbers of threads, rounds alternating: passages a second, and ms of processor time."""
    entry = embedder_entry(MODEL)
    folder = folder_of(entry, models_folder())
    texts = [one.text[:1200] for one in load(SHARED / "data" / "cranfield").documents[: 16 * BATCHES]]
    limits = ranges(folder)
    core = openvino.Core()
    forms = {}
    for threads in (1, 2):
        plain = core.read_model(folder / "model.xml")
        forms[f"bfloat16, {threads}"] = Compiled(core.compile_model(plain, "CPU", options(threads)))
        short = quantize(core.read_model(folder / "model.xml"), limits)
        forms[f"int8, {threads}"] = Compiled(core.compile_model(short, "CPU", options(threads)))
    held = {
        name: TransformerEmbedder(entry, entry.identity, folder, lambda _, __, one=one: Session(one, MODEL))
        for name, one in forms.items()
    }
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in held}
    for _ in range(4):
        for name, embedder in held.items():
            clock, busy = time.perf_counter(), time.process_time()
            embedder.embed_passages(texts)
            spent[name].append((time.perf_counter() - clock, time.process_time() - busy))
    for name, times in spent.items():
        clock, busy = np.median(times[1:], axis=0)
        print(f"{name}: {len(texts) / clock:.0f} passages a second, {busy / len(texts) * 1e3:.1f} ms of processor time")


if __name__ == "__main__":
    main()
