"""Writes test/fixtures/optimisers.json: what PyTorch's optimisers make of known gradients, for src/tensor.

    python test/torch/optimisers.py        (PyTorch 2.15 made the stored file)

Seven parameters (one whole vector of four and a tail of three), six steps, fixed gradients. A second parameter group
without weight decay checks the mask. The numbers, not Python, are what the tests use.
"""

import json
import pathlib

import torch

STEPS, SIZE = 6, 7
torch.manual_seed(3)
start = [torch.randn(SIZE) for _ in range(2)]
gradients = [[torch.randn(SIZE) * 10 ** (i % 3 - 1) for _ in range(2)] for i in range(STEPS)]

CASES = {
    "sgd": (torch.optim.SGD, dict(lr=0.1), {}),
    "sgd momentum": (torch.optim.SGD, dict(lr=0.1, momentum=0.9, weight_decay=0.05), {}),
    "sgd nesterov": (torch.optim.SGD, dict(lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.05), {}),
    "adam": (torch.optim.Adam, dict(lr=0.01), {}),
    "adam decay": (torch.optim.Adam, dict(lr=0.01, betas=(0.8, 0.95), eps=1e-4, weight_decay=0.1), {}),
    "adamw": (torch.optim.AdamW, dict(lr=0.01, weight_decay=0.1), {}),
    "adamw betas": (torch.optim.AdamW, dict(lr=0.01, betas=(0.8, 0.95), eps=1e-4, weight_decay=0.01), {}),
    "adadelta": (torch.optim.Adadelta, dict(lr=1.0), {}),
    "adadelta decay": (torch.optim.Adadelta, dict(lr=0.5, rho=0.8, eps=1e-5, weight_decay=0.1), {}),
    "adamw clipped": (torch.optim.AdamW, dict(lr=0.01, weight_decay=0.1), dict(clip=1.0)),
}


def run(kind, settings, clip):
    decayed, free = [torch.nn.Parameter(x.clone()) for x in start]
    groups = [{"params": [decayed]}, {"params": [free], "weight_decay": 0.0}]
    optimiser = kind(groups, foreach=False, **settings)
    after, norms = [], []
    for step in gradients:
        decayed.grad, free.grad = step[0].clone(), step[1].clone()
        if clip:
            norms.append(torch.nn.utils.clip_grad_norm_([decayed, free], clip).item())
        optimiser.step()
        after.append([decayed.tolist(), free.tolist()])
    state = {
        key: value.tolist()
        for key, value in optimiser.state[decayed].items()
        if torch.is_tensor(value) and value.numel() == SIZE
    }
    return {"after": after, "norms": norms, "state": state}


cases = {
    name: {"settings": {**settings, "clip": extra.get("clip", 0)}, **run(kind, settings, extra.get("clip"))}
    for name, (kind, settings, extra) in CASES.items()
}
stored = {
    "torch": torch.__version__,
    "start": [x.tolist() for x in start],
    "gradients": [[x.tolist() for x in step] for step in gradients],
    "cases": cases,
}
path = pathlib.Path(__file__).parent.parent / "fixtures" / "optimisers.json"
path.write_text(json.dumps(stored) + "\n")
print(path, path.stat().st_size, "bytes")
