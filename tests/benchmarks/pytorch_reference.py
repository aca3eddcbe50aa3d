#!/usr/bin/env python3
"""The cases of bin/benchmark that others can run, too: the same lines of JSON, measured with PyTorch and OpenBLAS.

  pytorch_reference.py [cases=train_step_tiny,matmul_256x256x256,..] [threads=1,2] [runs=15]

train_step_*: a Transformer-XL in plain PyTorch, with the arithmetic of xl/: four score terms, the shift by padding and
reshaping, layer norm behind each sub-layer, relu, tied embedding, Adam, clipping at 0.25, a memory that is detached.
matmul_*: numpy, which hands the product to OpenBLAS as it is, transposed views included. The names say the shape; see
matmul_cases.cpp. Needs PyTorch 1.13 or newer, numpy, and OpenBLAS as the system's BLAS; on Debian:
apt-get install --no-install-recommends python3-torch python3-numpy libopenblas0-pthread
"""
import ctypes
import json
import math
import re
import sys
import time

try:
    import numpy
    import torch
    import torch.nn.functional as F
except ImportError as error:
    sys.exit(f"pytorch_reference.py: {error.name} is not installed for {sys.executable}; on Debian: apt-get install "
             "--no-install-recommends python3-torch python3-numpy libopenblas0-pthread, and run /usr/bin/python3")
try:
    set_openblas_threads = ctypes.CDLL("libopenblas.so.0").openblas_set_num_threads
except (OSError, AttributeError):
    sys.exit("pytorch_reference.py: OpenBLAS is not installed; on Debian: apt-get install libopenblas0-pthread")

SIZES = {
    "tiny": dict(V=32, N=2, H=2, D=32, F=128, T=16, M=16, B=4),
    "small": dict(V=256, N=4, H=4, D=128, F=512, T=64, M=64, B=16),
    "medium": dict(V=256, N=6, H=8, D=256, F=1024, T=128, M=128, B=8),
}


class Layer(torch.nn.Module):
    def __init__(self, D, H, F):
        super().__init__()
        self.H = H
        weight = lambda rows, columns: torch.nn.Parameter(torch.randn(rows, columns) * 0.02)
        self.w_q, self.w_k_E, self.w_k_R, self.w_v, self.w_o = (weight(D, D) for _ in range(5))
        self.w_1, self.b_1 = weight(D, F), torch.nn.Parameter(torch.zeros(F))
        self.w_2, self.b_2 = weight(F, D), torch.nn.Parameter(torch.zeros(D))
        self.norm_1, self.norm_2 = torch.nn.LayerNorm(D), torch.nn.LayerNorm(D)

    def split(self, x):  # [.., L, D] -> [.., H, L, Dh]
        return x.reshape(*x.shape[:-1], self.H, -1).transpose(-2, -3)

    def forward(self, h, m, R, u, v, hidden):
        context = torch.cat([m, h], 1)  # [B, K, D]
        B, T, D = h.shape
        K = context.shape[1]
        q = self.split(h @ self.w_q)  # [B, H, T, Dh]
        k, values = self.split(context @ self.w_k_E), self.split(context @ self.w_v)  # [B, H, K, Dh]
        r = self.split(R @ self.w_k_R)  # [H, K, Dh]
        content = (q + u) @ k.transpose(-1, -2)  # (a) + (c)  [B, H, T, K]
        position = (q + v) @ r.transpose(-1, -2)  # (b) + (d)  [B, H, T, K]
        padded = torch.cat([position.new_zeros(B, self.H, T, 1), position], -1)
        position = padded.view(B, self.H, K + 1, T)[:, :, 1:].reshape(B, self.H, T, K)
        scores = (content + position) * (1 / math.sqrt(D // self.H))
        weights = scores.masked_fill(hidden, -math.inf).softmax(-1)
        joined = (weights @ values).transpose(1, 2).reshape(B, T, D)
        a = self.norm_1(h + joined @ self.w_o)
        inner = F.relu(a @ self.w_1 + self.b_1)
        return self.norm_2(a + (inner @ self.w_2 + self.b_2))


class TransformerXL(torch.nn.Module):
    def __init__(self, V, N, H, D, F, T, M, B):
        super().__init__()
        self.M = M
        self.embedding = torch.nn.Parameter(torch.randn(V, D) * 0.02)
        self.output_bias = torch.nn.Parameter(torch.zeros(V))
        self.u, self.v = (torch.nn.Parameter(torch.zeros(H, 1, D // H)) for _ in range(2))
        self.layers = torch.nn.ModuleList(Layer(D, H, F) for _ in range(N))

    def forward(self, tokens, memory):
        D, T, M = self.embedding.shape[1], tokens.shape[1], memory[0].shape[1]
        K = M + T
        angles = torch.arange(K - 1, -1, -1.0)[:, None] / 10000 ** (torch.arange(0, D, 2.0) / D)
        R = torch.cat([angles.sin(), angles.cos()], -1)  # [K, D], distances K-1 .. 0
        hidden = torch.ones(T, K, dtype=torch.bool).triu(M + 1)
        h = F.embedding(tokens, self.embedding) * math.sqrt(D)
        following = []
        for layer, m in zip(self.layers, memory):
            following.append(torch.cat([m, h], 1)[:, -self.M:].detach())
            h = layer(h, m, R, self.u, self.v, hidden)
        return h @ self.embedding.t() + self.output_bias, following


def training_step(name):
    """What one call does, the engine that does it, and the tokens it trains on."""
    size = SIZES[name]
    torch.manual_seed(1)
    model = TransformerXL(**size)
    adam = torch.optim.Adam(model.parameters(), lr=0.0003)
    B, T, D = size["B"], size["T"], size["D"]
    inputs, targets = torch.randint(size["V"], (2, B, T))
    memory = [torch.zeros(B, 0, D) for _ in range(size["N"])]

    def step():
        nonlocal memory
        logits, following = model(inputs, memory)
        loss = F.cross_entropy(logits.view(B * T, -1), targets.view(-1))
        adam.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        adam.step()
        memory = following
        return loss.item()

    return step, "pytorch", B * T


def product(numbers, layout):
    lengths = [int(n) for n in numbers.split("x")]
    rows, depth, columns = lengths[-3:]
    random = numpy.random.default_rng(1)

    def factor(rows, columns, transposed):
        if transposed:
            return numpy.swapaxes(factor(columns, rows, False), -1, -2)
        return random.uniform(-1, 1, lengths[:-3] + [rows, columns]).astype(numpy.float32)

    x, y = factor(rows, depth, layout == "_tn"), factor(depth, columns, layout == "_nt")
    z = numpy.empty(lengths[:-3] + [rows, columns], numpy.float32)
    return lambda: numpy.matmul(x, y, out=z), "openblas", 0


def prepare(name):
    step = re.fullmatch("train_step_(tiny|small|medium)", name)
    if step:
        return training_step(step[1])
    matrices = re.fullmatch(r"matmul_((?:\d+x)?\d+x\d+x\d+)(_nt|_tn)?", name)
    if matrices:
        return product(matrices[1], matrices[2])
    sys.exit(f"pytorch_reference.py: there is no case {name!r}")


def milliseconds(call, calls):
    """Of the clock, and of all threads together."""
    start, cpu_start = time.perf_counter(), time.process_time()
    for _ in range(calls):
        call()
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu_start
    return wall * 1000 / calls, cpu * 1000 / calls


def visit(call, threads, runs):
    """As in measure.cpp: three calls and 100 ms to warm up, then runs of at least 2 ms."""
    torch.set_num_threads(threads)
    set_openblas_threads(threads)
    warm_up = []
    while len(warm_up) < 3 or sum(warm_up) < 100:
        warm_up.append(milliseconds(call, 1)[0])
    estimate = warm_up[-1]
    calls = max(1, math.ceil(2 / estimate))
    return [milliseconds(call, calls) for _ in range(runs)]


def main():
    settings = {"cases": "train_step_tiny,train_step_small,train_step_medium", "threads": "1,2", "runs": "15"}
    for word in sys.argv[1:]:
        name, equals, value = word.partition("=")
        if name not in settings or not equals:
            sys.exit(f"pytorch_reference.py: expected one of cases=, threads=, runs=, got {word!r}")
        settings[name] = value
    cases = {name: prepare(name) for name in settings["cases"].split(",")}
    all_threads, runs = [int(n) for n in settings["threads"].split(",")], int(settings["runs"])
    rounds = min(runs, 5)  # as in benchmark.cpp: the runs of a case are spread over rounds of all cases
    times = {(name, threads): [] for name in cases for threads in all_threads}
    for turn in range(rounds):
        for name, threads in times:
            times[name, threads] += visit(cases[name][0], threads, runs // rounds + (turn < runs % rounds))
    for (name, threads), ms in times.items():
        _, engine, tokens = cases[name]
        wall, cpu = numpy.array(ms).T
        first, middle, third = numpy.quantile(wall, [0.25, 0.5, 0.75])
        record = {"case": name, "engine": engine, "threads": threads, "runs": len(ms)}
        for field, value in ("median_ms", middle), ("spread_ms", third - first), ("cpu_ms", numpy.median(cpu)):
            record[field] = float(f"{value:.6g}")
        if tokens:
            record["tokens_per_s"] = round(tokens * 1000 / middle, 1)
        print(json.dumps(record))


main()
