"""Training steps of HalfKP 41024 -> 256x2 -> 32 -> 32 -> 1 in PyTorch, one at a time, to take turns with our own trainer.

    python bench/torch/nnue.py BATCH [--sparse] [--threads 2]

BATCH is a file that `tabiya bench nnue` writes: u32 n, then int32 [2][n * 32] inputs (mover, other; the rest of a row is
41024, a row of zeros), float32 [n] targets. Prints one JSON line when ready, then answers every line "go" with
{"ms", "loss"}. The first layer is an EmbeddingBag with its factoriser as a second one; gradients are dense with a fused
AdamW, or with --sparse sparse with SparseAdam for the bags.
"""

import argparse
import json
import sys
import time

try:
    import numpy as np
    import torch
    from torch import nn
except ImportError as error:
    print(json.dumps({"error": f"PyTorch is missing from {sys.executable}: {error}"}), flush=True)
    sys.exit(1)

INPUTS, KINDS, HIDDEN = 41024, 641, 256


class HalfKp(nn.Module):
    def __init__(self, sparse):
        super().__init__()
        self.own = nn.EmbeddingBag(INPUTS + 1, HIDDEN, mode="sum", sparse=sparse, padding_idx=INPUTS)
        self.shared = nn.EmbeddingBag(KINDS + 1, HIDDEN, mode="sum", sparse=sparse, padding_idx=KINDS)
        for bag in (self.own, self.shared):
            nn.init.uniform_(bag.weight, -0.1, 0.1)
        self.bias = nn.Parameter(torch.full((HIDDEN,), 0.2))
        self.first, self.second, self.output = nn.Linear(2 * HIDDEN, 32), nn.Linear(32, 32), nn.Linear(32, 1)

    def forward(self, inputs, kinds, targets):
        n = targets.shape[0]
        # both points of view as one batch of bags: [2 * n, 32]
        sums = self.own(inputs) + self.shared(kinds) + self.bias
        x = torch.cat([sums[:n], sums[n:]], dim=1).clamp(0, 1)
        x = self.second(self.first(x).clamp(0, 1)).clamp(0, 1)
        chance = torch.sigmoid(self.output(x).squeeze(1))
        return ((chance - targets) ** 2).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("batch")
    parser.add_argument("--sparse", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    raw = open(options.batch, "rb").read()
    n = int(np.frombuffer(raw, np.uint32, 1)[0])
    flat = np.frombuffer(raw, np.int32, 2 * n * 32, 4).reshape(2 * n, 32)
    targets = torch.from_numpy(np.frombuffer(raw, np.float32, n, 4 + flat.nbytes).copy())
    inputs = torch.from_numpy(flat.astype(np.int64))
    kinds = torch.where(inputs == INPUTS, torch.tensor(KINDS), inputs % KINDS)
    model = HalfKp(options.sparse)
    bags = [model.own.weight, model.shared.weight]
    rest = [p for p in model.parameters() if all(p is not bag for bag in bags)]
    if options.sparse:
        optimisers = [torch.optim.SparseAdam(bags, lr=1e-3), torch.optim.AdamW(rest, lr=1e-3, weight_decay=0, fused=True)]
    else:
        optimisers = [torch.optim.AdamW(bags + rest, lr=1e-3, weight_decay=0, fused=True)]
    print(json.dumps({"torch": torch.__version__, "threads": options.threads, "sparse": options.sparse, "batch": n}), flush=True)
    for line in sys.stdin:
        if line.strip() != "go":
            break
        start = time.perf_counter()
        loss = model(inputs, kinds, targets)
        for optimiser in optimisers:
            optimiser.zero_grad(set_to_none=True)
        loss.backward()
        for optimiser in optimisers:
            optimiser.step()
        print(json.dumps({"ms": (time.perf_counter() - start) * 1000, "loss": loss.item()}), flush=True)


main()
