"""Trains a model with JAX (XLA on the CPU) on exported weights and batches, on the mesh of host devices that jax_model says.

    train_jax.py RUN.yaml EXPORT.safetensors STEPS fp32|bf16 OUT.json

Weights, gradients and AdamW's moments are float32; the moments are split over `data` too (ZeRO-1). The step is one jitted
function that updates in place. OUT.json: {"losses": [...], "times": [...], "compile_seconds": ...}: the loss of each step, and
the clock when it was known.
"""

import json
import sys
import time

from jax_model import DATA, LOSSES, MESH, keep, splitOf

import jax
import jax.numpy as jnp
import numpy
import yaml
from jax.sharding import NamedSharding, PartitionSpec as P
from safetensors.numpy import load_file

from schedule import learningRate

COMPUTE = {"fp32": jnp.float32, "bf16": jnp.bfloat16}


def momentSplitOf(name, value):
    """ZeRO-1: `data` along the first dimension that is whole and even."""
    split = list(splitOf(name, value))
    for dimension, size in enumerate(value.shape):
        if split[dimension] is None and size % DATA == 0:
            split[dimension] = "data"
            break
    return P(*split)


def place(value, split):
    return jax.device_put(value, NamedSharding(MESH, split))


def decays(name, value):
    """Biases of heads have their heads as dimensions here."""
    return value.ndim > 1 and not name.endswith(".bias")


def makeStep(config, splits, momentSplits, compute=jnp.float32):
    optimizer, lossOf = config["optimizer"], LOSSES[config["model"]["family"]]
    beta1, beta2 = optimizer["betas"]

    def step(weights, first, second, number, rate, tokens, targets):
        loss, gradients = jax.value_and_grad(lossOf)(weights, tokens, targets, config["model"], compute)
        norm = jnp.sqrt(sum(jnp.sum(gradient * gradient) for gradient in gradients.values()))
        scale = jnp.minimum(1.0, optimizer["clip_grad_norm"] / (norm + 1e-6))
        for name, gradient in gradients.items():
            gradient = keep(gradient * scale, *momentSplits[name])
            first[name] = beta1 * first[name] + (1 - beta1) * gradient
            second[name] = beta2 * second[name] + (1 - beta2) * gradient * gradient
            update = (first[name] / (1 - beta1**number)) / (jnp.sqrt(second[name] / (1 - beta2**number)) + optimizer["epsilon"])
            old = keep(weights[name], *momentSplits[name])
            decay = optimizer["weight_decay"] if decays(name, old) else 0.0
            weights[name] = keep(old - rate * (update + decay * old), *splits[name])
        return weights, first, second, loss, norm

    return jax.jit(step, donate_argnums=(0, 1, 2))


def main(runFile, exported, steps, precision, output):
    with open(runFile, encoding="utf-8") as file:
        config = yaml.safe_load(file)
    config["train"]["steps"] = int(steps)
    tensors = load_file(exported)
    batches = [tuple(place(part[step].reshape(-1, part.shape[-1]), P("data", None)) for part in (tensors["tokens"], tensors["targets"]))
               for step in range(int(steps))]
    del tensors["tokens"], tensors["targets"]
    splits = {name: splitOf(name, value) for name, value in tensors.items()}
    momentSplits = {name: momentSplitOf(name, value) for name, value in tensors.items()}
    first = {name: place(numpy.zeros_like(value), momentSplits[name]) for name, value in tensors.items()}
    second = {name: place(numpy.zeros_like(value), momentSplits[name]) for name, value in tensors.items()}
    weights = {name: place(tensors.pop(name), splits[name]) for name in list(tensors)}
    started = time.time()
    step = makeStep(config, splits, momentSplits, COMPUTE[precision])
    run = step.lower(weights, first, second, jnp.float32(1), jnp.float32(0), *batches[0]).compile()
    compileSeconds = time.time() - started
    losses, times = [], []
    for number, batch in enumerate(batches, start=1):
        weights, first, second, loss, _ = run(weights, first, second, jnp.float32(number), jnp.float32(learningRate(config, number)), *batch)
        losses.append(float(loss))
        times.append(time.time())
    with open(output, "w", encoding="utf-8") as file:
        json.dump({"losses": losses, "times": times, "compile_seconds": compileSeconds}, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
