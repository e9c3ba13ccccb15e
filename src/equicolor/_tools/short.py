"""A value in a message: in one line, and not a long one."""


def short(value: object, most: int = 60) -> str:
    r"""A value as Python writes it, or the words of an error, cut where it is long.

    Args:
        value: whatever was given.
        most: letters.

    Returns:
        One line of at most ``most`` letters.

    Example:
        >>> short("hue" * 30)
        "'huehuehuehuehuehuehuehuehuehuehuehuehuehuehuehuehuehuehueh…"
        >>> short(ValueError("no such\n file"))
        'no such file'
    """
    if isinstance(value, Exception):
        text = " ".join(str(value).split())
    else:
        try:
            text = repr(value)
        except (ValueError, RecursionError):  # a number of more digits than Python writes
            text = f"a huge {type(value).__name__}"
    return text if len(text) <= most else f"{text[: most - 1]}…"
