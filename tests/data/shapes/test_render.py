"""Shapes is a benchmark: every factor changes only what it should, and the same index is always the same picture."""

import hashlib
import itertools
import math
import os
import pickle
import subprocess
import sys

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from equicolor import color
from equicolor.data.shapes import FACTORS, SHAPES, SIZE, Shapes, to_factors, to_indices

SURFACES = ("floor", "wall", "object")
FLOOR, WALL, OBJECT, SKY = range(4)


@pytest.fixture(scope="module")
def shapes():
    return Shapes(image_size=32, cache=False)


def drawn(count, seed=0):
    """Indices of random images."""
    return torch.randint(SIZE, (count,), generator=torch.Generator().manual_seed(seed))


def varied(name, others):
    """The images of these factors ``[B, 6]`` at every value of the named one, ``[values, B, 6]``."""
    factors = others.expand(FACTORS[name], -1, -1).clone()
    factors[:, :, list(FACTORS).index(name)] = torch.arange(FACTORS[name])[:, None]
    return factors


def hsl(images):
    return color.rgb_to_hsl(images.double() / 255).unbind(1)


# ------------------------------------------------------------------------------------------------ factors


def test_factors_have_the_order_and_sizes_of_the_original():
    expected = {"floor_hue": 10, "wall_hue": 10, "object_hue": 10, "scale": 8, "shape": 4, "orientation": 15}
    assert list(FACTORS.items()) == list(expected.items())
    assert math.prod(FACTORS.values()) == SIZE == len(Shapes()) == 480_000
    assert SHAPES == ("cube", "cylinder", "sphere", "capsule")


def test_the_last_factor_varies_fastest():
    expected = torch.stack(torch.unravel_index(torch.arange(SIZE), tuple(FACTORS.values())), dim=1)
    assert torch.equal(to_factors(torch.arange(SIZE)), expected)
    assert torch.equal(to_indices(expected), torch.arange(SIZE))


def test_indices_and_factors_name_the_same_images(shapes):
    indices = drawn(5)
    assert torch.equal(shapes.render(to_factors(indices)), shapes.render(indices))
    assert torch.equal(shapes[int(indices[3])], shapes.render(indices)[3])


# ------------------------------------------------------------------------------------------------ the same pixels


def test_the_same_index_gives_the_same_pixels_on_every_machine(shapes):
    # Should the picture be changed on purpose: raise _geometry.VERSION with these.
    indices = torch.arange(0, SIZE, 7_501)
    assert digest(shapes.render(indices)) == "25844d0d460e0fd4"
    amounts = torch.arange(1, 65) / 64  # exact in binary
    assert digest(shapes.render(indices, saturation=amounts, lighting=4 * amounts)) == "99fc5286c3ad0b2c"


def digest(images):
    return hashlib.sha256(images.numpy().tobytes()).hexdigest()[:16]


def test_a_processor_without_vector_instructions_gives_the_same_pixels():
    program = """if True:
        import torch
        from equicolor.data import Shapes
        image = Shapes(image_size=8, cache=False).render(torch.arange(0, 480_000, 7_501), 0.7, 1.3)
        print(image.numpy().tobytes().hex())
    """
    plain = {"NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX2 FMA3 AVX512F", "ATEN_CPU_CAPABILITY": "default"}
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env={**os.environ, **plain, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    here = Shapes(image_size=8, cache=False).render(torch.arange(0, SIZE, 7_501), 0.7, 1.3)
    assert bytes.fromhex(result.stdout.strip()) == here.numpy().tobytes()


def test_an_image_does_not_depend_on_its_batch(shapes):
    indices = drawn(150)  # more than are composed at a time
    lighting = torch.linspace(0.5, 2, 150)
    together = shapes.render(indices, lighting=lighting)
    alone = [shapes.render([i], lighting=k)[0] for i, k in zip(indices.tolist(), lighting.tolist(), strict=True)]
    assert torch.equal(together, torch.stack(alone))


def test_default_dtype_and_threads_do_not_matter(shapes):
    expected = shapes.render(drawn(8), saturation=0.7, lighting=1.3)
    threads = torch.get_num_threads()
    try:
        torch.set_default_dtype(torch.float64)
        torch.set_num_threads(3)
        assert torch.equal(shapes.render(drawn(8), saturation=0.7, lighting=1.3), expected)
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_num_threads(threads)


def test_a_default_device_elsewhere_does_not_matter(shapes):
    factors = to_factors(drawn(4))
    expected = shapes.render(factors)
    with torch.device("meta"):
        assert torch.equal(shapes.render(factors, saturation=1.0), expected)


def test_a_renderer_travels_to_a_worker(shapes):
    assert torch.equal(pickle.loads(pickle.dumps(shapes)).render([7]), shapes.render([7]))


# ------------------------------------------------------------------------------------------------ colour


def assert_surfaces_have(images, coverage, hues, saturation):
    """Floor, wall and object have the hues ``[B, 3]`` of their factors and this saturation, as 8 bits can tell."""
    degrees, saturations, luminances = hsl(images)
    chroma = images.amax(1).double() - images.amin(1)
    room = 255 * 2 * torch.minimum(luminances, 1 - luminances)  # the chroma of saturation 1
    for surface in (FLOOR, WALL, OBJECT):
        pure = coverage[:, surface] == 1
        turned = (degrees - 36.0 * hues[:, surface, None, None] + 180).remainder(360) - 180
        # Each channel is rounded by half a step: of the chroma that is a whole one, of the hue a sextant over it.
        assert (turned.abs() <= 60 / chroma + 1e-9)[pure].all()
        assert ((saturations - saturation).abs() * room <= 1.05)[pure].all()


@pytest.mark.parametrize("surface", [FLOOR, WALL, OBJECT], ids=SURFACES)
def test_the_hue_of_a_surface_is_its_factor(shapes, surface):
    factors = varied(f"{SURFACES[surface]}_hue", to_factors(drawn(20))).flatten(0, 1)
    coverage = shapes.coverage(factors)
    assert (coverage[:, surface] == 1).flatten(1).any(1).all()
    assert_surfaces_have(shapes.render(factors), coverage, factors[:, :3], saturation=1.0)


@pytest.mark.parametrize("surface", [FLOOR, WALL, OBJECT], ids=SURFACES)
def test_a_hue_factor_colours_its_surface_and_nothing_else(shapes, surface):
    factors = varied(f"{SURFACES[surface]}_hue", to_factors(drawn(20)))
    coverage = shapes.coverage(drawn(20))[:, surface]
    first, *others = (shapes.render(each) for each in factors)
    for other in others:
        changed = (first != other).any(1)
        assert not changed[coverage == 0].any()
        assert changed[coverage == 1].all()


def test_the_sky_is_grey(shapes):
    images, sky = shapes.render(drawn(50)), shapes.coverage(drawn(50))[:, SKY] == 1
    assert sky.any()
    assert torch.equal(images.amax(1)[sky], images.amin(1)[sky])


@pytest.mark.parametrize("steps", range(1, 10))
def test_moving_every_hue_factor_is_a_hue_shift_of_the_image(shapes, steps):
    factors = to_factors(drawn(20))
    moved = torch.cat([(factors[:, :3] + steps) % 10, factors[:, 3:]], dim=1)
    shifted = color.shift_hue(shapes.render(factors).double() / 255, 36.0 * steps) * 255
    pure = (shapes.coverage(factors) == 1).any(1)[:, None].expand_as(shifted)
    # Both images are rounded, and the shift can add up what it is given of that.
    assert ((shifted - shapes.render(moved)).abs()[pure] <= 2).all()


@given(saturation=st.floats(0, 1), lighting=st.floats(0.2, 5))
def test_saturation_is_that_of_every_surface_and_leaves_hue_and_luminance(shapes, saturation, lighting):
    factors = to_factors(drawn(8))
    coverage = shapes.coverage(factors)
    images, vivid = shapes.render(factors, saturation, lighting), shapes.render(factors, 1.0, lighting)
    assert_surfaces_have(images, coverage, factors[:, :3], saturation)
    pure = (coverage == 1).any(1)
    assert ((hsl(images)[2] - hsl(vivid)[2]).abs() * 255 <= 1 + 1e-9)[pure].all()


@given(saturation=st.floats(0, 1), lighting=st.floats(0.2, 5))
def test_lighting_shifts_luminance_exactly_and_leaves_hue_and_saturation(shapes, saturation, lighting):
    factors = to_factors(drawn(8))
    coverage = shapes.coverage(factors)
    before, after = shapes.render(factors, saturation), shapes.render(factors, saturation, lighting)
    assert_surfaces_have(after, coverage, factors[:, :3], saturation)
    shifted = color.rgb_to_hsl(color.shift_luminance(before.double() / 255, math.log(lighting)))[:, 2]
    # The shift stretches the half step by which its input is rounded.
    rounding = 0.5 + 0.5 * max(lighting, 1 / lighting) + 0.05
    assert ((hsl(after)[2] - shifted).abs() * 255 <= rounding)[(coverage == 1).any(1)].all()


def test_without_saturation_all_is_grey(shapes):
    images = shapes.render(drawn(20), saturation=0.0)
    assert torch.equal(images.amax(1), images.amin(1))


def test_more_light_is_nowhere_darker(shapes):
    images = [shapes.render(drawn(20), lighting=lighting) for lighting in (0.25, 0.5, 1.0, 2.0, 4.0)]
    for darker, brighter in itertools.pairwise(images):
        assert (darker <= brighter).all()
        assert darker.float().mean() < brighter.float().mean()


def test_amounts_can_be_the_renderers_or_one_for_all_or_one_for_each(shapes):
    indices = drawn(6)
    for_each = shapes.render(indices, torch.full((6,), 0.5), torch.full((6,), 2.0))
    assert torch.equal(shapes.render(indices, 0.5, 2.0), for_each)
    assert torch.equal(Shapes(32, saturation=0.5, lighting=2.0, cache=False).render(indices), for_each)


# ------------------------------------------------------------------------------------------------ geometry


def every_geometry(shapes):
    """Coverage of all variants, ``[scale, shape, orientation, surface, S, S]``."""
    return shapes.coverage(torch.arange(480)).view(8, 4, 15, 4, 32, 32)


def test_a_larger_scale_is_a_larger_object(shapes):
    areas = every_geometry(shapes)[:, :, :, OBJECT].sum((-2, -1))
    assert (areas[1:] > 1.1 * areas[:-1]).all()


def test_no_two_shapes_have_one_outline(shapes):
    objects = every_geometry(shapes)[:, :, :, OBJECT]
    for one, other in itertools.combinations(objects.unbind(1), 2):
        common = torch.minimum(one, other).sum((-2, -1)) / torch.maximum(one, other).sum((-2, -1))
        assert (common < 0.93).all()


def test_orientation_walks_round_the_object(shapes):
    round_ones = every_geometry(shapes)[:, 1:, :, OBJECT]
    # A ray that grazes the object may fall on either side of its outline as the sine of the angle is rounded.
    assert ((round_ones - round_ones[:, :, :1]).abs() <= 2 / 64).all()
    walls = every_geometry(shapes)[0, 0, :, WALL]
    assert all((one != other).any() for one, other in itertools.pairwise(walls))


def test_opposite_orientations_are_mirror_images_but_for_the_light(shapes):
    coverage = every_geometry(shapes)
    assert torch.equal(coverage.flip(2).flip(-1), coverage)
    assert len(coverage[0, 0].flatten(1).unique(dim=0)) == 15


def test_the_whole_object_is_in_the_picture(shapes):
    objects = every_geometry(shapes)[:, :, :, OBJECT]
    border = torch.ones(32, 32, dtype=torch.bool)
    border[1:-1, 1:-1] = False
    assert not objects[..., border].any()


def test_edges_are_anti_aliased(shapes):
    objects = every_geometry(shapes)[:, :, :, OBJECT].flatten(3)
    mixed = ((objects > 0) & (objects < 1)).sum(-1)
    assert (mixed >= 10).all()


def test_scale_and_shape_leave_wall_and_sky_behind_the_object_as_they_are(shapes):
    one, other = to_factors(drawn(30)), to_factors(drawn(30))
    other[:, 3:5] = to_factors(drawn(30, seed=1))[:, 3:5]
    behind = ((shapes.coverage(one)[:, [WALL, SKY]] == 1) & (shapes.coverage(other)[:, [WALL, SKY]] == 1)).any(1)
    same = (shapes.render(one) == shapes.render(other)).all(1)
    assert behind.any()
    assert same[behind].all()


def test_the_shadow_lies_beside_the_object_away_from_the_lamp_and_is_soft(shapes):
    middle = 7
    for shape in range(4):
        factors = [[0, 0, 0, 5, shape, middle]]
        floor, thing = (shapes.coverage(factors)[0, k] == 1 for k in (FLOOR, OBJECT))
        luminance = hsl(shapes.render(factors))[2][0]
        foot = thing.nonzero()[:, 0].max()
        left, right = luminance[foot - 3 : foot].where(floor[foot - 3 : foot], torch.nan).split(16, dim=1)
        assert right.nanmean() < 0.75 * left.nanmean()
        # From umbra to light there are many shades.
        shades = (right[~right.isnan()] / left.nan_to_num().max() * 20).round().unique()
        assert len(shades) >= 6


# ------------------------------------------------------------------------------------------------ shape and colour


def colour_block():
    """The 60,000 images whose hues are all 0 to 4, and their mean colours."""
    hues = torch.cartesian_prod(*[torch.arange(5)] * 3).repeat_interleave(480, dim=0)
    factors = torch.cat([hues, to_factors(torch.arange(480))[:, 3:].repeat(125, 1)], dim=1)
    return factors, Shapes(image_size=8, cache=False).render(factors).double().mean((2, 3))


def test_hues_say_nothing_about_the_shape():
    # Each triple of hues meets each shape equally often, and by the tests above a surface has the hue of its factor.
    factors = to_factors(torch.arange(SIZE))
    hues, shape = factors[:, :3] @ torch.tensor([100, 10, 1]), factors[:, 4]
    assert torch.equal(torch.bincount(4 * hues + shape), torch.full((4000,), 120))


def test_all_shapes_cover_the_same_share_of_the_picture(shapes):
    areas = every_geometry(shapes)[:, :, :, OBJECT].mean((-2, -1))
    by_shape = areas.mean((0, 2))
    assert by_shape.max() < 1.03 * by_shape.min()
    by_scale_and_shape = areas.mean(2)
    assert (by_scale_and_shape.amax(1) < 1.08 * by_scale_and_shape.amin(1)).all()


def test_a_linear_reading_of_the_mean_colour_hardly_tells_the_shape():
    # At one known triple of hues a fine enough look at colour statistics does tell it, as shading is part of them.
    factors, means = colour_block()
    features = torch.cat([means / 255, torch.ones(len(means), 1)], dim=1)
    targets = torch.nn.functional.one_hot(factors[:, 4]).double()
    guess = (features @ torch.linalg.lstsq(features, targets).solution).argmax(1)
    assert (guess == factors[:, 4]).double().mean() < 0.30  # 1/4 is chance


def test_shape_explains_next_to_nothing_of_the_mean_colour():
    factors, means = colour_block()
    by_shape = torch.stack([means[factors[:, 4] == shape].mean(0) for shape in range(4)])
    assert (by_shape.var(0, correction=0) < 0.01 * means.var(0, correction=0)).all()


# ------------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize("index", [-1, 480_000])
def test_an_index_out_of_range_is_named(shapes, index):
    with pytest.raises(IndexError, match=rf"480,000 images.*{index}"):
        shapes.render([0, index])


def test_a_factor_out_of_range_is_named(shapes):
    with pytest.raises(ValueError, match="shape takes the values 0 to 3, got 4"):
        shapes.render([[0, 0, 0, 0, 4, 0]])


def test_numbers_of_the_wrong_kind_or_shape_are_refused(shapes):
    with pytest.raises(TypeError, match=r"indices as integers, got torch\.float32"):
        shapes.render(torch.rand(3))
    with pytest.raises(ValueError, match=r"factors \[B, 6\].*floor_hue.*\(1, 5\)"):
        shapes.render([[0, 0, 0, 0, 0]])
    with pytest.raises(ValueError, match=r"indices \[B\].*shape \(\)"):
        shapes.render(torch.tensor(3))


@pytest.mark.parametrize("saturation", [-0.1, 1.1, math.nan])
def test_saturation_outside_0_to_1_is_refused(shapes, saturation):
    with pytest.raises(ValueError, match="saturation from 0 to 1, got"):
        shapes.render([0, 1], saturation=torch.tensor([0.5, saturation]))
    with pytest.raises(ValueError, match="saturation"):
        Shapes(saturation=saturation)


@pytest.mark.parametrize("lighting", [1e-3, 1e3])
def test_extreme_light_clips_nothing(shapes, lighting):
    factors = to_factors(drawn(20))
    assert_surfaces_have(shapes.render(factors, 0.5, lighting), shapes.coverage(factors), factors[:, :3], 0.5)


@pytest.mark.parametrize("lighting", [0.0, -1.0, math.inf, math.nan])
def test_no_light_or_no_number_of_it_is_refused(shapes, lighting):
    with pytest.raises(ValueError, match=r"lighting from 0\.001 to 1000, got"):
        shapes.render([0], lighting=lighting)


def test_amounts_for_another_number_of_images_are_refused(shapes):
    with pytest.raises(ValueError, match=r"one for each of 3 images; got shape \(2,\)"):
        shapes.render([0, 1, 2], lighting=torch.ones(2))


@pytest.mark.parametrize("image_size", [0, -3, 2.5, True])
def test_a_size_that_is_none_is_refused(image_size):
    with pytest.raises(ValueError, match="image_size"):
        Shapes(image_size)


def test_no_images_are_no_images(shapes):
    assert shapes.render([]).shape == (0, 3, 32, 32)
