"""No file, whatever happened to it, does more than to be refused in a line: no crash, no hang, nothing executed."""

import math

import pytest

from faults.cases import CASES
from faults.harness import try_damaged

#: Damaged files in all: in ``make test``, in ``make test-faults``, and in its full size.
FILES = (400, 2_400, 12_000)


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_damaged_files_are_read_or_refused_in_a_line_that_names_them(case, tmp_path, amount, record_property):
    each = amount(*FILES) / sum(1 / other.cost for other in CASES.values())
    outcome = try_damaged(case, tmp_path, range(math.ceil(each / case.cost)))
    for kind, count in outcome.counts.items():
        record_property(f"files {kind}", count)
    assert not outcome.problems, "\n".join(outcome.problems)
