"""The memory of a process: RssAnon + RssShmem, sampled while it runs, which leaves out program files and mapped tensors."""

import signal
import subprocess
import threading
import time


class Watcher(threading.Thread):
    """Samples a process as (time, bytes). With `pauses`, stops it half of the time."""

    def __init__(self, process, pauses=False):
        super().__init__(daemon=True)
        self.process, self.pauses, self.samples = process, pauses, []
        self.start()

    def sample(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            fields = dict(line.split(":", 1) for line in file)
        if "RssAnon" in fields:
            self.samples.append((time.time(), sum(int(fields[key].split()[0]) for key in ("RssAnon", "RssShmem")) * 1024))

    def run(self):
        while self.process.poll() is None:
            try:
                self.sample()
                if self.pauses:
                    self.process.send_signal(signal.SIGSTOP)
                    time.sleep(0.02)
                    self.process.send_signal(signal.SIGCONT)
            except (OSError, ValueError):
                return
            time.sleep(0.02)

    def peak(self, begin=0.0):
        """The most bytes at or after a time (of time.time())."""
        return max((size for at, size in self.samples if at >= begin), default=0)


def watch(command, pauses=False, **options):
    """Runs a command to its end; returns its Watcher. Its output is shown when it fails."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    watcher = Watcher(process, pauses)
    output, _ = process.communicate()
    watcher.join()
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit status {process.returncode}\n{output}")
    return watcher
