"""Batch norms over several processes: two on this machine, against one that sees the whole batch."""

import multiprocessing
import socket
import sys

import pytest
import torch
import torch.distributed as dist
from torch import nn

from equicolor.train._norm import SharedBatchNorm2d, share_batch_norms

_processes = multiprocessing.get_context("spawn" if sys.platform == "win32" else "forkserver")
_processes.set_forkserver_preload(["equicolor.train"])


def _features(dtype=torch.float64, size=4):
    generator = torch.Generator().manual_seed(0)
    return (torch.randn(6, 3, size, size, generator=generator, dtype=torch.float64) * 3 + 100).to(dtype)


def _norm(dtype=torch.float64):
    norm = nn.BatchNorm2d(3).to(dtype)
    with torch.no_grad():
        norm.weight.copy_(torch.tensor([1.0, 2.0, 3.0]))
        norm.bias.copy_(torch.tensor([0.1, 0.2, 0.3]))
    return norm


def _run(norm, features):
    """The result, the gradients and the statistics of one step, on some loss that is not symmetric."""
    features = features.clone().requires_grad_()
    result = norm(features)
    slopes = torch.linspace(0, 1, features[0, 0].numel(), dtype=torch.float64).view(features.shape[2:])
    # A function of the input, not of the result, whose rounding would change it.
    result.backward((features.detach().double().sin() * slopes).bfloat16().to(result.dtype))
    return result.detach(), features.grad, norm.weight.grad, norm.running_mean, norm.running_var


def _process(rank, port, folder, features, dtype):
    dist.init_process_group("gloo", f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    part = features[:2] if rank == 0 else features[2:]  # of unequal size
    norm = share_batch_norms(nn.Sequential(_norm(dtype)), torch.device("cpu"))[0]
    results = _run(norm, part)
    norm.eval()
    torch.save([*results, norm(part).detach()], folder / f"{rank}.pt")
    dist.destroy_process_group()


def _two_processes(folder, features, dtype):
    """What each of two processes that share ``features`` gets, of a norm whose parameters have this dtype."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    arguments = [(rank, port, folder, features, dtype) for rank in range(2)]
    workers = [_processes.Process(target=_process, args=each) for each in arguments]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=120)
        assert worker.exitcode == 0
    return [torch.load(folder / f"{rank}.pt") for rank in range(2)]


def test_two_processes_have_the_statistics_and_gradients_of_one(tmp_path):
    first, second = _two_processes(tmp_path, _features(), torch.float64)
    whole = _norm()
    result, gradient, of_weight, mean, variance = _run(whole, _features())
    torch.testing.assert_close(torch.cat([first[0], second[0]]), result)
    torch.testing.assert_close(torch.cat([first[1], second[1]]), gradient)
    torch.testing.assert_close(first[2] + second[2], of_weight)
    for part in (first, second):
        torch.testing.assert_close(part[3], mean)
        torch.testing.assert_close(part[4], variance)
    torch.testing.assert_close(torch.cat([first[5], second[5]]), whole.eval()(_features()))


@pytest.mark.parametrize("of_norm", ["float32", "half"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["float16", "bfloat16"])
def test_half_precision_has_the_statistics_and_gradients_of_float64(dtype, of_norm, tmp_path):
    """6·65·65 values around 100: a count that bfloat16 does not have, and a sum beyond the largest float16."""
    features, of_norm = _features(dtype, size=65), torch.float32 if of_norm == "float32" else dtype
    first, second = _two_processes(tmp_path, features, of_norm)
    result, gradient, of_weight, mean, variance = _run(_norm(of_norm).double(), features.double())
    for part, whole, kind in ((0, result, dtype), (1, gradient, dtype), (2, of_weight, of_norm)):
        together = first[part] + second[part] if part == 2 else torch.cat([first[part], second[part]])
        assert together.dtype == kind
        rounding = torch.finfo(kind).eps
        # Both the result of each process and their sum are rounded; float32 has 1e-5 of the largest, before that.
        torch.testing.assert_close(together.double(), whole, rtol=2 * rounding, atol=1e-5 * float(whole.abs().max()))
    for process in (first, second):
        rounding = max(torch.finfo(of_norm).eps, 1e-5)
        torch.testing.assert_close(process[3].double(), mean, rtol=rounding, atol=0)
        torch.testing.assert_close(process[4].double(), variance, rtol=rounding, atol=0)


def test_sharing_keeps_names_and_values():
    module = nn.Sequential(nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4))
    before = {name: value.clone() for name, value in module.state_dict().items()}
    shared = share_batch_norms(module, torch.device("cpu"))
    assert isinstance(shared[1], SharedBatchNorm2d)
    assert shared.state_dict().keys() == before.keys()
    assert all(torch.equal(value, before[name]) for name, value in shared.state_dict().items())


def test_a_single_process_computes_what_it_always_did():
    features = _features()
    shared = share_batch_norms(_norm(), torch.device("cpu"))
    for one, other in zip(_run(shared, features), _run(_norm(), features), strict=True):
        assert torch.equal(one, other)
