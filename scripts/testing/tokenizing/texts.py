"""Megabytes of mixed text: English, Chinese, code, emoji, marks, runs of white space, invalid UTF-8, and what the vocabulary
of the tokenizer at hand is made of. Documents of 200 bytes to 200 KB; document i of a seed is always the same.
"""

import glob
import os
import random
import subprocess

from strings import CODE, EMOJI, EVERYTHING, MARKS, SPACES

# The most frequent Chinese characters, roughly in order: what follows them is drawn from the whole block.
FREQUENT = ("的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部"
            "其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合")
ENGLISH_SHARE, CHINESE_SHARE, CODE_SHARE = 0.3, 0.2, 0.2


class Sources:
    """What documents are cut from."""

    def __init__(self, root, corpus):
        with open(corpus, "rb") as file:
            self.english = file.read()
        names = subprocess.run(["git", "-C", root, "ls-files", "*.cpp", "*.h", "*.py", "*.md", "*.td", "*.mlir"], check=True, capture_output=True, text=True).stdout.split()
        names = [os.path.join(root, name) for name in names] + sorted(glob.glob(os.path.dirname(os.__file__) + "/*.py"))
        self.code = b"".join(open(name, "rb").read() for name in names)

    def excerpt(self, text, size, draw):
        begin = draw.randrange(max(1, len(text) - size))
        return text[begin:begin + size]


def chinese(size, draw):
    """Words of one to four characters by a law of Zipf, punctuation, and some Latin between."""
    words = []
    for _ in range(3000):
        words.append("".join(FREQUENT[min(int(draw.expovariate(0.02)), len(FREQUENT) - 1)] if draw.random() < 0.85 else chr(draw.randrange(0x4e00, 0x9fa6))
                             for _ in range(draw.choice((1, 1, 2, 2, 2, 3, 4)))))
    text = []
    for _ in range(size // 5):
        text.append(words[min(int(draw.paretovariate(0.7)) - 1, len(words) - 1)])
        if draw.random() < 0.12:
            text.append(draw.choice(("，", "。", "、", "：", "？", "！", "“", "”", "\n", "　", " GPU ", "2024年", "3.5%", "（", "）")))
    return "".join(text).encode()[:size]


def symbols(size, draw):
    """Emoji, marks and white space in any order."""
    pools = (EMOJI, MARKS, SPACES, EVERYTHING)
    return "".join(draw.choice(draw.choice(pools)) for _ in range(size // 5)).encode()


def whitespace(size, draw):
    parts = []
    while sum(map(len, parts)) < size:
        parts += [draw.choice(SPACES) * draw.randrange(1, 40), draw.choice(CODE) if draw.random() < 0.5 else draw.choice(EVERYTHING)]
    return "".join(parts).encode()


def damaged(text, draw):
    """Some bytes replaced by others: no longer UTF-8."""
    text = bytearray(text)
    for _ in range(max(1, len(text) // 40)):
        text[draw.randrange(len(text))] = draw.randrange(256)
    return bytes(text)


def document(sources, draw, vocabulary):
    size = int(200 * 1000 ** draw.random())
    kind = draw.random()
    if kind < ENGLISH_SHARE:
        return sources.excerpt(sources.english, size, draw)
    kind -= ENGLISH_SHARE
    if kind < CHINESE_SHARE:
        return chinese(size, draw)
    kind -= CHINESE_SHARE
    if kind < CODE_SHARE:
        return sources.excerpt(sources.code, size, draw)
    if kind < CODE_SHARE + 0.1:
        return symbols(size, draw)
    if kind < CODE_SHARE + 0.15:
        return whitespace(size, draw)
    if kind < CODE_SHARE + 0.2:
        return damaged(draw.choice((chinese(size, draw), sources.excerpt(sources.english, size, draw))), draw)
    return b"".join(draw.choices(vocabulary, k=size // 4))


def mixedDocuments(sources, seed, megabytes, vocabulary):
    """Yields documents until they have so many megabytes."""
    left, number = megabytes * 1e6, 0
    while left > 0:
        text = document(sources, random.Random(seed * 7_000_003 + number), vocabulary)
        yield text
        left -= len(text)
        number += 1
