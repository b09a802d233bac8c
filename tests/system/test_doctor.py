"""weft doctor: a report people read, the same as JSON, and how it answers a wrong option."""

import json
import os

from harness import SystemTest


class Doctor(SystemTest):

    def testTheReportNamesTheInstructionSetAndTheLibraries(self):
        printed = self.passes("weft", "doctor")
        self.assertRegex(printed, r"(?m)^  instruction set +(AVX2|AVX512|AMX)")
        self.assertRegex(printed, r"(?m)^  oneDNN +2\.")
        self.assertTrue(printed.endswith("This machine can train.\n"), printed)

    def testWhatIsMissingComesWithTheCommandThatInstallsIt(self):
        printed = self.passes("weft", "doctor", env={"PATH": os.path.dirname(self.weft()), "HOME": self.folder})
        self.assertIn("  mpirun, for starting several processes: apt-get install openmpi-bin\n", printed)

    def testJsonSaysTheSame(self):
        report = json.loads(self.passes("weft", "doctor", "--json"))
        self.assertTrue(report["can_train"])
        self.assertEqual({"processor", "memory", "GPUs", "libraries", "programs"}, {row["section"] for row in report["findings"]})

    def testProductsAreMeasuredByTypeAndSize(self):
        report = json.loads(self.passes("weft", "doctor", "--measure", "--json"))
        products = {row["name"]: row["value"] for row in report["findings"] if row["section"] == "products"}
        self.assertEqual(products.pop("threads"), str(len(os.sched_getaffinity(0))))
        self.assertRegex(products.pop("memory, read and written"), r"^[1-9][0-9]*\.[0-9] GB/s$")
        self.assertEqual(set(products), {f"{type} {size}^3" for type in ("float32", "bfloat16") for size in (384, 1024, 2048)})
        for name, value in products.items():
            self.assertRegex(value, r"^[1-9][0-9]*\.[0-9] GFLOP/s$", name)

    def testAnUnknownOptionIsRefused(self):
        self.refuses(2, "--jsn", "weft", "doctor", "--jsn")

    def weft(self):
        return self.passes("which", "weft").strip()
