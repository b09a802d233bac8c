"""What Hugging Face transformers says of folders, for tests of import and export: run by the Python of the peers, one command
with JSON arguments for each time that it is to be done, which prints a JSON list of the answers.

    huggingface.py COMMAND '[{"argument": ...}, ...]'
"""

import json
import os
import sys

import numpy
import torch
import yaml
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PARITY = os.path.join(ROOT, "tests", "parity")
sys.path.insert(0, PARITY)
import models  # noqa: E402


def sectionOf(family, changes=None):
    """The model section of a run file of tests/parity/configs, with every feature of the family on."""
    with open(os.path.join(PARITY, "configs", family + ".yaml"), encoding="utf-8") as file:
        return dict(yaml.safe_load(file)["model"], **(changes or {}))


def make(folder, family, seed=1, dtype="float32", shard="5GB", changes=None):
    """A folder with random weights, as save_pretrained writes it. Those of norms are around what transformers starts with (0 where
    the family adds 1), so that their factors are around 1. Around 2, gemma3_text's queries and keys give scores of up to 11 instead
    of 3 and nearly one-hot attention: gradients move by 50 times a relative change of the parameters instead of 10 times, and after
    4 steps torch's own float32 is up to 1.6e-4 from its float64 (6 seeds; weft's 1.7e-4) instead of 1.4e-6 (seed 1; weft's 2.5e-6)."""
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(models.configOf(sectionOf(family, changes)))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            isNorm = parameter.ndim == 1 and not name.endswith("bias")
            parameter.copy_(torch.randn(parameter.shape) * 0.2 + (parameter if isNorm else 0.0))
    model.to(getattr(torch, dtype)).save_pretrained(folder, max_shard_size=shard)
    return sorted(os.listdir(folder))


def load(folder, dtype="float32"):
    """Every weight must be there, and nothing else."""
    model, report = AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, dtype, dtype), attn_implementation="eager",
                                                         output_loading_info=True)
    wrong = {key: sorted(map(str, value)) for key, value in report.items() if value}
    if wrong:
        raise ValueError(f"{folder}: {wrong}")
    return model.eval()


def logitsOf(model):
    tokens = torch.arange(2 * 48).reshape(2, 48) * 37 % model.config.vocab_size
    with torch.no_grad():
        return model(input_ids=tokens).logits


def compare(a, b, dtype="float32"):
    """The largest difference of the logits of two folders."""
    first, second = logitsOf(load(a, dtype)), logitsOf(load(b, dtype))
    return {"difference": (first - second).abs().max().item(), "size": first.abs().max().item(), "type": str(load(b, "auto").dtype)}


def effects(folder, family):
    """By how much each feature of the family, turned off, moves the logits of a folder."""
    weights = {name: value.detach().numpy() for name, value in load(folder).named_parameters()}
    moved = {}
    with models.lifted(family):
        whole = logitsOf(models.build(sectionOf(family), weights))
        for feature, turnOff in models.FEATURES[family].items():
            variant = models.Variant(sectionOf(family), weights)
            turnOff(variant)
            moved[feature] = (logitsOf(variant.build()) - whole).abs().max().item()
    return moved


def train(folder, batches, optimizer):
    """Trains in float64 on the batches of a run, [steps, microbatches, samples, length]; the losses, and the updates of the
    parameters as a file."""
    model = load(folder, "float64").train()
    start = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    settings = {"lr": optimizer["lr"], "weight_decay": optimizer["weight_decay"]}
    matrices = [parameter for parameter in model.parameters() if parameter.ndim > 1]
    vectors = [parameter for parameter in model.parameters() if parameter.ndim <= 1]
    updater = torch.optim.AdamW([{"params": matrices}, {"params": vectors, "weight_decay": 0.0}], betas=tuple(optimizer["betas"]),
                                eps=optimizer["epsilon"], **settings)
    for module in model.modules():
        if hasattr(module, "scalar_embed_scale"):
            module.embed_scale = torch.tensor(module.scalar_embed_scale, dtype=torch.float64)
    data = load_file(batches)
    result = []
    for tokens, targets in zip(data["tokens"], data["targets"]):
        updater.zero_grad()
        count = int((targets != models.IGNORED).sum())
        total = 0.0
        for microTokens, microTargets in zip(tokens, targets):
            loss = models.lossSum(model, microTokens.long(), microTargets) / count
            loss.backward()
            total += loss.item()
        updater.step()
        result.append(total)
    return result, {name: parameter.detach() - start[name] for name, parameter in model.named_parameters()}


def errors(expected, actual):
    """The largest relative error of a tensor, by the norms of invariant 1: against its own size, or 1e-6 of the whole."""
    whole = numpy.sqrt(sum(value.square().sum().item() for value in expected.values()))
    worst = (0.0, "")
    for name, value in expected.items():
        worst = max(worst, ((actual[name].double() - value).norm().item() / max(value.norm().item(), 1e-6 * whole), name))
    return worst


def updates(family, start, folders, batches, optimizer):
    """How far the updates that folders of a run have over its start are from those of float64 training."""
    with models.lifted(sectionOf(family)["family"]):
        losses, expected = train(start, batches, optimizer)
    before = dict(load(start, "float64").named_parameters())
    result = {"losses": losses, "moved": max(value.norm().item() for value in expected.values())}
    for name, folder in folders.items():
        after = dict(load(folder, "float64").named_parameters())
        result[name] = errors(expected, {key: (after[key] - before[key]).detach() for key in expected})
    return result


def write(path, dtypes):
    """A file of the safetensors package with a tensor of each type."""
    save_file({name: torch.arange(-6, 6).reshape(4, 3).to(getattr(torch, name)) for name in dtypes}, path)


def read(path):
    """Type and values of each tensor of a file, as the safetensors package reads it."""
    return {name: [str(value.dtype).removeprefix("torch."), value.double().flatten().tolist()] for name, value in load_file(path).items()}


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(json.dumps([globals()[sys.argv[1]](**arguments) for arguments in json.loads(sys.argv[2])]))
