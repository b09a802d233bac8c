"""Ranks that are processes, and the questions that tests ask about the bits of their runs."""

import os
import re

from training import TrainingTest

#: Gathers, reductions, scatters and exchanges, over one axis and over two, along the first dimension and along others.
MESHES = {
    "zero3": "{data_shard: 4, zero: 3}",
    "both": "{data_shard: 2, zero: 1, tensor: 2, sequence: true}",
    "tensor": "{tensor: 4}",
    "hsdp": "{data_replicate: 2, data_shard: 2, zero: 2}",
}

FOUR_HEADS = ("model.num_attention_heads=4", "train.micro_batch=2")


class ProcessTest(TrainingTest):

    def mesh(self, parallel, *sets):
        return (f"parallel={parallel}", *FOUR_HEADS, *sets)

    def processes(self, count, *command):
        return ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", count, *command]

    def trainProcesses(self, name, *sets, count=4, file="run.yaml", **options):
        return self.passes(*self.processes(count, *self.training(name, *sets, file=file)), **options)

    def ranksOf(self, job):
        """The processes of the ranks that mpirun has started on this machine, by rank."""
        found = {}
        for process in self.passes("pgrep", "-P", job.pid).split():
            with open(f"/proc/{process}/environ", "rb") as file:
                rank = re.search(rb"(?:^|\0)OMPI_COMM_WORLD_RANK=(\d+)", file.read())
            if rank:
                found[int(rank[1])] = int(process)
        return found

    def curve(self, name):
        return [[record[key] for key in ("loss", "grad_norm", "lr")] for record in self.metrics(name)]
