"""The analyzer in C touches no memory that is not its own, whatever the text: a build with checks reads odd texts."""

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import twofold

SOURCE = Path(twofold.__file__).parent / "_analyzer.c"
PROGRAM = """
import importlib.util, random, sys

spec = importlib.util.spec_from_file_location("twofold._analyzer", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
import twofold
sys.modules["twofold._analyzer"] = module
from twofold import kernels
from twofold.ingest.enrich.shape import shape_of
from twofold.text.analyzers import analyzer_for
from twofold.text.phrases import squeeze

assert kernels.Runs is module.Runs
drawn = random.Random(7)
pieces = [
    *"aB9.,:;'-_+#/&@<(\\t \\0", "U.S.A.", "C++", "TCP/IP", "--a", "1,000", "370b", "Article 370", "don't", "the",
    "a" * 300, "9" * 140, "A" * 10, "a." * 200, "a-" * 100, "a/" * 60, "_" * 90, "x" * 27, "x" * 28, "Ab" * 13 + "a",
    "\\u2019", "\\u00e9", "\\u6c34", "\\u3000", "\\U0001f389", "\\ud800", "\\u00a0",
]
ids, fresh, kept = {}, [], []
for spec in ("english", "french", "code", "cjk"):
    analyzer = analyzer_for(spec)
    for _ in range(1500):
        text = "".join(drawn.choice(pieces) for _ in range(drawn.randint(0, 9)))
        kept.append(analyzer.counts(text).counts)
        try:
            unknown = kernels.unknown_terms(kept[-1], ids, 5)
            packed = kernels.number_terms(kept[-1], ids, 0, fresh, 5)
            assert len(packed) == 6 * len(kept[-1])
            assert packed == kernels.number_terms(dict(kept[-1]), ids, 0, fresh, 5)
            assert not kernels.unknown_terms(kept[-1], ids, 5)
        except UnicodeEncodeError:
            pass
        list(analyzer.tokens(text))
        squeeze(text)
        shape_of(text)
many = analyzer_for("simple")
for turn in range(2):
    many.counts(" ".join(f"{turn}w{number}" for number in range(70_000)))
common = " ".join(f"c{number}" for number in range(40_000))
first = dict(many.counts(common).counts)
for turn in range(4):  # tables fill up with what is met once, and what comes again stays
    held = many.counts(common + " " + " ".join(f"{turn}y{number}" for number in range(50_000))).counts
    kept.append(held)
    assert dict(many.counts(common).counts) == first == {term: held[term] for term in first}
many.counts(",".join(f"v{number}" for number in range(140_000)))
for held in kept:  # the tables were emptied since
    assert sum(held.values()) == sum(held.get(term) for term in held)
del many
print("fine")
"""


def test_odd_texts_stay_inside_their_memory(tmp_path: Path) -> None:
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no gcc to build with checks")
    library = subprocess.run(
        [compiler, "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    if not Path(library).is_absolute():
        pytest.skip("gcc has no address sanitizer here")
    built = tmp_path / "_analyzer.so"
    checks = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-O1", "-g", "-shared", "-fPIC", "-std=c11"]
    headers = ["-DPy_LIMITED_API=0x030B0000", f"-I{sysconfig.get_path('include')}"]
    subprocess.run([compiler, *checks, *headers, str(SOURCE), "-o", str(built)], check=True)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(built)],
        capture_output=True,
        text=True,
        check=False,
        env={"LD_PRELOAD": library, "ASAN_OPTIONS": "detect_leaks=0", "PYTHONMALLOC": "malloc"},
    )

    assert (done.returncode, done.stdout) == (0, "fine\n"), done.stderr[-4000:]
