"""A bilinear algorithm: three constant matrices, the product of two of them, and how a matrix is applied as sums."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from equicolor.algorithms._numbers import Numbers, products

#: Rows of numbers: a constant to a compiler, and hashable.
Matrix = tuple[tuple[float, ...], ...]
#: A matrix as it is applied: in steps, each of which is the Kronecker product of some.
Steps = tuple[tuple[Matrix, ...], ...]
#: What sums are made of: numbers, tensors, or what stands for them.
Term = TypeVar("Term")


class Transform(NamedTuple):
    """Into numbers, real and complex, in which the sum over one factor of a group is their product.

    Args:
        numbers: which of them are real, and the basis of those that are complex, in two rows each.
        feature: the matrix that features become numbers by, rows × n.
        filter: the matrix that filters become numbers by, rows × taps.
        inverse: the matrix that gives the result, n × rows.
    """

    numbers: Numbers
    feature: Matrix
    filter: Matrix
    inverse: Matrix


@dataclass(frozen=True)
class Algorithm:
    """A bilinear algorithm: y = inverse · [(feature x) ⊛ (filter w)].

    The matrices are nested tuples of floats: constants to a compiler, and hashable.

    Args:
        feature: the matrix A of the features, R×n.
        filter: the matrix B of the filters, R×taps.
        inverse: the matrix C that gives the result, n×R.
        transforms: those of the factors of a group, where the algorithm is made of them.

    Raises:
        ValueError: some result is out of reach of the matrix that gives it.
    """

    feature: Matrix  # A, R × n
    filter: Matrix  # B, R × taps
    inverse: Matrix  # C, n × R
    transforms: tuple[Transform, ...] = field(default=(), repr=False, compare=False)
    #: How much of a bias each product takes, so that all of it reaches every element: inverse · shares = 1.
    shares: tuple[float, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Finds the shares once: a compiler, which meets an algorithm in a layer, reads numbers and solves nothing."""
        object.__setattr__(self, "shares", _shares(np.array(self.inverse)))

    @classmethod
    def of(cls, *transforms: Transform) -> "Algorithm":
        """The algorithm on a product of factors: the numbers of their transforms, multiplied.

        Args:
            transforms: one for each factor.

        Returns:
            The algorithm.
        """
        numbers, features, filters, inverses = zip(*transforms, strict=True)
        sides, result = products(numbers)
        return cls(
            matrix(sides @ _kronecker(features)),
            matrix(sides @ _kronecker(filters)),
            matrix(_kronecker(inverses) @ result),
            transforms,
        )

    @property
    def rank(self) -> int:
        """The number of convolutions that the algorithm takes."""
        return len(self.feature)

    @property
    def feature_steps(self) -> Steps:
        """The matrix of the features as :func:`written_out` takes it: into numbers, and on to what is multiplied."""
        if not self.transforms:
            return ((self.feature,),)
        numbers, features, _, _ = zip(*self.transforms, strict=True)
        return features, (matrix(products(numbers).sides),)

    @property
    def inverse_steps(self) -> Steps:
        """The matrix that gives the result as :func:`written_out` takes it: from products to numbers, and back."""
        if not self.transforms:
            return ((self.inverse,),)
        numbers, _, _, inverses = zip(*self.transforms, strict=True)
        return (matrix(products(numbers).result),), inverses

    def __matmul__(self, other: "Algorithm") -> "Algorithm":
        """The algorithm of the product group, whose rank is at most the product of both."""
        return Algorithm.of(*self.parts, *other.parts)

    @property
    def parts(self) -> tuple[Transform, ...]:
        """Its transforms; one into as many real numbers as it has products, where it is made of none."""
        real: Numbers = (None,) * self.rank
        return self.transforms or (Transform(real, self.feature, self.filter, self.inverse),)


@lru_cache
def transpose(matrix: Matrix) -> Matrix:
    """Gives the rows of a matrix for its columns.

    Args:
        matrix: a matrix.

    Returns:
        Its transpose.

    Example:
        >>> transpose(((1.0, 2.0),))
        ((1.0,), (2.0,))
    """
    return tuple(zip(*matrix, strict=True))


def transposed(steps: Steps) -> Steps:
    """Gives the steps of the transpose of a matrix: the transposes of its own, from the last to the first.

    Args:
        steps: the steps of a matrix.

    Returns:
        Those of its transpose.

    Example:
        >>> transposed(((((1.0, 2.0),),), (((3.0,), (4.0,)),)))
        ((((3.0, 4.0),),), (((1.0,), (2.0,)),))
    """
    return tuple(tuple(map(transpose, step)) for step in reversed(steps))


def written_out(steps: Steps, terms: Sequence[Term]) -> list[Term]:
    """Applies a matrix step by step, and Kronecker products factor by factor, as sums.

    That takes fewer additions than the entries of the matrix do: 68 instead of 172 for the features of hue4-sat3.

    Args:
        steps: those of a matrix, such as :attr:`Algorithm.feature_steps`.
        terms: what it is applied to, as many as the matrix has columns.

    Returns:
        As many sums as the matrix has rows.

    Example:
        >>> written_out(((((1.0, 1.0), (1.0, -1.0)), ((1.0, 2.0),)),), [1.0, 10.0, 100.0, 1000.0])
        [2121.0, -2079.0]
    """
    return reduce(lambda found, factors: _factor_by_factor(factors, found), steps, list(terms))


def _factor_by_factor(factors: Sequence[Matrix], terms: Sequence[Term]) -> list[Term]:
    if not factors:
        return list(terms)
    first, *others = factors
    size = len(terms) // len(first[0])
    blocks = [_factor_by_factor(others, terms[start : start + size]) for start in range(0, len(terms), size)]
    return [_weighted_sum(row, column) for row in first for column in zip(*blocks, strict=True)]


def _weighted_sum(weights: Sequence[float], terms: Sequence[Any]) -> Any:
    total = None
    for weight, term in zip(weights, terms, strict=True):
        if weight:
            weighted = term if weight == 1 else term * weight
            total = weighted if total is None else total + weighted
    return terms[0] * 0.0 if total is None else total


def _shares(inverse: npt.NDArray[np.float64]) -> tuple[float, ...]:
    """Of few products, taken one after another by how much of what is missing they could give."""
    ones, shares, taken = np.ones(len(inverse)), np.zeros(inverse.shape[1]), list[int]()
    while np.abs(missing := ones - inverse @ shares).max() > 1e-12:
        if len(taken) == len(shares):
            raise ValueError(
                "an algorithm must be able to give any result, a 1 for every element among them; the inverse of this "
                f"one, {len(inverse)} × {len(shares)}, cannot"
            )
        gains = np.abs(missing @ inverse) / np.linalg.norm(inverse, axis=0)
        gains[taken] = 0
        taken.append(int(gains.argmax()))
        shares[taken] = np.linalg.lstsq(inverse[:, taken], ones, rcond=None)[0]
    return tuple(tidy(shares).tolist())


def _kronecker(factors: Sequence[Matrix]) -> npt.NDArray[np.float64]:
    return reduce(np.kron, map(np.array, factors))


def tidy(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Rounds away the last bits of what is a multiple of a half."""
    near = np.round(2 * values) / 2
    return np.where(np.abs(values - near) < 1e-12, near, values) + 0.0  # no negative zeros


def matrix(array: npt.NDArray[np.floating[Any]]) -> Matrix:
    """The rows of an array, as constants."""
    return tuple(map(tuple, tidy(np.asarray(array, dtype=np.float64)).tolist()))
