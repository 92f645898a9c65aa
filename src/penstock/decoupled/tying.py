"""One set of parameters for both networks: N(Θ, β; Θ) of D Table 3."""

from penstock.decoupled.network import GatedNetwork

__all__ = ["tie"]


def tie(pair: GatedNetwork) -> GatedNetwork:
    """The same pair, the value network's parameters now being the feature network's.

    Parameters are shared and never modules: `functional_call` would give one module under two names the
    parameters of one of them.
    """
    its = dict(pair.feature.named_parameters(remove_duplicate=False))
    for name, _ in list(pair.value.named_parameters(remove_duplicate=False)):
        path, _, own = name.rpartition(".")
        pair.value.get_submodule(path).register_parameter(own, its[name])
    return pair
