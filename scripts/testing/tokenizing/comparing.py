"""Holds weft's ids and texts against the reference's. A reference's answers are kept in the cache folder as 8 bytes a string,
under what they are of (library version, tokenizer file, mode, strings): a second run asks only weft.
"""

import array
import functools
import hashlib
import os
import re
import struct
import subprocess
import tempfile
import time

import numpy

import packages


SHRINKING_SECONDS = 20


class Refused(Exception):
    """weft ended with an error."""


def digest(data):
    return hashlib.blake2b(data, digest_size=8).digest()


def records(parts):
    """What weft tokenizer reads and writes: each part behind its length."""
    return b"".join(piece for part in parts for piece in (struct.pack("<I", len(part)), part))


def splitRecords(data, width):
    """The parts again; a length counts units of `width` bytes."""
    parts, at = [], 0
    while at < len(data):
        size = width * int.from_bytes(data[at:at + 4], "little")
        parts.append(data[at + 4:at + 4 + size])
        at += 4 + size
    return parts


def weft(verb, subject, options, sent):
    """Standard output of `weft tokenizer VERB`."""
    command = ["weft", "tokenizer", verb, subject.path, *subject.options, "--records", *options]
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as taken:
        given.write(sent)
        given.seek(0)
        done = subprocess.run(command, stdin=given, stdout=taken, stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            raise Refused(f"{' '.join(command[:4])}: exit status {done.returncode}: {done.stderr.decode(errors='replace')[-2000:]}")
        taken.seek(0)
        return taken.read()


MODE_OPTIONS = {"plain": [], "special": ["--special"], "added": ["--special", "--add-special"]}


def weftIds(subject, texts, mode):
    """int32 ids of each text (bytes), as bytes."""
    return splitRecords(weft("encode", subject, MODE_OPTIONS[mode], records(texts)), 4)


def weftTexts(subject, ids):
    sent = b"".join(piece for one in ids for piece in (struct.pack("<I", len(one) // 4), one))
    return splitRecords(weft("decode", subject, [], sent), 1)


def referenceIds(subject, texts, mode):
    return [array.array("i", ids).tobytes() for ids in subject.reference.encode([text.decode("utf-8") for text in texts], mode)]


def referenceTexts(subject, ids):
    """Of ids as bytes; what is no UTF-8 is U+FFFD. The end of a document is no text in weft: it is left out here."""
    end = endOfDocument(subject)
    return [text.encode("utf-8", "replace") for text in subject.reference.decode([[number for number in array.array("i", one) if number != end] for one in ids])]


@functools.cache
def endOfDocument(subject):
    command = ["weft", "tokenizer", "show", subject.path, *subject.options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    shown = re.search(r"end of document +(\d+)", done.stdout)
    if done.returncode != 0 or shown is None:
        raise Refused(f"{' '.join(command[:4])}: exit status {done.returncode}: {done.stdout}{done.stderr}")
    return int(shown[1])


def fileDigest(path):
    with open(path, "rb") as file:
        return hashlib.blake2b(file.read(), digest_size=16).hexdigest()


class Judge:
    """The reference's answers about one tokenizer."""

    def __init__(self, subject):
        self.subject = subject
        self.file = fileDigest(subject.path)
        self.folder = os.path.join(packages.CACHE, "tokenizers", "answers", subject.name)
        os.makedirs(self.folder, exist_ok=True)

    def answers(self, texts, mode):
        """Two digests for each text: of its ids, and of the text that they decode to."""
        key = hashlib.blake2b(digest_size=16)
        for part in (self.subject.reference.version, self.file, repr(self.subject.options), mode, str(endOfDocument(self.subject))):
            key.update(part.encode() + b"\0")
        key.update(records(texts))
        path = os.path.join(self.folder, key.hexdigest() + ".npy")
        if not os.path.exists(path):
            ids = referenceIds(self.subject, texts, mode)
            both = b"".join(digest(one) + digest(text) for one, text in zip(ids, referenceTexts(self.subject, ids)))
            with open(path + ".tmp", "wb") as file:
                numpy.save(file, numpy.frombuffer(both, dtype="V8").reshape(-1, 2))
            os.rename(path + ".tmp", path)
        return [(row[0].tobytes(), row[1].tobytes()) for row in numpy.load(path)]


def asUtf8(text):
    return text.decode("utf-8", "replace").encode()


def differing(judge, texts, mode, sabotage=None):
    """The numbers of the texts (valid UTF-8) that weft encodes or decodes otherwise than the reference."""
    subject = judge.subject
    ids = weftIds(subject, texts, mode)
    if sabotage == "wrong_id":
        first = next(number for number, one in enumerate(ids) if one)
        ids[first] = bytes([ids[first][0] ^ 1]) + ids[first][1:]
    decoded = weftTexts(subject, ids)
    answers = judge.answers(texts, mode)
    if len(ids) != len(texts) or len(decoded) != len(texts):
        return list(range(len(texts)))
    return [number for number, (wantedIds, wantedText) in enumerate(answers)
            if digest(ids[number]) != wantedIds or not sameText(subject, decoded[number], wantedText)]


def sameText(subject, decoded, wanted):
    """Byte tokens that together are no UTF-8 are U+FFFD each to Hugging Face, and their bytes to weft: nothing to compare."""
    return digest(asUtf8(decoded)) == wanted or (subject.fallsBack and not isUtf8(decoded))


def isUtf8(text):
    return asUtf8(text) == text


def notReturning(subject, texts):
    """The numbers of the texts, of any bytes, that do not come back from their own ids."""
    decoded = weftTexts(subject, weftIds(subject, texts, "plain"))
    return [number for number, text in enumerate(texts) if number >= len(decoded) or decoded[number] != text]


def shrunk(text, fails):
    """A short text that still fails: characters are taken out as long as it does, for some seconds. `fails(texts)` gives their
    numbers."""
    end = time.monotonic() + SHRINKING_SECONDS
    while time.monotonic() < end:
        characters = text.decode("utf-8", "surrogateescape")
        size = max(1, len(characters) // 8)
        spans = {(begin, begin + length) for length in {size, max(1, size // 2), 1} for begin in range(0, len(characters), max(1, length // 2))} if len(characters) < 400 else {
            (begin, begin + size) for begin in range(0, len(characters), size)}
        shorter = sorted({(characters[:begin] + characters[end:]).encode("utf-8", "surrogateescape") for begin, end in spans} - {text}, key=len)
        failing = fails(shorter) if shorter else []
        if not failing:
            break
        text = shorter[failing[0]]
    return text


def describe(subject, text, mode):
    """What weft and the reference say about one text."""
    try:
        got = array.array("i", weftIds(subject, [text], mode)[0])
        decoded = weftTexts(subject, [got.tobytes()])[0]
    except (Refused, IndexError) as error:
        return f"{text!r} ({mode}): {error}"
    wanted = array.array("i", referenceIds(subject, [text], mode)[0])
    wantedText = referenceTexts(subject, [wanted.tobytes()])[0]
    lines = [f"{text.decode()!r} ({mode})", f"  expected ids {wanted.tolist()[:60]}", f"  got      ids {got.tolist()[:60]}"]
    if got == wanted:
        lines[1:] = [f"  ids {wanted.tolist()[:60]}", f"  expected text {wantedText.decode('utf-8', 'replace')!r}", f"  got      text {decoded!r}"]
    return "\n".join(lines)
