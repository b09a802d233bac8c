"""The reference libraries behind one interface: encode(texts, mode) gives the ids of each text, decode(ids) the texts.

Modes: `plain` (special tokens in the text are text), `special` (they are tokens), `added` (and the post-processor adds its own).
"""

import base64
import os

import sentencepiece
import tiktoken
import tokenizers
from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy
from mistral_common.tokens.tokenizers.tekken import Tekkenizer


class HuggingFace:
    modes = ("plain", "special", "added")
    version = f"tokenizers {tokenizers.__version__}"

    def __init__(self, path):
        self.tokenizer = tokenizers.Tokenizer.from_file(path)
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    def encode(self, texts, mode):
        self.tokenizer.encode_special_tokens = mode == "plain"
        return [encoding.ids for encoding in self.tokenizer.encode_batch_fast(texts, add_special_tokens=mode == "added")]

    def decode(self, ids):
        return self.tokenizer.decode_batch(ids, skip_special_tokens=False)

    def vocabulary(self):
        decoded = self.decode([[number] for number in range(self.tokenizer.get_vocab_size())])
        return [text.encode() for text in decoded if text and "\ufffd" not in text]

    def specials(self):
        return [token.content for token in self.tokenizer.get_added_tokens_decoder().values()]


class TikToken:
    modes = ("plain", "special")
    version = f"tiktoken {tiktoken.__version__}"

    def __init__(self, encoding):
        self.encoding = encoding

    def encode(self, texts, mode):
        if mode == "plain":
            return self.encoding.encode_ordinary_batch(texts, num_threads=2)
        return self.encoding.encode_batch(texts, num_threads=2, allowed_special="all")

    def decode(self, ids):
        return [self.encoding.decode_bytes(one).decode("utf-8", "replace") for one in ids]

    def vocabulary(self):
        return [token for token in self.encoding.token_byte_values() if valid(token)]

    def specials(self):
        return sorted(self.encoding.special_tokens_set)


class Tekken:
    """Ids behind those of the special tokens, which no text has."""

    modes = ("plain",)
    version = f"mistral-common with tiktoken {tiktoken.__version__}"

    def __init__(self, path):
        self.tekken = Tekkenizer.from_file(path)

    def encode(self, texts, mode):
        return [self.tekken.encode(text, bos=False, eos=False) for text in texts]

    def decode(self, ids):
        return [self.tekken.decode(one, special_token_policy=SpecialTokenPolicy.KEEP) for one in ids]

    def vocabulary(self):
        tokens = (self.tekken.id_to_byte_piece(number, SpecialTokenPolicy.KEEP) for number in range(self.tekken.num_special_tokens, self.tekken.n_words))
        return [token for token in tokens if valid(token)]

    def specials(self):
        return ["<s>", "</s>", "[INST]", "[/INST]", "<unk>", "[TOOL_CALLS]"]


class SentencePiece:
    modes = ("plain",)
    version = f"sentencepiece {sentencepiece.__version__}"

    def __init__(self, path):
        self.processor = sentencepiece.SentencePieceProcessor(model_file=path)

    def encode(self, texts, mode):
        return self.processor.encode(texts, num_threads=2)

    def decode(self, ids):
        return self.processor.decode(ids, num_threads=2)

    def vocabulary(self):
        pieces = (self.processor.id_to_piece(number) for number in range(self.processor.vocab_size()) if not self.processor.is_byte(number))
        return [piece.replace("\u2581", " ").encode() for piece in pieces]

    def specials(self):
        processor = self.processor
        return [processor.id_to_piece(number) for number in range(processor.vocab_size()) if processor.is_control(number) or processor.is_unknown(number)]


def valid(token):
    try:
        return bool(token.decode())
    except UnicodeDecodeError:
        return False


def rankFile(path):
    """The tokens of a .tiktoken file by rank."""
    with open(path, "rb") as file:
        return {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in file if line.strip())}


def openaiEncoding(name, folder):
    """An encoding of OpenAI's, whose file lies in `folder` under the name that tiktoken's cache gives it."""
    os.environ["TIKTOKEN_CACHE_DIR"] = folder
    return tiktoken.get_encoding(name)
