"""What went wrong, said on the page."""

import html
from collections.abc import Sequence

#: Lines of a message; of more, their number.
_MOST = 5


def message(lines: Sequence[str]) -> str:
    """Lines for the user, as HTML that screen readers speak; nothing of none."""
    if not lines:
        return ""
    shown = [*lines[:_MOST], *([f"and {len(lines) - _MOST:,} more"] if len(lines) > _MOST else [])]
    return "".join(f'<p role="alert">{html.escape(line)}</p>' for line in shown)
