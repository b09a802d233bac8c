"""Computes the goldens of tests/parity with PyTorch and transformers, in float64.

    goldens.py            writes tests/parity/goldens/
    goldens.py --check    computes them again, compares, and fails where they differ

models: one file for each run file of configs/: the inputs of one step and all parameters (as weft-run takes them),
`expected/loss`, `expected/gradient/NAME`, and the logits after the first sample with the feature and, but for `base`,
with it turned off.

training: losses, gradient norms and learning rates of 100 steps of training/run.yaml, from the weights and batches with
which `weft train` starts (exported from the build).

sampling, evaluation: see generation.py.
"""

import argparse
import glob
import os
import subprocess
import sys
import tempfile

import numpy
import torch
import yaml
from safetensors.numpy import load_file, save_file

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
sys.path.insert(0, os.path.join(ROOT, "benchmarks", "peers"))
import generation  # noqa: E402
import llama as reference  # noqa: E402

BUILD = os.environ.get("WEFT_BUILD", os.path.join(ROOT, "build", "release"))
TRAINING = os.path.join(FOLDER, "training", "run.yaml")
GOLDENS = os.path.join(FOLDER, "goldens")
SMALLEST_EFFECT = 1e-3
TOLERANCE = 1e-10  # between two machines that compute the same golden


def readConfig(path):
    with open(path, encoding="utf-8") as file:
        return yaml.safe_load(file)


def shapesOf(model):
    """Every parameter of the model section with weft's shape."""
    hidden, inner, heads = model["hidden_size"], model["intermediate_size"], model["num_attention_heads"]
    groups, width = model.get("num_key_value_heads", heads), model.get("head_dim", hidden // heads)
    shapes = {"model.embed_tokens.weight": [model["vocab_size"], hidden], "model.norm.weight": [hidden]}
    if not model.get("tie_word_embeddings"):
        shapes["lm_head.weight"] = [model["vocab_size"], hidden]
    for layer in range(model["num_hidden_layers"]):
        block = f"model.layers.{layer}."
        for name, count in (("q", heads), ("k", groups), ("v", groups)):
            shapes[f"{block}self_attn.{name}_proj.weight"] = [count, width, hidden]
        shapes[block + "self_attn.o_proj.weight"] = [hidden, heads, width]
        shapes.update({f"{block}mlp.{name}_proj.weight": [inner, hidden] for name in ("gate", "up")})
        shapes[block + "mlp.down_proj.weight"] = [hidden, inner]
        shapes.update({block + name + ".weight": [hidden] for name in ("input_layernorm", "post_attention_layernorm")})
        if model.get("attention_bias"):
            shapes.update({f"{block}self_attn.{name}_proj.bias": [count, width] for name, count in (("q", heads), ("k", groups), ("v", groups))})
            shapes[block + "self_attn.o_proj.bias"] = [hidden]
        if model.get("mlp_bias"):
            shapes.update({f"{block}mlp.{name}_proj.bias": [size] for name, size in (("gate", inner), ("up", inner), ("down", hidden))})
    return shapes


def randomWeights(shapes, generator):
    """Larger than a model starts with, so that every part matters; float16 values, which files store in two bytes."""
    weights = {}
    for name in sorted(shapes):
        isNorm = name.endswith("norm.weight")
        values = generator.standard_normal(shapes[name]) * (0.2 if isNorm else 0.25) + (1.0 if isNorm else 0.0)
        weights[name] = values.astype(numpy.float16)
    return weights


def randomBatch(config, generator):
    """Tokens, and the token after each as its target; some targets do not count."""
    train, length = config["train"], config["data"]["sequence_length"]
    shape = (train["global_batch"] // train["micro_batch"], train["micro_batch"])
    stream = generator.integers(0, config["model"]["vocab_size"], (*shape, length + 1), dtype=numpy.int32)
    targets = stream[..., 1:].copy()
    targets[generator.random(targets.shape) < 0.1] = reference.IGNORED
    return {"tokens": stream[..., :-1].copy(), "targets": targets,
            "sample_ids": numpy.arange(shape[0] * shape[1], dtype=numpy.int64).reshape(shape), "step": numpy.array(0, numpy.int64)}


def turnedOff(model, weights):
    """The model section and weights without the feature; None for the plain model."""
    if "rope_scaling" in model:
        return {key: value for key, value in model.items() if key != "rope_scaling"}, weights
    if model.get("attention_bias"):
        return model, {name: value * 0 if name.endswith(".bias") else value for name, value in weights.items()}
    if model.get("tie_word_embeddings"):
        head = numpy.roll(weights["model.embed_tokens.weight"], 1, axis=0)
        return dict(model, tie_word_embeddings=False), dict(weights, **{"lm_head.weight": head})
    if model.get("num_key_value_heads", model["num_attention_heads"]) < model["num_attention_heads"]:
        # As many key heads as query heads, but query head h reads group h mod groups instead of its own.
        repeats = model["num_attention_heads"] // model["num_key_value_heads"]
        tiled = {name: numpy.tile(value, (repeats, 1, 1)) if ".k_proj." in name or ".v_proj." in name else value for name, value in weights.items()}
        return dict(model, num_key_value_heads=model["num_attention_heads"]), tiled
    return None


def lastLogits(model, weights, tokens):
    with torch.no_grad():
        built = reference.build(reference.configOf(model), weights, torch.float64, "eager")
        return built(input_ids=torch.as_tensor(tokens).long()).logits[0, -1].numpy()


def modelGolden(path, seed):
    config = readConfig(path)
    generator = numpy.random.default_rng(seed)
    weights = randomWeights(shapesOf(config["model"]), generator)
    batch = randomBatch(config, generator)
    golden = dict(batch, **weights)
    with reference.lifted():
        model = reference.build(reference.configOf(config["model"]), weights, torch.float64, "eager")
        total = sum(reference.lossSum(model, torch.as_tensor(tokens).long(), torch.as_tensor(targets))
                    for tokens, targets in zip(batch["tokens"], batch["targets"]))
        loss = total / int((batch["targets"] != reference.IGNORED).sum())
        loss.backward()
        golden["expected/loss"] = numpy.array(loss.item())
        for name, parameter in model.named_parameters():
            golden["expected/gradient/" + name] = parameter.grad.numpy().reshape(weights[name].shape)
        first = batch["tokens"][0, :1]
        golden["expected/logits"] = lastLogits(config["model"], weights, first)
        off = turnedOff(config["model"], weights)
        if off:
            golden["expected/logits_turned_off"] = lastLogits(*off, first)
            effect = abs(golden["expected/logits"] - golden["expected/logits_turned_off"]).max()
            if effect <= SMALLEST_EFFECT:
                raise ValueError(f"{path}: the feature changes the logits by {effect:.2g} only")
    return golden


def exportedRun(path, steps):
    """The initial weights and the batches of a run, as weft computes them."""
    with tempfile.TemporaryDirectory(prefix="weft-goldens-") as scratch:
        program, out = os.path.join(scratch, "run.weft"), os.path.join(scratch, "run.safetensors")
        subprocess.run([os.path.join(BUILD, "bin", "weft-compile"), path, "-o", program], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([os.path.join(BUILD, "tests", "parity", "weft-export-run"), program, str(steps), out], check=True)
        tensors = load_file(out)
    return {name: tensors.pop(name) for name in ("tokens", "targets")}, tensors


def trainingGolden():
    config = readConfig(TRAINING)
    batches, weights = exportedRun(TRAINING, config["train"]["steps"])
    records = []
    with reference.lifted():
        model = reference.build(reference.configOf(config["model"]), weights, torch.float64, "eager")
        optimizer = reference.optimizerOf(model, config["optimizer"], fused=False)
        for step, (tokens, targets) in enumerate(zip(batches["tokens"], batches["targets"]), 1):
            loss, norm = reference.trainStep(model, optimizer, config, step, torch.as_tensor(tokens).long(), torch.as_tensor(targets))
            records.append((loss, norm, reference.learningRate(config, step)))
    golden = dict(zip(("loss", "grad_norm", "lr"), numpy.array(records).T))
    clipped = (golden["grad_norm"] > config["optimizer"]["clip_grad_norm"]).sum()
    if not 0 < clipped < len(records):
        raise ValueError(f"{TRAINING}: {clipped} of {len(records)} steps are clipped: the golden would not show clipping")
    return golden


def goldens():
    """File name -> function that computes it."""
    paths = sorted(glob.glob(os.path.join(FOLDER, "configs", "*.yaml")))
    models = {os.path.splitext(os.path.basename(path))[0]: (lambda path=path, seed=seed: modelGolden(path, seed)) for seed, path in enumerate(paths, 1)}
    return dict(models, training=trainingGolden, sampling=generation.samplingGolden,
                evaluation=lambda: generation.evaluationGolden(exportedRun, reference, readConfig(generation.RUN)))


def difference(old, new):
    """The largest relative difference of a tensor, and its name; infinite where names, shapes or integers differ."""
    if set(old) != set(new):
        return float("inf"), "names " + " ".join(sorted(set(old) ^ set(new)))
    worst = (0.0, "")
    for name in sorted(old):
        if old[name].dtype != new[name].dtype or old[name].shape != new[name].shape:
            return float("inf"), name
        apart = numpy.linalg.norm((old[name].astype(float) - new[name].astype(float)).ravel())
        size = numpy.linalg.norm(new[name].astype(float).ravel())
        worst = max(worst, (apart / max(size, 1e-12), name))
    return worst


def check(name, golden):
    path = os.path.join(GOLDENS, name + ".safetensors")
    if not os.path.exists(path):
        print(f"{name:<16} missing")
        return False
    worst, where = difference(load_file(path), golden)
    passed = worst <= TOLERANCE
    print(f"{name:<16} largest relative difference {worst:.2g}{' ' + where if worst else ''}  {'ok' if passed else 'FAILED'}")
    return passed


def main():
    parser = argparse.ArgumentParser(prog="scripts/goldens.sh", description="Goldens of tests/parity from PyTorch and transformers.")
    parser.add_argument("--check", action="store_true", help="compare those in git with new ones instead of writing")
    checks = parser.parse_args().check
    torch.set_num_threads(1)
    passed = failed = 0
    for name, compute in goldens().items():
        golden = {key: numpy.ascontiguousarray(value) if value.ndim else value for key, value in compute().items()}
        if checks:
            good = check(name, golden)
            passed, failed = passed + good, failed + (not good)
        else:
            path = os.path.join(GOLDENS, name + ".safetensors")
            save_file(golden, path)
            print(f"{name:<16} {len(golden)} tensors, {os.path.getsize(path)} bytes")
    if checks:
        print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
