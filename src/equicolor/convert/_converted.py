"""What a conversion returns: the network behind a lift, with all that its users expect of it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from equicolor.convert._about import preparation
from equicolor.convert._classifier import resized
from equicolor.convert._dry_run import map_tensors, tensors
from equicolor.convert._layers import PooledBefore, replace, wrap
from equicolor.groups import Group
from equicolor.models import Images, Preparation
from equicolor.nn import GroupPool, Lift

_DEFAULT_SIZE = 224


class Converted(nn.Module):
    """A network made by :func:`convert`: a copy of the given one, behind a lift.

    It takes images in [0, 1] and gives what the given network gave.

    Args:
        lift: the lift, and the normalisation after it.
        body: the copy of the given network, its layers replaced.
        pool: the pool over the group; None without a group.
        pool_before: the path of the module before which the group is pooled over; None without a group.
        output_pool: whether the results of ``body`` are pooled over.
        classifier: the path, in ``body``, of the layer that gives the logits; None where there is none.
        config: what the given network says about its images, see ``default_cfg``.

    Attributes:
        group: what it is equivariant to; None where the network was only put behind its normalisation.
        default_cfg: what the given network says about its images, as timm's networks do: ``mean``, ``std``,
            ``input_size``, ``crop_pct`` and more; empty where it says nothing. Normalising is done after the lift.
        preparation: how its images are prepared, which follows from it; None where nothing is known.
    """

    preparation: Preparation | None = None

    def __init__(
        self,
        lift: Lift,
        body: nn.Module,
        pool: GroupPool | None,
        pool_before: str | None,
        output_pool: bool,
        *,
        classifier: str | None = None,
        config: Mapping[str, Any] | None = None,
    ) -> None:
        nn.Module.__init__(self)
        self.lift, self.body = lift, body
        self.group: Group | None = None if pool is None else pool.group
        self.pool_before, self.classifier = pool_before, classifier
        # Elsewhere the pool is registered in the body, before its head.
        self.pool: GroupPool | None = pool if output_pool else None
        self.default_cfg = dict(config or {})
        self.preparation = preparation(self.default_cfg)
        self._pools_in_features = False

    @property
    def pretrained_cfg(self) -> dict[str, Any]:
        """The same as ``default_cfg``, by timm's other name for it."""
        return self.default_cfg

    def forward(self, images: Tensor, *args: Any, **kwargs: Any) -> Any:
        """Computes what the given network returned, now invariant.

        Args:
            images: plain images in [0, 1], ``(B, C, H, W)``.
            *args: other arguments of the given network.
            **kwargs: other arguments of the given network.

        Returns:
            What the given network returns, such as logits ``(B, classes)``.
        """
        output = self.body(self.lift(images), *args, **kwargs)
        if self.pool is not None:
            output = map_tensors(self.pool, output)
        if not torch.compiler.is_compiling() and any(x.shape[:1] != images.shape[:1] for x in tensors(output)):
            raise self._pool_is_gone()
        return output

    def _pool_is_gone(self) -> RuntimeError:
        # A head is easily replaced together with the pool before it.
        return RuntimeError(
            f"the group pool before {self.pool_before!r} is gone: the results are not pooled over {self.group}. To "
            f"change the head, assign to body.{self.pool_before}.head, or call reset_classifier"
        )

    def features(self, images: Tensor, *args: Any, **kwargs: Any) -> Any:
        """Computes the last feature on the group, which enters the group pool: for sorting and visualisation.

        Without a group, it is what enters the classifier.

        Args:
            images: plain images in [0, 1], ``(B, C, H, W)``.
            *args: other arguments of the given network.
            **kwargs: other arguments of the given network.

        Returns:
            The feature, ``(G·B, *)``.
        """
        lifted = self.lift(images)
        if self.pool is not None or (self.group is None and self.classifier is None):
            return self.body(lifted, *args, **kwargs)
        seen: list[Tensor] = []
        if self.group is None:
            before: nn.Module = self.body.get_submodule(str(self.classifier))
        else:
            pools = [module for module in self.body.modules() if isinstance(module, GroupPool)]
            if not pools:
                raise self._pool_is_gone()
            before = pools[0]
        handle = before.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
        try:
            self.body(lifted, *args, **kwargs)
        finally:
            handle.remove()
        return seen[0]

    def preprocess(self, images: Images) -> Tensor:
        """Prepares images as this network is to see them, see :meth:`equicolor.models.Model.preprocess`.

        Args:
            images: files, arrays, tensors or a list of them.

        Returns:
            A batch in [0, 1], ``(B, C, H, W)``.
        """
        prepare = self.preparation or Preparation(_DEFAULT_SIZE)
        return prepare(images).to(self.lift.mean.device)

    # ---------------------------------------------------------------------------------- as timm's networks have them

    @property
    def num_classes(self) -> int:
        """The number of logits; 0 where the classifier was taken away."""
        classifier = self.get_classifier()
        return int(getattr(classifier, "out_features", getattr(classifier, "out_channels", 0)))

    @property
    def feature_info(self) -> Any:
        """The channels and reduction of the maps that a network of timm's with ``features_only`` returns."""
        return self.body.feature_info

    def forward_features(self, images: Tensor) -> Any:
        """Computes the last feature map, as timm's networks do.

        Args:
            images: plain images in [0, 1], ``(B, C, H, W)``.

        Returns:
            The map, ``(G·B, C, h, w)`` on the group; ``(B, …)`` where the pool stands earlier.
        """
        return self._own("forward_features")(self.lift(images))

    def forward_head(self, features: Tensor, pre_logits: bool = False) -> Any:
        """Computes logits from what :meth:`forward_features` gave, as timm's networks do.

        The result is invariant: what did not pass the group pool on its way is pooled at its end.

        Args:
            features: what :meth:`forward_features` gave.
            pre_logits: stop before the classifier.

        Returns:
            Logits; with ``pre_logits`` what the classifier takes.
        """
        output = self._own("forward_head")(features, pre_logits=pre_logits)
        if self.group is None or self._pools_in_features or output.shape[0] != features.shape[0]:
            return output
        pool = self.pool or next(module for module in self.body.modules() if isinstance(module, GroupPool))
        return pool(output)

    def note_where_it_pools(self, images: Tensor) -> None:
        """Finds out, once, whether the group is pooled over in :meth:`forward_features` already.

        Args:
            images: a batch to run the network on.
        """
        if self.group is not None and self.group.order > 1 and hasattr(self.body, "forward_features"):
            features = tensors(self.forward_features(images))
            self._pools_in_features = bool(features) and features[0].shape[0] == images.shape[0]

    def get_classifier(self) -> nn.Module:
        """The layer that gives the logits.

        Raises:
            AttributeError: there is none, as in a network that returns feature maps.
        """
        if self.classifier is None:
            raise AttributeError(f"{type(self.body).__name__} has no classifier: it does not end in a layer of logits")
        layer = self.body.get_submodule(self.classifier)
        return layer.head if isinstance(layer, PooledBefore) else layer

    def reset_classifier(self, num_classes: int, *args: Any, **kwargs: Any) -> None:
        """Puts a new classifier in the place of the old one; the group pool before it stays.

        Args:
            num_classes: the number of its logits; 0 for none, the network then returns what a classifier would take.
            *args: other arguments of timm's, such as ``global_pool``, for networks of timm's.
            **kwargs: other arguments of timm's, for networks of timm's.
        """
        old = self.get_classifier()
        with self._without_pool():
            if callable(getattr(self.body, "reset_classifier", None)):
                self._own("reset_classifier")(num_classes, *args, **kwargs)
            else:
                replace(self.body, {old: resized(old, num_classes)})
        self.get_classifier().to(self.lift.mean).train(old.training)

    @contextmanager
    def _without_pool(self) -> Iterator[None]:
        """Meanwhile the body is as its author knows it."""
        found = None if self.pool_before is None else dict(self.body.named_modules()).get(self.pool_before)
        if isinstance(found, PooledBefore):
            replace(self.body, {found: found.head})
        try:
            yield
        finally:
            if isinstance(found, PooledBefore):
                wrap(
                    self.body, str(self.pool_before), lambda head: PooledBefore(found.pool, head).train(found.training)
                )

    def _own(self, name: str) -> Any:
        method = getattr(self.body, name, None)
        if method is None:
            raise AttributeError(f"{type(self.body).__name__} has no {name}: that is of timm's networks")
        return method

    def extra_repr(self) -> str:
        """What ``repr`` shows: the group, where it is pooled, and the number of parameters."""
        parameters = sum(parameter.numel() for parameter in self.parameters())
        where = "no group" if self.group is None else f"{self.group}, pool_before={self.pool_before!r}"
        return f"{where}, {parameters:,} parameters"
