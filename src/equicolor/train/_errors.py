"""What can stop a training run. Each message says what happened, at which step, and how to go on."""


class TrainingError(RuntimeError):
    """A run cannot start or go on: its folder, its disk, or what it was asked for."""


class DivergedError(TrainingError):
    """The loss or the weights are no longer finite."""


class StoppedError(TrainingError):
    """The run was asked to stop (Ctrl-C, SIGTERM), and stopped with a checkpoint."""
