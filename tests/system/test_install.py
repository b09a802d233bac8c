"""What `cmake --install` and `cpack` give: a tree that may be moved, a CMake package, and packages that state what they need."""

import glob
import os
import re
import shutil

from harness import BUILD, ROOT, SystemTest


class Install(SystemTest):

    def install(self, component):
        """Installs one component, then moves the tree: nothing in it may know where it was put first."""
        first, moved = os.path.join(self.folder, "first"), os.path.join(self.folder, "moved", component)
        self.passes("cmake", "--install", BUILD, "--component", component, "--prefix", first)
        os.makedirs(os.path.dirname(moved), exist_ok=True)
        shutil.move(first, moved)
        return moved

    def testTheRuntimeComponentIsWeftAlone(self):
        tree = self.install("runtime")
        self.assertEqual(os.listdir(os.path.join(tree, "bin")), ["weft"])
        libraries = self.passes("ldd", os.path.join(tree, "bin", "weft"))
        self.assertNotIn("not found", libraries)
        self.assertIsNone(re.search(r"libMLIR|libLLVM|libpython", libraries), libraries)

    def testTheInstalledWeftRunsWhereItWasMoved(self):
        tree = self.install("runtime")
        environment = {"PATH": "/nonexistent", "HOME": self.folder}
        self.assertIn("weft 0.1", self.passes(os.path.join(tree, "bin", "weft"), "--version", env=environment))

    def testNothingInstalledNamesTheCheckout(self):
        for component in ("runtime", "compiler"):
            tree = self.install(component)
            named = self.command("grep", "-rlIF", "-e", ROOT, "-e", os.path.join(self.folder, "first"), tree).stdout
            self.assertEqual(named, "", component)

    def testAConsumerBuildsAgainstTheMovedPackage(self):
        tree = self.install("compiler")
        build = os.path.join(self.folder, "consumer")
        self.passes("cmake", "-S", os.path.join(ROOT, "examples", "consumer"), "-B", build, "-G", "Ninja",
                    f"-DCMAKE_PREFIX_PATH={tree}", "-DCMAKE_CXX_COMPILER=clang++-22", "-DCMAKE_C_COMPILER=clang-22")
        self.passes("ninja", "-C", build, timeout=300)
        self.assertEqual(self.passes(os.path.join(build, "consumer")),
                         "rms_norm(tensor<4x288xf32>, tensor<288xf32>) -> (tensor<4x288xf32>, tensor<4xf32>) epsilon 1e-05\n")

    def testEachComponentIsAnArchiveAndADebianPackage(self):
        self.passes("cpack", "--config", os.path.join(BUILD, "CPackConfig.cmake"), "-B", self.folder, timeout=300)
        names = sorted(os.path.basename(path) for path in glob.glob(os.path.join(self.folder, "weft*.*")))
        self.assertEqual([re.sub(r"[0-9.]+", "N", name.replace("tar.gz", "tgz"), count=1) for name in names],
                         ["weft-compiler-N-linux-x86_64.tgz", "weft-compiler_N_amd64.deb",
                          "weft-runtime-N-linux-x86_64.tgz", "weft-runtime_N_amd64.deb"])
        for deb in glob.glob(os.path.join(self.folder, "*.deb")):
            depends = self.passes("dpkg-deb", "--field", deb, "Depends")
            self.assertIn("libc6" if "runtime" in deb else "weft-runtime (= ", depends)
            self.assertIn("./usr/share/doc/", self.passes("dpkg-deb", "--contents", deb))
