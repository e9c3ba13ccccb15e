"""Networks inside of others that compute the same, elsewhere or faster."""

from torch import nn

#: Those that keep the network under a name like any other's.
_PARALLEL = (nn.DataParallel, nn.parallel.DistributedDataParallel)
#: The names of no others: of torch.compile, FSDP, activation checkpoints, and lightning's Fabric.
_NAMES = ("_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module", "_forward_module")


def unwrapped(model: nn.Module) -> nn.Module:
    """The network itself, out of torch.compile, DataParallel, DDP, FSDP and lightning's Fabric, however nested.

    >>> network = nn.Linear(2, 2)
    >>> unwrapped(nn.DataParallel(nn.DataParallel(network))) is network
    True
    """
    while True:
        name = "module" if isinstance(model, _PARALLEL) else next((n for n in _NAMES if n in model._modules), None)
        if name is None:
            return model
        model = model.get_submodule(name)
