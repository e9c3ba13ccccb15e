"""What a network costs."""

import torch

from equicolor.data import ImageSet, list_datasets, load
from equicolor.measure import multiply_adds
from equicolor.train import Learner, Recipe


def multiplications(recipe: Recipe, images: ImageSet | None = None) -> float:
    """Counts the multiplications of a recipe's network for one image, by the algorithms that it chooses here.

    Args:
        recipe: the recipe; its network is not trained.
        images: the images that it is trained on, for their size and classes; read where they are not given.

    Returns:
        Millions of multiplications.
    """
    if images is None:
        options = {**recipe.data_options, "task": recipe.task}
        images = load(recipe.data, split=list_datasets()[recipe.data][0], in_memory=False, **options)
    size = recipe.input_size or images.image_size
    image = torch.rand(1, 3, size, size, generator=torch.Generator().manual_seed(0))
    return multiply_adds(Learner(recipe, images).model, image).total / 1e6
