"""weft tokenizer encode, decode, show, as docs/tokenizers.md tells it. Ids against the reference libraries are compared by the
unit tests (components) and by `scripts/trials.sh tokenizer` (real tokenizers, many texts)."""

import json
import os
import struct
import subprocess
import unittest

from harness import ROOT, SystemTest

COMPONENTS = os.path.join(ROOT, "tests", "unit", "tokenizer", "components.json")


def component(name):
    """(texts, the tokenizer and its answers) of one component."""
    with open(COMPONENTS, encoding="utf-8") as file:
        everything = json.load(file)
    return everything["texts"], next(one for one in everything["cases"] if one["name"] == name)


class TokenizerCommand(SystemTest):
    def setUp(self):
        super().setUp()
        self.texts, self.answers = component("byte_level")
        self.file = self.write("tokenizer.json", json.dumps(self.answers["tokenizer"]))

    def weft(self, verb, *options, sent=b"", status=0):
        done = subprocess.run(["weft", "tokenizer", verb, self.file, *options, "--end-of-document", "<end>"], input=sent, capture_output=True, check=False,
                              env=self.environment(), timeout=60)
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return done.stdout if status == 0 else done.stderr.decode()

    def testATextBecomesALineOfIdsAndBack(self):
        text = self.texts[0]
        ids = self.weft("encode", sent=text.encode())
        self.assertEqual([int(word) for word in ids.split()], self.answers["plain"][0])
        self.assertEqual(self.weft("decode", sent=ids).decode(), text)

    def testRecordsAreAnsweredInOrder(self):
        sent = b"".join(struct.pack("<I", len(text.encode())) + text.encode() for text in self.texts)
        ids = self.weft("encode", "--records", sent=sent)
        self.assertEqual(ids, b"".join(struct.pack(f"<I{len(one)}i", len(one), *one) for one in self.answers["plain"]))
        self.assertEqual(self.weft("decode", "--records", sent=ids), sent)

    def testSpecialTokensAreReadOnRequest(self):
        self.assertNotIn(b" 0 ", self.weft("encode", sent=b"end<end>end"))
        self.assertIn(b" 0 ", self.weft("encode", "--special", sent=b"end<end>end"))

    def testShowTellsWhatTheFileHolds(self):
        shown = self.weft("show").decode()
        self.assertIn("  end of document   0\n", shown)
        first = self.answers["plain"][0][0]
        self.assertRegex(self.weft("show", str(first)).decode(), rf'^{first}  "H')

    def testBrokenInputIsRefused(self):
        self.assertIn("ends within a record", self.weft("encode", "--records", sent=b"\x09\0\0\0abc", status=3))
        self.assertIn('"x" is no id', self.weft("decode", sent=b"1 x", status=3))
        self.assertIn("outside of the vocabulary", self.weft("decode", sent=b"99999", status=3))
        self.file = self.write("other.json", '{"model": {"type": "WordPiece"}}')
        self.assertIn('other.json: model.type: "WordPiece" is not supported', self.weft("show", status=2))


if __name__ == "__main__":
    unittest.main()
