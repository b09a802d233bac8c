"""What benchmarks that train share: a dataset, the peak memory of a process, the speed of a run."""

import argparse
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

ROOT, BUILD = os.environ["WEFT_ROOT"], os.environ["WEFT_BUILD"]
STEPS, UNTIMED = 20, 5
TOKENS_PER_STEP = 8 * 256
VOCABULARY = 8192
SEED = 1
COMPARED = (1, 10, 20)


def writeTokens(prefix):
    """A dataset of random tokens, small ones far more often, so that the loss falls: one document, as u16."""
    draw = random.Random(SEED)
    tokens = [int(VOCABULARY * draw.random() ** 4) for _ in range(100_000)]
    with open(prefix + ".bin", "wb") as file:
        file.write(struct.pack(f"<{len(tokens)}H", *tokens))
    with open(prefix + ".idx", "wb") as file:
        file.write(b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, 8, 1, 2) + struct.pack("<iqqq", len(tokens), 0, 0, 1))


class Watcher(threading.Thread):
    """Samples a process: its peak of RssAnon + RssShmem in bytes. With `pauses`, stops it half of the time."""

    def __init__(self, process, pauses=False):
        super().__init__(daemon=True)
        self.process, self.pauses, self.peak = process, pauses, 0
        self.start()

    def sample(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            fields = dict(line.split(":", 1) for line in file)
        if "RssAnon" in fields:
            self.peak = max(self.peak, sum(int(fields[key].split()[0]) for key in ("RssAnon", "RssShmem")) * 1024)

    def run(self):
        while self.process.poll() is None:
            try:
                self.sample()
                if self.pauses:
                    self.process.send_signal(signal.SIGSTOP)
                    time.sleep(0.02)
                    self.process.send_signal(signal.SIGCONT)
            except (OSError, ValueError):
                return
            time.sleep(0.02)


def finish(command, pauses=False, **options):
    """Runs a command to its end; returns its peak memory. Its output is shown when it fails."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    watcher = Watcher(process, pauses)
    output, _ = process.communicate()
    watcher.join()
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit status {process.returncode}\n{output}")
    return watcher.peak


def speed(times):
    """Tokens a second between step UNTIMED and the last."""
    return TOKENS_PER_STEP * (len(times) - UNTIMED) / (times[-1] - times[UNTIMED - 1])


def trainWeft(folder, overrides=(), pauses=False, name="run"):
    """Trains run.yaml with `weft train`: tokens a second, peak memory, losses."""
    shutil.rmtree(os.path.join(folder, "runs"), ignore_errors=True)
    command = ["weft", "train", "run.yaml", "--name", name]
    for override in overrides:
        command += ["--set", override]
    peak = finish(command, pauses=pauses, cwd=folder)
    with open(os.path.join(folder, "runs", name, "metrics.jsonl"), encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    return speed([record["time"] for record in records]), peak, [record["loss"] for record in records]


def compileSeconds(folder, overrides=(), delay=0.0):
    """How long `weft-compile` takes, as a command."""
    start = time.monotonic()
    time.sleep(delay)
    command = ["weft-compile", "run.yaml", "-o", "run.weft"]
    for override in overrides:
        command += ["--set", override]
    finish(command, cwd=folder)
    return time.monotonic() - start


def changeOneWeight(path):
    """Adds 1 to a norm's weight, found by its name in the header; files of weights are little endian float32."""
    with open(path, "r+b") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        begin = 8 + size + json.loads(file.read(size))["model.norm.weight"]["data_offsets"][0]
        file.seek(begin)
        value = struct.unpack("<f", file.read(4))[0]
        file.seek(begin)
        file.write(struct.pack("<f", value + 1))


def exportRun(folder, sabotage):
    """Initial weights and the batches of every step for a peer, as a file."""
    subprocess.run([os.path.join(ROOT, "benchmarks", "peers", "setup.sh")], check=True)
    exported = os.path.join(folder, "export.safetensors")
    finish([os.path.join(BUILD, "tests", "parity", "weft-export-run"), "run.weft", str(STEPS), exported], cwd=folder)
    if sabotage == "weights":
        changeOneWeight(exported)


def runPeer(script, folder, *arguments, **options):
    """Runs a script of benchmarks/peers on the exported run: its peak memory and what it wrote."""
    output = os.path.join(folder, "peer.json")
    peak = finish([os.path.join(ROOT, ".cache", "peers", "bin", "python"), os.path.join(ROOT, "benchmarks", "peers", script),
                   os.path.join(folder, "run.yaml"), os.path.join(folder, "export.safetensors"), *arguments, output], **options)
    with open(output, encoding="utf-8") as file:
        return peak, json.load(file)


def main(description, sabotages, headline, runFile, measure):
    """A benchmark's command line: makes a folder with run.yaml and tokens, measures in it, writes the rows."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--rows", required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--sabotage", choices=sabotages)
    options = parser.parse_args()
    print(headline)
    with tempfile.TemporaryDirectory(prefix="weft-benchmark-") as folder:
        shutil.copy(runFile, os.path.join(folder, "run.yaml"))
        writeTokens(os.path.join(folder, "tokens"))
        try:
            rows = measure(options, folder)
        except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
            print(f"{os.path.basename(sys.argv[0])}: {error}", file=sys.stderr)
            return 1
    with open(options.rows, "w", encoding="utf-8") as file:
        json.dump([{"name": name, "value": value} for name, value in rows.items()], file)
    return 0
