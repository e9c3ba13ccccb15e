"""Any network behind a canonicaliser: the symmetry in a small network, the work in another."""

from typing import Any

from torch import Tensor, nn

from equicolor.groups import Group
from equicolor.models._model import Model
from equicolor.nn import Canonicalizer


class Canonicalized(nn.Module):
    """A network made by :func:`canonicalize`: it sees images after a canonicaliser undid their colour move.

    Args:
        network: the network.
        canonicalizer: a :class:`equicolor.nn.Canonicalizer`, or a module of your own whose first result are the
            canonical images.
    """

    def __init__(self, network: nn.Module, canonicalizer: nn.Module) -> None:
        nn.Module.__init__(self)
        self.network, self.canonicalizer = network, canonicalizer

    def train(self, mode: bool = True) -> "Canonicalized":
        """Sets the training mode; a network whose parameters are all frozen stays in eval mode, with its statistics.

        Args:
            mode: True for training, False for evaluation.

        Returns:
            The module itself.
        """
        super().train(mode)
        parameters = list(self.network.parameters())
        if parameters and not any(parameter.requires_grad for parameter in parameters):
            self.network.eval()
        return self

    def forward(self, images: Tensor, *args: Any, **kwargs: Any) -> Any:
        """Computes what the network makes of the images in their usual colours.

        Args:
            images: images in [0, 1], ``(B, C, H, W)``, or uint8.
            *args: other arguments of the network.
            **kwargs: other arguments of the network.

        Returns:
            What the network returns.
        """
        return self.network(self.canonicalizer(images)[0], *args, **kwargs)


class CanonicalizedModel(Canonicalized, Model):
    """A network of the zoo behind a canonicaliser: a :class:`Model` itself, with the task and classes of that.

    Args:
        network: the network.
        canonicalizer: what undoes the colour moves.
    """

    network: Model
    canonicalizer: Canonicalizer

    def __init__(self, network: Model, canonicalizer: Canonicalizer) -> None:
        super().__init__(network, canonicalizer)
        self.group, self.image_size, self.preparation = network.group, network.image_size, network.preparation
        self.task = network.task  # type: ignore[misc]  # the network's own
        self.config = {**network.config, "canonicalize": canonicalizer.config}

    def features(self, images: Tensor) -> Tensor:
        """Computes the network's last feature map of the canonical images.

        Args:
            images: images in [0, 1], ``(B, C, H, W)``.

        Returns:
            The map.
        """
        features: Tensor = self.network.features(self.canonicalizer(images)[0])
        return features

    def canonicalizer_loss(self, moved: Tensor, amounts: Tensor) -> Tensor:
        """Computes the loss of the canonicaliser, :meth:`equicolor.nn.Canonicalizer.loss`; the network is not asked.

        Args:
            moved: images that were moved.
            amounts: how far each of them was moved, ``(B, factors)``.

        Returns:
            The mean loss, a scalar.
        """
        return self.canonicalizer.loss(moved, amounts)

    @property
    def head(self) -> nn.Module:  # type: ignore[override]
        """The part of the network that follows :meth:`features`."""
        return self.network.head


def canonicalize(
    network: nn.Module, group: Group | str | None = None, canonicalizer: nn.Module | None = None, **options: Any
) -> Canonicalized:
    """Makes any network invariant to colour moves: the move of each image is found and undone before it looks.

    The network itself stays as it is, whatever it is: one of the zoo, a pretrained one, a transformer, a detector. It
    is handed RGB in [0, 1], floating point; what it wants beyond that, such as normalising, has to be inside of it.

    With the circles of a group, such as hue, the result is exactly invariant to its elements, also before any training.
    Otherwise the canonicaliser has to be trained, which takes no labels: :func:`equicolor.train.train_canonicalizer`.
    See ``docs/canonicalise.md`` for when this is better than a group network.

    Args:
        network: any network, from images ``(B, C, H, W)`` to anything.
        group: which moves to undo, a group or its name: ``"hue4"``, ``"temp-tint"``.
        canonicalizer: one that is there already, instead of a group; or a module of your own whose first result are the
            canonical images.
        **options: those of :class:`equicolor.nn.Canonicalizer`: ``mode``, ``size``, ``iterations``, ``reach``,
            ``width``.

    Returns:
        A module around this very network, not a copy; a :class:`Model` where the network is one.

    Raises:
        TypeError: ``network`` is no module.
        ValueError: both a group and a canonicaliser are given, or neither.

    Example:
        >>> import torch
        >>> from equicolor.models import create_model
        >>> canonicalize(create_model("z2cnn"), "hue4")(torch.rand(2, 3, 32, 32)).shape
        torch.Size([2, 10])
    """
    if not isinstance(network, nn.Module):
        raise TypeError(f"expected a network, a torch.nn.Module, got {type(network).__name__}")
    if (group is None) == (canonicalizer is None):
        raise ValueError("canonicalize takes a group, such as 'temp-tint', or a canonicalizer: one of the two")
    if canonicalizer is None:
        assert group is not None
        canonicalizer = Canonicalizer(group, **options)
    elif options:
        raise ValueError(f"the canonicalizer is there already, and takes no {', '.join(options)}")
    like = next((p for p in network.parameters() if p.is_floating_point()), None)
    if like is not None:
        canonicalizer.to(like.device, like.dtype)
    if isinstance(network, Model) and isinstance(canonicalizer, Canonicalizer):
        return CanonicalizedModel(network, canonicalizer)
    return Canonicalized(network, canonicalizer)
