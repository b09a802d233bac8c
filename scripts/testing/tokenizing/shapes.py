"""Texts of a shape that breaks tokenizers which are not linear, or which recurse: a character a million times, a line of
megabytes without a space. weft runs with a stack of 256 KiB; twice the text may take at most three times the time.
"""

import array
import os
import random
import subprocess
import tempfile

from comparing import Refused, asUtf8, records, weftIds
from references import SentencePiece

STACK_KIB = 256
LARGEST_RATIO = 3.0
SECONDS_OF_NOISE = 0.5
CHARACTERS = ("a", " ", "\n", "\r", "1", "'", "中", "😀", "\u0301", "\u00a0", "_")


def secondsOf(subject, texts):
    """Processor seconds of encoding some texts in one process with a small stack."""
    with tempfile.TemporaryFile() as given:
        given.write(records(texts))
        given.seek(0)
        line = f"ulimit -s {STACK_KIB}; exec weft tokenizer encode \"$@\" --records"
        process = subprocess.Popen(["bash", "-c", line, "bash", subject.path, *subject.options], stdin=given, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stderr.close()
        if process.returncode != 0:
            raise Refused(f"exit status {process.returncode}: {said.decode(errors='replace')[-500:]}")
        return usage.ru_utime + usage.ru_stime


def lineWithoutSpaces(sources, size, seed):
    """English without white space, over and over, one byte changed each time."""
    letters, draw = bytearray(b"".join(sources.english[:4_000_000].split())), random.Random(seed)
    line = bytearray()
    while len(line) < size:
        letters[draw.randrange(len(letters))] = 97 + draw.randrange(26)
        line += letters
    return asUtf8(bytes(line[:size]))


def isLinear(subject, halves, wholes):
    """What is wrong, or nothing: two processes take the halves and the wholes."""
    try:
        base = secondsOf(subject, [b"a"])
        first, second = secondsOf(subject, halves) - base, secondsOf(subject, wholes) - base
    except Refused as error:
        return str(error)
    return "" if second <= LARGEST_RATIO * first + SECONDS_OF_NOISE else f"{first:.2f} s for half of it, {second:.2f} s for all: not linear"


def shapeTrials(sources, subject, repeats, lineBytes, seed):
    """Yields (name, what is wrong or empty) for each shape."""
    def characters(some):
        return isLinear(subject, [(one * (repeats // 2)).encode() for one in some], [(one * repeats).encode() for one in some])
    wrong = characters(CHARACTERS)
    for character in CHARACTERS:
        yield f"{repeats:,} times {character!r}", characters([character]) if wrong else ""
    # The library of SentencePiece takes some hundred bytes of memory for each of the text, whoever calls it.
    if isinstance(subject.reference, SentencePiece):
        lineBytes //= 10
    line = lineWithoutSpaces(sources, lineBytes, seed)
    yield f"a line of {lineBytes / 1e6:g} MB without a space", isLinear(subject, [line[:lineBytes // 2]], [line])


def sameAsReference(subject, repeats):
    """Yields (name, what is wrong or empty) for the characters that come over and over."""
    texts = [character * repeats for character in CHARACTERS]
    wanted = subject.reference.encode(texts, "plain")
    for character, ids, got in zip(CHARACTERS, wanted, weftIds(subject, [text.encode() for text in texts], "plain"), strict=True):
        yield f"ids of {repeats:,} times {character!r}", "" if got == array.array("i", ids).tobytes() else f"{len(got) // 4} ids, expected {len(ids)}"
