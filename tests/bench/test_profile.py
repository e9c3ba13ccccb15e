"""Where the time goes."""

import torch

import equicolor as ec
from equicolor.bench._profile import REST, profile


def test_a_plain_network_spends_nothing_on_transforms_and_a_group_network_does():
    images = torch.rand(8, 3, 16, 16)
    options = {None: {}, "hue4": {"algorithm": "fast"}}
    models = {group: ec.create_model("resnet18", group, width=16, **more) for group, more in options.items()}
    with torch.no_grad():
        found = {group: profile(lambda model=model: model(images)) for group, model in models.items()}
    assert found[None]["transforms"] == 0
    assert found["hue4"]["transforms"] > 0
    for seconds in found.values():
        assert all(seconds[kind] > 0 for kind in ("convolutions", "norms", "activations and sums", REST))


def test_all_kinds_together_are_the_whole():
    x = torch.rand(300, 300)
    seconds = profile(lambda: torch.relu(x @ x))
    assert seconds["transforms"] > 0
    assert seconds["convolutions"] == seconds["norms"] == 0
