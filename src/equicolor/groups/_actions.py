"""Windows of shifts that come in two actions: an exact one, and the clamped one that is common."""

from dataclasses import dataclass
from typing import ClassVar

from equicolor import color
from equicolor.color import Action
from equicolor.groups._factor import Factor


@dataclass(frozen=True)
class ActionFactor(Factor):
    """A window of ``n`` shifts, by an action that sets what a shift is measured in, and so the default step.

    Attributes:
        default_steps, default_reaches: the step and the reach of each action, where nothing is said.
    """

    default_steps: ClassVar[dict[str, float]]
    default_reaches: ClassVar[dict[str, float]]
    step: float = None  # type: ignore[assignment]  # set by the action
    action: Action = "exact"

    def __post_init__(self) -> None:
        color.check_action(self.action)
        if self.step is None:
            object.__setattr__(self, "step", self.default_steps[self.action])
        super().__post_init__()

    @property
    def reach(self) -> float:
        return self.default_reaches[self.action]
