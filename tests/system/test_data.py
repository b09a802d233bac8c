"""weft data prepare and inspect: every core, every kind of file, killed and stopped at any moment; and Megatron's own reader
and writer on the other side.
"""

import base64
import gzip
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

from harness import ROOT, SystemTest

sys.path.insert(0, os.path.join(ROOT, "scripts", "testing"))
import packages  # noqa: E402

MEGATRON = ("megatron-core", "0.16.1")
KILLS = 12


class DataTest(SystemTest):
    def writeBytes(self, name, data):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)

    def dataset(self, prefix):
        files = []
        for suffix in (".bin", ".idx"):
            with open(os.path.join(self.folder, prefix + suffix), "rb") as file:
                files.append(file.read())
        return files

    def corpus(self, megabytes):
        """in/: text, JSONL, and both compressed; one file holds most of it."""
        words = random.Random(3)
        text = " ".join(words.choice("the cat sat on a mat and dog ran over".split()) for _ in range(50_000))
        lines = "".join(json.dumps({"id": number, "text": text[number * 100:number * 100 + words.randrange(1, 4000)]}) + "\n" for number in range(500))
        self.writeBytes("in/a.txt", text.encode() * (4 * megabytes))
        self.writeBytes("in/b.jsonl", lines.encode())
        self.writeBytes("in/c.txt.gz", gzip.compress(text.encode() * megabytes, 1))
        self.writeBytes("in/d.ndjson.gz", gzip.compress(lines.encode() * megabytes, 1))
        self.passes("zstd", "-q", "in/b.jsonl", "-o", "in/e.jsonl.zst")

    def prepare(self, prefix, *options, source="in"):
        return self.passes("weft", "data", "prepare", source, "-o", prefix, *options)

    def leftovers(self):
        return sorted(name for name in os.listdir(self.folder) if ".tmp" in name or ".journal" in name)


class Preparing(DataTest):
    def testThreadsChangeNoByteAndNothingIsLeftOver(self):
        self.corpus(1)
        self.prepare("one", "--threads", "1")
        for threads in (2, 5):
            self.prepare("several", "--threads", threads)
            self.assertEqual(self.dataset("one"), self.dataset("several"))
        self.assertEqual(self.leftovers(), [])

    def testProgressEndsWithEverythingDone(self):
        self.corpus(1)
        done = self.command("weft", "data", "prepare", "in", "-o", "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"prepare 100%  ([\d.]+ \w+) of \1  [\d,]+ documents  [\d,]+ tokens  eta 0s\n$")
        self.assertRegex(done.stdout, r"out\.bin, out\.idx: 1,502 documents, [\d,]+ tokens from [\d.]+ MiB of text in 5 files")

    def testAnotherKeyAndTheLineOfAMistake(self):
        self.write("a.jsonl", '{"text": "no", "body": "yes"}\n{"body": 3}\n')
        self.refuses(3, 'a.jsonl:2: a string for the key "body" is expected at column 10.', "weft", "data", "prepare", "a.jsonl",
                     "-o", "out", "--json-key", "body")
        self.assertEqual(self.leftovers(), [])
        self.assertFalse(os.path.exists(os.path.join(self.folder, "out.idx")))

    def testInspectShowsLengthsTypeAndTokenizer(self):
        self.write("a.jsonl", "".join(json.dumps({"text": "x" * length}) + "\n" for length in (1, 1, 5, 6, 100)))
        self.prepare("out", source="a.jsonl")
        said = self.passes("weft", "data", "inspect", "out")
        self.assertRegex(said, r"(?m)^  documents   5$")
        self.assertRegex(said, r"(?m)^  tokens      118, stored as u16$")
        self.assertRegex(said, r"(?m)^  tokenizer   bytes, checksum [0-9a-f]{16}$")
        self.assertIn("shortest 2, median 6, mean 23, 90 % up to 101, 99 % up to 101, longest 101", said)
        for row in (r"2 to 3 +2 +3\.4%  #{40}", r"4 to 7 +2 +11\.0%  #{40}", r"8 to 15 +0 +0\.0%  $", r"64 to 127 +1 +85\.6%  #{20}$"):
            self.assertRegex(said, r"(?m)^ +" + row)
        os.remove(os.path.join(self.folder, "out.dataset.json"))
        self.assertIn("tokenizer   not known", self.passes("weft", "data", "inspect", "out"))


class Interrupted(DataTest):
    def setUp(self):
        super().setUp()
        self.corpus(12)
        began = time.monotonic()
        self.prepare("whole")
        self.seconds = time.monotonic() - began

    def start(self):
        return subprocess.Popen(["weft", "data", "prepare", "in", "-o", "out"], cwd=self.folder, env=self.environment(),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finishes(self):
        """Prepares to the end; returns what was said."""
        done = self.command("weft", "data", "prepare", "in", "-o", "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.dataset("out"), self.dataset("whole"))
        self.assertEqual(self.leftovers(), [])
        return done.stderr

    def dies(self):
        """Whether it was killed with the record of a whole part in its journal."""
        process, journal, head = self.start(), os.path.join(self.folder, "out.bin.journal"), 0
        while process.poll() is None:
            size = os.path.getsize(journal) if os.path.exists(journal) else 0
            head = head or size
            if size > head > 0:
                process.kill()
            time.sleep(0.0005)
        process.communicate()
        return process.returncode == -signal.SIGKILL

    def testKilledBehindAWholePartItGoesOnThere(self):
        for _ in range(KILLS):
            if self.dies():
                break
            for suffix in (".bin", ".idx"):
                os.remove(os.path.join(self.folder, "out" + suffix))
        self.assertRegex(self.finishes(), r"going on with out after \d+ documents, \d+ tokens")

    def testKilledAtRandomMomentsItGoesOnToTheSameBytes(self):
        moments, kills = random.Random(5), 0
        while kills < KILLS:
            process = self.start()
            time.sleep(moments.uniform(0, self.seconds))
            process.kill()
            process.communicate()
            kills += process.returncode == -signal.SIGKILL
            if process.returncode == 0 or moments.random() < 0.3:
                if os.path.exists(os.path.join(self.folder, "out.idx")):
                    self.assertEqual(self.dataset("out"), self.dataset("whole"))
                self.finishes()
                for suffix in (".bin", ".idx"):
                    os.remove(os.path.join(self.folder, "out" + suffix))
        self.finishes()

    def testCtrlCEndsBehindAWholePartAndSaysHowToGoOn(self):
        process = self.start()
        while not os.path.exists(os.path.join(self.folder, "out.bin.tmp")):
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 5, said)
        self.assertRegex(said, r"stopped: \d+ % of out are done and kept: the same command goes on from there")
        self.assertRegex(self.finishes(), r"going on with out after \d+ documents, \d+ tokens")

    def testAFullDiskKeepsWhatIsWhole(self):
        half = os.path.getsize(os.path.join(self.folder, "whole.bin")) // 2048
        line = f"trap '' XFSZ; ulimit -f {half}; exec weft data prepare in -o out"
        done = self.refuses(3, "out.bin.tmp: cannot write: File too large. About ", "bash", "-c", line)
        self.assertIn("of out are done and kept: the same command goes on from there.", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "out.idx")))
        self.assertIn("going on with out after", self.finishes())

    def testAChangedSourceBeginsAnewAndSaysSo(self):
        process = self.start()
        time.sleep(self.seconds / 2)
        process.kill()
        process.communicate()
        with open(os.path.join(self.folder, "in/b.jsonl"), "a", encoding="utf-8") as file:
            file.write('{"text": "one more"}\n')
        self.prepare("whole")
        self.assertIn("a preparation of out was not finished and cannot go on: the source files have changed. It begins anew.", self.finishes())


class Megatron(DataTest):
    """Files go both ways between weft and megatron-core's indexed dataset."""

    TYPES = {"uint16": "u16", "int32": "i32", "int64": "i64", "uint8": "u8", "int16": "i16"}
    WIDE = ("--tokenizer", "wide.tiktoken", "--pattern", "gpt2", "--special-token", "<end>=70000", "--end-of-document", "<end>")
    DOCUMENTS = [[[1, 2, 3]], [[4], [5, 6], [7, 8, 9, 10]], [[11] * 300, [12]]]

    def megatron(self, jobs):
        """Gives Megatron several jobs at once: importing it takes longer than all of them."""
        environment = self.environment(PYTHONPATH=packages.wheelFolder(*MEGATRON), PYTHONWARNINGS="ignore")
        said = self.passes(packages.peersPython(), os.path.join(ROOT, "tests", "system", "megatron_dataset.py"), env=environment, timeout=900, stdin=json.dumps(jobs))
        return json.loads(said.splitlines()[-1])

    def prepareAs(self, prefix, source):
        """With so many ids that two bytes do not hold them."""
        tokens = [bytes([byte]) for byte in range(256)] + [bytes([byte, 32, low, high]) for byte in range(97, 107) for low in range(83) for high in range(83)]
        self.writeBytes("wide.tiktoken", b"".join(base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(tokens)))
        self.prepare(prefix, *self.WIDE, source=source)

    def shown(self, prefix, documents, *options):
        """The ids of each document, as weft shows them."""
        said = self.passes("weft", "data", "show", prefix, "--count", documents, "--tokens", *options)
        return [[int(word) for word in line.split()] for line in re.findall(r"^--- document .*\n(.*)$", said, re.MULTILINE)]

    def testEachReadsWhatTheOtherWrites(self):
        texts = ["one", "a longer document", "x" * 5000]
        self.write("a.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts))
        self.prepare("out", source="a.jsonl")
        self.prepareAs("wide", "a.jsonl")
        read, wide = self.megatron([{"read": "out"}, {"read": "wide"}] + [{"write": dtype, "dtype": dtype, "documents": self.DOCUMENTS} for dtype in self.TYPES])
        self.assertEqual(read, {"dtype": "uint16", "documents": [[[*text.encode(), 256]] for text in texts]})
        self.assertEqual(wide["dtype"], "int32")
        self.assertEqual([document for (document,) in wide["documents"]], self.shown("wide", 3, *self.WIDE))
        for dtype, shown in self.TYPES.items():
            said = self.passes("weft", "data", "inspect", dtype)
            self.assertIn(f"stored as {shown}\n", said)
            self.assertRegex(said, r"(?m)^  documents   3\n  sequences   6$")
            self.assertEqual(self.shown(dtype, 3), [sum(document, []) for document in self.DOCUMENTS])
