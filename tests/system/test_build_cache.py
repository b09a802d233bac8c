"""ccache as the build sets it up: a second checkout in another folder compiles nothing that the first one compiled.

The checkouts hold the project's own cmake/ folder and two small libraries, one of them with MLIR's precompiled header.
"""

import os
import re
import shutil

from harness import ROOT, SystemTest

PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(weft VERSION 0.1.0 LANGUAGES C CXX)
set(WEFT_BUILD_COMPILER ON)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_SOURCE_DIR}/cmake)
include(WeftDependencies)
include(WeftCompilerCache)
include(WeftTargets)
weft_add_library(Plain plain/Plain.cpp)
weft_add_mlir_library(WithMlir with/Mlir.cpp DEPENDS Plain)
"""


class BuildCache(SystemTest):

    def checkout(self, name):
        """A checkout in a folder of its own; returns what building it there printed to ccache's log: hits and misses."""
        folder = os.path.join(self.folder, name)
        shutil.copytree(os.path.join(ROOT, "cmake"), os.path.join(folder, "cmake"))
        self.write(f"{name}/CMakeLists.txt", PROJECT)
        self.write(f"{name}/plain/Plain.h", "const char *plain();\n")
        self.write(f"{name}/plain/Plain.cpp", '#include "plain/Plain.h"\nconst char *plain() { return __FILE__; }\n')
        self.write(f"{name}/with/Mlir.cpp", '#include "plain/Plain.h"\nbool isNull(mlir::Value value) { return !value; }\n')
        return folder

    def results(self, folder):
        log = os.path.join(folder, "ccache.log")
        if os.path.exists(log):
            os.remove(log)
        environment = self.environment(CCACHE_DIR=os.path.join(self.folder, "cache"), CCACHE_STATSLOG=log)
        build = os.path.join(folder, "build")
        if not os.path.exists(build):
            self.passes("cmake", "-S", folder, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_COMPILER=clang++-22",
                        "-DCMAKE_C_COMPILER=clang-22", "-DMLIR_DIR=/usr/lib/llvm-22/lib/cmake/mlir", env=environment)
        self.passes("ninja", "-C", build, env=environment, timeout=300)
        with open(log, encoding="utf-8") as file:
            return re.findall(r"^(direct_cache_hit|preprocessed_cache_hit|cache_miss|uncacheable\w*)$", file.read(), re.MULTILINE)

    def testASecondCheckoutHitsForEveryFileAndAnEditMisses(self):
        first, second = self.checkout("first"), self.checkout("somewhere/else")
        self.assertEqual(self.results(first), ["cache_miss"] * 2)
        self.assertEqual(self.results(second), ["direct_cache_hit"] * 2)
        # Nothing that came out of the cache may lead back to the checkout that filled it.
        dependencies = self.passes("ninja", "-C", os.path.join(second, "build"), "-t", "deps")
        self.assertNotIn(first + "/", dependencies)
        self.write("somewhere/else/plain/Plain.h", "const char *plain();\nint edited();\n")
        self.assertEqual(self.results(second), ["cache_miss"] * 2)
