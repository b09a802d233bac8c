"""Writes what the reference library says, for the unit tests.

    generate.py [--check]        needs the package `tokenizers`; --check compares instead of writing

components.json: small tokenizers, one for each component of a tokenizer.json, with the ids of some texts.
characters.json: which characters are letters, marks, spaces, ... to it, as [first, last], for all of Unicode.

The vocabulary of each tokenizer holds the characters of its texts, and merges of neighbors across all places where a text might be
cut: a cut in another place gives other ids.
"""

import argparse
import json
import os
import sys

from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers

FOLDER = os.path.dirname(os.path.abspath(__file__))
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
PLAIN_BYTES = dict(BYTE_LEVEL, use_regex=False)
END = {"id": 0, "content": "<end>", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
TEXTS = ["Hello world", "  two  spaces ", "a\tb\n\nc", "it's I'LL don't", "x1 22 333 4444", "caf\u00e9 cafe\u0301", "\u4e2d\u6587\u3002\u65e5\u672c", "a!b?! c...", "",
         " ", "\u00a0\u3000 x", "\u2581a \u2581", "\U0001f600\U0001f468\u200d\U0001f469", "A_b-c", "\u0130\u03a3\u00df\ufb01", "end<end>end"]
LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def split(pattern, behavior="Isolated", invert=False):
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


def sequence(*parts):
    return {"type": "Sequence", "pretokenizers": list(parts)}


def added(content, **flags):
    return dict({"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False}, content=content, **flags)


def metaspace(**fields):
    return dict({"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}, **fields)


def cases():
    """name -> what the file says beyond a vocabulary."""
    yield "no_parts", {}
    for form in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel"):
        yield f"normalizer_{form}", {"normalizer": {"type": form}}
    yield "normalizer_Strip", {"normalizer": {"type": "Strip", "strip_left": True, "strip_right": True}}
    yield "normalizer_Strip_left", {"normalizer": {"type": "Strip", "strip_left": True, "strip_right": False}}
    yield "normalizer_Prepend", {"normalizer": {"type": "Prepend", "prepend": "\u2581"}}
    yield "normalizer_Replace", {"normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}}
    yield "normalizer_Replace_regex", {"normalizer": {"type": "Replace", "pattern": {"Regex": r"\s+|l+"}, "content": "_"}}
    yield "normalizer_Sequence", {"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}, {"type": "Lowercase"}]}}
    for behavior in ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"):
        yield f"split_{behavior}", {"pre_tokenizer": split({"Regex": r"[ .!?]"}, behavior)}
        yield f"split_{behavior}_inverted", {"pre_tokenizer": split({"Regex": r"\w+"}, behavior, True)}
        yield f"split_{behavior}_string", {"pre_tokenizer": split({"String": "l"}, behavior)}
        yield f"punctuation_{behavior}", {"pre_tokenizer": {"type": "Punctuation", "behavior": behavior}}
    yield "split_empty_matches", {"pre_tokenizer": split({"Regex": r"(?=[A-Z ])|x*"}, "Contiguous")}
    yield "split_lines", {"pre_tokenizer": split({"Regex": r"^\w|\s+$"})}
    yield "digits", {"pre_tokenizer": {"type": "Digits", "individual_digits": False}}
    yield "digits_individual", {"pre_tokenizer": {"type": "Digits", "individual_digits": True}}
    yield "whitespace", {"pre_tokenizer": {"type": "Whitespace"}}
    yield "whitespace_split", {"pre_tokenizer": {"type": "WhitespaceSplit"}}
    for scheme in ("always", "first", "never"):
        for splits in (True, False):
            fields = {"prepend_scheme": scheme, "split": splits}
            yield f"metaspace_{scheme}_{splits}", {"pre_tokenizer": metaspace(**fields), "decoder": metaspace(**fields), "added": [added("wor")]}
    yield "metaspace_first_stripped", {"normalizer": {"type": "Strip", "strip_left": True, "strip_right": False}, "pre_tokenizer": metaspace(prepend_scheme="first")}
    yield "byte_level", {"pre_tokenizer": BYTE_LEVEL, "decoder": BYTE_LEVEL}
    yield "byte_level_prefix", {"pre_tokenizer": dict(BYTE_LEVEL, add_prefix_space=True), "decoder": BYTE_LEVEL}
    yield "byte_level_whole", {"pre_tokenizer": PLAIN_BYTES, "decoder": BYTE_LEVEL}
    yield "byte_level_nfc", {"normalizer": {"type": "NFC"}, "pre_tokenizer": sequence(split({"Regex": LLAMA3}), PLAIN_BYTES), "decoder": BYTE_LEVEL}
    yield "byte_level_then_digits", {"pre_tokenizer": sequence(BYTE_LEVEL, {"type": "Digits", "individual_digits": True}), "decoder": BYTE_LEVEL}
    yield "byte_level_three_splits", {"pre_tokenizer": sequence(split({"Regex": r"[\r\n]"}), split({"Regex": r"\s?\p{L}+"}), split({"Regex": r"\s+$"}), {"type": "Digits", "individual_digits": True}, PLAIN_BYTES), "decoder": BYTE_LEVEL}
    yield "ignore_merges", {"pre_tokenizer": BYTE_LEVEL, "decoder": BYTE_LEVEL, "model": {"ignore_merges": True}, "words": ["Hello", "\u0120spaces", "caf"]}
    yield "unknown", {"drop": "lo", "model": {"unk_token": "<unk>"}}
    yield "unknown_fused", {"drop": "lo 1234", "model": {"unk_token": "<unk>", "fuse_unk": True}}
    yield "unknown_dropped", {"drop": "lo"}
    yield "byte_fallback", {"drop": "l\u4e2d\U0001f600", "model": {"byte_fallback": True, "unk_token": "<unk>"}, "bytes": 256,
                            "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "\u2581"}, {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]},
                            "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
                                                                         {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}}
    yield "byte_fallback_partly", {"drop": "l\u4e2do", "model": {"byte_fallback": True, "unk_token": "<unk>", "fuse_unk": True}, "bytes": 128}
    yield "decoder_Replace", {"decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"Regex": "[lo]+"}, "content": "0"}, {"type": "Fuse"}]}}
    yield "decoder_Strip", {"decoder": {"type": "Sequence", "decoders": [{"type": "Strip", "content": "l", "start": 0, "stop": 1}, {"type": "Fuse"}]}}
    yield "template", {"post_processor": {"type": "Sequence", "processors": [BYTE_LEVEL, {
        "type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<end>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "<end>", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}], "special_tokens": {"<end>": {"id": "<end>", "ids": [0], "tokens": ["<end>"]}}}]}}
    flags = ("single_word", "lstrip", "rstrip", "normalized", "special")
    tokens = [added("wor"), added("end"), added(" "), added("spac")]
    for flag in flags:
        yield f"added_{flag}", {"added": [dict(token, **{flag: True}) for token in tokens], "normalizer": {"type": "Lowercase"}}
    yield "added_longest", {"added": [added("Hel"), added("Hello w"), added("ello"), added("o"), added("don't", special=True), added("n't")]}
    yield "added_all_flags", {"added": [added("two", single_word=True, lstrip=True, rstrip=True, normalized=True), added("\u4e2d", rstrip=True), added("b", lstrip=True, special=True)],
                              "pre_tokenizer": BYTE_LEVEL, "decoder": BYTE_LEVEL}
    yield "added_prepended", {"added": [added("Hello", normalized=True), added("two", normalized=True)], "normalizer": {"type": "Prepend", "prepend": "\u2581"}}


def normalized(spec, text):
    """All that the model may see of a text, without the cuts."""
    if spec.get("normalizer"):
        text = Tokenizer.from_str(json.dumps(file(spec, {"<end>": 0}, []))).normalizer.normalize_str(text)
    kinds = json.dumps(spec.get("pre_tokenizer") or {})
    if "Metaspace" in kinds:
        text = "\u2581" + text.replace(" ", "\u2581")
    if "ByteLevel" in kinds:
        text = "".join(piece for piece, _ in pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(" " + text))
    return text


def file(spec, vocabulary, merges):
    model = dict({"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": False,
                  "byte_fallback": False, "ignore_merges": False}, **spec.get("model", {}), vocab=vocabulary, merges=merges)
    tokens = [END]
    for token in spec.get("added", []):
        tokens.append(dict(token, id=vocabulary.get(token["content"], len(vocabulary) + sum(t["id"] >= len(vocabulary) for t in tokens))))
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": tokens, "normalizer": spec.get("normalizer"), "pre_tokenizer": spec.get("pre_tokenizer"),
            "post_processor": spec.get("post_processor"), "decoder": spec.get("decoder"), "model": model}


def tokenizer(spec):
    texts = [normalized(spec, text) for text in TEXTS]
    names = ["<end>"] + (["<unk>"] if "unk_token" in spec.get("model", {}) else []) + [f"<0x{byte:02X}>" for byte in range(spec.get("bytes", 0))]
    characters = sorted({character for text in texts for character in text} - set(spec.get("drop", "")))
    vocabulary = {name: id for id, name in enumerate(names + characters)}
    merges = []
    for text in texts:
        for begin in range(0, len(text) - 1):
            for left, right in ((text[begin], text[begin + 1]), (text[begin:begin + 2], text[begin + 2:begin + 3])):
                if left in vocabulary and right in vocabulary and [left, right] not in merges:
                    vocabulary.setdefault(left + right, len(vocabulary))
                    merges.append([left, right])
    for word in spec.get("words", []):
        vocabulary.setdefault(word, len(vocabulary))
    if not any(" " in left + right for left, right in merges):  # the older spelling, where it can say it
        merges = [" ".join(pair) for pair in merges]
    return file(spec, vocabulary, merges)


def answers(contents):
    reference = Tokenizer.from_str(json.dumps(contents))
    answer = {}
    for name, keepsSpecial, adds in (("plain", True, False), ("special", False, False), ("added", False, True)):
        reference.encode_special_tokens = keepsSpecial
        answer[name] = [reference.encode(text, add_special_tokens=adds).ids for text in TEXTS]
    # The end of a document has no text here.
    answer["decoded"] = [reference.decode([id for id in ids if id != 0], skip_special_tokens=False) for ids in answer["plain"]]
    return answer


CHARACTERS = [chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]
CATEGORIES = "L Lu Ll Lt Lm Lo M Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp Cc".split()


def ranges(members):
    found = []
    for code in map(ord, members):
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return found


def matching(pattern):
    """The characters that a pattern matches."""
    keep = pre_tokenizers.Split(Regex(f"(?:{pattern})+"), "removed", invert=True)
    chunks = ("".join(CHARACTERS[begin:begin + 2048]) for begin in range(0, len(CHARACTERS), 2048))
    return [character for chunk in chunks for piece, _ in keep.pre_tokenize_str(chunk) for character in piece]


def cut(pre_tokenizer):
    """The characters that do not stay together with letters around them."""
    return [character for character in CHARACTERS if len(pre_tokenizer.pre_tokenize_str(f"a{character}a")) != 1]


def characters():
    sets = {f"\\p{{{name}}}": matching(f"\\p{{{name}}}") for name in CATEGORIES}
    sets.update({name: matching(name) for name in (r"\w", r"\s", r"\d", r"\h")})
    sets["numeric"], sets["punctuation"], sets["notWord"] = cut(pre_tokenizers.Digits()), cut(pre_tokenizers.Punctuation()), cut(pre_tokenizers.Whitespace())
    accents, lowercase = normalizers.StripAccents(), normalizers.Lowercase()
    sets["mark"] = [character for character in CHARACTERS if accents.normalize_str(f"a{character}a") == "aa"]
    small = {character: lowercase.normalize_str(character) for character in CHARACTERS}
    return {"sets": {name: ranges(members) for name, members in sets.items()},
            "lowercase": [[ord(character), text] for character, text in small.items() if text != character]}


def components():
    everything = {"texts": TEXTS, "cases": []}
    for name, spec in cases():
        contents = tokenizer(spec)
        try:
            everything["cases"].append({"name": name, "tokenizer": contents, **answers(contents)})
        except BaseException as error:  # the reference panics, which is no Exception
            sys.exit(f"{name}: {error}")
    return everything


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    arguments = parser.parse_args()
    for name, contents in (("components.json", components()), ("characters.json", characters())):
        path = os.path.join(FOLDER, name)
        text = json.dumps(contents, ensure_ascii=True, separators=(",", ":")).replace('{"name"', '\n{"name"').replace('],"', '],\n"') + "\n"
        if arguments.check:
            with open(path, encoding="utf-8") as known:
                if known.read() != text:
                    sys.exit(f"{path}: the reference gives other answers")
        else:
            with open(path, "w", encoding="utf-8") as output:
                output.write(text)
            print(f"{path}: {len(text)} bytes")


if __name__ == "__main__":
    main()
