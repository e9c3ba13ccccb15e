"""The forward of a fused network, for as long as the network is the one that was fused."""

import warnings

from torch import fx, nn

from equicolor.fusion._graphs import is_heard

#: Where the classes are whose forwards do nothing but what a graph of them shows.
_KNOWN = ("torch.nn.", "equicolor.")


def foreign(network: nn.Module) -> str:
    """Why a trace of a network may not be all that it does: somebody else wrote a part of it; or nothing."""
    own = "the forward that this network was given" if "forward" in vars(network) else ""
    kinds = (type(module) for module in network.modules())
    own = own or next((f"{k.__module__}.{k.__qualname__}" for k in kinds if not k.__module__.startswith(_KNOWN)), "")
    return own and f"{own} is neither this library's nor PyTorch's, and may do more than a graph of it shows"


class Fused:
    """A network as it was when it was fused: its layers, those that are no longer called, and its own forward."""

    def __init__(self, network: nn.Module, fused: fx.GraphModule) -> None:
        self.network, self.fused, self.before = network, fused, network.forward
        self.modules = dict(network.named_modules())
        called = {node.target for node in fused.graph.nodes if node.op == "call_module"}
        self.passed_by = [module for path, module in self.modules.items() if path and path not in called]
        self.told = False

    @property
    def unheard(self) -> str:
        """Why the network is not to be fused, if somebody listens to what would no longer be called."""
        return "hooks listen to layers that would no longer be called" if any(map(is_heard, self.passed_by)) else ""

    def is_current(self) -> bool:
        """Whether the network still is the one that was fused; a warning tells once that it is not."""
        now = dict(self.network.named_modules())
        same = now.keys() == self.modules.keys() and all(now[path] is each for path, each in self.modules.items())
        same = same and not any(map(self.is_stale, self.passed_by))
        if not same and not self.told:
            self.told = True
            warnings.warn(
                "this network was changed since it was fused, in its layers or by hooks, and is computed without: fuse "
                "it when all of that is done",
                stacklevel=4,
            )
        return same

    def is_stale(self, layer: nn.Module) -> bool:
        """Whether a layer that is no longer called would have to be."""
        return is_heard(layer)
