"""A network as a program of ``torch.export``: PyTorch runs it without equicolor."""

import os
from pathlib import Path

import torch
from torch import nn

from equicolor._tools.files import complete_files
from equicolor.deploy._graph import graph_of, one_size_only
from equicolor.files import card_of

#: Under this name the archive has the card of the network, in JSON.
CARD_FILE = "equicolor.card.json"


def export_program(
    model: nn.Module,
    path: str | os.PathLike[str],
    image_size: int | tuple[int, int] | None = None,
    with_preparation: bool = False,
) -> Path:
    """Exports a network as a program of ``torch.export``, for images of one size in batches of any.

    ``torch.export.load(path).module()`` is a network that needs PyTorch alone: what goes in and comes out is that of
    :func:`export_onnx`. The archive has the card of the network beside the program: ``equicolor.card.json``.

    Args:
        model: any network; it is exported as :func:`optimize_for_inference` makes it, and left as it is.
        path: where to; ``*.pt2``, or PyTorch warns.
        image_size: the height and width, one number for both; by default those of ``model.preparation``.
        with_preparation: whether the program takes uint8 images of any size and gives probabilities, see
            :func:`export_onnx`.

    Returns:
        The path.

    Raises:
        ValueError: the network works on one number of images only, or nobody says of which size.
    """
    path = Path(path)
    graph = graph_of(model, card_of(model), image_size, with_preparation)
    try:
        program = torch.export.export(graph.module, (graph.images,), dynamic_shapes=(graph.dynamic,))
    except torch._dynamo.exc.UserError as error:
        raise ValueError(one_size_only(model)) from error
    with complete_files(path.parent, last=path.name) as files:
        torch.export.save(program, files / path.name, extra_files={CARD_FILE: graph.card.to_json()})
    return path
