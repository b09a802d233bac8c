"""Goldens of generation and evaluation, in float64.

sampling: logits, temperature, top_k and top_p of some cases, and the probabilities with which transformers samples then.

evaluation: the loss of LICENSE under the weights with which evaluation/run.yaml starts, for several strides.
"""

import math
import os

import numpy
import torch
from transformers.generation.logits_process import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

import models

FOLDER = os.path.dirname(os.path.abspath(__file__))
RUN = os.path.join(FOLDER, "evaluation", "run.yaml")
TEXT = os.path.join(os.path.dirname(os.path.dirname(FOLDER)), "LICENSE")
STRIDES = (64, 24, 9)
END_OF_DOCUMENT = 256

# temperature, top_k, top_p; 0 and 1: none.
SAMPLED = ((1.0, 0, 1.0), (0.7, 0, 1.0), (1.6, 5, 1.0), (1.0, 0, 0.9), (1.0, 0, 0.5), (0.8, 12, 0.8), (2.0, 40, 0.95), (0.3, 3, 0.999),
           (1.0, 1, 1.0), (1.0, 0, 1e-6))


def samplingGolden():
    generator = numpy.random.default_rng(11)
    golden = {"options": numpy.array(SAMPLED)}
    for number, (temperature, topK, topP) in enumerate(SAMPLED):
        logits = (generator.standard_normal(60) * 2).astype(numpy.float32)
        scores = TemperatureLogitsWarper(temperature)(None, torch.as_tensor(logits).double()[None])
        if topK:
            scores = TopKLogitsWarper(topK)(None, scores)
        if topP < 1:
            scores = TopPLogitsWarper(topP)(None, scores)
        golden[f"logits/{number}"] = logits
        golden[f"probabilities/{number}"] = scores.softmax(-1)[0].numpy()
    return golden


def windowsOf(tokens, length, stride):
    """(inputs, targets, how many of the last targets count): transformers' sliding window over a text that begins with its first token."""
    counted = 0
    for begin in range(0, tokens - 1, stride):
        end = min(begin + length, tokens - 1)
        yield begin, end, end - counted
        counted = end
        if end == tokens - 1:
            return


def evaluationGolden(exportedRun, reference, config):
    _, weights = exportedRun(RUN, 1)
    with open(TEXT, "rb") as file:
        text = file.read()
    stream = torch.tensor([END_OF_DOCUMENT, *text, END_OF_DOCUMENT])
    golden = {"bytes": numpy.array([float(len(text))]), "tokens": numpy.array([float(len(stream) - 1)]), "strides": numpy.array(STRIDES, float)}
    losses = []
    with models.lifted(config["model"]["family"]), torch.no_grad():
        model = reference.build(reference.configOf(config["model"]), weights, torch.float64, "eager")
        for stride in STRIDES:
            total = 0.0
            for begin, end, last in windowsOf(len(stream), config["data"]["sequence_length"], stride):
                logits = model(input_ids=stream[None, begin:end]).logits[0]
                chosen = logits.log_softmax(-1)[torch.arange(end - begin), stream[begin + 1:end + 1]]
                total -= chosen[len(chosen) - last:].sum().item()
            losses.append(total / (len(stream) - 1))
    golden["loss"] = numpy.array(losses)
    golden["bits_per_byte"] = golden["loss"] * golden["tokens"] / golden["bytes"] / math.log(2)
    return golden
