"""The networks on the page: those that come with the package, or the user's own."""

import threading
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from equicolor._tools.images import Fit
from equicolor.deploy import optimize_for_inference
from equicolor.models import CanonicalizedModel
from equicolor.trained import Opened, class_names, class_probabilities, open_model, plain_beside, prepared

_PLAIN = "equicolor/shapes-plain"
#: What comes with the package beside the plain network, and what it is called on the page.
_TITLES = {_PLAIN: "Plain", "equicolor/shapes-hue4": "Hue-4", "equicolor/shapes-light": "Light, canonicalised"}

#: Requests come in threads; hooks and caches of a network are for one at a time.
_ONE_AT_A_TIME = threading.Lock()


class Network:
    """A trained classifier on the page.

    Args:
        title: what it is called there.
        opened: the network and its card.

    Raises:
        ValueError: it is no classifier of images.
    """

    def __init__(self, title: str, opened: Opened) -> None:
        if opened.card.task not in (None, "classification"):
            raise ValueError(f"the app shows classifiers, and {title} is a network for {opened.card.task}")
        self.title, self.opened = title, opened
        self.lock = _ONE_AT_A_TIME

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of its classes."""
        return class_names(self.opened.classes)

    @property
    def side(self) -> int:
        """Height and width of the images that it is shown, before the last crop."""
        plan = self.opened.preparation
        return self.opened.model.image_size if plan is None else plan.side

    @property
    def fit(self) -> Fit:
        """How images are brought to that size."""
        return "crop" if self.opened.preparation is None else self.opened.preparation.fit

    @property
    def about(self) -> str:
        """One line: the network, its group or what it is canonicalised by, and its size."""
        return self.opened.describe()

    @property
    def canonicalizes(self) -> bool:
        """Whether it undoes colour moves before it looks."""
        return isinstance(self.opened.model, CanonicalizedModel)

    def probabilities(self, images: Tensor) -> Tensor:
        """Of each class, ``(B, K)``, for images in [0, 1] of :attr:`side`."""
        batch = prepared(self.opened.model, images).to(self.opened.device)
        with self.lock, torch.inference_mode():
            return class_probabilities(self._ready(batch)).cpu()

    @cached_property
    def _ready(self) -> Any:
        return optimize_for_inference(self.opened.model)


@dataclass(frozen=True, eq=False)
class Stage:
    """What is compared: a plain network, where there is one, and others to set beside it.

    Attributes:
        plain: the one to compare with.
        others: at least one; the first is shown first.
    """

    plain: Network | None
    others: tuple[Network, ...]

    def __getitem__(self, title: str) -> Network:
        return next(network for network in self.networks if network.title == title)

    @property
    def networks(self) -> tuple[Network, ...]:
        """All of them, the plain one first."""
        return self.others if self.plain is None else (self.plain, *self.others)


def set_stage(run: str | None = None, beside: str | None = None, device: str = "cpu") -> Stage:
    """The networks that the page opens with.

    Args:
        run: a network of the user's: the folder of a run or of a saved model, or a name on the hub; by default those
            that come with the package.
        beside: another one to compare it with; by default the plain one that was trained likewise, if there is one, or
            else that of the package, if it knows the same classes.
        device: of PyTorch's.

    Raises:
        ValueError: one is no classifier, or the two do not know the same classes.
    """
    shipped = [Network(title, open_model(name, device)) for name, title in _TITLES.items()]
    if run is None:
        if beside is not None:
            raise ValueError("--beside is what another network is compared with: give that one first")
        return Stage(shipped[0], tuple(shipped[1:]))
    own = Network(_title(run), open_model(run, device))
    beside = plain_beside(run) if beside is None else beside
    if beside is not None:
        other = Network(_title(beside), open_model(beside, device))
        if other.title == own.title:
            own.title, other.title = f"{own.title} (yours)", f"{other.title} (beside)"
        if other.classes != own.classes:
            raise ValueError(
                f"networks side by side know the same classes: {run} has {', '.join(own.classes[:8])}, and {beside} "
                f"{', '.join(other.classes[:8])}"
            )
        return Stage(other, (own,))
    return Stage(shipped[0] if shipped[0].classes == own.classes else None, (own,))


def _title(name: str) -> str:
    """What a network is called on the page: the last word of its folder or name that says something."""
    if name in _TITLES:
        return _TITLES[name]
    words = [word for word in name.replace("\\", "/").split("/") if word not in ("", ".", "model")]
    return words[-1] if words else name
