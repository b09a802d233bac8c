"""Strings that tokenizers get wrong, drawn from a seed: contractions in odd case, digits of other scripts, emoji joined by
ZWJ, marks, every kind of white space, what looks like a special token, invalid UTF-8. String i of a seed is always the same.
"""

import random

LETTERS = """a b e i o u A Z the The THE token tokenizer hello world HelloWorld snake_case camelCase x1 naïve café cafe\u0301 Zürich
straße ẞ ǅ ǆ ﬁ ﬂ ſ K Å Å ª º ʰ ꟹ Привет мир ЁЖ Ελλάδα ςΣ שָׁלוֹם שלום مرحبا السَّلَامُ हिन्दी क्षि ไทยภาษา ภาษาไทย 한국어 한국 ㅎㅏㄴ 日本語 がぎ か\u3099 カ\u3099
ﾊﾝｶｸ 中文 汉字 漢字編碼 𠀀 𠮷野家 𝐀𝑩 ⅷ Ⓐ İ ı i\u0307 ŉ ΐ ΰ ὒ ა Ა ᏸ ꭰ ǈ""".split()
CONTRACTIONS = """'s 'S 't 'T 're 'RE 'Re 'rE 've 'VE 'm 'M 'll 'LL 'Ll 'lL 'd 'D 'ſ ’s ’S don't DON'T I'm I'M we'Re they'LL it's'S ''s '' ' 's's
'll've 'sx 'tis x's 1's \u0301's""".split()
DIGITS = """0 1 7 12 123 1234 12345 1234567890 ٣ ٣٤٥ ۴۵ ०१२३ ௧௨ ๓๔ １２３４ 𝟘𝟙 ½ ² ³⁴ ₅ Ⅷ ① ㊿ 〇 一二三 1,234.5 3.14e-10 0x1F 1٣2 ৪৫৬৭ 𐒠 ᠐""".split()
SPACES = [" ", "  ", "   ", " " * 7, " " * 16, " " * 50, "\t", "\t\t", "\n", "\n\n", "\n\n\n", "\r", "\r\n", "\r\n\r\n", "\n\r", " \n", "\n ", " \n ", "\t\n", "\x0b",
          "\x0c", "\x1c", "\x1d", "\x1e", "\x1f", "\x85", "\xa0", "\xa0\xa0", " \xa0", "\u1680", "\u180e", "\u2000", "\u2003", "\u2009", "\u200a", "\u200b",
          "\u2028", "\u2029", "\u202f", "\u205f", "\u2060", "\u3000", "\u3000\u3000", "\ufeff", "\u2800", "\x00", "\x01", "\x7f"]
PUNCTUATION = list("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") + """... --- -> => == != // /* */ ?! ()[]{} «» “” ‘’ – — … ¿ ¡ § ¶ • † ‰ € £ ¥ ₿ ∑ ∉ ≠ √ ← ⇒ ■ ★ ♥ ♪ © ® ™ ° · 、 。 「」 ！ ？
～ ｟ ﷼ ﷽ ꧁ ⸘ ‼ ⁉ ﹏ _ ‿ ⁀ ﹍ \u037e \u0387 \u00ad \u061c""".split()
EMOJI = """😀 😂 👍 👍🏽 👩‍👩‍👧‍👦 👨‍💻 🏳️‍🌈 🏴‍☠️ 🇩🇪 🇫🇷🇯🇵 1️⃣ #️⃣ ❤️ ❤ ☺️ ✊🏿 🧑🏻‍🤝‍🧑🏿 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🫠 \u200d \ufe0f \ufe0e 🏽 👩‍ ‍👩 🇩 ©️ ▶️ ⏏""".split()
MARKS = ["\u0301", "\u0300\u0301", "e\u0301", "a\u0315\u0300", "a\u0300\u0315", "\u0308\u0301", "\u20dd", "A\u20dd", "\u0489", "\u05b0", "\u0651\u064f", "\u093f", "\u0e31", "\u0e48",
         "\u3099", "\u302a", "\u1ab0", "\ufe20", "o\u031b\u0323", "ẛ\u0323", "q\u0307\u0323", "q\u0323\u0307", "\u0344", "\u0f73\u0f80", "\u0e33", "\u0cbf\u0cd5", "\u1100\u1161\u11a8", "가\u11a8"]
LOOKALIKES = """<|endoftext|> <|endoftext| |endoftext|> <|ENDOFTEXT|> <|im_start|> <|im_end|> <|im_start|>user <|fim_prefix|> <|fim_middle|> <|endofprompt|>
<|extra_0|> <|extra_204|> <|extra_205|> <s> </s> <S> <unk> <pad> <s></s> [INST] [/INST] [TOOL_CALLS] [IMG] [INST <0x41> <0x0A> <0xff> <0xFF> <0xGG> ▁ ▁▁ ▁the the▁ Ġ Ċ Ġthe ĠĠ Ń
<｜begin▁of▁sentence｜> <｜end▁of▁sentence｜> <｜begin of sentence｜> <｜User｜> <｜Assistant｜> <｜ <think> </think> <｜tool▁calls▁begin｜> <META> <META_START> <SOS> <EOT> \n\nHuman: \n\nAssistant:
<bos> <eos> <start_of_turn> <|begin_of_text|> <|eot_id|> ## ##ing @@ </w>""".split(" ")
CODE = ["for (int i = 0; i < n; ++i) {\n", "\treturn x;\n}\n\n", "def f(x):\n    return x\n", "    " * 3 + "if a == b:\n", "#include <vector>\r\n", "// TODO: ???\n", "a->b::c.d[e](f)", "x = {'k': \"v\"}",
        "SELECT * FROM t WHERE id='1';", "<div class=\"a\">\n\t\t</div>", "\\u00e9\\n", "https://example.org/a?b=c&d=%20#e", "\"\"\"doc\n\n    more\n\"\"\"", "0b1010_1010u64", "\\begin{align*} \\alpha_{i}^{2}", "--flag=value"]
NORMALIZED = """ﬁ ﬃ Å Å Ω ① ㍿ ㌀ ﷺ ½ ² ｱ ｶﾞ Ａ ａ １ ！ \u2126 \u212a \u00b5 ｆｕｌｌ ℌ ℝ ™ … ‥ ﹪ ﹣ ＿ ︵ ⁵ ₙ ª ĳ Ĳ ŀ ŉ ǆ ſ ẛ ẞ ᴬ ㎏ 🄰 \u0340 \u0374 \u1fef 豈 侮 \u2329 \u2adc 𝒳 𞸀""".split()
POOLS = [LETTERS, CONTRACTIONS, DIGITS, SPACES, PUNCTUATION, EMOJI, MARKS, LOOKALIKES, CODE, NORMALIZED]
EVERYTHING = [atom for pool in POOLS for atom in pool]
BROKEN = [b"\x80", b"\xbf\xbf", b"\xc3", b"\xe4\xb8", b"\xf0\x9f\x98", b"\xf0\x9f", b"\xc0\xaf", b"\xe0\x80\xaf", b"\xed\xa0\x80", b"\xed\xb0\x80", b"\xed\xa0\xbd\xed\xb8\x80", b"\xf4\x90\x80\x80",
          b"\xf8\x88\x80\x80\x80", b"\xfe", b"\xff", b"\xff\xfe", b"\xef\xbf", b"\xe4\xb8\xadx\xad", b"\xc3 ", b"\xf0\x9f\x98\x41"]


def anyCharacters(draw):
    """Characters of all planes, assigned or not, surrogates left out."""
    points = (draw.choice((draw.randrange(0x80), draw.randrange(0x250), draw.randrange(0x3000), draw.randrange(0xd800), draw.randrange(0xe000, 0x10000),
                           draw.randrange(0x10000, 0x20000), draw.randrange(0x10000, 0x110000))) for _ in range(draw.randrange(1, 12)))
    return "".join(map(chr, points)).encode()


def atoms(draw):
    pool = draw.choice(POOLS)
    return "".join(draw.choices(pool, k=draw.randrange(1, 9))).encode()


def mixture(draw):
    return "".join(draw.choices(EVERYTHING, k=draw.randrange(1, 15))).encode()


def sentence(draw):
    """Words with one space between them, and now and then something else."""
    words = [draw.choice(LETTERS) if draw.random() < 0.8 else draw.choice(EVERYTHING) for _ in range(draw.randrange(2, 16))]
    return " ".join(words).encode()


def repeats(draw):
    return (draw.choice(EVERYTHING) * draw.choice((2, 3, 5, 17, 64, 257)) + draw.choice(EVERYTHING)).encode()


def broken(draw):
    """Not UTF-8."""
    parts = [draw.choice(BROKEN) if draw.random() < 0.4 else draw.choice(EVERYTHING).encode() for _ in range(draw.randrange(1, 8))]
    return b"".join(parts) if draw.random() < 0.8 else draw.randbytes(draw.randrange(1, 24))


KINDS = [atoms] * 5 + [mixture] * 6 + [sentence] * 3 + [anyCharacters] * 2 + [repeats] + [broken] * 2


def adversarialStrings(seed, begin, end, vocabulary=()):
    """Strings begin to end - 1 of the seed. `vocabulary`: tokens (bytes) of the tokenizer at hand; a tenth of the strings are
    made of them."""
    strings = []
    for number in range(begin, end):
        draw = random.Random(seed * 1_000_003 + number)
        if vocabulary and number % 10 == 3:
            strings.append(b"".join(draw.choices(vocabulary, k=draw.randrange(1, 12))))
        else:
            strings.append(draw.choice(KINDS)(draw))
    return strings


def specialStrings(seed, count, specials):
    """Strings with the tokenizer's own special tokens in them: whole, cut, doubled, with white space around."""
    strings = []
    for number in range(count):
        draw = random.Random(seed * 3_000_017 + number)
        parts = []
        for _ in range(draw.randrange(1, 6)):
            token = draw.choice(specials) if specials else "<s>"
            parts.append(draw.choice((token, token, token, token[1:], token[:-1], token.upper(), token + token, draw.choice(EVERYTHING))))
            parts.append(draw.choice(("", "", " ", "  ", "\n", draw.choice(EVERYTHING))))
        strings.append("".join(parts).encode())
    return strings
