"""`weft schedule`: what it shows, what it refuses and how, its files, and the randomized trials with small counts."""

import json
import os
import unittest
import xml.etree.ElementTree as xml

from harness import ROOT, SystemTest

NAMES = ("gpipe", "1f1b", "interleaved", "zb_h1", "zb_h2", "zb_v", "v_half", "v_min", "dualpipe_v")
CIRCLE = "microbatches 2\nrank 0 | 0F0 0BW0 0F1 0BW1\nrank 1 | 1F0 1F1 1BW0 1BW1\n"


class Schedule(SystemTest):

    def show(self, *words):
        return self.passes("weft", "schedule", "show", *words)

    def testEveryScheduleIsShownAndItsListsVerify(self):
        for name in (*NAMES, "auto"):
            with self.subTest(name):
                printed = self.show(name, "--ranks", "3", "--microbatches", "7", "-o", f"{name}.txt")
                self.assertTrue(printed.startswith(f"{name}: 3 ranks, "), printed)
                self.assertIn("\nrank 0 | 0F0", printed)
                self.assertIn("lower bound" if name == "auto" else "literature: bubble", printed)
                self.assertIn("complete, in order, without a circle", self.passes("weft", "schedule", "verify", f"{name}.txt"))

    def testNoColorsOffATerminal(self):
        self.assertNotIn("\x1b", self.show("zb_v"))

    def testAFileIsShownAsAScheduleOfTheLiteratureIs(self):
        one = self.show("zb_h2", "--times", "3,4,2", "--transfer", "0.5", "-o", "mine.txt")
        mine = self.show("file:mine.txt", "--times", "3,4,2", "--transfer", "0.5")
        without = [line for line in one.splitlines() if not line.startswith("literature")]
        self.assertEqual(mine.splitlines()[1:], without[1:])

    def testTheTableIsAScheduleFile(self):
        rows = [line for line in self.show("1f1b", "--ranks", "3").splitlines() if line.startswith("rank ") and "|" in line]
        self.write("rows.txt", "microbatches 8\n" + "\n".join(rows))
        self.passes("weft", "schedule", "verify", "rows.txt")

    def testPictureAndTraceAreFilesThatReadersTake(self):
        self.show("zb_v", "--ranks", "2", "--microbatches", "4", "--svg", "plan.svg", "--trace", "plan.json")
        boxes = xml.parse(os.path.join(self.folder, "plan.svg")).getroot().findall("{http://www.w3.org/2000/svg}rect")
        self.assertGreater(len(boxes), 48)
        events = json.loads(self.read("plan.json"))["traceEvents"]
        actions = [event for event in events if event["ph"] == "X"]
        self.assertEqual(len(actions), 2 * 2 * 4 * 3)
        for rank in (0, 1):
            starts = [event["ts"] for event in actions if event["tid"] == rank]
            self.assertEqual(starts, sorted(starts))

    def testCompareListsAllAndSaysWhyOneCannotBe(self):
        printed = self.passes("weft", "schedule", "compare", "--ranks", "4", "--microbatches", "6", "--limit", "1")
        for name in NAMES:
            self.assertRegex(printed, rf"(?m)^{name} ")
        self.assertIn("dualpipe_v: 6 microbatches on 4 ranks; it needs 2 for each rank", printed)
        self.assertRegex(printed, r"(?m)^auto, held 1 +1 .* 1 +lower bound")
        self.assertIn("auto: no schedule found that holds at most 2 chunks on each of 4 ranks. Works: 5 or more", printed)

    def testAListThatIsWrongIsRefusedWithTheRemedy(self):
        cases = {
            "syntax": ("microbatches 1\nrank 0 | 0F0 0Q0\n", "wrong.txt:2:14: expected an action: stage, F, B, W or BW, microbatch"),
            "missing": ("microbatches 2\nrank 0 | 0F0 0F1 0BW0 0B1\n", "schedule: 0W1 is missing: each stage runs each microbatch once. Add it to rank 0"),
            "doubled": ("microbatches 1\nrank 0 | 0F0 0BW0 0BW0\n", "schedule: rank 0, action 3 (0BW0): it comes twice"),
            "W before B": ("microbatches 1\nrank 0 | 0F0 0W0 0B0\n", "it comes before its B; put 0B0 before 0W0"),
            "W out of order": ("microbatches 2\nrank 0 | 0F0 0F1 0B0 0B1 0W1 0W0\n", "weight gradients are added up in that order"),
            "circle": (CIRCLE, "rank 1 waits for 0F1 from rank 0 before its 1F1 (action 2): neither can go on"),
        }
        for name, (text, message) in cases.items():
            with self.subTest(name):
                self.write("wrong.txt", text)
                self.refuses(2, message, "weft", "schedule", "verify", "wrong.txt")
                self.refuses(2, message, "weft", "schedule", "show", "file:wrong.txt")

    def testAMemoryLimitIsHeldAgainstASchedule(self):
        self.show("zb_h2", "-o", "mine.txt", "--limit", "7")
        for command in (("show", "zb_h2"), ("verify", "mine.txt")):
            self.refuses(2, "schedule: rank 0 holds up to 7 microbatches of its share from F to W, the limit is 6. Run W's earlier",
                         "weft", "schedule", *command, "--limit", "6")
        self.show("zb_v", "--limit", "4")  # eight chunks of two a rank

    def testWordsThatAreWrongAreRefusedWithTheRemedy(self):
        self.show("1f1b", "-o", "mine.txt")
        cases = {
            ("show", "zbv"): "auto, and a file of your own as file:PATH. Did you mean zb_v?",
            ("show", "file:none.txt"): "none.txt: ",
            ("show", "file:mine.txt", "--ranks", "3"): "file:mine.txt says its own ranks, stages and microbatches: leave out --ranks",
            ("show", "zb_h1", "--chunks", "2"): "zb_h1: each rank has 1 chunk, not 2",
            ("show", "auto", "--group-size", "4"): "auto has no groups of microbatches; a group size is for interleaved",
            ("show", "auto", "--chunks", "2", "--limit", "1"): "Works: 5 or more",
            ("show", "1f1b", "--times", "1,2"): "--times: At least 3 required",
            ("show", "1f1b", "--times", "0,0,0"): "--times: F, B and W take no time; at least one must",
            ("show", "1f1b", "--times=1,-1,1"): "times are from 0 to 1e12",
            ("show", "1f1b", "--limit", "0"): "--limit: 0; a rank holds at least something from F to W",
            ("show", "1f1b", "--ranks", "0"): "--ranks: ",
            ("show", "1f1b", "--ranks", "99999"): "there are 1 to 4096 ranks",
            ("show", "1f1b", "--svg", "none/plan.svg"): "none/plan.svg",
            ("compare", "--microbatches", "70000"): "there are 1 to 4096 ranks and 1 to 65536 microbatches",
            ("draw",): "",
            (): "A subcommand is required",
        }
        for words, message in cases.items():
            with self.subTest(words):
                self.refuses(2, message, "weft", "schedule", *words)

    def testHelpIsThatOfTheCommand(self):
        printed = self.passes("weft", "schedule", "--help")
        self.assertIn("Usage: weft schedule", printed)
        for name in NAMES:
            self.assertRegex(printed, rf"(?m)^  {name} +\w.* \(\w")
        self.assertIn("--microbatches", self.passes("weft", "schedule", "show", "--help"))
        self.assertIn("schedule  ", self.passes("weft", "--help"))


class ScheduleTrials(SystemTest):

    def trial(self, *words):
        return self.command(os.path.join(ROOT, "scripts", "trials.sh"), "schedule", *words, timeout=300)

    def testWhatIsAcceptedEndsRightAndWhatIsRefusedDoesNot(self):
        done = self.trial("--count", "2000", "--seed", "5")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for note in ("accepted", "refused: fails", "refused: hangs", "refused: other order"):
            self.assertIn(note, done.stdout)

    def testItFailsWhenTheVerifierIsWrong(self):
        for sabotage in ("accept", "refuse"):
            done = self.trial("--count", "50", "--sabotage", sabotage)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("FAILED", done.stdout)

    def testAnUnknownSabotageIsRefused(self):
        done = self.trial("--sabotage", "everything")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--sabotage takes accept or refuse, not everything", done.stderr)


if __name__ == "__main__":
    unittest.main()
