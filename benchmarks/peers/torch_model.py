"""Models of Hugging Face transformers, built from the `model` section of a weft run file, and their training.

Parameter names are the same in both; weft keeps heads and head width as separate dimensions, so tensors are reshaped,
never permuted.
"""

import torch
from transformers import AutoConfig, AutoModelForCausalLM

from schedule import learningRate

IGNORED = -100


def configOf(section):
    """A section holds the keys of the family's config.json, so transformers takes it as it is."""
    keys = dict(section, use_cache=False, bos_token_id=None, eos_token_id=None, pad_token_id=None)
    return AutoConfig.for_model(keys.pop("family"), **keys)


def build(config, weights, dtype, attention):
    """A model of `dtype` with these weights (weft's shapes). Every parameter must be given, and nothing else."""
    config._attn_implementation = attention
    model = AutoModelForCausalLM.from_config(config).to(dtype)
    with torch.no_grad():
        parameters = dict(model.named_parameters())
        if set(parameters) != set(weights):
            raise ValueError(f"parameters differ: {sorted(set(parameters) ^ set(weights))}")
        for name, parameter in parameters.items():
            parameter.copy_(torch.as_tensor(weights[name]).reshape(parameter.shape).to(dtype))
    return model


def lossSum(model, tokens, targets):
    """The sum over targets that count of the cross-entropy, in float32 or the model's type if that is wider."""
    logits = model(input_ids=tokens).logits
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten().long(), ignore_index=IGNORED, reduction="sum")


def optimizerOf(model, section, fused):
    """AdamW as the run file's `optimizer` section says: one-dimensional parameters do not decay."""
    parameters = list(model.parameters())
    groups = [{"params": [p for p in parameters if p.ndim > 1], "weight_decay": section["weight_decay"]},
              {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=section["lr"], betas=tuple(section["betas"]), eps=section["epsilon"], fused=fused)


def trainStep(model, optimizer, config, step, tokens, targets, lossOf=lossSum):
    """One optimizer step over tokens, targets [microbatches, samples, sequence]: the loss and the norm before clipping."""
    for group in optimizer.param_groups:
        group["lr"] = learningRate(config, step)
    optimizer.zero_grad(set_to_none=True)
    count = int((targets != IGNORED).sum())
    total = 0.0
    for microTokens, microTargets in zip(tokens, targets):
        loss = lossOf(model, microTokens, microTargets) / count
        loss.backward()
        total += loss.item()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), config["optimizer"]["clip_grad_norm"])
    optimizer.step()
    return total, norm.item()
