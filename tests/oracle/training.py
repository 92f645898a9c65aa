"""Training, slow and obvious: one network, one ordinary PyTorch loop."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from penstock.training.examples import Examples
from penstock.training.recipe import SGD, Adam, Optimizer, Recipe, RMSprop

__all__ = ["loss_of", "order_of", "torch_optimizer", "train_alone"]


def train_alone(model: nn.Module, train: Examples, recipe: Recipe, seed: int) -> list[float]:
    """Trains the module as it is, in training mode; returns the loss of each step, as it is before it."""
    optimizer = torch_optimizer(model, recipe.optimizer)
    order = torch.Generator().manual_seed(seed)
    size = recipe.batch or train.count
    per_epoch = -(-train.count // size)
    found = []
    model.train()
    for epoch in range(recipe.epochs):
        rows = order_of(train.count, recipe, order)
        for step, start in enumerate(range(0, train.count, size)):
            if recipe.schedule is not None:
                progress = (epoch * per_epoch + step) / (recipe.epochs * per_epoch)
                optimizer.param_groups[0]["lr"] = recipe.optimizer.rate * recipe.schedule.factor(
                    epoch, progress
                )
            batch = rows[start : start + size]
            optimizer.zero_grad()
            loss = loss_of(model(train.x[batch]), train.y[batch], recipe)
            loss.backward()
            optimizer.step()
            found.append(loss.item())
    return found


def order_of(count: int, recipe: Recipe, generator: torch.Generator) -> Tensor:
    return torch.arange(count) if recipe.batch is None else torch.randperm(count, generator=generator)


def loss_of(outputs: Tensor, wanted: Tensor, recipe: Recipe) -> Tensor:
    match recipe.loss:
        case "cross entropy":
            return F.cross_entropy(outputs, wanted)
        case "mean squared":
            return F.mse_loss(outputs, wanted)
        case "half sum of squares":
            return ((outputs - wanted) ** 2).sum() / 2


def torch_optimizer(model: nn.Module, wanted: Optimizer) -> torch.optim.Optimizer:
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    match wanted:
        case SGD():
            return torch.optim.SGD(parameters, lr=wanted.rate, momentum=wanted.momentum)
        case Adam():
            return torch.optim.Adam(parameters, lr=wanted.rate, betas=wanted.betas, eps=wanted.epsilon)
        case RMSprop():
            return torch.optim.RMSprop(
                parameters, lr=wanted.rate, alpha=wanted.decay, eps=wanted.epsilon, momentum=wanted.momentum
            )
