"""torch.distributed.checkpoint on a set of float32 tensors: `load_checkpoint.py SHAPES FOLDER save|load PROCESSES`.

SHAPES is a JSON file {name: shape}. Each process holds its part of every tensor as a DTensor, split over the first dimension
when they save and over the last when they load, so what is loaded lies elsewhere than it was. Prints the seconds between two
barriers. Loading writes into memory that was written before.
"""

import json
import os
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as checkpoint
import torch.multiprocessing as processes
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor


def work(rank, count, shapes, folder, what, store):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=count)
    mesh = init_device_mesh("cpu", (count,))
    state = {}
    for name, shape in shapes.items():
        tensor = torch.randn(shape) if what == "save" else torch.ones(shape)
        placement = Replicate() if not shape else Shard(0 if what == "save" else len(shape) - 1)
        state[name] = distribute_tensor(tensor, mesh, [placement])
    dist.barrier()
    start = time.monotonic()
    if what == "save":
        checkpoint.save(state, checkpoint_id=folder)
    else:
        checkpoint.load(state, checkpoint_id=folder)
    dist.barrier()
    if rank == 0:
        print(time.monotonic() - start, flush=True)
    dist.destroy_process_group()


def main():
    path, folder, what, count = sys.argv[1:5]
    with open(path, encoding="utf-8") as file:
        shapes = json.load(file)
    with tempfile.TemporaryDirectory() as place:
        processes.spawn(work, (int(count), shapes, folder, what, os.path.join(place, "store")), nprocs=int(count))


if __name__ == "__main__":
    main()
