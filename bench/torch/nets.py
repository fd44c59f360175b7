"""The benchmark networks of `tabiya bench train`, in PyTorch.

The TypeScript side of the benchmark builds the same networks, layer by layer: every class here is their description.
All have BatchNorm, LayerNorm or RMSNorm with epsilon 1e-5, exact GELU, fp32, and compute every position in every layer.
Each returns its loss from `forward(*batch)`; `batch()` makes a fixed synthetic batch. Written for speed where PyTorch
offers a choice: one projection for q, k and v, scaled_dot_product_attention, no copies that can be avoided.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn


def conv(inputs, outputs, size):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, size, padding=size // 2, bias=False), nn.BatchNorm2d(outputs)
    )


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = conv(width, width, 3)
        self.second = conv(width, width, 3)

    def forward(self, x):
        return F.relu(self.second(F.relu(self.first(x), inplace=True)) + x, inplace=True)


class Residual(nn.Module):
    """13 planes, 64 channels, 4 blocks; policy dense (4288 moves) or convolutional (73x64), value through tanh."""

    def __init__(self, head, batch=256, width=64, blocks=4):
        super().__init__()
        self.head, self.size = head, batch
        self.stem = conv(13, width, 3)
        self.blocks = nn.ModuleList(Block(width) for _ in range(blocks))
        if head == "dense":
            self.policy = conv(width, 32, 1)
            self.logits = nn.Linear(32 * 64, 4288)
        else:
            self.policy = conv(width, width, 3)
            self.logits = nn.Conv2d(width, 73, 1)
        self.value = conv(width, 32, 1)
        self.score = nn.Linear(32, 1)

    def forward(self, planes, move, outcome):
        x = F.relu(self.stem(planes), inplace=True)
        for block in self.blocks:
            x = block(x)
        policy = F.relu(self.policy(x), inplace=True)
        logits = self.logits(policy.flatten(1)) if self.head == "dense" else self.logits(policy).flatten(1)
        value = torch.tanh(self.score(F.relu(self.value(x), inplace=True).mean((2, 3)))).squeeze(1)
        return F.cross_entropy(logits, move) + F.mse_loss(value, outcome)

    def batch(self):
        n = self.size
        planes = (torch.rand(n, 13, 8, 8) < 0.1).float()
        return planes, torch.randint(0, 4288, (n,)), torch.rand(n) * 2 - 1


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        n, length, width = x.shape
        q, k, v = self.qkv(x).view(n, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        return self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(n, length, width))


class FeedForward(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class Expert(nn.Module):
    """SwiGLU: w2(silu(w1 x) * w3 x); the expert of moe, and the feed-forward part of the decoder."""

    def __init__(self, width, hidden):
        super().__init__()
        self.w1 = nn.Linear(width, hidden, bias=False)
        self.w3 = nn.Linear(width, hidden, bias=False)
        self.w2 = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Experts(nn.Module):
    """Eight experts, the two best for each token. `all` computes every expert, as published, and throws six away."""

    def __init__(self, width, dispatch, experts=8):
        super().__init__()
        self.dispatch = dispatch
        self.router = nn.Linear(width, experts, bias=False)
        self.experts = nn.ModuleList(Expert(width, 4 * width) for _ in range(experts))

    def forward(self, x):
        shape, x = x.shape, x.reshape(-1, x.shape[-1])
        best, chosen = self.router(x).topk(2, dim=1)
        weights = best.softmax(1)
        mix = self.every if self.dispatch == "all" else self.sparse
        return mix(x, chosen, weights).view(shape)

    def every(self, x, chosen, weights):
        share = torch.zeros(x.shape[0], len(self.experts)).scatter(1, chosen, weights)
        outputs = torch.stack([expert(x) for expert in self.experts], 1)
        return (outputs * share.unsqueeze(2)).sum(1)

    def sparse(self, x, chosen, weights):
        flat = chosen.flatten()
        order = torch.argsort(flat, stable=True)
        counts = torch.bincount(flat, minlength=len(self.experts)).tolist()
        groups = x.index_select(0, order // 2).split(counts)
        outputs = torch.cat([expert(group) for expert, group in zip(self.experts, groups)])
        # back to token order by a gather: a scatter of the outputs was slower
        back = torch.empty_like(order).scatter_(0, order, torch.arange(order.numel()))
        outputs = outputs.index_select(0, back).view(-1, 2, x.shape[1])
        return torch.bmm(weights.unsqueeze(1), outputs).squeeze(1)


class Layer(nn.Module):
    def __init__(self, width, heads, feed):
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(width), Attention(width, heads)
        self.norm2, self.feed = nn.LayerNorm(width), feed

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.feed(self.norm2(x))


class Transformer(nn.Module):
    """Encoder over 79 tokens (vocabulary 32), 128 buckets at the last position."""

    def __init__(self, width, feed, heads=4, layers=4, length=79, batch=64):
        super().__init__()
        self.length, self.size = length, batch
        self.scale = math.sqrt(width)
        self.embedding = nn.Embedding(32, width)
        self.position = nn.Parameter(torch.randn(length, width) * 0.02)
        self.layers = nn.ModuleList(Layer(width, heads, feed(width)) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 128)

    def forward(self, tokens, bucket):
        x = self.embedding(tokens) * self.scale + self.position
        for layer in self.layers:
            x = layer(x)
        return F.cross_entropy(self.head(self.norm(x)[:, -1]), bucket)

    def batch(self):
        return torch.randint(0, 32, (self.size, self.length)), torch.randint(0, 128, (self.size,))


class CausalAttention(nn.Module):
    def __init__(self, width, heads, length):
        super().__init__()
        self.heads, half = heads, width // heads // 2
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        angle = torch.outer(torch.arange(length).float(), 10000.0 ** (-torch.arange(half) / half))
        self.register_buffer("cos", torch.cat([angle.cos(), angle.cos()], 1))
        self.register_buffer("sin", torch.cat([-angle.sin(), angle.sin()], 1))

    def rotate(self, x):
        return x * self.cos + x.roll(x.shape[-1] // 2, -1) * self.sin

    def forward(self, x, mask=None):
        n, length, width = x.shape
        q, k, v = self.qkv(x).view(n, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        causal = mask is None
        mixed = F.scaled_dot_product_attention(self.rotate(q), self.rotate(k), v, attn_mask=mask, is_causal=causal)
        return self.out(mixed.transpose(1, 2).reshape(n, length, width))


class Decoder(nn.Module):
    """
    Llama-style: RMSNorm, rotary positions, SwiGLU. The whole loss: boards by a causal pass, moves and values by a pass in
    which the 68 tokens of a board see each other.
    """

    def __init__(self, width=256, heads=4, layers=4, positions=4, batch=8, vocabulary=1968, frequencies=128, buckets=100):
        super().__init__()
        length = 71 * positions
        self.shape, self.positions, self.buckets = (batch, length), positions, buckets
        self.embedding = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(
            nn.ModuleList(
                [
                    nn.RMSNorm(width, eps=1e-5),
                    CausalAttention(width, heads, length),
                    nn.RMSNorm(width, eps=1e-5),
                    Expert(width, 4 * width),
                ]
            )
            for _ in range(layers)
        )
        self.norm = nn.RMSNorm(width, eps=1e-5)
        self.frequencies = nn.Parameter(torch.randn(1, frequencies))
        self.value = nn.Linear(2 * frequencies, width)
        self.board, self.policy = nn.Linear(width, 41), nn.Linear(width, 1924)
        self.values = nn.ModuleList(
            nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, buckets)) for _ in range(2)
        )
        place = torch.arange(length)
        block = torch.where(place % 71 < 68, place // 71, -1 - place)
        self.register_buffer("mask", (place[None] <= place[:, None]) | (block[None] == block[:, None]))

    def trunk(self, x, mask=None):
        for norm1, attention, norm2, feed in self.layers:
            x = x + attention(norm1(x), mask)
            x = x + feed(norm2(x))
        return self.norm(x)

    def forward(self, tokens, values, boards, moves, win_loss, draw):
        n, width = tokens.shape[0], self.embedding.embedding_dim
        x = self.embedding(tokens).view(n, self.positions, 71, width)
        angles = values.unsqueeze(-1) * self.frequencies * math.pi
        shown = self.value(torch.cat([angles.cos(), angles.sin()], -1))
        x = torch.cat([x[:, :, :69], shown], 2).view(n, -1, width)
        board = F.cross_entropy(self.board(self.trunk(x)).flatten(0, 1), boards.flatten())
        prefix = self.trunk(x, self.mask).view(n, self.positions, 71, width)
        move = F.cross_entropy(self.policy(prefix[:, :, 67]).flatten(0, 1), moves.flatten())
        soft = [F.cross_entropy(head(prefix[:, :, at]).flatten(0, 1), target)
                for head, at, target in zip(self.values, (68, 69), (win_loss, draw))]
        return board + move + sum(soft)

    def batch(self):
        n, length = self.shape
        m = n * self.positions
        soft = [torch.rand(m, self.buckets).softmax(1) for _ in range(2)]
        return (torch.randint(0, 1924, self.shape), torch.rand(n, self.positions, 2), torch.randint(0, 41, self.shape),
                torch.randint(0, 1924, (n, self.positions)), *soft)


NETS = {
    "residual-dense": lambda: Residual("dense"),
    "residual-conv": lambda: Residual("conv"),
    "transformer": lambda: Transformer(128, FeedForward),
    "moe-all": lambda: Transformer(64, lambda width: Experts(width, "all")),
    "moe-sparse": lambda: Transformer(64, lambda width: Experts(width, "sparse")),
    "decoder": lambda: Decoder(),
}
