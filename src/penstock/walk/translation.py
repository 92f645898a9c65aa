"""An exported program, turned into steps and recipes.

What the program computes from the input becomes a step; what it computes from parameters, buffers and
constants alone, a recipe. Nothing is kept that the output does not need.
"""

import operator
from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind

from penstock.errors import PenstockError
from penstock.walk.graph import Graph
from penstock.walk.place import place_of_node, subject
from penstock.walk.simplify import Sizes, repeated, rewritten
from penstock.walk.step import Extent, Ref, Step, map_leaves, references

__all__ = ["translate"]

_SYMBOLIC = {torch.SymInt: int, torch.SymFloat: float, torch.SymBool: bool}


def translate(program: ExportedProgram, model: nn.Module, x: Tensor) -> Graph:
    """The graph of a program that was exported from the model below a root of ours, at inputs like `x`."""
    translation = _Translation(program, model)
    for node in program.graph.nodes:
        if node.op == "call_function":
            translation.add(node)
    output = translation.values.get(str(next(iter(program.graph_signature.user_outputs))))
    if not isinstance(output, Ref):
        raise PenstockError(
            f"{type(model).__name__} returns no tensor; wrap it with penstock.adapt(model, forward)"
        )
    steps, recipes, sources = _reached(
        output.name, translation.steps, translation.recipes, translation.sources
    )
    return Graph(
        steps=tuple(steps),
        input=translation.input,
        output=output.name,
        input_shape=tuple(x.shape[1:]),
        dtype=x.dtype,
        sources=sources,
        recipes=tuple(recipes),
        parameters={name: path for name, path in translation.parameters.items() if name in sources},
    )


class _Translation:
    """The program's values, each as what stands for it in arguments: a `Ref`, an `Extent`, a number."""

    def __init__(self, program: ExportedProgram, model: nn.Module):
        self.model = model
        self.values: dict[str, Any] = {}
        self.sizes: dict[str, Sizes] = {}
        self.steps: list[Step] = []
        self.recipes: list[Step] = []
        self.signals: set[str] = set()
        self.sources: dict[str, Tensor] = {}
        self.parameters: dict[str, str] = {}
        nodes = {node.name: node for node in program.graph.find_nodes(op="placeholder")}
        self.input = str(next(iter(program.graph_signature.user_inputs)))
        self.batch = nodes[self.input].meta["val"].shape[0].node.expr
        self.signals.add(self.input)
        self.values[self.input] = Ref(self.input)
        self._place_sources(program, nodes)

    def _place_sources(self, program: ExportedProgram, nodes: Mapping[str, fx.Node]) -> None:
        """Name the model's own tensors, each once, and the constants that its forward makes."""
        own: dict[str, Tensor] = {
            **dict(self.model.named_parameters(remove_duplicate=False)),
            **dict(self.model.named_buffers(remove_duplicate=False)),
        }
        first_names = {id(parameter): name for name, parameter in self.model.named_parameters()}
        seen: dict[int, str] = {}
        for spec in program.graph_signature.input_specs:
            node = nodes[spec.arg.name]
            self.sizes[node.name] = self._shape(node.meta["val"])
            if spec.kind is InputKind.USER_INPUT:
                continue
            target = spec.target or ""
            tensor: Any = own.get(target.removeprefix("model."), program.constants.get(target))
            name = seen.setdefault(id(tensor), node.name.replace("_model_", "_", 1))
            self.sources[name] = tensor
            self.values[node.name] = Ref(name)
            if id(tensor) in first_names:
                self.parameters[name] = first_names[id(tensor)]

    def add(self, node: fx.Node) -> None:
        value = node.meta.get("val")
        if isinstance(node.target, torch._ops.HigherOrderOperator):
            where = subject(self.model, place_of_node(node))
            raise PenstockError(
                f"{where} calls {node.target}, which runs other graphs and is no step of one; take a choice "
                "with torch.where, and write a loop in Python"
            )
        if type(value) in _SYMBOLIC or isinstance(value, int | float | bool):
            self.values[node.name] = self._number(node, value)
        elif isinstance(value, Tensor):
            self._add_tensor(node, value)
        # the rest are checks, which return nothing, and operations with several results, read one by one

    def _add_tensor(self, node: fx.Node, value: Tensor) -> None:
        self.sizes[node.name] = self._shape(value)
        original = repeated(node, self.sizes)
        if original is not None:
            self.values[node.name] = self.values[original.name]
            return
        source: Any = node
        item: Any = None
        if node.target is operator.getitem:
            source, item = node.args
        plainer = rewritten(node, self.sizes[node.name])
        target, args, kwargs = plainer or (source.target, source.args, source.kwargs)
        arguments = tuple(self._argument(argument) for argument in args)
        options = {key: self._argument(argument) for key, argument in kwargs.items()}
        read = [ref.name for ref in references((arguments, options))]
        step = Step(
            name=f"{source.name}:{item}" if item else source.name,
            target=target,
            args=arguments,
            kwargs=options,
            place=place_of_node(source),
            sizes=self.sizes[node.name],
            dtype=value.dtype,
            item=item,
            held=tuple(dict.fromkeys(name for name in read if name not in self.signals)),
        )
        if step.signals:
            self.signals.add(step.name)
        (self.steps if step.signals else self.recipes).append(step)
        self.values[node.name] = Ref(step.name)

    def _argument(self, argument: Any) -> Any:
        return map_leaves(
            lambda leaf: self.values[leaf.name] if isinstance(leaf, fx.Node) else leaf, argument
        )

    def _number(self, node: fx.Node, value: Any) -> Any:
        """A size, or a number that was taken out of a tensor."""
        if node.target in (torch.ops.aten.item.default, torch.ops.aten._local_scalar_dense.default):
            return Ref(self._argument(node.args[0]).name, number=True)
        return self._extent(value)

    def _shape(self, value: Any) -> Sizes:
        return tuple(self._extent(size) for size in value.shape)

    def _extent(self, size: Any) -> Any:
        if type(size) not in _SYMBOLIC:
            return size
        expression, kind = size.node.expr, _SYMBOLIC[type(size)]
        return Extent(expression, self.batch, kind) if expression.free_symbols else kind(expression)


def _reached(
    output: str, steps: Iterable[Step], recipes: Iterable[Step], sources: Mapping[str, Tensor]
) -> tuple[list[Step], list[Step], dict[str, Tensor]]:
    """What the output depends on."""
    wanted = {output}

    def needed(candidates: Iterable[Step]) -> list[Step]:
        found = []
        for step in reversed(list(candidates)):
            if step.name in wanted:
                wanted.update(step.signals, step.held)
                found.append(step)
        return found[::-1]

    reached_steps, reached_recipes = needed(steps), needed(recipes)
    return (
        reached_steps,
        reached_recipes,
        {name: tensor for name, tensor in sources.items() if name in wanted},
    )
