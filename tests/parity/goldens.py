"""Computes the goldens of tests/parity with PyTorch and transformers, in float64.

    goldens.py [NAME...]            writes tests/parity/goldens/
    goldens.py --check [NAME...]    computes them again, compares, and fails where they differ

models: one file for each run file of configs/: the inputs of one step and all parameters in the checkpoint's shapes,
`expected/loss`, `expected/gradient/NAME`, `expected/logits` after the first sample, `expected/logits_without/FEATURE` for each
feature of models.FEATURES, and `expected/greedy`, the likeliest text after `prompt`, where the sequence is long enough.

training: losses, gradient norms and learning rates of 100 steps of training/run.yaml, from the weights and batches with
which `weft train` starts (exported from the build); `spread/NAME`, how far they move at each step, relative to themselves,
where training starts within one rounding of those weights.

sampling, evaluation: see generation.py.
"""

import argparse
import glob
import os
import subprocess
import sys
import tempfile
import zlib

import numpy
import torch
import yaml
from safetensors.numpy import load_file, save_file

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
sys.path.insert(0, os.path.join(ROOT, "benchmarks", "peers"))
import generation  # noqa: E402
import models  # noqa: E402
import torch_model as reference  # noqa: E402

BUILD = os.environ.get("WEFT_BUILD", os.path.join(ROOT, "build", "release"))
TRAINING = os.path.join(FOLDER, "training", "run.yaml")
GOLDENS = os.path.join(FOLDER, "goldens")
SMALLEST_EFFECT = 1e-3
SMALLEST_MARGIN = 1e-4  # between the likeliest token and the next
ATTEMPTS = 20
PROMPT, GREEDY, BYTES = b"the cat ", 64, 256
TOLERANCE = 1e-10  # between two machines that compute the same golden
SPREAD_TOLERANCE = 1e-3  # of spreads, which are differences of nearly equal numbers
NEIGHBORS, FLOAT32_ROUNDING = 5, 2.0**-24


def readConfig(path):
    with open(path, encoding="utf-8") as file:
        return yaml.safe_load(file)


def randomWeights(shapes, generator):
    """Larger than a model starts with, so that every part matters; float16 values, which files store in two bytes."""
    weights = {}
    for name in sorted(shapes):
        isNorm = name.endswith(("norm.weight", ".ln_1.weight", ".ln_2.weight", ".ln_f.weight"))
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


def lastLogits(model, tokens):
    with torch.no_grad():
        return model(input_ids=torch.as_tensor(tokens).long()).logits[0, -1].numpy()


def greedyText(model, length):
    """A prompt and the likeliest token after it, GREEDY times; nothing where the sequence is too short. None if a token is no
    byte, or likelier than the next by no more than rounding."""
    if length < len(PROMPT) + GREEDY:
        return {}
    prompt = numpy.frombuffer(PROMPT, numpy.uint8).astype(numpy.int32)[None]
    ids = torch.as_tensor(prompt).long()
    with torch.no_grad():
        for _ in range(GREEDY):
            logits = model(input_ids=ids).logits[0, -1]
            best = logits.topk(2).values
            if best[0] - best[1] < SMALLEST_MARGIN or logits.argmax() >= BYTES:
                return None
            ids = torch.cat([ids, logits.argmax().reshape(1, 1)], dim=1)
    return {"prompt": prompt, "expected/greedy": ids[0, prompt.shape[1]:].int().numpy()}


def modelGolden(path):
    name = os.path.splitext(os.path.basename(path))[0]
    config = readConfig(path)
    section = config["model"]
    with models.lifted(section["family"]):
        for attempt in range(ATTEMPTS):
            generator = numpy.random.default_rng([zlib.crc32(name.encode()), attempt])
            weights = randomWeights(models.shapesOf(section), generator)
            model = models.build(section, weights)
            text = greedyText(model, config["data"]["sequence_length"])
            if text is not None:
                break
        else:
            raise ValueError(f"{path}: no weights of {ATTEMPTS} give a text that is sure")
        batch = randomBatch(config, generator)
        golden = dict(batch, **weights, **text)
        total = sum(models.lossSum(model, torch.as_tensor(tokens).long(), torch.as_tensor(targets))
                    for tokens, targets in zip(batch["tokens"], batch["targets"]))
        loss = total / int((batch["targets"] != reference.IGNORED).sum())
        loss.backward()
        golden["expected/loss"] = numpy.array(loss.item())
        for parameterName, parameter in model.named_parameters():
            golden["expected/gradient/" + parameterName] = parameter.grad.numpy()
        first = batch["tokens"][0, :1]
        golden["expected/logits"] = lastLogits(model, first)
        for feature, turnOff in models.FEATURES[name].items():
            variant = models.Variant(section, weights)
            turnOff(variant)
            golden["expected/logits_without/" + feature] = lastLogits(variant.build(), first)
            effect = abs(golden["expected/logits"] - golden["expected/logits_without/" + feature]).max()
            if effect <= SMALLEST_EFFECT:
                raise ValueError(f"{path}: {feature} changes the logits by {effect:.2g} only")
    return golden


def exportedRun(path, steps):
    """The initial weights and the batches of a run, as weft computes them."""
    with tempfile.TemporaryDirectory(prefix="weft-goldens-") as scratch:
        program, out = os.path.join(scratch, "run.weft"), os.path.join(scratch, "run.safetensors")
        subprocess.run([os.path.join(BUILD, "bin", "weft-compile"), path, "-o", program], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([os.path.join(BUILD, "tests", "parity", "weft-export-run"), program, str(steps), out], check=True)
        tensors = load_file(out)
    return {name: tensors.pop(name) for name in ("tokens", "targets")}, tensors


def trained(config, weights, batches):
    """loss, grad_norm and lr of each step."""
    records = []
    with models.lifted(config["model"]["family"]):
        model = reference.build(reference.configOf(config["model"]), weights, torch.float64, "eager")
        optimizer = reference.optimizerOf(model, config["optimizer"], fused=False)
        for step, (tokens, targets) in enumerate(zip(batches["tokens"], batches["targets"]), 1):
            loss, norm = reference.trainStep(model, optimizer, config, step, torch.as_tensor(tokens).long(), torch.as_tensor(targets))
            records.append((loss, norm, reference.learningRate(config, step)))
    return dict(zip(("loss", "grad_norm", "lr"), numpy.array(records).T))


def trainingGolden():
    config = readConfig(TRAINING)
    batches, weights = exportedRun(TRAINING, config["train"]["steps"])
    golden = trained(config, weights, batches)
    clipped = (golden["grad_norm"] > config["optimizer"]["clip_grad_norm"]).sum()
    if not 0 < clipped < len(golden["grad_norm"]):
        raise ValueError(f"{TRAINING}: {clipped} of {len(golden['grad_norm'])} steps are clipped: the golden would not show clipping")
    neighbors = []
    for seed in range(NEIGHBORS):
        generator = numpy.random.default_rng(seed)
        moved = {name: weights[name] * (1 + FLOAT32_ROUNDING * generator.uniform(-1, 1, weights[name].shape)) for name in sorted(weights)}
        neighbors.append(trained(config, moved, batches))
    for name in ("loss", "grad_norm"):
        golden["spread/" + name] = numpy.max([abs(neighbor[name] / golden[name] - 1) for neighbor in neighbors], axis=0)
    return golden


def goldens():
    """File name -> function that computes it."""
    paths = sorted(glob.glob(os.path.join(FOLDER, "configs", "*.yaml")))
    computations = {os.path.splitext(os.path.basename(path))[0]: (lambda path=path: modelGolden(path)) for path in paths}
    if set(computations) != set(models.FEATURES):
        raise ValueError(f"models.FEATURES and configs/ differ: {sorted(set(computations) ^ set(models.FEATURES))}")
    return dict(computations, training=trainingGolden, sampling=generation.samplingGolden,
                evaluation=lambda: generation.evaluationGolden(exportedRun, reference, readConfig(generation.RUN)))


def difference(old, new):
    """The largest relative difference of a tensor over its tolerance, and its name; infinite where names, shapes or integers differ."""
    if set(old) != set(new):
        return float("inf"), "names " + " ".join(sorted(set(old) ^ set(new)))
    worst = (0.0, "")
    for name in sorted(old):
        if old[name].dtype != new[name].dtype or old[name].shape != new[name].shape:
            return float("inf"), name
        apart = numpy.linalg.norm((old[name].astype(float) - new[name].astype(float)).ravel())
        size = numpy.linalg.norm(new[name].astype(float).ravel())
        tolerance = SPREAD_TOLERANCE if name.startswith("spread/") else TOLERANCE
        worst = max(worst, (apart / max(size, 1e-12) / tolerance, name))
    return worst


def check(name, golden):
    path = os.path.join(GOLDENS, name + ".safetensors")
    if not os.path.exists(path):
        print(f"{name:<16} missing")
        return False
    worst, where = difference(load_file(path), golden)
    passed = worst <= 1
    print(f"{name:<16} largest difference {worst:.2g} of its tolerance{', of ' + where if worst else ''}  {'ok' if passed else 'FAILED'}")
    return passed


def main():
    parser = argparse.ArgumentParser(prog="scripts/goldens.sh", description="Goldens of tests/parity from PyTorch and transformers.")
    parser.add_argument("--check", action="store_true", help="compare those in git with new ones instead of writing")
    parser.add_argument("names", nargs="*", help="of configs/, or `training`; all if none is given")
    arguments = parser.parse_args()
    checks = arguments.check
    computations = goldens()
    if unknown := set(arguments.names) - set(computations):
        parser.error(f"no golden is called {', '.join(sorted(unknown))}; there are {', '.join(computations)}")
    torch.set_num_threads(1)
    passed = failed = 0
    for name in arguments.names or computations:
        compute = computations[name]
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
