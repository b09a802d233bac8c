"""Reads and writes indexed datasets with Megatron's own code (megatron-core on PYTHONPATH, PyTorch installed).

Standard input has a list of jobs: {"read": PREFIX} or {"write": PREFIX, "dtype": NAME, "documents": [[sequence, ...], ...]}.
The last line of standard output has, for each one that reads, {"dtype": NAME, "documents": [[sequence, ...], ...]}.
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
    return {"dtype": numpy.dtype(dataset.index.dtype).name, "documents": documents}


def write(prefix, dtype, documents):
    builder = IndexedDatasetBuilder(prefix + ".bin", dtype=numpy.dtype(dtype).type)
    for document in documents:
        for sequence in document:
            builder.add_item(torch.tensor(sequence, dtype=torch.int64))
        builder.end_document()
    builder.finalize(prefix + ".idx")


def main():
    answers = []
    for job in json.load(sys.stdin):
        if "read" in job:
            answers.append(read(job["read"]))
        else:
            write(job["write"], job["dtype"], job["documents"])
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
