"""Draws the example images of ``equicolor app``: python benchmarks/app_examples.py. The first time takes minutes."""

from pathlib import Path

from PIL import Image

from equicolor.data import Shapes

FOLDER = Path(__file__).parents[1] / "src" / "equicolor" / "app" / "examples"
#: Floor, wall, object hue (0-4 of 10: colours that the networks were trained on), scale, shape, orientation.
CHOSEN = {
    "cube": [(2, 1, 0, 6, 0, 3), (1, 3, 4, 5, 0, 10)],
    "cylinder": [(4, 2, 1, 6, 1, 7), (0, 4, 3, 5, 1, 2)],
    "sphere": [(3, 4, 0, 6, 2, 12), (2, 0, 4, 5, 2, 5)],
    "capsule": [(4, 3, 1, 6, 3, 8), (1, 2, 3, 7, 3, 4)],
}

for name, several in CHOSEN.items():
    for number, image in enumerate(Shapes(image_size=128).render(several), start=1):
        Image.fromarray(image.permute(1, 2, 0).numpy()).save(FOLDER / f"{name}-{number}.png", optimize=True)
