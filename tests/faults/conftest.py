"""How much is damaged and killed, ``pytest tests/faults --faults short|minutes|full``, and what came of it."""

from collections import Counter

import pytest


@pytest.fixture
def amount(request):
    """Picks one of three numbers."""
    size = request.config.getoption("--faults")
    return lambda short, minutes, full: {"short": short, "minutes": minutes, "full": full}[size]


def pytest_terminal_summary(terminalreporter):
    """The figures of docs/reliability.md: what the tests recorded, summed."""
    counts = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, count in getattr(report, "user_properties", ()) if getattr(report, "when", "") == "call" else ():
                counts[name] += count
    if counts:
        terminalreporter.write_line("faults: " + ", ".join(f"{count:,} {name}" for name, count in counts.items()))
