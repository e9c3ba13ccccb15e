"""assert_conforms: whether a module lives well with the tools of PyTorch."""

import copy
import io
import pickle
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.func import functional_call, grad, vmap
from torch.nn.utils import parametrize, prune

from equicolor.groups import Group, Hue
from equicolor.groups import group as as_group
from equicolor.testing._inputs import kind_of_inputs, random_inputs

#: The largest relative difference, in the precision that a check computes in.
_TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-4, torch.float16: 2e-2, torch.bfloat16: 1e-1}


@dataclass(frozen=True)
class Case:
    """A module to be tried, in eval mode, with what it is tried on.

    Attributes:
        module: a copy of the user's, for one check to use up.
        inputs: a batch of two images, or the features of two.
        rows: how many rows of the batch belong to one image.
        expected: what the module gives in eager mode.
    """

    module: nn.Module
    inputs: Tensor
    rows: int
    expected: Tensor

    def batch(self, images: int) -> Tensor:
        """The inputs of more images, or of none: row g·B + b is element g of image b."""
        elements = torch.unflatten(self.inputs, 0, (self.rows, -1))
        return elements[:, torch.arange(images) % elements.shape[1]].flatten(0, 1)

    def agrees(self, result: Tensor, expected: Tensor | None = None, dtype: torch.dtype | None = None) -> None:
        """AssertionError unless a result is what was expected, up to rounding in ``dtype``."""
        expected = self.expected if expected is None else expected
        assert result.shape == expected.shape, f"shape {tuple(result.shape)} instead of {tuple(expected.shape)}"
        if not expected.numel():
            return
        wide, reference = result.detach().double(), expected.detach().double()
        difference = float((wide - reference).norm() / reference.norm().clamp_min(1e-30))
        most = _TOLERANCE[dtype or expected.dtype]
        assert difference <= most, f"the result is off by {difference:.1e}, relatively; expected at most {most:.0e}"


def _learns(case: Case, function: Callable[[Tensor], Tensor]) -> None:
    """Every parameter that wants a gradient gets a finite one, through ``function``."""
    case.module.zero_grad()
    inputs = case.inputs.clone().requires_grad_()
    torch.autograd.backward(function(inputs).float().square().sum())
    for name, parameter in case.module.named_parameters():
        if parameter.requires_grad:
            assert parameter.grad is not None, f"{name} gets no gradient"
            assert bool(parameter.grad.isfinite().all()), f"the gradient of {name} is not finite"


def _eager(case: Case) -> None:
    assert bool(case.expected.isfinite().all()), "the result is not finite"
    case.agrees(case.module(case.inputs))
    _learns(case, case.module)


def _compile(case: Case) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(case.module, fullgraph=True, backend="aot_eager")
    with torch.no_grad():
        case.agrees(compiled(case.inputs))
    _learns(case, compiled)


def _export(case: Case) -> None:
    size = torch.export.Dim("images", min=1, max=4096)
    batch = size if case.rows == 1 else case.rows * size
    exported = torch.export.export(case.module, (case.batch(4),), dynamic_shapes=({0: batch},))
    case.agrees(exported.module()(case.inputs))


def _vmap(case: Case) -> None:
    results = vmap(case.module)(torch.stack([case.inputs, case.inputs]))
    for result in results:
        case.agrees(result)


def _per_sample_gradients(case: Case) -> None:
    parameters = {name: p.detach() for name, p in case.module.named_parameters() if p.requires_grad}
    images = torch.unflatten(case.inputs, 0, (case.rows, -1)).movedim(1, 0)

    def loss(parameters: dict[str, Tensor], image: Tensor) -> Tensor:
        result: Tensor = functional_call(case.module, parameters, (image,))
        return result.square().sum()

    together = vmap(grad(loss), in_dims=(None, 0))(parameters, images)
    for index, image in enumerate(images):
        one = grad(loss)(parameters, image)
        for name in parameters:
            case.agrees(together[name][index], one[name])


def _fake(case: Case) -> None:
    with FakeTensorMode() as mode:
        convert = mode.from_tensor
        state = {**dict(case.module.named_parameters()), **dict(case.module.named_buffers())}
        inside = functional_call(case.module, {k: convert(v) for k, v in state.items()}, (convert(case.inputs),))
    assert inside.shape == case.expected.shape, f"shape {tuple(inside.shape)} with fake tensors"
    case.agrees(case.module(case.inputs))  # nothing fake is left behind


def _meta(case: Case) -> None:
    result = case.module.to("meta")(case.inputs.to("meta"))
    assert result.is_meta, f"the result is on {result.device}"
    assert result.shape == case.expected.shape, f"shape {tuple(result.shape)} on the meta device"


def _fx(case: Case) -> None:
    traced = fx.symbolic_trace(nn.Sequential(case.module))
    case.agrees(traced(case.inputs))


def _jit_trace(case: Case) -> None:
    traced: Any = torch.jit.trace(case.module, case.inputs, check_trace=False)  # type: ignore[no-untyped-call]
    case.agrees(traced(case.inputs))
    with torch.no_grad():
        case.agrees(traced(case.batch(3)), case.module(case.batch(3)))


def _autocast(case: Case) -> None:
    with torch.autocast(case.inputs.device.type, dtype=torch.bfloat16):
        case.agrees(case.module(case.inputs), dtype=torch.bfloat16)
        _learns(case, case.module)


def _in_dtype(case: Case, dtype: torch.dtype) -> None:
    result = case.module.to(dtype)(case.inputs.to(dtype))
    assert result.dtype == dtype, f"the result is {result.dtype}"
    case.agrees(result, dtype=max(dtype, case.expected.dtype, key=lambda kind: torch.finfo(kind).eps))
    _learns(Case(case.module, case.inputs.to(dtype), case.rows, result), case.module)


def _half(case: Case) -> None:
    for dtype in (torch.bfloat16, torch.float16):
        _in_dtype(Case(copy.deepcopy(case.module), case.inputs, case.rows, case.expected), dtype)


def _double(case: Case) -> None:
    _in_dtype(case, torch.float64)


def _deepcopy(case: Case) -> None:
    twin = copy.deepcopy(case.module)
    case.agrees(twin(case.inputs))
    with torch.no_grad():
        for parameter in twin.parameters():
            parameter.zero_()
    case.agrees(case.module(case.inputs))  # the copy shares nothing


def _pickle(case: Case) -> None:
    case.agrees(pickle.loads(pickle.dumps(case.module))(case.inputs))


def _weights(module: nn.Module) -> list[tuple[nn.Module, str]]:
    """The parameters that are tables of weights, each with its layer."""
    return [
        (layer, name)
        for layer in module.modules()
        for name, parameter in layer.named_parameters(recurse=False)
        if parameter.requires_grad and parameter.dim() > 1
    ]


def _prune(case: Case) -> None:
    twin = copy.deepcopy(case.module)
    for (layer, name), (other, _) in zip(_weights(case.module), _weights(twin), strict=True):
        prune.l1_unstructured(layer, name, amount=0.5)  # type: ignore[no-untyped-call]
        other.get_parameter(name).data.mul_(layer.get_buffer(f"{name}_mask"))
    case.agrees(case.module(case.inputs), twin(case.inputs))


class _Doubled(nn.Module):
    def forward(self, weight: Tensor) -> Tensor:
        return 2 * weight


def _parametrize(case: Case) -> None:
    twin = copy.deepcopy(case.module)
    for (layer, name), (other, _) in zip(_weights(case.module), _weights(twin), strict=True):
        parametrize.register_parametrization(layer, name, _Doubled())
        other.get_parameter(name).data.mul_(2)
    case.agrees(case.module(case.inputs), twin(case.inputs))
    _learns(case, case.module)


def _state_dict(case: Case) -> None:
    file = io.BytesIO()
    torch.save(case.module.state_dict(), file)
    file.seek(0)
    with torch.no_grad():
        for tensor in (*case.module.parameters(), *case.module.buffers()):
            tensor.fill_(1)
    case.module.load_state_dict(torch.load(file, weights_only=True), strict=True)
    case.agrees(case.module(case.inputs))


def _inference_mode(case: Case) -> None:
    with torch.inference_mode():
        case.agrees(case.module(case.inputs))
    _learns(case, case.module)  # nothing that was made in inference mode is left behind


def _channels_last(case: Case) -> None:
    if case.inputs.dim() != 4:
        return
    module: nn.Module = case.module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    inputs = case.inputs.contiguous(memory_format=torch.channels_last)
    case.agrees(module(inputs))
    _learns(Case(module, inputs, case.rows, case.expected), module)


def _empty_batch(case: Case) -> None:
    result = case.module(case.batch(0))
    wanted = (0, *case.expected.shape[1:])
    assert tuple(result.shape) == wanted, f"shape {tuple(result.shape)} for no images, expected {wanted}"


def _train_and_eval(case: Case) -> None:
    state = copy.deepcopy(case.module.state_dict())
    case.module.train()
    assert all(layer.training for layer in case.module.modules()), "train() does not reach every layer"
    _learns(case, case.module)
    parameters = dict(case.module.named_parameters())
    changed = [name for name in parameters if not torch.equal(parameters[name], state[name])]
    assert not changed, f"a forward in training mode changes {', '.join(changed)}"
    case.module.load_state_dict(state)
    case.agrees(case.module.eval()(case.inputs))


#: What is tried, by the name it goes by.
CHECKS: dict[str, Callable[[Case], None]] = {
    "eager": _eager,
    "compile": _compile,
    "export": _export,
    "vmap": _vmap,
    "per-sample gradients": _per_sample_gradients,
    "fake tensors": _fake,
    "meta device": _meta,
    "fx": _fx,
    "jit.trace": _jit_trace,
    "autocast": _autocast,
    "half": _half,
    "double": _double,
    "deepcopy": _deepcopy,
    "pickle": _pickle,
    "prune": _prune,
    "parametrize": _parametrize,
    "state_dict": _state_dict,
    "inference_mode": _inference_mode,
    "channels_last": _channels_last,
    "empty batch": _empty_batch,
    "train and eval": _train_and_eval,
}


def conformance(
    module: nn.Module, group: Group | str | None, inputs: Tensor | None = None, *, skip: Collection[str] = ()
) -> dict[str, str | None]:
    """Makes the checks of :func:`assert_conforms`, and says which of them failed.

    Args:
        module: the module, as for :func:`assert_conforms`.
        group: its group, as for :func:`assert_conforms`.
        inputs: what it is run on, as for :func:`assert_conforms`.
        skip: checks to leave out, as for :func:`assert_conforms`.

    Returns:
        For each check that was made, by name, why it failed; None where it passed.

    Raises:
        TypeError: this is no module, or one that does not return a tensor.
        ValueError: there is no check of a name in ``skip``.

    Example:
        >>> from equicolor.nn import GroupPool
        >>> conformance(GroupPool("hue3"), "hue3", skip=[name for name in CHECKS if name != "fx"])
        {'fx': None}
    """
    unknown = [name for name in skip if name not in CHECKS]
    if unknown:
        raise ValueError(f"unknown check {unknown[0]!r}: there are {', '.join(CHECKS)}")
    if not isinstance(module, nn.Module):
        raise TypeError(f"expected a torch.nn.Module, got {type(module).__name__}")
    group = Hue(1) if group is None else as_group(group)
    acts_on = kind_of_inputs(module)
    if inputs is None:
        inputs = random_inputs(module, group, acts_on, seed=0)
    subject = _settled(copy.deepcopy(module), inputs)
    with torch.no_grad():
        expected = subject(inputs)
    if not isinstance(expected, Tensor):
        raise TypeError(f"expected a module that returns one tensor, got {type(expected).__name__}")
    rows = group.order if acts_on == "features" else 1
    found: dict[str, str | None] = {}
    for name, check in CHECKS.items():
        if name in skip:
            continue
        try:
            with torch.random.fork_rng(devices=[]):
                check(Case(copy.deepcopy(subject), inputs, rows, expected))
            found[name] = None
        except Exception as error:
            reason = str(error).strip().partition("\n")[0] or "no reason given"
            found[name] = reason if isinstance(error, AssertionError) else f"{type(error).__name__}: {reason}"
    return found


def _settled(module: nn.Module, inputs: Tensor) -> nn.Module:
    """``module`` in eval mode, its batch norms knowing their inputs: else a new, deep network's results may vanish."""
    norms = [layer for layer in module.modules() if isinstance(layer, nn.modules.batchnorm._BatchNorm)]
    momenta = [norm.momentum for norm in norms]
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        for norm in norms:
            norm.train().momentum = None  # the average over all batches, of which there is one
            norm.reset_running_stats()
        if norms:
            module(inputs)
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
    return module.eval()


def assert_conforms(
    module: nn.Module, group: Group | str | None, inputs: Tensor | None = None, *, skip: Collection[str] = ()
) -> None:
    """Asserts that a module works with the tools of PyTorch, and gives the same result with each.

    Tried are: eager mode with gradients, ``torch.compile`` (one graph), ``torch.export`` (any number of images), vmap,
    per-sample gradients, fake tensors, the meta device, ``torch.fx`` (as part of a larger module), ``torch.jit.trace``,
    autocast, half and double precision, deepcopy, pickle, pruning, parametrization, the state_dict, inference mode,
    channels_last, an empty batch, and the way from training to evaluation and back. Each has a copy of the module to
    itself; the given one is left as it is.

    Args:
        module: a module from images, if there is a lifting layer in it, or from features on the group, to one tensor.
        group: what the features live on, or its name; None for a module without a group.
        inputs: a batch of a few images; by default random ones, as in :func:`assert_equivariant`.
        skip: names of checks to leave out.

    Raises:
        AssertionError: names each check that failed, and why.

    Example:
        >>> from equicolor.nn import GroupPool
        >>> assert_conforms(GroupPool("hue3"), "hue3", skip=["compile", "export"])
    """
    failed = {name: reason for name, reason in conformance(module, group, inputs, skip=skip).items() if reason}
    if failed:
        raise AssertionError(
            f"{type(module).__name__} does not conform to {len(failed)} of {len(CHECKS) - len(set(skip))} uses:\n"
            + "\n".join(f"  {name}: {reason}" for name, reason in failed.items())
        )
