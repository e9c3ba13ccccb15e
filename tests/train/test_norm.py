"""Batch norms over several processes: two on this machine, against one that sees the whole batch."""

import multiprocessing
import socket

import torch
import torch.distributed as dist
from torch import nn

from equicolor.train._norm import SharedBatchNorm2d, share_batch_norms

_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["equicolor.train"])


def _features():
    generator = torch.Generator().manual_seed(0)
    return torch.randn(6, 3, 4, 4, generator=generator, dtype=torch.float64) * 3 + 100


def _norm():
    norm = nn.BatchNorm2d(3).double()
    with torch.no_grad():
        norm.weight.copy_(torch.tensor([1.0, 2.0, 3.0]))
        norm.bias.copy_(torch.tensor([0.1, 0.2, 0.3]))
    return norm


def _run(norm, features):
    """The result, the gradients and the statistics of one step, on some loss that is not symmetric."""
    features = features.clone().requires_grad_()
    result = norm(features)
    (result.sin() * torch.linspace(0, 1, 16, dtype=torch.float64).view(4, 4)).sum().backward()
    return result.detach(), features.grad, norm.weight.grad, norm.running_mean, norm.running_var


def _process(rank, port, folder):
    dist.init_process_group("gloo", f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    part = _features()[:2] if rank == 0 else _features()[2:]  # of unequal size
    norm = share_batch_norms(nn.Sequential(_norm()), torch.device("cpu"))[0]
    results = _run(norm, part)
    norm.eval()
    torch.save([*results, norm(part).detach()], folder / f"{rank}.pt")
    dist.destroy_process_group()


def test_two_processes_have_the_statistics_and_gradients_of_one(tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    workers = [_processes.Process(target=_process, args=(rank, port, tmp_path)) for rank in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=120)
        assert worker.exitcode == 0
    first, second = (torch.load(tmp_path / f"{rank}.pt") for rank in range(2))
    whole = _norm()
    result, gradient, of_weight, mean, variance = _run(whole, _features())
    torch.testing.assert_close(torch.cat([first[0], second[0]]), result)
    torch.testing.assert_close(torch.cat([first[1], second[1]]), gradient)
    torch.testing.assert_close(first[2] + second[2], of_weight)
    for part in (first, second):
        torch.testing.assert_close(part[3], mean)
        torch.testing.assert_close(part[4], variance)
    torch.testing.assert_close(torch.cat([first[5], second[5]]), whole.eval()(_features()))


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
