"""Writes test/fixtures/golden.safetensors with the reference implementation (package safetensors, with PyTorch).

    python test/torch/safetensors_golden.py        (safetensors 0.8 made the stored file)

Values are simple formulas that src/tensor/safetensors.test.ts repeats.
"""

import pathlib

import torch
from safetensors.torch import save_file

n = torch.arange(6)
tensors = {
    "stem.weight": (n.float() / 4 - 0.5).view(2, 3),
    "half": ((n - 2) / 3).half(),
    "brain": ((n - 2) / 3).bfloat16().view(3, 2),
    "quantised": (n * 50 - 128).to(torch.int8),
    "indices": (n * 100_000_000).to(torch.int32),
    "steps": (n * 10_000_000_000).view(1, 6, 1),
    "bytes": (n * 51).to(torch.uint8),
    "scalar": torch.tensor(2.5),
    "empty": torch.zeros(0, 4),
    "grüße/7": torch.tensor([True, False, True]),
}
path = pathlib.Path(__file__).parent.parent / "fixtures" / "golden.safetensors"
save_file(tensors, path, metadata={"made by": "the \"reference\" package"})
print(path, path.stat().st_size, "bytes")
