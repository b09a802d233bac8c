"""Trains a model with PyTorch (SDPA, fused AdamW) on exported weights and batches.

    train_torch.py RUN.yaml EXPORT.safetensors STEPS eager|compiled fp32|bf16 THREADS OUT.json

Weights, moments and gradients are float32; with bf16 autocast lets products be of bfloat16. `compiled` is forward and
backward by torch.compile; AdamW is one kernel in any case. OUT.json: {"losses": [...], "times": [...]}, the loss of each
step and the clock when it was known, and "compile_seconds" of the compiled one: what its first step takes more than one later.
"""

import json
import statistics
import sys
import time

import torch
import yaml
from safetensors.torch import load_file

import torch_model


def lossOf(mode, precision):
    """The function of model and batch that trains, compiled or not."""
    def loss(model, tokens, targets):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bf16"):
            return torch_model.lossSum(model, tokens, targets)
    return torch.compile(loss, dynamic=False) if mode == "compiled" else loss


def main(runFile, exported, steps, mode, precision, threads, output):
    torch.set_num_threads(int(threads))
    with open(runFile, encoding="utf-8") as file:
        config = yaml.safe_load(file)
    config["train"]["steps"] = int(steps)
    tensors = load_file(exported)
    tokens, targets = tensors.pop("tokens").long(), tensors.pop("targets").long()
    model = torch_model.build(torch_model.configOf(config["model"]), tensors, torch.float32, "sdpa")
    del tensors
    optimizer = torch_model.optimizerOf(model, config["optimizer"], fused=True)
    loss = lossOf(mode, precision)
    losses, times, started = [], [], time.time()
    for step in range(int(steps)):
        losses.append(torch_model.trainStep(model, optimizer, config, step + 1, tokens[step], targets[step], loss)[0])
        times.append(time.time())
    result = {"losses": losses, "times": times}
    if mode == "compiled":
        result["compile_seconds"] = times[0] - started - statistics.median(b - a for a, b in zip(times, times[1:]))
    with open(output, "w", encoding="utf-8") as file:
        json.dump(result, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
