"""Packages of the registry that tests and benchmarks compare with: fetched once, at a stated version, into the cache folder.

    wheelFolder("megatron-core", "0.16.1")       the unpacked wheel alone, without what it depends on; or one folder of it
    pythonWith("tokenizers", ["tiktoken==0.14.0"])   the interpreter of an environment that has these packages
"""

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

from results import ROOT

CACHE = os.environ.get("WEFT_CACHE", os.path.join(ROOT, ".cache"))
PIP = ["--quiet", "--disable-pip-version-check"]


def inPlace(folder, make):
    """Fills a folder by make(temporary folder) unless it is there already; whole or not at all."""
    if not os.path.isdir(folder):
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        made = tempfile.mkdtemp(prefix=os.path.basename(folder) + ".", dir=os.path.dirname(folder))
        try:
            make(made)
            os.chmod(made, 0o755)
            os.rename(made, folder)
        except OSError:
            # Another process was faster; anything else is an error.
            if not os.path.isdir(folder):
                raise
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return folder


def wheelFolder(name, version, inside=""):
    def fetch(folder):
        print(f"fetching {name} {version}", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(prefix="weft-wheel-") as scratch:
            subprocess.run([sys.executable, "-m", "pip", "download", *PIP, "--no-deps", "--only-binary", ":all:", "-d", scratch,
                            f"{name}=={version}"], check=True)
            (wheel,) = os.listdir(scratch)
            with zipfile.ZipFile(os.path.join(scratch, wheel)) as archive:
                archive.extractall(folder, [entry for entry in archive.namelist() if entry.startswith(inside)])
    part = "-" + inside.strip("/").replace("/", "-") if inside else ""
    return inPlace(os.path.join(CACHE, "wheels", f"{name}-{version}{part}"), fetch)


def pythonWith(name, requirements):
    """An environment cannot be moved: it is made where it stays, and a file in it says of what when it is whole."""
    folder = os.path.join(CACHE, name)
    python, complete, wanted = os.path.join(folder, "bin", "python"), os.path.join(folder, "complete"), "\n".join(requirements)
    if os.path.exists(complete):
        with open(complete, encoding="utf-8") as file:
            if file.read() == wanted:
                return python
    print(f"installing {', '.join(requirements)}", file=sys.stderr, flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([python, "-m", "pip", "install", *PIP, *requirements], check=True)
    with open(complete, "w", encoding="utf-8") as file:
        file.write(wanted)
    return python


def peersPython():
    """PyTorch and transformers (benchmarks/peers/setup.sh)."""
    subprocess.run([os.path.join(ROOT, "benchmarks", "peers", "setup.sh")], check=True, stdout=sys.stderr)
    return os.path.join(ROOT, ".cache", "peers", "bin", "python")
