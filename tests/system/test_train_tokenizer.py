"""weft data train-tokenizer: the vocabulary and the merges of the reference's trainer, from the same texts."""

import json
import os
import random
import sys
import unittest

from harness import ROOT, SystemTest

sys.path.insert(0, os.path.join(ROOT, "scripts", "testing"))
import packages  # noqa: E402

REFERENCE = """
import json, sys
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers
texts, pattern, size, least, output = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
tokenizer = Tokenizer(models.BPE())
byteLevel = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=not pattern)
tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"), byteLevel]) if pattern else byteLevel
trainer = trainers.BpeTrainer(vocab_size=size, min_frequency=least, special_tokens=["<|endoftext|>", "<pad>"], show_progress=False,
                              initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
tokenizer.train_from_iterator([json.loads(line)["text"] for line in open(texts, encoding="utf-8")], trainer)
tokenizer.save(output)
"""
LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def texts():
    """Words over few letters, so that many pairs are equally frequent, and some of Python's own documentation."""
    generator = random.Random(3)
    words = ["".join(generator.choices("abcde\u00e9\u4e2d", k=generator.randint(1, 7))) for _ in range(400)]
    made = [" ".join(generator.choices(words, k=200)) for _ in range(40)]
    made += ["aaaa aaaaaaa aaaaaaaaaaa aa a", "<|endoftext|> is text here: <|endoftext|><|endoftext|>", "", "\n\n  x\t12345 \U0001f600\u0301"]
    with open(os.path.join(packages.CACHE, "quickstart", "corpus.txt"), encoding="utf-8") as file:
        prose = file.read(400_000)
    return made + [prose[i:i + 4000] for i in range(0, len(prose), 4000)]


class TrainTokenizer(SystemTest):
    def setUp(self):
        super().setUp()
        self.jsonl = self.write("texts.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts()))

    def train(self, output, *options):
        self.passes("weft", "data", "train-tokenizer", self.jsonl, "-o", output, *options, timeout=300)
        return json.loads(self.read(output))

    def testTheVocabularyAndTheMergesAreThoseOfTheReference(self):
        python = packages.pythonWith("tokenizer-peers", ["rs-bpe==0.1.0", "bpe-openai==0.1.4", "tiktoken==0.14.0", "tokenizers==0.23.3"])
        script = self.write("reference.py", REFERENCE)
        for name, pattern, size, least in (("gpt2", "", 3000, 0), ("llama3", LLAMA3, 1500, 3)):
            with self.subTest(name):
                self.passes(python, script, self.jsonl, pattern, size, least, "theirs.json", timeout=300)
                theirs = json.loads(self.read("theirs.json"))
                ours = self.train("ours.json", "--pattern", name, "--vocab-size", size, "--min-frequency", least,
                                  "--special-token", "<|endoftext|>", "--special-token", "<pad>")
                self.assertEqual(ours["model"]["vocab"], theirs["model"]["vocab"])
                self.assertEqual(ours["model"]["merges"], theirs["model"]["merges"])
                for part in ("added_tokens", "pre_tokenizer", "normalizer", "model"):
                    self.assertEqual({**ours[part], "vocab": 0, "merges": 0} if part == "model" else ours[part],
                                     {**theirs[part], "vocab": 0, "merges": 0} if part == "model" else theirs[part])

    def testWhatWasLearnedPreparesDataAndTheSameTextsGiveTheSameFile(self):
        self.train("one.json", "--vocab-size", "600")
        self.train("two.json", "--vocab-size", "600")
        self.assertEqual(self.read("one.json"), self.read("two.json"))
        self.passes("weft", "data", "prepare", self.jsonl, "-o", "mine", "--tokenizer", "one.json", "-q")
        self.assertIn(texts()[1], self.passes("weft", "data", "show", "mine", "--tokenizer", "one.json", "--document", "1"))

    def testWhatCannotBeIsNamed(self):
        self.refuses(2, "--vocab-size: 256 is not one of 257 (the bytes and the special tokens) to 16777215", "weft", "data", "train-tokenizer",
                     self.jsonl, "-o", "x.json", "--vocab-size", "256")
        self.refuses(2, '--pattern: no pattern is called "gpt5". Known: gpt2, llama3, qwen2, o200k, tekken.', "weft", "data",
                     "train-tokenizer", self.jsonl, "-o", "x.json", "--pattern", "gpt5")
        self.refuses(3, "no text at all", "weft", "data", "train-tokenizer", self.write("empty.txt", ""), "-o", "x.json")


if __name__ == "__main__":
    unittest.main()
