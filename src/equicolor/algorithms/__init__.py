"""How a group convolution is computed: bilinear algorithms for the sum over the group, and their products.

The group convolution y_g = Σ_h x_h ∗ w_{h-g} is bilinear in the feature x and the filters w. A bilinear algorithm of
rank R computes it as

    y = C · [ (A x) ⊛ (B w) ]

with three small constant matrices A, B (R × n) and C (n × R), where ⊛ stands for R independent ordinary convolutions.
What the convolutions themselves do (stride, dilation, grouping, transposition) does not matter to it. Where a factor is
a window, a :data:`Window` says what its convolution takes for the elements outside. With as many
parameters as an ordinary network, which is a width divided by √n, it costs R/n times that network's multiplications:
n times for the direct way of rank n², less than 1.5 times for :func:`cyclic`.

Mathematics only: nothing here knows of tensors, layers or memory.
"""

from equicolor.algorithms._bilinear import Algorithm, Matrix, Steps, Transform, transpose, transposed, written_out
from equicolor.algorithms._factors import cyclic, replicated, truncated, valid
from equicolor.algorithms._groups import (
    MOST_ELEMENTS,
    Window,
    blocks,
    direct,
    edge_scales,
    fast,
    filter_bank,
    inner,
    taps,
)

__all__ = [
    "MOST_ELEMENTS",
    "Algorithm",
    "Matrix",
    "Steps",
    "Transform",
    "Window",
    "blocks",
    "cyclic",
    "direct",
    "edge_scales",
    "fast",
    "filter_bank",
    "inner",
    "replicated",
    "taps",
    "transpose",
    "transposed",
    "truncated",
    "valid",
    "written_out",
]
