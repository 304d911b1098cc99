"""Build the kernels in C where there is a compiler; everything else about the package stands in pyproject.toml.

The extension is optional: where it cannot be built the package installs without it and its numpy twin serves.
"""

import sys

from setuptools import Extension, setup

GCC_LIKE = ["-std=c11", "-O3", "-ffp-contract=off", "-fvisibility=hidden"]
MSVC = ["/std:c11", "/O2", "/fp:precise"]

setup(
    ext_modules=[
        Extension(
            "twofold._kernels",
            ["src/twofold/_kernels.c"],
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            extra_compile_args=MSVC if sys.platform == "win32" else GCC_LIKE,
            py_limited_api=True,
            optional=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
