"""weft-lsp-server speaks the Language Server Protocol and knows our dialects: it says what is wrong in an opened file."""

import json
import os
import subprocess

from harness import BIN, SystemTest


class LspServer(SystemTest):

    def converse(self, messages):
        """Sends messages and returns what the server answered until it ended."""
        text = ""
        for message in messages:
            body = json.dumps({"jsonrpc": "2.0", **message})
            text += f"Content-Length: {len(body)}\r\n\r\n{body}"
        done = subprocess.run([os.path.join(BIN, "weft-lsp-server"), "--log=error"], input=text.encode(), timeout=60,
                              capture_output=True, check=False, env=self.environment())
        answers, rest = [], done.stdout
        while rest:
            header, _, rest = rest.partition(b"\r\n\r\n")
            length = int(header.decode().split("Content-Length: ")[1].split("\r\n")[0])
            answers.append(json.loads(rest[:length]))
            rest = rest[length:]
        return answers

    def diagnose(self, program):
        document = {"uri": "file:///program.mlir", "languageId": "mlir", "version": 1, "text": program}
        answers = self.converse([
            {"id": 0, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
            {"method": "textDocument/didOpen", "params": {"textDocument": document}},
            {"id": 1, "method": "shutdown"}, {"method": "exit"}])
        published = [answer["params"] for answer in answers if answer.get("method") == "textDocument/publishDiagnostics"]
        self.assertEqual(len(published), 1, answers)
        return [(found["range"]["start"]["line"], found["message"]) for found in published[0]["diagnostics"]]

    def testAProgramOfOursHasNothingWrong(self):
        self.assertEqual(self.diagnose("nn.parameter @w : tensor<4xf32> constant\n"), [])

    def testAnErrorIsSaidAtItsLine(self):
        [(line, message)] = self.diagnose("nn.parameter @w : tensor<4xf32> constant\nnn.state @s : tensor<?xf32> constant\n")
        self.assertEqual(line, 1)
        self.assertIn("expects a static ranked tensor type, got 'tensor<?xf32>'", message)
