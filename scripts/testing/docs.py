"""Runs the marked code blocks of README.md, CONTRIBUTING.md and docs/, so that what they show is true.

The words after a fence's language say what to do; CONTRIBUTING.md explains them to authors:
    ```console run          commands after "$ ", each followed by the output it must print
    ```sh run               a script that must exit with 0; its output is not compared
    ```mlir file=x.mlir     (any language) written to that file before the blocks below it run
Options of a `run` block: exit=N (the status expected of its last command), timeout=SECONDS (default 120).
The blocks of one page run in order in one empty folder, with the build's programs on PATH. Output is compared line by
line with numbers masked and runs of blanks folded; an expected line "..." stands for any lines.
"""

import dataclasses
import glob
import os
import re
import tempfile
import time

from results import BUILD, ROOT, Result, run

FENCE = re.compile(r"^(\s*)(`{3,})\s*(\S*)\s*(.*)$")
NUMBER = re.compile(r"[0-9]+(?:[.,:][0-9]+)*")


@dataclasses.dataclass
class Block:
    page: str
    line: int
    language: str
    words: dict
    text: str

    @property
    def name(self):
        return f"{self.page}:{self.line}"


def blocksOf(page, text):
    """The marked blocks of one page, in order. A marked block that is never closed, or an unknown word, is an error."""
    blocks, opened = [], None
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if opened is None and fence:
            opened = (number, fence, [])
        elif opened and fence and fence[2].startswith(opened[1][2]) and not fence[3]:
            start, head, lines = opened
            words = dict((word.split("=", 1) + [""])[:2] for word in head[4].split())
            unknown = set(words) - {"run", "file", "exit", "timeout"}
            if unknown:
                raise ValueError(f"{page}:{start}: unknown word after the fence: {' '.join(sorted(unknown))}")
            if words:
                blocks.append(Block(page, start, head[3], words, "\n".join(lines) + "\n"))
            opened = None
        elif opened:
            indent = len(opened[1][1])
            opened[2].append(line[indent:] if not line[:indent].strip() else line)
    if opened:
        raise ValueError(f"{page}:{opened[0]}: the block is never closed")
    return blocks


def masked(line):
    return re.sub(r"\s+", " ", NUMBER.sub("N", line)).strip()


def matches(expected, printed):
    """Whether masked lines match, where "..." in `expected` stands for any number of lines."""
    if not expected:
        return not printed
    if expected[0] == "...":
        return any(matches(expected[1:], printed[skip:]) for skip in range(len(printed) + 1))
    return bool(printed) and expected[0] == printed[0] and matches(expected[1:], printed[1:])


def commandsOf(block):
    """(command, expected output lines) pairs of a console block. A line "> " continues the command above it."""
    commands = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            commands.append([line[2:], []])
        elif not commands:
            raise ValueError(f"{block.name}: a console block starts with a line \"$ command\"")
        elif line.startswith("> ") and not commands[-1][1]:
            commands[-1][0] += "\n" + line[2:]
        else:
            commands[-1][1].append(line)
    return commands


def shell(command, folder, timeout):
    environment = dict(os.environ, PATH=os.path.join(BUILD, "bin") + os.pathsep + os.environ["PATH"], LC_ALL="C.UTF-8", WEFT_ROOT=ROOT,
                       WEFT_BUILD=BUILD)
    status, output, _ = run(["bash", "-euo", "pipefail", "-c", command], timeout=timeout, cwd=folder, env=environment)
    return status, output


def runBlock(block, folder):
    """What is wrong with the block, as text; empty when nothing is."""
    if "file" in block.words:
        path = os.path.join(folder, block.words["file"])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(block.text)
    if "run" not in block.words:
        return ""
    timeout = int(block.words.get("timeout", "120"))
    console = block.language == "console"
    if not console and block.language not in ("sh", "bash"):
        return f"a block to run is console, sh or bash, not {block.language!r}"
    commands = commandsOf(block) if console else [[block.text, None]]
    for position, (command, expected) in enumerate(commands):
        wanted = int(block.words.get("exit", "0")) if position == len(commands) - 1 else 0
        status, output = shell(command, folder, timeout)
        if status != wanted:
            return f"$ {command}\nexit status {status}, not {wanted}:\n{output}"
        if expected is not None:
            printed = [line for line in map(masked, output.splitlines()) if line]
            shown = [line for line in map(masked, expected) if line]
            if not matches(shown, printed):
                return f"$ {command}\nprinted:\n{output}\nnot:\n" + "\n".join(expected)
    return ""


def pages():
    found = [os.path.join(ROOT, name) for name in ("README.md", "CONTRIBUTING.md")]
    found += glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True)
    return sorted(path for path in found if os.path.isfile(path))


def runPage(page, text, report):
    try:
        blocks = blocksOf(page, text)
    except ValueError as error:
        return [Result(page, False, 0, str(error))]
    last = max((index for index, block in enumerate(blocks) if report.wants(block.name)), default=-1)
    results = []
    with tempfile.TemporaryDirectory(prefix="weft-docs-") as folder:
        for block in blocks[:last + 1]:
            start = time.monotonic()
            try:
                wrong = runBlock(block, folder)
            except (ValueError, OSError) as error:
                wrong = str(error)
            if report.wants(block.name):
                results.append(Result(block.name, not wrong, time.monotonic() - start, wrong))
    return results


def runDocTests(report):
    start = time.monotonic()
    results = []
    for path in pages():
        with open(path, encoding="utf-8") as file:
            results += runPage(os.path.relpath(path, ROOT), file.read(), report)
    report.add("docs", results, time.monotonic() - start)
