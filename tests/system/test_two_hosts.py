"""weft train across two hosts: two network namespaces with a cable between them, each with a host name of its own, where
mpirun reaches the second through an agent as it would through ssh."""

import os
import shlex
import subprocess
import sys
import unittest

from processes import MESHES, ProcessTest

AGENT = """#!/bin/sh
# HOST COMMAND...: starts the command on the other host.
shift
exec ip netns exec {b} unshare -u sh -c "hostname {b}; $*"
"""


def canHaveTwoHosts():
    """Whether this machine gives network namespaces, which takes root and more than many containers have."""
    name = f"weft-try-{os.getpid()}"
    try:
        made = subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False).returncode == 0
        cable = ["ip", "-n", name, "link", "add", "wt", "type", "veth", "peer", "name", "wu"]
        return made and subprocess.run(cable, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False
    finally:
        subprocess.run(["sh", "-c", f"ip netns del {name}"], capture_output=True, check=False)


def load_tests(loader, tests, pattern):
    if canHaveTwoHosts():
        return tests
    print("test_two_hosts.py: no network namespaces here, so no tests", file=sys.stderr)
    return unittest.TestSuite()


class TwoHosts(ProcessTest):

    def setUp(self):
        super().setUp()
        self.a, self.b = f"weft-a-{os.getpid()}", f"weft-b-{os.getpid()}"
        for name in (self.a, self.b):
            self.passes("ip", "netns", "add", name)
            self.addCleanup(self.command, "ip", "netns", "del", name)
        ends = {self.a: ("wa", "10.77.0.1/24"), self.b: ("wb", "10.77.0.2/24")}
        self.passes("ip", "-n", self.a, "link", "add", "wa", "type", "veth", "peer", "name", "wb", "netns", self.b)
        for host, (link, address) in ends.items():
            self.passes("ip", "-n", host, "addr", "add", address, "dev", link)
            for up in (link, "lo"):
                self.passes("ip", "-n", host, "link", "set", up, "up")
        self.write("agent.sh", AGENT.format(b=self.b))
        os.chmod(os.path.join(self.folder, "agent.sh"), 0o755)

    def processes(self, count, *command):
        """Half of the processes on each host."""
        line = shlex.join(["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "plm_rsh_agent", self.folder + "/agent.sh",
                           "--mca", "btl_tcp_if_include", "10.77.0.0/24", "--mca", "oob_tcp_if_include", "10.77.0.0/24",
                           "--host", f"10.77.0.1:{count // 2},10.77.0.2:{count // 2}", "-n", str(count), "-x", "PATH", *command])
        return ["ip", "netns", "exec", self.a, "unshare", "-u", "sh", "-c", f"hostname {self.a}; {line}"]

    def bytesReceived(self):
        return int(self.passes("ip", "netns", "exec", self.b, "cat", "/sys/class/net/wb/statistics/rx_bytes"))

    def testTheBitsAreThoseOfThreadsOnOne(self):
        for name in ("zero3", "both"):
            self.train(name, *self.mesh(MESHES[name]))
            before = self.bytesReceived()
            self.trainProcesses(f"mpi-{name}", *self.mesh(MESHES[name]), timeout=300)
            self.assertGreater(self.bytesReceived() - before, 1_000_000, "what ranks sent went over the cable")
            self.assertEqual(self.curve(name), self.curve(f"mpi-{name}"))
            self.assertEqual(self.tensorFiles(name, 12), self.tensorFiles(f"mpi-{name}", 12))
