"""Images as a network is to see them: prepared as its card says, their classes numbered as its logits are."""

from dataclasses import replace

from torch import Tensor, nn

from equicolor._tools.wrapped import unwrapped
from equicolor.data import Batch, ImageSet
from equicolor.models import Preparation


def prepared(model: nn.Module, images: Tensor) -> Tensor:
    """Prepares a batch as ``model.preparation`` says; leaves it as it is where nothing is known.

    Args:
        model: the network.
        images: the batch.

    Returns:
        The batch that the network takes.
    """
    plan = _plan(model)
    return images if plan is None else plan(images)


def prepared_batch(model: nn.Module, batch: Batch) -> Batch:
    """The same with targets; masks are cut as the images are."""
    plan = _plan(model)
    if plan is None:
        return batch
    if batch.targets.dim() == 1:
        return Batch(plan(batch.images), batch.targets)
    return Batch(*plan(batch.images, batch.targets))


def by_name(model: nn.Module, images: ImageSet) -> ImageSet:
    """``images`` with their classes numbered as the logits of ``model`` are, by name; as they are, if it has no names.

    Raises:
        ValueError: there are images of classes that the network does not know; they are named.
    """
    names = getattr(getattr(unwrapped(model), "card", None), "classes", None)
    if not names or images.task != "classification":
        return images
    if len(names) > 1:
        return images.with_classes(names)
    (name,) = names  # of a single logit, which tells it from whatever else there is
    if name not in images.classes:
        raise ValueError(f"the network tells {name!r} from the rest: there is no such class in {images.name}")
    label = images.classes.index(name)
    return replace(images, labels=(images.labels == label).long(), classes=(f"not {name}", name))


def _plan(model: nn.Module) -> Preparation | None:
    plan: Preparation | None = getattr(unwrapped(model), "preparation", None)
    return plan
