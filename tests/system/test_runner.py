"""The test runner's own judgement: what counts as a failure, and that nothing passes by not being run."""

import os
import sys

from harness import ROOT, SystemTest

sys.path.insert(0, os.path.join(ROOT, "scripts", "testing"))
import checks
import docs
from results import Report, Result


class ReportCounts(SystemTest):

    def testAFailureGivesExitStatusOne(self):
        report = Report("")
        report.add("unit", [Result("a", True), Result("b", False)], 0)
        self.assertEqual(report.close(), 1)

    def testNothingSelectedIsAFailure(self):
        self.assertEqual(Report("no such test").close(), 1)

    def testTheNameIsSearchedWithoutRegardToCase(self):
        self.assertTrue(Report("layer").wants("Layering.testX"))
        self.assertFalse(Report("^ayer").wants("Layering.testX"))


class FunctionLength(SystemTest):

    def lengths(self, text):
        return checks.longFunctions("a.cpp", text.splitlines(keepends=True))

    def testALongFunctionIsNamedWithItsFirstLine(self):
        body = "  f();\n" * 81
        self.assertEqual(self.lengths("\nvoid g(int a,\n       int b) {\n" + body + "}\n"),
                         ["a.cpp:2: function of 81 lines, at most 80"])

    def testEightyLinesAreAllowed(self):
        self.assertEqual(self.lengths("void g() {\n" + "  f();\n" * 80 + "}\n"), [])

    def testNamespacesClassesAndTablesAreNoFunctions(self):
        body = "  1,\n" * 100
        for head in ("namespace weft {", "class A {", "template <typename T>\nclass A final : public B {",
                     "template <typename T> struct A {", "const int table[] = {", "enum class B {"):
            self.assertEqual(self.lengths(head + "\n" + body + "};\n"), [], head)

    def testALongTemplateIsAFunction(self):
        body = "  f();\n" * 81
        for head in ("template <class T> void g() {", "template <class T>\nvoid g() {"):
            self.assertEqual(self.lengths(head + "\n" + body + "}\n"), ["a.cpp:1: function of 81 lines, at most 80"], head)

    def testAnExcusedFunctionIsAllowed(self):
        body = "  f();\n" * 100
        self.assertEqual(self.lengths("// NOLINT(readability-function-size): a table\nvoid g() {\n" + body + "}\n"), [])

    def testADeclarationBeforeIsNotTheStart(self):
        body = "  f();\n" * 81
        self.assertEqual(self.lengths("int f();\nint h() { return 1; }\nvoid g() {\n" + body + "}\n"),
                         ["a.cpp:3: function of 81 lines, at most 80"])


class DocumentationBlocks(SystemTest):

    def results(self, text, pattern=""):
        return [(result.name, result.passed) for result in docs.runPage("page.md", text, Report(pattern))]

    def testOutputIsComparedWithNumbersMasked(self):
        self.assertEqual(self.results("```console run\n$ echo step 12/300 loss 3.4\nstep 1/300   loss 99.1\n```\n"), [("page.md:1", True)])

    def testOtherOutputFails(self):
        self.assertEqual(self.results("```console run\n$ echo loss\ngain\n```\n"), [("page.md:1", False)])
        self.assertEqual(self.results("```console run\n$ true\nsomething\n```\n"), [("page.md:1", False)])
        self.assertEqual(self.results("```console run\n$ echo more\n```\n"), [("page.md:1", False)])

    def testDotsStandForAnyLines(self):
        self.assertEqual(self.results("```console run\n$ seq 3; echo end\n...\nend\n```\n"), [("page.md:1", True)])

    def testAFileBlockIsWrittenFirst(self):
        self.assertEqual(self.results("```text file=a/b.txt\nhello\n```\n```sh run\ngrep hello a/b.txt\n```\n"),
                         [("page.md:1", True), ("page.md:4", True)])

    def testAStatusIsExpected(self):
        self.assertEqual(self.results("```sh run exit=3\nexit 3\n```\n"), [("page.md:1", True)])
        self.assertEqual(self.results("```sh run\nexit 3\n```\n"), [("page.md:1", False)])

    def testAHangingBlockFails(self):
        self.assertEqual(self.results("```sh run timeout=1\nsleep 30\n```\n"), [("page.md:1", False)])

    def testBlocksWithoutMarksAreLeftAlone(self):
        self.assertEqual(self.results("```sh\nexit 3\n```\n"), [])

    def testAnUnknownWordAndAnOpenBlockAreErrors(self):
        self.assertEqual(self.results("```sh rum\ntrue\n```\n"), [("page.md", False)])
        self.assertEqual(self.results("```sh run\ntrue\n"), [("page.md", False)])

    def testASelectedBlockRunsAfterTheOnesBeforeIt(self):
        text = "```sh run\ntouch made\n```\n```sh run\ntest -f made\n```\n"
        self.assertEqual(self.results(text, "page.md:4"), [("page.md:4", True)])
