"""What training takes from Lightning Fabric and torchmetrics, imported in the order in which that works.

torchmetrics imports torchvision wherever it is installed, which has to be made importable first; and where Lightning is
missing, a clear word comes before a failing import.
"""

from equicolor._tools.optional import require
from equicolor._tools.vision import before_others_import_it

before_others_import_it()
require("lightning", "training")

from lightning.fabric import Fabric  # noqa: E402
from lightning.fabric.plugins.environments.lsf import LSFEnvironment  # noqa: E402
from lightning.fabric.plugins.environments.mpi import MPIEnvironment  # noqa: E402
from lightning.fabric.plugins.environments.slurm import SLURMEnvironment  # noqa: E402
from lightning.fabric.strategies.ddp import DDPStrategy  # noqa: E402
from lightning.fabric.strategies.fsdp import FSDPStrategy  # noqa: E402
from torchmetrics import Metric  # noqa: E402
from torchmetrics.classification import (  # noqa: E402
    BinaryAccuracy,
    BinaryAUROC,
    BinaryJaccardIndex,
    MulticlassAccuracy,
)
from torchmetrics.utilities.data import dim_zero_cat  # noqa: E402

__all__ = [
    "BinaryAUROC",
    "BinaryAccuracy",
    "BinaryJaccardIndex",
    "DDPStrategy",
    "FSDPStrategy",
    "Fabric",
    "LSFEnvironment",
    "MPIEnvironment",
    "Metric",
    "MulticlassAccuracy",
    "SLURMEnvironment",
    "dim_zero_cat",
]
