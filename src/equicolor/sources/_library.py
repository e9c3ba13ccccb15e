"""What a library of networks has to say, for its networks to be made by name."""

import difflib
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import torch
from torch import nn

_NAME = re.compile(r"\w+(\.\w+)?", re.ASCII)


class Library(ABC):
    """A library of networks, such as timm.

    Attributes:
        name: what stands before the colon.
        options: which arguments of its networks may be given; no others, as they may come from a file.
    """

    name: ClassVar[str]
    options: ClassVar[tuple[str, ...]]

    @abstractmethod
    def names(self) -> Iterable[str]:
        """The names of all its networks."""

    @abstractmethod
    def knows(self, name: str) -> bool:
        """Whether there is a network of this name that was trained to classify images.

        Args:
            name: the name in the library.

        Returns:
            True where there is one.
        """

    @abstractmethod
    def has_weights(self, name: str) -> bool:
        """Whether there are weights of a network to be downloaded.

        Args:
            name: the name in the library.

        Returns:
            True where there are.
        """

    @abstractmethod
    def build(self, name: str, num_classes: int | None, pretrained: bool, options: Mapping[str, Any]) -> nn.Module:
        """Makes a network, whose ``pretrained_cfg`` says how its images are prepared.

        Args:
            name: the name in the library.
            num_classes: the number of logits; another one than it was trained for makes a new classifier.
            pretrained: whether to download its weights.
            options: the library's own.

        Returns:
            The network.
        """

    def check(self, name: str, options: Mapping[str, Any]) -> None:
        """Checks that the library has a network of this name, and that it takes these options.

        Args:
            name: the name in the library.
            options: the library's own.

        Raises:
            TypeError: it takes no such option.
            ValueError: there is no such network.
        """
        if not _NAME.fullmatch(name) or not self.knows(name):
            close = difflib.get_close_matches(name[:100], list(self.names()), n=3)
            hint = f" Did you mean {' or '.join(close)}?" if close else ""
            raise ValueError(f"{self.name} has no network {name[:100]!r}.{hint}")
        for option, value in options.items():
            if option not in self.options:
                raise TypeError(
                    f"{self.name}:{name} has no option {option!r}. There are pretrained, weights, width, mean, std, "
                    f"reduce, pool_before, budget, budget_of, image_size, and of {self.name}'s own "
                    f"{', '.join(self.options)}. For others, build the network yourself, and give it to "
                    "equicolor.convert"
                )
            if not isinstance(value, bool | int | float | str | None):
                raise TypeError(f"{option} of {self.name}:{name} must be a number or text, got {value!r}")

    def made(self, name: str, num_classes: int | None, pretrained: bool, options: Mapping[str, Any]) -> nn.Module:
        """Makes a network, with an error that says what to do where its weights cannot be had.

        Args:
            name: the name in the library.
            num_classes: the number of logits.
            pretrained: whether to download its weights.
            options: the library's own.

        Returns:
            The network.

        Raises:
            RuntimeError: the weights could not be downloaded.
        """
        if not pretrained:
            return self.build(name, num_classes, False, options)
        try:
            return self.build(name, num_classes, True, options)
        except Exception as error:
            with torch.device("meta"):
                self.build(name, num_classes, False, options)  # what is wrong with its arguments is said here
            raise RuntimeError(
                f"the weights of {self.name}:{name} could not be downloaded ({type(error).__name__}: "
                f"{str(error).splitlines()[0] if str(error) else 'no reason given'}). Without a connection, give a "
                "file, weights=FILE.safetensors, or begin with fresh weights: pretrained=False, which in a recipe is "
                "model_options.pretrained=false"
            ) from error
