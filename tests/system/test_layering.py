"""scripts/check-layering.sh accepts the arrows of the architecture and names each violation with file and line."""

import os

from harness import ROOT, SystemTest

CHECK = os.path.join(ROOT, "scripts", "check-layering.sh")


class Layering(SystemTest):

    def check(self):
        return self.command(CHECK, "--root", self.folder)

    def assertRefused(self, message):
        done = self.check()
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(message, done.stdout.splitlines())

    def testAllowedArrowsPass(self):
        self.write("kernels/common/Types.h", "#include <vector>\n")
        self.write("runtime/config/Config.h", '#include "kernels/common/Types.h"\n')
        self.write("compiler/model/Llama.cpp", '#include "runtime/config/Config.h"\n#include "mlir/IR/Builders.h"\n')
        self.write("compiler/model/CMakeLists.txt", "weft_add_mlir_library(WeftCompilerModel Llama.cpp DEPENDS WeftRuntimeConfig)\n")
        self.write("runtime/config/CMakeLists.txt", "weft_add_library(WeftRuntimeConfig C.cpp DEPENDS absl::status)\n")
        done = self.check()
        self.assertEqual((done.returncode, done.stdout), (0, "layering: 3 files, 0 violations\n"))

    def testRuntimeMayNotIncludeMlir(self):
        self.write("runtime/exec/Run.cpp", '// A comment.\n#include "mlir/IR/Value.h"\n')
        self.assertRefused("runtime/exec/Run.cpp:2: includes mlir/IR/Value.h: runtime/, kernels/ and tools/weft see no MLIR or LLVM header")

    def testKernelsMayNotIncludeTheRuntime(self):
        self.write("kernels/cpu/Norm.cpp", '#include "runtime/exec/Executor.h"\n')
        self.assertRefused("kernels/cpu/Norm.cpp:1: includes runtime/exec/Executor.h: kernels/cpu may use itself")

    def testOnlyFuseAndMemoryMayIncludeKernels(self):
        self.write("passes/fuse/Fuse.cpp", '#include "kernels/common/KernelCall.h"\n')
        self.write("passes/update/Update.cpp", '#include "kernels/common/KernelCall.h"\n')
        self.assertRefused("passes/update/Update.cpp:1: includes kernels/common/KernelCall.h: passes/update may use itself, dialects")
        self.assertNotIn("fuse", self.check().stdout)

    def testAnIncludeRelativeToTheFileIsFollowed(self):
        self.write("passes/place/Place.h", "")
        self.write("dialects/nn/Nn.cpp", '#include "../../passes/place/Place.h"\n')
        self.assertRefused("dialects/nn/Nn.cpp:1: includes passes/place/Place.h: dialects/nn may use itself")

    def testATableGenIncludeIsChecked(self):
        self.write("dialects/nn/Nn.td", 'include "mlir/IR/OpBase.td"\ninclude "passes/place/Passes.td"\n')
        self.assertRefused("dialects/nn/Nn.td:2: includes passes/place/Passes.td: dialects/nn may use itself")

    def testTheWeftProgramIsBuiltWithoutTheCompiler(self):
        self.write("compiler/plan/Plan.h", "")
        self.write("tools/weft/main.cpp", '#include "compiler/plan/Plan.h"\n')
        self.assertRefused("tools/weft/main.cpp:1: includes compiler/plan/Plan.h: tools/weft may use itself, kernels, runtime")

    def testALinkDependencyAgainstTheArrowsIsRefused(self):
        self.write("kernels/cpu/Norm.cpp", "")
        self.write("runtime/exec/CMakeLists.txt", "weft_add_library(WeftRuntimeExec Exec.cpp)\n")
        self.write("kernels/cpu/CMakeLists.txt", "weft_add_library(WeftKernelsCpu Norm.cpp\n  DEPENDS absl::status\n  WeftRuntimeExec)\n")
        self.assertRefused("kernels/cpu/CMakeLists.txt:3: WeftKernelsCpu links WeftRuntimeExec of runtime/exec: kernels/cpu may use itself")

    def testTheRuntimeMayNotLinkMlir(self):
        self.write("runtime/exec/Exec.cpp", "")
        self.write("runtime/exec/CMakeLists.txt", "weft_add_library(WeftRuntimeExec Exec.cpp)\ntarget_link_libraries(WeftRuntimeExec PRIVATE MLIR)\n")
        self.assertRefused("runtime/exec/CMakeLists.txt:2: WeftRuntimeExec links MLIR: runtime/, kernels/ and tools/weft are built without MLIR")

    def testALinkDependencyBehindAVariableIsRefused(self):
        self.write("runtime/exec/Exec.cpp", "")
        self.write("runtime/exec/CMakeLists.txt", "weft_add_library(WeftRuntimeExec Exec.cpp DEPENDS ${libraries})\n")
        self.assertRefused("runtime/exec/CMakeLists.txt:1: WeftRuntimeExec links ${libraries}: name each library, so that its layer can be checked")

    def testAHelperIsCheckedWhereItIsCalled(self):
        self.write("runtime/exec/Exec.cpp", "")
        self.write("runtime/exec/CMakeLists.txt", "weft_add_library(WeftRuntimeExec Exec.cpp)\n")
        self.write("passes/CMakeLists.txt", "function(weft_add_pass_library name)\n  weft_add_mlir_library(${name} DEPENDS ${ARG_DEPENDS})\nendfunction()\n"
                   "weft_add_pass_library(WeftPlace P.cpp\n  DEPENDS WeftRuntimeExec)\n")
        self.assertRefused("passes/CMakeLists.txt:5: WeftPlace links WeftRuntimeExec of runtime/exec: passes may use itself, dialects")

    def testAnEmptyTreeIsNoPass(self):
        self.assertEqual(self.check().returncode, 1)
