"""weft train under mpirun: ranks that are processes have the bits of ranks that are threads, go on from each other's
checkpoints, and say what is wrong once."""

import os
import re
import signal
import subprocess
import time

from processes import MESHES, ProcessTest

#: What goes over other paths than the collectives of MESHES: shifts along a ring, sums by a tree, and messages between
#: pipeline ranks, beside data ranks and with two stages on each rank.
PATHS = {
    "ring": ("{data_shard: 2, context: {size: 2, method: ring}}",),
    "canonical": ("{data_replicate: 2, data_shard: 2, zero: 3}", "train.reduction=canonical"),
    "pipeline": ("{data_shard: 2, zero: 1, pipeline: {size: 2}}",),
    "zb_v": ("{pipeline: {size: 4, schedule: zb_v}}", "model.num_hidden_layers=6"),
}


class Bits(ProcessTest):

    def testProcessesHaveTheBitsOfThreads(self):
        long = ("train.steps=50", "checkpoint.interval=25", "lr_schedule.warmup_steps=5")
        for name, parallel in MESHES.items():
            with self.subTest(name):
                self.train(name, *self.mesh(parallel, *long))
                self.trainProcesses(f"mpi-{name}", *self.mesh(parallel, *long), timeout=400)
                self.assertEqual(50, len(self.losses(name)))
                self.assertEqual(self.curve(name), self.curve(f"mpi-{name}"))
                self.assertEqual([record.get("val_loss") for record in self.metrics(name)],
                                 [record.get("val_loss") for record in self.metrics(f"mpi-{name}")])
                for step in (25, 50):
                    self.assertEqual(self.tensorFiles(name, step), self.tensorFiles(f"mpi-{name}", step))
                    self.assertEqual(4 if name != "hsdp" else 2, len(self.tensorFiles(name, step)))

    def testSoHaveRingsCanonicalSumsAndPipelines(self):
        short = ("train.steps=4", "checkpoint.interval=2", "eval.interval=4", "eval.batches=1", "train.micro_batch=1",
                 "model.num_attention_heads=4", "launch.threads=1")
        for name, (parallel, *sets) in PATHS.items():
            with self.subTest(name):
                words = [word for one in (f"parallel={parallel}", *short, *sets) for word in ("--set", one)]
                self.passes("weft", "compile", "run.yaml", *words, "-o", "run.weft")
                self.train(name, file="run.weft")
                self.trainProcesses(f"mpi-{name}", file="run.weft")
                self.assertEqual(4, len(self.losses(name)))
                self.assertEqual(self.curve(name), self.curve(f"mpi-{name}"))
                self.assertEqual(self.metrics(name)[-1]["val_loss"], self.metrics(f"mpi-{name}")[-1]["val_loss"])
                for step in (2, 4):
                    self.assertEqual(self.tensorFiles(name, step), self.tensorFiles(f"mpi-{name}", step))
                self.assertIn("equal: every bit of", self.passes("weft", "ckpt", "diff", f"runs/{name}", f"runs/mpi-{name}"))

    def testEachGoesOnFromTheCheckpointOfTheOther(self):
        for name, parallel in MESHES.items():
            with self.subTest(name):
                run = self.mesh(parallel, "lr_schedule.kind=constant", "eval.interval=0")
                self.train(f"whole-{name}", *run)
                moved = f"moved-{name}"
                self.train(moved, *run, "train.steps=4")
                printed = self.trainProcesses(moved, *run, "train.steps=8")
                self.assertIn(f"resuming: runs/{moved}/checkpoints/step-4", printed)
                self.assertIn(f"resuming: runs/{moved}/checkpoints/step-8", self.train(moved, *run, "train.steps=12"))
                self.assertEqual(self.curve(f"whole-{name}"), self.curve(moved))
                self.assertEqual(self.tensorFiles(f"whole-{name}", 12), self.tensorFiles(moved, 12))

    def testOneExecutableRunsOnBoth(self):
        sets = [word for one in self.mesh(MESHES["both"], "launch.threads=1") for word in ("--set", one)]
        self.passes("weft", "compile", "run.yaml", *sets, "-o", "run.weft")
        self.train("threads", file="run.weft")
        self.trainProcesses("processes", file="run.weft")
        self.assertEqual(self.curve("threads"), self.curve("processes"))
        self.assertEqual(self.tensorFiles("threads", 12), self.tensorFiles("processes", 12))

    def testTheyEvaluateAndWriteAlike(self):
        self.train("a", *self.mesh(MESHES["both"]))
        for command in (["weft", "eval", "runs/a"], ["weft", "eval", "runs/a", "--data", "run.yaml", "--stride", "20"],
                        ["weft", "generate", "runs/a", "--prompt", "the ", "--tokens", "20", "--seed", "3"]):
            self.assertEqual(self.passes(*command), self.passes(*self.processes(4, *command)))


class RunFolder(ProcessTest):

    def testRankZeroSpeaksAndEachHasALog(self):
        printed = self.trainProcesses("a", *self.mesh(MESHES["both"]))
        self.assertEqual(12, len(re.findall(r"^step +\d+/12", printed, re.MULTILINE)))
        self.assertEqual(1, printed.count("4 ranks: data 2 x tensor 2 (sequence parallel), zero 1"))
        found = re.search(r"allocated ([\d,]+) of ([\d,]+) bytes planned", printed)
        self.assertEqual(found[1], found[2])
        self.assertIn("step 12/12", self.read("runs/a/log.txt"))
        for rank in (1, 2, 3):
            log = self.read(f"runs/a/log-{rank}.txt")
            self.assertIn("saved runs/a/checkpoints/step-8", log)
            self.assertNotIn("step  1/12", log)

    def testCountedBytesAreTheCompiledOnes(self):
        for name, parallel in MESHES.items():
            command = self.processes(4, *self.training(name, *self.mesh(parallel, "train.steps=3")), "--profile")
            found = re.search(r"communication: one step, (\d+) bytes sent by this rank, (\d+) compiled", self.passes(*command))
            self.assertEqual(found[1], found[2])
            self.assertGreater(int(found[1]), 0)

    def testDataShardIsWhatTheLauncherLeaves(self):
        printed = self.trainProcesses("a", *self.mesh("{data_shard: -1, zero: 1}"), count=2)
        self.assertIn("2 ranks: data 2, zero 1", printed)
        self.assertRegex(self.read("runs/a/config.yaml"), r"ranks: 2 +# mpirun -n 2")

    def testASignalSavesOnAllRanks(self):
        run = self.mesh(MESHES["both"], "train.steps=100000", "eval.interval=0", "checkpoint.interval=0")
        # mpirun passes the signal on after this time, and ends what is left after as much again; by itself it gives one second.
        command = self.processes(4, *self.training("a", *run))
        command[1:1] = ["--mca", "odls_base_sigkill_timeout", "6"]
        job = subprocess.Popen([str(word) for word in command], cwd=self.folder,
                               env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(job.kill)
        for line in job.stdout:
            if line.startswith("step "):
                break
        job.send_signal(signal.SIGTERM)
        _, errors = job.communicate(timeout=120)
        self.assertRegex(errors, r"(?m)^stopped by a signal after step \d+, which is saved; the same command goes on from there$")
        self.assertEqual(1, errors.count("stopped by a signal"), errors)
        self.assertNotEqual(0, job.returncode)
        self.assertEqual(1, len(self.checkpoints("a")))


class Reports(ProcessTest):

    def testNoneEndsBeforeTheSlowestHasReported(self):
        """Rank 3 is killed, and the log of rank 1 takes nothing for a while. mpirun ends survivors after 2 s, and at once when
        some of them end before: ranks 0 and 2 have reported, and must not."""
        os.makedirs(os.path.join(self.folder, "runs/a"))
        path = os.path.join(self.folder, "runs/a/log-1.txt")
        os.mkfifo(path)
        log = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self.addCleanup(os.close, log)
        run = self.mesh(MESHES["both"], "train.steps=100000", "eval.interval=0", "checkpoint.interval=0", "launch.threads=1")
        job = subprocess.Popen([str(word) for word in self.processes(4, *self.training("a", *run))], cwd=self.folder,
                               env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(job.kill)
        for line in job.stdout:
            if line.startswith("step "):
                break
        for size in (4096, 1):
            with self.assertRaises(BlockingIOError):
                while True:
                    os.write(log, b"." * size)
        os.kill(self.ranksOf(job)[3], signal.SIGKILL)
        time.sleep(0.9)
        written = b""
        while b"lost rank 3" not in written and job.poll() is None:
            try:
                written += os.read(log, 65536)
            except BlockingIOError:
                time.sleep(0.01)
        _, errors = job.communicate(timeout=60)
        for rank in (0, 1, 2):
            self.assertRegex(errors, rf"(?m)^rank {rank}: lost rank 3, which died: ")
        self.assertIn(b"rank 1: lost rank 3, which died: ", written)
        for name in ("log.txt", "log-2.txt"):
            self.assertEqual(1, self.read(f"runs/a/{name}").count("lost rank 3, which died: "))
        self.assertNotEqual(0, job.returncode)


class Trouble(ProcessTest):

    def refusesProcesses(self, status, message, count, *command):
        """`message` is all that is said, once."""
        done = self.command(*self.processes(count, *command))
        self.assertEqual(status, done.returncode, done.stderr)
        self.assertEqual(1, done.stderr.count(message), done.stderr)
        said = [line for line in done.stderr.splitlines() if re.match(r"rank \d|weft|run.yaml|launch|--set|mpirun -n", line)]
        self.assertEqual(len(message.splitlines()), len(said), done.stderr)
        return done

    def testAnotherNumberOfProcesses(self):
        self.refusesProcesses(2, "mpirun -n 3: launch.ranks: 3 is not data_replicate x data_shard x tensor (1 x 2 x 2 = 4). "
                                 "Works: mpirun -n 4.",
                              3, *self.training("a", *self.mesh(MESHES["both"])))
        self.refusesProcesses(2, "--set: launch.ranks: 4, and mpirun started 2 processes, one for each rank. Works: 2, auto, or "
                                 "mpirun -n 4.",
                              2, *self.training("a", *self.mesh(MESHES["both"]), "launch.ranks=4"))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "runs")))

    def testCommThatDoesNotFitTheLauncher(self):
        self.refusesProcesses(2, "--set: launch.comm: local means that all ranks are threads of one process, and mpirun started 2, "
                                 "each of which would be the whole job. Works: auto or mpi, or weft without mpirun.",
                              2, *self.training("a", "launch.comm=local"))
        self.refuses(2, "launch.comm: mpi, and no launcher started this process. Works: mpirun -n 2 weft train run.yaml, or "
                        "launch.comm: local (all ranks in this process)\n",
                     *self.training("a", "launch.comm=mpi", "parallel.tensor=2"))

    def testAnExecutableWithoutMemoryForIt(self):
        sets = [word for one in self.mesh(MESHES["both"], "launch.comm=local", "launch.threads=1") for word in ("--set", one)]
        self.passes("weft", "compile", "run.yaml", *sets, "-o", "local.weft")
        self.train("a", file="local.weft")
        done = self.command(*self.processes(4, *self.training("b", "launch.comm=mpi", file="local.weft")))
        self.assertEqual(2, done.returncode)
        self.assertIn("the plan has no memory for what other processes send, because the program was compiled with launch.comm: "
                      "local. Compile it with launch.comm: auto or mpi\n", done.stderr)

    def testTorchrun(self):
        variables = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "4", "MASTER_ADDR": "localhost", "MASTER_PORT": "29500"}
        done = self.refuses(2, "torchrun started this process (RANK, WORLD_SIZE and MASTER_ADDR are set), and weft's processes find "
                               "each other through MPI. The same job: mpirun -n 4 weft train RUN.yaml, or srun. Without other "
                               "processes: unset RANK\n",
                            *self.training("a"), env=self.environment(**variables))
        self.assertEqual(1, len(done.stderr.splitlines()))
        self.assertEqual("", self.command(*self.training("a"), env=self.environment(**dict(variables, RANK="1"))).stderr)

    def testConfigsThatDiffer(self):
        run = self.training("a", *self.mesh("{data_shard: 2}"))
        done = self.command(*self.processes(1, *run), ":", "-n", "1", *run, "--set", "train.seed=5")
        self.assertEqual(2, done.returncode)
        self.assertEqual(1, done.stderr.count(
            "rank 1 has another config than rank 0. Start all ranks from the same run file, with the same --set.\n"
            "  rank 1: train.seed is 5, and 1 on rank 0\n"), done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "runs")))

    def testDataThatDiffer(self):
        # One path, which means another file in each process, as on hosts that share no file system.
        for rank, text in enumerate((self.read("corpus.txt"), self.read("corpus.txt") + " cat")):
            self.write(f"host-{rank}/corpus.txt", text)
        run = self.training("a", *self.mesh("{data_shard: 2}", "data.train=[{path: /proc/self/cwd/corpus.txt}]"), file="../run.yaml")
        run += ["--runs", self.folder + "/runs"]
        done = self.command("mpirun", "--allow-run-as-root", "--oversubscribe", "-wdir", self.folder + "/host-0", "-n", "1", *run, ":",
                            "-wdir", self.folder + "/host-1", "-n", "1", *run)
        self.assertEqual(2, done.returncode, done.stderr)
        self.assertEqual(1, done.stderr.count(
            "rank 1 has another data than rank 0. Bring the same files of data.train to all machines.\n"), done.stderr)

    def testLossesThatAreNotFiniteAreOneMessage(self):
        ruinous = ("optimizer.lr=1.0e6", "optimizer.clip_grad_norm=0", "lr_schedule.kind=constant", "lr_schedule.warmup_steps=0")
        done = self.refuses(6, "train.on_nonfinite is stop: the run ends here", *self.processes(4, *self.training(
            "a", *self.mesh(MESHES["both"], *ruinous, "train.on_nonfinite=stop", "checkpoint.interval=0"))))
        self.assertEqual(1, done.stderr.count("train.on_nonfinite is stop"), done.stderr)
        self.assertIn("train.on_nonfinite is stop", self.read("runs/a/log-3.txt"))

    def testASecondJobIsRefusedOnAllRanks(self):
        run = self.training("a", *self.mesh(MESHES["both"], "train.steps=100000", "eval.interval=0"))
        job = subprocess.Popen([str(word) for word in self.processes(4, *run)], cwd=self.folder, env=self.environment(),
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(job.kill)
        for line in job.stdout:
            if line.startswith("step "):
                break
        done = self.command(*self.processes(4, *run))
        self.assertEqual(1, done.stderr.count("runs/a"), done.stderr)
        job.send_signal(signal.SIGTERM)
        job.communicate(timeout=120)
