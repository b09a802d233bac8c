"""Llama models of Hugging Face transformers, built from the `model` section of a weft run file, and their training.

Parameter names are the same in both; weft keeps heads and head width as separate dimensions, so tensors are reshaped,
never permuted. transformers computes norms, softmax and rotary tables in float32 whatever the model's type; `lifted()`
turns every float32 that its model code names into float64, so that a float64 model is float64 throughout.
"""

import contextlib
import types
from unittest import mock

import torch
import transformers.modeling_rope_utils
import transformers.models.llama.modeling_llama as modeling_llama
from transformers import LlamaConfig, LlamaForCausalLM

from schedule import learningRate

IGNORED = -100


class DoublePrecisionTorch(types.ModuleType):
    """The torch module, in which float32 is another name of float64."""

    float = float32 = torch.float64

    def __getattr__(self, name):
        return getattr(torch, name)


@contextlib.contextmanager
def lifted():
    double = DoublePrecisionTorch("torch")
    with mock.patch.object(modeling_llama, "torch", double), mock.patch.object(transformers.modeling_rope_utils, "torch", double), \
            mock.patch.object(torch.Tensor, "float", torch.Tensor.double):
        yield


def configOf(section, **changes):
    keys = dict(section, **changes)
    keys.pop("family")
    keys.setdefault("num_key_value_heads", keys["num_attention_heads"])
    return LlamaConfig(**keys, use_cache=False, bos_token_id=None, eos_token_id=None)


def build(config, weights, dtype, attention):
    """A model of `dtype` with these weights (weft's shapes). Every parameter must be given, and nothing else."""
    config._attn_implementation = attention
    model = LlamaForCausalLM(config).to(dtype)
    with torch.no_grad():
        parameters = dict(model.named_parameters())
        if set(parameters) != set(weights):
            raise ValueError(f"parameters differ: {sorted(set(parameters) ^ set(weights))}")
        for name, parameter in parameters.items():
            parameter.copy_(torch.as_tensor(weights[name]).reshape(parameter.shape).to(dtype))
    return model


def lossSum(model, tokens, targets):
    """The sum over targets that count of the cross-entropy, in the model's type."""
    logits = model(input_ids=tokens).logits
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten().long(), ignore_index=IGNORED, reduction="sum")


def optimizerOf(model, section, fused):
    """AdamW as the run file's `optimizer` section says: one-dimensional parameters do not decay."""
    parameters = list(model.parameters())
    groups = [{"params": [p for p in parameters if p.ndim > 1], "weight_decay": section["weight_decay"]},
              {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=section["lr"], betas=tuple(section["betas"]), eps=section["epsilon"], fused=fused)


def trainStep(model, optimizer, config, step, tokens, targets):
    """One optimizer step over tokens, targets [microbatches, samples, sequence]: the loss and the norm before clipping."""
    for group in optimizer.param_groups:
        group["lr"] = learningRate(config, step)
    optimizer.zero_grad(set_to_none=True)
    count = int((targets != IGNORED).sum())
    total = 0.0
    for microTokens, microTargets in zip(tokens, targets):
        loss = lossSum(model, microTokens, microTargets) / count
        loss.backward()
        total += loss.item()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), config["optimizer"]["clip_grad_norm"])
    optimizer.step()
    return total, norm.item()
