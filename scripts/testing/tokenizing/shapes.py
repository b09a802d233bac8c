"""Texts of a shape that breaks tokenizers which are not linear, or which recurse: a character a million times, a line of
megabytes without a space. weft runs with a stack of 256 KiB; twice the text may take at most three times the time.
"""

import os
import random
import subprocess
import tempfile

from comparing import Refused, asUtf8, records, splitRecords, weftIds
from references import SentencePiece

STACK_KIB = 256
LARGEST_RATIO = 3.0
SECONDS_OF_NOISE = 0.5
CHARACTERS = ("a", " ", "\n", "\r", "1", "'", "中", "😀", "\u0301", "\u00a0", "_")


def secondsOf(subject, text):
    """Processor seconds of encoding one text, with a small stack, and the number of ids."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as taken:
        given.write(records([text]))
        given.seek(0)
        line = f"ulimit -s {STACK_KIB}; exec weft tokenizer encode \"$@\" --records"
        process = subprocess.Popen(["bash", "-c", line, "bash", subject.path, *subject.options], stdin=given, stdout=taken, stderr=subprocess.PIPE)
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise Refused(f"exit status {process.returncode}: {said.decode(errors='replace')[-500:]}")
        taken.seek(0)
        return usage.ru_utime + usage.ru_stime, splitRecords(taken.read(), 4)[0]


def lineWithoutSpaces(sources, size, seed):
    """English without white space, over and over, one byte changed each time."""
    letters, draw = bytearray(b"".join(sources.english[:4_000_000].split())), random.Random(seed)
    line = bytearray()
    while len(line) < size:
        letters[draw.randrange(len(letters))] = 97 + draw.randrange(26)
        line += letters
    return asUtf8(bytes(line[:size]))


def shapes(sources, subject, repeats, lineBytes, seed):
    """Names, and texts of one and of two sizes."""
    for character in CHARACTERS:
        yield f"{repeats:,} times {character!r}", (character * (repeats // 2)).encode(), (character * repeats).encode()
    # The library of SentencePiece takes some hundred bytes of memory for each of the text, whoever calls it.
    if isinstance(subject.reference, SentencePiece):
        lineBytes //= 10
    line = lineWithoutSpaces(sources, lineBytes, seed)
    yield f"a line of {lineBytes / 1e6:g} MB without a space", line[:lineBytes // 2], line


def linearFailures(sources, subject, repeats, lineBytes, seed):
    """Yields (name, what is wrong or empty) for each shape."""
    base, _ = secondsOf(subject, b"a")
    for name, half, whole in shapes(sources, subject, repeats, lineBytes, seed):
        try:
            first, second = (secondsOf(subject, text)[0] - base for text in (half, whole))
        except Refused as error:
            yield name, str(error)
            continue
        isLinear = second <= LARGEST_RATIO * first + SECONDS_OF_NOISE
        yield name, "" if isLinear else f"{first:.2f} s for half of it, {second:.2f} s for all: not linear"


def sameAsReference(subject, repeats):
    """Yields (name, what is wrong or empty) for the characters that come over and over."""
    for character in CHARACTERS:
        text = character * repeats
        got = weftIds(subject, [text.encode()], "plain")[0]
        wanted = subject.reference.encode([text], "plain")[0]
        isSame = len(got) == 4 * len(wanted) and got == b"".join(number.to_bytes(4, "little") for number in wanted)
        yield f"ids of {repeats:,} times {character!r}", "" if isSame else f"{len(got) // 4} ids, expected {len(wanted)}"
