"""Whether two networks go together: what a rehearsal of a gated network must have shown."""

from typing import TYPE_CHECKING

from torch import Tensor

from penstock.decoupled.looking import LookingAtFeatures, LookingAtValues
from penstock.decoupled.outside import Emitted, FixedGates
from penstock.errors import PenstockError, nearest
from penstock.gates.kinds import Rectifier
from penstock.gates.rows import PLAIN, find_rows
from penstock.model import describe

if TYPE_CHECKING:
    from penstock.decoupled.network import GatedNetwork

__all__ = ["check_features", "check_outputs", "check_outside", "check_values"]


def check_values(network: "GatedNetwork", values: LookingAtValues) -> None:
    """There are gates, and padded ones are as many times as wide as was asked for."""
    if not values.kinds:
        raise PenstockError(
            f"{describe('value', network.value)} has no gates: it calls neither torch.relu nor its kin; a "
            "gate written by hand, such as x * (x > 0), is not seen, so write it with torch.relu"
        )
    for name, times in values.times.items():
        if times != network.pad:
            raise PenstockError(
                f"the value network is {times} times as wide at {name} as its gates, and pad={network.pad}; "
                "give gates for every unit of the model"
            )


def check_features(network: "GatedNetwork", features: LookingAtFeatures, values: LookingAtValues) -> None:
    """Both networks make the same calls, and a feature network that is trained alone can learn."""
    mine = values.kinds
    for name, kind in features.kinds.items():
        if name not in mine:
            raise PenstockError(
                f"the feature network calls {name}, which the value network does not; {nearest(name, mine)}; "
                "give two networks of one architecture"
            )
        if type(kind) is not type(mine[name]):
            raise PenstockError(
                f"{name} is {kind} in the feature network and {mine[name]} in the value network; give two "
                "networks of one architecture"
            )
    if network.trained == "feature" and not any(_can_learn(given.kind) for given in features.gates.values()):
        raise PenstockError(
            f"train='feature' trains the gates alone, and no derivative goes through gates that are "
            f"{network.gate}; give a soft gate, such as Soft(beta=4.0)"
        )


def _can_learn(kind: object) -> bool:
    slopes = isinstance(kind, Rectifier) and isinstance(kind.slope, Tensor)
    return slopes or not getattr(kind, "hard", True)


def check_outputs(network: "GatedNetwork", features: object, values: object) -> None:
    """A wider value network gives what the model gives, in shape."""
    if network.pad == 1 or not isinstance(features, Tensor) or not isinstance(values, Tensor):
        return
    if features.shape != values.shape:
        raise PenstockError(
            f"pad={network.pad} takes the layer that is registered first for the one that reads the input, "
            "and the last for the one that gives the output, and then the output has shape "
            f"{'×'.join(map(str, values.shape))} instead of {'×'.join(map(str, features.shape))}; register "
            "layers in the order of their calls"
        )


def check_outside(network: "GatedNetwork", emitted: Emitted, values: LookingAtValues, x: Tensor) -> None:
    """Gates from outside are all used, and their rows are the rows of the calls."""
    if emitted.unused:
        raise PenstockError(
            f"gates= has gates for {', '.join(map(str, emitted.unused))}, which the model does not call; it "
            f"calls {', '.join(values.kinds)}, so give one tensor for each of these"
        )
    emitted.check_choices()
    if not isinstance(network.feature, FixedGates):
        return
    for name, rows in find_rows(network.value, x, values.shapes).items():
        if rows != PLAIN:
            raise PenstockError(
                f"{name} is called on a tensor whose first dimension is not that of the examples, and gates "
                "from outside have one row for each example; give a module that emits them in that shape"
            )
