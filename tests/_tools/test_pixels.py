"""Image files of every kind: as RGB of 8 bits, or refused with the reason."""

import io
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import equicolor
from equicolor._tools import pixels
from equicolor._tools.images import CorruptImageError, Decoding, decode, picture, sides

SOURCE = Path(equicolor.__file__).parent


def encoded(image, kind="PNG", **options):
    data = io.BytesIO()
    image.save(data, format=kind, **options)
    return data.getvalue()


def read(data, size=2, fit="crop"):
    return decode(data, Decoding(size, fit), lambda: "this file")


def tiff(bits, values, zero_is=1, kind=1):
    """A grey TIFF file of one strip, 2 pixels wide: what PIL reads and cannot write."""
    numbers = [(256, 4, 2), (257, 4, 2), (258, 3, bits), (259, 3, 1), (262, 3, zero_is), (273, 4, 8), (277, 3, 1)]
    numbers += [(278, 4, 2), (279, 4, len(values)), (339, 3, kind)]
    entries = b"".join(struct.pack("<HHII", tag, width, 1, value) for tag, width, value in numbers)
    return b"II*\0" + struct.pack("<I", 8 + len(values)) + values + struct.pack("<H", len(numbers)) + entries + bytes(4)


# ------------------------------------------------------------------------------------------------ ranges


def test_every_file_in_the_package_is_opened_in_one_place():
    hands_over = [path.name for path in SOURCE.rglob("*.py") if "pil.open(" in path.read_text(encoding="utf-8")]
    assert hands_over == ["pixels.py"]


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "PPM"])
def test_numbers_of_16_bits_are_divided_by_257(kind):
    values = np.array([[0, 257], [65535, 32896]], dtype=np.uint16)
    assert read(encoded(Image.fromarray(values), kind))[..., 0].tolist() == [[0, 1], [255, 128]]


def test_colours_of_16_bits_keep_their_upper_half():
    # Written by hand, as PIL writes 8 bits only: a PPM of 2×2 pixels whose numbers go up to 65535.
    values = np.array([0, 257, 65535, 32896, 2570, 5140] * 2, dtype=">u2")
    assert read(b"P6 2 2 65535\n" + values.tobytes())[0].tolist() == [[0, 1, 255], [128, 10, 20]]


def test_numbers_of_12_bits_fill_the_range():
    # 0, 4095, 2048 and 273, 3 bytes for 2 of them.
    assert read(tiff(12, bytes.fromhex("000fff800111")))[..., 0].tolist() == [[0, 255], [127, 17]]


def test_where_zero_is_white_zero_is_white():
    values = np.array([0, 65535, 257, 514], dtype="<u2").tobytes()
    assert read(tiff(16, values, zero_is=0))[..., 0].tolist() == [[255, 0], [254, 253]]
    assert read(tiff(16, values))[..., 0].tolist() == [[0, 255], [1, 2]]


def test_floats_between_0_and_1_fill_the_range():
    values = np.array([[0, 1], [0.5, 0.2]], dtype=np.float32)
    assert read(encoded(Image.fromarray(values), "TIFF"))[..., 0].tolist() == [[0, 255], [128, 51]]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.array([[0.0, 255.0]]), r"floats from 0 to 255, expected \[0, 1\]"),
        (np.array([[-0.5, 1.0]]), "floats from -0.5 to 1"),
        (np.array([[0.5, np.nan]]), "not all of them are finite"),
        (np.array([[0.5, np.inf]]), "not all of them are finite"),
        (np.array([[0, 70000]], dtype=np.int32), "32 bits, from 0 to 70000"),
        (np.array([[0, 200]], dtype=np.int32), "32 bits, from 0 to 200"),
    ],
)
def test_ranges_that_nobody_can_know_are_refused_with_the_range_found(values, message):
    values = values.astype(np.float32) if values.dtype == np.float64 else values
    with pytest.raises(CorruptImageError, match=message):
        read(encoded(Image.fromarray(values), "TIFF"))
    with pytest.raises(ValueError, match=message):
        picture(Image.fromarray(values), Decoding(2))


# ------------------------------------------------------------------------------------------------ transparency, modes

WHITE = [255, 255, 255]


def test_hidden_colours_stay_hidden_on_white():
    image = Image.new("RGBA", (2, 2), (10, 20, 30, 255))
    image.putpixel((0, 0), (200, 0, 0, 0))
    image.putpixel((1, 0), (0, 0, 0, 51))  # a fifth of black
    for data in (encoded(image), encoded(image, "WEBP", lossless=True, exact=True), encoded(image, "TIFF")):
        assert read(data).tolist() == [[WHITE, [204, 204, 204]], [[10, 20, 30]] * 2]
    assert picture(image, Decoding(2)).tolist() == read(encoded(image)).tolist()


def test_an_opaque_image_with_an_alpha_channel_is_as_it_is_without():
    noise = np.random.default_rng(0).integers(0, 256, (9, 9, 3), dtype=np.uint8)
    opaque = Image.fromarray(noise)
    opaque.putalpha(255)
    assert np.array_equal(read(encoded(opaque), 9), noise)


def test_transparent_greys_palettes_and_colours_are_white():
    grey = Image.new("LA", (2, 2), (9, 255))
    grey.putpixel((0, 0), (77, 0))
    assert read(encoded(grey))[0].tolist() == [WHITE, [9] * 3]

    palette = Image.new("P", (2, 2), 1)
    palette.putpalette([200, 0, 0, 0, 0, 200])
    palette.putpixel((0, 0), 0)
    for kind, hidden in (("PNG", 0), ("PNG", b"\0\xff"), ("GIF", 0)):
        assert read(encoded(palette, kind, transparency=hidden))[0].tolist() == [WHITE, [0, 0, 200]]

    colours = Image.new("RGB", (2, 2), (1, 2, 3))
    colours.putpixel((0, 0), (200, 0, 0))
    assert read(encoded(colours, transparency=(200, 0, 0)))[0].tolist() == [WHITE, [1, 2, 3]]

    wide = Image.fromarray(np.array([[2570, 5140]] * 2, dtype=np.uint16))
    assert read(encoded(wide, transparency=2570))[0].tolist() == [WHITE, [20] * 3]


def test_one_bit_cmyk_and_palettes_become_rgb():
    bits = Image.new("1", (2, 2))
    bits.putpixel((0, 0), 1)
    for kind in ("PNG", "BMP", "TIFF"):
        assert read(encoded(bits, kind))[0].tolist() == [WHITE, [0, 0, 0]]
    assert read(encoded(Image.new("CMYK", (2, 2), (255, 0, 0, 0)), "TIFF"))[0, 0].tolist() == [0, 255, 255]
    jpeg = read(encoded(Image.new("CMYK", (8, 8), (0, 0, 0, 0)), "JPEG"), 8)
    assert jpeg.min() > 250


def test_an_animation_is_its_first_frame():
    frames = [Image.new("RGB", (2, 2), colour) for colour in ("red", "lime")]
    for kind, options in (("GIF", {}), ("WEBP", {"lossless": True}), ("TIFF", {})):
        data = encoded(frames[0], kind, save_all=True, append_images=frames[1:], **options)
        assert read(data)[0, 0].tolist() == [255, 0, 0]


def test_photographs_are_turned_as_their_camera_says():
    image = Image.new("RGB", (16, 8), "black")
    image.paste("white", (0, 0, 8, 8))
    exif = Image.Exif()
    exif[0x0112] = 6  # was held upright: turn it by 90° to the right
    turned = read(encoded(image, "PNG", exif=exif), 8, "stretch")
    assert turned[:3].min() == 255
    assert turned[5:].max() == 0


# ------------------------------------------------------------------------------------------------ what is no image


def test_postscript_is_refused_whatever_it_is_called(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n")
    with Image.open(path) as image:
        assert image.format == "EPS"  # so PIL would take it
    with pytest.raises(CorruptImageError, match="holds none of BMP, GIF, JPEG, PNG, PPM, TIFF, WEBP"):
        read(path)
    assert sides(path) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
def test_pipes_sockets_devices_and_folders_do_not_make_it_wait(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe.png")
    with socket.socket(socket.AF_UNIX) as listening:
        monkeypatch.chdir(tmp_path)  # a socket's path is short
        listening.bind("socket.png")
        kinds = {"pipe.png": "a named pipe", "socket.png": "a socket", "/dev/zero": "a device", ".": "a folder"}
        for name, kind in kinds.items():
            with pytest.raises(CorruptImageError, match=f"it is {kind}, not a regular file"):
                read(tmp_path / name)


def test_any_failure_of_a_decoder_is_a_corrupt_image(monkeypatch):
    def fails(image):
        raise MemoryError

    monkeypatch.setattr("equicolor._tools.images.upright", fails)
    with pytest.raises(CorruptImageError, match=r"this file cannot be read as an image \(MemoryError\)"):
        read(encoded(Image.new("RGB", (2, 2))))


# ------------------------------------------------------------------------------------------------ sizes


def test_an_image_of_too_many_pixels_is_refused_and_the_limit_can_be_set(monkeypatch):
    data = encoded(Image.new("L", (20, 10)))
    monkeypatch.setenv("EQUICOLOR_MAX_PIXELS", "199")
    with pytest.raises(CorruptImageError, match="20×10 pixels, more than the 199 that are decoded"):
        read(data)
    with pytest.raises(ValueError, match="image_size must be at most 14 pixels"):
        Decoding(15)
    monkeypatch.setenv("EQUICOLOR_MAX_PIXELS", "200")
    assert read(data).shape == (2, 2, 3)
    monkeypatch.setenv("EQUICOLOR_MAX_PIXELS", "many")
    with pytest.raises(ValueError, match="EQUICOLOR_MAX_PIXELS is a positive number of pixels, got 'many'"):
        Decoding(15)


def test_a_limit_above_that_of_pil_is_told_to_pil(monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    monkeypatch.setattr(pixels, "MOST_PIXELS", 100)
    data = encoded(Image.new("L", (30, 10)))
    with pytest.raises(CorruptImageError, match="EQUICOLOR_MAX_PIXELS sets another limit"):
        read(data)
    monkeypatch.setenv("EQUICOLOR_MAX_PIXELS", "300")
    assert read(data).shape == (2, 2, 3)


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("length", [99, 100])
def test_a_long_image_is_cut_before_it_is_scaled_and_shows_the_same_centre(wide, length):
    image = Image.fromarray(np.random.default_rng(0).integers(0, 256, (4, length, 3), dtype=np.uint8))
    image = image if wide else image.transpose(Image.Transpose.ROTATE_90)
    scaled = image.resize((length * 3, 12) if wide else (12, length * 3), Image.Resampling.BILINEAR)
    left, top = ((side - 12) // 2 for side in scaled.size)
    whole = np.asarray(scaled.crop((left, top, left + 12, top + 12)))
    assert np.array_equal(picture(image, Decoding(12)), whole)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="measures memory as Linux does")
@pytest.mark.parametrize("fit", ["crop", "stretch"])
@pytest.mark.parametrize("shape", [(5_000_000, 1), (1, 5_000_000)])
def test_an_image_of_extreme_shape_takes_little_memory(shape, fit, tmp_path):
    path = tmp_path / "long.png"
    Image.new("L", shape, 100).save(path)
    program = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from equicolor._tools.images import Decoding, decode\n"
        "decode(Path(sys.argv[2]), Decoding(224, sys.argv[3]), str)\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "image = decode(Path(sys.argv[1]), Decoding(224, sys.argv[3]), str)\n"
        "assert (image == 100).all() and image.shape == (224, 224, 3)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    usual = tmp_path / "usual.png"
    Image.new("L", (300, 200)).save(usual)
    environment = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
    done = subprocess.run(
        [sys.executable, "-c", program, path, usual, fit], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 200_000  # kilobytes; scaled whole, it would be gigabytes
