"""What a module does, in numbers: how equivariant it is, layer by layer, and what multiplications and bytes it takes.

Any module by itself, and nothing of data sets or seconds. Other rooms measure something else: ``testing`` asserts how
equivariant a module is, and how well it lives with PyTorch; ``metrics`` says how good predictions are, ``trained`` how
good a network is on images, ``comparison`` which of several is better; ``bench`` times what it costs.
"""

from equicolor.measure._equivariance import (
    Inputs,
    element_error,
    equivariance_error,
    evaluating,
    groups_by_rows,
    layer_outputs,
    relative_error,
)
from equicolor.measure._memory import peak_memory
from equicolor.measure._work import MultiplyAdds, multiply_adds

__all__ = [
    "Inputs",
    "MultiplyAdds",
    "element_error",
    "equivariance_error",
    "evaluating",
    "groups_by_rows",
    "layer_outputs",
    "multiply_adds",
    "peak_memory",
    "relative_error",
]
