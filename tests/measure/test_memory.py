"""Peak memory: cases that can be counted by hand."""

import torch
from torch import nn

from equicolor.measure import peak_memory

KILO = 1000 * 4  # bytes of a thousand numbers


def test_what_is_freed_is_not_counted_again():
    def call():
        first = torch.empty(3000)
        del first
        return torch.empty(1000), torch.empty(1000)

    assert peak_memory(call) == 3 * KILO


def test_what_was_there_before_is_not_counted():
    there = torch.rand(5000)
    assert peak_memory(lambda: there + there) == 5 * KILO


def test_a_training_step_holds_what_autograd_keeps():
    x = torch.rand(1000, requires_grad=True)

    def chain():
        x.exp().exp().exp().backward(torch.ones(1000))
        x.grad = None

    # Each exp keeps its result. On the way back through the second, all three are alive, the ones, the gradient that
    # comes in, and the one that is made of it.
    assert peak_memory(chain) == 6 * KILO


def test_a_convolution_keeps_its_input_for_the_backward_pass():
    network = nn.Sequential(nn.Conv2d(4, 4, 1, bias=False), nn.Conv2d(4, 4, 1, bias=False))
    images = torch.rand(10, 4, 10, 10)
    feature = images.numel() * 4

    def forward():
        return network(images).sum()

    def forward_only():
        with torch.inference_mode():
            return network(images).sum()

    assert peak_memory(forward) >= 2 * feature
    assert peak_memory(forward) >= peak_memory(forward_only)
