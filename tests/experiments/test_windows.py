"""Windows: what is measured of untrained layers."""

from equicolor.experiments.windows import equivariance_of_windows


def test_valid_windows_are_exact_and_replicated_ones_closer_than_those_of_zeros():
    errors = {
        (record["window"], record["layers"]): record["equivariance_error"] for record in equivariance_of_windows()
    }
    for layers in (1, 2, 3):
        assert errors["valid", layers] < 1e-5
        assert errors["replicate", layers] < errors["zero", layers] / 3


def test_the_measurement_repeats_itself():
    assert equivariance_of_windows() == equivariance_of_windows()
