"""ImageNet and Tiny-ImageNet: whether hue equivariance costs anything where colours do not shift."""

from equicolor.experiments import Outcome, Published, Runner, Setting, register_experiment
from equicolor.experiments._several import error_over_data
from equicolor.experiments._stand_in import stand_in

_DATA = {"imagenet": "ImageNet", "tiny_imagenet": "Tiny-ImageNet"}
_RECIPES = {"ResNet18": "resnet18", "Hue-3": "hue3", "CEConv-3": "ceconv3"}
_PAPER = {  # over one seed; the paper has no numbers for Tiny-ImageNet
    "ResNet18": Published({"imagenet": (30.66, None)}, "11.7M"),
    "Hue-3": Published({"imagenet": (30.28, None)}, "11.4M"),
    "CEConv-3": Published({"imagenet": (30.71, None)}, "11.4M"),
}


@register_experiment(
    "imagenet",
    title="Classification of ImageNet and Tiny-ImageNet",
    paper="Table “Generalization to color-shift” on ImageNet",
    about="Networks are trained and tested on photographs of 1000 and 200 classes.",
    quick="Small networks on embedded shapes instead of both sets, without the paper's numbers.",
    place=50,
    differs={
        "": (
            "The paper does not say how images are normalised: for ImageNet they are as the authors' code has those of "
            "224 pixels, for Tiny-ImageNet they stay in [0, 1], as there. That code trains on Tiny-ImageNet and has "
            "nothing that reads ImageNet: crops and mirroring are those it has for other photographs."
        )
    },
)
def _run(setting: Setting, runner: Runner) -> Outcome:
    return error_over_data(setting, runner, _DATA, _RECIPES, _PAPER, stand_in("hue_shift_shapes3d"))
