"""Training steps in PyTorch, one at a time, so that a driver can take turns with another engine.

    python bench/torch/step.py NET [--[no-]compile] [--[no-]channels-last] [--optimiser fused|foreach|single]
    python bench/torch/step.py NET --tune [--steps 15]

prints one JSON line when it is ready (versions, settings, parameters), then answers every line "go" on stdin with one
JSON line {"ms", "loss"}. A line "quit", or the end of the input, ends it, with a last line {"peakBytes"}. `--tune`
tries all settings and prints a line for each; the best ones measured are the defaults in BEST. If torch.compile does
not work (it needs a C++ compiler), the step runs without it and the first line says why.
"""

import argparse
import json
import os
import resource
import sys
import time

# glibc returns large blocks to the system after every use and pays for fresh pages in the next step. Our own side runs
# with these settings, so PyTorch gets them too (10-15 % of its time); they must stand before the process starts.
MALLOC = {
    "MALLOC_MMAP_THRESHOLD_": "1073741824",
    "MALLOC_TRIM_THRESHOLD_": "4294967296",
    "MALLOC_TOP_PAD_": "268435456",
}
if sys.platform == "linux" and "MALLOC_MMAP_THRESHOLD_" not in os.environ:
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **MALLOC})

try:
    import torch
except ImportError as error:
    print(json.dumps({"error": f"PyTorch is missing from {sys.executable}: {error}"}), flush=True)
    sys.exit(1)

from nets import NETS

# Fastest of several interleaved runs with PyTorch 2.15 on two AVX2 cores (docs/log.md).
BEST = {
    "residual-dense": {"channels_last": True, "compiled": True},
    "residual-conv": {"channels_last": True, "compiled": True},
    "moe-all": {"compiled": True},
    "decoder": {"compiled": True},
}


class Step:
    def __init__(self, net, optimiser, channels_last, compiled):
        torch.manual_seed(1)
        self.model = NETS[net]()
        self.batch = self.model.batch()
        if channels_last:
            self.model = self.model.to(memory_format=torch.channels_last)
            self.batch = [x.to(memory_format=torch.channels_last) if x.dim() == 4 else x for x in self.batch]
        kind = {"foreach": optimiser == "foreach", "fused": optimiser == "fused"}
        self.optimiser = torch.optim.AdamW(self.model.parameters(), lr=1e-3, weight_decay=0.01, **kind)
        self.loss = torch.compile(self.model) if compiled else self.model

    def __call__(self):
        start = time.perf_counter()
        loss = self.loss(*self.batch)
        loss.backward()
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        value = loss.item()
        return (time.perf_counter() - start) * 1000, value


def tune(net, steps):
    for compiled in [False, True]:
        for channels_last in [False, True] if net.startswith("residual") else [False]:
            for optimiser in ["fused", "foreach", "single"] if not compiled else ["fused"]:
                settings = {"optimiser": optimiser, "channels_last": channels_last, "compiled": compiled}
                try:
                    start = time.perf_counter()
                    step = Step(net, **settings)
                    for _ in range(3):
                        step()
                    ready = time.perf_counter() - start
                    times = sorted(step()[0] for _ in range(steps))
                    result = {"ms": round(times[0], 1), "median": round(times[len(times) // 2], 1)}
                    result["ready_s"] = round(ready, 1)
                except Exception as error:  # a setting that does not work here is a result, too
                    result = {"error": str(error).splitlines()[0][:200]}
                print(json.dumps({"net": net, **settings, **result}), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("net", choices=NETS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--optimiser", choices=["fused", "foreach", "single"])
    parser.add_argument("--channels-last", action=argparse.BooleanOptionalAction)
    parser.add_argument("--compile", action=argparse.BooleanOptionalAction)
    parser.add_argument("--tune", action="store_true")
    parser.add_argument("--steps", type=int, default=15)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.set_flush_denormal(True)
    if options.tune:
        return tune(options.net, options.steps)

    settings = {"optimiser": "fused", "channels_last": False, "compiled": False, **BEST.get(options.net, {})}
    given = {"optimiser": options.optimiser, "channels_last": options.channels_last, "compiled": options.compile}
    settings.update({key: value for key, value in given.items() if value is not None})
    note = {}
    try:
        step = Step(options.net, **settings)
        step()
    except Exception as error:
        if not settings["compiled"]:
            raise
        settings["compiled"] = False
        note = {"note": f"torch.compile failed: {str(error).splitlines()[0][:200]}"}
        step = Step(options.net, **settings)
    for _ in range(3):
        step()
    ready = {
        "net": options.net,
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        **settings,
        "parameters": sum(p.numel() for p in step.model.parameters()),
        **note,
    }
    print(json.dumps(ready), flush=True)
    for line in sys.stdin:
        if line.strip() != "go":
            break
        ms, loss = step()
        print(json.dumps({"ms": round(ms, 3), "loss": loss}), flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024  # Linux counts in kB
    print(json.dumps({"peakBytes": peak}), flush=True)
    os._exit(0)  # worker threads of the compiler may otherwise linger


main()
