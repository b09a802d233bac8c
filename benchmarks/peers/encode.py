"""Encodes a text with one of the reference tokenizers, cl100k: encode.py PEER VOCABULARY FOLDER TEXT IDS.

VOCABULARY is the tiktoken file; what is made of it for tokenizers stays in FOLDER. Prints the seconds of the shortest of
three encodings of the whole text, from a string to a list of ids, and writes the ids to the file IDS as 32-bit integers.
"""

import array
import base64
import hashlib
import os
import sys
import time


# The pattern of cl100k as files for tokenizers have it: what tiktoken's own means, Oniguruma reads otherwise.
PATTERN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def ranksIn(path):
    with open(path, "rb") as file:
        return {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in file)}


def openTiktoken(ranks):
    import tiktoken
    import tiktoken_ext.openai_public as public

    public.load_tiktoken_bpe = lambda *_, **__: ranks  # the file that is there, not one that is fetched
    return tiktoken.Encoding(**public.cl100k_base())


def lastMerge(token, ranks):
    """The two tokens whose merge ends the encoding of a token's bytes."""
    parts = [token[i:i + 1] for i in range(len(token))]
    while len(parts) > 2:
        i = min((ranks[parts[i] + parts[i + 1]], i) for i in range(len(parts) - 1) if parts[i] + parts[i + 1] in ranks)[1]
        parts[i:i + 2] = [parts[i] + parts[i + 1]]
    return parts


def writeTokenizerJson(ranks, path):
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers

    visible = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    hidden = iter(range(0x100, 0x200))
    alphabet = [chr(byte if byte in visible else next(hidden)) for byte in range(256)]

    def spell(token):
        return "".join(alphabet[byte] for byte in token)

    merges = [tuple(spell(part) for part in lastMerge(token, ranks)) for token in sorted(ranks, key=ranks.get) if len(token) > 1]
    tokenizer = Tokenizer(models.BPE(vocab={spell(token): rank for token, rank in ranks.items()}, merges=merges, ignore_merges=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(PATTERN), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.save(path + ".part")
    os.replace(path + ".part", path)


def partsOf(text, size):
    """The text in parts that this peer takes; before a space behind a letter a piece ends in any case."""
    begin = 0
    while begin < len(text):
        end = min(begin + size, len(text))
        while end < len(text) and not (text[end] == " " and text[end - 1].isalpha()):
            end -= 1
        yield text[begin:end]
        begin = end


def encoderOf(peer, vocabulary, folder):
    if peer == "tiktoken":
        return openTiktoken(ranksIn(vocabulary)).encode_ordinary
    if peer == "rs-bpe":
        from rs_bpe.bpe import openai

        return openai.cl100k_base().encode
    if peer == "bpe-openai":
        import bpe_openai

        encoding = bpe_openai.get_encoding("cl100k_base")
        return lambda text: [token for part in partsOf(text, 150_000) for token in encoding.encode_ordinary(part)]
    from tokenizers import Tokenizer

    with open(__file__, "rb") as file:  # another way of making it makes another file
        path = os.path.join(folder, f"cl100k-{hashlib.sha256(file.read()).hexdigest()[:16]}.json")
    if not os.path.exists(path):
        writeTokenizerJson(ranksIn(vocabulary), path)
    tokenizer = Tokenizer.from_file(path)
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids


def main():
    peer, vocabulary, folder, path, output = sys.argv[1:]
    encode = encoderOf(peer, vocabulary, folder)
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    shortest = float("inf")
    for _ in range(1 if peer == "tokenizers" else 3):
        begin = time.perf_counter()
        ids = encode(text)
        shortest = min(shortest, time.perf_counter() - begin)
    with open(output, "wb") as file:
        array.array("i", ids).tofile(file)
    print(shortest)


if __name__ == "__main__":
    main()
