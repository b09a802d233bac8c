"""scripts/setup.sh on a machine that is ready, and on ones that are not (a dpkg that answers otherwise)."""

import os

from harness import ROOT, SystemTest

SETUP = os.path.join(ROOT, "scripts", "setup.sh")


class Setup(SystemTest):

    def environment(self, **changes):
        return super().environment(WEFT_CACHE=os.path.join(self.folder, "cache"), **changes)

    def fake(self, name, body):
        """A program that is found before the real one."""
        os.chmod(self.write(os.path.join("fake", name), "#!/bin/bash\n" + body), 0o755)
        return self.environment() | {"PATH": os.path.join(self.folder, "fake") + ":" + os.environ["PATH"]}

    def testAReadyMachineGetsItsCorpusAndNothingElse(self):
        printed = self.passes(SETUP)
        self.assertIn("setup: all packages of scripts/packages.list are installed\n", printed)
        self.assertGreater(os.path.getsize(os.path.join(self.folder, "cache/quickstart/corpus.txt")), 10_000_000)
        self.assertEqual(os.listdir(os.path.join(self.folder, "cache/quickstart")), ["corpus.txt"])

    def testASecondCallLeavesTheCorpusAlone(self):
        self.write("cache/quickstart/corpus.txt", "mine\n")
        self.assertIn("corpus.txt is there (5 bytes)", self.passes(SETUP))

    def testMissingAndOldPackagesAreInstalled(self):
        self.fake("apt-cache", "echo '  Candidate: 1:22.1.8'\n")
        self.fake("apt-get", f'echo "$@" >>{self.folder}/calls; touch {self.folder}/installed\n')
        environment = self.fake("dpkg-query", f'''
[ -e {self.folder}/installed ] || case ${{!#}} in
  ccache) exit 1 ;;
  cmake) echo "installed 3.18.4-2"; exit ;;
esac
/usr/bin/dpkg-query "$@"
''')
        environment["PATH"] = os.path.join(self.folder, "fake") + ":" + environment["PATH"]
        self.fake("sudo", '"$@"\n')
        printed = self.passes(SETUP, env=environment)
        self.assertIn("setup: installing 2 packages: cmake ccache\n", printed)
        self.assertIn("install -y --no-install-recommends cmake ccache\n", self.read("calls"))

    def testASourceWithoutLlvmIsNamedWithItsRemedy(self):
        self.fake("apt-cache", "echo '  Candidate: (none)'\n")
        self.fake("apt-get", "true\n")
        self.fake("sudo", '"$@"\n')
        environment = self.fake("dpkg-query", "exit 1\n")
        self.refuses(1, "setup: error: no package source has clang-22: it comes from Debian 12's security suite. Add "
                     "'bookworm-security main' to /etc/apt/sources.list and run this script again.", SETUP, env=environment)
