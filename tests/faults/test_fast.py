"""Fast against direct: on all kinds of groups and layers the two ways to sum agree, forward and backward."""

import random
from itertools import product

import pytest
import torch

from equicolor.nn import GroupConv2d, GroupConvTranspose2d
from zoo import relative

GROUPS = (
    *(f"hue{n}" for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 24)),
    *("sat2", "sat3", "sat5", "sat7", "lum2", "lum3", "lum5", "temp5", "tint7", "exp3", "exp6"),
    *(
        "hue3-sat3",
        "hue4-sat5",
        "hue2-lum5",
        "sat5-lum5",
        "temp5-tint5",
        "hue2-sat3-lum2",
        "hue4+temp5",
        "hue3-sat5+tint5",
    ),
)
SIZES = [(1, 1, 0), (1, 2, 0), (3, 1, 1), (3, 2, 1), (5, 2, 2), (4, 3, 0)]  # kernel, stride, padding
COMBINATIONS = list(
    product(GROUPS, (GroupConv2d, GroupConvTranspose2d), ("zero", "rescale", "replicate", "valid"), SIZES, (1, 2))
)
#: Relative disagreement that rounding explains; sums are longer than in small tests.
CLOSE = {torch.float32: 5e-5, torch.float64: 1e-12}


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("dtype", CLOSE, ids=str)
def test_fast_and_direct_agree_on_every_combination(dtype, amount, record_property):
    chosen = random.Random(1).sample(COMBINATIONS, amount(20, 140, 558))  # 1,116 of both
    for group, layer, window, (kernel, stride, padding), groups in chosen:
        given = {"stride": stride, "padding": padding, "groups": groups, "window": window, "dtype": dtype}
        fast, direct = (layer(group, 4, 6, kernel, algorithm=name, **given) for name in ("fast", "direct"))
        direct.load_state_dict(fast.state_dict())
        features = torch.randn(2 * fast.group.order, 4, 7, 6, dtype=dtype)
        ours, theirs = (features.clone().requires_grad_() for _ in range(2))
        one, other = fast(ours), direct(theirs)
        weights = torch.randn_like(one)
        (one * weights).sum().backward()
        (other * weights).sum().backward()
        about = f"{layer.__name__} on {group}, {given}"
        assert relative(one, other) < CLOSE[dtype], about
        assert relative(ours.grad, theirs.grad) < CLOSE[dtype], about
        for mine, its in zip(fast.parameters(), direct.parameters(), strict=True):
            assert relative(mine.grad, its.grad) < CLOSE[dtype], about
    record_property("combinations", len(chosen))
