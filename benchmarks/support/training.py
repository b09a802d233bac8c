"""What benchmarks that train share: a dataset, weft and its peers trained on the same weights and batches, a command line."""

import argparse
import dataclasses
import json
import os
import random
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import yaml

from resident import watch

ROOT, BUILD = os.environ["WEFT_ROOT"], os.environ["WEFT_BUILD"]
STEPS, UNTIMED = 20, 3
SEED = 1
FAST_BF16 = ("avx512_bf16", "amx_bf16")


def readConfig(folder):
    with open(os.path.join(folder, "run.yaml"), encoding="utf-8") as file:
        return yaml.safe_load(file)


def tokensPerStep(folder):
    config = readConfig(folder)
    return config["train"]["global_batch"] * config["data"]["sequence_length"]


def writeTokens(prefix, vocabulary):
    """A dataset of random tokens, small ones far more often, so that the loss falls: one document, as u16."""
    draw = random.Random(SEED)
    tokens = [int(vocabulary * draw.random() ** 4) for _ in range(100_000)]
    with open(prefix + ".bin", "wb") as file:
        file.write(struct.pack(f"<{len(tokens)}H", *tokens))
    with open(prefix + ".idx", "wb") as file:
        file.write(b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, 8, 1, 2) + struct.pack("<iqqq", len(tokens), 0, 0, 1))


def prepare(folder, runFile):
    """Makes a folder with run.yaml and its tokens."""
    os.makedirs(folder, exist_ok=True)
    shutil.copy(runFile, os.path.join(folder, "run.yaml"))
    writeTokens(os.path.join(folder, "tokens"), readConfig(folder)["model"]["vocab_size"])


@dataclasses.dataclass
class Trained:
    """One run: of each step the time when its loss was known, and the loss; and the memory meanwhile."""

    tokens: int
    times: list
    losses: list
    watcher: object
    compileSeconds: float | None = None

    @property
    def seconds(self):
        """Of a step: the median of those after the first UNTIMED."""
        return statistics.median(after - before for before, after in zip(self.times[UNTIMED - 1:], self.times[UNTIMED:]))

    @property
    def tokensPerSecond(self):
        return self.tokens / self.seconds

    @property
    def peak(self):
        """Bytes, over the steps that are timed: what compiling needs is not training's."""
        return self.watcher.peak(self.times[UNTIMED - 1])

    @property
    def wholePeak(self):
        return self.watcher.peak()


def compared(steps):
    """The steps whose losses are held against each other: of 20 the first, the tenth and the last."""
    return 1, steps // 2, steps


def lossDifference(one, other, steps):
    return max(abs(one.losses[step - 1] - other.losses[step - 1]) for step in compared(steps))


def pin(processors):
    """What a child does before it starts, so that all run on the same: the first of those that this process may use."""
    return lambda: os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:processors])


def setArguments(overrides):
    return [argument for override in overrides for argument in ("--set", override)]


def trainWeft(folder, overrides=(), pauses=False, **options):
    """Trains run.yaml with `weft train`."""
    shutil.rmtree(os.path.join(folder, "runs"), ignore_errors=True)
    watcher = watch(["weft", "train", "run.yaml", "--name", "run", *setArguments(overrides)], pauses=pauses, cwd=folder, **options)
    with open(os.path.join(folder, "runs", "run", "metrics.jsonl"), encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    return Trained(tokensPerStep(folder), [record["time"] for record in records], [record["loss"] for record in records], watcher)


def compileSeconds(folder, overrides=(), delay=0.0):
    """How long `weft-compile` takes, as a command."""
    start = time.monotonic()
    time.sleep(delay)
    watch(["weft-compile", "run.yaml", "-o", "run.weft", *setArguments(overrides)], cwd=folder)
    return time.monotonic() - start


def printed(command, **options):
    """What a command prints; with what it says when it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def plannedBytes(folder, overrides=()):
    """Of `--explain memory`: the plan's peak, and the lower bound that stands beside it (None where none does)."""
    text = printed(["weft", "compile", "run.yaml", *setArguments(overrides), "--explain", "memory"], cwd=folder)
    planned = int(re.search(r"known before the job starts \((\d+) bytes\)", text)[1])
    bound = re.search(r"lower bound[^\n(]*\((\d+) bytes\)", text)
    return planned, int(bound[1]) if bound else None


def changeOneWeight(path):
    """Adds 1 to the last norm's weight, found by its name in the header; files of weights are little endian float32."""
    with open(path, "r+b") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(size))
        name = next(name for name in ("model.norm.weight", "transformer.ln_f.weight") if name in header)
        begin = 8 + size + header[name]["data_offsets"][0]
        file.seek(begin)
        value = struct.unpack("<f", file.read(4))[0]
        file.seek(begin)
        file.write(struct.pack("<f", value + 1))


def exportRun(folder, sabotage):
    """Initial weights and the batches of every step of run.weft for a peer, as a file."""
    subprocess.run([os.path.join(ROOT, "benchmarks", "peers", "setup.sh")], check=True)
    exported = os.path.join(folder, "export.safetensors")
    watch([os.path.join(BUILD, "tests", "parity", "weft-export-run"), "run.weft", str(STEPS), exported], cwd=folder)
    if sabotage == "weights":
        changeOneWeight(exported)


def peerPython(script, *arguments):
    """The command of a script of benchmarks/peers."""
    return [os.path.join(ROOT, ".cache", "peers", "bin", "python"), os.path.join(ROOT, "benchmarks", "peers", script), *arguments]


def trainPeer(script, folder, steps, *arguments, **options):
    """Trains the first steps of the exported run with a script of benchmarks/peers."""
    output = os.path.join(folder, "peer.json")
    watcher = watch(peerPython(script, os.path.join(folder, "run.yaml"), os.path.join(folder, "export.safetensors"), str(steps),
                               *arguments, output), **options)
    with open(output, encoding="utf-8") as file:
        result = json.load(file)
    return Trained(tokensPerStep(folder), result["times"], result["losses"], watcher, result.get("compile_seconds"))


def fastBf16():
    """The processor's instructions for bfloat16 products."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        flags = set(re.search(r"^flags\s*:(.*)$", file.read(), re.MULTILINE)[1].split())
    return [flag for flag in FAST_BF16 if flag in flags]


def addPrecision(parser):
    parser.add_argument("--bf16", action="store_true")


def precisions(options):
    """What is measured: float32, and bfloat16 where the processor has instructions for it or the option wants it."""
    flags = fastBf16()
    chosen = ["fp32"] + ["bf16"] * bool(flags or options.bf16)
    print("precisions: " + ", ".join(chosen) + (f" (the processor has {', '.join(flags)})" if flags else
                                                f" (the processor has none of {', '.join(FAST_BF16)})"), flush=True)
    return chosen


def main(description, sabotages, headline, measure, runFile=None, addArguments=lambda parser: None):
    """A benchmark's command line: makes a folder, with run.yaml and tokens where there is one run file, measures in it, and
    writes the rows."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--rows", required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--sabotage", choices=sabotages)
    addArguments(parser)
    options = parser.parse_args()
    print(headline, flush=True)
    with tempfile.TemporaryDirectory(prefix="weft-benchmark-") as folder:
        if runFile:
            prepare(folder, runFile)
        try:
            rows = measure(options, folder)
        except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
            print(f"{os.path.basename(sys.argv[0])}: {error}", file=sys.stderr)
            return 1
    with open(options.rows, "w", encoding="utf-8") as file:
        json.dump([{"name": name, "value": value} for name, value in rows.items()], file)
    return 0
