"""What can stop a training run. Each message says what happened, at which step, and how to go on."""


class TrainingError(RuntimeError):
    """Raised where a run cannot start or go on, because of its folder, its disk, or what it was asked for."""


class DivergedError(TrainingError):
    """Raised where the loss or the weights are no longer finite."""


class StoppedError(TrainingError):
    """Raised where the run was asked to stop (Ctrl-C, SIGTERM), and stopped with a checkpoint."""
