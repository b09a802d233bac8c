"""Trains a Llama with PyTorch eager (SDPA, fused AdamW, float32) on exported weights and batches.

    train_llama.py RUN.yaml EXPORT.safetensors THREADS OUT.json

OUT.json: {"losses": [...], "times": [...]}: the loss of each step, and the clock when it was known.
"""

import json
import sys
import time

import torch
import yaml
from safetensors.torch import load_file

import llama


def main(runFile, exported, threads, output):
    torch.set_num_threads(int(threads))
    with open(runFile, encoding="utf-8") as file:
        config = yaml.safe_load(file)
    tensors = load_file(exported)
    tokens, targets = tensors.pop("tokens").long(), tensors.pop("targets").long()
    model = llama.build(llama.configOf(config["model"]), tensors, torch.float32, "sdpa")
    del tensors
    optimizer = llama.optimizerOf(model, config["optimizer"], fused=True)
    losses, times = [], []
    for step in range(config["train"]["steps"]):
        losses.append(llama.trainStep(model, optimizer, config, step + 1, tokens[step], targets[step])[0])
        times.append(time.time())
    with open(output, "w", encoding="utf-8") as file:
        json.dump({"losses": losses, "times": times}, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
