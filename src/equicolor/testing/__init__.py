"""Assertions that users put into their own test suites, and that hold for every layer and network here.

:func:`assert_action`: the moves of a group are an action. :func:`assert_equivariant`: a module moves with the colours
of its input. :func:`assert_invariant`: the results of a network do not change with them. :func:`assert_conforms`: a
module lives well with the rest of PyTorch. How far a module is from any of it, as a number, is measured in ``measure``;
nothing here trains, or knows a data set.
"""

from equicolor.testing._action import assert_action
from equicolor.testing._conforms import assert_conforms, conformance
from equicolor.testing._equivariant import assert_equivariant
from equicolor.testing._invariant import assert_invariant

__all__ = ["assert_action", "assert_conforms", "assert_equivariant", "assert_invariant", "conformance"]
