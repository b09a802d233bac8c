"""Reads and writes indexed datasets with Megatron's own code (megatron-core on PYTHONPATH, PyTorch installed).

    megatron_dataset.py read PREFIX             prints {"dtype": NAME, "documents": [[sequence, ...], ...]}
    megatron_dataset.py write PREFIX DTYPE      writes such documents, which standard input has
"""

import json
import sys

import numpy
import torch
from megatron.core.datasets.indexed_dataset import IndexedDataset, IndexedDatasetBuilder


def read(prefix):
    dataset = IndexedDataset(prefix)
    borders = dataset.document_indices
    documents = [[dataset[sequence].tolist() for sequence in range(begin, end)] for begin, end in zip(borders[:-1], borders[1:])]
    print(json.dumps({"dtype": numpy.dtype(dataset.index.dtype).name, "documents": documents}))


def write(prefix, dtype):
    builder = IndexedDatasetBuilder(prefix + ".bin", dtype=numpy.dtype(dtype).type)
    for document in json.load(sys.stdin):
        for sequence in document:
            builder.add_item(torch.tensor(sequence, dtype=torch.int64))
        builder.end_document()
    builder.finalize(prefix + ".idx")


if __name__ == "__main__":
    {"read": read, "write": write}[sys.argv[1]](*sys.argv[2:])
