"""FileCheck tests of dialects, passes and the compiler. Self-contained: lit is a program, not a module, on Debian.

Programs of the house come from WEFT_BUILD/bin (default: build/release), FileCheck and friends from LLVM 22. A test
whose program was not built fails.
"""

import os

import lit.formats

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
build = os.environ.get("WEFT_BUILD", os.path.join(root, "build", "release"))
llvm = "/usr/lib/llvm-22/bin"

config.name = "weft"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
config.test_exec_root = os.path.join(build, "tests", "lit")

config.environment["PATH"] = os.pathsep.join([os.path.join(build, "bin"), llvm, os.environ.get("PATH", "")])
config.environment["FILECHECK_OPTS"] = "--dump-input-filter=annotation --enable-var-scope"
config.environment["WEFT_BUILD"] = build
for name in ("LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "OMP_NUM_THREADS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.substitutions.append(("%data", os.path.join(root, "tests", "data")))
config.substitutions.append(("%root", root))
