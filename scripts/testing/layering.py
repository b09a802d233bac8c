"""The arrows between the folders of the house, held against every #include and every CMake link dependency.

    tools -> compiler -> passes -> dialects         tools -> runtime -> kernels
    compiler -> runtime/config                      passes/{fuse,memory} -> kernels (signatures, workspaces)
    compiler/codegen -> kernels/cpu: generated kernels call the functions of its vectors
    passes/emit -> runtime/executable               compiler/interpret -> kernels/reference
    passes/pipeline/schedules -> runtime/support: what a schedule asks of its shape is checked with the run file
    compiler/validate -> runtime/{exec,device,comm}: what is compiled is run
runtime/, kernels/ and tools/weft see no MLIR or LLVM. Each violation is named with file and line.
"""

import argparse
import os
import re
import sys

# folder -> folders that it may use besides itself; the longest matching prefix decides, and adds to the shorter ones.
# runtime/support is a leaf (files, messages) that whoever uses another part of runtime/ may use too.
ARROWS = {
    "kernels": [],
    "runtime": ["kernels"],
    "dialects": [],
    "passes": ["dialects"],
    "passes/analysis": ["kernels/collective", "kernels/common", "kernels/cpu"],
    "passes/fuse": ["kernels"],
    "passes/memory": ["kernels"],
    "passes/pipeline/schedules": ["runtime/support"],
    "passes/emit": ["runtime/executable", "runtime/support"],
    "compiler": ["passes", "dialects", "kernels/common", "runtime/config", "runtime/executable", "runtime/support"],
    "compiler/codegen": ["kernels/cpu"],
    "compiler/interpret": ["kernels/reference"],
    "compiler/validate": ["kernels", "runtime/comm", "runtime/device", "runtime/exec"],
    "tools": ["compiler", "passes", "dialects", "runtime", "kernels"],
    "tests": ["tools", "compiler", "passes", "dialects", "runtime", "kernels"],
    "benchmarks": ["tools", "compiler", "passes", "dialects", "runtime", "kernels"],
}
# `weft` starts weft-compile as a child: it is built without the compiler.
WITHOUT_COMPILER = ("tools/weft/",)
WITHOUT_MLIR = ("kernels/", "runtime/", "tools/weft/")
HOUSE = sorted({folder.split("/")[0] for folder in ARROWS})

INCLUDE = re.compile(r'^\s*#?\s*include\s*([<"])([^>"]+)[>"]')
COMMAND = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\s*\(([^()]*)\)", re.DOTALL)
DEFINING = re.compile(r"(weft_add_\w+|add_library|add_executable)$")
# A folder's own weft_add_... is checked where it is called, so its body, which forwards DEPENDS, is not.
HELPER = re.compile(r"^[ \t]*function\s*\(.*?^[ \t]*endfunction\s*\(", re.DOTALL | re.MULTILINE | re.IGNORECASE)


def mayUse(user, used):
    """Whether a file in folder `user` may use one in `used` (both with a closing slash)."""
    if user.split("/")[0] == used.split("/")[0]:
        return not (user.startswith("tools/weft/") and not used.startswith("tools/weft/"))
    if user.startswith(WITHOUT_COMPILER) and used.split("/")[0] in ("compiler", "passes", "dialects"):
        return False
    allowed = [target for folder, targets in ARROWS.items() if user.startswith(folder + "/") for target in targets]
    return any(used.startswith(target + "/") for target in allowed)


def reason(user):
    allowed = sorted({target for folder, targets in ARROWS.items() if user.startswith(folder + "/") for target in targets
                      if not (user.startswith(WITHOUT_COMPILER) and target in ("compiler", "passes", "dialects"))})
    return f"{user.rstrip('/')} may use itself" + (f", {', '.join(allowed)}" if allowed else "")


def houseFiles(root):
    for top in HOUSE:
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                yield os.path.relpath(os.path.join(folder, name), root)


def includeViolations(root, name):
    folder = os.path.dirname(name) + "/"
    with open(os.path.join(root, name), encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            found = INCLUDE.match(line)
            if not found:
                continue
            included = found[2]
            if included.split("/")[0] in ("mlir", "llvm", "mlir-c", "llvm-c") and folder.startswith(WITHOUT_MLIR):
                yield f"{name}:{number}: includes {included}: runtime/, kernels/ and tools/weft see no MLIR or LLVM header"
                continue
            if found[1] == '"' and os.path.exists(os.path.join(root, folder, included)):
                included = os.path.normpath(os.path.join(folder, included))
            top = included.split("/")[0]
            if top in HOUSE and "/" in included and not mayUse(folder, os.path.dirname(included) + "/"):
                yield f"{name}:{number}: includes {included}: {reason(folder)}"


def withoutComments(text):
    return re.sub(r"#[^\n]*", lambda comment: " " * len(comment[0]), text)


def cmakeCommands(root, name):
    """(command, [(word, line)]) of a CMake file; nested parentheses (generator conditions) are not link dependencies."""
    with open(os.path.join(root, name), encoding="utf-8") as file:
        text = HELPER.sub(lambda body: re.sub(r"[^\n]", " ", body[0]), withoutComments(file.read()))
    for found in COMMAND.finditer(text):
        words = []
        for word in re.finditer(r'"[^"]*"|[^\s"]+', found[2]):
            words.append((word[0].strip('"'), text.count("\n", 0, found.start(2) + word.start()) + 1))
        yield found[1].lower(), words


def dependencyWords(command, words):
    """(target, [(dependency, line)]) that a command states, or None."""
    names = [word for word, _ in words]
    if DEFINING.match(command) and "DEPENDS" in names:
        first = names.index("DEPENDS") + 1
        end = names.index("CORPUS") if "CORPUS" in names[first:] else len(names)  # folders of a fuzzer's inputs follow
        return names[0], words[first:end]
    if command == "target_link_libraries" and words:
        return names[0], [word for word in words[1:] if word[0] not in ("PUBLIC", "PRIVATE", "INTERFACE")]
    return None


def linkViolations(root, files):
    commands = [(name, command, words) for name in files for command, words in cmakeCommands(root, name) if words]
    home = {words[0][0]: os.path.dirname(name) + "/" for name, command, words in commands if DEFINING.match(command)}
    for name, command, words in commands:
        folder = os.path.dirname(name) + "/"
        if command in ("weft_add_mlir_library", "weft_use_mlir") and folder.startswith(WITHOUT_MLIR):
            yield f"{name}:{words[0][1]}: {words[0][0]} links MLIR: runtime/, kernels/ and tools/weft are built without it"
        stated = dependencyWords(command, words)
        for dependency, line in stated[1] if stated else []:
            if re.match(r"(MLIR|LLVM)", dependency) and folder.startswith(WITHOUT_MLIR):
                yield f"{name}:{line}: {stated[0]} links {dependency}: runtime/, kernels/ and tools/weft are built without MLIR"
            elif "${" in dependency and not re.fullmatch(r"\$\{(WEFT_\w+_LIBRARY|CMAKE_DL_LIBS)\}", dependency):
                yield f"{name}:{line}: {stated[0]} links {dependency}: name each library, so that its layer can be checked"
            elif dependency in home and not mayUse(folder, home[dependency]):
                yield f"{name}:{line}: {stated[0]} links {dependency} of {home[dependency].rstrip('/')}: {reason(folder)}"


def main():
    parser = argparse.ArgumentParser(prog="scripts/check-layering.sh", description="Checks includes and link dependencies against the architecture.")
    parser.add_argument("--root", default=os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
                        help="the tree to check (default: this checkout)")
    root = parser.parse_args().root
    files = list(houseFiles(root))
    sources = [name for name in files if name.endswith((".h", ".cpp", ".cu", ".cuh", ".inc", ".td"))]
    violations = [message for name in sources for message in includeViolations(root, name)]
    violations += linkViolations(root, [name for name in files if os.path.basename(name) == "CMakeLists.txt"])
    for message in violations:
        print(message)
    print(f"layering: {len(sources)} files, {len(violations)} violations")
    return 1 if violations or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
