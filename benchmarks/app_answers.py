"""How much the app computes to answer, without the browser: OMP_NUM_THREADS=1 python benchmarks/app_answers.py.

Seconds of one core, which do not depend on what else the machine is doing.
"""

import statistics
import time

from equicolor.app import example_pictures
from equicolor.app._networks import set_stage
from equicolor.app._tab_inside import inside_page
from equicolor.app._tab_recolor import Recolor
from equicolor.app._tab_sort import sort_page

stage = set_stage()
pictures = example_pictures()
tab = Recolor(stage)
rest = [0.0] * (len(tab.moves) - 1)


def median_ms(calls):
    """The median over calls, in milliseconds; the first is for warming up."""
    times = []
    for call in calls:
        start = time.process_time()
        call()
        times.append(1e3 * (time.process_time() - start))
    return statistics.median(times[1:])


LAYER = "after the second convolution, rectified"
ASKED = {
    "another image: bars and new curves": [
        lambda image=image: tab.shown(image, "Hue-4", image.label, "hue", 0.0, *rest) for image in pictures
    ],
    "a slider moved": [
        lambda far=far: tab.shown(pictures[0], "Hue-4", pictures[0].label, "hue", far, *rest)
        for far in range(0, 200, 10)
    ],
    "a look inside": [
        lambda far=far: inside_page(stage, pictures[0], "Hue-4", float(far), LAYER) for far in range(0, 200, 10)
    ],
    "18 images sorted": [lambda: sort_page(stage, None)] * 5,
}
for what, calls in ASKED.items():
    print(f"{what}: {median_ms(calls):.0f} ms of one core")
