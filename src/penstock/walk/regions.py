"""Parts of forward that run under `no_grad` or `autocast`: what decomposition would forget of them.

An export holds such a part as a graph of its own, which decomposition dissolves into the rest: gradients
would flow through what stood under `no_grad`, and the places in the user's module would be lost.
"""

from typing import Any

from torch import Tensor, fx, ops
from torch.export import ExportedProgram

__all__ = ["keep_regions"]

_NO_GRAD, _AUTOCAST = "wrap_with_set_grad_enabled", "wrap_with_autocast"


def keep_regions(program: ExportedProgram) -> None:
    """Put what is under `no_grad` in line, its results detached; give what is under `autocast` a place."""
    for module in list(program.graph_module.modules()):
        if not isinstance(module, fx.GraphModule):
            continue
        for node in list(module.graph.nodes):
            kind = getattr(node.target, "__name__", "") if node.op == "call_function" else ""
            if kind == _NO_GRAD:
                _put_in_line(module, node, program)
            elif kind == _AUTOCAST:
                _give_a_place(module, node)
        module.recompile()


def _put_in_line(module: fx.GraphModule, node: fx.Node, program: ExportedProgram) -> None:
    enabled, region, *inputs = _arguments(node)
    inner: fx.Graph = getattr(module, region.target).graph
    stand_ins = dict(zip(inner.find_nodes(op="placeholder"), inputs, strict=True))
    with module.graph.inserting_before(node):
        results: Any = module.graph.graph_copy(inner, stand_ins)
        for item in list(node.users):
            result = results[_arguments(item)[1]]
            if not enabled:
                result = _detached(module.graph, result)
            item.replace_all_uses_with(result)
            program.graph_signature.replace_all_uses(item.name, result.name)
            module.graph.erase_node(item)
    module.graph.erase_node(node)


def _detached(graph: fx.Graph, result: fx.Node) -> fx.Node:
    value = result.meta.get("val")
    if not isinstance(value, Tensor) or not value.is_floating_point():
        return result
    detached = graph.call_function(ops.aten.detach.default, (result,))
    detached.meta = dict(result.meta)
    return detached


def _give_a_place(module: fx.GraphModule, node: fx.Node) -> None:
    region = next(part for part in _arguments(node) if isinstance(part, fx.Node) and part.op == "get_attr")
    for inner in getattr(module, str(region.target)).graph.nodes:
        if inner.meta.get("stack_trace"):
            node.meta |= {
                key: inner.meta[key] for key in ("nn_module_stack", "stack_trace") if key in inner.meta
            }
            return


def _arguments(node: fx.Node) -> tuple[Any, ...]:
    return node.args
