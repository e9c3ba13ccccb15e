"""Colours of networks: one for each kind, the same in every picture, told apart by the colour-blind as well.

Near to those of Okabe and Ito; tests measure how far apart they are with each kind of cone missing. A kind of network
has a colour, and the order of its group a shade of it: Hue-3 is lighter than Hue-4, and Hue-12 darker. The page of
``equicolor app`` has the same.
"""

import math
import re
import zlib
from typing import Literal, TypeAlias

#: What deals with colour in a network.
Kind: TypeAlias = Literal[
    "plain", "grey", "jitter", "balance", "hue", "saturation", "luminance", "light", "ceconv", "canonical", "other"
]

COLORS: dict[Kind, str] = {
    "plain": "#c4560a",
    "grey": "#a8a8a8",
    "jitter": "#e69f00",
    "balance": "#4d4a00",
    "hue": "#0072b2",
    "saturation": "#aa3377",
    "luminance": "#5a2ca0",
    "light": "#56b4e9",
    "ceconv": "#1a1a1a",
    "canonical": "#009e73",
    "other": "#7d5a3c",
}
#: Frames around things that belong together, by their number.
FRAMES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#c4560a", "#56b4e9", "#999999", "#b8a800")

#: What a label contains → the kind; the first that fits. A digit after a factor makes it a group.
_SIGNS: tuple[tuple[str, Kind], ...] = (
    (r"canonical|anchored|gains:", "canonical"),
    (r"ceconv", "ceconv"),
    (r"white balance|gr[ae]y[- ]world|reinhard|macenko", "balance"),
    (r"gr[ae]y", "grey"),
    (r"\bhue-?\d", "hue"),
    (r"\bsat-?\d", "saturation"),
    (r"\blum-?\d", "luminance"),
    (r"\b(light|temp|tint|exp|hema|eosin)-?\d", "light"),
    (r"jitter|\baug", "jitter"),
    (r"plain|conventional|z2cnn|resnet|segmenter|\bconv\b|no group", "plain"),
)
#: The order of a group that has the colour of its kind as it is.
_MIDDLE = 4


def kind_of(label: str) -> Kind:
    """What deals with colour in the network of this label.

    >>> kind_of("Hue-4, tuned"), kind_of("hue-jitter"), kind_of("cells, Z2CNN, grey"), kind_of("canonical:temp-tint")
    ('hue', 'jitter', 'grey', 'canonical')
    """
    small = label.lower()
    return next((kind for sign, kind in _SIGNS if re.search(sign, small)), "other")


def network_color(label: str) -> str:
    """The colour of a network by its label, in a table of the paper's or of anybody's, or by the name of its group.

    >>> network_color("Hue-4") == network_color("hue4") == COLORS["hue"]
    True
    """
    kind = kind_of(label)
    if kind == "other":  # of somebody's own: not the same for all of them
        return shaded(COLORS[kind], (zlib.crc32(label.encode()) % 5 - 2) / 4)
    if kind in ("hue", "saturation", "luminance", "light", "ceconv"):
        order = 1
        for digits in re.findall(r"(?:hue|sat|lum|light|temp|tint|exp|hema|eosin|ceconv)-?(\d+)", label.lower()):
            order *= max(int(digits), 1)
        return shaded(
            COLORS[kind], max(-0.65, min(0.5, 0.4 * math.log2(_MIDDLE / order) * (1 if order > _MIDDLE else 2)))
        )
    return COLORS[kind]


def shaded(color: str, amount: float) -> str:
    """A colour mixed with white, or with black where ``amount``, in [-1, 1], is negative.

    >>> shaded("#0072b2", 0), shaded("#0072b2", 1), shaded("#0072b2", -1)
    ('#0072b2', '#ffffff', '#000000')
    """
    end = 255 if amount > 0 else 0
    parts = (int(color[place : place + 2], 16) for place in (1, 3, 5))
    return "#" + "".join(f"{round(part + abs(amount) * (end - part)):02x}" for part in parts)
