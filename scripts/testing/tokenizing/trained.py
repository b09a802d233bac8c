"""Tokenizers trained by the reference libraries on the quickstart's English text and this repository: each is another
combination of what tokenizer.json and SentencePiece files can say, as real models use it. Made once, into the cache folder.
"""

import os

import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

GPT2 = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
LLAMA3 = (r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+""")
QWEN2 = (r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+""")
# Nobody's: GPT-2's with one letter changed, and one with look-around, laziness and a class of its own.
NEARLY_GPT2 = GPT2.replace("'ll", "'lx")
ODD = r"""(?<=\d)\p{L}+?(?=e|\b)|\d(?=\d{2,5}\b)|[aeiou]{2,}|[^\S\r\n]+|.|\s"""
BYTES = pre_tokenizers.ByteLevel.alphabet()
SPECIALS = ["<unk>", "<s>", "</s>"]


def bytePieces():
    return [f"<0x{byte:02X}>" for byte in range(256)]


def byteLevel(pattern, normalizer=None, splits=(), **model):
    """Byte-level BPE behind a split."""
    tokenizer = Tokenizer(models.BPE(**model))
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*splits, pre_tokenizers.Split(Regex(pattern), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer, trainers.BpeTrainer(vocab_size=6000, special_tokens=["<|endoftext|>", "<|im_start|>"], initial_alphabet=BYTES, show_progress=False)


def gpt2():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer, trainers.BpeTrainer(vocab_size=6000, special_tokens=["<|endoftext|>"], initial_alphabet=BYTES, show_progress=False)


def llama3():
    tokenizer, trainer = byteLevel(LLAMA3, ignore_merges=True)
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), processors.TemplateProcessing(
        single="<|im_start|> $A", pair="<|im_start|> $A <|im_start|> $B:1", special_tokens=[("<|im_start|>", 1)])])
    return tokenizer, trainer


def qwen2():
    return byteLevel(QWEN2, normalizers.NFC())


def nearlyGpt2():
    return byteLevel(NEARLY_GPT2)


def odd():
    return byteLevel(ODD)


def digits():
    return byteLevel(GPT2, normalizers.NFKC(), [pre_tokenizers.Digits(individual_digits=True)])


def characters(normalizer, preTokenizer, decoder, **model):
    """BPE over characters, unknown ones as bytes."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, **model))
    tokenizer.normalizer, tokenizer.decoder = normalizer, decoder
    if preTokenizer:
        tokenizer.pre_tokenizer = preTokenizer
    return tokenizer, trainers.BpeTrainer(vocab_size=5000, special_tokens=SPECIALS + bytePieces(), show_progress=False)


def llama2():
    return characters(normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")]), None,
                      decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]), fuse_unk=True)


def gemma():
    return characters(normalizers.Replace(" ", "\u2581"), pre_tokenizers.Split(" ", "merged_with_previous"),
                      decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()]), fuse_unk=True)


def metaspaceFirst():
    return characters(normalizers.NFC(), pre_tokenizers.Metaspace(prepend_scheme="first", split=True), decoders.Sequence([
        decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]))


def flags():
    """Added tokens with every flag."""
    tokenizer, trainer = qwen2()
    added = [AddedToken("<left>", lstrip=True), AddedToken("<right>", rstrip=True), AddedToken("<both>", lstrip=True, rstrip=True),
             AddedToken("word", single_word=True), AddedToken("caf\u00e9", normalized=True), AddedToken("cafe\u0301x", normalized=False)]
    return tokenizer, trainer, added


HUGGING_FACE = {"gpt2": gpt2, "llama3": llama3, "qwen2": qwen2, "llama2": llama2, "gemma": gemma, "metaspace-first": metaspaceFirst, "nearly-gpt2": nearlyGpt2, "odd-pattern": odd, "digits": digits,
                "added-flags": flags}
SENTENCE_PIECE = {
    "bpe": {"model_type": "bpe", "byte_fallback": True, "normalization_rule_name": "identity", "remove_extra_whitespaces": False, "split_digits": True},
    "bpe-nfkc": {"model_type": "bpe", "byte_fallback": False, "user_defined_symbols": ["<sep>", "hello"]},
    "unigram": {"model_type": "unigram", "byte_fallback": True, "add_dummy_prefix": False},
    "unigram-nfkc": {"model_type": "unigram", "byte_fallback": False, "user_defined_symbols": ["<sep>"]},
}
# A trainer may change what it learns; the name of the file says from which recipe it is.
RECIPE = 1


def trainingLines(sources):
    text = sources.english[:1_500_000] + sources.code[:700_000]
    return [line for line in text.decode("utf-8", "ignore").splitlines() if line]


def huggingFaceFile(folder, name, sources):
    path = os.path.join(folder, f"{name}-{RECIPE}.json")
    if not os.path.exists(path):
        tokenizer, trainer, *added = HUGGING_FACE[name]()
        tokenizer.train_from_iterator((line + "\n" for line in trainingLines(sources)), trainer)
        tokenizer.add_tokens(*added) if added else None
        tokenizer.save(path)
    return path


def sentencePieceFile(folder, name, sources):
    path = os.path.join(folder, f"{name}-{RECIPE}.model")
    if not os.path.exists(path):
        options = dict(SENTENCE_PIECE[name], vocab_size=4000, character_coverage=0.999, num_threads=1, minloglevel=2, hard_vocab_limit=False)
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(trainingLines(sources)), model_prefix=path[:-len(".model")], **options)
        os.remove(path[:-len(".model")] + ".vocab")
    return path
