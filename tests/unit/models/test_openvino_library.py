"""OpenVINO as twofold imports it: what builds models is loaded when it is asked for, and is whole then."""

import json
import subprocess
import sys

PROGRAM = """
import json, sys
from twofold.models.embedders.openvino_library import openvino_library

openvino = openvino_library()
before = [name for name in sys.modules if name.startswith("openvino.opset") and name.endswith(".ops")]

from openvino import opset8
import openvino.opset5.ops
from openvino.opset13 import relu

added = opset8.add(opset8.parameter([2]), opset8.parameter([2]))
print(json.dumps({
    "before": before,
    "type": added.get_type_name(),
    "relu": relu.__name__,
    "deep": openvino.opset5.ops.round.__name__,
    "there": "add" in dir(openvino.opset8),
    "unknown": hasattr(openvino.opset1, "no_such_operation"),
    "same": openvino_library() is openvino,
}))
"""

MEANWHILE = """
import sys
from types import ModuleType
from twofold.models.embedders.openvino_library import openvino_library

class Name(str):
    def startswith(self, *what):  # while this name is looked at, another thread imports something
        sys.modules["imported.meanwhile"] = ModuleType("imported.meanwhile")
        return False

sys.modules[Name("one")] = ModuleType("one")
print(openvino_library().__name__)
"""


AT_ONCE = """
import sys, threading
from twofold.models.embedders.openvino_library import openvino_library

sys.setswitchinterval(1e-6)
begin = threading.Barrier(4)

def read_a_constant() -> None:
    begin.wait()
    openvino = openvino_library()
    constant = openvino.op.Constant(openvino.Type.f32, openvino.Shape([1]), [1.0])
    begin.wait()
    constant.get_data()

threads = [threading.Thread(target=read_a_constant) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("done")
"""


def test_threads_that_make_its_first_arrays_at_once_do_not_wait_for_each_other() -> None:
    done = subprocess.run([sys.executable, "-c", AT_ONCE], capture_output=True, text=True, check=False, timeout=120.0)
    assert (done.stdout, done.stderr) == ("done\n", "")


def test_it_is_loaded_while_another_thread_imports_something() -> None:
    done = subprocess.run([sys.executable, "-c", MEANWHILE], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("openvino\n", "")


def test_operations_are_loaded_when_somebody_asks_for_one() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)

    assert json.loads(done.stdout) == {
        "before": [],
        "type": "Add",
        "relu": "relu",
        "deep": "round",
        "there": True,
        "unknown": False,
        "same": True,
    }
