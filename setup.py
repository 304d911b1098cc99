"""Build the kernels in C where there is a compiler; everything else about the package stands in pyproject.toml.

The extensions are optional: where one cannot be built the package installs without it and its twin in Python serves.
"""

import sys

from setuptools import Extension, setup

GCC_LIKE = ["-std=c11", "-O3", "-ffp-contract=off", "-fvisibility=hidden"]
MSVC = ["/std:c11", "/O2", "/fp:precise"]

setup(
    ext_modules=[
        Extension(
            f"twofold.{name}",
            [f"src/twofold/{name}.c"],
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            extra_compile_args=MSVC if sys.platform == "win32" else GCC_LIKE,
            py_limited_api=True,
            optional=True,
        )
        for name in ("_kernels", "_analyzer")
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
