"""Checks of the sources themselves: formatting, layering, lengths, the second compiler, clang-tidy. Each is one test."""

import concurrent.futures
import json
import os
import re
import time

from results import BUILD, ROOT, SOURCE_SUFFIXES, Result, run, sourceFiles

LONGEST_FILE = 600
LONGEST_FUNCTION = 80
LENGTH_SUFFIXES = SOURCE_SUFFIXES + (".td", ".py", ".sh", ".cmake", ".fbs", "CMakeLists.txt")
TIDY_SECONDS = 420  # what clang-tidy may take in all; files that it did not reach are named

# In formatted code a function starts in column 0 with a line that is no type, namespace or preprocessor line, opens its
# body at the end of that line or a later one, and ends at the next "}" in column 0. Tables (`= {`) are not functions.
TEMPLATE_HEAD = re.compile(r"^template\s*<.*>\s*")
NOT_A_FUNCTION = re.compile(r"(namespace|struct|class|enum|union|extern|using|typedef|public|private|protected)\b|//|[#}]")
TABLE_OPENS = re.compile(r"=\s*\{$")
TEST_FOLDER = "tests/unit/TestFolder.h"
OWN_PATH = re.compile(r"\bTempDir\(|temp_directory_path|\bmkd?s?temp\(|\btmpnam|\"/tmp/\w")
LENGTH_EXCUSED = "NOLINT(readability-function-size)"


def checkFormat():
    files = sourceFiles(SOURCE_SUFFIXES)
    if not files:
        return Result("format", True)
    status, output, seconds = run(["clang-format-22", "--dry-run", "-Werror", "--ferror-limit=1", *files])
    return Result("format", status == 0, seconds, output + "\nRepair: clang-format-22 -i FILE...")


def checkLayering():
    status, output, seconds = run([os.path.join(ROOT, "scripts", "check-layering.sh")])
    return Result("layering", status == 0, seconds, output)


def checkFileLength():
    start = time.monotonic()
    long = []
    for name in sourceFiles(LENGTH_SUFFIXES):
        with open(os.path.join(ROOT, name), encoding="utf-8", errors="replace") as file:
            lines = sum(1 for _ in file)
        if lines > LONGEST_FILE:
            long.append(f"{name}: {lines} lines, at most {LONGEST_FILE}: split it by idea")
    return Result("file-length", not long, time.monotonic() - start, "\n".join(long))


def longFunctions(name, lines):
    """Messages for the functions of one formatted C++ file that are longer than allowed."""
    found, head, start, excused = [], None, None, False
    for number, line in enumerate(lines, 1):
        line = line.rstrip("\n")
        if start is not None:
            if line.startswith("}"):
                length = number - start - 1
                if length > LONGEST_FUNCTION and not excused:
                    found.append(f"{name}:{head}: function of {length} lines, at most {LONGEST_FUNCTION}")
                head, start, excused = None, None, False
            continue
        if NOT_A_FUNCTION.match(TEMPLATE_HEAD.sub("", line)):
            head = None
        elif head is None and line and not line[0].isspace():
            head = number
        if head is None:
            excused = LENGTH_EXCUSED in line
        elif line.endswith("{"):
            start = number
            excused = excused or LENGTH_EXCUSED in line or TABLE_OPENS.search(line) is not None
        elif line.endswith((";", "}")):
            head, excused = None, False
    return found


def checkFunctionLength():
    start = time.monotonic()
    found = []
    for name in sourceFiles(SOURCE_SUFFIXES):
        with open(os.path.join(ROOT, name), encoding="utf-8", errors="replace") as file:
            found += longFunctions(name, file)
    return Result("function-length", not found, time.monotonic() - start, "\n".join(found))


def checkGcc():
    """runtime/, kernels/ and tools/weft build with g++ 12, the host compiler of nvcc; unit tests are left out."""
    folder = os.path.join(ROOT, "build", "gcc-check")
    status, output, seconds = 0, "", 0.0
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        status, output, seconds = run(["cmake", "--preset", "gcc-runtime", "-B", folder, "-DWEFT_BUILD_TESTS=OFF"])
    if status == 0:
        status, output, seconds = run(["ninja", "-C", folder])
    return Result("gcc", status == 0, seconds, "\n".join(line for line in output.splitlines() if not line.startswith("[")))


def checkTestFolders():
    """Unit tests run side by side: what they write lies in a TestFolder, whose name no other test has."""
    start = time.monotonic()
    found = []
    for name in sourceFiles(SOURCE_SUFFIXES):
        if not name.startswith("tests/unit/") or name == TEST_FOLDER:
            continue
        with open(os.path.join(ROOT, name), encoding="utf-8") as file:
            found += [f"{name}:{number}: use TestFolder ({TEST_FOLDER}): a path of one's own may be that of another test"
                      for number, line in enumerate(file, 1) if OWN_PATH.search(line)]
    return Result("test-folders", not found, time.monotonic() - start, "\n".join(found))


def landedCommit():
    """The commit to compare with: where this branch left origin/main, else the commit before this one."""
    status, output, _ = run(["git", "merge-base", "HEAD", "origin/main"])
    if status == 0:
        _, head, _ = run(["git", "rev-parse", "HEAD"])
        if output.strip() != head.strip():
            return output.strip()
    status, output, _ = run(["git", "rev-parse", "--verify", "-q", "HEAD~1"])
    return output.strip() if status == 0 else None


def changedSources():
    """C++ files that differ from the landed commit and that the build compiles."""
    commit = landedCommit()
    if commit is None:
        names = set(sourceFiles((".cpp",)))
    else:
        _, changed, _ = run(["git", "diff", "--name-only", "-z", "--diff-filter=d", commit])
        _, new, _ = run(["git", "ls-files", "-z", "--others", "--exclude-standard"])
        names = {name for name in (changed + new).split("\0") if name.endswith(".cpp")}
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
        compiled = {os.path.relpath(os.path.join(entry["directory"], entry["file"]), ROOT) for entry in json.load(file)}
    return sorted(names & compiled)


def tidyOne(name, deadline):
    """None when there was no time left for the file, else (status, output)."""
    left = deadline - time.monotonic()
    if left < 5:
        return None
    status, output, _ = run(["nice", "-n", "5", "clang-tidy-22", "-p", BUILD, "--quiet", name], timeout=left)
    if status == 124:
        return None
    return status, "\n".join(line for line in output.splitlines() if "warnings generated" not in line)


def checkTidy():
    start = time.monotonic()
    names = changedSources()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        done = list(pool.map(lambda name: tidyOne(name, start + TIDY_SECONDS), names))
    reached = [entry for entry in done if entry is not None]
    output = "\n".join(entry[1] for entry in reached if entry[0] != 0)
    left = [name for name, entry in zip(names, done) if entry is None]
    print(f"clang-tidy: {len(reached)} of {len(names)} changed files checked", flush=True)
    for name in left:
        print(f"  not reached in {TIDY_SECONDS} s: {name}")
    return Result("clang-tidy", all(entry[0] == 0 for entry in reached), time.monotonic() - start, output)


CHECKS = {"format": checkFormat, "layering": checkLayering, "file-length": checkFileLength,
          "function-length": checkFunctionLength, "test-folders": checkTestFolders, "gcc": checkGcc, "clang-tidy": checkTidy}


def runChecks(report):
    start = time.monotonic()
    results = [check() for name, check in CHECKS.items() if report.wants(name)]
    report.add("checks", results, time.monotonic() - start)
