"""weft train --profile: one step, timed on every rank. The trace holds each action of each rank in the order that was
compiled; what else is printed is in test_trained_model.py (kernels) and test_communication.py (bytes)."""

import json
import os
import re
import signal
import subprocess

from processes import MESHES, ProcessTest

CATEGORIES = {"F", "B", "W", "BW", "F,BW", "message", "collective", "update"}


class TraceTest(ProcessTest):

    def planned(self, *sets):
        """The schedule of a step, as the compiled program says it: for each pipeline rank the names of its events in order."""
        words = [word for one in sets for word in ("--set", one)]
        schedules = []
        for line in self.passes("weft-compile", "run.yaml", *words, "--print-after", "memory").splitlines():
            if begun := re.search(r'sched\.program "(\w+)"', line):
                inStep = begun[1] == "step"
                if inStep:
                    schedules.append([])
            elif run := re.search(r'sched\.run "([^"]+)"(?: (\d+))?', line):
                if inStep:
                    action, microbatch = run.groups()
                    isOfStage = re.fullmatch(r"\d+(F|B|W|BW)", action)
                    schedules[-1].append(action if microbatch is None else action + ("" if isOfStage else " ") + microbatch)
        return schedules

    def trace(self, name):
        return json.loads(self.read(f"runs/{name}/trace.json"))

    def tracks(self, trace):
        """The names of the tracks, and the events of each, in order of their threads."""
        names = {event["tid"]: event["args"]["name"] for event in trace["traceEvents"] if event["name"] == "thread_name"}
        tracks = {thread: [] for thread in sorted(names)}
        for event in trace["traceEvents"]:
            if event["ph"] == "X":
                tracks[event["tid"]].append(event)
        return [names[thread] for thread in tracks], list(tracks.values())

    def assertPlannedOrder(self, trace, sets):
        """Each rank runs what its pipeline rank is to run, one after the other; pipeline ranks are the slowest direction."""
        planned = self.planned(*sets)
        _, tracks = self.tracks(trace)
        self.assertGreater(len(planned), 0)
        for rank, events in enumerate(tracks):
            expected = planned[rank * len(planned) // len(tracks)]
            self.assertEqual(expected, [event["name"] for event in sorted(events, key=lambda event: event["ts"])], f"rank {rank}")
            self.assertEqual(expected, [event["name"] for event in events])
            for before, after in zip(events, events[1:]):
                self.assertGreaterEqual(before["dur"], 0)  # F of a stage that is the head alone has no command
                self.assertLessEqual(before["ts"] + before["dur"], after["ts"] + 0.001, f"{before} {after}")  # rounded
            self.assertEqual(set(), {event["cat"] for event in events} - CATEGORIES)


    def assertRanksMeet(self, trace):
        """What exchanges with all ranks ends on none of them before it has begun on each."""
        _, tracks = self.tracks(trace)
        apart = trace["otherData"]["clock_apart_us_at_most"] + 0.001  # rounded
        meetings = [events for events in zip(*tracks) if all(event["args"]["exchanging_us"] > 0 for event in events)]
        self.assertGreater(len(meetings), 0)
        for events in meetings:
            begun, ended = max(event["ts"] for event in events), min(event["ts"] + event["dur"] for event in events)
            self.assertLessEqual(begun, ended + apart, events)


class Trace(TraceTest):

    def testOneRank(self):
        sets = ("train.steps=3", "train.micro_batch=2")
        printed = self.passes(*self.training("a", *sets), "--profile")
        trace = self.trace("a")
        self.assertPlannedOrder(trace, sets)
        names, (events, ) = self.tracks(trace)
        self.assertEqual(["rank 0"], names)
        self.assertEqual(["update", "F,BW"], [events[0]["cat"], events[1]["cat"]])
        self.assertEqual({"action": "forward_backward", "microbatch": 0, "exchanging_us": 0.0}, events[1]["args"])
        self.assertEqual({"run": "runs/a", "step": 3, "steps": 1, "ranks": 1}, {key: trace["otherData"][key] for key in ("run", "step", "steps", "ranks")})
        self.assertRegex(printed, r"\ntrace: step 3, [\d.]+ ms\n  rank +busy ms +exchanging ms +bubble\n  rank 0 +[\d.]+ +0\.000 +[\d.]+%\n"
                                  r"trace: runs/a/trace\.json shows each action of it \(ui\.perfetto\.dev\)\n")

    def testKernelsAreHeldAgainstTheLimitsOfTheMachine(self):
        printed = self.passes(*self.training("a", "train.steps=3", "train.micro_batch=2"), "--profile")
        flops, memory = map(float, re.search(
            r"(?m)^profile: one step, [\d.]+ ms in kernels; limits: products ([\d.]+) GFLOP/s, memory ([\d.]+) GB/s$", printed).groups())
        rate, share = map(float, re.search(r"(?m)^  einsum +\d+ +[\d.]+ +[\d.]+% +([\d.]+) +[\d.]+ +(\d+)%$", printed).groups())
        self.assertAlmostEqual(share, 100 * rate / flops, delta=1)
        rate, share = map(float, re.search(r"(?m)^  elementwise +\d+ +[\d.]+ +[\d.]+% +([\d.]+) +(\d+)%$", printed).groups())
        self.assertAlmostEqual(share, 100 * rate / memory, delta=1)
        self.assertRegex(printed, r"(?m)^furthest from its limit: \w+, at \d+% of the machine's (products|memory); at it, a step takes [\d.]+ ms less$")

    def testProductsAreHeldAgainstTheRateOfTheirType(self):
        printed = self.passes(*self.training("a", "train.steps=3", "precision.recipe=bf16"), "--profile")
        self.assertRegex(printed, r"(?m)limits: products [\d.]+ GFLOP/s \(in float32 [\d.]+\), memory [\d.]+ GB/s$")
        for kernel in ("einsum", "attention_backward"):
            self.assertRegex(printed, rf"(?m)^  {kernel} +\d+ +[\d.]+ +[\d.]+% +[\d.]+ +[\d.]+ +\d+%$")

    def testVirtualRanksShareOneClock(self):
        sets = self.mesh("{data_shard: 2, zero: 3, context: {size: 2}}", "train.steps=3")
        printed = self.passes(*self.training("a", *sets), "--profile")
        trace = self.trace("a")
        self.assertPlannedOrder(trace, sets)
        names, tracks = self.tracks(trace)
        self.assertEqual([f"rank {rank} (data {rank // 2} of 2, context {rank % 2} of 2)" for rank in range(4)], names)
        self.assertEqual("one monotonic clock for all ranks", trace["otherData"]["clock"])
        self.assertEqual(0, trace["otherData"]["clock_apart_us_at_most"])
        for name in names:
            self.assertRegex(printed, re.escape(f"  {name}") + r" +[\d.]+ +[\d.]+ +[\d.]+%\n")
        self.assertRanksMeet(trace)

    def testMeasuredIsTheOrderOfEachMesh(self):
        for name, parallel in MESHES.items():
            with self.subTest(name):
                sets = self.mesh(parallel, "train.steps=3", "eval.interval=0")
                self.passes(*self.training(name, *sets), "--profile")
                self.assertPlannedOrder(self.trace(name), sets)
                self.assertEqual(4, len(self.tracks(self.trace(name))[1]))

    def testMeasuredIsTheOrderOfEverySchedule(self):
        """Action by action, on virtual ranks; beside the measured bubble stands that of the order itself."""
        for schedule in ("gpipe", "1f1b", "interleaved", "zb_h1", "zb_h2", "zb_v", "v_half", "v_min", "dualpipe_v", "auto"):
            with self.subTest(schedule):
                sets = self.mesh(f"{{pipeline: {{size: 2, schedule: {schedule}}}}}", "train.steps=3", "eval.interval=0",
                                 "checkpoint.interval=0", "model.num_hidden_layers=4", "train.global_batch=16")
                printed = self.passes(*self.training(schedule, *sets), "--profile")
                trace = self.trace(schedule)
                self.assertPlannedOrder(trace, sets)
                _, tracks = self.tracks(trace)
                self.assertEqual(2, len(tracks))
                for events in tracks:
                    self.assertLessEqual({"F", "message", "update"}, {event["cat"] for event in events})
                self.assertRegex(printed, r"\n  rank 0 \(pipeline 0 of 2\) .*%")

    def testProcessesAgreeOnAClock(self):
        sets = self.mesh("{data_shard: 2, zero: 3}", "train.steps=3")
        self.passes(*self.processes(2, *self.training("a", *sets), "--profile"))
        trace = self.trace("a")
        self.assertPlannedOrder(trace, sets)
        self.assertEqual(2, len(self.tracks(trace)[1]))
        self.assertRanksMeet(trace)
        self.assertEqual("a monotonic clock in each process, all counted from a barrier before the step", trace["otherData"]["clock"])
        self.assertGreater(trace["otherData"]["clock_apart_us_at_most"], 0)

    def testASignalLeavesAWholeTrace(self):
        command = self.training("a", "train.steps=100000", "eval.interval=0", "checkpoint.interval=0") + ["--profile"]
        job = subprocess.Popen(command, cwd=self.folder, env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(job.kill)
        for line in job.stdout:
            if line.startswith("trace: runs/a/trace.json"):
                break
        job.send_signal(signal.SIGINT)
        job.communicate(timeout=60)
        self.assertPlannedOrder(self.trace("a"), ())
        self.assertEqual([], [name for name in os.listdir(os.path.join(self.folder, "runs/a")) if "trace.json." in name])

    def testAJobWithoutAThirdStepSaysSo(self):
        done = self.command(*self.training("a", "train.steps=2"), "--profile")
        self.assertEqual(0, done.returncode)
        self.assertIn("no profile: it takes the third step of a job, or a later one without a dump or norms", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "runs/a/trace.json")))

    def testATraceThatCannotBeWrittenEndsNoRun(self):
        os.makedirs(os.path.join(self.folder, "runs/a/trace.json/in_the_way"))
        done = self.command(*self.training("a", "train.steps=4"), "--profile")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("no trace: runs/a/trace.json", done.stderr)
        self.assertEqual(4, len(self.losses("a")))
