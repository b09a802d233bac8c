"""Times causal attention, forward and backward, by PyTorch's scaled_dot_product_attention.

    attention_torch.py LENGTH CALLS HEADS WIDTH THREADS fp32|bf16 OUT.json

One sequence; OUT.json: {"seconds": ...}, the mean of CALLS calls after one that is not timed.
"""

import json
import sys
import time

import torch


TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


def call(tensors, cotangent):
    for tensor in tensors:
        tensor.grad = None
    torch.nn.functional.scaled_dot_product_attention(*tensors, is_causal=True).backward(cotangent)


def main(output, precision, length, calls, heads, width, threads):
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    *tensors, cotangent = (torch.randn(1, heads, length, width).to(TYPES[precision]) for _ in range(4))
    for tensor in tensors:
        tensor.requires_grad_()
    call(tensors, cotangent)
    started = time.monotonic()
    for _ in range(calls):
        call(tensors, cotangent)
    with open(output, "w", encoding="utf-8") as file:
        json.dump({"seconds": (time.monotonic() - started) / calls}, file)


if __name__ == "__main__":
    main(sys.argv[-1], sys.argv[-2], *map(int, sys.argv[1:-2]))
