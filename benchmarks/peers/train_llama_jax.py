"""Trains a Llama with JAX (XLA on the CPU, float32) on four host devices, data 2 x tensor 2, on exported weights and batches.

    train_llama_jax.py RUN.yaml EXPORT.safetensors OUT.json

Weights are split over `tensor` by heads, feed-forward columns and vocabulary, as Megatron does; AdamW's moments are split
over `data` too (ZeRO-1); activations between layers are split along the sequence. XLA's partitioner does the rest.
OUT.json: {"losses": [...], "times": [...], "compile_seconds": ...}: the loss of each step, and the clock when it was known.
"""

import json
import math
import os
import sys
import time

DATA, TENSOR = (int(size) for size in os.environ.get("WEFT_PEER_MESH", "2x2").split("x"))
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={DATA * TENSOR}"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy
import yaml
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from safetensors.numpy import load_file

from schedule import learningRate

MESH = Mesh(numpy.array(jax.devices()).reshape(DATA, TENSOR), ("data", "tensor"))
SPLIT = {"q_proj": P("tensor", None, None), "k_proj": P("tensor", None, None), "v_proj": P("tensor", None, None),
         "o_proj": P(None, "tensor", None), "gate_proj": P("tensor", None), "up_proj": P("tensor", None),
         "down_proj": P(None, "tensor"), "embed_tokens": P("tensor", None), "lm_head": P("tensor", None)}


def splitOf(name, value):
    for part, split in SPLIT.items():
        if f"{part}.weight" in name:
            return split
    return P(*[None] * value.ndim)


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


def keep(value, *split):
    return jax.lax.with_sharding_constraint(value, NamedSharding(MESH, P(*split)))


def rmsNorm(x, weight, epsilon):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + epsilon) * weight


def rotate(x, cosine, sine):
    first, second = jnp.split(x, 2, axis=-1)
    return x * cosine[:, None, :] + jnp.concatenate([-second, first], axis=-1) * sine[:, None, :]


def lossOf(weights, tokens, targets, model):
    length, dimension = tokens.shape[1], model["hidden_size"] // model["num_attention_heads"]
    frequencies = model.get("rope_theta", 10000.0) ** (-jnp.arange(0, dimension, 2, dtype=jnp.float32) / dimension)
    angles = jnp.concatenate([jnp.outer(jnp.arange(length, dtype=jnp.float32), frequencies)] * 2, axis=-1)
    cosine, sine = jnp.cos(angles), jnp.sin(angles)
    visible = jnp.tril(jnp.ones((length, length), bool))
    epsilon = model.get("rms_norm_eps", 1e-6)
    x = keep(weights["model.embed_tokens.weight"][tokens], "data", "tensor", None)
    for layer in range(model["num_hidden_layers"]):
        at = lambda name: weights[f"model.layers.{layer}.{name}.weight"]
        y = rmsNorm(x, at("input_layernorm"), epsilon)
        q, k, v = (jnp.einsum("bsh,ndh->bsnd", y, at(f"self_attn.{name}_proj")) for name in "qkv")
        q, k = rotate(q, cosine, sine), rotate(k, cosine, sine)
        scores = jnp.einsum("bsnd,btnd->bnst", q, k) / math.sqrt(dimension)
        attended = jnp.einsum("bnst,btnd->bsnd", jax.nn.softmax(jnp.where(visible, scores, -jnp.inf), axis=-1), v)
        x = keep(x + jnp.einsum("bsnd,hnd->bsh", attended, at("self_attn.o_proj")), "data", "tensor", None)
        y = rmsNorm(x, at("post_attention_layernorm"), epsilon)
        inner = jax.nn.silu(jnp.einsum("bsh,fh->bsf", y, at("mlp.gate_proj"))) * jnp.einsum("bsh,fh->bsf", y, at("mlp.up_proj"))
        x = keep(x + jnp.einsum("bsf,hf->bsh", inner, at("mlp.down_proj")), "data", "tensor", None)
    logits = jnp.einsum("bsh,vh->bsv", rmsNorm(x, weights["model.norm.weight"], epsilon), weights["lm_head.weight"])
    chosen = jnp.take_along_axis(logits, targets[..., None], axis=-1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, axis=-1) - chosen)


def makeStep(config, splits, momentSplits):
    optimizer = config["optimizer"]
    beta1, beta2 = optimizer["betas"]

    def step(weights, first, second, number, rate, tokens, targets):
        loss, gradients = jax.value_and_grad(lossOf)(weights, tokens, targets, config["model"])
        norm = jnp.sqrt(sum(jnp.sum(gradient * gradient) for gradient in gradients.values()))
        scale = jnp.minimum(1.0, optimizer["clip_grad_norm"] / (norm + 1e-6))
        for name, gradient in gradients.items():
            gradient = keep(gradient * scale, *momentSplits[name])
            first[name] = beta1 * first[name] + (1 - beta1) * gradient
            second[name] = beta2 * second[name] + (1 - beta2) * gradient * gradient
            update = (first[name] / (1 - beta1**number)) / (jnp.sqrt(second[name] / (1 - beta2**number)) + optimizer["epsilon"])
            decay = optimizer["weight_decay"] if gradient.ndim > 1 else 0.0
            old = keep(weights[name], *momentSplits[name])
            weights[name] = keep(old - rate * (update + decay * old), *splits[name])
        return weights, first, second, loss, norm

    return jax.jit(step, donate_argnums=(0, 1, 2))


def main(runFile, exported, output):
    with open(runFile, encoding="utf-8") as file:
        config = yaml.safe_load(file)
    tensors = load_file(exported)
    tokens, targets = tensors.pop("tokens"), tensors.pop("targets")
    splits = {name: splitOf(name, value) for name, value in tensors.items()}
    momentSplits = {name: momentSplitOf(name, value) for name, value in tensors.items()}
    weights = {name: place(value, splits[name]) for name, value in tensors.items()}
    first = {name: place(numpy.zeros_like(value), momentSplits[name]) for name, value in tensors.items()}
    second = {name: place(numpy.zeros_like(value), momentSplits[name]) for name, value in tensors.items()}
    batches = [tuple(place(part[step].reshape(-1, part.shape[-1]), P("data", None)) for part in (tokens, targets))
               for step in range(config["train"]["steps"])]
    started = time.time()
    run = makeStep(config, splits, momentSplits).lower(weights, first, second, jnp.float32(1), jnp.float32(0), *batches[0]).compile()
    compileSeconds = time.time() - started
    losses, times = [], []
    for step, batch in enumerate(batches, start=1):
        weights, first, second, loss, _ = run(weights, first, second, jnp.float32(step), jnp.float32(learningRate(config, step)), *batch)
        losses.append(float(loss))
        times.append(time.time())
    with open(output, "w", encoding="utf-8") as file:
        json.dump({"losses": losses, "times": times, "compile_seconds": compileSeconds}, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
