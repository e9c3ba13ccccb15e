"""Networks whose windows shrink or are continued at the edges, on their way to users."""

import pytest
import torch

import equicolor as ec
from zoo import settle

NETWORKS = [("sat7", "valid", "fast"), ("temp5-tint5", "valid", "direct"), ("sat3", "replicate", "fast")]

pytestmark = pytest.mark.parametrize("network", NETWORKS, indirect=True, ids=" ".join)


@pytest.fixture
def network(request):
    group, window, algorithm = request.param
    return settle(ec.create_model("z2cnn", group, 4, window=window, algorithm=algorithm, width=4))


@pytest.fixture
def images():
    return torch.rand(3, 3, 32, 32)


def close(result, expected):
    torch.testing.assert_close(result, expected, atol=1e-4, rtol=1e-4)


def test_compiled_in_one_graph_it_computes_the_same(network, images):
    compiled = torch.compile(network, fullgraph=True, backend="aot_eager")
    close(compiled(images), network(images))


@torch.no_grad()
def test_exported_it_takes_any_batch(network):
    batch = torch.export.Dim("batch")
    program = torch.export.export(network, (torch.rand(2, 3, 32, 32),), dynamic_shapes=({0: batch},)).module()
    for count in (1, 3):
        images = torch.rand(count, 3, 32, 32)
        close(program(images), network(images))


@torch.no_grad()
def test_onnxruntime_gives_the_same_logits_for_any_batch(network, tmp_path):
    pytest.importorskip("onnxscript")
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(ec.export_onnx(network, tmp_path / "model.onnx", image_size=32))
    for count in (1, 3):
        images = torch.rand(count, 3, 32, 32)
        close(torch.from_numpy(session.run(["logits"], {"images": images.numpy()})[0]), network(images))


@torch.no_grad()
def test_optimised_it_computes_the_same(network, images):
    faster = ec.optimize_for_inference(network)
    close(faster(images), network(images))
    assert not any(isinstance(module, torch.nn.BatchNorm2d) for module in faster.modules())


def test_a_saved_one_comes_back(network, images, tmp_path):
    ec.save_pretrained(network, tmp_path)
    again = ec.from_pretrained(tmp_path)
    assert torch.equal(again(images), network(images))
    assert again.config == network.config
