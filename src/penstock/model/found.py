"""`left_as_found`: whatever happens inside, the model is afterwards what it was before."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from penstock.model.parts import layers

__all__ = ["left_as_found"]


@contextmanager
def left_as_found(model: nn.Module) -> Iterator[None]:
    """Puts back, also after an error or an interruption: attributes and mode of every layer, hooks,
    gradients, `requires_grad`, the numbers in the buffers, and the state of the random generators of torch
    (CPU and CUDA), NumPy and Python.

    Inside, gradients are out of the way: every `.grad` is None, so what is accumulated there cannot reach the
    user's.
    """
    found = [_Layer(module) for _, module in layers(model)]
    gradients = _Gradients(model)
    buffers = _Buffers(model)
    randomness = _Randomness()
    try:
        gradients.set_aside()
        yield
    finally:
        for layer in found:
            layer.restore()
        gradients.restore()
        buffers.restore()
        randomness.restore()


class _Layer:
    """One module's own attributes, and what stands in its registers: parameters, buffers, children, hooks."""

    def __init__(self, module: nn.Module):
        self.module = module
        # A scripted module keeps its state in C++, where a mode cannot be changed behind its back.
        self.attributes = {} if isinstance(module, torch.jit.ScriptModule) else dict(module.__dict__)
        self.registers = {
            name: (register, dict(register) if isinstance(register, dict) else set(register))
            for name, register in self.attributes.items()
            if name.startswith("_") and isinstance(register, dict | set)
        }

    def restore(self) -> None:
        if not self.attributes:
            return
        now = self.module.__dict__
        for name in now.keys() - self.attributes.keys():
            del now[name]
        for name, value in self.attributes.items():
            if name not in now or now[name] is not value:
                now[name] = value
        for register, content in self.registers.values():
            # refilled rather than replaced: handles of hooks point at the register itself
            if (register or content) and not _same(register, content):
                register.clear()
                register.update(content)


def _same(register: Any, content: Any) -> bool:
    if isinstance(register, set):
        return register == content
    return [(key, id(value)) for key, value in register.items()] == [
        (key, id(value)) for key, value in content.items()
    ]


class _Gradients:
    """`.grad` and `requires_grad` of every parameter."""

    def __init__(self, model: nn.Module):
        self.found = [
            (parameter, parameter.grad, parameter.requires_grad)
            for parameter in model.parameters()
            if parameter.is_leaf
        ]

    def set_aside(self) -> None:
        for parameter, grad, _ in self.found:
            if grad is not None:
                parameter.grad = None

    def restore(self) -> None:
        for parameter, grad, requires_grad in self.found:
            if parameter.requires_grad is not requires_grad:
                parameter.requires_grad_(requires_grad)
            if parameter.grad is not grad:
                parameter.grad = grad


class _Buffers:
    """The numbers in the buffers: running statistics, counters, caches."""

    def __init__(self, model: nn.Module):
        self.found = [(buffer, buffer.detach().clone()) for buffer in model.buffers()]

    @torch.no_grad()
    def restore(self) -> None:
        # written only where they changed: a graph that autograd has saved a buffer for must stay valid
        for buffer, copy in self._changed():
            buffer.resize_(copy.shape).copy_(copy)

    def _changed(self) -> Iterator[tuple[Tensor, Tensor]]:
        compared: dict[torch.device, list[tuple[Tensor, Tensor, Tensor]]] = {}
        for buffer, copy in self.found:
            if buffer.shape != copy.shape:
                yield buffer, copy
            else:
                compared.setdefault(buffer.device, []).append((buffer, copy, (buffer != copy).any()))
        for several in compared.values():
            # one answer to wait for, where the buffers are on a GPU
            differ = torch.stack([one for _, _, one in several]).tolist()
            yield from (
                (buffer, copy) for (buffer, copy, _), changed in zip(several, differ, strict=True) if changed
            )


class _Randomness:
    def __init__(self):
        self.cpu: Tensor = torch.get_rng_state()
        self.cuda: list[Tensor] = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
        self.numpy = np.random.get_state()
        self.python = random.getstate()

    def restore(self) -> None:
        torch.set_rng_state(self.cpu)
        if self.cuda:
            torch.cuda.set_rng_state_all(self.cuda)
        np.random.set_state(self.numpy)
        random.setstate(self.python)
