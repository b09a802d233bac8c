"""Times causal attention, forward and backward, by PyTorch's scaled_dot_product_attention in float32.

    attention_torch.py LENGTH CALLS HEADS WIDTH THREADS OUT.json

One sequence; OUT.json: {"seconds": ...}, the mean of CALLS calls after one that is not timed.
"""

import json
import sys
import time

import torch


def call(tensors, cotangent):
    for tensor in tensors:
        tensor.grad = None
    torch.nn.functional.scaled_dot_product_attention(*tensors, is_causal=True).backward(cotangent)


def main(output, length, calls, heads, width, threads):
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    *tensors, cotangent = (torch.randn(1, heads, length, width) for _ in range(4))
    for tensor in tensors:
        tensor.requires_grad_()
    call(tensors, cotangent)
    started = time.monotonic()
    for _ in range(calls):
        call(tensors, cotangent)
    with open(output, "w", encoding="utf-8") as file:
        json.dump({"seconds": (time.monotonic() - started) / calls}, file)


if __name__ == "__main__":
    main(sys.argv[-1], *map(int, sys.argv[1:-1]))
