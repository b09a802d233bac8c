"""Llama and GPT-2 as functions of JAX, on a mesh of host devices, `data` by `tensor` (WEFT_PEER_MESH, one device if it is absent).

Weights have weft's names and shapes. Those of Llama are split over `tensor` by heads, feed-forward columns and vocabulary, as
Megatron does, and activations between layers along the sequence; XLA's partitioner does the rest. With `compute` bfloat16
the residual stream and all products are bfloat16, norms, softmax and loss float32.
"""

import math
import os

DATA, TENSOR = (int(size) for size in os.environ.get("WEFT_PEER_MESH", "1x1").split("x"))
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={DATA * TENSOR}"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

MESH = Mesh(numpy.array(jax.devices()).reshape(DATA, TENSOR), ("data", "tensor"))
SPLIT = {"q_proj": P("tensor", None, None), "k_proj": P("tensor", None, None), "v_proj": P("tensor", None, None),
         "o_proj": P(None, "tensor", None), "gate_proj": P("tensor", None), "up_proj": P("tensor", None),
         "down_proj": P(None, "tensor"), "embed_tokens": P("tensor", None), "lm_head": P("tensor", None)}


def splitOf(name, value):
    for part, split in SPLIT.items():
        if f"{part}.weight" in name:
            return split
    return P(*[None] * value.ndim)


def keep(value, *split):
    return jax.lax.with_sharding_constraint(value, NamedSharding(MESH, P(*split)))


def attend(q, k, v):
    """Causal attention of [batch, sequence, heads, width], softmax in float32."""
    length, dimension = q.shape[1], q.shape[3]
    scores = jnp.einsum("bsnd,btnd->bnst", q, k, preferred_element_type=jnp.float32) / math.sqrt(dimension)
    weights = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -jnp.inf), axis=-1)
    return jnp.einsum("bnst,btnd->bsnd", weights.astype(v.dtype), v)


def crossEntropy(x, head, targets):
    logits = jnp.einsum("bsh,vh->bsv", x, head, preferred_element_type=jnp.float32)
    chosen = jnp.take_along_axis(logits, targets[..., None], axis=-1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, axis=-1) - chosen)


def rmsNorm(x, weight, epsilon):
    wide = x.astype(jnp.float32)
    return (wide * jax.lax.rsqrt(jnp.mean(wide * wide, axis=-1, keepdims=True) + epsilon) * weight).astype(x.dtype)


def rotate(x, cosine, sine):
    first, second = jnp.split(x, 2, axis=-1)
    turned = x * cosine[:, None, :] + jnp.concatenate([-second, first], axis=-1) * sine[:, None, :]
    return turned.astype(x.dtype)


def llamaLoss(weights, tokens, targets, model, compute):
    length, dimension = tokens.shape[1], model["hidden_size"] // model["num_attention_heads"]
    frequencies = model.get("rope_theta", 10000.0) ** (-jnp.arange(0, dimension, 2, dtype=jnp.float32) / dimension)
    angles = jnp.concatenate([jnp.outer(jnp.arange(length, dtype=jnp.float32), frequencies)] * 2, axis=-1)
    cosine, sine = jnp.cos(angles), jnp.sin(angles)
    epsilon = model.get("rms_norm_eps", 1e-6)
    matrix = lambda name: weights[name].astype(compute)
    x = keep(matrix("model.embed_tokens.weight")[tokens], "data", "tensor", None)
    for layer in range(model["num_hidden_layers"]):
        path = f"model.layers.{layer}"
        y = rmsNorm(x, weights[f"{path}.input_layernorm.weight"], epsilon)
        q, k, v = (jnp.einsum("bsh,ndh->bsnd", y, matrix(f"{path}.self_attn.{name}_proj.weight")) for name in "qkv")
        attended = attend(rotate(q, cosine, sine), rotate(k, cosine, sine), v)
        x = keep(x + jnp.einsum("bsnd,hnd->bsh", attended, matrix(f"{path}.self_attn.o_proj.weight")), "data", "tensor", None)
        y = rmsNorm(x, weights[f"{path}.post_attention_layernorm.weight"], epsilon)
        gate, up = (jnp.einsum("bsh,fh->bsf", y, matrix(f"{path}.mlp.{name}_proj.weight")) for name in ("gate", "up"))
        x = keep(x + jnp.einsum("bsf,hf->bsh", jax.nn.silu(gate) * up, matrix(f"{path}.mlp.down_proj.weight")), "data", "tensor", None)
    return crossEntropy(rmsNorm(x, weights["model.norm.weight"], epsilon), matrix("lm_head.weight"), targets)


def layerNorm(x, weight, bias, epsilon):
    wide = x.astype(jnp.float32)
    centered = wide - jnp.mean(wide, axis=-1, keepdims=True)
    return (centered * jax.lax.rsqrt(jnp.mean(centered * centered, axis=-1, keepdims=True) + epsilon) * weight + bias).astype(x.dtype)


def gpt2Loss(weights, tokens, targets, model, compute):
    epsilon = model.get("layer_norm_epsilon", 1e-5)
    cast = lambda name: weights[name].astype(compute)
    linear = lambda equation, x, path: jnp.einsum(equation, x, cast(f"{path}.weight")) + cast(f"{path}.bias")
    norm = lambda x, path: layerNorm(x, weights[f"{path}.weight"], weights[f"{path}.bias"], epsilon)
    table = cast("transformer.wte.weight")
    x = table[tokens] + cast("transformer.wpe.weight")[:tokens.shape[1]]
    for layer in range(model["n_layer"]):
        path = f"transformer.h.{layer}"
        all = linear("bsh,hcnd->bscnd", norm(x, f"{path}.ln_1"), f"{path}.attn.c_attn")
        x = x + linear("bsnd,ndh->bsh", attend(all[:, :, 0], all[:, :, 1], all[:, :, 2]), f"{path}.attn.c_proj")
        inner = jax.nn.gelu(linear("bsh,hf->bsf", norm(x, f"{path}.ln_2"), f"{path}.mlp.c_fc"), approximate=True)
        x = x + linear("bsf,fh->bsh", inner, f"{path}.mlp.c_proj")
    return crossEntropy(norm(x, "transformer.ln_f"), table, targets)


LOSSES = {"llama": llamaLoss, "gpt2": gpt2Loss}
