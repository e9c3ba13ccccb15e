"""Which data sets there are: a table of descriptions, with the sizes that their authors and the paper publish."""

from dataclasses import replace

from equicolor.data._description import Description, Hub, Split
from equicolor.data._download import Remote

_TRAIN_TEST = {"train": "train", "test": "test"}
_CIFAR10 = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
_NORB = ("animal", "human", "airplane", "truck", "car")
_MNIST_URL = "https://ossci-datasets.s3.amazonaws.com/mnist/"
_CIFAR_URL = "https://www.cs.toronto.edu/~kriz/"

_DIGITS = Description(
    "digits",
    "scikit-learn's handwritten digits, embedded",
    "digits:read",
    {"train": Split("train", 1_500), "test": Split("test", 297)},
    image_size=28,
    folder="digits",
    grey=True,
)

_MNIST = Description(
    "mnist",
    "handwritten digits",
    "mnist:read",
    {"train": Split("train", 60_000), "test": Split("test", 10_000)},
    image_size=28,
    folder="mnist",
    signs=("train-images*", "t10k-images*"),
    layout="the four IDX files train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and "
    "t10k-labels-idx1-ubyte, plain or with .gz",
    classes=tuple("0123456789"),
    grey=True,
    hub=Hub("ylecun/mnist", splits=_TRAIN_TEST),
    remotes=(
        Remote(_MNIST_URL + "train-images-idx3-ubyte.gz", "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
        Remote(_MNIST_URL + "train-labels-idx1-ubyte.gz", "d53e105ee54ea40749a09fcbcd1e9432"),
        Remote(_MNIST_URL + "t10k-images-idx3-ubyte.gz", "9fb629c4189551a2d022fa330f9573f3"),
        Remote(_MNIST_URL + "t10k-labels-idx1-ubyte.gz", "ec29112dd5afa0611ce80d1b7f02629c"),
    ),
)

# Colours as the paper numbers them: A has 0-4 throughout, B 5-9, C 0-4 for floor and wall and 5-9 for the object.
_FIRST, _SECOND = tuple(range(5)), tuple(range(5, 10))
_BLOCK_A = {"floor_hue": _FIRST, "wall_hue": _FIRST, "object_hue": _FIRST}
_BLOCK_B = {"floor_hue": _SECOND, "wall_hue": _SECOND, "object_hue": _SECOND}
_BLOCK_C = {"floor_hue": _FIRST, "wall_hue": _FIRST, "object_hue": _SECOND}

_SHAPES = Description(
    "shapes3d",
    "3D Shapes, embedded: our renderer, or the original 3dshapes.h5 where there is one",
    "shapes3d:read",
    {
        "all": Split("all", 480_000),
        "train": Split("all", 384_000, share=(0, 8, 10)),
        "test": Split("all", 96_000, share=(8, 10, 10)),
    },
    image_size=64,
    folder="shapes3d",
    segmentation_size=64,
    original="3dshapes.h5",
)


def _varied_shapes(
    factor: str, low: tuple[float, float], middle: tuple[float, float], high: tuple[float, float]
) -> dict[str, Split]:
    """Training and test A in the middle of a factor's range, B below it and C above it, on different shapes each."""
    return {
        "train": Split("all", 48_000, share=(0, 4, 40), drawn={factor: middle}),
        "test_a": Split("all", 12_000, share=(4, 5, 40), drawn={factor: middle}),
        "test_b": Split("all", 12_000, share=(5, 6, 40), drawn={factor: low}),
        "test_c": Split("all", 12_000, share=(6, 7, 40), drawn={factor: high}),
    }


_ALL = (
    _DIGITS,
    replace(
        _DIGITS,
        name="hue_shift_digits",
        title="the embedded digits under the hue shift of Hue-shift MNIST",
        splits={
            "train": replace(_DIGITS.splits["train"], shift="hue:0..240"),
            "test_a": replace(_DIGITS.splits["test"], shift="hue:0..240"),
            "test_b": replace(_DIGITS.splits["test"], shift="hue:240..360"),
        },
    ),
    _MNIST,
    replace(
        _MNIST,
        name="hue_shift_mnist",
        title="the paper's Hue-shift MNIST: training and A with hues in [0°, 240°), B in [240°, 360°)",
        splits={
            "train": Split("train", 60_000, shift="hue:0..240"),
            "test_a": Split("test", 10_000, shift="hue:0..240"),
            "test_b": Split("test", 10_000, shift="hue:240..360"),
        },
        hub=replace(_MNIST.hub, splits={"train": "train", "test_a": "test", "test_b": "test"}),  # type: ignore[type-var]
    ),
    _SHAPES,
    replace(
        _SHAPES,
        name="hue_shift_shapes3d",
        title="the paper's Hue-shift 3D Shapes: training and A with colours 0-4, B with 5-9, C with 5-9 on the object",
        splits={
            "train": Split("all", 48_000, only=_BLOCK_A, share=(0, 4, 5)),
            "test_a": Split("all", 12_000, only=_BLOCK_A, share=(4, 5, 5)),
            "test_b": Split("all", 12_000, only=_BLOCK_B, share=(4, 5, 5)),
            "test_c": Split("all", 12_000, only=_BLOCK_C, share=(4, 5, 5)),
        },
        image_size=32,  # the paper downsamples by 2
        segmentation_size=32,
    ),
    replace(
        _SHAPES,
        name="saturation_shift_shapes3d",
        title="embedded shapes: training and A of middle saturation, B below, C above",
        splits=_varied_shapes("saturation", (0.1, 0.4), (0.4, 0.7), (0.7, 1.0)),
        image_size=32,
        segmentation_size=32,
        original="",
    ),
    replace(
        _SHAPES,
        name="luminance_shift_shapes3d",
        title="embedded shapes: training and A in middle light, B darker, C brighter",
        splits=_varied_shapes("luminance", (-1.5, -0.5), (-0.5, 0.5), (0.5, 1.5)),
        image_size=32,
        segmentation_size=32,
        original="",
    ),
    Description(
        "camelyon17",
        "tumour in tissue patches, from hospitals 1, 2, 3 (training) and 5 (test); WILDS release",
        "camelyon17:read",
        {
            "train": Split("all", 302_436, only={"center": (0, 3, 4), "split": (0,)}),
            "val": Split("all", 34_904, only={"center": (1,)}),
            "id_val": Split("all", 33_560, only={"center": (0, 3, 4), "split": (1,)}),
            "test": Split("all", 85_054, only={"center": (2,)}),
            # One for each hospital, as the paper numbers them, for statistics. The hub's tables do not tell them apart.
            "hospital_1": Split("all", 59_436, only={"center": (0,)}),
            "hospital_2": Split("all", 129_838, only={"center": (3,)}),
            "hospital_3": Split("all", 146_722, only={"center": (4,)}),
            "hospital_4": Split("all", 34_904, only={"center": (1,)}),
            "hospital_5": Split("all", 85_054, only={"center": (2,)}),
        },
        image_size=96,
        folder="camelyon17",
        signs=("metadata.csv", "camelyon17_v*/metadata.csv"),
        layout="metadata.csv and the folder patches of the WILDS release (camelyon17_v1.0)",
        classes=("normal", "tumor"),
        hub=Hub(
            "jxie/camelyon17",
            splits={"train": "id_train", "id_val": "id_val", "val": "ood_val", "test": "ood_test"},
            selects=True,
        ),
    ),
    Description(
        "cifar10",
        "CIFAR-10",
        "cifar:read_cifar10",
        {"train": Split("train", 50_000), "test": Split("test", 10_000)},
        image_size=32,
        folder="cifar10",
        signs=("cifar-10-batches-bin", "cifar-10-batches-py", "test_batch*"),
        layout="the folder cifar-10-batches-bin or cifar-10-batches-py of the original release",
        classes=_CIFAR10,
        hub=Hub("uoft-cs/cifar10", image="img", splits=_TRAIN_TEST),
        remotes=(
            Remote(_CIFAR_URL + "cifar-10-binary.tar.gz", "c32a1d4ab5d03f1284b67883e8d87530", "cifar-10-batches-bin"),
        ),
    ),
    Description(
        "cifar100",
        "CIFAR-100, its fine classes, in the paper's 40k/10k/10k",
        "cifar:read_cifar100",
        {
            "train": Split("train", 40_000, share=(0, 4, 5)),
            "val": Split("train", 10_000, share=(4, 5, 5)),
            "test": Split("test", 10_000),
        },
        image_size=32,
        folder="cifar100",
        signs=("cifar-100-binary", "cifar-100-python", "fine_label_names.txt", "meta"),
        layout="the folder cifar-100-binary or cifar-100-python of the original release",
        hub=Hub("uoft-cs/cifar100", "img", "fine_label", {"train": "train", "val": "train", "test": "test"}),
        remotes=(
            Remote(_CIFAR_URL + "cifar-100-binary.tar.gz", "03b5dce01913d631647c71ecec9e9cb8", "cifar-100-binary"),
        ),
    ),
    Description(
        "caltech101",
        "Caltech-101, classes or (task='segmentation') masks of the objects",
        "caltech101:read",
        {
            "train": Split("all", 6_941, share=(0, 8, 10)),
            "val": Split("all", 868, share=(8, 9, 10)),
            "test": Split("all", 868, share=(9, 10, 10)),
            # The paper's classification experiment: two thirds for training, one third for testing.
            "two_thirds": Split("all", 5_784, share=(0, 2, 3)),
            "one_third": Split("all", 2_893, share=(2, 3, 3)),
        },
        image_size=256,
        folder="caltech101",
        signs=("101_ObjectCategories", "caltech-101/101_ObjectCategories"),
        layout="the folder 101_ObjectCategories and, for segmentation, the folder Annotations",
        segmentation_size=224,
        hub=Hub(
            "flwrlabs/caltech101",
            splits=dict.fromkeys(("train", "val", "test", "two_thirds", "one_third"), "train"),
        ),
    ),
    Description(
        "stanford_cars",
        "Stanford Cars, 196 models",
        "stanford_cars:read",
        {"train": Split("train", 8_144), "test": Split("test", 8_041)},
        image_size=256,
        folder="stanford_cars",
        signs=("devkit", "cars_train", "stanford_cars/devkit"),
        layout="the folders cars_train, cars_test and devkit (with cars_meta.mat and cars_train_annos.mat), and "
        "cars_test_annos_withlabels.mat",
        hub=Hub("tanganke/stanford_cars", splits=_TRAIN_TEST),
    ),
    Description(
        "oxford_pets",
        "Oxford-IIIT Pets, 37 breeds",
        "oxford_pets:read",
        {"train": Split("trainval", 3_680), "test": Split("test", 3_669)},
        image_size=256,
        folder="oxford_pets",
        signs=("annotations/trainval.txt",),
        layout="the folders images and annotations",
        hub=Hub("timm/oxford-iiit-pet", splits=_TRAIN_TEST),
    ),
    Description(
        "stl10",
        "STL-10",
        "stl10:read",
        {"train": Split("train", 5_000), "test": Split("test", 8_000)},
        image_size=96,
        folder="stl10",
        signs=("stl10_binary", "train_X.bin", "test_X.bin"),
        layout="the folder stl10_binary with train_X.bin, train_y.bin, test_X.bin and test_y.bin",
        hub=Hub("tanganke/stl10", splits=_TRAIN_TEST),
    ),
    Description(
        "small_norb",
        "small NORB, left camera: training and A with lighting 2-3, B with 0-1, C with 4-5",
        "small_norb:read",
        {
            "train": Split("train", 8_100, only={"lighting": (2, 3)}),
            "test_a": Split("test", 8_100, only={"lighting": (2, 3)}),
            "test_b": Split("test", 8_100, only={"lighting": (0, 1)}),
            "test_c": Split("test", 8_100, only={"lighting": (4, 5)}),
        },
        image_size=96,
        folder="small_norb",
        signs=("smallnorb-*",),
        layout="the six files smallnorb-5x46789x9x18x6x2x96x96-training-{dat,cat,info}.mat and "
        "smallnorb-5x01235x9x18x6x2x96x96-testing-{dat,cat,info}.mat, plain or with .gz",
        classes=_NORB,
        grey=True,
        hub=Hub(
            "Ramos-Ramos/smallnorb",
            "image_lt",
            "category",
            {"train": "train", "test_a": "test", "test_b": "test", "test_c": "test"},
        ),
    ),
    Description(
        "tiny_imagenet",
        "Tiny-ImageNet, 200 classes; tested on its validation images, as the test images have no labels",
        "imagenet:read_tiny",
        {"train": Split("train", 100_000), "test": Split("val", 10_000)},
        image_size=64,
        folder="tiny_imagenet",
        signs=("tiny-imagenet-200", "wnids.txt"),
        layout="the folder tiny-imagenet-200",
        hub=Hub("zh-plus/tiny-imagenet", splits={"train": "train", "test": "valid"}),
    ),
    Description(
        "imagenet",
        "ImageNet (ILSVRC 2012); tested on its validation images",
        "imagenet:read",
        {"train": Split("train", 1_281_167), "test": Split("val", 50_000)},
        image_size=256,
        folder="imagenet",
        signs=("train", "val"),
        layout="the folders train and val, each with 1,000 folders of images named by WordNet ids",
        hub=Hub("ILSVRC/imagenet-1k", splits={"train": "train", "test": "validation"}),
    ),
    Description(
        "folder",
        "your own images, in one folder for each class",
        "folder:read",
        {
            "train": Split("all", share=(0, 8, 10)),
            "val": Split("all", share=(8, 9, 10)),
            "test": Split("all", share=(9, 10, 10)),
            "all": Split("all"),
        },
        image_size=256,
        folder="",
        layout="<split>/<class>/<image> or <class>/<image>",
    ),
)

#: Every data set by name.
DATASETS: dict[str, Description] = {description.name: description for description in _ALL}
