"""Writes test/fixtures/residual-gradients.safetensors and transformer-gradients.safetensors with PyTorch.

    python test/torch/gradients.py        (PyTorch 2.15 made the stored files)

A two-block residual net and a two-layer transformer with inputs, parameters, loss and the gradient of every parameter,
computed in double precision from single-precision parameters; test/gradients.test.ts builds the same nets with
src/tensor. Tensors are stored in src/tensor's layouts: convolutions [3, 3, in, out], linear layers [in, out]. The
residual net has tanh where a real one has ReLU: the Winograd convolutions round differently, and a ReLU that flips its
sign near zero would hide behind that or be blamed for it.
"""

import math
import pathlib

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

FIXTURES = pathlib.Path(__file__).parent.parent / "fixtures"


class Parameters:
    """Named leaves, rounded to single precision so that both sides start from the same numbers."""

    def __init__(self):
        self.all = {}

    def __call__(self, name, *shape, scale=0.3, offset=0.0):
        values = (torch.randn(*shape) * scale + offset).float().double()
        self.all[name] = values.requires_grad_()
        return values


def store(file, inputs, parameters, loss, extra):
    loss.backward()
    tensors = {f"input.{name}": value for name, value in inputs.items()}
    tensors |= {f"parameter.{name}": value.detach().float() for name, value in parameters.all.items()}
    tensors |= {f"gradient.{name}": value.grad.float() for name, value in parameters.all.items()}
    tensors |= {name: value.detach().float() for name, value in extra.items()}
    tensors["loss"] = loss.detach().float()
    path = FIXTURES / file
    save_file({name: value.contiguous() for name, value in tensors.items()}, path, {"torch": torch.__version__})
    print(path, path.stat().st_size, "bytes, loss", loss.item())


def residual():
    torch.manual_seed(11)
    batch, planes, width, moves = 5, 4, 8, 20
    p, running = Parameters(), {}

    def conv(name, x, inputs, outputs):
        weight = p(f"{name}.weight", 3, 3, inputs, outputs, scale=1 / math.sqrt(9 * inputs))
        return F.conv2d(x, weight.permute(3, 2, 0, 1), padding=1)

    def norm(name, x):
        mean, variance = torch.zeros(x.shape[1]).double(), torch.ones(x.shape[1]).double()
        weight = p(f"{name}.weight", x.shape[1], offset=1)
        bias = p(f"{name}.bias", x.shape[1])
        y = F.batch_norm(x, mean, variance, weight, bias, training=True, momentum=0.1, eps=1e-5)
        running[f"after.{name}.runningMean"] = mean
        running[f"after.{name}.runningVariance"] = variance
        return y

    inputs = {
        "planes": torch.randn(batch, planes, 8, 8),
        "move": torch.randint(0, moves, (batch,), dtype=torch.int32),
        "outcome": torch.rand(batch) * 2 - 1,
    }
    x = torch.tanh(norm("stem.norm", conv("stem.conv", inputs["planes"].double(), planes, width)))
    for block in range(2):
        y = torch.tanh(norm(f"blocks.{block}.norm1", conv(f"blocks.{block}.conv1", x, width, width)))
        y = norm(f"blocks.{block}.norm2", conv(f"blocks.{block}.conv2", y, width, width))
        x = torch.tanh(x + y)
    squares = x.permute(0, 2, 3, 1)  # [n, h, w, c]
    small = (squares @ p("squeeze.weight", width, 2)).flatten(1)  # a 1x1 convolution
    logits = small @ p("policy.weight", 128, moves) + p("policy.bias", moves)
    value = torch.tanh(squares.mean((1, 2)) @ p("value.weight", width, 1) + p("value.bias", 1)).squeeze(1)
    loss = F.cross_entropy(logits, inputs["move"].long()) + F.mse_loss(value, inputs["outcome"].double())
    store("residual-gradients.safetensors", inputs, p, loss, {**running, "logits": logits, "value": value})


def transformer():
    """Layer 0 as in an encoder (LayerNorm, biases, GELU), layer 1 as in Llama (RMSNorm, rotary positions, SwiGLU)."""
    torch.manual_seed(12)
    batch, length, width, heads, words = 3, 9, 16, 2, 13
    p = Parameters()

    # prefix mask: everyone sees the first three tokens, beyond them only the past
    place = torch.arange(length)
    mask = (place[None, :] <= place[:, None]) | (place[None, :] < 3)

    def linear(name, x, inputs, outputs, bias=True):
        y = x @ p(f"{name}.weight", inputs, outputs, scale=1 / math.sqrt(inputs))
        return y + p(f"{name}.bias", outputs) if bias else y

    def rotate(x):
        half = x.shape[-1] // 2
        angle = torch.outer(place.double(), 10000.0 ** (-torch.arange(half).double() / half))
        a, b = x.split(half, -1)
        return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)

    def attention(name, x, rotary):
        split = lambda y: y.view(batch, length, heads, -1).transpose(1, 2)
        q, k, v = (split(linear(f"{name}.{part}", x, width, width, not rotary)) for part in ["q", "k", "v"])
        if rotary:
            q, k = rotate(q), rotate(k)
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return linear(f"{name}.out", mixed.transpose(1, 2).reshape(batch, length, width), width, width, not rotary)

    def layer_norm(name, x):
        return F.layer_norm(x, (width,), p(f"{name}.weight", width, offset=1), p(f"{name}.bias", width), 1e-5)

    def rms_norm(name, x):
        return F.rms_norm(x, (width,), p(f"{name}.weight", width, offset=1), 1e-5)

    inputs = {
        "tokens": torch.randint(0, words, (batch, length), dtype=torch.int32),
        "targets": torch.randint(0, words, (batch, length), dtype=torch.int32),
        "mask": mask,
    }
    inputs["tokens"][0, 1] = inputs["tokens"][0, 0]  # an embedding that is used twice in a line
    tokens = inputs["tokens"].long()
    x = p("embedding.weight", words, width, scale=1.0)[tokens] * math.sqrt(width) + p("position", length, width)
    x = x + attention("encoder.attention", layer_norm("encoder.norm1", x), rotary=False)
    h = layer_norm("encoder.norm2", x)
    x = x + linear("encoder.down", F.gelu(linear("encoder.up", h, width, 4 * width)), 4 * width, width)
    x = x + attention("llama.attention", rms_norm("llama.norm1", x), rotary=True)
    h = rms_norm("llama.norm2", x)
    gated = F.silu(linear("llama.w1", h, width, 32, False)) * linear("llama.w3", h, width, 32, False)
    x = x + linear("llama.w2", gated, 32, width, False)
    logits = linear("head", layer_norm("norm", x), width, words, False)
    loss = F.cross_entropy(logits.flatten(0, 1), inputs["targets"].long().flatten())
    store("transformer-gradients.safetensors", inputs, p, loss, {"logits": logits})


residual()
transformer()
