"""benchmarks/run.sh tokenizer: what it measures without the peers, and that slow encoding is seen."""

import json
import os
import unittest

from harness import ROOT, SystemTest


class BenchmarkTokenizer(SystemTest):
    def testEncodingThatIsTooSlowIsSeen(self):
        done = self.command(os.path.join(ROOT, "benchmarks", "run.sh"), "tokenizer", "--quick", "--no-peers", "--sabotage", "threads",
                            "--json", "rows.json", timeout=900)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        rows = {row["name"]: row for row in json.loads(self.read("rows.json"))}
        self.assertFalse(rows["prose_two_threads_ratio"]["passed"])
        self.assertFalse(rows["code_two_threads_ratio"]["passed"])
        self.assertGreater(rows["prose_megabytes_per_second"]["value"], 0)
        self.assertGreater(rows["code_megabytes_per_second"]["value"], 0)
        self.assertNotIn("prose_ratio", rows)


if __name__ == "__main__":
    unittest.main()
