"""The learning rate of a weft run file, for peers."""

import math


def learningRate(config, step):
    """Of step `step`, counted from 1: a line from 0 over the warmup, then half a cosine down to min_lr_ratio."""
    peak, schedule, steps = config["optimizer"]["lr"], config["lr_schedule"], config["train"]["steps"]
    warmup = schedule["warmup_steps"]
    if step <= warmup:
        return peak * step / warmup
    share = 0.5 * (1.0 + math.cos(math.pi * (step - warmup) / (steps - warmup)))
    return peak * (schedule["min_lr_ratio"] + (1.0 - schedule["min_lr_ratio"]) * share)
