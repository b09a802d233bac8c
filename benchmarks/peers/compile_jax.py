"""Compiles the training step of train_jax.py for a model that is never held, on as many host devices as it is told.

    compile_jax.py RUN.yaml LAYERS DATAxTENSOR OUT.json

The step is that of RUN.yaml with LAYERS layers and a key and a value for every head, float32, on shapes alone.
OUT.json: {"compile_seconds": ..., "processor_seconds": ..., "peak_mib": ...}, of tracing, lowering and compiling.
"""

import json
import os
import resource
import sys
import time

runFile, layers, mesh, output = sys.argv[1:]
os.environ["WEFT_PEER_MESH"] = mesh

from jax_model import DATA, MESH, splitOf
from train_jax import makeStep, momentSplitOf

import jax
import jax.numpy as jnp
import yaml
from jax.sharding import NamedSharding, PartitionSpec as P


def shapesOf(model):
    hidden, inner, heads = model["hidden_size"], model["intermediate_size"], model["num_attention_heads"]
    shapes = {"model.embed_tokens.weight": (model["vocab_size"], hidden), "lm_head.weight": (model["vocab_size"], hidden),
              "model.norm.weight": (hidden,)}
    for layer in range(model["num_hidden_layers"]):
        for name, shape in {**{f"self_attn.{letter}_proj": (heads, hidden // heads, hidden) for letter in "qkv"},
                            "self_attn.o_proj": (hidden, heads, hidden // heads), "mlp.gate_proj": (inner, hidden),
                            "mlp.up_proj": (inner, hidden), "mlp.down_proj": (hidden, inner), "input_layernorm": (hidden,),
                            "post_attention_layernorm": (hidden,)}.items():
            shapes[f"model.layers.{layer}.{name}.weight"] = shape
    return shapes


def processorSeconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main():
    with open(runFile, encoding="utf-8") as file:
        config = yaml.safe_load(file)
    config["model"]["num_hidden_layers"] = int(layers)
    config["optimizer"].setdefault("epsilon", 1.0e-8)
    whole = {name: jax.ShapeDtypeStruct(shape, jnp.float32) for name, shape in shapesOf(config["model"]).items()}
    splits = {name: splitOf(name, value) for name, value in whole.items()}
    momentSplits = {name: momentSplitOf(name, value) for name, value in whole.items()}
    placed = lambda value, split: jax.ShapeDtypeStruct(value.shape, value.dtype, sharding=NamedSharding(MESH, split))
    weights = {name: placed(value, splits[name]) for name, value in whole.items()}
    moments = {name: placed(value, momentSplits[name]) for name, value in whole.items()}
    tokens = placed(jax.ShapeDtypeStruct((DATA, config["data"]["sequence_length"]), jnp.int32), P("data", None))
    scalar = jax.ShapeDtypeStruct((), jnp.float32)
    started, processor = time.time(), processorSeconds()
    makeStep(config, splits, momentSplits).lower(weights, dict(moments), dict(moments), scalar, scalar, tokens, tokens).compile()
    result = {"compile_seconds": time.time() - started, "processor_seconds": processorSeconds() - processor,
              "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
    with open(output, "w", encoding="utf-8") as file:
        json.dump(result, file)


if __name__ == "__main__":
    main()
