"""Columns: test sets, and the domains within them, told whether they were seen in training."""

from dataclasses import replace

import pytest

from equicolor.comparison._columns import columns_of
from equicolor.data import Column as Names
from equicolor.data import load


def images(domains, split="test"):
    found = load("digits", split=split).subset(range(len(domains)))
    return replace(found, domains=None if domains[0] is None else Names.of(domains))


def test_a_set_without_domains_is_one_column():
    (column,) = columns_of(images([None] * 40, "train"), {"test": images([None] * 20)})
    assert (column.name, column.split, column.domain, column.seen, column.images) == ("test", "test", None, None, 20)
    assert column.spoken == "test"


def test_domains_of_a_set_follow_it_and_are_told_seen_or_not():
    train = images(["blue"] * 40, "train")
    columns = columns_of(train, {"test": images(["blue", "pink"] * 10), "lab3": images(["green"] * 8)})
    assert [(column.name, column.domain, column.seen, column.images) for column in columns] == [
        ("test", None, None, 20),
        ("test: blue", "blue", True, 10),
        ("test: pink", "pink", False, 10),
        ("lab3", None, False, 8),
    ]
    assert columns[2].spoken == "test: pink (not seen in training)"


def test_few_images_of_one_class_make_a_balanced_error_uncertain():
    found = load("digits", split="test")
    few = found.subset([*(found.labels == 0).nonzero().flatten()[:20], *(found.labels == 1).nonzero().flatten()[:2]])
    (column,) = columns_of(found, {"test": few})
    assert column.size == pytest.approx(4 / (1 / 20 + 1 / 2))
