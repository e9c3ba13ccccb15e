"""A network as an ONNX file."""

import logging
import os
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import nn

from equicolor._tools.files import complete_files
from equicolor._tools.optional import require
from equicolor.deploy._graph import graph_of, one_size_only
from equicolor.files import CARD_KEY, card_of


def export_onnx(
    model: nn.Module,
    path: str | os.PathLike[str],
    image_size: int | tuple[int, int] | None = None,
    with_preparation: bool = False,
) -> Path:
    """Exports a network to an ONNX file, the lift inside, for images of one size in batches of any.

    The file takes one input ``images``, float32 RGB in [0, 1] ``(batch, 3, H, W)``, and gives one output ``logits``. It
    computes in float32, whatever the precision of the model. The filters of each convolution are a constant of its own,
    as ``onnxruntime.quantization`` expects. The file appears under its name only when it is complete; more than 1.5 GB
    of weights go into a second one beside it, ``*.onnx.data``. Its metadata have the card of the network, in JSON,
    under ``equicolor.card``: the classes, and how images are to be prepared, see :class:`equicolor.files.Card`.

    Args:
        model: any network; it is exported as :func:`optimize_for_inference` makes it, and left as it is.
        path: where to; conventionally ``*.onnx``.
        image_size: the height and width, one number for both; by default those of ``model.preparation``.
        with_preparation: whether the file takes decoded images of any size instead, uint8 ``(batch, 3, H, W)``,
            prepares them itself, and gives one output ``probabilities``.

    Returns:
        The path of the file.

    Raises:
        ValueError: the network works on one number of images only, or nobody says of which size.

    Example:
        >>> from equicolor.models import create_model
        >>> export_onnx(create_model("z2cnn", "hue4"), "model.onnx", image_size=28)  # doctest: +SKIP
        PosixPath('model.onnx')
    """
    require("onnxscript", "exporting to ONNX", install="equicolor[onnx]")
    path = Path(path)
    graph = graph_of(model, card_of(model), image_size, with_preparation)
    # Which it has of libraries that are not needed, one line each.
    logging.getLogger("torch.onnx._internal.exporter._registration").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of PyTorch, about what its exporter calls itself
        program = torch.onnx.export(
            graph.module,
            (graph.images,),
            input_names=["images"],
            output_names=[graph.output],
            dynamic_shapes=(graph.dynamic,),
            dynamo=True,
            optimize=False,  # it would stop short of the filters
            verbose=False,
        )
    assert program is not None  # of dynamo
    shape = program.model.graph.inputs[0].shape
    if shape is None or any(isinstance(shape[dimension], int) for dimension in graph.dynamic):
        raise ValueError(one_size_only(model))
    _compute_constants(program.model)
    program.model.metadata_props[CARD_KEY] = graph.card.to_json()
    with complete_files(path.parent, last=path.name) as files:  # the weights first, where they are apart
        program.save(files / path.name, external_data=False)
    return path


#: So many numbers may stand in a file in the place of what computes them, even if the weights are fewer.
_SMALL = 2**18


def _compute_constants(model: Any) -> None:
    """Leaves nothing to a run, of an ONNX model in the intermediate representation, that does not depend on the images.

    A filter is then an initializer of its convolution: stacked as a frozen layer keeps them, they would be sliced anew
    by every run, and a quantizer, which looks for initializers, would pass them by.
    """
    from onnx_ir.passes.common import ClearMetadataAndDocStringPass
    from onnxscript import optimizer

    # By default large constants are left alone. Here, those that are larger than all weights together.
    limit = max(_SMALL, sum(weight.const_value.size for weight in model.graph.initializers.values()))
    optimizer.fold_constants(model, input_size_limit=limit, output_size_limit=limit)
    optimizer.remove_unused_nodes(model)  # what follows takes time that is quadratic in the nodes
    optimizer.optimize(model, input_size_limit=limit, output_size_limit=limit)
    _keep_constants(model.graph)
    ClearMetadataAndDocStringPass()(model)  # of each node, the lines of this machine's files that it comes from


def _keep_constants(graph: Any) -> None:
    """Gives a graph the constants back that its nodes use and the optimizer lost.

    Where it fuses what is done to one value in two places, such as the clamps of an image that is moved twice, it calls
    the constants of both alike, and the graph keeps the last (microsoft/onnxscript#2945).
    """
    for node in graph.all_nodes():
        for value in node.inputs:
            if value is not None and value.const_value is not None and value.graph is None:
                graph.register_initializer(value)
